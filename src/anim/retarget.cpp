#include "derm/anim/retarget.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>

#include "derm/math/decompositions.h"

#include "anim/joint_map.h"
#include "anim/stances.h"

namespace derm {
namespace {

constexpr std::size_t kMaxKeys = 50'000'000;  // over all tracks

/// M q M for a mirror M = diag(axes), -1 along what it mirrors; its own inverse.
Quatd throughMirror(const Quatd& q, const Vec3d& axes) {
  const Vec3d v = axes.prod() * axes.cwiseProduct(q.vec());
  return Quatd(q.w(), v.x(), v.y(), v.z());
}

/// Model-space rotation of every joint, by products of local rotations. Of scale only what it
/// mirrors plays a part: with R the rotations and M the mirrors, R1 M1 R2 M2 = R1 (M1 R2 M1) M1 M2.
void modelRotations(const Skeleton& skeleton, std::span<const Transform> local,
                    std::vector<Quatd>& out, std::vector<Vec3d>& mirrors) {
  out.resize(skeleton.size());
  mirrors.resize(skeleton.size());
  for (std::size_t i = 0; i < skeleton.size(); ++i) {
    const JointId parent = skeleton.joints[i].parent;
    out[i] = local[i].rotation.cast<double>();
    for (int k = 0; k < 3; ++k) mirrors[i][k] = local[i].scale[k] < 0 ? -1.0 : 1.0;
    if (!parent.valid()) continue;
    const Vec3d& above = mirrors[parent.index()];
    out[i] = (out[parent.index()] * throughMirror(out[i], above)).normalized();
    mirrors[i] = mirrors[i].cwiseProduct(above);
  }
}

void samplePose(const Clip& clip, float time_s, std::vector<Transform>& local) {
  for (const Track& track : clip.tracks) {
    if (!track.ofJoint()) continue;
    Transform& joint = local[track.joint.index()];
    if (track.channel == Channel::Rotation)
      sampleTrack(track, time_s, {joint.rotation.coeffs().data(), 4});
    else if (track.channel == Channel::Translation)
      sampleTrack(track, time_s, {joint.translation.data(), 3});
    else
      sampleTrack(track, time_s, {joint.scale.data(), 3});
  }
}

/// One skeleton in one pose, in model space, turned as a whole.
struct PosedSkeleton {
  std::vector<Transform> local;
  std::vector<Affine3d> model;
  std::vector<Quatd> rotations;
  std::vector<Vec3d> mirrors;  ///< per joint, of the axes that it and those above mirror
  Quatd turn = Quatd::Identity();

