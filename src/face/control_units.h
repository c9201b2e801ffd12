#pragma once

#include <string_view>

#include "derm/face/face_points.h"

namespace derm::detail {

/// [m] What a control point's motion is measured in, along left, up and forward of the face: lips
/// and chin in mouth widths sideways and mouth-nose heights up and forward, lids in lid openings,
/// all else in eye-nose heights.
inline Vec3d unitsAt(std::string_view point, const FaceUnits& units) {
  if (point[0] == '8' || point == "2.1")
    return {units.mouth_width_m, units.mouth_nose_m, units.mouth_nose_m};
  if (point[0] == '3') return Vec3d::Constant(units.lid_opening_m);
  return Vec3d::Constant(units.eye_nose_m);
}

/// What a point's motion is multiplied with to go from face to face. A face whose lids are shut at
/// rest has no opening to measure in: there the distance of the eyes counts.
inline Vec3d unitRatio(std::string_view point, const FaceUnits& from, const FaceUnits& to) {
  const Vec3d own = unitsAt(point, from), other = unitsAt(point, to);
  const double eyes = from.eye_separation_m > 0 ? to.eye_separation_m / from.eye_separation_m : 1.0;
  Vec3d out;
  for (int i = 0; i < 3; ++i) out[i] = own[i] > 0 && other[i] > 0 ? other[i] / own[i] : eyes;
  return out;
}

}  // namespace derm::detail
