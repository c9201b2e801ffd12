#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "derm/anim/clip.h"
#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/face/expressions.h"
#include "derm/face/face_weights.h"

namespace derm {

struct FaceRigDesc {
  FaceWeightsDesc weights;
  /// Of a character with a skin: the joint that carries the face; empty = the one that the control
  /// points follow most, or, where they follow many bones of a face a little, what carries these.
  std::string head_joint;
  bool clips = true;  ///< one for each of expressionNames()
};

/// The joints of a face rig: one for each control point, children of the head's.
struct FaceRig {
  JointId head;
  std::vector<JointId> joints;  ///< in the order of controlPointNumbers()
};

/// "fp_8_1_upper_lip_middle": what the joint of a control point is called. Names without dots and
/// blanks, as engines like them.
std::string controlJointName(std::string_view number);

/// The rig of a character that has one, by its joints' names: also one that was read from a file.
std::optional<FaceRig> findFaceRig(const Character& character);

/// Makes a head an ordinary skinned character whose control points are joints: weights by
/// faceWeights(), a joint at every control point with the model's axes, clips for expressions. The
/// control points are those of character.points, by number or name; they stay, under their numbers.
///
/// A bare head gets a joint "head" that carries all of it. Of a character with a skin the control
/// joints hang under its head joint and take their shares from what a vertex follows that joint and
/// those below it by, and from nothing else: in every pose of the body a face at rest is where it
/// was. Where the shares are more than max_influences the smallest are dropped (a note says so). A
/// head that hangs on a joint as a rigid part gets weights, and is rigid no more.
///
/// Errors: points as validateControlPoints() says, a rig that is there already, a head joint that
/// is not there or that the face does not follow. Notes: face-joints-below where joints below the
/// head's, a jaw for example, moved parts of the face too; face-size where its eyes are ten times
/// nearer or farther apart than people's; as faceWeights().
Result<FaceRig> addFaceRig(Character& character, const FaceRigDesc& desc, Diagnostics& notes);

/// Displacements of lids with another depth, so that lids stay on the ball as they go up and down:
/// seen from the front they are the same. Painted eyes have no ball; there, and for other points,
/// nothing changes. Requires validated control points.
std::vector<PointDisplacement> slidLids(std::span<const PointDisplacement> displacements,
                                        const FacePoints& points);
/// Displacements of the lips with another depth, so that lips stay on the arch of the teeth as they
/// go sideways: a corner that is drawn outwards goes back as well. Seen from the front they are the
/// same, and other points stay as they are. Requires validated control points.
std::vector<PointDisplacement> slidLips(std::span<const PointDisplacement> displacements,
                                        const FacePoints& points);

/// How a joint of a rig moves, in model space: it goes by `translation_m` and turns about itself.
struct JointMove {
  Vec3d translation_m = Vec3d::Zero();
  Quatd rotation = Quatd::Identity();
};

/// Poses the joints of a rig so that control points go exactly where they are wanted, whatever the
/// weights: the joints' translations d solve W d = e, W the joints' weights at the control points.
/// The lids' joints turn about the eye as they go, so that lids stay on the ball; what that does to
/// other points is in e. Points that are not named stay. Immutable.
class FacePoser {
 public:
  /// Fails where the control points are not on the character, or do not follow their joints (W is
  /// singular).
  static Result<FacePoser> make(const Character& character, const FaceRig& rig);

  /// Per joint of the rig. Requires displacements of control points.
  std::vector<JointMove> jointMoves(std::span<const PointDisplacement> displacements) const;
  /// Moves the joints from where the pose has them.
  void pose(std::span<const PointDisplacement> displacements, Pose& pose) const;
  /// The same in every frame of a motion, allocation-free: a displacement for each of
  /// controlPointNumbers(). [m]
  void pose(std::span<const Vec3d> displacements_m, Pose& pose) const noexcept;
  /// The same as a clip: rest, the expression, held, rest again.
  Clip clip(std::string_view name, std::span<const PointDisplacement> displacements) const;

 private:
  /// A part of how a control point follows a joint that turns.
  struct Lever {
    std::size_t point = 0, joint = 0;
    double weight = 0;
    Vec3d arm_m = Vec3d::Zero();  ///< from the joint to a vertex at the control point
  };

  /// What a joint turns about as it goes.
  struct Hinge {
    Vec3d centre_m = Vec3d::Zero();
    Vec3d axis = Vec3d::UnitX();
  };

  FacePoser() = default;
  void solve(const Eigen::Matrix<double, 28, 3>& wanted, std::span<JointMove> out) const noexcept;
  void apply(std::span<const JointMove> moves, Pose& pose) const noexcept;
  Transform moved(const Transform& local, const JointMove& move) const;

  FaceRig rig_;
  std::vector<Transform> rest_;               ///< of the joints
  std::vector<Vec3d> positions_;              ///< [m] of the joints, in the bind pose
  std::vector<std::optional<Hinge>> hinges_;  ///< of the joints; lids have one
  std::vector<Lever> levers_;
  Eigen::Matrix<double, 28, 28> solve_;                    ///< W^-1
  Eigen::Matrix3d to_head_ = Eigen::Matrix3d::Identity();  ///< model directions to the head's
};

}  // namespace derm
