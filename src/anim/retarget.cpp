#include "derm/anim/retarget.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "anim/joint_names.h"

namespace derm {
namespace {

constexpr std::uint32_t kNone = JointId::kInvalid;
constexpr std::size_t kFewestJoints = 3;
constexpr std::size_t kMostKeys = 50'000'000;  // over all tracks

/// Model-space rotation of every joint, by products of local rotations: scale plays no part.
void modelRotations(const Skeleton& skeleton, std::span<const Transform> local,
                    std::vector<Quatd>& out) {
  out.resize(skeleton.size());
  for (std::size_t i = 0; i < skeleton.size(); ++i) {
    const JointId parent = skeleton.joints[i].parent;
    const Quatd here = local[i].rotation.cast<double>();
    out[i] = parent.valid() ? Quatd((out[parent.index()] * here).normalized()) : here;
  }
}

void samplePose(const Clip& clip, float time_s, std::vector<Transform>& local) {
  for (const Track& track : clip.tracks) {
    if (track.channel == Channel::MorphWeights) continue;
    Transform& joint = local[track.joint.index()];
    if (track.channel == Channel::Rotation)
      sampleTrack(track, time_s, {joint.rotation.coeffs().data(), 4});
    else if (track.channel == Channel::Translation)
      sampleTrack(track, time_s, {joint.translation.data(), 3});
    else
      sampleTrack(track, time_s, {joint.scale.data(), 3});
  }
}

/// One skeleton in one pose, in model space.
struct PosedSkeleton {
  std::vector<Transform> local;
  std::vector<Affine3d> model;
  std::vector<Quatd> rotations;

