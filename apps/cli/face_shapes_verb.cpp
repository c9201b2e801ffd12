#include <fmt/format.h>

#include "derm/face/arkit_shapes.h"
#include "derm/face/head_shapes.h"
#include "derm/face/shape_transfer.h"
#include "derm/io/character_file.h"

#include "character_input.h"
#include "face_verbs.h"
#include "head_matching.h"
#include "output_checks.h"

namespace derm::cli {
namespace {

struct ShapesOptions {
  CharacterInput input;
  HeadMatchOptions match;
  std::string output;
};

Result<void> writeShaped(const ShapesOptions& options, Diagnostics& notes) {
  const HeadMatchOptions& match = options.match;
  DERM_CHECK(checkWritableRig(options.output));
  DERM_CHECK(checkOutputs({options.output, match.report, match.picture}));
  DERM_CHECK(checkNotAnInput(
      {options.output, match.report, match.picture},
      {options.input.source, match.source.source, match.source_points, match.known}));
  DERM_TRY(Character full, options.input.load(notes));
  if (!match.known.empty()) {
    DERM_TRY(full.points, headPoints(match.known, full, notes));
  }
  DERM_TRY(HeadProxy proxy, proxyOf(full, options.input.source, notes));
  Character& head = proxy.head();
  std::vector<MorphTarget> shapes;
  std::size_t count = 0;
  if (match.source.source.empty()) {
    if (match.known.empty())
      DERM_CHECK(findMissingPoints(head, options.input.source, "--points", match.upright, notes));
    ProgressBar bar("shapes");
    DERM_TRY(shapes, arkitShapes(head, notes, bar.callback()));
    count = shapes.size();
    proxy.keepPoints();
    proxy.keepShapes(std::move(shapes), notes);
    DERM_CHECK(saveCharacter(full, options.output, notes));
  } else {
    DERM_TRY(HeadMatch found, matchHeads(match, head, options.input.source, notes));
    const Character& source = found.landmarks.source;
    const std::vector<MorphTarget> donor = shapesOf(source);
    if (donor.empty())
      return Error{ErrorCode::BadData, "has no shapes to give", {.file = match.source.source}};
    ProgressBar bar("shapes");
    DERM_TRY(shapes, transferShapes({source.mesh, source.points}, donor, {head.mesh, head.points},
                                    found.dense, {}, notes, bar.callback()));
    count = shapes.size();
    proxy.keepPoints();
    proxy.keepShapes(std::move(shapes), notes);
    putOnFull(found, proxy);
    DERM_CHECK(saveCharacter(full, options.output, notes));
    DERM_CHECK(writeMatch(match, found, full, count, 0, notes));
  }
  say("{}: {} shapes\n", options.output, count);
  return {};
}

}  // namespace

void addFaceShapes(CLI::App& face, Run& run) {
  const auto options = std::make_shared<ShapesOptions>();
  CLI::App* verb =
      face.add_subcommand("shapes", "ARKit's 52 shapes of a head, or those of another head on it");
  options->input.addTo(*verb, "HEAD");
  verb->add_option("--from", options->match.source.source,
                   "take the shapes of this head: a file, or cast:NAME; default by control points")
      ->type_name("DONOR");
  options->match.addTo(*verb, "DONOR", "default those that it has");
  addOutput(*verb, options->output, ".glb or .gltf")->required();
  verb->footer(
      "example:\n"
      "  derm face shapes cast:toon -o toon52.glb\n"
      "  derm face shapes scan.glb --from cast:woman -o scan_shapes.glb");
  setWork(*verb, run, options, writeShaped);
}

}  // namespace derm::cli
