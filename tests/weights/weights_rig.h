#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "derm/anim/skeleton.h"
#include "derm/anim/skin.h"
#include "derm/mesh/tri_mesh.h"
#include "derm/weights/auto_weights.h"

/// Meshes with bones for the tests of automatic weights.
namespace derm::weights_rig {

struct Rig {
  TriMesh mesh;
  Skeleton skeleton;
  std::vector<JointId> bones;
  std::vector<Affine3d> bind_model;
};

/// Joints given by parent (-1 for a root) and position in model space; all of them bones.
struct JointPosition {
  int parent = -1;
  Vec3f position = Vec3f::Zero();
};

inline void addJoints(Rig& rig, const std::vector<JointPosition>& joints) {
  for (std::size_t j = 0; j < joints.size(); ++j) {
    Joint joint;
    joint.name = "j" + std::to_string(j);
    joint.rest.translation = joints[j].position;
    if (joints[j].parent >= 0) {
      joint.parent = JointId(static_cast<std::size_t>(joints[j].parent));
      joint.rest.translation -= joints[static_cast<std::size_t>(joints[j].parent)].position;
    }
    rig.skeleton.joints.push_back(joint);
    rig.bones.emplace_back(j);
  }
  rig.bind_model = restModelMatrices(rig.skeleton);
}

/// A chain along z.
inline void addChain(Rig& rig, const std::vector<float>& heights) {
  std::vector<JointPosition> joints;
  for (std::size_t j = 0; j < heights.size(); ++j)
    joints.push_back({static_cast<int>(j) - 1, Vec3f(0, 0, heights[j])});
  addJoints(rig, joints);
}

/// Closed cylinder along z with rings at the given heights and a centre vertex in each cap; vertex
/// ring * sectors + sector.
inline TriMesh closedCylinder(const std::vector<double>& heights, int sectors, double radius) {
  TriMesh m;
  const auto rings = static_cast<std::uint32_t>(heights.size());
  const auto ns = static_cast<std::uint32_t>(sectors);
  for (const double z : heights)
    for (int i = 0; i < sectors; ++i) {
      const double angle = 2 * std::numbers::pi * i / sectors;
      m.positions.emplace_back(float(radius * std::cos(angle)), float(radius * std::sin(angle)),
                               float(z));
    }
  for (std::uint32_t k = 0; k + 1 < rings; ++k)
    for (std::uint32_t i = 0; i < ns; ++i) {
      const std::uint32_t a = k * ns + i, b = k * ns + (i + 1) % ns;
      m.triangles.push_back({a, b, b + ns});
      m.triangles.push_back({a, b + ns, a + ns});
    }
  const auto bottom = static_cast<std::uint32_t>(m.positions.size());
  m.positions.emplace_back(0.0f, 0.0f, float(heights.front()));
  m.positions.emplace_back(0.0f, 0.0f, float(heights.back()));
  const std::uint32_t o = (rings - 1) * ns;
  for (std::uint32_t i = 0; i < ns; ++i) {
    const std::uint32_t next = (i + 1) % ns;
    m.triangles.push_back({bottom, next, i});
    m.triangles.push_back({bottom + 1, o + i, o + next});
  }
  return m;
}

inline std::vector<double> evenHeights(int rings, double length) {
  std::vector<double> out;
  for (int k = 0; k < rings; ++k) out.push_back(length * k / (rings - 1));
  return out;
}

/// A closed tube bent into a U: two parallel legs (fingers) of length 3 and radius 0.2 at x = -0.25
/// and x = +0.25, joined at the bottom. The gap between them is 0.1.
///   joints: 0 bottom, 1 and 2 up the left leg, 3 and 4 up the right one (each at y = 1 and 2.9)
inline Rig fork() {
  Rig rig;
  const int sectors = 16, leg_rings = 31, arc_rings = 10;
  const double radius = 0.2, half = 0.25, length = 3;
  std::vector<Vec3d> centre, side;
  for (int k = 0; k < leg_rings; ++k) {
    centre.emplace_back(-half, length * (1 - double(k) / leg_rings), 0);
    side.emplace_back(1, 0, 0);
  }
  for (int k = 0; k <= arc_rings; ++k) {
    const double a = std::numbers::pi * k / arc_rings;
    centre.emplace_back(-half * std::cos(a), -half * std::sin(a), 0);
    side.emplace_back(std::cos(a), std::sin(a), 0);
  }
  for (int k = 1; k <= leg_rings; ++k) {
    centre.emplace_back(half, length * double(k) / leg_rings, 0);
    side.emplace_back(-1, 0, 0);
  }
  rig.mesh = closedCylinder(std::vector<double>(centre.size(), 0.0), sectors, radius);
  // The right half gets the other diagonals, so that the mesh is its own mirror image.
  const std::size_t half_of_sides = (centre.size() - 1) / 2 * sectors;
  for (std::size_t quad = half_of_sides; quad < 2 * half_of_sides; ++quad) {
    Triangle& first = rig.mesh.triangles[2 * quad];
    Triangle& second = rig.mesh.triangles[2 * quad + 1];
    const std::uint32_t a = first[0], b = first[1], d = first[2], c = second[2];
    first = {c, b, d};
    second = {c, a, b};
  }
  for (std::size_t k = 0; k < centre.size(); ++k)
    for (int i = 0; i < sectors; ++i) {
      const double a = 2 * std::numbers::pi * i / sectors;
      const Vec3d p = centre[k] + radius * (std::cos(a) * side[k] + std::sin(a) * Vec3d(0, 0, -1));
      rig.mesh.positions[k * sectors + static_cast<std::size_t>(i)] = p.cast<float>();
    }
  rig.mesh.positions[centre.size() * sectors] = centre.front().cast<float>();
  rig.mesh.positions[centre.size() * sectors + 1] = centre.back().cast<float>();
  addJoints(rig, {{-1, {0, -0.25f, 0}},
                  {0, {-0.25f, 1, 0}},
                  {1, {-0.25f, 2.9f, 0}},
                  {0, {0.25f, 1, 0}},
                  {3, {0.25f, 2.9f, 0}}});
  return rig;
}

/// A fine tube of length 4 and radius 0.5 with joints at z = 0, 2, 4.
inline Rig twoBoneTube(int rings = 41, int sectors = 24) {
  Rig rig;
  rig.mesh = closedCylinder(evenHeights(rings, 4.0), sectors, 0.5);
  addChain(rig, {0, 2, 4});
  return rig;
}

inline float weight(const Skin& skin, std::size_t vertex, std::uint32_t slot) {
  for (const Influence& i : skin[vertex])
    if (i.slot == slot) return i.weight;
  return 0;
}

/// Largest difference of any weight; `other_vertex` maps the vertices of `a` to those of `b`.
template <class Map>
float largestDifference(const Skin& a, const Skin& b, const Map& other_vertex) {
  float largest = 0;
  for (std::size_t v = 0; v < a.vertexCount(); ++v)
    for (std::uint32_t s = 0; s < a.slots.size(); ++s)
      largest = std::max(largest, std::abs(weight(a, v, s) - weight(b, other_vertex(v), s)));
  return largest;
}

inline float largestDifference(const Skin& a, const Skin& b) {
  return largestDifference(a, b, [](std::size_t v) { return v; });
}

inline Result<Skin> weigh(const Rig& rig, const AutoWeightsDesc& desc, Diagnostics& notes) {
  return autoWeights(rig.mesh, rig.skeleton, rig.bones, rig.bind_model, desc, notes);
}

/// All weights, however small.
inline AutoWeightsDesc everything(WeightMethod method) {
  AutoWeightsDesc desc;
  desc.method = method;
  desc.max_influences = 1000;
  desc.smallest = 0;
  return desc;
}

inline constexpr WeightMethod kAllMethods[] = {WeightMethod::Nearest, WeightMethod::Linear,
                                               WeightMethod::InverseDistance, WeightMethod::Heat,
                                               WeightMethod::Geodesic};

}  // namespace derm::weights_rig
