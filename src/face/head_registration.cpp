#include "derm/face/head_registration.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <Eigen/Geometry>

#include "derm/base/number_text.h"
#include "derm/face/face_features.h"
#include "derm/math/decompositions.h"
#include "derm/mesh/triangle_tree.h"

#include "face_mirror.h"
#include "framed_head.h"
#include "head_pieces.h"
#include "head_pose.h"
#include "head_samples.h"
#include "head_slits.h"
#include "head_warp.h"

namespace derm {
namespace {

using detail::Features;
using detail::FramedHead;
using detail::HardPair;
using detail::MatchPoints;
using detail::PoseCandidate;
using detail::Samples;
using detail::Slit;
using detail::Warp;
using detail::WarpFitter;
using detail::WeldedHead;

constexpr double kSourceRadius = 2.0;  // face units
constexpr double kTargetRadius = 2.3;
constexpr double kVoxel = 0.075;

/// Residuals up to the first are good, up to the second doubtful.
constexpr double kGoodResidual = 0.38;
constexpr double kDoubtfulResidual = 0.43;
/// The same where it is known how the head stands, or where it was found upright and facing +z as
/// most heads are: both leave less to mistake.
constexpr double kDoubtfulUpright = 0.55;
/// After the coarse stages: above, a more thorough search is worth a try, or one for a head at the
/// end of a body.
constexpr double kGoodCoarseResidual = 0.38;
constexpr double kBodyCoarseResidual = 0.55;

constexpr std::size_t kMinPoints = 100;
constexpr std::size_t kMinTriangles = 200;
/// Spread of matches, in face units, at which a point's confidence has fallen to 0.61.
constexpr double kSpread = 0.15;

// Weights of pairs that are known, against at most 2 for a site's matches.
constexpr double kKnownPointWeight = 400;
constexpr double kKnownReach = 0.3;  ///< slits are not looked for this near to a known point
constexpr double kSlitWeight = 50;
constexpr double kRimWeight = 20;
/// How far from where the coarse fit expects it a slit's end may be, in face units.
constexpr double kSlitReach = 0.4;
constexpr double kMouthReach = 0.9;
constexpr double kFarPair = 0.2;

// Faces that are their own mirror image, in face units.
constexpr double kSymmetric = 0.001;  ///< median distance of its halves; 1e-4 modelled, 4e-3 people
constexpr double kSymmetricPoints = 0.05;  ///< of labelled points of the source
constexpr double kAskew = 0.02;  ///< half of what a point and its mirror image may be apart
constexpr double kMirrorWeight = 100;

/// Centre and rms radius of the surface, as a frame.
FaceFrame surfaceFrame(const WeldedHead& head) {
  FaceFrame frame;
  double area = 0;
  Vec3d first = Vec3d::Zero();
  for (const Triangle& t : head.triangles) {
    const Vec3d &a = head.positions[t[0]], &b = head.positions[t[1]], &c = head.positions[t[2]];
    const double share = 0.5 * (b - a).cross(c - a).norm();
    first += share * (a + b + c) / 3;
    area += share;
  }
  if (!(area > 0)) return frame;
  frame.origin = first / area;
  double second = 0;
  for (const Triangle& t : head.triangles) {
    const Vec3d a = head.positions[t[0]] - frame.origin;
    const Vec3d b = head.positions[t[1]] - frame.origin;
    const Vec3d c = head.positions[t[2]] - frame.origin;
    const double share = 0.5 * (b - a).cross(c - a).norm();
    second += share * (a + b + c).squaredNorm() / 9;
  }
  frame.unit = std::sqrt(second / area);
  return frame;
}

FaceFrame targetFrame(const FaceFrame& normalised, const PoseCandidate& pose) {
  FaceFrame frame;
  frame.axes = pose.rotation;
  frame.unit = normalised.unit * pose.scale;
  frame.origin = normalised.origin + normalised.unit * pose.shift;
  return frame;
}

/// Slits of both heads that are each other's counterpart under a warp, as pairs of their ends.
std::vector<HardPair> slitPairs(std::span<const Slit> source, std::span<const Slit> target,
                                const Warp& warp) {
  struct Link {
    double distance;
    std::size_t from, to;
  };
  std::vector<Link> links;
  for (std::size_t i = 0; i < source.size(); ++i)
    for (std::size_t k = 0; k < target.size(); ++k) {
      const double left = (warp(source[i].left) - target[k].left).norm();
      const double right = (warp(source[i].right) - target[k].right).norm();
      const double ratio = target[k].length / source[i].length;
      // There is one slit in the middle, the mouth: it may be far larger than the map expects.
      const bool middle =
          std::abs(source[i].centre.x()) < 0.15 && std::abs(target[k].centre.x()) < 0.15;
      const double reach = middle ? kMouthReach : kSlitReach;
      if (std::max(left, right) < reach && ratio > 0.4 && ratio < 2.5)
        links.push_back({left + right, i, k});
    }
  std::sort(links.begin(), links.end(),
            [](const Link& a, const Link& b) { return a.distance < b.distance; });
  std::vector<char> used_from(source.size(), 0), used_to(target.size(), 0);
  std::vector<HardPair> pairs;
  for (const Link& link : links) {
    if (used_from[link.from] || used_to[link.to]) continue;
    used_from[link.from] = used_to[link.to] = 1;
    const Slit& from = source[link.from];
    const Slit& to = target[link.to];
    const double share = from.resolution * to.resolution;
    pairs.push_back({from.left, to.left, share * kSlitWeight});
    pairs.push_back({from.right, to.right, share * kSlitWeight});
    const auto side = [&](const std::vector<Vec3d>& a, const std::vector<Vec3d>& b) {
      if (a.size() != b.size()) return;
      for (std::size_t k = 0; k < a.size(); ++k) pairs.push_back({a[k], b[k], share * kRimWeight});
    };
    side(from.upper, to.upper);
    side(from.lower, to.lower);
  }
  return pairs;
}

Error noFace(const std::string& reason) {
  return {ErrorCode::BadData, "cannot find a face: " + reason, {.element = "target"}};
}

Error cancelled() { return {ErrorCode::Cancelled, "cancelled", {}}; }

/// The source's side of a registration, ready for matching.
struct SourceSide {
  FaceFrame frame;
  WeldedHead welded;
  FramedHead head;
  Samples whole;
  Samples samples;
  MatchPoints face;
  Features deviation{};
};

/// The target in one pose.
struct TargetSide {
  FaceFrame frame;
  FramedHead head;
  Samples samples;
  MatchPoints face;
  WarpFitter::State state;
};

/// A label that both heads have, in the source's face frame and on the target [m].
struct KnownPoint {
  Vec3d from;
  Vec3d to;
};

/// Similarity that brings known points together, as the target's frame; none for fewer than three
/// or points in one line.
std::optional<FaceFrame> frameOf(std::span<const KnownPoint> known) {
  if (known.size() < 3) return std::nullopt;
  Eigen::Matrix3Xd from(3, static_cast<Eigen::Index>(known.size()));
  Eigen::Matrix3Xd to = from;
  for (std::size_t i = 0; i < known.size(); ++i) {
    from.col(static_cast<Eigen::Index>(i)) = known[i].from;
    to.col(static_cast<Eigen::Index>(i)) = known[i].to;
  }
  const Vec3d from_middle = from.rowwise().mean(), to_middle = to.rowwise().mean();
  from.colwise() -= Eigen::Vector3d(from_middle);
  to.colwise() -= Eigen::Vector3d(to_middle);
  const Mat3d spread = from * from.transpose();
  if (std::sqrt(std::max(symmetricEigen3(spread).values[1], 0.0)) < 0.15) return std::nullopt;
  const RotationFit fit = bestRotation(to * from.transpose());
  FaceFrame frame;
  frame.unit = fit.trace / spread.trace();
  if (!(frame.unit > 0) || !std::isfinite(frame.unit)) return std::nullopt;
  frame.axes = fit.rotation;
  frame.origin = to_middle - frame.unit * (frame.axes * from_middle);
  return frame;
}

/// The part of a body nearest to one end of it, by a share of its length: a head is at an end.
WeldedHead endOf(const WeldedHead& body, const Vec3d& direction, double share) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const Triangle& t : body.triangles)
    for (const std::uint32_t v : t) {
      low = std::min(low, body.positions[v].dot(direction));
      high = std::max(high, body.positions[v].dot(direction));
    }
  const double least = high - share * (high - low);
  WeldedHead end = body;
  std::erase_if(end.triangles, [&](const Triangle& t) {
    for (const std::uint32_t v : t)
      if (body.positions[v].dot(direction) < least) return true;
    return false;
  });
  return end;
}

