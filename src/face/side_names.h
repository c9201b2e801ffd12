#pragma once

#include "derm/face/face_features.h"

/// Private to room face: short names for tables.
namespace derm::detail {

inline constexpr FaceSide kMiddle = FaceSide::Middle;
inline constexpr FaceSide kLeft = FaceSide::Left;
inline constexpr FaceSide kRight = FaceSide::Right;

}  // namespace derm::detail
