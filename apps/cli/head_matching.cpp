#include "head_matching.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "derm/cast/cast.h"
#include "derm/face/control_point_search.h"
#include "derm/face/control_points.h"
#include "derm/face/face_points.h"
#include "derm/face/landmark_correspondence.h"
#include "derm/face/open_jaw.h"
#include "derm/face/watershed_landmarks.h"
#include "derm/image/compose.h"
#include "derm/io/png.h"
#include "derm/io/point_file.h"
#include "derm/view/scene_view.h"

#include "terminal.h"

namespace derm::cli {
namespace {

/// With this many points a head that a registration cannot place is matched by them alone.
constexpr std::size_t kEnoughPoints = 20;

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool has(std::span<const LabelledPoint> points, const std::string& label) {
  return std::any_of(points.begin(), points.end(),
                     [&](const LabelledPoint& p) { return p.label == label; });
}

Error atFile(Error e, const std::string& source, const std::string& target) {
  if (e.where.file.empty() && e.where.element == "source") e.where = {.file = source};
  if (e.where.file.empty() && e.where.element == "target") e.where = {.file = target};
  return e;
}

std::vector<LabelledPoint> labelled(std::span<const LandmarkMatch> matches) {
  std::vector<LabelledPoint> out;
  for (const LandmarkMatch& m : matches) out.push_back({m.label, m.point});
  return out;
}

/// Nothing of a source's textures is carried over, and painting a head of the cast takes seconds.
Result<Character> loadUnpainted(const HeadMatchOptions& options, Diagnostics& notes) {
  constexpr std::string_view kCast = "cast:";
  const std::string& name = options.source.source;
  if (!name.starts_with(kCast) || !options.source.unit.empty() || !options.picture.empty())
    return options.source.load(notes);
  return makeCastMember(std::string_view(name).substr(kCast.size()));
}

Result<Character> loadSource(const HeadMatchOptions& options, Diagnostics& notes) {
  DERM_TRY(Character source, loadUnpainted(options, notes));
  if (!options.source_points.empty()) {
    DERM_TRY(source.points, headPoints(options.source_points, source, notes));
  }
  // Labels may be any; without one there is nothing to carry over.
  if (source.points.empty())
    DERM_CHECK(findMissingPoints(source, options.source.source, "--source-points", false, notes));
  return source;
}

/// The landmark step; what it fails with names "source" or "target".
Result<HeadLandmarks> landmarksBetween(const HeadMatchOptions& options, Character source,
                                       const Character& target, std::vector<LabelledPoint> known,
                                       Diagnostics& notes) {
  const Clock::time_point start = Clock::now();
  HeadLandmarks out;
  out.method = options.method;
  if (options.method == "watershed") {
    DERM_TRY(out.source_frame, faceFrame(source.mesh, source.points));
    DERM_TRY(out.points, matchByWatershed(source.mesh, source.points, target.mesh, {}, notes));
    for (LandmarkMatch& m : out.points)
      for (const LabelledPoint& k : known)
        if (k.label == m.label) m = {m.label, k.point, 1.0f};
    DERM_TRY(out.target_frame, faceFrame(target.mesh, labelled(out.points)));
  } else {
    RegistrationDesc desc;
    desc.pose = options.upright ? HeadPose::Upright : HeadPose::Unknown;
    desc.target_points = std::move(known);
    desc.source_jaw = [&] { return jawOpening(source); };
    ProgressBar bar("registering");
    DERM_TRY(out.registration,
             registerHeads(source.mesh, source.points, target.mesh, desc, notes, bar.callback()));
    out.points = out.registration->landmarks;
    out.source_frame = out.registration->map.sourceFrame();
    out.target_frame = out.registration->map.targetFrame();
  }
  out.seconds = secondsSince(start);
  out.source = std::move(source);
  return out;
}

/// By shape, from heads of the cast but one that was tried already. Humans alone: the cartoon fits
/// no scan, and takes seconds to be refused.
Result<FoundControlPoints> searchControlPoints(const TriMesh& head, bool upright,
                                               const std::string& tried, Diagnostics& notes) {
  std::vector<ReferenceHead> references = {{"cast:man", [] { return makeCastMember("man"); }},
                                           {"cast:woman", [] { return makeCastMember("woman"); }}};
  std::erase_if(references, [&](const ReferenceHead& r) { return r.name == tried; });
  ProgressBar bar("control points");
  return findControlPoints(head, references, upright ? HeadPose::Upright : HeadPose::Unknown, notes,
                           bar.callback());
}

/// Heads that no registration brings together, matched by points that both have.
Result<HeadLandmarks> landmarksByPoints(const Character& source, const Character& target,
                                        std::span<const LabelledPoint> points) {
  HeadLandmarks out;
  out.source = source;
  out.method = "points";
  for (const LabelledPoint& p : points) out.points.push_back({p.label, p.point, 1.0f});
  DERM_TRY(out.source_frame, faceFrame(source.mesh, source.points));
  DERM_TRY(out.target_frame, faceFrame(target.mesh, points));
  return out;
}

/// As landmarksBetween(). Two heads may be too different for each other while a third fits the
/// target: then the target's control points are found from that one, and the map honours them.
Result<HeadLandmarks> bestLandmarks(const HeadMatchOptions& options, const Character& source,
                                    const Character& target, const std::string& target_name,
                                    const std::vector<LabelledPoint>& known, Diagnostics& notes) {
  Diagnostics first_notes;
  Result<HeadLandmarks> first = landmarksBetween(options, source, target, known, first_notes);
  const auto keep = [&]() -> Result<HeadLandmarks> {
    notes.merge(first_notes);
    return std::move(first);
  };
  if (known.size() >= kEnoughPoints ||
      (first ? !first->registration || first->registration->verdict == RegistrationVerdict::Good
             : first.error().code != ErrorCode::BadData || options.method != "registration"))
    return keep();
  Diagnostics more_notes;
  const Result<FoundControlPoints> found =
      searchControlPoints(target.mesh, options.upright, options.source.source, more_notes);
  if (!found && found.error().code == ErrorCode::Cancelled) return found.error();
  if (!found || (first && found->residual >= 0.95 * first->registration->residual)) return keep();
  std::vector<LabelledPoint> more = known;
  for (const LabelledPoint& p : found->points)
    if (has(source.points, p.label) && !has(known, p.label)) more.push_back(p);
  Result<HeadLandmarks> second = landmarksBetween(options, source, target, more, more_notes);
  if (!second && second.error().code != ErrorCode::Cancelled && more.size() >= kEnoughPoints)
    second = landmarksByPoints(source, target, more);
  if (!second) return keep();
  const std::string misfit =
      first ? fmt::format("the heads fit badly (misfit {:.2f})", first->registration->residual)
            : first.error().message;
  notes.warn("heads-differ", target_name,
             fmt::format("{}: its control points were found from {} instead (misfit {:.2f}); check "
                         "them (--picture), or give them by --points",
                         misfit, found->reference, found->residual));
  if (first) second->seconds += first->seconds;
  return second;
}

/// A head as its face frame sees it, the face alone, with points.
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

std::uint32_t nearestCorner(const SurfacePoint& point, const TriMesh& mesh) {
  int best = 0;
  point.barycentric.maxCoeff(&best);
  return mesh.triangles[point.triangle][static_cast<std::size_t>(best)];
}

}  // namespace

void HeadMatchOptions::addTo(CLI::App& verb, const std::string& source_name,
                             const std::string& without_points) {
  verb.add_option("--source-unit", source.unit, "--unit of " + source_name);
  verb.add_option("--source-points", source_points,
                  "JSON file of " + source_name +
                      "'s points; default those that it has, else control points found by its "
                      "shape");
  verb.add_option("--points", known,
                  "JSON file of points of this head that are known; " + without_points);
  verb.add_option("--method", method,
                  "registration (any pose), or watershed (Dutreve 2011; upright heads)")
      ->check(CLI::IsMember({"registration", "watershed"}))
      ->capture_default_str();
  verb.add_flag("--upright", upright, "this head stands along +y and looks along +z");
  verb.add_option("--report", report,
                  "a .json report: points, confidences, method, seconds; - prints it");
  verb.add_option("--picture", picture, "a .png picture of both faces with their points");
}

Result<std::vector<LabelledPoint>> headPoints(const std::string& file, const Character& head,
                                              Diagnostics& notes) {
  DERM_TRY(const std::vector<NamedPosition> positions, loadPointFile(file, notes));
  Result<std::vector<LabelledPoint>> placed =
      placePoints(positions, head.mesh, head.import.metres_per_unit, notes);
  if (placed) return placed;
  Error e = placed.error();
  e.where.file = file;
  return e;
}

Result<void> findMissingPoints(Character& head, const std::string& name, const std::string& option,
                               bool upright, Diagnostics& notes) {
  const std::span<const std::string_view> numbers = controlPointNumbers();
  for (const LabelledPoint& p : head.points)
    if (const FaceFeature* feature = findFaceFeature(p.label))
      if (std::find(numbers.begin(), numbers.end(), feature->number) != numbers.end()) return {};
  Result<FoundControlPoints> found = searchControlPoints(head.mesh, upright, {}, notes);
  if (!found) {
    Error e = found.error();
    if (e.code == ErrorCode::Cancelled) return e;
    e.where = {.file = name};
    e.message = "has no control points, and " + e.message + "; " + option + " FILE gives them";
    return e;
  }
  notes.warn("points-found", name,
             fmt::format("had no control points; found from {} by shape, confidence {:.2f}: check "
                         "them (derm render --points), or give them by {}",
                         found->reference, found->confidence, option));
  head.points.insert(head.points.end(), found->points.begin(), found->points.end());
  return {};
}

Result<HeadLandmarks> findLandmarks(const HeadMatchOptions& options, const Character& target,
                                    const std::string& target_name,
                                    std::vector<LabelledPoint> known, Diagnostics& notes) {
  DERM_TRY(Character source, loadSource(options, notes));
  Result<HeadLandmarks> found =
      landmarksBetween(options, std::move(source), target, std::move(known), notes);
  if (!found) return atFile(found.error(), options.source.source, target_name);
  return found;
}

Result<HeadProxy> proxyOf(Character& head, const std::string& name, Diagnostics& notes) {
  ProgressBar bar("coarse head");
  DERM_TRY(HeadProxy proxy, HeadProxy::of(head, bar.callback()));
  if (proxy.isCoarse())
    notes.info("head-coarse", name,
               fmt::format("{} triangles: its face is worked on as {}, and all vertices follow",
                           head.mesh.triangles.size(), proxy.head().mesh.triangles.size()));
  return proxy;
}

Result<HeadMatch> matchHeads(const HeadMatchOptions& options, Character& target,
                             const std::string& target_name, Diagnostics& notes) {
  DERM_TRY(const Character source, loadSource(options, notes));
  std::vector<LabelledPoint> known;
  for (const LabelledPoint& p : target.points)
    if (has(source.points, p.label)) known.push_back(p);
  const Clock::time_point start = Clock::now();
  HeadMatch out;
  Result<HeadLandmarks> found = bestLandmarks(options, source, target, target_name, known, notes);
  if (found) {
    out.landmarks = *std::move(found);
  } else if (options.method == "registration" && known.size() >= kEnoughPoints &&
             found.error().code != ErrorCode::Cancelled) {
    notes.warn("heads-by-points", target_name,
               "no registration (" + found.error().message + "); matched by its points alone");
    DERM_TRY(out.landmarks, landmarksByPoints(source, target, known));
  } else {
    return atFile(found.error(), options.source.source, target_name);
  }
  if (out.landmarks.registration) {
    DERM_TRY(out.dense, denseCorrespondence(source.mesh, target.mesh, *out.landmarks.registration));
  } else {
    DERM_TRY(out.dense, landmarkCorrespondence(source.mesh, source.points, target.mesh,
                                               labelled(out.landmarks.points), notes));
  }
  // Of heads that are so different, or of an open mouth, the margins tell more than the map.
  if (const auto& fit = out.landmarks.registration;
      fit && (!fit->source_positions.empty() || fit->verdict != RegistrationVerdict::Good)) {
    std::vector<LabelledPoint> placed = labelled(out.landmarks.points);
    putOnMargins(target.mesh, placed);
    for (std::size_t i = 0; i < placed.size(); ++i)
      if (!has(known, placed[i].label)) out.landmarks.points[i].point = placed[i].point;
  }
  for (const LandmarkMatch& m : out.landmarks.points)
    if (!has(target.points, m.label)) target.points.push_back({m.label, m.point});
  for (std::size_t v = 0; v < target.mesh.vertexCount(); ++v)
    out.matched_vertices += out.dense.has(v) ? 1 : 0;
  out.seconds = secondsSince(start);
  return out;
}

void putOnFull(HeadLandmarks& landmarks, const HeadProxy& proxy) {
  const std::vector<LabelledPoint> full = proxy.onFull(labelled(landmarks.points));
  for (std::size_t i = 0; i < full.size(); ++i) landmarks.points[i].point = full[i].point;
}

void putOnFull(HeadMatch& match, const HeadProxy& proxy) {
  if (!proxy.isCoarse()) return;
  putOnFull(match.landmarks, proxy);
  std::vector<float> has(match.dense.source_points.size());
  for (std::size_t v = 0; v < has.size(); ++v) has[v] = match.dense.has(v) ? 1.0f : 0.0f;
  const std::vector<float> full = proxy.onFull(has);
  match.matched_vertices = static_cast<std::size_t>(
      std::count_if(full.begin(), full.end(), [](float share) { return share > 0.5f; }));
}

nlohmann::json landmarkReport(const HeadLandmarks& landmarks, const Character& target) {
  nlohmann::json points = nlohmann::json::object();
  const double unit = target.import.metres_per_unit;
  for (const LandmarkMatch& m : landmarks.points) {
    const Vec3d p =
        positionAt(m.point, target.mesh.triangles, target.mesh.positions).cast<double>() / unit;
    points[m.label] = {{"position", {p.x(), p.y(), p.z()}},
                       {"vertex", nearestCorner(m.point, target.mesh)},
                       {"confidence", m.confidence}};
  }
  nlohmann::json report = {
      {"points", points}, {"method", landmarks.method}, {"seconds", landmarks.seconds}};
  if (landmarks.registration) report["residual"] = landmarks.registration->residual;
  return report;
}

Result<void> savePicture(const std::string& file, const HeadLandmarks& landmarks,
                         const Character& target, Diagnostics& notes) {
  DERM_TRY(Rgba8Image left, pictureOf(landmarks.source, landmarks.source_frame,
                                      landmarks.source.points, "source", notes));
  DERM_TRY(Rgba8Image right,
           pictureOf(target, landmarks.target_frame, labelled(landmarks.points), "found", notes));
  const std::vector<Rgba8Image> both = {std::move(left), std::move(right)};
  return savePng(file, sideBySide(both, 8));
}

Result<void> writeMatch(const HeadMatchOptions& options, const HeadMatch& match,
                        const Character& target, std::size_t shapes, std::size_t joints,
                        Diagnostics& notes) {
  if (!options.report.empty()) {
    nlohmann::json report = landmarkReport(match.landmarks, target);
    report["seconds"] = match.seconds;
    report["matched_vertices"] = match.matched_vertices;
    report["shapes"] = shapes;
    report["joints"] = joints;
    DERM_CHECK(writeText(options.report, jsonFileText(report)));
  }
  if (!options.picture.empty())
    DERM_CHECK(savePicture(options.picture, match.landmarks, target, notes));
  return {};
}

}  // namespace derm::cli
