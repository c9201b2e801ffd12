#include "derm/weights/bone_segments.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "derm/mesh/triangle_tree.h"

namespace derm {
namespace {

constexpr std::uint32_t kNone = BoneSegment::kNone;
/// Share of the skeleton's and mesh's size below which two positions are one.
constexpr double kSamePosition = 1e-6;
/// Surface beyond an end joint, relative to its distance from it, below which the joint only marks
/// the end of the bone above.
constexpr double kEndMark = 0.5;
/// Share of the surface beyond an end joint that its bone goes through.
constexpr double kEndReach = 0.75;

/// The bones as a forest of their own, other joints passed over.
struct BoneForest {
  std::vector<Vec3d> position;
  std::vector<std::uint32_t> depth;
  std::vector<std::uint32_t> parent;                 ///< slot, or kNone
  std::vector<std::vector<std::uint32_t>> children;  ///< slots
  double same_position = 0;                          ///< [m]

  bool apart(const Vec3d& a, const Vec3d& b) const { return (a - b).norm() > same_position; }
};

std::vector<std::uint32_t> slotOfJoint(const Skeleton& skeleton, std::span<const JointId> bones) {
  std::vector<std::uint32_t> slot(skeleton.size(), kNone);
  for (std::size_t b = 0; b < bones.size(); ++b) {
    DERM_REQUIRE(bones[b].valid() && bones[b].index() < skeleton.size());
    DERM_REQUIRE(slot[bones[b].index()] == kNone);
    slot[bones[b].index()] = static_cast<std::uint32_t>(b);
  }
  return slot;
}

std::uint32_t depthOf(const Skeleton& skeleton, JointId joint) {
  std::uint32_t depth = 0;
  for (JointId j = skeleton[joint].parent; j.valid(); j = skeleton[j].parent) ++depth;
  return depth;
}

BoneForest boneForest(const Skeleton& skeleton, std::span<const JointId> bones,
                      std::span<const Affine3d> bind_model, std::span<const Vec3f> positions) {
  const std::vector<std::uint32_t> slot = slotOfJoint(skeleton, bones);
  BoneForest out;
  out.children.resize(bones.size());
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Vec3d low = Vec3d::Constant(kInfinity), high = Vec3d::Constant(-kInfinity);
  const auto enclose = [&](const Vec3d& p) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  };
  for (std::size_t b = 0; b < bones.size(); ++b) {
    out.position.push_back(bind_model[bones[b].index()].translation());
    out.depth.push_back(depthOf(skeleton, bones[b]));
    JointId above = skeleton[bones[b]].parent;
    while (above.valid() && slot[above.index()] == kNone) above = skeleton[above].parent;
    out.parent.push_back(above.valid() ? slot[above.index()] : kNone);
    enclose(out.position.back());
  }
  for (std::uint32_t b = 0; b < bones.size(); ++b)
    if (out.parent[b] != kNone) out.children[out.parent[b]].push_back(b);
  for (const Vec3f& p : positions) enclose(p.cast<double>());
  if (!bones.empty()) out.same_position = kSamePosition * (high - low).norm();
  return out;
}

/// The nearest bone above that lies at another position, which therefore ends where `slot` begins.
std::uint32_t boneBefore(const BoneForest& forest, std::uint32_t slot) {
  std::uint32_t above = forest.parent[slot];
  while (above != kNone && !forest.apart(forest.position[above], forest.position[slot]))
    above = forest.parent[above];
  return above;
}

/// How the surface goes on beyond a joint at which a chain ends.
struct Beyond {
  std::uint32_t slot = 0;
  Vec3d direction = Vec3d::Zero();  ///< unit
  double farthest = 0;              ///< [m] along the direction
  double distance_sum = 0;          ///< [m]
  std::size_t count = 0;

