#include "derm/implicit/level_set_exchange.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "implicit/edge_index.h"
#include "implicit/sign_flood.h"

namespace derm {
namespace {

Error badLevelSet(std::string message) {
  return Error{ErrorCode::BadData, std::move(message), {.element = "level set"}};
}

/// Whether the flood, which goes through the whole box of blocks, may be let loose on them: a file
/// of two blocks, one at either end of the lattice, would take all memory.
bool liesTogether(std::span<const BlockCoord> blocks) {
  constexpr double kAlways = 1 << 25, kPerBlock = 4096;  // [cells]
  BlockCoord low = blocks.front(), high = low;
  for (const BlockCoord& at : blocks) {
    low = {std::min(low.x, at.x), std::min(low.y, at.y), std::min(low.z, at.z)};
    high = {std::max(high.x, at.x), std::max(high.y, at.y), std::max(high.z, at.z)};
  }
  const double cells = (high.x - low.x + 3.0) * (high.y - low.y + 3.0) * (high.z - low.z + 3.0);
  return cells <= kAlways + kPerBlock * static_cast<double>(blocks.size());
}

}  // namespace

LevelSetBlocks levelSetOf(const Potential& potential) {
  LevelSetBlocks out;
  const BandGrid& grid = potential.grid;
  out.voxel_m = potential.voxel_m;
  out.origin = potential.origin;
  out.width = grid.width();
  std::vector<BandGrid::Words> outside(grid.slotCount());
  for (const std::uint32_t slot : grid.order()) {
    const BlockCoord& at = grid.coord(slot);
    out.blocks.push_back({at.x, at.y, at.z});
    out.values.insert(out.values.end(), grid.values(slot), grid.values(slot) + BandGrid::kNodes);
    for (std::size_t z = 0; z < 8; ++z) outside[slot][z] = ~grid.signs(slot)[z];
  }
  for (const BlockCoord& at : detail::SignFlood(grid, outside).dryBlocks())
    if (grid.slotAt(at) == BandGrid::kInside) out.inside.push_back({at.x, at.y, at.z});
  return out;
}

Result<Potential> potentialOf(const LevelSetBlocks& s) {
  if (!(s.voxel_m > 0) || !std::isfinite(s.voxel_m) || !s.origin.allFinite())
    return badLevelSet("voxel size or origin is not a positive, finite number");
  if (s.values.size() != BandGrid::kNodes * s.blocks.size())
    return badLevelSet("has not 512 values a block");
  Potential potential{s.voxel_m, s.origin, BandGrid(std::clamp(s.width, 2.0f, 6.0f))};
  BandGrid& grid = potential.grid;
  std::vector<BlockCoord> coords;
  for (const auto& b : s.blocks) {
    coords.push_back({b[0], b[1], b[2]});
    if (!coords.back().inRange()) return badLevelSet("lies beyond the lattice");
  }
  if (!coords.empty() && !liesTogether(coords))
    return badLevelSet("its parts lie too far apart for their size");
  grid.createBlocks(coords);
  std::vector<BandGrid::Words> outside(grid.slotCount());
  for (std::size_t b = 0; b < coords.size(); ++b) {
    const std::uint32_t slot = grid.slotAt(coords[b]);
    for (std::size_t i = 0; i < BandGrid::kNodes; ++i) {
      const float f = s.values[BandGrid::kNodes * b + i];
      if (!std::isfinite(f)) return badLevelSet("a distance is not a finite number");
      grid.values(slot)[i] = std::clamp(f, -grid.width(), grid.width());
    }
    grid.updateWords(slot);
    for (std::size_t z = 0; z < 8; ++z) outside[slot][z] = ~grid.signs(slot)[z];
  }
  grid.markInside(detail::SignFlood(grid, outside).dryBlocks());
  grid.fitToBand();
  detail::EdgeIndex index;
  index.build(grid);
  if (index.count() == 0) return badLevelSet("has no surface");
  return potential;
}

}  // namespace derm