  PosedSkeleton(const Skeleton& skeleton, std::vector<Transform> pose) : local(std::move(pose)) {
    model.resize(skeleton.size());
    update(skeleton);
  }
  void update(const Skeleton& skeleton) {
    localToModel(skeleton, local, model);
    modelRotations(skeleton, local, rotations, mirrors);
    for (Quatd& q : rotations) q = (turn * q).normalized();
  }
  Vec3d position(std::uint32_t joint) const { return turn * Vec3d(model[joint].translation()); }
};

/// Left, up and forward of a standing body, from where its legs and arms begin.
std::optional<Mat3d> bodyAxes(const detail::BodyPlan& body, const PosedSkeleton& pose) {
  const Vec3d legs[2] = {pose.position(*body.sides[0].thigh), pose.position(*body.sides[1].thigh)};
  const Vec3d arms[2] = {pose.position(*body.sides[0].upper_arm),
                         pose.position(*body.sides[1].upper_arm)};
  const Vec3d left = legs[0] - legs[1] + arms[0] - arms[1];
  const Vec3d up = arms[0] + arms[1] - legs[0] - legs[1];
  const Vec3d forward = left.cross(up);
  if (!(forward.norm() > 1e-9 * left.norm() * up.norm()) || !(left.norm() > 0)) return std::nullopt;
  Mat3d axes;
  axes << left.normalized(), forward.cross(left).normalized(), forward.normalized();
  return axes;
}

/// The quarter turns that bring one body's axes nearest to the other's: files differ in which axis
/// is up and which way a body faces, while leaning and swaying belong to the pose.
Quatd quarterTurn(const Mat3d& from, const Mat3d& to) {
  const Mat3d wanted = to * from.transpose();
  Mat3d best = Mat3d::Identity();
  int order[3] = {0, 1, 2};
  do {
    for (int signs = 0; signs < 8; ++signs) {
      Mat3d turn = Mat3d::Zero();
      for (int k = 0; k < 3; ++k) turn(order[k], k) = (signs >> k & 1) != 0 ? -1.0 : 1.0;
      if (turn.determinant() > 0 &&
          turn.cwiseProduct(wanted).sum() > best.cwiseProduct(wanted).sum() + 1e-9)
        best = turn;
    }
  } while (std::next_permutation(order, order + 3));
  return Quatd(best);
}

/// Turns the source's poses into the target's axes, where both are bodies.
Quatd turnBetween(const detail::JointMap& map, const PosedSkeleton& source,
                  const PosedSkeleton& target) {
  if (!map.source_body || !map.target_body) return Quatd::Identity();
  const std::optional<Mat3d> from = bodyAxes(*map.source_body, source);
  const std::optional<Mat3d> to = bodyAxes(*map.target_body, target);
  return from && to ? quarterTurn(*from, *to) : Quatd(Quatd::Identity());
}

/// A performer's T-pose is a reference for limbs; a head that looks down in it a little does so
/// against the skeleton's own rest, and all of the motion would look up by as much.
void liftHead(const detail::BodyPlan& body, std::span<const Transform> rest,
              std::span<Transform> pose) {
  constexpr float kNod = 0.6f;  // [rad] more is another convention of the file's, not a posture
  std::vector<std::uint32_t> joints = body.neck;
  if (body.head) joints.push_back(*body.head);
  for (const std::uint32_t j : joints)
    if (pose[j].rotation.angularDistance(rest[j].rotation) < kNod)
      pose[j].rotation = rest[j].rotation;
}

/// The mapped joint a bone leads to, if its direction says something about the pose.
std::optional<std::uint32_t> boneEnd(const detail::JointMap& map, std::uint32_t joint) {
  const std::vector<std::uint32_t>& below = map.below[joint];
  if (below.empty()) return std::nullopt;
  const detail::BodyPart part = map.parts[joint];
  if (part == detail::BodyPart::Trunk || part == detail::BodyPart::Tip) return std::nullopt;
  if (part == detail::BodyPart::Unknown && below.size() != 1) return std::nullopt;
  // Twist helpers hang beside a limb's next joint, which carries most of what follows.
  return *std::max_element(below.begin(), below.end(), [&](std::uint32_t a, std::uint32_t b) {
    return map.weight[a] < map.weight[b];
  });
}

/// The target's reference rotations in model space: its rest, limbs turned to the source's.
std::vector<Quatd> alignedRotations(const detail::JointMap& map, const PosedSkeleton& source_pose,
                                    const Skeleton& target, const PosedSkeleton& target_rest,
                                    bool align) {
  if (!align) return target_rest.rotations;
  std::vector<Quatd> out(target.size());
  for (std::uint32_t i = 0; i < target.size(); ++i) {
    const JointId parent = target.joints[i].parent;
    out[i] = target_rest.local[i].rotation.cast<double>();
    if (parent.valid())
      out[i] = (out[parent.index()] * throughMirror(out[i], target_rest.mirrors[parent.index()]))
                   .normalized();
    if (map.source_of[i] == detail::kNoJoint) continue;
    const std::optional<std::uint32_t> end = boneEnd(map, i);
    if (!end) continue;
    const Vec3d wanted =
        source_pose.position(map.source_of[*end]) - source_pose.position(map.source_of[i]);
    const Vec3d bone = target_rest.position(*end) - target_rest.position(i);
    if (!(wanted.norm() > 1e-9) || !(bone.norm() > 1e-9)) continue;
    const Vec3d carried = out[i] * (target_rest.rotations[i].conjugate() * bone);
    out[i] = (rotationBetween(carried, wanted) * out[i]).normalized();
  }
  return out;
}

/// Joints at and below one, which bear its weight.
std::vector<std::uint32_t> subtree(const Skeleton& skeleton, std::uint32_t root) {
  std::vector<bool> inside(skeleton.size(), false);
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = root; i < skeleton.size(); ++i) {
    const JointId parent = skeleton.joints[i].parent;
    inside[i] = i == root || (parent.valid() && inside[parent.index()]);
    if (inside[i]) out.push_back(i);
  }
  return out;
}

double lowest(const PosedSkeleton& pose, std::span<const std::uint32_t> joints) {
  double low = pose.position(joints.front()).y();
  for (const std::uint32_t j : joints) low = std::min(low, pose.position(j).y());
  return low;
}

double reach(const PosedSkeleton& pose, std::span<const std::uint32_t> joints) {
  double far = 0;
  for (const std::uint32_t j : joints)
    far = std::max(far, (pose.position(j) - pose.position(joints.front())).norm());
  return far;
}

/// Level of the ground the source moves on: where its lowest joint is most of the time it is low.
double groundLevel(std::vector<double> lows, double rest_low, double height) {
  const std::size_t twentieth = lows.size() / 20;  // a stray frame or two must not decide
  std::nth_element(lows.begin(), lows.begin() + static_cast<std::ptrdiff_t>(twentieth), lows.end());
  const double measured = lows[twentieth];
  return std::abs(measured - rest_low) <= 0.25 * height ? rest_low : measured;
}

/// The source's root over all keys, and how it becomes the target's.
class RootMotion {
 public:
  RootMotion(const detail::JointMap& map, const Skeleton& source, const PosedSkeleton& source_rest,
             const PosedSkeleton& source_reference, const Skeleton& target,
             const PosedSkeleton& target_rest)
      : source_root_(map.source_carrier) {
    const std::uint32_t source_root = source_root_, target_root = *map.carrier;
    const std::uint32_t target_hips = map.hips.value_or(target_root);
    const std::uint32_t source_hips = map.hips ? map.source_of[target_hips] : source_root;
    source_joints_ = subtree(source, source_hips);
    const std::vector<std::uint32_t> target_joints = subtree(target, target_hips);
    source_start_ = source_rest.position(source_root);
    target_start_ = target_rest.position(target_root);
    source_low_ = lowest(source_reference, source_joints_);
    target_low_ = lowest(target_rest, target_joints);
    source_height_ = source_reference.position(source_hips).y() - source_low_;
    source_reach_ = reach(source_reference, source_joints_);
    const double target_reach = reach(target_rest, target_joints);
    const double target_height = target_rest.position(target_hips).y() - target_low_;
    // What does not stand on its lowest joint (an arm, a tail, a prop) is compared by its size, and
    // moves from where it rests: it knows no ground.
    stands_ = source_height_ > 0.05 * source_reach_ && target_height > 0.05 * target_reach;
    const double ratio = stands_ ? target_height / source_height_ : target_reach / source_reach_;
    scale_ = std::isfinite(ratio) && ratio > 0 ? ratio : 1.0;
    const JointId parent = target.joints[target_root].parent;
    bool invertible = false;
    if (parent.valid())
      to_parent_ = inverseOrIdentity(target_rest.model[parent.index()], invertible);
  }
  void add(const PosedSkeleton& source) {
    positions_.push_back(source.position(source_root_));
    lows_.push_back(lowest(source, source_joints_));
  }
  /// [m] how far the source is above its ground, in the target's size; empty where it knows none.
  std::vector<float> clearance() const {
    std::vector<float> out;
    if (!stands_) return out;
    const double ground = sourceGround();
    for (const double low : lows_)
      out.push_back(static_cast<float>(std::max(0.0, scale_ * (low - ground))));
    return out;
  }
  bool stands() const { return stands_; }
  double scale() const { return scale_; }
  double sourceHeight() const { return source_height_; }
  double sourceGround() const { return groundLevel(lows_, source_low_, source_height_); }
  Track track(std::uint32_t target_root, std::span<const float> times_s) const {
    const double ground = sourceGround();
    // A recording may begin far from where its skeleton rests (BVH files rest at the origin); what
    // knows no ground then moves from where it begins.
    const bool far = (positions_.front() - source_start_).norm() > source_reach_;
    const Vec3d start = far && !stands_ ? positions_.front() : source_start_;
    Track out;
    out.channel = Channel::Translation;
    out.joint = JointId(target_root);
    out.times_s.assign(times_s.begin(), times_s.end());
    for (const Vec3d& p : positions_) {
      Vec3d position = target_start_ + scale_ * (p - start);
      if (stands_) position.y() = target_low_ + scale_ * (p.y() - ground);
      const Vec3f local = (to_parent_ * position).cast<float>();
      out.values.insert(out.values.end(), local.data(), local.data() + 3);
    }
    return out;
  }

