#pragma once

#include "derm/math/vec.h"

namespace derm {

/// A linear map split into a stretch, then a turn: linear = rotation * stretch.
struct Polar {
  Mat3d rotation = Mat3d::Identity();  ///< proper: determinant +1
  Mat3d stretch = Mat3d::Identity();   ///< symmetric; positive definite, or negative for a mirror
};

/// Polar decomposition. The rotation is the one nearest to the map; a mirror (negative determinant)
/// goes wholly to the stretch, whose eigenvalues are then all negative. Works for singular maps
/// too, where the rotation is one of several equally near ones. Allocation-free.
/// Method: Newton iteration with norm scaling (Higham 1986), SVD where the map is nearly singular.
/// Requires finite numbers; accurate to about 1e-14 of the largest entry.
Polar polarDecomposition(const Mat3d& linear);

}  // namespace derm
