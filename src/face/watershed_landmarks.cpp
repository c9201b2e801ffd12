#include "derm/face/watershed_landmarks.h"

#include <array>
#include <cmath>
#include <string>

#include "derm/math/rbf.h"

#include "face/depth_map.h"
#include "face/depth_matches.h"
#include "face/watershed.h"

namespace derm {
namespace {

using detail::depth::Basins;
using detail::depth::DepthMap;
using detail::depth::Map;
using detail::depth::Pixel;
using detail::depth::Seed;

/// A feature that is nearer to one already matched, on either head, adds nothing but noise [px].
constexpr double kNewFeature = 6;

/// Points of one picture and the same ones of the other.
struct PixelPairs {
  std::vector<Pixel> source, target;

  void add(const Pixel& s, const Pixel& t) {
    source.push_back(s);
    target.push_back(t);
  }
  bool covers(const Pixel& s, const Pixel& t) const {
    for (std::size_t i = 0; i < source.size(); ++i)
      if ((source[i] - s).norm() < kNewFeature || (target[i] - t).norm() < kNewFeature) return true;
    return false;
  }
};

/// Corners and middles of the sides of the bounds.
PixelPairs boundsPairs(const DepthMap& source, const DepthMap& target) {
  PixelPairs out;
  for (const double v : {0.0, 0.5, 1.0})
    for (const double u : {0.0, 0.5, 1.0}) {
      if (u == 0.5 && v == 0.5) continue;
      const auto at = [&](const DepthMap& map) {
        return Pixel(map.low + (map.high - map.low).cwiseProduct(Pixel(u, v)));
      };
      out.add(at(source), at(target));
    }
  return out;
}

Map describe(const Map& depth, const WatershedStep& step) {
  switch (step.descriptor) {
    case DepthDescriptor::Gaussian:
      return detail::depth::blurred(depth, step.size_px);
    case DepthDescriptor::Laplacian:
      return detail::depth::laplacian(depth, step.size_px);
    case DepthDescriptor::SignedSymmetry:
      return detail::depth::symmetry(depth, step.size_px, false);
    case DepthDescriptor::AbsoluteSymmetry:
      return detail::depth::symmetry(depth, step.size_px, true);
  }
  return depth;
}

Map negative(Map map) {
  for (float& v : map.values) v = -v;
  return map;
}

/// Eq. 3.22: pairs of seeds that fall into each other's basins. A pixel lies in one basin and a
/// basin has one seed, so no seed is in two pairs.
PixelPairs mutualPairs(const Basins& source, const Basins& target, const RbfMap22& forward,
                       const RbfMap22& backward, double max_distance) {
  std::vector<const Seed*> seed_of_basin(target.basin_of_pixel.size(), nullptr);
  for (const Seed& seed : target.seeds) seed_of_basin[seed.basin] = &seed;
  std::vector<bool> taken(target.basin_of_pixel.size(), false);
  PixelPairs out;
  for (const Seed& seed : source.seeds) {
    const Pixel mapped = forward.evaluate(seed.position);
    const std::uint32_t basin = target.at(mapped);
    if (basin == Basins::kNone || seed_of_basin[basin] == nullptr) continue;
    const Seed& other = *seed_of_basin[basin];
    if (source.at(backward.evaluate(other.position)) != seed.basin) continue;
    DERM_ASSERT(!taken[basin]);
    taken[basin] = true;
    if (max_distance > 0 && (mapped - other.position).norm() > max_distance) continue;
    out.add(seed.position, other.position);
  }
  return out;
}

Result<void> validate(const WatershedDesc& desc) {
  const auto bad = [](const std::string& name, const char* message) {
    return Error{ErrorCode::BadArgument, message, {.element = "watershed." + name}};
  };
  if (desc.map_size_px < 64 || desc.map_size_px > 2048)
    return bad("map_size_px", "must be within 64 to 2048");
  if (!(desc.max_distance_px >= 0) || !std::isfinite(desc.max_distance_px))
    return bad("max_distance_px", "must be finite and not negative");
  if (!(desc.merge_depth >= 0) || !std::isfinite(desc.merge_depth))
    return bad("merge_depth", "must be finite and not negative");
  for (std::size_t i = 0; i < desc.steps.size(); ++i)
    if (desc.steps[i].size_px < 1 || desc.steps[i].size_px > 64)
      return bad("steps[" + std::to_string(i) + "].size_px", "must be within 1 to 64");
  return {};
}

Result<RbfMap22> mapBetween(const std::vector<Pixel>& from, const std::vector<Pixel>& to) {
  Diagnostics merged;  // features at one position are no news to the caller
  return RbfMap22::bind(from, to, {}, merged);
}

}  // namespace

Result<std::vector<LandmarkMatch>> matchByWatershed(const TriMesh& source,
                                                    std::span<const LabelledPoint> source_points,
                                                    const TriMesh& target,
                                                    const WatershedDesc& desc, Diagnostics& notes,
                                                    std::vector<WatershedView>* seen) {
  DERM_CHECK(validate(desc));
  DERM_CHECK(detail::depth::checkHeads(source, source_points, target));
  DERM_TRY(const DepthMap from, detail::depth::drawDepth(source, desc.map_size_px));
  DERM_TRY(const DepthMap to, detail::depth::drawDepth(target, desc.map_size_px));

  const detail::depth::BasinRules rules{.merge_depth = desc.merge_depth};
  PixelPairs pairs = boundsPairs(from, to);
  for (const WatershedStep& step : desc.steps) {
    DERM_TRY(const RbfMap22 forward, mapBetween(pairs.source, pairs.target));
    DERM_TRY(const RbfMap22 backward, mapBetween(pairs.target, pairs.source));
    const Map source_map = describe(from.depth, step), target_map = describe(to.depth, step);
    for (const bool maxima : {false, true}) {
      const auto basins = [&](const Map& map, const DepthMap& head) {
        return detail::depth::floodedBasins(maxima ? negative(map) : map, head, rules);
      };
      const Basins source_basins = basins(source_map, from);
      const PixelPairs found = mutualPairs(source_basins, basins(target_map, to), forward, backward,
                                           desc.max_distance_px);
      const std::size_t before = pairs.source.size();
      for (std::size_t i = 0; i < found.source.size(); ++i)
        if (!pairs.covers(found.source[i], found.target[i]))
          pairs.add(found.source[i], found.target[i]);
      if (seen == nullptr) continue;
      WatershedView view{.step = step,
                         .maxima = maxima,
                         .size_px = from.size(),
                         .depth = from.depth.values,
                         .descriptor = source_map.values,
                         .basins = source_basins.basin_of_pixel};
      for (const Seed& seed : source_basins.seeds) view.seeds.emplace_back(seed.position);
      for (std::size_t i = before; i < pairs.source.size(); ++i)
        view.kept.emplace_back(pairs.source[i]);
      seen->push_back(std::move(view));
    }
  }
  if (pairs.source.size() == 8)
    notes.warn("watershed-no-features", "heads",
               "no feature of one head was found on the other; points follow the heads' bounds");
  DERM_TRY(const RbfMap22 map, mapBetween(pairs.source, pairs.target));
  return detail::depth::matchesUnder(source, source_points, from, target, to,
                                     [&](const Pixel& p) { return map.evaluate(p); });
}

}  // namespace derm
