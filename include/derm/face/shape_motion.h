#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "derm/anim/clip.h"
#include "derm/anim/point_tracks.h"
#include "derm/anim/shape_tracks.h"
#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/face/face_rig.h"

namespace derm {

namespace detail {
class LipLimits;
}

/// The coefficients under ARKit's names: all 52, in the order of faceShapes(), in [0,1]; what is
/// not given is 0. Names may be spelt otherwise ("EyeBlinkLeft", "eyeBlink_L"), and left and right
/// of a shape that ARKit has once ("browInnerUp_L") give their mean. Fails where no name is known,
/// and on values that cannot be meant so: beyond 10, or beyond [-0.5, 1.5] in more than three
/// frames, as percent are. Notes: shape-unknown for others, which are left out;
/// shape-values-clamped, with shape and line of the first. `name` is the file's, for notes.
Result<ShapeTracks> arkitTracks(const ShapeTracks& tracks, Diagnostics& notes,
                                std::string_view name = "coefficients");

/// What coefficients of ARKit's shapes do to the control points of a rigged face.
///
/// Displacements of shapes (faceShapeDisplacements()) add up, which alone would let lids and lips
/// pass through each other: a blink of an eye that looks down would shut it twice. So
///  - the lids' opening is that of all other shapes, at least 0, and a blink shuts what is left of
///    it: at 1 lids meet, whatever else they do; a lower lid rises by half of the opening at most;
///  - lips go on until they touch: heights of the six lip points are projected (Dykstra 1983) onto
///    those for which the margins of the mouth's opening, as the rig moves them, are not below each
///    other farther than at rest.
/// Both are no steeper than the sum itself, so that noise of the source does not grow.
class ShapeMotion {  ///< Immutable; share freely between threads.
 public:
  static constexpr std::size_t kShapes = 52, kPoints = 28;

  /// Requires a rig of the character (findFaceRig()). Errors as FacePoser::make(). Notes as
  /// findFaceSlits(); where the mouth does not open, lips are not kept apart.
  static Result<ShapeMotion> bind(const Character& rigged, const FaceRig& rig, Diagnostics& notes);
  /// Of a face of which only the points are known: lips are not kept apart. Errors as
  /// validateControlPoints().
  static Result<ShapeMotion> bind(const FacePoints& points);

  /// Displacements [m] of the control points, in the order of controlPointNumbers(). Requires
  /// kShapes coefficients in the order of faceShapes(), and kPoints displacements. Allocation-free.
  void evaluate(std::span<const float> coefficients, std::span<Vec3d> displacements) const noexcept;
  /// The sum alone, without keeping lids and lips apart.
  void evaluateSum(std::span<const float> coefficients,
                   std::span<Vec3d> displacements) const noexcept;

  const FacePoints& points() const { return points_; }

 private:
  ShapeMotion() = default;
  void closeLids(std::span<const float> coefficients,
                 std::span<Vec3d> displacements) const noexcept;

  FacePoints points_;
  FaceAxes axes_;
  /// [m] left and right: what a blink makes up for, from the lower to the upper lid's point
  std::array<Vec3d, 2> opening_;
  std::array<bool, 2> meets_{};  ///< the margins do then, along all of their length
  std::vector<std::array<Vec3d, kPoints>> table_;  ///< [m] per shape
  std::shared_ptr<const detail::LipLimits> lips_;  ///< none: lips are not kept apart
};

struct ShapeClipDesc {
  std::string name = "face";
  bool turn_head = true;  ///< as the tracks have it, on the face's head joint
};

/// The control points of a face over time as coefficients move it, the head's turns apart (about
/// the middle of the skull). Requires tracks of arkitTracks().
PointTracks shapePoints(const ShapeMotion& motion, const ShapeTracks& tracks);

/// The motion of a rigged face as a clip of its joints: ShapeMotion's points by FacePoser, lids on
/// the ball; eyes turn where joints carry them ("LeftEye", "eye.L" …). Requires tracks of
/// arkitTracks().
Result<Clip> rigShapeClip(const Character& rigged, const FaceRig& rig, const ShapeTracks& tracks,
                          const ShapeClipDesc& desc, Diagnostics& notes);

/// The same for a face that has ARKit's shapes: a clip of its morph weights, by names ("jawOpen",
/// "browInnerUp_L" for its half). Eyes of a head without shapes of looking turn on their joints,
/// where it has such. Weights that would pass lids or lips through each other are
/// lowered, those of shapes that shut most (Dykstra's projection onto weights for which no margin
/// is below the other farther than at rest; margins by findFaceSlits(), where control points are
/// known). Errors: no shape of such a name. Notes: shape-not-on-head for tracks that move but have
/// no morph target.
Result<Clip> morphShapeClip(const Character& head, const ShapeTracks& tracks,
                            const ShapeClipDesc& desc, Diagnostics& notes);

/// How many of ARKit's 52 shapes a character has as morph targets.
std::size_t arkitShapeCount(const Character& character);
/// A head with this many is played by its shapes unless one asks for the rig.
inline constexpr std::size_t kEnoughShapes = 40;

}  // namespace derm
