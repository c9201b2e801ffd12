#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "derm/anim/skin.h"
#include "derm/character/character.h"
#include "derm/mesh/normals.h"

namespace derm::bench_support {

/// An open tube along +Z of rings x sectors vertices with a chain of joints through it, four smooth
/// influences per vertex, and a clip in which every joint swings.
inline Character riggedTube(int rings, int sectors, int joints, float seconds) {
  constexpr float kLength = 4, kRadius = 0.3f;
  Character c;
  c.name = "tube";
  for (int r = 0; r < rings; ++r)
    for (int s = 0; s < sectors; ++s) {
      const double around = 2 * std::numbers::pi * s / sectors;
      c.mesh.positions.emplace_back(float(kRadius * std::cos(around)),
                                    float(kRadius * std::sin(around)),
                                    kLength * float(r) / float(rings - 1));
    }
  const auto at = [&](int r, int s) { return std::uint32_t(r * sectors + s % sectors); };
  for (int r = 0; r + 1 < rings; ++r)
    for (int s = 0; s < sectors; ++s) {
      c.mesh.triangles.push_back({at(r, s), at(r, s + 1), at(r + 1, s + 1)});
      c.mesh.triangles.push_back({at(r, s), at(r + 1, s + 1), at(r + 1, s)});
    }
  c.mesh.normals = areaWeightedNormals(c.mesh.positions, c.mesh.triangles);
  addDefaultParts(c);
  const float step = kLength / float(joints);
  Clip clip{.name = "swing"};
  std::vector<SkinSlot> slots;
  for (int j = 0; j < joints; ++j) {
    Joint joint{.name = "joint" + std::to_string(j)};
    if (j > 0) joint.parent = JointId(std::size_t(j - 1));
    joint.rest.translation = Vec3f(0, 0, j == 0 ? 0 : step);
    c.skeleton.joints.push_back(joint);
    Affine3f to_joint = Affine3f::Identity();
    to_joint.translation() = Vec3f(0, 0, -step * float(j));
    slots.push_back({JointId(std::size_t(j)), to_joint});
    Track track{.channel = Channel::Rotation, .joint = JointId(std::size_t(j))};
    for (int k = 0; k <= 8; ++k) {
      const Quatf q(Eigen::AngleAxisf(0.05f * std::sin(float(j + k)), Eigen::Vector3f::UnitX()));
      track.times_s.push_back(seconds * float(k) / 8);
      track.values.insert(track.values.end(), q.coeffs().data(), q.coeffs().data() + 4);
    }
    clip.tracks.push_back(std::move(track));
  }
  c.clips.push_back(std::move(clip));
  Diagnostics notes;
  SkinBuilder builder(slots, c.mesh.vertexCount());
  std::vector<Influence> row;
  for (const Vec3f& p : c.mesh.positions) {
    row.clear();
    const int first = std::clamp(int(p.z() / step) - 1, 0, joints - 4);
    for (int j = first; j < first + 4; ++j) {
      const float d = p.z() / step - float(j);
      row.push_back({std::uint32_t(j), std::exp(-d * d)});
    }
    builder.addVertex(row, 0, "tube", notes);
  }
  c.skin = std::move(builder).finish();
  return c;
}

}  // namespace derm::bench_support
