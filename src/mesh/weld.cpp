#include "derm/mesh/weld.h"

#include <algorithm>
#include <numeric>

namespace derm {
namespace {

bool lessByPosition(const Vec3f& a, const Vec3f& b) {
  if (a.x() != b.x()) return a.x() < b.x();
  if (a.y() != b.y()) return a.y() < b.y();
  return a.z() < b.z();
}

}  // namespace

std::vector<std::uint32_t> weldMap(std::span<const Vec3f> positions) {
  std::vector<std::uint32_t> order(positions.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (lessByPosition(positions[a], positions[b])) return true;
    if (lessByPosition(positions[b], positions[a])) return false;
    return a < b;
  });
  std::vector<std::uint32_t> map(positions.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool same = i > 0 && positions[order[i]] == positions[order[i - 1]];
    map[order[i]] = same ? map[order[i - 1]] : order[i];
  }
  return map;
}

std::size_t weldedCount(std::span<const std::uint32_t> map) {
  std::size_t count = 0;
  for (std::size_t v = 0; v < map.size(); ++v) count += map[v] == v;
  return count;
}

}  // namespace derm
