#include "derm/implicit/band_grid.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <type_traits>

#include "derm/base/assert.h"
#include "derm/base/parallel.h"

namespace derm {
namespace {

constexpr std::uint64_t kFirstColumn = 0x0101010101010101ull;  // x = 0 of every row
constexpr std::uint64_t kFirstRow = 0xFF;                      // y = 0
constexpr std::size_t kGridBlocksPerChunk = 64;

BlockCoord offset(const BlockCoord& at, int n) {
  return {at.x + n % 3 - 1, at.y + n / 3 % 3 - 1, at.z + n / 9 - 1};
}

/// Which of the 27 blocks around a block its band touches: bit 13 + dx + 3 dy + 9 dz.
std::uint32_t touchedBlocks(const BandGrid::Words& active) {
  std::uint64_t any = 0;
  for (const std::uint64_t w : active) any |= w;
  if (any == 0) return 0;
  const auto nine = [](std::uint64_t w) {  // the same for one layer of nine blocks
    const std::uint64_t low = w & kFirstRow, high = w >> 56;
    const auto three = [](std::uint64_t row) {
      return static_cast<std::uint32_t>((row & kFirstColumn) != 0) |
             static_cast<std::uint32_t>(row != 0) << 1 |
             static_cast<std::uint32_t>((row & kFirstColumn << 7) != 0) << 2;
    };
    return three(low) | three(w) << 3 | three(high) << 6;
  };
  return nine(active.front()) | nine(any) << 9 | nine(active.back()) << 18;
}

}  // namespace

BandGrid::BandGrid(float width) : width_(width) {
  DERM_REQUIRE(width >= 2.0f && width <= 6.0f);
  clear();
}

void BandGrid::clear() {
  map_.clear();
  order_.clear();
  free_slots_.clear();
  coords_.assign(kFirstLive, {});
  values_.assign(kFirstLive * kNodes, -width_);
  std::fill(values_.begin() + kNodes, values_.end(), width_);
  signs_.assign(kFirstLive, Words{});
  signs_[kInside].fill(~std::uint64_t{0});
  active_.assign(kFirstLive, Words{});
  neighbours_.assign(kFirstLive, {});
  neighbours_[kInside].fill(kInside);
  wants_.assign(kFirstLive, 0);
}

/// Vectors left to themselves would double, and a band takes most of a skin's memory.
void BandGrid::reserveSlots(std::size_t more) {
  if (more <= free_slots_.size()) return;
  const std::size_t wanted = coords_.size() + more - free_slots_.size();
  if (wanted <= coords_.capacity()) return;
  const std::size_t room = std::max(wanted, coords_.size() + coords_.size() / 8);
  coords_.reserve(room);
  values_.reserve(room * kNodes);
  signs_.reserve(room);
  active_.reserve(room);
  neighbours_.reserve(room);
  wants_.reserve(room);
}

std::uint32_t BandGrid::takeSlot(const BlockCoord& at, std::uint32_t region) {
  std::uint32_t slot = 0;
  if (free_slots_.empty()) {
    slot = static_cast<std::uint32_t>(coords_.size());
    coords_.emplace_back();
    values_.resize(values_.size() + kNodes);
    signs_.emplace_back();
    active_.emplace_back();
    neighbours_.emplace_back();
    wants_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  coords_[slot] = at;
  std::fill_n(values(slot), kNodes, region == kInside ? width_ : -width_);
  signs_[slot] = signs_[region];
  active_[slot] = Words{};
  wants_[slot] = 0;
  map_.set(at, slot);
  return slot;
}

void BandGrid::connect(std::uint32_t slot) {
  for (int n = 0; n < 27; ++n) {
    const std::uint32_t other = n == 13 ? slot : map_.find(offset(coords_[slot], n));
    neighbours_[slot][static_cast<std::size_t>(n)] = other;
    if (isLive(other)) neighbours_[other][static_cast<std::size_t>(26 - n)] = slot;
  }
}

void BandGrid::createBlocks(std::span<const BlockCoord> wanted) {
  std::vector<BlockCoord> fresh;
  for (const BlockCoord& at : wanted)
    if (at.inRange() && !isLive(map_.find(at))) fresh.push_back(at);
  const auto before = [](const BlockCoord& a, const BlockCoord& b) { return a.key() < b.key(); };
  std::sort(fresh.begin(), fresh.end(), before);
  fresh.erase(std::unique(fresh.begin(), fresh.end()), fresh.end());
  if (fresh.empty()) return;
  const std::size_t old = order_.size();
  reserveSlots(fresh.size());
  for (const BlockCoord& at : fresh) order_.push_back(takeSlot(at, map_.find(at)));
  for (std::size_t i = old; i < order_.size(); ++i) connect(order_[i]);
  std::inplace_merge(
      order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(old), order_.end(),
      [&](std::uint32_t a, std::uint32_t b) { return coords_[a].key() < coords_[b].key(); });
}

void BandGrid::markInside(std::span<const BlockCoord> coords) {
  for (const BlockCoord& at : coords) {
    if (!at.inRange() || isLive(map_.find(at))) continue;
    map_.set(at, kInside);
    for (int n = 0; n < 27; ++n) {
      const std::uint32_t other = map_.find(offset(at, n));
      if (isLive(other)) neighbours_[other][static_cast<std::size_t>(26 - n)] = kInside;
    }
  }
}

void BandGrid::updateWords(std::uint32_t slot) {
  const float* f = values(slot);
  const float limit = activeLimit();
  for (int z = 0; z < kSide; ++z) {
    std::uint64_t sign = 0, live = 0;
    for (int i = 0; i < 64; ++i, ++f) {
      sign |= static_cast<std::uint64_t>(*f > 0) << i;
      live |= static_cast<std::uint64_t>(std::abs(*f) < limit) << i;
    }
    signs_[slot][static_cast<std::size_t>(z)] = sign;
    active_[slot][static_cast<std::size_t>(z)] = live;
  }
}

void BandGrid::collectWanted(std::vector<BlockCoord>& wanted) const {
  for (const std::uint32_t slot : order_) {
    std::uint32_t missing = wants_[slot];
    for (; missing != 0; missing &= missing - 1) {
      const int n = std::countr_zero(missing);
      if (!isLive(neighbours_[slot][static_cast<std::size_t>(n)]))
        wanted.push_back(offset(coords_[slot], n));
    }
  }
}

bool BandGrid::removeEmptyBlocks() {
  const auto isEmpty = [&](std::uint32_t slot) {
    if (wants_[slot] != 0) return false;
    for (std::size_t n = 0; n < 27; ++n)
      if (wants_[neighbours_[slot][n]] >> (26 - n) & 1) return false;
    return true;
  };
  std::vector<std::uint32_t> gone;
  for (const std::uint32_t slot : order_)
    if (isEmpty(slot)) gone.push_back(slot);
  if (gone.empty()) return false;
  for (const std::uint32_t slot : gone) {
    // A block without band has one sign: whatever separates signs is active.
    const std::uint32_t region = signs_[slot][0] & 1 ? kInside : kOutside;
    if (region == kInside)
      map_.set(coords_[slot], kInside);
    else
      map_.erase(coords_[slot]);
    for (std::size_t n = 0; n < 27; ++n) {
      const std::uint32_t other = neighbours_[slot][n];
      if (isLive(other)) neighbours_[other][26 - n] = region;
    }
    active_[slot] = Words{};
  }
  std::erase_if(order_, [&](std::uint32_t slot) {
    return std::binary_search(
        gone.begin(), gone.end(), slot,
        [&](std::uint32_t a, std::uint32_t b) { return coords_[a].key() < coords_[b].key(); });
  });
  free_slots_.insert(free_slots_.end(), gone.rbegin(), gone.rend());
  return true;
}

bool BandGrid::fitToBand() {
  parallelFor(order_.size(), kGridBlocksPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) wants_[order_[i]] = touchedBlocks(active_[order_[i]]);
  });
  std::vector<BlockCoord> wanted;
  collectWanted(wanted);
  createBlocks(wanted);
  const bool shrank = removeEmptyBlocks();
  return shrank || !wanted.empty();
}

