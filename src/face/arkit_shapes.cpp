#include "derm/face/arkit_shapes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

#include "derm/face/expression_names.h"
#include "derm/face/face_features.h"
#include "derm/face/face_rig.h"
#include "derm/face/face_slits.h"
#include "derm/mesh/weld.h"

#include "face/control_units.h"
#include "face/gaze.h"
#include "face/lid_closing.h"
#include "face/shape_morph.h"
#include "face/shape_openings.h"
#include "face/shape_pieces.h"
#include "face/slit_curves.h"
#include "face/welded_mesh.h"

namespace derm {
namespace {

using detail::kLowerLidShare;
using detail::OpeningChange;
using detail::OpeningPair;
using detail::WeldedMesh;

/// One point's part in a shape, in the units of its region (control_units.h).
struct Move {
  std::string_view shape, point;
  double x, y, z;  ///< x: to the subject's left
};

/// Shapes of one side are given for the left; shapes of both for the middle and the left, their
/// right being the mirror image. jawLeft and mouthLeft move both sides the same way and give both.
constexpr std::array kMoves{
    Move{"browDownLeft", "4.1", -.06, -.16, .03},
    Move{"browDownLeft", "4.3", -.06, -.18, .05},
    Move{"browDownLeft", "4.5", -.02, -.08, .03},
    Move{"browDownLeft", "3.1", 0, -.08, 0},
    Move{"browInnerUp", "4.1", -.01, .24, -.01},
    Move{"browInnerUp", "4.3", 0, .12, -.01},
    Move{"browInnerUp", "4.5", 0, .03, 0},
    Move{"browOuterUpLeft", "4.1", .01, .06, -.01},
    Move{"browOuterUpLeft", "4.3", .03, .24, -.04},
    Move{"browOuterUpLeft", "4.5", .03, .22, -.06},
    Move{"browOuterUpLeft", "3.1", 0, .08, 0},
    Move{"cheekPuff", "5.1", .06, .06, .12},
    Move{"cheekPuff", "8.3", -.04, .02, .14},
    Move{"cheekPuff", "8.5", -.01, .01, .06},
    Move{"cheekPuff", "8.7", -.01, -.01, .08},
    Move{"cheekPuff", "8.1", 0, .01, .04},
    Move{"cheekPuff", "8.2", 0, -.01, .05},
    Move{"cheekSquintLeft", "5.1", -.01, .19, .08},
    Move{"cheekSquintLeft", "3.3", -.04, .28, .06},
    Move{"cheekSquintLeft", "3.7", -.03, .03, .03},
    Move{"cheekSquintLeft", "9.1", .02, .02, 0},
    Move{"eyeLookDownLeft", "3.1", 0, -.55, -.05},
    Move{"eyeLookDownLeft", "3.3", 0, -.15, -.05},
    Move{"eyeLookInLeft", "3.1", -.10, -.02, .03},
    Move{"eyeLookInLeft", "3.3", -.10, .01, .03},
    Move{"eyeLookOutLeft", "3.1", .10, .03, -.03},
    Move{"eyeLookOutLeft", "3.3", .10, 0, -.03},
    Move{"eyeLookUpLeft", "3.1", 0, .32, -.06},
    Move{"eyeLookUpLeft", "3.3", 0, .14, .02},
    Move{"eyeLookUpLeft", "4.3", 0, .02, 0},
    Move{"eyeSquintLeft", "3.3", -.03, .25, .06},
    Move{"eyeSquintLeft", "3.1", 0, -.16, 0},
    Move{"eyeSquintLeft", "5.1", -.02, .05, .01},
    Move{"eyeWideLeft", "3.1", .01, .36, -.06},
    Move{"eyeWideLeft", "3.3", .01, -.06, 0},
    Move{"eyeWideLeft", "4.3", 0, .03, 0},
    Move{"jawForward", "2.1", 0, -.04, .28},
    Move{"jawForward", "8.2", 0, -.03, .25},
    Move{"jawForward", "8.7", 0, -.03, .22},
    Move{"jawForward", "8.3", 0, -.02, .09},
    Move{"jawLeft", "2.1", .17, 0, 0},
    Move{"jawLeft", "8.2", .15, 0, .01},
    Move{"jawLeft", "8.7", .16, 0, 0},
    Move{"jawLeft", "8.8", .14, 0, .02},
    Move{"jawLeft", "8.3", .09, 0, 0},
    Move{"jawLeft", "8.4", .09, 0, 0},
    Move{"jawLeft", "8.1", .03, 0, 0},
    Move{"jawOpen", "2.1", 0, -.85, -.50},
    Move{"jawOpen", "8.2", 0, -.85, -.40},
    Move{"jawOpen", "8.7", -.01, -.78, -.38},
    Move{"jawOpen", "8.3", -.05, -.33, -.27},
    Move{"jawOpen", "8.1", 0, -.03, -.01},
    Move{"jawOpen", "8.5", 0, -.04, -.02},
    Move{"jawOpen", "5.1", -.01, -.07, -.02},
    Move{"mouthDimpleLeft", "8.3", .05, .04, -.12},
    Move{"mouthDimpleLeft", "8.5", .01, 0, -.02},
    Move{"mouthDimpleLeft", "8.7", .01, .02, -.03},
    Move{"mouthDimpleLeft", "5.1", .03, .03, .04},
    Move{"mouthFrownLeft", "8.3", .03, -.20, -.04},
    Move{"mouthFrownLeft", "8.5", 0, -.04, -.01},
    Move{"mouthFrownLeft", "8.7", .01, -.05, .01},
    Move{"mouthFrownLeft", "2.1", 0, .02, .01},
    Move{"mouthFunnel", "8.1", 0, .14, .18},
    Move{"mouthFunnel", "8.5", -.02, .12, .18},
    Move{"mouthFunnel", "8.2", 0, -.22, .12},
    Move{"mouthFunnel", "8.7", -.03, -.18, .13},
    Move{"mouthFunnel", "8.3", -.09, 0, .20},
    Move{"mouthFunnel", "2.1", 0, -.09, -.02},
    Move{"mouthLeft", "8.1", .24, .02, -.05},
    Move{"mouthLeft", "8.2", .23, .02, -.05},
    Move{"mouthLeft", "8.3", .12, .10, -.08},
    Move{"mouthLeft", "8.4", .22, .01, .12},
    Move{"mouthLeft", "8.5", .20, .03, -.07},
    Move{"mouthLeft", "8.6", .24, .01, -.01},
    Move{"mouthLeft", "8.7", .19, .04, -.07},
    Move{"mouthLeft", "8.8", .24, .01, 0},
    Move{"mouthLeft", "9.3", .05, .01, 0},
    Move{"mouthLeft", "5.1", .04, .08, .05},
    Move{"mouthLeft", "2.1", .05, 0, .01},
    Move{"mouthLowerDownLeft", "8.7", .02, -.24, -.02},
    Move{"mouthLowerDownLeft", "8.2", 0, -.15, -.02},
    Move{"mouthLowerDownLeft", "8.3", 0, -.03, 0},
    Move{"mouthLowerDownLeft", "8.8", 0, -.04, -.01},
    Move{"mouthPressLeft", "8.7", -.01, .06, .02},
    Move{"mouthPressLeft", "8.5", -.01, -.04, 0},
    Move{"mouthPressLeft", "8.2", 0, .04, .01},
    Move{"mouthPressLeft", "8.1", 0, -.02, 0},
    Move{"mouthPressLeft", "8.3", .01, .02, -.02},
    Move{"mouthPressLeft", "2.1", 0, .04, .02},
    Move{"mouthPucker", "8.1", 0, .05, .24},
    Move{"mouthPucker", "8.5", -.05, .04, .22},
    Move{"mouthPucker", "8.2", 0, -.03, .20},
    Move{"mouthPucker", "8.7", -.06, -.02, .19},
    Move{"mouthPucker", "8.3", -.13, .04, .23},
    Move{"mouthPucker", "5.1", -.02, 0, .01},
    Move{"mouthRollLower", "8.2", 0, .16, -.12},
    Move{"mouthRollLower", "8.7", -.01, .14, -.10},
    Move{"mouthRollUpper", "8.1", 0, -.12, -.14},
    Move{"mouthRollUpper", "8.5", 0, -.12, -.13},
    Move{"mouthShrugLower", "8.2", 0, .17, .12},
    Move{"mouthShrugLower", "8.7", 0, .15, .10},
    Move{"mouthShrugLower", "2.1", 0, .18, .08},
    Move{"mouthShrugLower", "8.3", .01, .03, .03},
    Move{"mouthShrugLower", "8.1", 0, .05, .02},
    Move{"mouthShrugLower", "8.5", 0, .04, .02},
    Move{"mouthShrugUpper", "8.1", 0, .15, .02},
    Move{"mouthShrugUpper", "8.5", 0, .13, .01},
    Move{"mouthShrugUpper", "9.1", 0, .04, 0},
    Move{"mouthSmileLeft", "8.3", .14, .27, -.23},
    Move{"mouthSmileLeft", "8.5", .07, .10, -.12},
    Move{"mouthSmileLeft", "8.7", .07, .12, -.11},
    Move{"mouthSmileLeft", "8.1", 0, .04, -.04},
    Move{"mouthSmileLeft", "8.2", 0, .04, -.03},
    Move{"mouthSmileLeft", "5.1", .05, .14, .07},
    Move{"mouthSmileLeft", "9.1", .04, .03, -.01},
    Move{"mouthSmileLeft", "3.3", 0, .08, .02},
    Move{"mouthStretchLeft", "8.3", .13, -.08, -.18},
    Move{"mouthStretchLeft", "8.5", .04, -.03, -.06},
    Move{"mouthStretchLeft", "8.7", .06, -.01, -.07},
    Move{"mouthUpperUpLeft", "8.5", .02, .20, -.01},
    Move{"mouthUpperUpLeft", "8.1", 0, .12, -.01},
    Move{"mouthUpperUpLeft", "8.3", 0, .06, 0},
    Move{"mouthUpperUpLeft", "8.6", 0, .03, 0},
    Move{"mouthUpperUpLeft", "9.1", .04, .12, -.02},
    Move{"mouthUpperUpLeft", "5.1", .03, .08, .04},
    Move{"noseSneerLeft", "9.1", .02, .20, .01},
    Move{"noseSneerLeft", "9.3", 0, .04, 0},
    Move{"noseSneerLeft", "8.5", .01, .12, 0},
    Move{"noseSneerLeft", "8.1", 0, .06, 0},
    Move{"noseSneerLeft", "5.1", -.01, .16, .06},
    Move{"noseSneerLeft", "4.1", -.02, -.09, .01},
    Move{"noseSneerLeft", "4.3", -.01, -.06, .01},
    Move{"noseSneerLeft", "3.3", 0, .10, .02},
};
// eyeBlink and mouthClose follow from the face itself, and tongueOut has nothing to move.

/// The left one of a pair; the name itself for shapes of both sides.
std::string leftOf(const FaceShape& shape) {
  return shape.side == FaceSide::Right ? std::string(shape.mirror) : std::string(shape.name);
}

/// Whether the whole face moves to one side, so that the right shape is its mirror image.
bool movesSideways(std::string_view left_name) {
  return left_name == "jawLeft" || left_name == "mouthLeft";
}

/// Displacements by number; several moves of one point add up.
using Moves = std::map<std::string, Vec3d, std::less<>>;

Moves movesOf(const FaceShape& shape, const FacePoints& points) {
  const FaceUnits units = measureFaceUnits(points);
  const FaceAxes axes = faceAxes(points);
  const auto inModel = [&](std::string_view point, double x, double y, double z) -> Vec3d {
    const Vec3d u = detail::unitsAt(point, units);
    return x * u[0] * axes.left + y * u[1] * axes.up + z * u[2] * axes.forward;
  };
  const auto mirrorOf = [](std::string_view point) { return findFaceFeature(point)->mirror; };
  const std::string left = leftOf(shape);
  const bool mirrored = shape.side == FaceSide::Right;
  Moves out;
  const auto add = [&](std::string_view point, const Vec3d& d) {
    out.try_emplace(std::string(point), Vec3d::Zero()).first->second += d;
  };
  for (const Move& move : kMoves) {
    if (move.shape != left) continue;
    if (mirrored)
      add(mirrorOf(move.point), inModel(move.point, -move.x, move.y, move.z));
    else
      add(move.point, inModel(move.point, move.x, move.y, move.z));
    // Both sides at once: the right is the left's mirror image.
    if (shape.side == FaceSide::Middle && !movesSideways(left) &&
        mirrorOf(move.point) != move.point)
      add(mirrorOf(move.point), inModel(move.point, -move.x, move.y, move.z));
  }
  if (left == "eyeBlinkLeft") {
    const std::string_view upper = mirrored ? "3.2" : "3.1", lower = mirrored ? "3.4" : "3.3";
    const Vec3d gap = points.at(upper) - points.at(lower);
    // The lower lid comes up a little, and the upper one goes the rest.
    add(lower, kLowerLidShare * gap);
    add(upper, (kLowerLidShare - 1) * gap);
  }
  if (left == "mouthClose")
    for (const auto& [point, d] : movesOf(*findFaceShape("jawOpen"), points))
      if (point[0] == '8') add(point, -d);
  return out;
}

/// A head while its shapes are made.
class ShapeMaker {
 public:
  ShapeMaker(const Character& head, const FaceRig& rig, const FacePoser& poser,
             const FacePoints& points, Diagnostics& notes)
      : head_(head),
        poser_(poser),
        points_(points),
        welded_(detail::weldedMesh(head.mesh)),
        slits_(findFaceSlits(head.mesh, head.points, notes)),
        axes_(faceAxes(points)),
        pieces_(welded_, skinPiece(), slits_, points.at("2.1"),
                measureFaceUnits(points).eye_separation_m),
        morphs_(head.mesh, welded_.of_vertex) {
    rig_slot_.assign(head.skin.slots.size(), -1);
    pivots_.assign(rig.joints.size(), Vec3d::Zero());
    for (std::size_t s = 0; s < head.skin.slots.size(); ++s)
      for (std::size_t j = 0; j < rig.joints.size(); ++j)
        if (rig.joints[j] == head.skin.slots[s].joint) {
          rig_slot_[s] = static_cast<int>(j);
          pivots_[j] = head.skin.slots[s].inverse_bind.inverse().translation().cast<double>();
        }
    const auto surface = [&](const std::optional<FaceSlit>& slit, double radius) {
      return slit ? std::optional(detail::slitSurface(welded_, *slit, radius)) : std::nullopt;
    };
    left_ = surface(slits_.left_eye, detail::kLidRadius);
    right_ = surface(slits_.right_eye, detail::kLidRadius);
  }

