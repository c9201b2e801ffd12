#include "derm/face/head_registration.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <Eigen/Geometry>

#include "derm/base/number_text.h"
#include "derm/face/face_features.h"
#include "derm/face/face_points.h"
#include "derm/face/face_slits.h"
#include "derm/face/open_jaw.h"
#include "derm/math/decompositions.h"
#include "derm/mesh/triangle_tree.h"

#include "face_mirror.h"
#include "framed_head.h"
#include "head_pieces.h"
#include "head_pose.h"
#include "head_samples.h"
#include "head_slits.h"
#include "head_warp.h"
#include "mouth_inside.h"
#include "welded_mesh.h"

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

// A mouth that is open at rest.
constexpr double kMiddle = 0.15;              ///< face units: a slit in the middle is the mouth's
constexpr double kOpenMouth = 0.12;           ///< of its width: a mouth so high is open
constexpr double kOpenCoarseResidual = 0.65;  ///< above, it is no face with an open mouth either
constexpr std::array kTriedJaws = {0.3, 0.6, 0.9};
constexpr double kWidestJaw = 1.5;
constexpr double kOpenWorse = 0.03;  ///< an open fit may leave so much more than a closed one

// Faces that are their own mirror image, in face units.
constexpr double kSymmetric = 0.001;  ///< median distance of its halves; 1e-4 modelled, 4e-3 people
constexpr double kSymmetricPoints = 0.05;  ///< of labelled points of the source
constexpr double kAskew = 0.02;  ///< half of what a point and its mirror image may be apart
constexpr double kMirrorWeight = 100;

/// Centre and rms radius of the surface, as a frame; the unit is 0 where there is none.
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
  if (!(area > 0)) {
    frame.unit = 0;
    return frame;
  }
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
          std::abs(source[i].centre.x()) < kMiddle && std::abs(target[k].centre.x()) < kMiddle;
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
  TriMesh mesh;
  std::vector<Vec3d> points;  ///< face units, the labelled ones
  WeldedHead welded;
  FramedHead head;
  Samples whole;
  Samples samples;
  MatchPoints face;
  Features deviation{};
  std::optional<WarpFitter> fitter;
  std::vector<Slit> slits;
};

/// Any corner is behind the lips.
bool isBehind(const Triangle& t, const std::vector<bool>& behind) {
  return std::any_of(t.begin(), t.end(), [&](std::uint32_t v) { return behind[v]; });
}

/// `jaw`: share by which it is opened.
Result<SourceSide> sourceSide(const TriMesh& mesh, std::span<const LabelledPoint> points,
                              const FaceFrame& frame, const RegistrationDesc& desc,
                              const JawOpening& opening = {}, double jaw = 0) {
  SourceSide out;
  out.frame = frame;
  out.mesh = withOpenJaw(mesh, opening, jaw);
  for (const LabelledPoint& p : points)
    out.points.push_back(
        frame.toFace(positionAt(p.point, out.mesh.triangles, out.mesh.positions).cast<double>()));
  out.welded = detail::weldedHead(out.mesh);
  if (jaw != 0)
    std::erase_if(out.welded.triangles,
                  [&](const Triangle& t) { return isBehind(t, opening.inside); });
  out.whole = detail::wholeSamples(out.welded, frame);
  out.head = detail::framed(out.welded, frame);
  out.samples = detail::faceSamples(out.head, out.welded);
  out.face = detail::matchPoints(out.samples, kSourceRadius, kVoxel);
  if (out.face.size() < kMinPoints)
    return Error{ErrorCode::BadData, "has no surface around its points", {.element = "source"}};
  out.deviation = detail::deviations(out.face.features);
  detail::squash(out.face.features, out.deviation);
  out.fitter.emplace(out.face, static_cast<std::size_t>(desc.sites));
  if (desc.slits || desc.source_jaw)
    out.slits =
        detail::findSlits(out.head.positions, out.head.normals, out.welded.triangles, out.samples);
  return out;
}

