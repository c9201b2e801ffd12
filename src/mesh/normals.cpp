#include "derm/mesh/normals.h"

#include <algorithm>
#include <cmath>

namespace derm {
namespace {

Vec3f unitOr(const Vec3d& v, const Vec3f& otherwise) {
  const double length = v.norm();
  if (!(length > 1e-150) || !std::isfinite(length)) return otherwise;
  return (v / length).cast<float>();
}

Vec3d anyOrthogonal(const Vec3d& n) {
  const Vec3d axis = std::abs(n.x()) < 0.7 ? Vec3d(1, 0, 0) : Vec3d(0, 1, 0);
  return (axis - n.dot(axis) * n).normalized();
}

double cornerAngle(const Vec3d& to_next, const Vec3d& to_previous) {
  const double lengths = to_next.norm() * to_previous.norm();
  return lengths > 0 ? std::acos(std::clamp(to_next.dot(to_previous) / lengths, -1.0, 1.0)) : 0.0;
}

}  // namespace

std::vector<Vec3f> areaWeightedNormals(std::span<const Vec3f> positions,
                                       std::span<const Triangle> triangles,
                                       std::span<const std::uint32_t> weld) {
  DERM_REQUIRE(weld.empty() || weld.size() == positions.size());
  std::vector<Vec3d> sums(positions.size(), Vec3d::Zero());
  for (const Triangle& t : triangles) {
    const Vec3d p = positions[t[0]].cast<double>();
    const Vec3d twice_area =
        Vec3d(positions[t[1]].cast<double>() - p).cross(Vec3d(positions[t[2]].cast<double>() - p));
    for (const std::uint32_t v : t) sums[weld.empty() ? v : weld[v]] += twice_area;
  }
  std::vector<Vec3f> normals(positions.size());
  for (std::size_t v = 0; v < positions.size(); ++v)
    normals[v] = unitOr(sums[weld.empty() ? v : weld[v]], Vec3f(0, 1, 0));
  return normals;
}

void updateAreaWeightedNormals(std::span<const Vec3f> positions,
                               std::span<const Triangle> triangles,
                               std::span<const std::uint32_t> weld, const std::vector<bool>& moved,
                               std::span<Vec3f> normals) {
  DERM_REQUIRE(weld.size() == positions.size() && normals.size() == positions.size() &&
               moved.size() == positions.size());
  std::vector<bool> touched(positions.size(), false);
  for (const Triangle& t : triangles)
    if (moved[weld[t[0]]] || moved[weld[t[1]]] || moved[weld[t[2]]])
      for (const std::uint32_t v : t) touched[weld[v]] = true;
  std::vector<std::uint32_t> entry(positions.size(), 0);
  std::vector<Vec3d> sums;
  for (std::size_t v = 0; v < positions.size(); ++v)
    if (touched[v]) {
      entry[v] = static_cast<std::uint32_t>(sums.size());
      sums.push_back(Vec3d::Zero());
    }
  for (const Triangle& t : triangles) {
    if (!touched[weld[t[0]]] && !touched[weld[t[1]]] && !touched[weld[t[2]]]) continue;
    const Vec3d p = positions[t[0]].cast<double>();
    const Vec3d twice_area =
        Vec3d(positions[t[1]].cast<double>() - p).cross(Vec3d(positions[t[2]].cast<double>() - p));
    for (const std::uint32_t v : t)
      if (touched[weld[v]]) sums[entry[weld[v]]] += twice_area;
  }
  for (std::size_t v = 0; v < positions.size(); ++v)
    if (touched[weld[v]]) normals[v] = unitOr(sums[entry[weld[v]]], Vec3f(0, 1, 0));
}

std::vector<Vec4f> uvTangents(const TriMesh& mesh) {
  const std::size_t n = mesh.vertexCount();
  DERM_REQUIRE(mesh.normals.size() == n);
  std::vector<Vec3d> sums(n, Vec3d::Zero());
  std::vector<double> orientation(n, 0.0);
  if (mesh.uvs.size() == n) {
    for (const Triangle& t : mesh.triangles) {
      const Vec3d p[3] = {mesh.positions[t[0]].cast<double>(), mesh.positions[t[1]].cast<double>(),
                          mesh.positions[t[2]].cast<double>()};
      const Eigen::Vector2d du = (mesh.uvs[t[1]] - mesh.uvs[t[0]]).cast<double>();
      const Eigen::Vector2d dv = (mesh.uvs[t[2]] - mesh.uvs[t[0]]).cast<double>();
      // glTF's v points down in the picture; MikkTSpace works with v up, hence the sign.
      const double signed_area = -(du.x() * dv.y() - du.y() * dv.x());
      const Vec3d gradient = (p[1] - p[0]) * -dv.y() + (p[2] - p[0]) * du.y();
      const double length = gradient.norm();
      if (!(length > 0) || signed_area == 0) continue;
      const Vec3d along_u = gradient * (signed_area > 0 ? 1.0 : -1.0) / length;
      for (int c = 0; c < 3; ++c) {
        const double angle = cornerAngle(p[(c + 1) % 3] - p[c], p[(c + 2) % 3] - p[c]);
        sums[t[c]] += angle * along_u;
        orientation[t[c]] += angle * (signed_area > 0 ? 1.0 : -1.0);
      }
    }
  }
  std::vector<Vec4f> tangents(n);
  for (std::size_t v = 0; v < n; ++v) {
    const Vec3d normal = mesh.normals[v].cast<double>();
    const Vec3d flat = sums[v] - normal.dot(sums[v]) * normal;
    const Vec3f t = unitOr(flat, anyOrthogonal(normal).cast<float>());
    tangents[v] = Vec4f(t.x(), t.y(), t.z(), orientation[v] < 0 ? -1.0f : 1.0f);
  }
  return tangents;
}

}  // namespace derm
