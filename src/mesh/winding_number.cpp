#include "derm/mesh/winding_number.h"

#include <cmath>
#include <numbers>

#include "derm/base/parallel.h"

namespace derm {

double windingNumber(std::span<const Vec3d> positions, std::span<const Triangle> triangles,
                     const Vec3d& point) {
  const double angles = deterministicSum<double>(triangles.size(), [&](std::size_t begin,
                                                                       std::size_t end) {
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Triangle& t = triangles[i];
      DERM_ASSERT(t[0] < positions.size() && t[1] < positions.size() && t[2] < positions.size());
      const Vec3d a = positions[t[0]] - point;
      const Vec3d b = positions[t[1]] - point;
      const Vec3d c = positions[t[2]] - point;
      const double la = a.norm(), lb = b.norm(), lc = c.norm();
      // atan2(0, 0) = 0: a corner at the point itself counts nothing.
      sum += std::atan2(a.dot(b.cross(c)),
                        la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb);
    }
    return sum;
  });
  return angles / (2 * std::numbers::pi);
}

}  // namespace derm
