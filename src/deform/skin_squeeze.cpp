#include "deform/skin_squeeze.h"

#include <algorithm>
#include <cmath>

namespace derm::detail {

std::vector<RestTriangle> restTriangles(const TriMesh& mesh) {
  std::vector<RestTriangle> out(mesh.triangles.size());
  for (std::size_t t = 0; t < out.size(); ++t) {
    Vec3d p[3];
    for (int c = 0; c < 3; ++c) p[c] = mesh.positions[mesh.triangles[t][c]].cast<double>();
    const Vec3d a = p[1] - p[0], b = p[2] - p[0];
    const Vec3d twice = a.cross(b);
    RestTriangle& r = out[t];
    r.centre = (p[0] + p[1] + p[2]) / 3;
    r.area = twice.norm() / 2;
    const double longest = std::max(a.squaredNorm(), b.squaredNorm());
    if (!(r.area > 1e-6 * longest)) {
      r.area = 0;  // a sliver: its stretch says nothing
      continue;
    }
    r.normal = twice.normalized();
    r.u = a.normalized();
    r.v = r.normal.cross(r.u);
    Eigen::Matrix2d edges;
    edges << a.dot(r.u), b.dot(r.u), a.dot(r.v), b.dot(r.v);
    r.inverse_edges = edges.inverse();
  }
  return out;
}

void compare(const RestTriangle& rest, const Triangle& t, std::span<const Vec3f> positions,
             double time_s, Squeeze& out) {
  if (rest.area == 0) return;
  const Vec3d p = positions[t[0]].cast<double>();
  Eigen::Matrix<double, 3, 2> edges;
  edges.col(0) = positions[t[1]].cast<double>() - p;
  edges.col(1) = positions[t[2]].cast<double>() - p;
  const Eigen::Matrix<double, 3, 2> f = edges * rest.inverse_edges;
  const double a = f.col(0).squaredNorm(), b = f.col(0).dot(f.col(1)), d = f.col(1).squaredNorm();
  const double middle = (a + d) / 2, half = std::hypot((a - d) / 2, b);
  // Skin that is pulled the other way gives its length there and lies flat.
  const double stretch =
      std::sqrt(std::max(0.0, middle - half)) * std::max(1.0, std::sqrt(middle + half));
  if (!(stretch < out.min_stretch)) return;
  // At right angles to the largest stretch.
  const double angle = 0.5 * std::atan2(2 * b, a - d) + std::acos(0.0);
  out = {stretch, std::cos(angle) * rest.u + std::sin(angle) * rest.v, time_s};
}

}  // namespace derm::detail
