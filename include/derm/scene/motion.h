#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "derm/anim/retarget.h"
#include "derm/base/diagnostics.h"
#include "derm/base/progress.h"
#include "derm/base/result.h"
#include "derm/character/character.h"

namespace derm {

struct MotionOptions {
  /// Keep the character on its floor: see groundMotion().
  bool ground = false;
  /// Turn arms out of the body where the motion sinks them into it: see clearLimbs()
  /// (contact/limb_clearance.h).
  bool arms_out = true;
  Progress progress = {};  ///< of turning arms out, which takes most of the time; may cancel
};

/// Adds the first motion of another file (BVH, or a character with a clip; "cast:NAME" too) as the
/// character's last clip, carried over by joint names (anim/retarget.h), bones of a skin before
/// other nodes. `map` is a file of joint names (io/name_table.h); empty = found by themselves.
/// Relative paths start at `folder`. An opening T-pose of a recording is taken as its reference and
/// not played; notes say so, which joints were matched ("joints-matched") and how far arms were
/// turned ("arms-turned"). A motion that does not fit is an error that says why.
Result<void> addMotion(std::string_view source, std::string_view map,
                       const std::filesystem::path& folder, Character& character,
                       Diagnostics& notes, const MotionOptions& options = {});

/// Which joints such a motion would move, or why it is refused.
Result<MotionMatch> matchMotion(std::string_view source, std::string_view map,
                                const std::filesystem::path& folder, const Character& character,
                                Diagnostics& notes);

/// [m] height of the lowest point of the character's body in a pose: of its skinned meshes, not of
/// props that hang on one joint (a sword may point into the floor), unless it has nothing else.
/// Exact to about 1 % of the size of a hand or foot: on each joint the outermost vertices in 162
/// directions are looked at.
class BodyFloor {
 public:
  explicit BodyFloor(const Character& character);
  double lowestIn(const Pose& pose) const;
  /// [m] all of these vertices in the pose.
  std::vector<Vec3f> outlineIn(const Pose& pose) const;
  /// Which of them follow this joint or one that hangs on it more than any other.
  std::vector<std::size_t> outlineOf(JointId joint) const;

 private:
  const Character& character_;
  std::vector<std::uint32_t> vertices_;
};

/// Lifts and lowers a motion so that the lowest point of the body, whatever limb that is, stands on
/// the floor of the rest pose while the source is on its own ground, and is above it as far as the
/// source is. Different proportions and soles under the joints otherwise make walks sink by 10 cm.
/// What the source is above its ground by less than 4 % of the carrier's height counts as touching.
/// What stands (RetargetOutcome::stances) stays where it is: the carrier goes on by as much as
/// those feet or hands would slide, so that none skates where strides and legs do not fit; in the
/// air it goes from what one stance needs to what the next does. Where two feet that stand want
/// different things they share it. Only the carrier is moved; times and turns stay. Does nothing
/// without a carrier or ground.
void groundMotion(const Character& character, const RetargetOutcome& outcome, Clip& clip);

}  // namespace derm