 private:
  std::uint32_t source_root_;
  std::vector<std::uint32_t> source_joints_;
  Vec3d source_start_, target_start_;
  double source_low_ = 0, target_low_ = 0, source_height_ = 0, source_reach_ = 0, scale_ = 1;
  bool stands_ = true;
  Affine3d to_parent_ = Affine3d::Identity();
  std::vector<Vec3d> positions_;
  std::vector<double> lows_;
};

/// How the target's hips move against the mapped joint above them, where they are not the carrier
/// themselves: as the source's do, in the target's size.
class HipsMotion {
 public:
  HipsMotion(const detail::JointMap& map, const PosedSkeleton& source_rest,
             const PosedSkeleton& reference, const Skeleton& target,
             const PosedSkeleton& target_rest, const std::vector<Quatd>& aligned, double scale)
      : hips_(*map.hips),
        source_hips_(map.source_of[hips_]),
        source_above_(map.source_of[map.above[hips_]]),
        start_(offset(source_rest)),
        rest_(target_rest.position(hips_)),
        turn_(target_rest.rotations[map.above[hips_]] * aligned[map.above[hips_]].conjugate() *
              reference.rotations[source_above_]),
        scale_(scale) {
    bool invertible = false;
    to_parent_ =
        inverseOrIdentity(target_rest.model[target.joints[hips_].parent.index()], invertible);
  }
  void add(const PosedSkeleton& source) { offsets_.push_back(offset(source) - start_); }
  /// Nothing where the source's hips stay where they are: translation needs no keys then.
  std::optional<Track> track(std::span<const float> times_s, double height) const {
    constexpr double kStill = 1e-4;  // of the height
    Track out;
    out.channel = Channel::Translation;
    out.joint = JointId(hips_);
    out.times_s.assign(times_s.begin(), times_s.end());
    double furthest = 0;
    for (const Vec3d& by : offsets_) {
      furthest = std::max(furthest, by.norm());
      const Vec3f local = (to_parent_ * Vec3d(rest_ + turn_ * (scale_ * by))).cast<float>();
      out.values.insert(out.values.end(), local.data(), local.data() + 3);
    }
    return furthest > kStill * height ? std::optional(std::move(out)) : std::nullopt;
  }

