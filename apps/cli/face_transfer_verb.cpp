#include <fmt/format.h>

#include "derm/face/head_shapes.h"
#include "derm/face/rig_transfer.h"
#include "derm/face/shape_transfer.h"
#include "derm/io/character_file.h"

#include "character_input.h"
#include "face_verbs.h"
#include "head_matching.h"
#include "output_checks.h"

namespace derm::cli {
namespace {

struct TransferOptions {
  CharacterInput target;
  HeadMatchOptions match;
  RigTransferDesc rig;
  bool shapes = true;
  std::string output;
};

Result<void> writeTransferred(const TransferOptions& options, Diagnostics& notes) {
  const HeadMatchOptions& match = options.match;
  DERM_CHECK(checkWritableRig(options.output));
  DERM_CHECK(checkOutputs({options.output, match.report, match.picture}));
  DERM_CHECK(checkNotAnInput(
      {options.output, match.report, match.picture},
      {options.target.source, match.source.source, match.source_points, match.known}));
  DERM_TRY(Character full, options.target.load(notes));
  if (!match.known.empty()) {
    DERM_TRY(full.points, headPoints(match.known, full, notes));
  }
  DERM_TRY(HeadProxy proxy, proxyOf(full, options.target.source, notes));
  Character& head = proxy.head();
  DERM_TRY(HeadMatch found, matchHeads(match, head, options.target.source, notes));
  Character& source = found.landmarks.source;
  if (!findFaceRig(source)) {
    FaceRigDesc desc;
    desc.weights.max_influences = options.rig.max_influences;
    Result<FaceRig> made = addFaceRig(source, desc, notes);
    if (!made) {
      Error e = made.error();
      if (e.where.file.empty()) e.where.file = match.source.source;
      return e;
    }
  }
  std::size_t shape_count = 0;
  if (options.shapes && !source.morphs.empty()) {
    ProgressBar bar("shapes");
    DERM_TRY(std::vector<MorphTarget> shapes,
             transferShapes({source.mesh, source.points}, shapesOf(source),
                            {head.mesh, head.points}, found.dense, {}, notes, bar.callback()));
    shape_count = shapes.size();
    proxy.keepShapes(std::move(shapes), notes);
  }
  Result<FaceRig> rig = transferFaceRig(source, head, found.dense, options.rig, notes);
  if (!rig) {
    Error e = rig.error();
    if (e.where.file.empty()) e.where.file = options.target.source;
    return e;
  }
  DERM_CHECK(proxy.keepRig(*rig, options.rig.max_influences, notes));
  putOnFull(found, proxy);
  DERM_CHECK(saveCharacter(full, options.output, notes));
  DERM_CHECK(writeMatch(match, found, full, shape_count, rig->joints.size(), notes));
  say("{}: {} control joints, {} shapes, {} clips, by {}\n", options.output, rig->joints.size(),
      shape_count, full.clips.size(), found.landmarks.method);
  return {};
}

}  // namespace

void addFaceTransfer(CLI::App& face, Run& run) {
  const auto options = std::make_shared<TransferOptions>();
  CLI::App* verb =
      face.add_subcommand("transfer", "the rig, shapes and motions of one head on another");
  verb->add_option("SOURCE", options->match.source.source,
                   "a head, rigged or not: a file, or cast:NAME")
      ->required();
  options->target.addTo(*verb, "TARGET");
  options->match.addTo(*verb, "SOURCE", "default those that it has");
  verb->add_option("--max-influences", options->rig.max_influences, "per vertex")
      ->check(CLI::Range(2, 29))
      ->capture_default_str();
  verb->add_flag("--shapes,!--no-shapes", options->shapes, "the source's shapes too (default)");
  verb->add_flag("--clips,!--no-clips", options->rig.clips,
                 "the source's motions of the face too (default)");
  addOutput(*verb, options->output, ".glb or .gltf")->required();
  verb->footer(
      "example:\n"
      "  derm face transfer cast:woman scan.obj --unit cm -o scan.glb --report scan.json");
  setWork(*verb, run, options, writeTransferred);
}

}  // namespace derm::cli
