#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "face/slit_curves.h"

namespace derm::detail {

/// A place between two points of a margin.
struct MarginNode {
  std::uint32_t first = 0, second = 0;  ///< points of the welded mesh
  double share = 0;                     ///< [0,1] of the second
  double parameter = 0;                 ///< [0,1] along the slit
};

/// Where a margin is watched: at its own points, for between those it is straight; of very dense
/// ones at as many equal steps.
inline constexpr std::size_t kMostMarginNodes = 48;
std::vector<MarginNode> marginNodes(const SlitCurve& curve);

/// Where along a margin, as places `along` the slit, one is across from `at`.
struct AcrossSlit {
  std::size_t segment = 0;  ///< between the nodes of this number and the next
  double share = 0;         ///< [0,1] of the next
};
/// None where the margin does not go that far. Margins go forwards, but for folds at the corners.
inline std::optional<AcrossSlit> acrossSlit(std::span<const double> along, double at) noexcept {
  for (std::size_t i = 0; i + 1 < along.size(); ++i) {
    const double from = along[i], to = along[i + 1];
    if (from <= at && at <= to && from < to) return AcrossSlit{i, (at - from) / (to - from)};
  }
  return std::nullopt;
}

/// Next to the corners margins run into each other and fold as corners are pulled about; that is no
/// crossing.
inline bool farFromCorners(double parameter) {
  constexpr double kCorner = 1.0 / 12;
  return parameter >= kCorner && parameter <= 1 - kCorner;
}

}  // namespace derm::detail
