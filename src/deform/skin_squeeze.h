#pragma once

#include <span>
#include <vector>

#include "derm/mesh/tri_mesh.h"

namespace derm::detail {

/// A triangle at rest, ready to be compared with its deformed self.
struct RestTriangle {
  Eigen::Matrix2d inverse_edges = Eigen::Matrix2d::Zero();
  Vec3d u, v;  ///< the plane's axes
  Vec3d centre, normal;
  double area = 0;
};

/// How far a triangle was squeezed, at most, and when.
struct Squeeze {
  double min_stretch = 1;
  Vec3d direction = Vec3d::Zero();  ///< at rest, unit length
  double time_s = 0;
};

std::vector<RestTriangle> restTriangles(const TriMesh& mesh);

/// Lowers `out` where the triangle is squeezed more in these positions.
void compare(const RestTriangle& rest, const Triangle& t, std::span<const Vec3f> positions,
             double time_s, Squeeze& out);

}  // namespace derm::detail
