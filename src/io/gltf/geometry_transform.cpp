#include "io/gltf/geometry_transform.h"

#include <cmath>

#include <Eigen/LU>

#include "derm/base/parallel.h"

namespace derm::detail::gltf {
namespace {

constexpr std::size_t kChunk = 8192;

/// The unit vector, or `otherwise` where there is no direction.
Vec3f unit(const Vec3d& v, const Vec3f& otherwise) {
  const double length = v.norm();
  if (!(length > 1e-30) || !std::isfinite(length)) return otherwise;
  return (v / length).cast<float>();
}

double inverseLength(const Vec3d& moved) {
  const double length = moved.norm();
  return length > 1e-30 ? 1.0 / length : 0.0;
}

}  // namespace

GeometryTransform::GeometryTransform(const Affine3d& matrix)
    : matrix_(matrix), linear_(matrix.linear()) {
  identity_ = matrix.matrix() == Affine3d::Identity().matrix();
  const double determinant = linear_.determinant();
  mirrors_ = determinant < 0;
  // The cofactor matrix is the inverse transpose times the determinant: same directions up to its
  // sign, and it exists for singular matrices too.
  normal_matrix_.col(0) = Vec3d(linear_.col(1)).cross(Vec3d(linear_.col(2)));
  normal_matrix_.col(1) = Vec3d(linear_.col(2)).cross(Vec3d(linear_.col(0)));
  normal_matrix_.col(2) = Vec3d(linear_.col(0)).cross(Vec3d(linear_.col(1)));
  if (mirrors_) normal_matrix_ = -normal_matrix_;
}

void GeometryTransform::movePositions(std::span<Vec3f> positions) const {
  parallelFor(positions.size(), kChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3d p = positions[i].cast<double>();
      positions[i] = (linear_ * p + matrix_.translation()).cast<float>();
    }
  });
}

void GeometryTransform::moveNormals(std::span<Vec3f> normals) const {
  parallelFor(normals.size(), kChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      normals[i] = unit(normal_matrix_ * normals[i].cast<double>(), normals[i]);
  });
}

void GeometryTransform::moveTangents(std::span<Vec4f> tangents) const {
  const float sign = mirrors_ ? -1.0f : 1.0f;
  parallelFor(tangents.size(), kChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3f t = tangents[i].head<3>();
      tangents[i].head<3>() = unit(linear_ * t.cast<double>(), t);
      tangents[i].w() *= sign;
    }
  });
}

void GeometryTransform::flip(std::span<Triangle> triangles) const {
  if (!mirrors_) return;
  for (Triangle& t : triangles) std::swap(t[1], t[2]);
}

void GeometryTransform::moveMorph(MorphTarget& morph, std::span<const Vec3f> base_normals,
                                  std::span<const Vec4f> base_tangents) const {
  for (std::size_t i = 0; i < morph.vertices.size(); ++i) {
    const std::uint32_t v = morph.vertices[i];
    morph.positions[i] = (linear_ * morph.positions[i].cast<double>()).cast<float>();
    if (!morph.normals.empty()) {
      const double scale = inverseLength(normal_matrix_ * base_normals[v].cast<double>());
      morph.normals[i] = (scale * (normal_matrix_ * morph.normals[i].cast<double>())).cast<float>();
    }
    if (!morph.tangents.empty()) {
      const Vec3d base = base_tangents[v].head<3>().cast<double>();
      const double scale = inverseLength(linear_ * base);
      morph.tangents[i] = (scale * (linear_ * morph.tangents[i].cast<double>())).cast<float>();
    }
  }
}

Vec4f anyTangent(const Vec3f& normal) {
  int axis = 0;
  normal.cwiseAbs().minCoeff(&axis);
  const Vec3d n = normal.cast<double>();
  const Vec3d side = Vec3d(Vec3d::Unit(axis)).cross(n);
  const Vec3f t = unit(side, Vec3f::UnitX());
  return Vec4f(t.x(), t.y(), t.z(), 1.0f);
}

}  // namespace derm::detail::gltf
