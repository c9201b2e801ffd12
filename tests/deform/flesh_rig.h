#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "derm/anim/skin.h"
#include "derm/character/character.h"
#include "derm/deform/basic_layers.h"
#include "derm/deform/flesh.h"
#include "derm/deform/playback.h"
#include "derm/deform/stack.h"
#include "derm/mesh/normals.h"

/// A limb of known shape and motion for the tests of flesh.
namespace derm::flesh_test {

inline constexpr double kLength = 2.0;  ///< [m] of the limb, along y from the root at 0
inline constexpr double kRadius = 0.3;  ///< [m]

/// A closed-off motion of the root: position and turn at each of many keys.
struct Motion {
  std::string name;
  double seconds = 2;
  std::function<Vec3d(double)> position = [](double) { return Vec3d(Vec3d::Zero()); };
  std::function<Quatd(double)> turn = [](double) { return Quatd::Identity(); };
  std::function<Quatd(double)> elbow = [](double) { return Quatd::Identity(); };
};

inline Clip clipOf(const Motion& m, int keys_per_second = 960) {
  Clip clip{.name = m.name};
  Track move{.channel = Channel::Translation, .joint = JointId(0)};
  Track turn{.channel = Channel::Rotation, .joint = JointId(0)};
  Track elbow{.channel = Channel::Rotation, .joint = JointId(1)};
  const int keys = static_cast<int>(std::lround(m.seconds * keys_per_second));
  for (int k = 0; k <= keys; ++k) {
    const double t = static_cast<double>(k) / keys_per_second;
    const Vec3f p = m.position(t).cast<float>();
    move.values.insert(move.values.end(), p.data(), p.data() + 3);
    for (const auto& [track, q] : {std::pair{&turn, m.turn(t)}, std::pair{&elbow, m.elbow(t)}}) {
      const Quatf f = q.cast<float>();
      track->values.insert(track->values.end(), f.coeffs().data(), f.coeffs().data() + 4);
    }
    for (Track* track : {&move, &turn, &elbow}) track->times_s.push_back(static_cast<float>(t));
  }
  clip.tracks = {move, turn, elbow};
  return clip;
}

/// A tube along +y: joints "upper" at 0, "lower" at 1 and "tip" at 2; the skin changes over from
/// upper to lower around y = 1.
inline Character limb(const std::vector<Motion>& motions, int rings = 41, int sectors = 16) {
  Character c;
  c.name = "limb";
  for (int r = 0; r < rings; ++r)
    for (int s = 0; s < sectors; ++s) {
      const double around = 2 * std::numbers::pi * s / sectors;
      c.mesh.positions.emplace_back(static_cast<float>(kRadius * std::cos(around)),
                                    static_cast<float>(kLength * r / (rings - 1)),
                                    static_cast<float>(-kRadius * std::sin(around)));
    }
  const auto at = [&](int r, int s) {
    return static_cast<std::uint32_t>(r * sectors + s % sectors);
  };
  for (int r = 0; r + 1 < rings; ++r)
    for (int s = 0; s < sectors; ++s) {
      c.mesh.triangles.push_back({at(r, s), at(r, s + 1), at(r + 1, s + 1)});
      c.mesh.triangles.push_back({at(r, s), at(r + 1, s + 1), at(r + 1, s)});
    }
  c.mesh.normals = areaWeightedNormals(c.mesh.positions, c.mesh.triangles);
  VertexGroup half{.name = "front"};
  for (std::uint32_t v = 0; v < c.mesh.vertexCount(); ++v)
    if (c.mesh.positions[v].z() > 0) {
      half.vertices.push_back(v);
      half.strengths.push_back(1);
    }
  c.mesh.groups = {half};
  addDefaultParts(c);
  std::vector<SkinSlot> slots;
  for (std::size_t j = 0; j < 3; ++j) {
    Joint joint{.name = j == 0 ? "upper" : j == 1 ? "lower" : "tip"};
    if (j > 0) {
      joint.parent = JointId(j - 1);
      joint.rest.translation = Vec3f(0, 1, 0);
    }
    c.skeleton.joints.push_back(joint);
    Affine3f inverse = Affine3f::Identity();
    inverse.translation() = Vec3f(0, -static_cast<float>(j), 0);
    slots.push_back({JointId(j), inverse});
  }
  Diagnostics notes;
  SkinBuilder builder(slots, c.mesh.vertexCount());
  std::vector<Influence> row;
  for (const Vec3f& p : c.mesh.positions) {
    const float u = std::clamp((p.y() - 0.8f) / 0.4f, 0.0f, 1.0f);
    const float lower = u * u * (3 - 2 * u);
    row = {{0, 1 - lower}, {1, lower}};
    builder.addVertex(row, 0, c.name, notes);
  }
  c.skin = std::move(builder).finish();
  for (const Motion& m : motions) c.clips.push_back(clipOf(m));
  return c;
}

inline std::shared_ptr<const Character> sharedLimb(const std::vector<Motion>& motions) {
  return std::make_shared<const Character>(limb(motions));
}

/// Flesh along the whole upper bone.
inline FleshDesc upperFlesh() {
  FleshDesc d;
  d.dominant = JointId(0);
  d.ends = {JointId(1)};
  return d;
}

inline FleshDesc lowerFlesh() {
  FleshDesc d;
  d.name = "lower flesh";
  d.dominant = JointId(1);
  d.ends = {JointId(2)};
  return d;
}

inline std::shared_ptr<const Stack> fleshStack(std::shared_ptr<const Character> character,
                                               const std::vector<FleshDesc>& elements) {
  std::vector<LayerFactory> layers = {morphLayer(), skinningLayer({})};
  for (const FleshDesc& d : elements) layers.push_back(fleshLayer(d));
  Diagnostics notes;
  return Stack::bind(std::move(character), layers, notes).value();
}

/// Ways to move that shake flesh: side to side, round and round, jolts, a bent elbow.
inline std::vector<Motion> shakes() {
  const auto about = [](double angle, const Vec3d& axis) {
    return Quatd(Eigen::AngleAxisd(angle, Eigen::Vector3d(axis.normalized())));
  };
  return {
      {.name = "sway", .position = [](double t) { return Vec3d(0.5 * std::sin(4 * t), 0, 0); }},
      {.name = "spin",
       .position = [](double t) { return Vec3d(0, 0.3 * std::sin(9 * t), 0.2 * std::cos(7 * t)); },
       .turn =
           [=](double t) {
             return about(5 * std::sin(3 * t), {0.3, 1, 0.2});
           }},
      {.name = "jolt",
       .position =
           [](double t) {
             return Vec3d(0, t > 0.5 ? 0.4 * std::min(1.0, (t - 0.5) * 20) : 0.0, 0);
           },
       .elbow =
           [=](double t) {
             return about(1.2 * std::sin(6 * t), {1, 0, 0});
           }}};
}

}  // namespace derm::flesh_test
