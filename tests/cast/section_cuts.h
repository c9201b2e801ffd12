#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "derm/anim/skeleton.h"
#include "derm/character/character.h"

namespace derm::section_cuts {

/// Where a plane across a limb cuts the skin at rest: a closed loop of points on edges. The points
/// are of the skin, and go with it.
struct Cut {
  struct Point {
    std::uint32_t a = 0, b = 0;
    double share = 0;  ///< 0 at a, 1 at b
  };
  std::string name;
  std::vector<Point> loop;
  double rest_m2 = 0;

  /// [m^2] Area the loop encloses, wherever it is: the length of its area vector.
  double area(std::span<const Vec3f> positions) const {
    const auto at = [&](const Point& p) -> Vec3d {
      return (1 - p.share) * positions[p.a].cast<double>() +
             p.share * positions[p.b].cast<double>();
    };
    const Vec3d first = at(loop.front());
    Vec3d sum = Vec3d::Zero();
    for (std::size_t k = 1; k + 1 < loop.size(); ++k)
      sum += Vec3d(at(loop[k]) - first).cross(Vec3d(at(loop[k + 1]) - first));
    return 0.5 * sum.norm();
  }
  /// Posed over rest, as a radius.
  double ratio(std::span<const Vec3f> positions) const {
    return std::sqrt(area(positions) / rest_m2);
  }
};

/// All closed loops in which a plane cuts a closed surface.
inline std::vector<Cut> cutsOf(const TriMesh& mesh, const Vec3d& point, const Vec3d& normal) {
  std::vector<double> height(mesh.vertexCount());
  for (std::size_t v = 0; v < height.size(); ++v) {
    height[v] = normal.dot(Vec3d(mesh.positions[v].cast<double>() - point));
    if (height[v] == 0) height[v] = 1e-12;  // no vertex lies in the plane
  }
  using Edge = std::pair<std::uint32_t, std::uint32_t>;
  std::map<Edge, Edge> next;  // the edge through which the plane comes into a triangle, and goes
  for (const Triangle& t : mesh.triangles) {
    Edge in{}, out{};
    int crossings = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t a = t[k], b = t[(k + 1) % 3];
      if ((height[a] > 0) == (height[b] > 0)) continue;
      (height[a] > 0 ? in : out) = std::minmax(a, b);
      ++crossings;
    }
    if (crossings == 2) next[in] = out;
  }
  std::vector<Cut> loops;
  while (!next.empty()) {
    Cut cut;
    const Edge start = next.begin()->first;
    Edge at = start;
    bool closed = false;
    while (!closed) {
      const auto found = next.find(at);
      if (found == next.end()) break;  // an open border
      const auto [a, b] = at;
      cut.loop.push_back({a, b, height[a] / (height[a] - height[b])});
      at = found->second;
      next.erase(found);
      closed = at == start;
    }
    if (!closed || cut.loop.size() < 3) continue;
    cut.rest_m2 = cut.area(mesh.positions);
    loops.push_back(std::move(cut));
  }
  return loops;
}

/// How often a loop in a plane goes around a point of it.
inline int turnsAround(const Cut& cut, const TriMesh& mesh, const Vec3d& point,
                       const Vec3d& normal) {
  double angle = 0;
  const auto at = [&](std::size_t k) -> Vec3d {
    const Cut::Point& p = cut.loop[k % cut.loop.size()];
    return (1 - p.share) * mesh.positions[p.a].cast<double>() +
           p.share * mesh.positions[p.b].cast<double>() - point;
  };
  for (std::size_t k = 0; k < cut.loop.size(); ++k)
    angle += std::atan2(normal.dot(at(k).cross(at(k + 1))), at(k).dot(at(k + 1)));
  return int(std::lround(std::abs(angle) / (2 * M_PI)));
}

/// Cuts across every bone of a character (from a joint to each joint below it), `stations` of them
/// from end to end: of each plane the loop around the bone.
inline std::vector<Cut> acrossBones(const Character& c, int stations) {
  const std::vector<Affine3d> model = restModelMatrices(c.skeleton);
  std::vector<Cut> out;
  for (std::size_t j = 0; j < c.skeleton.size(); ++j) {
    const JointId parent = c.skeleton.joints[j].parent;
    if (!parent.valid()) continue;
    const Vec3d a = model[parent.index()].translation(), b = model[j].translation();
    if (!((b - a).norm() > 1e-9)) continue;
    const Vec3d along = (b - a).normalized();
    for (int k = 0; k < stations; ++k) {
      const double u = (k + 0.5) / stations;
      const Vec3d point = a + u * (b - a);
      for (Cut& cut : cutsOf(c.mesh, point, along)) {
        if (turnsAround(cut, c.mesh, point, along) != 1) continue;
        cut.name = c.skeleton.joints[parent.index()].name + " to " + c.skeleton.joints[j].name +
                   " " + std::to_string(k);
        out.push_back(std::move(cut));
      }
    }
  }
  return out;
}

}  // namespace derm::section_cuts
