#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "derm/anim/clip.h"
#include "derm/anim/skeleton.h"
#include "derm/anim/skin.h"
#include "derm/base/diagnostics.h"
#include "derm/base/result.h"

namespace derm {

/// How a motion of one skeleton is carried over to another.
struct RetargetDesc {
  /// Joint names, source -> target. Empty = found by matchJointNames().
  std::vector<std::pair<std::string, std::string>> names = {};
  float rate_hz = 60.0f;  ///< [1/s] keys of the result, > 0
  /// [s] instant of the source clip whose pose corresponds to the target's rest pose (a T-pose that
  /// opens the recording); absent = the source's rest pose. A body's neck and head are taken from
  /// the rest pose even so, unless they differ by more than 34 degrees.
  std::optional<float> source_reference_time_s = {};
  /// [s] the result begins at this instant of the source clip: skips such an opening pose.
  float start_s = 0.0f;
  /// Turn the target's limbs to the source's directions first, so that a T-pose and an A-pose mean
  /// the same. Without it the two reference poses are taken to be the same pose.
  bool align_rest = true;
  /// Move the target's topmost mapped joint as the source's moves, scaled by the ratio of their
  /// heights over the ground. Without it the target stays in place.
  bool root_motion = true;
  /// Which joints are bones of a skin, one entry per joint (Character::bones()); empty = all. Where
  /// some are, those that are none and have none below them are not matched: meshes are often named
  /// like the limb that they show.
  std::vector<bool> source_bones = {}, target_bones = {};
  /// Reference poses, one local transform per joint, in place of the skeletons' rest: that of a
  /// file saved in mid-animation is any pose (see bindReference()). Empty = the rest pose.
  std::vector<Transform> source_reference = {}, target_reference = {};
};

/// The bind pose of a skin where it is not the skeleton's rest (by more than a thousandth), for
/// RetargetDesc; else empty, which is the rest pose.
std::vector<Transform> bindReference(const Skeleton& skeleton, const Skin& skin);

/// Which joints of a motion move which of a character, by the names that Skeleton::find() takes.
struct MotionMatch {
  std::vector<std::pair<std::string, std::string>> pairs;  ///< source first, in the source's order
  std::vector<std::string> source_left;                    ///< move nothing
  std::vector<std::string> target_left;                    ///< keep their rest
  bool bodies = false;  ///< both are bodies: their parts were told by how joints hang together

  /// "24 of the motion's 31 joints move the character; without a counterpart: LThumb, …"
  std::string text() const;
};
/// What retarget() would take, or its reason to refuse. Joints that are not bones are not counted.
Result<MotionMatch> matchMotion(const Skeleton& source, const Skeleton& target,
                                const RetargetDesc& desc);

/// A time in which a foot, a hand or a paw of the source stands on its ground.
struct Stance {
  JointId joint;                    ///< of the target: what hangs on it stands
  std::size_t first = 0, last = 0;  ///< keys of the carrier's track; first < last
};

/// What retarget() found out on the way, for who puts the feet on the floor (scene/motion.h).
struct RetargetOutcome {
  std::optional<JointId> carrier;  ///< of the target: the joint that the body goes with, if any
  /// The target's hips where they hang on another carrier: its height is not the body's.
  std::optional<JointId> hips;
  /// [m] per key of that track, in the target's size: how far the lowest joint of the source is
  /// above the ground that it moves on. Empty where it does not stand.
  std::vector<float> clearance_m;
  /// Joint by joint, in the order of time. An end of a limb stands while one of its joints is as
  /// low as it comes and hardly moves over the ground: it begins to below 0.3 heights of the source
  /// a second and 4 % of its height, and goes on below twice that, for 0.05 s at least. Feet that
  /// slide all the time (a walk on the spot) stand nowhere.
  std::vector<Stance> stances;
};

/// [s] where the motion itself begins: after the first key where that is an artificial opening pose
/// (recordings open with a T-pose and jump to the motion), else 0. Told by a jump of the joints
/// that is far larger than any of the next keys'. The clip must fit the skeleton. Such a pose is
/// good for source_reference_time_s.
float motionStart(const Clip& clip, const Skeleton& skeleton);

/// Pairs of joints that mean the same, source first, in the source's order. Each joint is used
/// once.
///
/// Where both are bodies, the parts of a body come first, told by words in the names ("UpLeg" =
/// "Thigh" = "Femur") and by how the joints hang together: the hips are what legs and spine hang
/// on, whatever they are called; "arm 1, 2, 3" is an arm from the shoulder outwards; of a bone cut
/// in several ("upperarm01", "upperarm02") the first counts; spines and necks with different
/// numbers of joints, numbered up or down, share their lowest and highest. Then, for everything
/// else: equal names; names that are equal after taking away letter case, separators, prefixes
/// ("mixamorig:", "Bip01 ", "DEF-", …) and the way of writing the side ("LeftArm", "arm.L",
/// "l_arm"); synonyms.
std::vector<std::pair<std::string, std::string>> matchJointNames(const Skeleton& source,
                                                                 const Skeleton& target);

/// The clip as a motion of `target`: rotation keys for every mapped joint and, with root_motion,
/// translation keys for one joint that all others hang on: the topmost mapped one, or the hips or
/// the nearest common ancestor where the mapped ones are several. Hips that hang on another carrier
/// (a root on the floor) are keyed too where the source's move against theirs. Translation is keyed
/// nowhere else, so that bones keep their lengths. What is not mapped keeps its rest relative to
/// its parent and gets no track. Where a target reference is given, it stands for the rest, and
/// joints that rest elsewhere get tracks of one key that put them there.
///
/// Method: with model-space rotations S (source) and T (target), reference poses marked 0,
///     T_j(t) = S_j(t) S_j0^-1 T'_j0
/// where T'0 is the target's rest with its limbs aligned: down each chain the bone to the next
/// mapped joint is swung (the shortest way) from where its parent carries it to the source's
/// direction. Which bones are limbs is told as above: upper and lower arms and legs. Hands, feet,
/// fingers and toes follow the bone above them, since the slope of their little bones says more
/// about the rig than about the pose; for the same reason spine, neck, head and shoulders keep
/// their rest. Bones whose names say nothing are aligned where they lead to exactly one mapped
/// joint. So limb directions equal the source's at every key, whatever the bone lengths.
///
/// Heights are those of the carrier, or of such hips, over the lowest joint: in the reference
/// poses, or, where the source's rest does not stand on the ground it moves on (BVH files rest at
/// the origin), in the motion itself.
/// Two bodies may differ in which axis is up and which way they face: the source is brought to the
/// target's axes by quarter turns. Anything else must be in the same axes. Of joint scale only the
/// sign counts: what hangs on a mirrored joint turns as it would without the mirror.
/// Where the mapped joints hang on nothing in common, nothing moves and notes say so.
///
/// Errors: a name that does not exist (with the nearest ones), a name used twice, fewer than three
/// mapped joints, rate or times out of range; bodies of which one stands on two legs and the other
/// on four (told by whether legs go on where the spine ends, or square to it), unless names are
/// given. Cost O(keys * joints).
Result<Clip> retarget(const Clip& clip, const Skeleton& source, const Skeleton& target,
                      const RetargetDesc& desc, Diagnostics& notes,
                      RetargetOutcome* outcome = nullptr);

}  // namespace derm
