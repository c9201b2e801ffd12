#include <algorithm>
#include <cmath>
#include <limits>

#include "derm/base/parallel.h"
#include "derm/mesh/triangle_tree.h"

#include "weights/weight_methods.h"

namespace derm::detail {
namespace {

constexpr std::size_t kRowsPerChunk = 256;
/// Relative difference of distances that rounding can make.
constexpr double kTie = 1e-10;

double squaredDistance(const Vec3d& p, const BoneSegment& b) {
  return (b.from + closestOnSegment(p, b.from, b.to) * (b.to - b.from) - p).squaredNorm();
}

/// Of two equally near bones the one further down the skeleton: a vertex level with a joint goes
/// with what the joint moves.
bool winsTie(const BoneSegment& a, const BoneSegment& b) {
  return a.depth != b.depth ? a.depth > b.depth : a.slot < b.slot;
}

/// What the bone at one end of a blended bone takes: half at the end, nothing from `reach` on.
float neighbourShare(double share_from_end, double reach) {
  return static_cast<float>(0.5 * (1 - share_from_end / reach));
}

template <class PerVertex>
WeightRows rowByRow(const WeldedSurface& surface, const PerVertex& fill) {
  WeightRows rows(surface.size());
  parallelFor(rows.size(), kRowsPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) fill(surface.positions[i], rows[i]);
  });
  return rows;
}

}  // namespace

const BoneSegment& nearestBone(const WeldedSurface& surface, const Vec3d& p) {
  DERM_ASSERT(!surface.bones.empty());
  double min = squaredDistance(p, surface.bones.front());
  for (const BoneSegment& b : surface.bones) min = std::min(min, squaredDistance(p, b));
  const BoneSegment* best = nullptr;
  for (const BoneSegment& b : surface.bones)
    if (squaredDistance(p, b) <= min * (1 + kTie) && (best == nullptr || winsTie(b, *best)))
      best = &b;
  return *best;
}

WeightRows nearestRows(const WeldedSurface& surface) {
  return rowByRow(surface, [&](const Vec3d& p, std::vector<Influence>& row) {
    row.push_back({nearestBone(surface, p).slot, 1.0f});
  });
}

WeightRows linearRows(const WeldedSurface& surface, double blend_length) {
  return rowByRow(surface, [&](const Vec3d& p, std::vector<Influence>& row) {
    const BoneSegment& b = nearestBone(surface, p);
    const double t = closestOnSegment(p, b.from, b.to);
    const bool has_before = b.before != BoneSegment::kNone;
    const bool has_after = b.after != BoneSegment::kNone;
    const double reach = blend_length * (has_before && has_after ? 0.5 : 1.0);
    float own = 1.0f;
    if (b.isPoint()) {
      row.push_back({b.slot, own});
      return;
    }
    if (has_before && t < reach) {
      row.push_back({b.before, neighbourShare(t, reach)});
      own -= row.back().weight;
    }
    if (has_after && 1 - t < reach) {
      row.push_back({b.after, neighbourShare(1 - t, reach)});
      own -= row.back().weight;
    }
    row.push_back({b.slot, own});
  });
}

WeightRows inverseDistanceRows(const WeldedSurface& surface, double exponent, double min_weight) {
  return rowByRow(surface, [&](const Vec3d& p, std::vector<Influence>& row) {
    std::vector<double> squared(surface.slot_count, std::numeric_limits<double>::infinity());
    for (const BoneSegment& b : surface.bones)
      squared[b.slot] = std::min(squared[b.slot], squaredDistance(p, b));
    const double nearest = *std::min_element(squared.begin(), squared.end());
    for (std::uint32_t s = 0; s < squared.size(); ++s) {
      // Relative to the nearest bone, so that touching one is no division by zero.
      double weight = 1.0;
      if (squared[s] > nearest) weight = std::pow(nearest / squared[s], 0.5 * exponent);
      if (weight > 0 && weight >= min_weight) row.push_back({s, static_cast<float>(weight)});
    }
  });
}

}  // namespace derm::detail