/// The target in one pose.
struct TargetSide {
  FaceFrame frame;
  FramedHead head;
  Samples samples;
  MatchPoints face;
  std::vector<Features> features;  ///< the face's, as they were before the source's size was known
  WarpFitter::State state;
};

/// Also a number and a name of one feature point.
bool isSameLabel(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const FaceFeature* feature = findFaceFeature(a);
  return feature != nullptr && feature == findFaceFeature(b);
}

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

/// The target as one sees it in a frame, before anything is fitted.
std::optional<TargetSide> targetSide(const WeldedHead& target, const FaceFrame& frame) {
  TargetSide side;
  side.frame = frame;
  side.head = detail::framed(target, frame);
  side.samples = detail::faceSamples(side.head, target);
  side.face = detail::matchPoints(side.samples, kTargetRadius, kVoxel);
  if (side.face.size() < kMinPoints) return std::nullopt;
  side.features = side.face.features;
  return side;
}

/// The coarse stages; `features` are the face's own before.
void fitCoarsely(MatchPoints& face, std::span<const Features> features, const FaceFrame& frame,
                 const SourceSide& source, std::span<const KnownPoint> known,
                 WarpFitter::State& state) {
  face.features.assign(features.begin(), features.end());
  detail::squash(face.features, source.deviation);
  state = source.fitter->start();
  std::vector<HardPair> pairs;
  for (const KnownPoint& k : known)
    pairs.push_back({k.from, frame.toFace(k.to), kKnownPointWeight});
  for (std::size_t s = 0; s < 2; ++s)
    source.fitter->run(state, face, detail::kWarpStages[s], pairs);
  // Known points far from where the pose puts them speak against it.
  for (const HardPair& pair : pairs)
    state.residual +=
        std::max(0.0, (pair.from - pair.to).norm() - 0.5) / static_cast<double>(pairs.size());
}

