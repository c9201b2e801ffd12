#include "face/watershed.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "derm/base/bit_cast.h"
#include "derm/base/disjoint_sets.h"

namespace derm::detail {
namespace {

/// Pixels of the head, lowest value first, equal ones by index. Radix sort: three passes of 11
/// bits.
std::vector<std::uint32_t> inOrder(const Map& map, const std::vector<std::uint8_t>& inside) {
  struct Key {
    std::uint32_t value, pixel;
  };
  std::vector<Key> keys;
  keys.reserve(map.values.size());
  for (std::uint32_t i = 0; i < map.values.size(); ++i) {
    if (!inside[i]) continue;
    const auto bits = bitCast<std::uint32_t>(map.values[i]);
    // As unsigned numbers, floats have this order: negative ones reversed, before positive ones.
    keys.push_back({bits ^ ((bits >> 31) != 0 ? 0xFFFFFFFFu : 0x80000000u), i});
  }
  std::vector<Key> sorted(keys.size());
  constexpr unsigned kBits = 11, kBuckets = 1u << kBits;
  for (unsigned shift = 0; shift < 32; shift += kBits) {
    std::array<std::uint32_t, kBuckets> starts{};
    for (const Key& key : keys) ++starts[(key.value >> shift) % kBuckets];
    std::uint32_t sum = 0;
    for (std::uint32_t& start : starts) {
      const std::uint32_t count = start;
      start = sum;
      sum += count;
    }
    for (const Key& key : keys) sorted[starts[(key.value >> shift) % kBuckets]++] = key;
    keys.swap(sorted);
  }
  std::vector<std::uint32_t> out;
  out.reserve(keys.size());
  for (const Key& key : keys) out.push_back(key.pixel);
  return out;
}

double standardDeviation(const Map& map, const std::vector<std::uint8_t>& inside) {
  double sum = 0, squares = 0, count = 0;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (!inside[i]) continue;
    const double v = double(map.values[i]);
    sum += v;
    squares += v * v;
    ++count;
  }
  const double mean = sum / count;
  return std::sqrt(std::max(squares / count - mean * mean, 0.0));
}

/// Where the parabola through three neighbouring values has its end, [-0.5, 0.5].
double parabolaFoot(double before, double at, double after) {
  const double bend = before + after - 2 * at;
  return bend > 0 ? std::clamp(0.5 * (before - after) / bend, -0.5, 0.5) : 0;
}

Pixel subPixelFoot(const Map& map, std::uint32_t pixel) {
  const int x = int(pixel % std::uint32_t(map.size)), y = int(pixel / std::uint32_t(map.size));
  Pixel foot(x + 0.5, y + 0.5);
  if (x > 0 && y > 0 && x + 1 < map.size && y + 1 < map.size) {
    const auto value = [&](int i, int j) { return double(map.at(i, j)); };
    foot.x() += parabolaFoot(value(x - 1, y), value(x, y), value(x + 1, y));
    foot.y() += parabolaFoot(value(x, y - 1), value(x, y), value(x, y + 1));
  }
  return foot;
}

}  // namespace

std::uint32_t Basins::at(const Pixel& p) const {
  if (!(p.x() >= 0 && p.y() >= 0 && p.x() < size && p.y() < size)) return kNone;
  return basin_of_pixel[std::size_t(p.y()) * std::size_t(size) + std::size_t(p.x())];
}