  MorphTarget make(const FaceShape& shape) {
    std::vector<Vec3d> d = followed(shape);  // lips of mouthClose then meet as at rest
    if (shape.name.starts_with("eyeBlink")) {
      const bool left = shape.side == FaceSide::Left;
      if (const auto& eye = left ? left_ : right_)
        detail::matchLids(welded_, {.donor = {}, .target = *eye}, shut(), 1e-3,
                          left ? pieces_.leftEyeball() : pieces_.rightEyeball(), d);
    }
    pieces_.follow(d);
    if (const detail::Gaze gaze = detail::gazeOf(shape.name); gaze.left != 0 || gaze.up != 0) {
      pieces_.turnEyeball(shape.side == FaceSide::Left, gaze.turn(axes_).toRotationMatrix(), d);
    }
    if (shape.name == "jawOpen") jaw_ = d;
    const bool on_jaw = shape.name == "mouthClose";
    if (on_jaw && jaw_.empty()) jaw_ = followed(*findFaceShape("jawOpen"));
    MorphTarget out = morphs_.make(d, on_jaw ? jaw_ : std::vector<Vec3d>{});
    out.name = shape.name;
    return out;
  }

 private:
  std::uint32_t skinPiece() const {
    std::vector<std::size_t> counts(welded_.pieces.count, 0);
    for (const LabelledPoint& p : head_.points)
      ++counts[welded_.pieces.of_vertex[welded_.triangles[p.point.triangle][0]]];
    return static_cast<std::uint32_t>(std::max_element(counts.begin(), counts.end()) -
                                      counts.begin());
  }