std::optional<TargetSide> coarseFit(const WeldedHead& target, const FaceFrame& frame,
                                    const SourceSide& source, std::span<const KnownPoint> known) {
  std::optional<TargetSide> side = targetSide(target, frame);
  if (side) fitCoarsely(side->face, side->features, frame, source, known, side->state);
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

/// Within 50 degrees, as HeadPose::Upright says.
bool isUpright(const FaceFrame& frame) {
  constexpr double kCosine = 0.643;
  return frame.axes(1, 1) > kCosine && frame.axes(2, 2) > kCosine;
}

/// [0,1] by residual: 1 up to a usual fit, 0.5 at the limit of good ones.
double trustIn(double residual) { return 1 / (1 + std::pow(residual / kGoodResidual, 4)); }

/// On a face that is its own mirror image, so must the points on it be. Where the map has put a
/// point and the one across the face askew: the pairs that it was made with, and the labelled
/// points, each with the one across taken to the middle; else none.
std::vector<HardPair> evenedPairs(const SourceSide& source, std::span<const LabelledPoint> points,
                                  const TargetSide& to, std::span<const HardPair> pairs) {
  const detail::FaceMirror mirror = detail::findFaceMirror(to.face);
  if (mirror.misfit > kSymmetric) return {};
  const auto across = [](const Vec3d& p, const Vec3d& q) {
    return (p - Vec3d(-q.x(), q.y(), q.z())).norm() < kSymmetricPoints;
  };
  std::vector<HardPair> out;
  double askew = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const FaceFeature* feature = findFaceFeature(points[i].label);
    if (feature == nullptr) continue;
    for (std::size_t k = 0; k < points.size(); ++k) {
      const FaceFeature* other = findFaceFeature(points[k].label);
      if (other == nullptr || other->number != feature->mirror) continue;
      const Vec3d &here = source.points[i], &there = source.points[k];
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
std::vector<LandmarkMatch> carriedPoints(std::span<const LabelledPoint> points,
                                         const TriMesh& target, const RegistrationDesc& desc,
                                         const SourceSide& from, const TargetSide& to,
                                         std::span<const HardPair> pairs, double residual,
                                         const std::vector<bool>& behind_lips) {
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
  for (std::size_t i = 0; i < points.size(); ++i) {
    const LabelledPoint& p = points[i];
    const Vec3d& at = from.points[i];
    Vec3d n = Vec3d::Zero();
    for (int k = 0; k < 3; ++k)
      n += static_cast<double>(p.point.barycentric[k]) *
           from.head.normals[from.mesh.triangles[p.point.triangle][static_cast<std::size_t>(k)]];
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
    if (!behind_lips.empty() && isBehind(corners, behind_lips)) continue;
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
      if (isSameLabel(known.label, match.label)) {
        match.point = known.point;
        match.confidence = 1;
      }
  return out;
}

/// What the slits of a target tell of its mouth.
enum class MouthAtRest { Shut, Perhaps, Open };

/// Open where its slit is, perhaps where none is one clean curve: where one looks into a mouth its
/// rim is in pieces. A fit that is no face at all is not tried again.
MouthAtRest mouthAtRest(const RegistrationDesc& desc, std::span<const Slit> slits, double residual,
                        bool points_known) {
  if (!desc.source_jaw || (residual > kOpenCoarseResidual && !points_known))
    return MouthAtRest::Shut;
  std::size_t rims = 0, shut = 0;
  for (const Slit& slit : slits) {
    if (std::abs(slit.centre.x()) > 2 * kMiddle || slit.centre.y() > 0) continue;
    ++rims;
    if (slit.upper.empty()) continue;
    double height = 0;
    for (std::size_t k = 0; k < Slit::kSides; ++k)
      height += (slit.upper[k].y() - slit.lower[k].y()) / static_cast<double>(Slit::kSides);
    if (height < kOpenMouth * slit.length) ++shut;
  }
  if (rims == 0 || (rims == 1 && shut == 1 && residual > kGoodCoarseResidual))
    return MouthAtRest::Perhaps;
  return rims == 1 && shut == 1 ? MouthAtRest::Shut : MouthAtRest::Open;
}

/// Height of an open mouth [m]: the largest of its upper margin over what of the lower one is
/// across from it, with the jaw opened by a share.
double mouthHeight(const TriMesh& mesh, const JawOpening& jaw, double share) {
  const auto at = [&](std::uint32_t v) -> Vec3d {
    return (mesh.positions[v] + static_cast<float>(share) * jaw.moves[v]).cast<double>();
  };
  double most = 0;
  for (const std::uint32_t u : jaw.mouth.upper) {
    double nearest = std::numeric_limits<double>::infinity(), height = 0;
    for (const std::uint32_t l : jaw.mouth.lower) {
      const Vec3d off = at(u) - at(l);
      if (std::abs(jaw.mouth.along.dot(off)) >= nearest) continue;
      nearest = std::abs(jaw.mouth.along.dot(off));
      height = jaw.mouth.up.dot(off);
    }
    most = std::max(most, height);
  }
  return most;
}

/// The share of the source's jaw at which its mouth is as high as this [m].
double jawShareOf(const TriMesh& mesh, const JawOpening& jaw, double height_m) {
  double low = 0, high = kWidestJaw;
  for (int i = 0; i < 20; ++i) {
    const double middle = 0.5 * (low + high);
    (mouthHeight(mesh, jaw, middle) < height_m ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

/// Both heads with their mouths open, matched coarsely.
struct OpenFit {
  double jaw = 0;
  SourceSide source;
  TargetSide target;
  std::vector<Slit> slits;        ///< of the target, its mouth by its margins
  std::vector<bool> behind_lips;  ///< per vertex of the target
};

/// The rims of these slits with the mouth's replaced by its margins.
std::vector<Slit> withMouth(std::vector<Slit> slits, const FramedHead& head,
                            std::span<const std::uint32_t> upper,
                            std::span<const std::uint32_t> lower) {
  const Slit mouth = detail::slitBetween(head.positions, upper, lower);
  std::erase_if(slits, [&](const Slit& s) {
    return std::abs(s.centre.x()) < 2 * kMiddle || (s.centre - mouth.centre).norm() < mouth.length;
  });
  slits.push_back(mouth);
  return slits;
}

/// Known points of the target with those of a source side.
using KnownOn = std::function<std::vector<KnownPoint>(const SourceSide&)>;

/// Tries whether the target's mouth is open at rest: with the source's jaw opened by several shares
/// the best fit tells where the lips' margins are, and those how far the mouth is open. None where
/// it is not.
std::optional<OpenFit> openFit(const TriMesh& source_mesh,
                               std::span<const LabelledPoint> source_points,
                               const SourceSide& closed, const TriMesh& target_mesh,
                               const WeldedHead& target, const TargetSide& closed_fit,
                               std::span<const Slit> slits, const RegistrationDesc& desc,
                               const KnownOn& knownOn, bool sure) {
  const JawOpening jaw = desc.source_jaw();
  if (jaw.moves.empty()) return std::nullopt;
  const FaceFrame& frame = closed.frame;
  std::optional<SourceSide> opened;
  MatchPoints face = closed_fit.face;
  WarpFitter::State fit;
  for (const double share : kTriedJaws) {
    Result<SourceSide> side = sourceSide(source_mesh, source_points, frame, desc, jaw, share);
    if (!side) return std::nullopt;
    WarpFitter::State tried;
    fitCoarsely(face, closed_fit.features, closed_fit.frame, *side, knownOn(*side), tried);
    if (opened && fit.residual <= tried.residual) continue;
    opened = *std::move(side);
    fit = std::move(tried);
  }
  // Where no rim tells, the fit must.
  if (!sure && fit.residual > closed_fit.state.residual) return std::nullopt;
  face.features = closed_fit.features;
  detail::squash(face.features, opened->deviation);
  // Eyes hold it in place; what was taken for the mouth's rim may be deep inside.
  std::vector<Slit> eyes(slits.begin(), slits.end());
  std::erase_if(eyes, [](const Slit& s) { return std::abs(s.centre.x()) < 2 * kMiddle; });
  const std::vector<HardPair> pairs = slitPairs(opened->slits, eyes, fit.warp);
  for (std::size_t stage = 2; stage < detail::kWarpStages.size(); ++stage)
    opened->fitter->run(fit, face, detail::kWarpStages[stage], pairs);
  FacePoints points;
  for (std::size_t i = 0; i < source_points.size(); ++i)
    if (const FaceFeature* feature = findFaceFeature(source_points[i].label))
      points.set(feature->number, closed_fit.frame.fromFace(fit.warp(opened->points[i])));
  if (!validateControlPoints(points)) return std::nullopt;
  Diagnostics ignored;
  const std::optional<FaceSlit> mouth = findFaceSlits(target_mesh, points, ignored).mouth;
  if (!mouth || mouth->opening_m < kOpenMouth * mouth->width_m) return std::nullopt;

  // Without what is behind the lips, which is alike on no two heads.
  WeldedHead outside = target;
  OpenFit out;
  out.behind_lips = detail::behindLips(detail::weldedMesh(target_mesh), *mouth, points);
  std::erase_if(outside.triangles, [&](const Triangle& t) { return isBehind(t, out.behind_lips); });
  if (outside.triangles.size() < target.triangles.size() / 2) return std::nullopt;
  out.jaw = jawShareOf(source_mesh, jaw, mouth->opening_m * frame.unit / closed_fit.frame.unit);
  Result<SourceSide> side = sourceSide(source_mesh, source_points, frame, desc, jaw, out.jaw);
  if (!side) return std::nullopt;
  out.source = *std::move(side);
  std::optional<TargetSide> matched =
      coarseFit(outside, closed_fit.frame, out.source, knownOn(out.source));
  if (!matched || matched->state.residual > closed_fit.state.residual + kOpenWorse)
    return std::nullopt;
  out.target = *std::move(matched);
  const FaceSlit& own = jaw.mouth;
  out.source.slits = withMouth(out.source.slits, out.source.head, own.upper, own.lower);
  out.slits = withMouth({slits.begin(), slits.end()}, out.target.head, mouth->upper, mouth->lower);
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
  FaceFrame source_frame;
  if (desc.source_frame) {
    source_frame = *desc.source_frame;
  } else {
    DERM_TRY(source_frame, faceFrame(source_mesh, source_points));
  }
  if (!keepGoing(progress, 0, "sampling")) return cancelled();
  DERM_TRY(SourceSide source, sourceSide(source_mesh, source_points, source_frame, desc));

  WeldedHead target = detail::weldedHead(target_mesh);
  const FaceFrame normalised = surfaceFrame(target);
  if (!(normalised.unit > 0)) return noFace("the target has no surface");
  const KnownOn knownOn = [&](const SourceSide& side) {
    std::vector<KnownPoint> out;
    for (std::size_t i = 0; i < source_points.size(); ++i)
      for (const LabelledPoint& k : desc.target_points)
        if (isSameLabel(k.label, source_points[i].label))
          out.push_back(
              {side.points[i],
               positionAt(k.point, target_mesh.triangles, target_mesh.positions).cast<double>()});
    return out;
  };
  std::vector<KnownPoint> known = knownOn(source);
  const Samples target_whole = detail::wholeSamples(target, normalised);

  // The pose: by known points where there are enough, else by search; a thorough one where the
  // first finds nothing good.
  std::optional<TargetSide> best;
  const auto consider = [&](const FaceFrame& frame) {
    std::optional<TargetSide> side = coarseFit(target, frame, source, known);
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

  std::vector<Slit> slits;
  if (desc.slits || desc.source_jaw)
    slits = detail::findSlits(best->head.positions, best->head.normals, target.triangles,
                              best->samples);
  double jaw = 0;
  std::vector<bool> behind_lips;
  const MouthAtRest mouth = mouthAtRest(desc, slits, best->state.residual, !known.empty());
  if (mouth != MouthAtRest::Shut) {
    if (!keepGoing(progress, 0.5, "mouth")) return cancelled();
    if (std::optional<OpenFit> open =
            openFit(source_mesh, source_points, source, target_mesh, target, *best, slits, desc,
                    knownOn, mouth == MouthAtRest::Open)) {
      source = std::move(open->source);
      best = std::move(open->target);
      slits = std::move(open->slits);
      jaw = open->jaw;
      behind_lips = std::move(open->behind_lips);
      known = knownOn(source);
    }
  }

  std::vector<HardPair> pairs;
  if (desc.slits) pairs = slitPairs(source.slits, slits, best->state.warp);
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
    best->state = source.fitter->start();
    stage = 0;
  }
  for (; stage < detail::kWarpStages.size(); ++stage) {
    if (!keepGoing(progress, 0.6 + 0.08 * static_cast<double>(stage), "fit")) return cancelled();
    source.fitter->run(best->state, best->face, detail::kWarpStages[stage], pairs);
  }
  if (known.empty()) {
    const std::vector<HardPair> even = evenedPairs(source, source_points, *best, pairs);
    for (std::size_t again = 2; again < detail::kWarpStages.size() && !even.empty(); ++again)
      source.fitter->run(best->state, best->face, detail::kWarpStages[again], even);
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
  out.landmarks = carriedPoints(source_points, target_mesh, desc, source, *best, pairs,
                                out.residual, behind_lips);
  out.jaw = jaw;
  if (jaw != 0) {
    out.source_positions = source.mesh.positions;
    notes.warn("mouth-open", "target",
               "its mouth is open at rest (the source's jaw was opened by " +
                   fixedNumber(100 * jaw, 0) +
                   " % to match it); shapes and motions start from there: they are best on a head "
                   "with its mouth shut");
  }
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
