#pragma once

#include <cstdint>
#include <vector>

#include "face/depth_map.h"

/// Private to room face: basins of a map, and the descriptors whose basins are of interest.
namespace derm::detail {

/// The foot of a basin.
struct Seed {
  Pixel position = Pixel::Zero();  ///< sub-pixel
  std::uint32_t basin = 0;
};

struct Basins {
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

  int size = 0;
  std::vector<std::uint32_t> basin_of_pixel;  ///< kNone outside the head
  std::vector<Seed> seeds;                    ///< the deepest first

  std::uint32_t at(const Pixel& p) const;
};

struct BasinRules {
  double merge_depth = 0.02;  ///< of the map's standard deviation: shallower basins join the deeper
  double min_rim_px = 8;      ///< nearer to the silhouette there are no seeds
  double min_spacing_px = 6;  ///< of two seeds that are nearer the deeper one stays
};

/// Floods a map in the order of its values (Beucher and Lantuejoul 1979): a pixel without flooded
/// neighbours founds a basin, others join the lowest. Of two basins that meet, one that is
/// shallower than the rule says becomes part of the other. O(pixels).
Basins floodedBasins(const Map& map, const DepthMap& head, const BasinRules& rules);

/// Dutreve 2011, eq. 3.20 with step h, after a blur of h/2.
Map laplacian(const Map& depth, int h);
/// Eq. 3.21 in both directions: differences across a line, summed over boxes (2r+1) x r beside it.
/// As printed, signed, it is a smoothed slope; `absolute` sums magnitudes, which are small only
/// where the line is an axis of symmetry.
Map symmetry(const Map& depth, int r, bool absolute);

}  // namespace derm::detail
