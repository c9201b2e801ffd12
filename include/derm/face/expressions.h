#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "derm/base/result.h"
#include "derm/face/face_points.h"

namespace derm {

/// How far an expression moves a feature point from where it is at rest.
struct PointDisplacement {
  std::string_view point;  ///< its number
  Vec3d displacement_m = Vec3d::Zero();
};

/// "joy", "sadness", "disgust", "surprise", "fear", "anger", "blink" and "jawOpen".
std::span<const std::string_view> expressionNames();

/// An expression on a face: a table of displacements in the face's own units and directions, so
/// that it fits small and large features alike; blink brings the lids' points together exactly.
/// Both sides move as mirror images. `strength` scales all of it. Fails on an unknown name (with
/// the nearest) and on points that validateControlPoints() rejects. Points that stay are left out.
Result<std::vector<PointDisplacement>> expressionDisplacements(std::string_view name,
                                                               const FacePoints& points,
                                                               double strength = 1);

}  // namespace derm