/// The direction in which a body is longest.
Vec3d longestDirection(const Samples& samples) {
  Eigen::Matrix3d spread = Eigen::Matrix3d::Zero();
  for (std::size_t i = 0; i < samples.size(); ++i)
    spread += samples.areas[i] * samples.positions[i] * samples.positions[i].transpose();
  return symmetricEigen3(spread).vectors.col(2);
}

std::optional<TargetSide> coarseFit(const WeldedHead& target, const FaceFrame& frame,
                                    const SourceSide& source, const WarpFitter& fitter,
                                    std::span<const KnownPoint> known) {
  TargetSide side;
  side.frame = frame;
  side.head = detail::framed(target, frame);
  side.samples = detail::faceSamples(side.head, target);
  side.face = detail::matchPoints(side.samples, kTargetRadius, kVoxel);
  if (side.face.size() < kMinPoints) return std::nullopt;
  detail::squash(side.face.features, source.deviation);
  side.state = fitter.start();
  std::vector<HardPair> pairs;
  for (const KnownPoint& k : known)
    pairs.push_back({k.from, frame.toFace(k.to), kKnownPointWeight});
  for (std::size_t s = 0; s < 2; ++s)
    fitter.run(side.state, side.face, detail::kWarpStages[s], pairs);
  // Known points far from where the pose puts them speak against it.
  for (const HardPair& pair : pairs)
    side.state.residual +=
        std::max(0.0, (pair.from - pair.to).norm() - 0.5) / static_cast<double>(pairs.size());
  return side;
}

