#include "derm/mesh/measures.h"

#include "derm/base/parallel.h"

namespace derm {
namespace {

struct VectorSum {
  Vec3d value = Vec3d::Zero();
  VectorSum& operator+=(const VectorSum& other) {
    value += other.value;
    return *this;
  }
};

template <class Vec>
Vec3d centroidOf(std::span<const Vec> positions) {
  if (positions.empty()) return Vec3d::Zero();
  const auto sum =
      deterministicSum<VectorSum>(positions.size(), [&](std::size_t begin, std::size_t end) {
        VectorSum part;
        for (std::size_t i = begin; i < end; ++i)
          part.value += positions[i].template cast<double>();
        return part;
      });
  return sum.value / static_cast<double>(positions.size());
}

template <class Vec, class PerTriangle>
double sumOverTriangles(std::span<const Vec> positions, std::span<const Triangle> triangles,
                        const PerTriangle& value) {
  return deterministicSum<double>(triangles.size(), [&](std::size_t begin, std::size_t end) {
    double part = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Triangle& t = triangles[i];
      DERM_ASSERT(t[0] < positions.size() && t[1] < positions.size() && t[2] < positions.size());
      part +=
          value(positions[t[0]].template cast<double>(), positions[t[1]].template cast<double>(),
                positions[t[2]].template cast<double>());
    }
    return part;
  });
}

template <class Vec>
double volumeOf(std::span<const Vec> positions, std::span<const Triangle> triangles) {
  const Vec3d c = centroidOf(positions);
  return sumOverTriangles(positions, triangles,
                          [&](const Vec3d& p, const Vec3d& q, const Vec3d& r) {
                            const Vec3d a = p - c;
                            return a.dot(Vec3d(q - c).cross(Vec3d(r - c)));
                          }) /
         6.0;
}

template <class Vec>
double areaOf(std::span<const Vec> positions, std::span<const Triangle> triangles) {
  return sumOverTriangles(positions, triangles,
                          [](const Vec3d& p, const Vec3d& q, const Vec3d& r) {
                            return Vec3d(q - p).cross(Vec3d(r - p)).norm();
                          }) /
         2.0;
}

}  // namespace

Bounds bounds(std::span<const Vec3f> positions) {
  Bounds out;
  for (const Vec3f& p : positions) {
    out.low = out.low.cwiseMin(p);
    out.high = out.high.cwiseMax(p);
  }
  return out;
}

Vec3d centroid(std::span<const Vec3f> positions) { return centroidOf(positions); }
Vec3d centroid(std::span<const Vec3d> positions) { return centroidOf(positions); }

double volume(std::span<const Vec3f> positions, std::span<const Triangle> triangles) {
  return volumeOf(positions, triangles);
}
double volume(std::span<const Vec3d> positions, std::span<const Triangle> triangles) {
  return volumeOf(positions, triangles);
}

double area(std::span<const Vec3f> positions, std::span<const Triangle> triangles) {
  return areaOf(positions, triangles);
}
double area(std::span<const Vec3d> positions, std::span<const Triangle> triangles) {
  return areaOf(positions, triangles);
}

double meanEdgeLength(std::span<const Vec3f> positions, std::span<const Triangle> triangles) {
  if (triangles.empty()) return 0;
  return sumOverTriangles(positions, triangles,
                          [](const Vec3d& p, const Vec3d& q, const Vec3d& r) {
                            return (q - p).norm() + (r - q).norm() + (p - r).norm();
                          }) /
         (3.0 * static_cast<double>(triangles.size()));
}

}  // namespace derm