  bool endMark() const {
    return count == 0 || farthest < kEndMark * distance_sum / static_cast<double>(count);
  }
};

double squaredDistance(const Vec3d& p, const BoneSegment& s) {
  return (s.from + closestOnSegment(p, s.from, s.to) * (s.to - s.from) - p).squaredNorm();
}

/// Looks at the vertices that no bone is nearer to than the end joint.
void measureBeyond(const BoneForest& forest, std::span<const BoneSegment> segments,
                   std::span<const Vec3f> positions, std::span<Beyond> ends) {
  if (ends.empty()) return;
  for (const Vec3f& position : positions) {
    const Vec3d p = position.cast<double>();
    double nearest = std::numeric_limits<double>::infinity();
    for (const BoneSegment& s : segments) nearest = std::min(nearest, squaredDistance(p, s));
    for (const Beyond& e : ends)
      nearest = std::min(nearest, (forest.position[e.slot] - p).squaredNorm());
    for (Beyond& e : ends) {
      const Vec3d away = p - forest.position[e.slot];
      const double squared = away.squaredNorm();
      const double along = away.dot(e.direction);
      // The bone above ends here too and is as near, up to rounding.
      if (squared > nearest * (1 + 1e-9) || !(along > 0)) continue;
      e.farthest = std::max(e.farthest, along);
      e.distance_sum += std::sqrt(squared);
      ++e.count;
    }
  }
}

/// Drops points at the end of a segment; what is left keeps its order.
void dropHiddenPoints(const BoneForest& forest, std::span<const JointId> bones,
                      std::vector<BoneSegment>& segments, Diagnostics& notes) {
  std::vector<BoneSegment> kept;
  kept.reserve(segments.size());
  for (const BoneSegment& s : segments) {
    const bool hidden =
        s.isPoint() && std::any_of(segments.begin(), segments.end(), [&](const BoneSegment& o) {
          return !o.isPoint() && (!forest.apart(o.from, s.from) || !forest.apart(o.to, s.from));
        });
    if (hidden)
      notes.info("bone-without-length", "bones",
                 "bone without length at the end of another one gets no skin",
                 bones[s.slot].index());
    else
      kept.push_back(s);
  }
  segments = std::move(kept);
}

}  // namespace

std::vector<BoneSegment> boneSegments(const Skeleton& skeleton, std::span<const JointId> bones,
                                      std::span<const Affine3d> bind_model,
                                      std::span<const Vec3f> positions, Diagnostics& notes) {
  DERM_REQUIRE(bind_model.size() == skeleton.size());
  const BoneForest forest = boneForest(skeleton, bones, bind_model, positions);
  std::vector<std::vector<Vec3d>> end_joints(bones.size());
  const std::vector<std::uint32_t> slot = slotOfJoint(skeleton, bones);
  for (std::size_t j = 0; j < skeleton.size(); ++j) {
    const JointId parent = skeleton.joints[j].parent;
    if (parent.valid() && slot[parent.index()] != kNone)
      end_joints[slot[parent.index()]].push_back(bind_model[j].translation());
  }
  std::vector<BoneSegment> segments;
  std::vector<Beyond> ends;
  for (std::uint32_t b = 0; b < bones.size(); ++b) {
    BoneSegment s{.slot = b, .from = forest.position[b], .depth = forest.depth[b]};
    s.before = boneBefore(forest, b);
    const std::size_t first = segments.size();
    const auto reachTo = [&](const Vec3d& position, std::uint32_t after) {
      if (!forest.apart(position, s.from)) return;
      s.to = position;
      s.after = after;
      segments.push_back(s);
    };
    for (const std::uint32_t c : forest.children[b]) reachTo(forest.position[c], c);
    if (forest.children[b].empty())
      for (const Vec3d& position : end_joints[b]) reachTo(position, kNone);
    if (segments.size() > first) continue;
    if (forest.children[b].empty() && s.before != kNone) {
      const Vec3d direction = (s.from - forest.position[s.before]).normalized();
      ends.push_back({.slot = b, .direction = direction});
    } else {
      s.to = s.from;
      segments.push_back(s);
    }
  }
  measureBeyond(forest, segments, positions, ends);
  for (const Beyond& e : ends) {
    BoneSegment s{.slot = e.slot, .from = forest.position[e.slot], .depth = forest.depth[e.slot]};
    s.before = boneBefore(forest, e.slot);
    s.to = e.endMark() ? s.from : Vec3d(s.from + kEndReach * e.farthest * e.direction);
    segments.push_back(s);
  }
  dropHiddenPoints(forest, bones, segments, notes);
  // A blend towards a bone that was left out would go nowhere.
  std::vector<bool> there(bones.size(), false);
  for (const BoneSegment& s : segments) there[s.slot] = true;
  const auto descend = [&](std::uint32_t at) {
    while (at != kNone && !there[at])
      at = forest.children[at].empty() ? kNone : forest.children[at].front();
    return at;
  };
  for (BoneSegment& s : segments) s.after = descend(s.after);
  std::stable_sort(segments.begin(), segments.end(),
                   [](const BoneSegment& a, const BoneSegment& b) { return a.slot < b.slot; });
  return segments;
}

std::vector<BoneSegment> bonePoints(const Skeleton& skeleton, std::span<const JointId> bones,
                                    std::span<const Affine3d> bind_model) {
  DERM_REQUIRE(bind_model.size() == skeleton.size());
  std::vector<BoneSegment> out;
  for (std::uint32_t b = 0; b < bones.size(); ++b) {
    const Vec3d position = bind_model[bones[b].index()].translation();
    out.push_back(
        {.slot = b, .from = position, .to = position, .depth = depthOf(skeleton, bones[b])});
  }
  return out;
}

}  // namespace derm
