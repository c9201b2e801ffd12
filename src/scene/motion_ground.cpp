#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "derm/anim/skin.h"
#include "derm/scene/motion.h"

namespace derm {
namespace {

constexpr std::size_t kDirections = 162;
constexpr double kTouching = 0.04;  // of the carrier's height: 4 cm of a person, as mocap is noisy

/// Points spread evenly over a sphere, on a spiral of golden turns.
std::vector<Vec3f> directions() {
  const double turn = std::numbers::pi * (3 - std::sqrt(5.0));
  std::vector<Vec3f> out;
  for (std::size_t i = 0; i < kDirections; ++i) {
    const double y = 1 - 2 * (static_cast<double>(i) + 0.5) / kDirections;
    const double radius = std::sqrt(1 - y * y), angle = turn * static_cast<double>(i);
    out.push_back(Vec3d(radius * std::cos(angle), y, radius * std::sin(angle)).cast<float>());
  }
  return out;
}

/// Vertices of the body: those of meshes that bend, or all where none does.
std::vector<std::uint32_t> bodyVertices(const Character& character) {
  std::vector<std::uint32_t> out;
  for (const bool rigid_too : {false, true}) {
    for (const MeshInstance& instance : character.instances)
      if (!instance.rigid || rigid_too)
        for (std::uint32_t v = 0; v < instance.vertex_count; ++v)
          out.push_back(instance.first_vertex + v);
    if (!out.empty()) break;
  }
  return out;
}

}  // namespace

BodyFloor::BodyFloor(const Character& character) : character_(character) {
  const std::vector<std::uint32_t> body = bodyVertices(character);
  if (!character.hasSkin()) {
    vertices_ = body;
    return;
  }
  const std::vector<Vec3f> looks = directions();
  constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  std::vector<std::uint32_t> outermost(character.skin.slots.size() * kDirections, kNone);
  for (const std::uint32_t v : body) {
    const std::size_t first = character.skin[v].front().slot * kDirections;
    for (std::size_t d = 0; d < kDirections; ++d) {
      std::uint32_t& best = outermost[first + d];
      if (best == kNone ||
          character.mesh.positions[v].dot(looks[d]) > character.mesh.positions[best].dot(looks[d]))
        best = v;
    }
  }
  std::erase(outermost, kNone);
  std::sort(outermost.begin(), outermost.end());
  outermost.erase(std::unique(outermost.begin(), outermost.end()), outermost.end());
  vertices_ = std::move(outermost);
}

double BodyFloor::lowestIn(const Pose& pose) const {
  double lowest = std::numeric_limits<double>::infinity();
  const TriMesh& mesh = character_.mesh;
  if (!character_.hasSkin()) {
    for (const std::uint32_t v : vertices_)
      lowest = std::min(lowest, static_cast<double>(mesh.positions[v].y()));
    return lowest;
  }
  std::vector<Affine3d> model(character_.skeleton.size());
  localToModel(character_.skeleton, pose.local, model);
  std::vector<Affine3f> palette(character_.skin.slots.size());
  skinningMatrices(character_.skin, model, palette);
  for (const std::uint32_t v : vertices_) {
    double y = 0;
    for (const Influence& i : character_.skin[v])
      y += static_cast<double>(i.weight * (palette[i.slot] * mesh.positions[v]).y());
    lowest = std::min(lowest, y);
  }
  return lowest;
}

void groundMotion(const Character& character, const RetargetOutcome& outcome, Clip& clip) {
  if (!outcome.carrier || outcome.clearance_m.empty() || character.mesh.vertexCount() == 0) return;
  const auto track = std::find_if(clip.tracks.begin(), clip.tracks.end(), [&](const Track& t) {
    return t.channel == Channel::Translation && t.joint == *outcome.carrier;
  });
  if (track == clip.tracks.end() || track->times_s.size() != outcome.clearance_m.size()) return;
  const BodyFloor body(character);
  const Pose rest = character.restPose();
  const std::vector<Affine3d> model = restModelMatrices(character.skeleton);
  const double floor = body.lowestIn(rest);
  const double touching =
      kTouching * std::abs(model[outcome.carrier->index()].translation().y() - floor);
  const JointId parent = character.skeleton[*outcome.carrier].parent;
  bool invertible = true;
  const Affine3d to_parent = parent.valid() ? inverseOrIdentity(model[parent.index()], invertible)
                                            : Affine3d(Affine3d::Identity());
  const Vec3d up = to_parent.linear() * Vec3d::UnitY();
  std::vector<double> lift;
  for (std::size_t k = 0; k < track->times_s.size(); ++k) {
    Pose pose = rest;
    sampleClip(clip, track->times_s[k], pose);
    const double wanted = std::max(0.0, static_cast<double>(outcome.clearance_m[k]) - touching);
    lift.push_back(floor + wanted - body.lowestIn(pose));
  }
  for (std::size_t k = 0; k < lift.size(); ++k)
    for (int i = 0; i < 3; ++i)
      track->values[3 * k + static_cast<std::size_t>(i)] += static_cast<float>(lift[k] * up[i]);
}

}  // namespace derm
