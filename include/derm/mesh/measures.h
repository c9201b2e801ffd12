#pragma once

#include <limits>
#include <span>

#include "derm/mesh/tri_mesh.h"

namespace derm {

/// Axis-aligned box. Empty where low > high.
struct Bounds {
  Vec3f low = Vec3f::Constant(std::numeric_limits<float>::infinity());
  Vec3f high = Vec3f::Constant(-std::numeric_limits<float>::infinity());

  bool empty() const { return !(low.array() <= high.array()).all(); }
  Vec3f size() const { return empty() ? Vec3f(Vec3f::Zero()) : Vec3f(high - low); }
  Vec3f centre() const { return empty() ? Vec3f(Vec3f::Zero()) : Vec3f(low + 0.5f * (high - low)); }
  /// Length that tolerances of shape are relative to. [m]
  double diagonal() const { return size().cast<double>().norm(); }
  bool operator==(const Bounds&) const = default;
};

Bounds bounds(std::span<const Vec3f> positions);

/// Mean of the positions, in double; the origin for none.
Vec3d centroid(std::span<const Vec3f> positions);
Vec3d centroid(std::span<const Vec3d> positions);

/// Signed volume inside a closed surface [m^3]: 1/6 sum det(x1-c, x2-c, x3-c), c the centroid (this
/// avoids cancellation far from the origin). Negative for inside-out surfaces; for an open one it
/// is the volume of the cone over it from c. Sums in double, same bits for any thread count.
double volume(std::span<const Vec3f> positions, std::span<const Triangle> triangles);
double volume(std::span<const Vec3d> positions, std::span<const Triangle> triangles);

/// Surface area [m^2], in double.
double area(std::span<const Vec3f> positions, std::span<const Triangle> triangles);
double area(std::span<const Vec3d> positions, std::span<const Triangle> triangles);

/// Mean edge length over all triangle sides [m]; the length that mesh tolerances are relative to.
double meanEdgeLength(std::span<const Vec3f> positions, std::span<const Triangle> triangles);

}  // namespace derm