  /// What the rig does, by linear skinning.
  std::vector<Vec3d> followed(const FaceShape& shape) const {
    std::vector<PointDisplacement> moves;
    for (const auto& [point, d] : movesOf(shape, points_))
      moves.push_back({findFaceFeature(point)->number, d});
    const std::vector<JointMove> joints = poser_.jointMoves(moves);
    std::vector<Mat3d> turns;
    for (const JointMove& j : joints) turns.push_back(j.rotation.toRotationMatrix());
    std::vector<Vec3d> out(welded_.pointCount(), Vec3d::Zero());
    for (std::size_t p = 0; p < out.size(); ++p)
      for (const Influence& i : head_.skin[welded_.first_vertex[p]])
        if (const int slot = rig_slot_[i.slot]; slot >= 0) {
          const auto j = static_cast<std::size_t>(slot);
          const Vec3d arm = welded_.positions[p] - pivots_[j];
          out[p] +=
              static_cast<double>(i.weight) * (turns[j] * arm - arm + joints[j].translation_m);
        }
    return out;
  }

  static OpeningChange shut() {
    OpeningChange out;
    const std::size_t n = OpeningChange::kSteps + 1;
    out.risen.assign(n, -1.0);
    out.grown.assign(n, 0.0);
    out.height.assign(n, 0.0);
    out.upper_share = 1 - kLowerLidShare;
    out.moves = true;
    return out;
  }