 private:
  Vec3d offset(const PosedSkeleton& source) const {
    return source.rotations[source_above_].conjugate() *
           Vec3d(source.position(source_hips_) - source.position(source_above_));
  }

  std::uint32_t hips_, source_hips_, source_above_;
  Vec3d start_, rest_;
  Quatd turn_;  ///< from the source's joint above to the target's at rest
  double scale_;
  Affine3d to_parent_ = Affine3d::Identity();
  std::vector<Vec3d> offsets_;
};

/// Rotation keys of every mapped joint, grown key by key.
class RotationKeys {
 public:
  RotationKeys(const detail::JointMap& map, const Skeleton& target,
               const PosedSkeleton& source_reference, const PosedSkeleton& target_rest,
               const std::vector<Quatd>& aligned)
      : map_(map),
        target_(target),
        mirrors_(target_rest.mirrors),
        model_(target.size()),
        tracks_(target.size()) {
    for (std::uint32_t i = 0; i < target.size(); ++i)
      if (map.source_of[i] != detail::kNoJoint)
        offsets_.push_back(source_reference.rotations[map.source_of[i]].conjugate() * aligned[i]);
      else
        offsets_.push_back(fromParent(i, target.joints[i].rest.rotation.cast<double>()));
  }
  void add(const PosedSkeleton& source) {
    for (std::uint32_t i = 0; i < target_.size(); ++i) {
      const JointId parent = target_.joints[i].parent;
      const Quatd above = parent.valid() ? model_[parent.index()] : Quatd(Quatd::Identity());
      if (map_.source_of[i] == detail::kNoJoint) {
        model_[i] = (above * offsets_[i]).normalized();
        continue;
      }
      model_[i] = (source.rotations[map_.source_of[i]] * offsets_[i]).normalized();
      const Quatd own = fromParent(i, (above.conjugate() * model_[i]).normalized());
      Eigen::Vector4f local = own.coeffs().cast<float>();
      std::vector<float>& values = tracks_[i].values;
      // q and -q are one rotation; the nearer one keeps splines and blends from going round.
      if (!values.empty() && Eigen::Map<const Eigen::Vector4f>(&*(values.end() - 4)).dot(local) < 0)
        local = -local;
      values.insert(values.end(), local.data(), local.data() + 4);
    }
  }
  void finish(std::span<const float> times_s, Clip& clip) && {
    for (std::uint32_t i = 0; i < target_.size(); ++i) {
      if (map_.source_of[i] == detail::kNoJoint) continue;
      tracks_[i].channel = Channel::Rotation;
      tracks_[i].joint = JointId(i);
      tracks_[i].times_s.assign(times_s.begin(), times_s.end());
      clip.tracks.push_back(std::move(tracks_[i]));
    }
  }

