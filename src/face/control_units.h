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

}  // namespace derm::detail
