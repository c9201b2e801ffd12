#include "derm/mesh/weld.h"

#include <algorithm>
#include <numeric>

namespace derm {
namespace {

bool lessByPlace(const Vec3f& a, const Vec3f& b) {
  if (a.x() != b.x()) return a.x() < b.x();
  if (a.y() != b.y()) return a.y() < b.y();
  return a.z() < b.z();
}

}  // namespace

std::vector<std::uint32_t> weldMap(std::span<const Vec3f> positions, float tolerance_m) {
  std::vector<std::uint32_t> order(positions.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (lessByPlace(positions[a], positions[b])) return true;
    if (lessByPlace(positions[b], positions[a])) return false;
    return a < b;
  });
  std::vector<std::uint32_t> map(positions.size());
  std::iota(map.begin(), map.end(), 0u);
  const auto rootOf = [&](std::uint32_t v) {
    while (map[v] != v) v = map[v] = map[map[v]];
    return v;
  };
  const auto join = [&](std::uint32_t a, std::uint32_t b) {
    a = rootOf(a);
    b = rootOf(b);
    map[std::max(a, b)] = std::min(a, b);
  };
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Vec3f& here = positions[order[i]];
    // Sorted by x: only what lies within the tolerance in x can be near. With tolerance 0 equal
    // places are neighbours in the order, so looking at the next one is enough.
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      const Vec3f& there = positions[order[j]];
      if (there.x() - here.x() > tolerance_m) break;
      if ((there - here).squaredNorm() <= tolerance_m * tolerance_m) join(order[i], order[j]);
      if (tolerance_m == 0.0f) break;
    }
  }
  for (std::uint32_t v = 0; v < map.size(); ++v) map[v] = rootOf(v);
  return map;
}

std::size_t weldedCount(std::span<const std::uint32_t> map) {
  std::size_t count = 0;
  for (std::size_t v = 0; v < map.size(); ++v) count += map[v] == v;
  return count;
}

}  // namespace derm
