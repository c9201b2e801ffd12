#include "implicit/sign_flood.h"

#include <algorithm>

#include "implicit/edge_index.h"

namespace derm::detail {

SignFlood::SignFlood(const BandGrid& grid, const std::vector<BandGrid::Words>& open)
    : grid_(grid), open_(open), reached_(grid.slotCount()) {
  if (grid.order().empty()) return;
  low_ = high_ = grid.coord(grid.order().front());
  for (const std::uint32_t slot : grid.order()) {
    const BlockCoord& c = grid.coord(slot);
    low_ = {std::min(low_.x, c.x), std::min(low_.y, c.y), std::min(low_.z, c.z)};
    high_ = {std::max(high_.x, c.x), std::max(high_.y, c.y), std::max(high_.z, c.z)};
  }
  low_ = {low_.x - 1, low_.y - 1, low_.z - 1};
  high_ = {high_.x + 1, high_.y + 1, high_.z + 1};
  size_[0] = static_cast<std::size_t>(high_.x - low_.x + 1);
  size_[1] = static_cast<std::size_t>(high_.y - low_.y + 1);
  size_[2] = static_cast<std::size_t>(high_.z - low_.z + 1);
  wet_.assign(size_[0] * size_[1] * size_[2], 0);
  queued_.assign(wet_.size(), 0);
  BandGrid::Words all;
  all.fill(~std::uint64_t{0});
  enter(low_, all);
  while (!queue_.empty()) {
    const BlockCoord at = queue_.back();
    queue_.pop_back();
    queued_[cell(at)] = 0;
    spreadFrom(at);
  }
}

bool SignFlood::holds(const BlockCoord& c) const {
  return c.x >= low_.x && c.x <= high_.x && c.y >= low_.y && c.y <= high_.y && c.z >= low_.z &&
         c.z <= high_.z;
}

void SignFlood::enter(const BlockCoord& at, const BandGrid::Words& from) {
  if (!holds(at)) return;
  const std::uint32_t slot = grid_.slotAt(at);
  bool fresh = false;
  if (slot == BandGrid::kInside) return;
  if (!grid_.isLive(slot)) {
    const bool any = std::any_of(from.begin(), from.end(), [](std::uint64_t w) { return w != 0; });
    fresh = any && wet_[cell(at)] == 0;
    if (any) wet_[cell(at)] = 1;
  } else {
    for (std::size_t z = 0; z < 8; ++z) {
      const std::uint64_t added = from[z] & open_[slot][z] & ~reached_[slot][z];
      reached_[slot][z] |= added;
      fresh |= added != 0;
    }
  }
  if (fresh && queued_[cell(at)] == 0) {
    queued_[cell(at)] = 1;
    queue_.push_back(at);
  }
}

void SignFlood::spreadWithin(std::uint32_t slot) {
  BandGrid::Words& r = reached_[slot];
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t z = 0; z < 8; ++z) {
      const std::uint64_t w = r[z];
      std::uint64_t wide = w | (w & ~kColumn7) << 1 | (w & ~kColumn0) >> 1 | w << 8 | w >> 8;
      if (z > 0) wide |= r[z - 1];
      if (z < 7) wide |= r[z + 1];
      wide &= open_[slot][z];
      changed |= (wide & ~w) != 0;
      r[z] |= wide;
    }
  }
}

void SignFlood::spreadFrom(const BlockCoord& at) {
  const std::uint32_t slot = grid_.slotAt(at);
  BandGrid::Words w;
  w.fill(~std::uint64_t{0});
  if (grid_.isLive(slot)) {
    spreadWithin(slot);
    w = reached_[slot];
  }
  BandGrid::Words left{}, right{}, below{}, above{}, behind{}, front{};
  for (std::size_t z = 0; z < 8; ++z) {
    left[z] = (w[z] & kColumn0) << 7;
    right[z] = (w[z] & kColumn7) >> 7;
    below[z] = w[z] << 56;
    above[z] = w[z] >> 56;
  }
  behind[7] = w[0];
  front[0] = w[7];
  enter({at.x - 1, at.y, at.z}, left);
  enter({at.x + 1, at.y, at.z}, right);
  enter({at.x, at.y - 1, at.z}, below);
  enter({at.x, at.y + 1, at.z}, above);
  enter({at.x, at.y, at.z - 1}, behind);
  enter({at.x, at.y, at.z + 1}, front);
}

std::vector<BlockCoord> SignFlood::dryBlocks() const {
  std::vector<BlockCoord> dry;
  for (std::int32_t z = low_.z; z <= high_.z; ++z)
    for (std::int32_t y = low_.y; y <= high_.y; ++y)
      for (std::int32_t x = low_.x; x <= high_.x; ++x) {
        const BlockCoord at{x, y, z};
        if (wet_[cell(at)] == 0 && !grid_.isLive(grid_.slotAt(at))) dry.push_back(at);
      }
  return dry;
}

}  // namespace derm::detail