 private:
  /// A rotation against the parent's, in the parent's space or as it is in model space: what the
  /// joints above mirror is between the two.
  Quatd fromParent(std::uint32_t joint, const Quatd& q) const {
    const JointId parent = target_.joints[joint].parent;
    return parent.valid() ? throughMirror(q, mirrors_[parent.index()]) : q;
  }

  const detail::JointMap& map_;
  const Skeleton& target_;
  std::vector<Vec3d> mirrors_;
  std::vector<Quatd> offsets_;  ///< S_j0^-1 T'_j0 of mapped joints, rest rotation of others
  std::vector<Quatd> model_;
  std::vector<Track> tracks_;
};

/// Ends of limbs that move: feet and hands with what hangs on them, and what nothing mapped follows
/// where names do not say.
std::vector<std::uint32_t> limbEnds(const detail::JointMap& map) {
  using detail::BodyPart;
  std::vector<std::uint32_t> out;
  std::vector<bool> at_end(map.source_of.size(), false);  // an end or what hangs on one
  for (std::uint32_t j = 0; j < map.source_of.size(); ++j) {
    if (map.source_of[j] == detail::kNoJoint || map.parts[j] == BodyPart::Trunk) continue;
    const std::uint32_t above = map.above[j];
    at_end[j] = above != detail::kNoJoint && at_end[above];
    if (at_end[j] || !(map.parts[j] == BodyPart::Tip || map.below[j].empty())) continue;
    at_end[j] = true;
    out.push_back(j);
  }
  return out;
}

/// Where the ends of the source's limbs go, for their stances.
class LimbEnds {
 public:
  LimbEnds(const detail::JointMap& map, const Skeleton& source) {
    for (const std::uint32_t joint : limbEnds(map)) {
      End end{.target = joint, .joints = subtree(source, map.source_of[joint]), .ways = {}};
      end.ways.resize(end.joints.size());
      ends_.push_back(std::move(end));
    }
  }
  void add(const PosedSkeleton& source) {
    for (End& end : ends_)
      for (std::size_t i = 0; i < end.joints.size(); ++i)
        end.ways[i].push_back(source.position(end.joints[i]));
  }
  std::vector<Stance> stances(std::span<const float> times_s, double ground, double height) const {
    std::vector<Stance> out;
    for (const End& end : ends_)
      for (const auto& [first, last] : detail::stancesOf(end.ways, times_s, ground, height))
        out.push_back({.joint = JointId(end.target), .first = first, .last = last});
    return out;
  }

