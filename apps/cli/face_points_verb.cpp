#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "derm/face/control_points.h"
#include "derm/face/head_registration.h"
#include "derm/face/watershed_landmarks.h"
#include "derm/image/compose.h"
#include "derm/io/file_bytes.h"
#include "derm/io/png.h"
#include "derm/io/point_file.h"
#include "derm/view/scene_view.h"

#include "character_input.h"
#include "face_verbs.h"

namespace derm::cli {
namespace {

struct PointsOptions {
  CharacterInput input;
  std::string source;
  std::string source_unit;
  std::string source_points;
  std::string known;
  std::string method = "registration";
  bool upright = false;
  std::string output;
  std::string report;
  std::string picture;
};

Result<std::vector<LabelledPoint>> pointsOf(const std::string& file, const Character& head,
                                            Diagnostics& notes) {
  DERM_TRY(const std::vector<NamedPosition> places, loadPointFile(file, notes));
  Result<std::vector<LabelledPoint>> placed =
      placePoints(places, head.mesh, head.import.metres_per_unit, notes);
  if (placed) return placed;
  Error e = placed.error();
  e.where.file = file;
  return e;
}

/// What was found, whichever method found it.
struct Found {
  std::vector<LandmarkMatch> points;
  FaceFrame source_frame;
  FaceFrame target_frame;
  std::optional<double> residual;
};

Result<Found> find(const PointsOptions& options, const Character& source, const Character& target,
                   Diagnostics& notes) {
  Found found;
  DERM_TRY(found.source_frame, faceFrame(source.mesh, source.points));
  std::vector<LabelledPoint> known;
  if (!options.known.empty()) {
    DERM_TRY(known, pointsOf(options.known, target, notes));
  }
  if (options.method == "watershed") {
    DERM_TRY(found.points, matchByWatershed(source.mesh, source.points, target.mesh, {}, notes));
    std::vector<LabelledPoint> all;
    for (LandmarkMatch& m : found.points) {
      for (const LabelledPoint& k : known)
        if (k.label == m.label) m = {m.label, k.point, 1.0f};
      all.push_back({m.label, m.point});
    }
    DERM_TRY(found.target_frame, faceFrame(target.mesh, all));
    return found;
  }
  RegistrationDesc desc;
  desc.pose = options.upright ? HeadPose::Upright : HeadPose::Unknown;
  desc.target_points = std::move(known);
  ProgressBar bar("registering");
  DERM_TRY(HeadRegistration r,
           registerHeads(source.mesh, source.points, target.mesh, desc, notes, bar.callback()));
  found.points = std::move(r.landmarks);
  found.target_frame = r.map.targetFrame();
  found.residual = r.residual;
  return found;
}

/// The vertex nearest to a point of a triangle.
std::uint32_t nearestCorner(const SurfacePoint& point, const TriMesh& mesh) {
  int best = 0;
  point.barycentric.maxCoeff(&best);
  return mesh.triangles[point.triangle][static_cast<std::size_t>(best)];
}

/// A head as its face frame sees it, the face alone, with points: upright and of one size, however
/// the file has it.
Result<Rgba8Image> pictureOf(const Character& head, const FaceFrame& frame,
                             std::vector<LabelledPoint> points, const std::string& label,
                             Diagnostics& notes) {
  // A unit of the frame is about 6 cm.
  constexpr double kUnit_m = 0.06;
  TriMesh mesh = head.mesh;
  mesh.tangents.clear();
  mesh.groups.clear();
  for (Vec3f& p : mesh.positions) p = (kUnit_m * frame.toFace(p.cast<double>())).cast<float>();
  for (Vec3f& n : mesh.normals) n = (frame.axes.transpose() * n.cast<double>()).cast<float>();
  const auto still = std::make_shared<Character>(frozen(head, std::move(mesh)));
  still->points = std::move(points);
  SceneOptions options;
  options.character = still;
  DERM_TRY(Scene scene, openScene(Recipe(), options, notes));
  ViewDesc desc;
  desc.size = {700, 900};
  desc.orbit.yaw_rad = 0;
  desc.orbit.pitch_rad = 0;
  desc.points = true;
  desc.label = label;
  DERM_TRY(SceneView view, SceneView::make(scene, desc, notes));
  return view.picture(0);
}

Result<void> writePicture(const PointsOptions& options, const Character& source,
                          const Character& target, const Found& found, Diagnostics& notes) {
  std::vector<LabelledPoint> points;
  for (const LandmarkMatch& m : found.points) points.push_back({m.label, m.point});
  DERM_TRY(Rgba8Image left, pictureOf(source, found.source_frame, source.points, "source", notes));
  DERM_TRY(Rgba8Image right,
           pictureOf(target, found.target_frame, std::move(points), "found", notes));
  const std::vector<Rgba8Image> both = {std::move(left), std::move(right)};
  return savePng(options.picture, sideBySide(both, 8));
}

Result<void> findPoints(const PointsOptions& options, Diagnostics& notes) {
  DERM_CHECK(checkOutputs({options.output, options.report, options.picture}));
  if (options.method == "watershed" && options.upright)
    notes.info("upright-assumed", "--upright", "the watershed always takes heads to be upright");
  CharacterInput source_input;
  source_input.source = options.source;
  source_input.unit = options.source_unit;
  DERM_TRY(Character source, source_input.load(notes));
  DERM_TRY(const Character target, options.input.load(notes));
  if (!options.source_points.empty()) {
    DERM_TRY(source.points, pointsOf(options.source_points, source, notes));
  }
  if (source.points.empty())
    return Error{ErrorCode::BadArgument,
                 "has no points; --source-points FILE gives them",
                 {.file = options.source}};
  const auto start = std::chrono::steady_clock::now();
  Result<Found> found = find(options, source, target, notes);
  if (!found) {
    Error e = found.error();
    if (e.where.file.empty() && e.where.element == "target")
      e.where = {.file = options.input.source};
    if (e.where.file.empty() && e.where.element == "source") e.where = {.file = options.source};
    return e;
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  const double unit = target.import.metres_per_unit;
  std::vector<NamedPosition> places;
  nlohmann::json list = nlohmann::json::object();
  double least = 1;
  for (const LandmarkMatch& m : found->points) {
    const Vec3d p =
        positionAt(m.point, target.mesh.triangles, target.mesh.positions).cast<double>() / unit;
    places.push_back({m.label, std::nullopt, p});
    list[m.label] = {{"position", {p.x(), p.y(), p.z()}},
                     {"vertex", nearestCorner(m.point, target.mesh)},
                     {"confidence", m.confidence}};
    least = std::min(least, static_cast<double>(m.confidence));
  }
  DERM_CHECK(savePointFile(options.output, places));
  if (!options.report.empty()) {
    nlohmann::json report = {{"points", list}, {"method", options.method}, {"seconds", seconds}};
    if (found->residual) report["residual"] = *found->residual;
    DERM_CHECK(writeFileWhole(options.report, report.dump(2) + "\n"));
  }
  if (!options.picture.empty()) DERM_CHECK(writePicture(options, source, target, *found, notes));
  fmt::print("{}: {} points by {}, {:.1f} s, least confidence {:.2f}\n", options.output,
             places.size(), options.method, seconds, least);
  return {};
}

}  // namespace

void addFacePoints(CLI::App& face, Run& run) {
  const auto options = std::make_shared<PointsOptions>();
  CLI::App* verb =
      face.add_subcommand("points", "the points of one head, found on another from its shape");
  options->input.addTo(*verb, "HEAD");
  verb->add_option("--from", options->source, "a head with points: a file, or cast:NAME")
      ->required()
      ->type_name("SOURCE");
  verb->add_option("--source-unit", options->source_unit, "--unit of SOURCE");
  verb->add_option("--source-points", options->source_points,
                   "JSON file of SOURCE's points; default those that it has");
  verb->add_option("--points", options->known,
                   "JSON file of points of HEAD that are known; the others follow");
  verb->add_option("--method", options->method,
                   "registration (any pose), or watershed (Dutreve 2011; upright heads)")
      ->check(CLI::IsMember({"registration", "watershed"}))
      ->capture_default_str();
  verb->add_flag("--upright", options->upright, "HEAD stands along +y and looks along +z");
  verb->add_option("-o,--output", options->output, "a .json file of points")->required();
  verb->add_option("--report", options->report,
                   "a .json report: positions, nearest vertices, confidences");
  verb->add_option("--picture", options->picture, "a .png picture of both faces");
  verb->footer(
      "example:\n"
      "  derm face points scan.obj --unit cm --from cast:head-a -o scan.json --picture scan.png");
  setWork(*verb, run, options, findPoints);
}

}  // namespace derm::cli