bool BandGrid::scattered() const {
  std::size_t follow = 0;
  for (std::size_t i = 1; i < order_.size(); ++i) follow += order_[i] == order_[i - 1] + 1;
  return 4 * follow < 3 * order_.size() && order_.size() > 1;
}

std::vector<std::uint32_t> BandGrid::compact() {
  std::vector<std::uint32_t> was = {kOutside, kInside};
  was.insert(was.end(), order_.begin(), order_.end());
  std::vector<std::uint32_t> now(slotCount(), kOutside);
  for (std::size_t slot = 0; slot < was.size(); ++slot)
    now[was[slot]] = static_cast<std::uint32_t>(slot);
  // A band that moves makes blocks before it gives others up.
  const std::size_t room = was.size() + was.size() / 16 + 8;
  const auto renumber = [&](auto& list, std::size_t each) {
    std::decay_t<decltype(list)> fresh;
    fresh.reserve(room * each);
    for (const std::uint32_t slot : was) {
      const auto from = list.begin() + static_cast<std::ptrdiff_t>(slot * each);
      fresh.insert(fresh.end(), from, from + static_cast<std::ptrdiff_t>(each));
    }
    list.swap(fresh);
  };
  renumber(values_, kNodes);
  renumber(coords_, 1);
  renumber(signs_, 1);
  renumber(active_, 1);
  renumber(neighbours_, 1);
  renumber(wants_, 1);
  for (auto& around : neighbours_)
    for (std::uint32_t& slot : around) slot = now[slot];
  std::iota(order_.begin(), order_.end(), kFirstLive);
  for (const std::uint32_t slot : order_) map_.set(coords_[slot], slot);
  free_slots_.clear();
  return was;
}

std::size_t BandGrid::activeCount() const {
  std::size_t count = 0;
  for (const std::uint32_t slot : order_)
    for (const std::uint64_t w : active_[slot]) count += static_cast<std::size_t>(std::popcount(w));
  return count;
}

std::size_t BandGrid::bytesPerBlock() {
  return kNodes * sizeof(float) + 2 * sizeof(Words) + sizeof(BlockCoord) +
         28 * sizeof(std::uint32_t) + sizeof(std::uint32_t);
}

std::size_t BandGrid::memoryBytes() const {
  return values_.capacity() * sizeof(float) +
         (signs_.capacity() + active_.capacity()) * sizeof(Words) +
         coords_.capacity() * sizeof(BlockCoord) + neighbours_.capacity() * sizeof(neighbours_[0]) +
         map_.memoryBytes() +
         (order_.capacity() + free_slots_.capacity() + wants_.capacity()) * sizeof(std::uint32_t);
}

}  // namespace derm