 private:
  struct End {
    std::uint32_t target;
    std::vector<std::uint32_t> joints;  ///< of the source
    std::vector<std::vector<Vec3d>> ways;
  };
  std::vector<End> ends_;
};

Result<std::vector<float>> keyTimes(const Clip& clip, const RetargetDesc& desc,
                                    std::size_t track_count) {
  const auto bad = [](std::string message) {
    return Error{ErrorCode::BadArgument, std::move(message), {}};
  };
  const double duration_s = clip.duration_s();
  if (!(desc.rate_hz > 0) || !std::isfinite(desc.rate_hz)) return bad("rate_hz must be > 0");
  if (!(desc.start_s >= 0 && desc.start_s <= duration_s))
    return bad("start_s must lie in the clip, 0 to " + std::to_string(duration_s) + " s");
  if (desc.source_reference_time_s &&
      !(*desc.source_reference_time_s >= 0 && *desc.source_reference_time_s <= duration_s))
    return bad("source_reference_time_s must lie in the clip, 0 to " + std::to_string(duration_s) +
               " s");
  const double length_s = duration_s - desc.start_s;
  const double intervals = std::ceil(length_s * desc.rate_hz - 1e-4);
  if (!((intervals + 1) * static_cast<double>(track_count) <= kMaxKeys))
    return bad(std::to_string(length_s) + " s at " + std::to_string(desc.rate_hz) +
               " Hz make too many keys");
  std::vector<float> times_s;
  for (double i = 0; i <= intervals; ++i) {
    const auto time_s = static_cast<float>(std::min(i / desc.rate_hz, length_s));
    if (times_s.empty() || time_s > times_s.back()) times_s.push_back(time_s);
  }
  return times_s;
}

/// Keeps joints at the reference that rest elsewhere, by one key where the clip has none.
void holdReference(const Skeleton& rest, const Skeleton& reference, Clip& clip) {
  std::vector<std::array<bool, 3>> keyed(rest.size(), {false, false, false});
  constexpr std::array kChannels = {Channel::Translation, Channel::Rotation, Channel::Scale};
  for (const Track& track : clip.tracks)
    for (std::size_t k = 0; k < kChannels.size(); ++k)
      if (track.channel == kChannels[k]) keyed[track.joint.index()][k] = true;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const Transform &is = rest.joints[i].rest, &should = reference.joints[i].rest;
    const auto hold = [&](std::size_t k, bool same, std::span<const float> value) {
      if (same || keyed[i][k]) return;
      Track track;
      track.channel = kChannels[k];
      track.joint = JointId(i);
      track.times_s = {0.0f};
      track.values.assign(value.begin(), value.end());
      clip.tracks.push_back(std::move(track));
    };
    hold(0, is.translation == should.translation, {should.translation.data(), 3});
    hold(1, is.rotation.coeffs() == should.rotation.coeffs(), {should.rotation.coeffs().data(), 4});
    hold(2, is.scale == should.scale, {should.scale.data(), 3});
  }
}

void noteMapping(const detail::JointMap& map, const Skeleton& target, Diagnostics& notes) {
  for (std::uint32_t i = 0; i < target.size(); ++i)
    if (map.source_of[i] == detail::kNoJoint)
      notes.info("joint-not-mapped", "retarget",
                 "joints that the motion does not have keep their rest pose", i);
}

}  // namespace

float motionStart(const Clip& clip, const Skeleton& skeleton) {
  constexpr std::size_t kLooked = 8;              // intervals that tell how fast the motion is
  constexpr double kJump = std::numbers::pi / 9;  // [rad] of all joints together
  constexpr double kTimes = 8.0;                  // the speed of what follows
  std::vector<float> times_s;
  for (const Track& track : clip.tracks)
    if (track.channel == Channel::Rotation && track.joint.index() < skeleton.size())
      for (std::size_t k = 0; k < std::min(track.times_s.size(), kLooked + 2); ++k)
        times_s.push_back(track.times_s[k]);
  std::sort(times_s.begin(), times_s.end());
  times_s.erase(std::unique(times_s.begin(), times_s.end()), times_s.end());
  if (times_s.size() < 4) return 0.0f;
  times_s.resize(std::min(times_s.size(), kLooked + 2));
  std::vector<Transform> before = restTransforms(skeleton), now = before;
  std::vector<double> moves;
  for (std::size_t k = 0; k < times_s.size(); ++k) {
    before.swap(now);
    samplePose(clip, times_s[k], now);
    if (k == 0) continue;
    double move = 0;
    for (std::size_t j = 0; j < now.size(); ++j)
      move += now[j].rotation.cast<double>().angularDistance(before[j].rotation.cast<double>());
    moves.push_back(move / (times_s[k] - times_s[k - 1]));
  }
  const double next = *std::max_element(moves.begin() + 1, moves.end());
  const bool jumps = moves[0] * (times_s[1] - times_s[0]) > kJump && moves[0] > kTimes * next;
  return jumps ? times_s[1] : 0.0f;
}

