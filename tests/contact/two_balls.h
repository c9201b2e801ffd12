#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "derm/anim/skin.h"
#include "derm/character/character.h"
#include "derm/contact/contact_layer.h"
#include "derm/deform/basic_layers.h"
#include "derm/deform/stack.h"
#include "derm/mesh/normals.h"

/// Two soft balls that can be moved into each other.
namespace derm::contact_test {

inline constexpr double kRadius = 0.1;  ///< [m]
inline constexpr double kApart = 0.4;   ///< [m] of their middles, at rest
inline constexpr int kRings = 24, kSectors = 32;

/// One ball on joint 1 at the origin, one on joint 2 beside it; both hang on joint 0. `order` says
/// which vertex comes where.
inline Character balls(std::span<const std::uint32_t> order = {}) {
  Character c;
  c.name = "balls";
  std::vector<std::uint32_t> slots;
  const auto add = [&](const Vec3f& p, std::uint32_t slot) {
    c.mesh.positions.push_back(p);
    slots.push_back(slot);
  };
  for (std::uint32_t ball = 0; ball < 2; ++ball) {
    const Vec3f middle(static_cast<float>(ball * kApart), 0, 0);
    const auto first = static_cast<std::uint32_t>(c.mesh.positions.size());
    for (int r = 1; r < kRings; ++r)
      for (int s = 0; s < kSectors; ++s) {
        const double down = std::numbers::pi * r / kRings;
        const double around = 2 * std::numbers::pi * s / kSectors;
        add(middle + (kRadius * Vec3d(std::sin(down) * std::cos(around), std::cos(down),
                                      -std::sin(down) * std::sin(around)))
                         .cast<float>(),
            ball);
      }
    const auto top = static_cast<std::uint32_t>(c.mesh.positions.size());
    add(middle + Vec3f(0, static_cast<float>(kRadius), 0), ball);
    add(middle - Vec3f(0, static_cast<float>(kRadius), 0), ball);
    const auto at = [&](int r, int s) {
      return first + static_cast<std::uint32_t>((r - 1) * kSectors + s % kSectors);
    };
    for (int s = 0; s < kSectors; ++s) {
      c.mesh.triangles.push_back({top, at(1, s), at(1, s + 1)});
      c.mesh.triangles.push_back({top + 1, at(kRings - 1, s + 1), at(kRings - 1, s)});
      for (int r = 1; r + 1 < kRings; ++r) {
        c.mesh.triangles.push_back({at(r, s), at(r + 1, s), at(r + 1, s + 1)});
        c.mesh.triangles.push_back({at(r, s), at(r + 1, s + 1), at(r, s + 1)});
      }
    }
  }
  if (!order.empty()) {
    std::vector<std::uint32_t> place(order.size());
    std::vector<Vec3f> positions(order.size());
    std::vector<std::uint32_t> other(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      positions[i] = c.mesh.positions[order[i]];
      other[i] = slots[order[i]];
    }
    for (Triangle& t : c.mesh.triangles)
      for (std::uint32_t& v : t) v = place[v];
    c.mesh.positions = positions;
    slots = other;
  }
  c.mesh.normals = areaWeightedNormals(c.mesh.positions, c.mesh.triangles);
  addDefaultParts(c);
  c.skeleton.joints.push_back({.name = "root"});
  std::vector<SkinSlot> skin_slots;
  for (std::uint32_t ball = 0; ball < 2; ++ball) {
    Joint joint{.name = ball == 0 ? "left" : "right", .parent = JointId(0)};
    joint.rest.translation = Vec3f(static_cast<float>(ball * kApart), 0, 0);
    c.skeleton.joints.push_back(joint);
    Affine3f inverse = Affine3f::Identity();
    inverse.translation() = -joint.rest.translation;
    skin_slots.push_back({JointId(ball + 1), inverse});
  }
  Diagnostics notes;
  SkinBuilder builder(skin_slots, c.mesh.vertexCount());
  std::vector<Influence> row;
  for (const std::uint32_t slot : slots) {
    row = {{slot, 1.0f}};
    builder.addVertex(row, 0, c.name, notes);
  }
  c.skin = std::move(builder).finish();
  return c;
}

inline std::shared_ptr<const Stack> contactStack(const std::shared_ptr<const Character>& c,
                                                 Diagnostics& notes, const ContactDesc& desc = {}) {
  const std::vector<LayerFactory> layers = {skinningLayer({}), contactLayer("contact", desc)};
  return Stack::bind(c, layers, notes).value();
}

/// The second ball's middle at this distance from the first's, a little aside so that no vertices
/// lie opposite each other.
inline Pose pressed(const Character& c, double apart_m) {
  Pose pose = c.restPose();
  pose.local[2].translation = Vec3f(static_cast<float>(apart_m), 0.006f, 0.004f);
  return pose;
}

}  // namespace derm::contact_test