/// How far a landmark could slide without a worse match: rms distance of the target's points
/// around, weighted by how well they match. Small where the surface has features.
double spreadOf(const Vec3d& p, const Vec3d& n, const Features& f, const MatchPoints& target,
                const detail::Tree3& tree) {
  constexpr double kReach = 0.4;
  constexpr double kSigma = 0.3;
  std::vector<detail::Tree3::Near> near;
  tree.nearest(detail::treePoint(p), 400, kReach * kReach, near);
  if (near.empty()) return kReach;
  std::vector<double> costs;
  double least = std::numeric_limits<double>::infinity();
  for (const detail::Tree3::Near& candidate : near) {
    costs.push_back(detail::matchCost(p, n, f, target, candidate.index, kSigma));
    least = std::min(least, costs.back());
  }
  Vec3d mean = Vec3d::Zero();
  double total = 0;
  for (std::size_t i = 0; i < near.size(); ++i) {
    costs[i] = std::exp(-2 * (costs[i] - least));
    mean += costs[i] * target.positions[near[i].index];
    total += costs[i];
  }
  mean /= total;
  double squares = 0;
  for (std::size_t i = 0; i < near.size(); ++i)
    squares += costs[i] * (target.positions[near[i].index] - mean).squaredNorm();
  return std::sqrt(squares / total);
}

