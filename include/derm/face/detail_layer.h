#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "derm/character/character.h"
#include "derm/deform/layer.h"
#include "derm/face/wrinkle_poses.h"

namespace derm {

/// A pose of the face in which a wrinkle map shows in full.
struct DetailPose {
  std::string name;  ///< of its channel, after the layer's
  /// What the face does there: expressions or ARKit shapes, joined by "+" ("browInnerUp+jawOpen").
  /// Empty: an instant of a clip of the character instead.
  std::string expression;
  std::string clip;
  double at_s = 0;  ///< [s] >= 0
  ModulationCurve curve;

  bool operator==(const DetailPose&) const = default;
};

struct DetailDesc {
  std::vector<DetailPose> poses;
  /// Control points that wrinkle together, each a list of regions and points (face_regions.h); a
  /// point belongs to the first that has it.
  std::vector<std::string> groups;
  WrinkleInfluence influence = WrinkleInfluence::Weighted;

  bool operator==(const DetailDesc&) const = default;
};

/// "lines.frown": the channel that the layer "lines" writes for its pose "frown". A detail map of a
/// material names it (DetailMap::channel) to show there.
std::string detailChannel(std::string_view layer, std::string_view pose);

/// Wrinkles that appear by themselves (Dutreve 2011, section 5.3): from where the control points
/// are on the skin, seen from the head, it tells how far the face is on its way to each pose, and
/// writes how strongly that pose's map shows at each vertex (wrinkle_poses.h). It moves nothing. It
/// does not matter what moves the face: joints, morph targets, other layers.
///
/// How much a vertex follows a control point is what the character's face rig says, or, without a
/// rig, what faceWeights() would make of its points. After skinning.
///
/// Errors: no poses, two of one name, control points as validateControlPoints(), an unknown
/// expression, clip or region, a pose that moves no control point. Notes as faceWeights().
LayerFactory detailLayer(std::string name, DetailDesc desc);

/// What a detail layer computes with: enough for another program to do the same (see
/// WrinklePoses).
struct DetailTables {
  WrinklePosesDesc poses;
  FaceWeights weights;
  /// Per control point, in the order of controlPointNumbers(), where it is on the skin.
  std::vector<SurfacePoint> points;
  JointId head;  ///< points are seen from it; invalid where no joint carries the face
  Affine3d head_bind = Affine3d::Identity();  ///< where that joint is when nothing moves
};
/// Errors as those of the layer's bind.
Result<DetailTables> detailTables(const DetailDesc& desc, const Character& character,
                                  Diagnostics& notes);

}  // namespace derm