std::vector<Transform> bindReference(const Skeleton& skeleton, const Skin& skin) {
  constexpr double kSame = 1e-3;  // of a joint's matrix, of the skeleton's size
  std::vector<Transform> out = bindTransforms(skeleton, skin);
  const std::vector<Affine3d> model = restModelMatrices(skeleton);
  double size = 0;
  for (const Affine3d& m : model)
    size = std::max(size, (m.translation() - model.front().translation()).norm());
  bool differs = false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Transform& rest = skeleton.joints[i].rest;
    const JointId parent = skeleton.joints[i].parent;
    const double unit =
        parent.valid() ? std::cbrt(std::abs(model[parent.index()].linear().determinant())) : 1.0;
    // Matrices: a mirror can be written in several ways.
    const Affine3d is = out[i].matrixd(), was = rest.matrixd();
    const bool same = (is.linear() - was.linear()).norm() <= kSame * was.linear().norm() &&
                      unit * (is.translation() - was.translation()).norm() <= kSame * size;
    if (same) out[i] = rest;
    differs = differs || !same;
  }
  if (!differs) out.clear();
  return out;
}

Result<Clip> retarget(const Clip& clip, const Skeleton& source_file, const Skeleton& target_file,
                      const RetargetDesc& desc, Diagnostics& notes, RetargetOutcome* outcome) {
  DERM_CHECK(validate(source_file, "source skeleton"));
  DERM_CHECK(validate(target_file, "target skeleton"));
  const Skeleton source = detail::inReference(source_file, desc.source_reference);
  const Skeleton target = detail::inReference(target_file, desc.target_reference);
  DERM_CHECK(validate(
      clip, {.joints = source.size(), .morphs = detail::kNoJoint, .controls = detail::kNoJoint},
      "source"));
  DERM_TRY(const detail::JointMap map, detail::mapJoints(source, target, desc));
  DERM_TRY(const std::vector<float> times_s, keyTimes(clip, desc, map.count + 1));
  noteMapping(map, target, notes);

  PosedSkeleton source_rest(source, restTransforms(source));
  const PosedSkeleton target_rest(target, restTransforms(target));
  PosedSkeleton reference = source_rest;
  if (desc.source_reference_time_s) {
    samplePose(clip, *desc.source_reference_time_s, reference.local);
    if (map.source_body) liftHead(*map.source_body, source_rest.local, reference.local);
  }
  reference.update(source);
  reference.turn = source_rest.turn = turnBetween(map, reference, target_rest);
  reference.update(source);
  source_rest.update(source);
  std::optional<RootMotion> root_motion;
  if (desc.root_motion && map.carrier)
    root_motion.emplace(map, source, source_rest, reference, target, target_rest);
  if (desc.root_motion && !map.carrier)
    notes.warn("no-common-joint", "retarget",
               "the mapped joints hang on no common joint: the character stays in place");
  const std::vector<Quatd> aligned =
      alignedRotations(map, reference, target, target_rest, desc.align_rest);
  RotationKeys rotations(map, target, reference, target_rest, aligned);
  std::optional<HipsMotion> hips;
  if (root_motion && map.hips)
    hips.emplace(map, source_rest, reference, target, target_rest, aligned, root_motion->scale());
  std::optional<LimbEnds> ends;
  if (outcome != nullptr && root_motion && root_motion->stands()) ends.emplace(map, source);
  PosedSkeleton pose = source_rest;
  pose.local = restTransforms(source_file);  // where the motion moves nothing
  for (const float time_s : times_s) {
    samplePose(clip, desc.start_s + time_s, pose.local);
    pose.update(source);
    rotations.add(pose);
    if (root_motion) root_motion->add(pose);
    if (hips) hips->add(pose);
    if (ends) ends->add(pose);
  }
  Clip out;
  out.name = clip.name;
  if (root_motion) out.tracks.push_back(root_motion->track(*map.carrier, times_s));
  if (hips)
    if (std::optional<Track> track = hips->track(times_s, root_motion->sourceHeight()))
      out.tracks.push_back(*std::move(track));
  if (outcome != nullptr && root_motion)
    *outcome = {.carrier = JointId(*map.carrier),
                .hips = map.hips ? std::optional(JointId(*map.hips)) : std::nullopt,
                .clearance_m = root_motion->clearance(),
                .stances = {}};
  if (ends)
    outcome->stances =
        ends->stances(times_s, root_motion->sourceGround(), root_motion->sourceHeight());
  std::move(rotations).finish(times_s, out);
  holdReference(target_file, target, out);
  DERM_CHECK(validate(out, {.joints = target.size()}, "retargeted clip"));
  return out;
}

}  // namespace derm