/// [0,1] by residual: 1 up to a usual fit, 0.5 at the limit of good ones.
/// Within 50 degrees, as HeadPose::Upright says.
bool isUpright(const FaceFrame& frame) {
  constexpr double kCosine = 0.643;
  return frame.axes(1, 1) > kCosine && frame.axes(2, 2) > kCosine;
}

double trustIn(double residual) { return 1 / (1 + std::pow(residual / kGoodResidual, 4)); }

/// On a face that is its own mirror image, so must the points on it be. Where the map has put a
/// point and the one across the face askew: the pairs that it was made with, and the labelled
/// points, each with the one across taken to the middle; else none.
std::vector<HardPair> evenedPairs(const TriMesh& source, std::span<const LabelledPoint> points,
                                  const FaceFrame& frame, const TargetSide& to,
                                  std::span<const HardPair> pairs) {
  const detail::FaceMirror mirror = detail::findFaceMirror(to.face);
  if (mirror.misfit > kSymmetric) return {};
  const auto across = [](const Vec3d& p, const Vec3d& q) {
    return (p - Vec3d(-q.x(), q.y(), q.z())).norm() < kSymmetricPoints;
  };
  std::vector<HardPair> out;
  double askew = 0;
  for (const LabelledPoint& p : points) {
    const FaceFeature* feature = findFaceFeature(p.label);
    if (feature == nullptr) continue;
    const auto placeOf = [&](const LabelledPoint& l) {
      return frame.toFace(positionAt(l.point, source.triangles, source.positions).cast<double>());
    };
    for (const LabelledPoint& q : points) {
      const FaceFeature* other = findFaceFeature(q.label);
      if (other == nullptr || other->number != feature->mirror) continue;
      const Vec3d here = placeOf(p), there = placeOf(q);
      if (!across(here, there)) continue;
      const Vec3d moved = to.state.warp(here);
      const Vec3d middle = 0.5 * (moved + mirror(to.state.warp(there)));
      askew = std::max(askew, (moved - middle).norm());
      out.push_back({here, middle, kMirrorWeight});
    }
  }
  if (askew < kAskew) return {};
  for (const HardPair& p : pairs)
    for (const HardPair& q : pairs)
      if (across(p.from, q.from)) {
        out.push_back({p.from, 0.5 * (p.to + mirror(q.to)), std::min(p.weight, q.weight)});
        break;
      }
  return out;
}