  const Character& head_;
  const FacePoser& poser_;
  const FacePoints& points_;
  WeldedMesh welded_;
  FaceSlits slits_;
  FaceAxes axes_;
  detail::FacePieces pieces_;
  detail::MorphMaker morphs_;
  std::vector<int> rig_slot_;  ///< per slot of the skin: the rig's joint, or -1
  std::vector<Vec3d> pivots_;  ///< [m] of the rig's joints
  std::optional<detail::SlitSurface> left_, right_;
  std::vector<Vec3d> jaw_;  ///< [m] what mouthClose is used on top of
};

/// A head with the rig that its shapes are made by.
struct RiggedHead {
  Character head;
  FaceRig rig;
  FacePoser poser;
  FacePoints points;
};
Result<RiggedHead> riggedHead(const Character& given, Diagnostics& notes) {
  DERM_CHECK(validate(given));
  Character head = given;
  std::optional<FaceRig> rig = findFaceRig(head);
  if (!rig) {
    FaceRigDesc desc;
    desc.clips = false;
    DERM_TRY(rig, addFaceRig(head, desc, notes));
  }
  DERM_TRY(const FacePoints points, facePoints(head.points, head.mesh));
  DERM_CHECK(validateControlPoints(points));
  DERM_TRY(FacePoser poser, FacePoser::make(head, *rig));
  return RiggedHead{std::move(head), *std::move(rig), std::move(poser), points};
}

}  // namespace

Result<std::vector<PointDisplacement>> faceShapeDisplacements(std::string_view shape,
                                                              const FacePoints& points) {
  DERM_TRY(const FaceShape* found, faceShapeNamed(shape));
  DERM_CHECK(validateControlPoints(points));
  std::vector<PointDisplacement> out;
  for (const auto& [point, d] : movesOf(*found, points))
    out.push_back({findFaceFeature(point)->number, d});
  return out;
}

Result<MorphTarget> arkitShape(const Character& head, std::string_view name, Diagnostics& notes) {
  DERM_TRY(const FaceShape* shape, faceShapeNamed(name));
  DERM_TRY(const RiggedHead rigged, riggedHead(head, notes));
  return ShapeMaker(rigged.head, rigged.rig, rigged.poser, rigged.points, notes).make(*shape);
}

Result<std::vector<MorphTarget>> arkitShapes(const Character& given, Diagnostics& notes,
                                             const Progress& progress) {
  DERM_TRY(const RiggedHead rigged, riggedHead(given, notes));
  ShapeMaker maker(rigged.head, rigged.rig, rigged.poser, rigged.points, notes);
  std::vector<MorphTarget> out;
  const std::span<const FaceShape> shapes = faceShapes();
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (!keepGoing(progress, static_cast<double>(i) / static_cast<double>(shapes.size()),
                   shapes[i].name))
      return Error{ErrorCode::Cancelled, "cancelled", {}};
    out.push_back(maker.make(shapes[i]));
    if (out.back().vertices.empty())
      notes.info("shapes-empty", shapes[i].name,
                 "moves nothing: no control point is where it acts");
  }
  return out;
}

}  // namespace derm
