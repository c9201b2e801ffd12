#pragma once

#include <cstdint>
#include <vector>

#include "derm/base/progress.h"
#include "derm/base/result.h"

#include "weights/welded_surface.h"

/// Private to room weights: which bones each welded vertex of the surface sees.
namespace derm::detail {

/// The bones each welded vertex follows first of all; every welded vertex has at least one.
struct BoneSources {
  std::vector<std::vector<std::uint32_t>> slots;  ///< equally near ones (to 1e-4), sorted
  std::vector<double> distance;                   ///< to them
  /// 1 where no near bone is in sight, so that the nearest is followed unseen, as if it were
  /// farther away. (Not bool: threads write neighbours.)
  std::vector<std::uint8_t> unseen;
};

/// See autoWeights for what counts as seen. Needs at least one bone. O(welded vertices * (bones +
/// sight lines * log triangles)).
Result<BoneSources> findBoneSources(const WeldedSurface& surface, const Progress& progress);

}  // namespace derm::detail