/// The source's points on the target: where the map takes them, then the nearest surface that
/// faces the same way.
std::vector<LandmarkMatch> carriedPoints(const TriMesh& source,
                                         std::span<const LabelledPoint> points,
                                         const TriMesh& target, const RegistrationDesc& desc,
                                         const SourceSide& from, const TargetSide& to,
                                         std::span<const HardPair> pairs, double residual) {
  const Warp& warp = to.state.warp;
  const detail::Tree3 face_tree = detail::treeOf(to.face.positions);
  const detail::Tree3 source_tree = detail::treeOf(from.face.positions);
  struct Goal {
    Vec3d position;  ///< target's face frame
    Vec3d normal;
  };
  std::vector<Goal> goals;
  std::vector<LandmarkMatch> out;
  double farthest = 0;
  for (const LabelledPoint& p : points) {
    const Vec3d at =
        from.frame.toFace(positionAt(p.point, source.triangles, source.positions).cast<double>());
    Vec3d n = Vec3d::Zero();
    for (int k = 0; k < 3; ++k)
      n += static_cast<double>(p.point.barycentric[k]) *
           from.head.normals[source.triangles[p.point.triangle][static_cast<std::size_t>(k)]];
    n.normalize();
    Vec3d t1, t2;
    detail::tangents(n, Vec3d::UnitY(), t1, t2);
    constexpr double kStep = 0.02;
    const Vec3d moved = warp(at);
    Goal goal = {moved, (warp(at + kStep * t1) - warp(at - kStep * t1))
                            .cross(warp(at + kStep * t2) - warp(at - kStep * t2))
                            .normalized()};
    const std::uint32_t like = source_tree.nearest(detail::treePoint(at)).index;
    const double spread =
        spreadOf(goal.position, goal.normal, from.face.features[like], to.face, face_tree);
    double sure = std::exp(-spread * spread / (2 * kSpread * kSpread));
    for (const HardPair& pair : pairs)
      if ((pair.from - at).norm() < 0.1) sure = std::max(sure, 0.9);
    sure *= trustIn(residual);
    out.push_back({p.label, {}, static_cast<float>(sure)});
    farthest =
        std::max(farthest, std::sqrt(face_tree.nearest(detail::treePoint(goal.position)).squared));
    goals.push_back(goal);
  }
  // Only triangles that some point may fall on: millions need no tree.
  std::vector<Vec3d> goal_positions;
  for (const Goal& goal : goals) goal_positions.push_back(goal.position);
  const detail::Tree3 goal_tree = detail::treeOf(goal_positions);
  const std::vector<Vec3d>& positions = to.head.positions;
  std::vector<Triangle> near;
  std::vector<std::uint32_t> near_index;
  for (std::uint32_t t = 0; t < target.triangles.size(); ++t) {
    const Triangle& corners = target.triangles[t];
    const Vec3d centre =
        (positions[corners[0]] + positions[corners[1]] + positions[corners[2]]) / 3;
    double size = 0;
    for (const std::uint32_t v : corners) size = std::max(size, (positions[v] - centre).norm());
    const double reach = farthest + 0.2 + size;
    if (goal_tree.nearest(detail::treePoint(centre)).squared > reach * reach) continue;
    near.push_back(corners);
    near_index.push_back(t);
  }
  const TriangleTree tree(positions, near);
  for (std::size_t i = 0; i < goals.size(); ++i) {
    const auto facing = [&](std::uint32_t t) {
      Vec3d n = Vec3d::Zero();
      for (const std::uint32_t v : near[t]) n += to.head.normals[v];
      return n.dot(goals[i].normal) > 0.3 * n.norm();
    };
    const std::optional<TriangleTree::Nearest> nearest = tree.closestPoint(goals[i].position);
    DERM_ASSERT(nearest);
    // A surface that faces another way but is far nearer is better than none.
    const std::optional<TriangleTree::Nearest> alike =
        tree.closestPoint(goals[i].position, nearest->distance + 0.15, facing);
    if (!alike) out[i].confidence *= 0.5f;
    const TriangleTree::Nearest& found = alike ? *alike : *nearest;
    out[i].point = {near_index[found.triangle], found.barycentric.cast<float>()};
  }
  for (LandmarkMatch& match : out)
    for (const LabelledPoint& known : desc.target_points)
      if (known.label == match.label) {
        match.point = known.point;
        match.confidence = 1;
      }
  return out;
}

Result<void> checkInput(const TriMesh& source_mesh, std::span<const LabelledPoint> source_points,
                        const TriMesh& target_mesh, const RegistrationDesc& desc) {
  DERM_CHECK(validate(source_mesh, "source"));
  DERM_CHECK(validate(target_mesh, "target"));
  if (desc.sites < 200 || desc.sites > 4000)
    return Error{ErrorCode::BadArgument, "sites must be within 200 to 4000", {.element = "sites"}};
  for (const LabelledPoint& p : source_points)
    DERM_CHECK(validate(p.point, source_mesh.triangles.size(), "point \"" + p.label + "\""));
  for (const LabelledPoint& p : desc.target_points)
    DERM_CHECK(validate(p.point, target_mesh.triangles.size(), "known point \"" + p.label + "\""));
  return {};
}

