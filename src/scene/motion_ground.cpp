#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <optional>
#include <span>
#include <utility>
#include <vector>

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

std::vector<std::size_t> BodyFloor::outlineOf(JointId joint) const {
  std::vector<std::size_t> out;
  if (!character_.hasSkin()) return out;
  const Skeleton& skeleton = character_.skeleton;
  std::vector<bool> inside(skeleton.size(), false);
  for (std::size_t j = joint.index(); j < skeleton.size(); ++j) {
    const JointId parent = skeleton.joints[j].parent;
    inside[j] = j == joint.index() || (parent.valid() && inside[parent.index()]);
  }
  for (std::size_t i = 0; i < vertices_.size(); ++i) {
    const std::uint32_t slot = character_.skin[vertices_[i]].front().slot;
    if (inside[character_.skin.slots[slot].joint.index()]) out.push_back(i);
  }
  return out;
}

namespace {

/// [m/s] how fast some points slide over the floor: those that are lowest, as a foot that stands on
/// its toes slides by what they do. Nothing where they are further than `reach` above the floor.
std::optional<Vec3d> slideBetween(const std::vector<Vec3f>& before, const std::vector<Vec3f>& after,
                                  std::span<const std::size_t> points, double floor, double reach,
                                  double dt_s) {
  constexpr double kBand = 0.25;  // of the reach: what counts above the lowest point
  double low = std::numeric_limits<double>::infinity();
  const auto heightOf = [&](std::size_t i) {
    return static_cast<double>(std::max(before[i].y(), after[i].y()));
  };
  for (const std::size_t i : points) low = std::min(low, heightOf(i));
  if (!(low < floor + reach)) return std::nullopt;
  Vec3d sum = Vec3d::Zero();
  double weights = 0;
  for (const std::size_t i : points) {
    const double near = std::max(0.0, 1 - (heightOf(i) - low) / (kBand * reach));
    sum += near * near * (after[i] - before[i]).cast<double>();
    weights += near * near;
  }
  sum.y() = 0;
  return Vec3d(sum / (weights * dt_s));
}

/// [m/s] from key to key: how fast the body would have to go besides; a weight of 0 where nothing
/// says.
struct Velocities {
  std::vector<Vec3d> velocity;
  std::vector<double> weight;
};

/// What all stances ask for. They set in and end over a few keys, so that one foot takes over from
/// the other.
Velocities wantedByStances(const Character& character, const BodyFloor& body,
                           std::span<const Stance> stances, const Clip& clip,
                           std::span<const float> times_s, double floor, double reach) {
  constexpr double kSetsIn_s = 0.05;
  Velocities out{.velocity = std::vector<Vec3d>(times_s.size() - 1, Vec3d::Zero()),
                 .weight = std::vector<double>(times_s.size() - 1, 0.0)};
  std::map<JointId, std::vector<std::size_t>> points;
  for (const Stance& s : stances)
    if (!points.contains(s.joint)) points[s.joint] = body.outlineOf(s.joint);
  const auto outlineAt = [&](std::size_t key) {
    Pose pose = character.restPose();
    sampleClip(clip, times_s[key], pose);
    return body.outlineIn(pose);
  };
  std::vector<Vec3f> before = outlineAt(0), after;
  for (std::size_t k = 0; k + 1 < times_s.size(); ++k, before.swap(after)) {
    after = outlineAt(k + 1);
    const double dt_s = static_cast<double>(times_s[k + 1] - times_s[k]);
    for (const Stance& s : stances) {
      if (k < s.first || k >= s.last) continue;
      const std::optional<Vec3d> slide =
          slideBetween(before, after, points[s.joint], floor, reach, dt_s);
      if (!slide) continue;
      const double from_end = static_cast<double>(
          std::min(times_s[k + 1] - times_s[s.first], times_s[s.last] - times_s[k]));
      const double weight = std::min(1.0, from_end / kSetsIn_s);
      out.velocity[k] -= weight * *slide;
      out.weight[k] += weight;
    }
    if (out.weight[k] > 0) out.velocity[k] /= out.weight[k];
  }
  return out;
}

/// Between stances the velocity goes from the one to the other; far from any there is none.
void bridgeFlights(std::span<const float> times_s, Velocities& v) {
  constexpr double kFar_s = 0.5;
  const std::size_t n = v.velocity.size();
  std::vector<std::size_t> next(n, n);
  for (std::size_t k = n; k-- > 0;) next[k] = v.weight[k] > 0 ? k : (k + 1 < n ? next[k + 1] : n);
  std::size_t last = n;
  for (std::size_t k = 0; k < n; ++k) {
    if (v.weight[k] > 0) {
      last = k;
      continue;
    }
    const auto share = [&](std::size_t from) {
      if (from == n) return 0.0;
      const double away_s = std::abs(static_cast<double>(times_s[k] - times_s[from]));
      return std::max(0.0, 1 - away_s / kFar_s);
    };
    const double a = share(last), b = share(next[k]);
    const double gap =
        last == n || next[k] == n ? 0 : static_cast<double>(times_s[next[k]] - times_s[last]);
    const double t =
        gap > 0 ? static_cast<double>(times_s[k] - times_s[last]) / gap : (last == n ? 1.0 : 0.0);
    if (a > 0) v.velocity[k] += (1 - t) * a * v.velocity[last];
    if (b > 0) v.velocity[k] += t * b * v.velocity[next[k]];
  }
}

/// How far [m] the body goes on at each key so that what stands stays where it is.
std::vector<Vec3d> stridesThatFit(const Character& character, const BodyFloor& body,
                                  std::span<const Stance> stances, const Clip& clip,
                                  std::span<const float> times_s, double floor, double reach) {
  if (stances.empty() || times_s.size() < 2) return {};
  Velocities v = wantedByStances(character, body, stances, clip, times_s, floor, reach);
  bridgeFlights(times_s, v);
  std::vector<Vec3d> out = {Vec3d::Zero()};
  for (std::size_t k = 0; k < v.velocity.size(); ++k)
    out.push_back(out.back() + static_cast<double>(times_s[k + 1] - times_s[k]) * v.velocity[k]);
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
  Pose rest = character.restPose();
  if (std::vector<Transform> bind = bindReference(character.skeleton, character.skin);
      !bind.empty())
    rest.local = std::move(bind);  // the pose that the motion was made for
  std::vector<Affine3d> model(character.skeleton.size());
  localToModel(character.skeleton, rest.local, model);
  const double floor = body.lowestIn(rest);
  const JointId hips = outcome.hips.value_or(*outcome.carrier);
  const double touching = kTouching * std::abs(model[hips.index()].translation().y() - floor);
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
  const std::vector<Vec3d> strides =
      stridesThatFit(character, body, outcome.stances, clip, track->times_s, floor, 2 * touching);
  for (std::size_t k = 0; k < strides.size(); ++k) move(k, to_parent.linear() * strides[k]);
}

}  // namespace derm
