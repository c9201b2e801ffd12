#include "head_matching.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>

#include <nlohmann/json.hpp>

#include "derm/face/control_points.h"
#include "derm/face/face_points.h"
#include "derm/face/head_registration.h"
#include "derm/face/landmark_correspondence.h"
#include "derm/face/watershed_landmarks.h"
#include "derm/image/compose.h"
#include "derm/io/file_bytes.h"
#include "derm/io/png.h"
#include "derm/io/point_file.h"
#include "derm/view/scene_view.h"

#include "terminal.h"

namespace derm::cli {
namespace {

/// With this many points a head that a registration cannot place is matched by them alone.
constexpr std::size_t kEnoughPoints = 20;

bool has(const std::vector<LabelledPoint>& points, const std::string& label) {
  return std::any_of(points.begin(), points.end(),
                     [&](const LabelledPoint& p) { return p.label == label; });
}

Error atFile(Error e, const std::string& source, const std::string& target) {
  if (e.where.file.empty() && e.where.element == "source") e.where = {.file = source};
  if (e.where.file.empty() && e.where.element == "target") e.where = {.file = target};
  return e;
}

Result<Rgba8Image> pictureOf(const Character& head, const std::vector<LabelledPoint>& points,
                             const std::string& label, Diagnostics& notes) {
  const auto still = std::make_shared<Character>(frozen(head, head.mesh));
  still->points = points;
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

std::uint32_t nearestCorner(const SurfacePoint& point, const TriMesh& mesh) {
  int best = 0;
  point.barycentric.maxCoeff(&best);
  return mesh.triangles[point.triangle][static_cast<std::size_t>(best)];
}

}  // namespace

void HeadMatchOptions::addTo(CLI::App& verb) {
  verb.add_option("--source-unit", source.unit, "--unit of the other head");
  verb.add_option("--source-points", source_points,
                  "JSON file of the other head's points; default those that it has");
  verb.add_option("--points", known,
                  "JSON file of points of this head that are known; default those that it has");
  verb.add_option("--method", method,
                  "registration (any pose), or watershed (Dutreve 2011; upright heads)")
      ->check(CLI::IsMember({"registration", "watershed"}))
      ->capture_default_str();
  verb.add_flag("--upright", upright, "this head stands along +y and looks along +z");
  verb.add_option("--report", report, "a .json report: points, method, seconds");
  verb.add_option("--picture", picture, "a .png picture of both heads with their points");
}

Result<std::vector<LabelledPoint>> headPoints(const std::string& file, const Character& head,
                                              Diagnostics& notes) {
  DERM_TRY(const std::vector<NamedPosition> places, loadPointFile(file, notes));
  Result<std::vector<LabelledPoint>> placed =
      placePoints(places, head.mesh, head.import.metres_per_unit, notes);
  if (placed) return placed;
  Error e = placed.error();
  e.where.file = file;
  return e;
}

Result<HeadMatch> matchHeads(const HeadMatchOptions& options, Character& target,
                             const std::string& target_name, Diagnostics& notes) {
  HeadMatch out;
  DERM_TRY(out.source, options.source.load(notes));
  if (!options.source_points.empty()) {
    DERM_TRY(out.source.points, headPoints(options.source_points, out.source, notes));
  }
  if (out.source.points.empty())
    return Error{ErrorCode::BadArgument,
                 "has no points; --source-points FILE gives them (derm face points finds them)",
                 {.file = options.source.source}};
  if (!options.known.empty()) {
    DERM_TRY(target.points, headPoints(options.known, target, notes));
  }
  const auto start = std::chrono::steady_clock::now();
  const TriMesh &from = out.source.mesh, &to = target.mesh;
  std::vector<LabelledPoint> known;
  for (const LabelledPoint& p : target.points)
    if (has(out.source.points, p.label)) known.push_back(p);
  out.method = options.method;
  if (options.method == "watershed") {
    Result<std::vector<LandmarkMatch>> found =
        matchByWatershed(from, out.source.points, to, {}, notes);
    if (!found) return atFile(found.error(), options.source.source, target_name);
    out.landmarks = *std::move(found);
    std::vector<LabelledPoint> all;
    for (LandmarkMatch& m : out.landmarks) {
      for (const LabelledPoint& k : known)
        if (k.label == m.label) m = {m.label, k.point, 1.0f};
      all.push_back({m.label, m.point});
    }
    DERM_TRY(out.dense, landmarkCorrespondence(from, out.source.points, to, all, notes));
  } else {
    RegistrationDesc desc;
    desc.pose = options.upright ? HeadPose::Upright : HeadPose::Unknown;
    desc.target_points = known;
    ProgressBar bar("registering");
    Result<HeadRegistration> r =
        registerHeads(from, out.source.points, to, desc, notes, bar.callback());
    if (r) {
      out.landmarks = r->landmarks;
      out.residual = r->residual;
      DERM_TRY(out.dense, denseCorrespondence(from, to, *r));
    } else if (known.size() >= kEnoughPoints) {
      notes.warn("heads-by-points", target_name,
                 "no registration (" + r.error().message + "); matched by its points alone");
      out.method = "points";
      for (const LabelledPoint& p : known) out.landmarks.push_back({p.label, p.point, 1.0f});
      DERM_TRY(out.dense, landmarkCorrespondence(from, out.source.points, to, known, notes));
    } else {
      return atFile(r.error(), options.source.source, target_name);
    }
  }
  for (const LandmarkMatch& m : out.landmarks)
    if (!has(target.points, m.label)) target.points.push_back({m.label, m.point});
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

Result<void> checkNotAnInput(const std::string& output, std::initializer_list<std::string> inputs) {
  namespace fs = std::filesystem;
  for (const std::string& input : inputs) {
    std::error_code ignored;
    if (!input.empty() && fs::equivalent(output, input, ignored))
      return Error{ErrorCode::BadArgument, "is an input; another name keeps it", {.file = output}};
  }
  return {};
}

Result<void> writeMatch(const HeadMatchOptions& options, const HeadMatch& match,
                        const Character& target, std::size_t shapes, std::size_t joints,
                        Diagnostics& notes) {
  if (!options.report.empty()) {
    nlohmann::json points = nlohmann::json::object();
    const double unit = target.import.metres_per_unit;
    for (const LandmarkMatch& m : match.landmarks) {
      const Vec3d p =
          positionAt(m.point, target.mesh.triangles, target.mesh.positions).cast<double>() / unit;
      points[m.label] = {{"position", {p.x(), p.y(), p.z()}},
                         {"vertex", nearestCorner(m.point, target.mesh)},
                         {"confidence", m.confidence}};
    }
    std::size_t matched = 0;
    for (std::size_t v = 0; v < target.mesh.vertexCount(); ++v) matched += match.dense.has(v);
    nlohmann::json report = {{"points", points},         {"method", match.method},
                             {"seconds", match.seconds}, {"matched_vertices", matched},
                             {"shapes", shapes},         {"joints", joints}};
    if (match.residual) report["residual"] = *match.residual;
    DERM_CHECK(writeFileWhole(options.report, report.dump(2) + "\n"));
  }
  if (!options.picture.empty()) {
    std::vector<LabelledPoint> found;
    for (const LandmarkMatch& m : match.landmarks) found.push_back({m.label, m.point});
    DERM_TRY(Rgba8Image left, pictureOf(match.source, match.source.points, "source", notes));
    DERM_TRY(Rgba8Image right, pictureOf(target, found, "found", notes));
    const std::vector<Rgba8Image> both = {std::move(left), std::move(right)};
    DERM_CHECK(savePng(options.picture, sideBySide(both, 8)));
  }
  return {};
}

}  // namespace derm::cli