/// The registration of two heads, of which there is one in each mesh.
Result<HeadRegistration> registerOne(const TriMesh& source_mesh,
                                     std::span<const LabelledPoint> source_points,
                                     const TriMesh& target_mesh, const RegistrationDesc& desc,
                                     Diagnostics& notes, const Progress& progress) {
  SourceSide source;
  if (desc.source_frame) {
    source.frame = *desc.source_frame;
  } else {
    DERM_TRY(source.frame, faceFrame(source_mesh, source_points));
  }
  if (!keepGoing(progress, 0, "sampling")) return cancelled();

  source.welded = detail::weldedHead(source_mesh);
  source.whole = detail::wholeSamples(source.welded, source.frame);
  source.head = detail::framed(source.welded, source.frame);
  source.samples = detail::faceSamples(source.head, source.welded);
  source.face = detail::matchPoints(source.samples, kSourceRadius, kVoxel);
  if (source.face.size() < kMinPoints)
    return Error{ErrorCode::BadData, "has no surface around its points", {.element = "source"}};
  source.deviation = detail::deviations(source.face.features);
  detail::squash(source.face.features, source.deviation);
  const WarpFitter fitter(source.face, static_cast<std::size_t>(desc.sites));

  WeldedHead target = detail::weldedHead(target_mesh);
  const FaceFrame normalised = surfaceFrame(target);
  if (!(normalised.unit > 0)) return noFace("the target has no surface");
  std::vector<KnownPoint> known;
  for (const LabelledPoint& p : source_points)
    for (const LabelledPoint& k : desc.target_points)
      if (k.label == p.label)
        known.push_back(
            {source.frame.toFace(
                 positionAt(p.point, source_mesh.triangles, source_mesh.positions).cast<double>()),
             positionAt(k.point, target_mesh.triangles, target_mesh.positions).cast<double>()});
  const Samples target_whole = detail::wholeSamples(target, normalised);

  // The pose: by known points where there are enough, else by search; a thorough one where the
  // first finds nothing good.
  std::optional<TargetSide> best;
  const auto consider = [&](const FaceFrame& frame) {
    std::optional<TargetSide> side = coarseFit(target, frame, source, fitter, known);
    if (side && (!best || side->state.residual < best->state.residual)) best = std::move(side);
  };
  const auto search = [&](const Samples& whole, const FaceFrame& frame, bool thorough) {
    for (const PoseCandidate& pose :
         detail::searchPoses(source.whole, whole,
                             {.upright = desc.pose == HeadPose::Upright, .thorough = thorough}))
      consider(targetFrame(frame, pose));
  };
  const auto good = [&](double limit) { return best && best->state.residual <= limit; };
  if (const std::optional<FaceFrame> frame = frameOf(known)) consider(*frame);
  if (!good(kGoodCoarseResidual)) {
    if (!keepGoing(progress, 0.15, "pose")) return cancelled();
    search(target_whole, normalised, false);
  }
  // Perhaps more than a head: look at the ends of the body.
  std::vector<Vec3d> ends = {Vec3d::UnitY()};
  if (desc.pose == HeadPose::Unknown) {
    const Vec3d axis = longestDirection(target_whole);
    ends = {axis, -axis};
  }
  for (const double share : {0.5, 0.3, 0.17})
    for (const Vec3d& end : ends) {
      if (good(kBodyCoarseResidual)) break;
      if (!keepGoing(progress, 0.25, "pose")) return cancelled();
      WeldedHead part = endOf(target, end, share);
      if (part.triangles.size() < kMinTriangles) continue;
      const FaceFrame frame = surfaceFrame(part);
      if (!(frame.unit > 0)) continue;
      search(detail::wholeSamples(part, frame), frame, false);
    }
  // Upright and facing +z, as most files have it, is no accident: a search over all rotations, most
  // of the time of a registration, has not found anything better there.
  const bool as_usual = best && isUpright(best->frame) && good(kDoubtfulUpright);
  if (!good(kGoodCoarseResidual) && !as_usual) {
    if (!keepGoing(progress, 0.4, "pose")) return cancelled();
    search(target_whole, normalised, true);
  }
  if (!best) return noFace("no pose puts the source's face on the target");

  std::vector<HardPair> pairs;
  if (desc.slits)
    pairs = slitPairs(detail::findSlits(source.head.positions, source.head.normals,
                                        source.welded.triangles, source.samples),
                      detail::findSlits(best->head.positions, best->head.normals, target.triangles,
                                        best->samples),
                      best->state.warp);
  // What is known counts more than what is found.
  std::erase_if(pairs, [&](const HardPair& pair) {
    for (const KnownPoint& k : known)
      if ((k.from - pair.from).norm() < kKnownReach) return true;
    return false;
  });
  for (const KnownPoint& k : known)
    pairs.push_back({k.from, best->frame.toFace(k.to), kKnownPointWeight});
  double farthest = 0;
  for (const HardPair& pair : pairs)
    farthest = std::max(farthest, (best->state.warp(pair.from) - pair.to).norm());
  std::size_t stage = 2;
  if (farthest > kFarPair) {
    // The coarse fit went astray without them.
    best->state = fitter.start();
    stage = 0;
  }
  for (; stage < detail::kWarpStages.size(); ++stage) {
    if (!keepGoing(progress, 0.6 + 0.08 * static_cast<double>(stage), "fit")) return cancelled();
    fitter.run(best->state, best->face, detail::kWarpStages[stage], pairs);
  }
  if (known.empty()) {
    const std::vector<HardPair> even =
        evenedPairs(source_mesh, source_points, source.frame, *best, pairs);
    for (std::size_t again = 2; again < detail::kWarpStages.size() && !even.empty(); ++again)
      fitter.run(best->state, best->face, detail::kWarpStages[again], even);
  }

  HeadRegistration out;
  out.residual = best->state.residual;
  const bool upright = desc.pose == HeadPose::Upright || frameOf(known) || isUpright(best->frame);
  const double limit = upright ? kDoubtfulUpright : kDoubtfulResidual;
  if (out.residual > limit)
    return noFace("the best fit leaves a misfit of " + fixedNumber(out.residual, 2) +
                  ", faces stay below " + shortNumber(limit) +
                  (desc.pose == HeadPose::Unknown
                       ? "; if there is one, say that it is upright or give some of its points"
                       : "; if there is one, give some of its points"));
  if (out.residual > kGoodResidual) {
    out.verdict = RegistrationVerdict::Doubtful;
    notes.warn("doubtful-registration", "target",
               "the heads fit badly (misfit " + fixedNumber(out.residual, 2) + " above " +
                   shortNumber(kGoodResidual) + "): check the points, or say how the head stands");
  }
  const Warp& warp = best->state.warp;
  out.map = HeadMap(source.frame, best->frame, warp.centres, warp.weights, warp.affine);
  out.landmarks = carriedPoints(source_mesh, source_points, target_mesh, desc, source, *best, pairs,
                                out.residual);
  if (!keepGoing(progress, 1, "done")) return cancelled();
  return out;
}

}  // namespace

Result<HeadRegistration> registerHeads(const TriMesh& source_mesh,
                                       std::span<const LabelledPoint> source_points,
                                       const TriMesh& target_mesh, const RegistrationDesc& desc,
                                       Diagnostics& notes, const Progress& progress) {
  DERM_CHECK(checkInput(source_mesh, source_points, target_mesh, desc));
  // Points of one of them tell which is meant.
  if (desc.target_points.empty()) {
    int heads = 0;
    for (const TriMesh& piece : detail::largePiecesApart(target_mesh)) {
      Diagnostics ignored;
      const Result<HeadRegistration> fit =
          registerOne(source_mesh, source_points, piece, desc, ignored, progress);
      if (!fit && fit.error().code == ErrorCode::Cancelled) return fit.error();
      heads += fit.ok() ? 1 : 0;
      if (heads == 2)
        return Error{
            ErrorCode::BadData,
            "has two heads; leave one in the file, or give points of the one that is meant",
            {.element = "target"}};
    }
  }
  return registerOne(source_mesh, source_points, target_mesh, desc, notes, progress);
}

}  // namespace derm