  PosedSkeleton(const Skeleton& skeleton, std::vector<Transform> pose) : local(std::move(pose)) {
    model.resize(skeleton.size());
    update(skeleton);
  }
  void update(const Skeleton& skeleton) {
    localToModel(skeleton, local, model);
    modelRotations(skeleton, local, rotations);
  }
  Vec3d position(std::uint32_t joint) const { return model[joint].translation(); }
};

/// Which source joint each target joint follows, and the chains this makes in the target.
struct JointMap {
  std::vector<std::uint32_t> source_of;           ///< per target joint, kNone = unmapped
  std::vector<std::uint32_t> above;               ///< per target joint, nearest mapped ancestor
  std::vector<std::vector<std::uint32_t>> below;  ///< per target joint, mapped joints next below
  std::vector<std::uint32_t> weight;              ///< per target joint, mapped joints at or below
  std::size_t count = 0;
};

JointMap mapOf(const Skeleton& target, std::vector<std::uint32_t> source_of) {
  JointMap map;
  const std::size_t n = target.size();
  map.above.assign(n, kNone);
  map.below.resize(n);
  map.weight.assign(n, 0);
  for (std::uint32_t i = 0; i < n; ++i) {
    const JointId parent = target.joints[i].parent;
    if (parent.valid())
      map.above[i] = source_of[parent.index()] != kNone ? parent.value : map.above[parent.index()];
    if (source_of[i] == kNone) continue;
    ++map.count;
    if (map.above[i] != kNone) map.below[map.above[i]].push_back(i);
  }
  for (std::uint32_t i = static_cast<std::uint32_t>(n); i-- > 0;) {
    map.weight[i] += source_of[i] != kNone;
    if (target.joints[i].parent.valid())
      map.weight[target.joints[i].parent.index()] += map.weight[i];
  }
  map.source_of = std::move(source_of);
  return map;
}

/// The first joint of each name, which is the one Skeleton::find gives.
std::map<std::string_view, JointId> firstOfName(const Skeleton& skeleton) {
  std::map<std::string_view, JointId> out;
  for (std::size_t i = 0; i < skeleton.size(); ++i)
    out.emplace(skeleton.joints[i].name, JointId(i));
  return out;
}

Result<JointMap> mapJoints(const Skeleton& source, const Skeleton& target,
                           const RetargetDesc& desc) {
  const auto pairs = desc.names.empty() ? matchJointNames(source, target) : desc.names;
  std::vector<std::uint32_t> source_of(target.size(), kNone);
  std::vector<bool> used(source.size(), false);
  const std::map<std::string_view, JointId> source_names = firstOfName(source);
  const std::map<std::string_view, JointId> target_names = firstOfName(target);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto find = [](const auto& names, const Skeleton& skeleton, const std::string& name) {
      const auto found = names.find(name);
      return found == names.end() ? skeleton.named(name) : Result<JointId>(found->second);
    };
    Result<JointId> from = find(source_names, source, pairs[i].first);
    Result<JointId> to = find(target_names, target, pairs[i].second);
    const auto where = [&](Error error, const char* element) {
      error.where.element = element;
      error.where.index = i;
      return error;
    };
    if (!from.ok()) return where(std::move(from).error(), "names, source");
    if (!to.ok()) return where(std::move(to).error(), "names, target");
    if (used[from->index()] || source_of[to->index()] != kNone)
      return where(Error{ErrorCode::BadArgument,
                         "\"" + pairs[i].first + "\" or \"" + pairs[i].second + "\" is used twice",
                         {}},
                   "names");
    used[from->index()] = true;
    source_of[to->index()] = from->value;
  }
  if (pairs.size() < kFewestJoints)
    return Error{ErrorCode::BadArgument,
                 "only " + std::to_string(pairs.size()) + " of the motion's " +
                     std::to_string(source.size()) + " joints match the character's " +
                     std::to_string(target.size()) + " by name; give a table of names",
                 {}};
  return mapOf(target, std::move(source_of));
}

/// The mapped joint a bone leads to, if its direction says something about the pose.
std::optional<std::uint32_t> boneEnd(const JointMap& map, const Skeleton& source,
                                     const Skeleton& target, std::uint32_t joint) {
  const std::vector<std::uint32_t>& below = map.below[joint];
  if (below.empty()) return std::nullopt;
  BodyPart part = meaningOf(source.joints[map.source_of[joint]].name).part;
  if (part == BodyPart::Unknown) part = meaningOf(target.joints[joint].name).part;
  if (part == BodyPart::Trunk || part == BodyPart::Tip) return std::nullopt;
  if (part == BodyPart::Unknown && below.size() != 1) return std::nullopt;
  // Twist helpers hang beside a limb's next joint, which carries most of what follows.
  return *std::max_element(below.begin(), below.end(), [&](std::uint32_t a, std::uint32_t b) {
    return map.weight[a] < map.weight[b];
  });
}

/// The target's reference rotations in model space: its rest, limbs turned to the source's.
std::vector<Quatd> alignedRotations(const JointMap& map, const Skeleton& source,
                                    const PosedSkeleton& source_pose, const Skeleton& target,
                                    const PosedSkeleton& target_rest, bool align) {
  if (!align) return target_rest.rotations;
  std::vector<Quatd> out(target.size());
  for (std::uint32_t i = 0; i < target.size(); ++i) {
    const JointId parent = target.joints[i].parent;
    const Quatd local = target_rest.local[i].rotation.cast<double>();
    out[i] = parent.valid() ? Quatd((out[parent.index()] * local).normalized()) : local;
    if (map.source_of[i] == kNone) continue;
    const std::optional<std::uint32_t> end = boneEnd(map, source, target, i);
    if (!end) continue;
    const Vec3d wanted =
        source_pose.position(map.source_of[*end]) - source_pose.position(map.source_of[i]);
    const Vec3d bone = target_rest.position(*end) - target_rest.position(i);
    if (!(wanted.norm() > 1e-9) || !(bone.norm() > 1e-9)) continue;
    const Vec3d carried = out[i] * (target_rest.rotations[i].conjugate() * bone);
    out[i] = (Quatd::FromTwoVectors(carried, wanted) * out[i]).normalized();
  }
  return out;
}

/// The joint that carries the whole motion: mapped, with no mapped joint above, and most below.
std::uint32_t rootOf(const JointMap& map) {
  std::uint32_t root = kNone;
  for (std::uint32_t i = 0; i < map.source_of.size(); ++i)
    if (map.source_of[i] != kNone && map.above[i] == kNone &&
        (root == kNone || map.weight[i] > map.weight[root]))
      root = i;
  return root;
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
  RootMotion(const Skeleton& source, std::uint32_t source_root, const PosedSkeleton& source_rest,
             const PosedSkeleton& source_reference, const Skeleton& target,
             std::uint32_t target_root, const PosedSkeleton& target_rest)
      : source_root_(source_root), source_joints_(subtree(source, source_root)) {
    const std::vector<std::uint32_t> target_joints = subtree(target, target_root);
    source_start_ = source_rest.position(source_root);
    target_start_ = target_rest.position(target_root);
    source_low_ = lowest(source_reference, source_joints_);
    target_low_ = lowest(target_rest, target_joints);
    source_height_ = source_reference.position(source_root).y() - source_low_;
    const double source_reach = reach(source_reference, source_joints_);
    const double target_reach = reach(target_rest, target_joints);
    const double target_height = target_start_.y() - target_low_;
    // Something that does not stand on its lowest joint (a tail, a prop) is compared by its size.
    const bool stands = source_height_ > 0.05 * source_reach && target_height > 0.05 * target_reach;
    const double ratio = stands ? target_height / source_height_ : target_reach / source_reach;
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
  Track track(std::uint32_t target_root, std::span<const float> times_s) const {
    const double ground = groundLevel(lows_, source_low_, source_height_);
    Track out;
    out.channel = Channel::Translation;
    out.joint = JointId(target_root);
    out.times_s.assign(times_s.begin(), times_s.end());
    for (const Vec3d& p : positions_) {
      Vec3d place = target_start_ + scale_ * (p - source_start_);
      place.y() = target_low_ + scale_ * (p.y() - ground);
      const Vec3f local = (to_parent_ * place).cast<float>();
      out.values.insert(out.values.end(), local.data(), local.data() + 3);
    }
    return out;
  }

 private:
  std::uint32_t source_root_;
  std::vector<std::uint32_t> source_joints_;
  Vec3d source_start_, target_start_;
  double source_low_ = 0, target_low_ = 0, source_height_ = 0, scale_ = 1;
  Affine3d to_parent_ = Affine3d::Identity();
  std::vector<Vec3d> positions_;
  std::vector<double> lows_;
};

/// Rotation keys of every mapped joint, grown key by key.
class RotationKeys {
 public:
  RotationKeys(const JointMap& map, const Skeleton& target, const PosedSkeleton& source_reference,
               std::vector<Quatd> aligned)
      : map_(map), target_(target), model_(target.size()), tracks_(target.size()) {
    for (std::uint32_t i = 0; i < target.size(); ++i)
      if (map.source_of[i] != kNone)
        offsets_.push_back(source_reference.rotations[map.source_of[i]].conjugate() * aligned[i]);
      else
        offsets_.push_back(target.joints[i].rest.rotation.cast<double>());
  }
  void add(const PosedSkeleton& source) {
    for (std::uint32_t i = 0; i < target_.size(); ++i) {
      const JointId parent = target_.joints[i].parent;
      const Quatd above = parent.valid() ? model_[parent.index()] : Quatd(Quatd::Identity());
      if (map_.source_of[i] == kNone) {
        model_[i] = (above * offsets_[i]).normalized();
        continue;
      }
      model_[i] = (source.rotations[map_.source_of[i]] * offsets_[i]).normalized();
      Eigen::Vector4f local = (above.conjugate() * model_[i]).normalized().coeffs().cast<float>();
      std::vector<float>& values = tracks_[i].values;
      // q and -q are one rotation; the nearer one keeps splines and blends from going round.
      if (!values.empty() && Eigen::Map<const Eigen::Vector4f>(&*(values.end() - 4)).dot(local) < 0)
        local = -local;
      values.insert(values.end(), local.data(), local.data() + 4);
    }
  }
  void finish(std::span<const float> times_s, Clip& clip) && {
    for (std::uint32_t i = 0; i < target_.size(); ++i) {
      if (map_.source_of[i] == kNone) continue;
      tracks_[i].channel = Channel::Rotation;
      tracks_[i].joint = JointId(i);
      tracks_[i].times_s.assign(times_s.begin(), times_s.end());
      clip.tracks.push_back(std::move(tracks_[i]));
    }
  }

 private:
  const JointMap& map_;
  const Skeleton& target_;
  std::vector<Quatd> offsets_;  ///< S_j0^-1 T'_j0 of mapped joints, rest rotation of others
  std::vector<Quatd> model_;
  std::vector<Track> tracks_;
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
  if (!((intervals + 1) * static_cast<double>(track_count) <= kMostKeys))
    return bad(std::to_string(length_s) + " s at " + std::to_string(desc.rate_hz) +
               " Hz make too many keys");
  std::vector<float> times_s;
  for (double i = 0; i <= intervals; ++i) {
    const auto time_s = static_cast<float>(std::min(i / desc.rate_hz, length_s));
    if (times_s.empty() || time_s > times_s.back()) times_s.push_back(time_s);
  }
  return times_s;
}

void noteMapping(const JointMap& map, const Skeleton& target, Diagnostics& notes) {
  for (std::uint32_t i = 0; i < target.size(); ++i)
    if (map.source_of[i] == kNone)
      notes.info("joint-not-mapped", "retarget",
                 "joints that the motion does not have keep their rest pose", i);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> matchJointNames(const Skeleton& source,
                                                                 const Skeleton& target) {
  std::vector<JointMeaning> source_meaning, target_meaning;
  for (const Joint& j : source.joints) source_meaning.push_back(meaningOf(j.name));
  for (const Joint& j : target.joints) target_meaning.push_back(meaningOf(j.name));
  const std::map<std::string_view, JointId> source_names = firstOfName(source);
  const std::map<std::string_view, JointId> target_names = firstOfName(target);
  std::vector<std::uint32_t> match(source.size(), kNone);
  std::vector<bool> taken(target.size(), false);
  const auto pass = [&](const auto& source_key, const auto& target_key) {
    std::map<std::string, std::uint32_t> free_targets;
    for (std::uint32_t t = 0; t < target.size(); ++t)
      if (!taken[t] && !target_key(t).empty() &&
          target_names.at(target.joints[t].name) == JointId(t))
        free_targets.emplace(target_key(t), t);
    for (std::uint32_t s = 0; s < source.size(); ++s) {
      const auto found = free_targets.find(source_key(s));
      if (match[s] != kNone || found == free_targets.end() ||
          source_names.at(source.joints[s].name) != JointId(s))
        continue;
      match[s] = found->second;
      taken[found->second] = true;
      free_targets.erase(found);
    }
  };
  pass([&](std::uint32_t s) { return source.joints[s].name; },
       [&](std::uint32_t t) { return target.joints[t].name; });
  pass([&](std::uint32_t s) { return source_meaning[s].plain; },
       [&](std::uint32_t t) { return target_meaning[t].plain; });
  pass([&](std::uint32_t s) { return source_meaning[s].canonical; },
       [&](std::uint32_t t) { return target_meaning[t].canonical; });
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::uint32_t s = 0; s < source.size(); ++s)
    if (match[s] != kNone) pairs.emplace_back(source.joints[s].name, target.joints[match[s]].name);
  return pairs;
}

Result<Clip> retarget(const Clip& clip, const Skeleton& source, const Skeleton& target,
                      const RetargetDesc& desc, Diagnostics& notes) {
  DERM_CHECK(validate(source, "source skeleton"));
  DERM_CHECK(validate(target, "target skeleton"));
  DERM_CHECK(validate(clip, source.size(), kNone, "source"));
  DERM_TRY(const JointMap map, mapJoints(source, target, desc));
  DERM_TRY(const std::vector<float> times_s, keyTimes(clip, desc, map.count + 1));
  noteMapping(map, target, notes);

  const PosedSkeleton source_rest(source, restTransforms(source));
  const PosedSkeleton target_rest(target, restTransforms(target));
  PosedSkeleton reference = source_rest;
  if (desc.source_reference_time_s) {
    samplePose(clip, *desc.source_reference_time_s, reference.local);
    reference.update(source);
  }
  const std::uint32_t root = rootOf(map);
  RootMotion root_motion(source, map.source_of[root], source_rest, reference, target, root,
                         target_rest);
  RotationKeys rotations(
      map, target, reference,
      alignedRotations(map, source, reference, target, target_rest, desc.align_rest));
  PosedSkeleton pose = source_rest;
  for (const float time_s : times_s) {
    samplePose(clip, desc.start_s + time_s, pose.local);
    pose.update(source);
    rotations.add(pose);
    root_motion.add(pose);
  }
  Clip out;
  out.name = clip.name;
  if (desc.root_motion) out.tracks.push_back(root_motion.track(root, times_s));
  std::move(rotations).finish(times_s, out);
  DERM_CHECK(validate(out, target.size(), 0, "retargeted clip"));
  return out;
}

}  // namespace derm
