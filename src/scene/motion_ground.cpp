#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

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

std::vector<Vec3f> BodyFloor::outlineIn(const Pose& pose) const {
  std::vector<Vec3f> out;
  out.reserve(vertices_.size());
  const TriMesh& mesh = character_.mesh;
  if (!character_.hasSkin()) {
    for (const std::uint32_t v : vertices_) out.push_back(mesh.positions[v]);
    return out;
  }
  std::vector<Affine3d> model(character_.skeleton.size());
  localToModel(character_.skeleton, pose.local, model);
  std::vector<Affine3f> palette(character_.skin.slots.size());
  skinningMatrices(character_.skin, model, palette);
  for (const std::uint32_t v : vertices_) {
    Vec3f p = Vec3f::Zero();
    for (const Influence& i : character_.skin[v])
      p += i.weight * (palette[i.slot] * mesh.positions[v]);
    out.push_back(p);
  }
  return out;
}

double BodyFloor::lowestIn(const Pose& pose) const {
  double lowest = std::numeric_limits<double>::infinity();
  for (const Vec3f& p : outlineIn(pose)) lowest = std::min(lowest, static_cast<double>(p.y()));
  return lowest;
}

namespace {

/// [m/s] how fast what touches the floor slides between two keys, and how surely something touches.
struct Slide {
  Vec3d velocity = Vec3d::Zero();
  double sure = 0;  ///< [0,1]
};

/// Points that are nearest to the floor count most, and those that hardly move: a toe that is
/// dragged over the floor beside a foot that stands is not what the body stands on.
Slide slideBetween(std::span<const Vec3f> before, std::span<const Vec3f> after, double floor,
                   double touching, double height, double dt_s) {
  constexpr double kStanding = 0.15;  // heights a second
  constexpr double kFew = 0.5;        // points: less is nearly nothing
  Vec3d sum = Vec3d::Zero();
  double weights = 0, touch = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double a = 1 - (static_cast<double>(before[i].y()) - floor) / touching;
    const double b = 1 - (static_cast<double>(after[i].y()) - floor) / touching;
    if (!(a > 0 && b > 0)) continue;
    Vec3d velocity = (after[i] - before[i]).cast<double>() / dt_s;
    velocity.y() = 0;
    const double fast = velocity.squaredNorm() / std::pow(kStanding * height, 2);
    const double near = std::min(a, 1.5) * std::min(b, 1.5);
    const double w = near * near / std::pow(1 + fast, 2);
    sum += w * velocity;
    weights += w;
    touch += near * near;
  }
  if (!(weights > 0)) return {};
  return {.velocity = sum / weights, .sure = touch / (touch + kFew)};
}

/// How far [m] the body goes on at each key so that what touches the floor stays where it is; none
/// for a motion on the spot.
std::vector<Vec3d> stridesThatFit(const Character& character, const BodyFloor& body,
                                  const Clip& clip, std::span<const float> times_s, double floor,
                                  double touching, double height) {
  constexpr double kOnTheSpot = 0.5;  // heights a second: no misfit of legs is as fast
  if (times_s.size() < 2) return {};
  std::vector<Vec3d> velocity;
  std::vector<Vec3f> before;
  double slid = 0, sure = 0;
  for (std::size_t k = 0; k < times_s.size(); ++k) {
    Pose pose = character.restPose();
    sampleClip(clip, times_s[k], pose);
    std::vector<Vec3f> now = body.outlineIn(pose);
    const double dt_s = k == 0 ? 0 : static_cast<double>(times_s[k] - times_s[k - 1]);
    if (dt_s > 0) {
      const Slide slide = slideBetween(before, now, floor, touching, height, dt_s);
      velocity.push_back(-slide.sure * slide.velocity);
      slid += slide.sure * slide.velocity.norm() * dt_s;
      sure += slide.sure * dt_s;
    } else if (k > 0) {
      velocity.push_back(Vec3d::Zero());
    }
    before = std::move(now);
  }
  if (slid > kOnTheSpot * height * sure) return {};
  std::vector<Vec3d> out = {Vec3d::Zero()};
  for (std::size_t k = 0; k < velocity.size(); ++k) {
    // Evened out with both neighbours: a foot is not put down from one key to the next.
    const Vec3d& left = velocity[k > 0 ? k - 1 : k];
    const Vec3d& right = velocity[std::min(k + 1, velocity.size() - 1)];
    const double dt_s = static_cast<double>(times_s[k + 1] - times_s[k]);
    out.push_back(out.back() + dt_s * (left + 2 * velocity[k] + right) / 4);
  }
  return out;
}

}  // namespace

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
  const auto move = [&](std::size_t key, const Vec3d& by) {
    for (int i = 0; i < 3; ++i)
      track->values[3 * key + static_cast<std::size_t>(i)] += static_cast<float>(by[i]);
  };
  for (std::size_t k = 0; k < lift.size(); ++k) move(k, lift[k] * up);
  const double height = std::abs(model[outcome.carrier->index()].translation().y() - floor);
  const std::vector<Vec3d> strides =
      stridesThatFit(character, body, clip, track->times_s, floor, touching, height);
  for (std::size_t k = 0; k < strides.size(); ++k) move(k, to_parent.linear() * strides[k]);
}

}  // namespace derm
