#include <algorithm>
#include <cmath>
#include <limits>

#include "derm/base/parallel.h"
#include "derm/mesh/geodesic.h"

#include "weights/weight_methods.h"

namespace derm::detail {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

Result<WeightRows> geodesicRows(const WeldedSurface& surface, const BoneSources& sources,
                                double exponent, double min_weight, const Progress& progress) {
  WeightRows rows(surface.size());
  const GeodesicSurface ways(surface.positions, surface.triangles);
  std::vector<std::vector<GeodesicSeed>> seeds(surface.slot_count);
  std::vector<double> nearest(surface.size(), kInfinity);
  for (std::uint32_t v = 0; v < surface.size(); ++v)
    for (const std::uint32_t slot : sources.slots[v])
      seeds[slot].push_back({v, std::max(sources.distance[v], kNearestHeat)});
  std::vector<std::uint32_t> used;
  for (std::uint32_t s = 0; s < surface.slot_count; ++s)
    if (!seeds[s].empty()) used.push_back(s);

  // Only what may count is kept: all distances would be welded vertices * bones numbers.
  struct Reached {
    std::uint32_t slot = 0;
    double distance = 0;
  };
  std::vector<std::vector<Reached>> reached(surface.size());
  constexpr std::size_t kBatch = 16;  // bones between two reports
  std::vector<std::vector<double>> found(kBatch);
  const double farthest = min_weight > 0 ? std::pow(min_weight, -1 / exponent) : kInfinity;
  for (std::size_t first = 0; first < used.size(); first += kBatch) {
    const double share = static_cast<double>(first) / static_cast<double>(used.size());
    if (!keepGoing(progress, 0.5 + 0.5 * share, "walking the surface"))
      return Error{ErrorCode::Cancelled, "cancelled", {}};
    const std::size_t count = std::min(kBatch, used.size() - first);
    parallelFor(count, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) found[i] = ways.distances(seeds[used[first + i]]);
    });
    parallelFor(surface.size(), 1024, [&](std::size_t begin, std::size_t end) {
      for (std::size_t v = begin; v < end; ++v)
        for (std::size_t i = 0; i < count; ++i) {
          const double d = found[i][v];
          nearest[v] = std::min(nearest[v], d);
          // Too far already for a share that counts; the final test is below.
          if (d < kInfinity && d <= farthest * nearest[v])
            reached[v].push_back({used[first + i], d});
        }
    });
  }
  parallelFor(surface.size(), 1024, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v)
      for (const Reached& r : reached[v]) {
        const double weight = std::pow(std::min(nearest[v] / r.distance, 1.0), exponent);
        if (weight > 0 && weight >= min_weight)
          rows[v].push_back({r.slot, static_cast<float>(weight)});
      }
  });
  return rows;
}

}  // namespace derm::detail
