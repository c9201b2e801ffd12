#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "derm/io/point_file.h"

#include "character_input.h"
#include "face_verbs.h"
#include "head_matching.h"
#include "output_checks.h"

namespace derm::cli {
namespace {

struct PointsOptions {
  CharacterInput input;
  HeadMatchOptions match;
  std::string output;
};

Result<void> findPoints(const PointsOptions& options, Diagnostics& notes) {
  const HeadMatchOptions& match = options.match;
  DERM_CHECK(checkOutputs({options.output, match.report, match.picture}));
  DERM_CHECK(checkNotAnInput(
      {options.output, match.report, match.picture},
      {options.input.source, match.source.source, match.source_points, match.known}));
  if (match.method == "watershed" && match.upright)
    notes.info("upright-assumed", "--upright", "the watershed always takes heads to be upright");
  DERM_TRY(Character target, options.input.load(notes));
  std::vector<LabelledPoint> known;
  if (!match.known.empty()) {
    DERM_TRY(known, headPoints(match.known, target, notes));
  }
  DERM_TRY(HeadProxy proxy, proxyOf(target, options.input.source, notes));
  DERM_TRY(HeadLandmarks found,
           findLandmarks(match, proxy.head(), options.input.source, proxy.fromFull(known), notes));
  putOnFull(found, proxy);

  std::vector<NamedPosition> positions;
  double lowest = 1;
  for (const LandmarkMatch& m : found.points) {
    const Vec3f p = positionAt(m.point, target.mesh.triangles, target.mesh.positions);
    positions.push_back({m.label, std::nullopt, p.cast<double>() / target.import.metres_per_unit});
    lowest = std::min(lowest, static_cast<double>(m.confidence));
  }
  DERM_CHECK(writeText(options.output, pointFileText(positions)));
  if (!match.report.empty())
    DERM_CHECK(writeText(match.report, jsonFileText(landmarkReport(found, target))));
  if (!match.picture.empty()) DERM_CHECK(savePicture(match.picture, found, target, notes));
  say("{}: {} points by {}, {:.1f} s, lowest confidence {:.2f}\n", options.output, positions.size(),
      found.method, found.seconds, lowest);
  return {};
}

}  // namespace

void addFacePoints(CLI::App& face, Run& run) {
  const auto options = std::make_shared<PointsOptions>();
  CLI::App* verb =
      face.add_subcommand("points", "the points of one head, found on another from its shape");
  options->input.addTo(*verb, "HEAD");
  verb->add_option("--from", options->match.source.source,
                   "a head with points: a file, or cast:NAME")
      ->required()
      ->type_name("SOURCE");
  options->match.addTo(*verb, "SOURCE", "the others follow");
  verb->add_option("-o,--output", options->output, "a .json file of points; - prints it")
      ->required();
  verb->footer(
      "example:\n"
      "  derm face points scan.obj --unit cm --from cast:man -o scan.json --picture scan.png");
  setWork(*verb, run, options, findPoints);
}

}  // namespace derm::cli