Basins floodedBasins(const Map& map, const DepthMap& head, const BasinRules& rules) {
  const auto merge_depth =
      static_cast<float>(rules.merge_depth * standardDeviation(map, head.inside));
  Basins out;
  out.size = map.size;
  out.basin_of_pixel.assign(map.values.size(), Basins::kNone);
  // Basins are numbered as they are founded, lowest foot first, so the smallest number of a merged
  // set, its root, has the lowest foot.
  std::vector<std::uint32_t> feet;
  // Feet are no neighbours of each other.
  const std::size_t most = (std::size_t(map.size) + 1) / 2;
  DisjointSets sets(most * most);
  for (const std::uint32_t pixel : inOrder(map, head.inside)) {
    const int x = int(pixel % std::uint32_t(map.size)), y = int(pixel / std::uint32_t(map.size));
    std::array<std::uint32_t, 8> around{};
    std::size_t count = 0;
    std::uint32_t lowest = Basins::kNone;
    float lowest_value = 0;
    for (int j = std::max(y - 1, 0); j <= std::min(y + 1, map.size - 1); ++j)
      for (int i = std::max(x - 1, 0); i <= std::min(x + 1, map.size - 1); ++i) {
        const std::uint32_t basin = out.basin_of_pixel[map.index(i, j)];
        if (basin == Basins::kNone) continue;
        if (lowest == Basins::kNone || map.at(i, j) < lowest_value) {
          lowest = basin;
          lowest_value = map.at(i, j);
        }
        around[count++] = basin;
      }
    if (count == 0) {
      out.basin_of_pixel[pixel] = static_cast<std::uint32_t>(feet.size());
      feet.push_back(pixel);
      continue;
    }
    out.basin_of_pixel[pixel] = lowest;
    for (std::size_t k = 1; k < count; ++k) {
      const std::uint32_t a = sets.rootOf(around[0]), b = sets.rootOf(around[k]);
      if (a != b && map.values[pixel] - map.values[feet[std::max(a, b)]] < merge_depth)
        sets.unite(a, b);
    }
  }
  for (std::uint32_t& basin : out.basin_of_pixel)
    if (basin != Basins::kNone) basin = sets.rootOf(basin);
  for (std::uint32_t basin = 0; basin < feet.size(); ++basin) {
    if (sets.rootOf(basin) != basin) continue;
    if (double(head.rim_distance.values[feet[basin]]) < rules.min_rim_px) continue;
    const Seed seed{subPixelFoot(map, feet[basin]), basin};
    const bool crowded = std::any_of(out.seeds.begin(), out.seeds.end(), [&](const Seed& other) {
      return (other.position - seed.position).norm() < rules.min_spacing_px;
    });
    if (!crowded) out.seeds.push_back(seed);
  }
  return out;
}

Map laplacian(const Map& depth, int h) {
  const Map smooth = blurred(depth, 0.5 * h);
  const int n = depth.size;
  Map out(n, 0);
  const float factor = 1.0f / static_cast<float>(h * h);
  for (int y = 0; y < n; ++y) {
    const int up = std::max(y - h, 0), down = std::min(y + h, n - 1);
    for (int x = 0; x < n; ++x)
      out.at(x, y) =
          factor * (smooth.at(std::max(x - h, 0), y) + smooth.at(std::min(x + h, n - 1), y) +
                    smooth.at(x, up) + smooth.at(x, down) - 4 * smooth.at(x, y));
  }
  return out;
}

namespace {

Map transposed(const Map& map) {
  Map out(map.size, 0);
  for (int y = 0; y < map.size; ++y)
    for (int x = 0; x < map.size; ++x) out.at(y, x) = map.at(x, y);
  return out;
}

/// Across horizontal lines.
Map symmetryAcrossRows(const Map& depth, int r, bool absolute) {
  const int n = depth.size;
  Map out(n, 0);
  std::vector<double> column(std::size_t(n) + 1);  // sums over j, then over x from the left
  for (int y = 0; y < n; ++y) {
    std::fill(column.begin(), column.end(), 0.0);
    for (int j = 1; j <= r; ++j) {
      const int below = std::min(y + j, n - 1), above = std::max(y - j, 0);
      for (int x = 0; x < n; ++x) {
        const double difference = double(depth.at(x, below)) - double(depth.at(x, above));
        column[std::size_t(x) + 1] += absolute ? std::abs(difference) : difference;
      }
    }
    for (int x = 0; x < n; ++x) column[std::size_t(x) + 1] += column[std::size_t(x)];
    for (int x = 0; x < n; ++x)
      out.at(x, y) = static_cast<float>(column[std::size_t(std::min(x + r + 1, n))] -
                                        column[std::size_t(std::max(x - r, 0))]);
  }
  return out;
}

}  // namespace

Map symmetry(const Map& depth, int r, bool absolute) {
  Map out = symmetryAcrossRows(depth, r, absolute);
  const Map across_columns = transposed(symmetryAcrossRows(transposed(depth), r, absolute));
  for (std::size_t i = 0; i < out.values.size(); ++i) out.values[i] += across_columns.values[i];
  return out;
}

}  // namespace derm::detail
