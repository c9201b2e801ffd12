#include "derm/implicit/block_map.h"

#include <algorithm>

#include "derm/base/assert.h"

namespace derm {

std::size_t BlockMap::home(std::uint64_t key) const {
  return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ull) >> 32) & (keys_.size() - 1);
}

std::uint32_t BlockMap::find(const BlockCoord& at) const {
  if (keys_.empty()) return 0;
  const std::uint64_t key = at.key();
  for (std::size_t i = home(key);; i = (i + 1) & (keys_.size() - 1)) {
    if (values_[i] == 0) return 0;
    if (keys_[i] == key) return values_[i];
  }
}

void BlockMap::set(const BlockCoord& at, std::uint32_t value) {
  DERM_ASSERT(value != 0 && at.inRange());
  if (3 * (used_ + 1) > 2 * keys_.size()) grow();
  const std::uint64_t key = at.key();
  std::size_t i = home(key);
  while (values_[i] != 0 && keys_[i] != key) i = (i + 1) & (keys_.size() - 1);
  used_ += values_[i] == 0;
  keys_[i] = key;
  values_[i] = value;
}

void BlockMap::erase(const BlockCoord& at) {
  if (keys_.empty()) return;
  const std::size_t mask = keys_.size() - 1;
  const std::uint64_t key = at.key();
  std::size_t hole = home(key);
  while (values_[hole] != 0 && keys_[hole] != key) hole = (hole + 1) & mask;
  if (values_[hole] == 0) return;
  --used_;
  // Entries behind the hole that could not be reached past it any more move up.
  for (std::size_t i = (hole + 1) & mask; values_[i] != 0; i = (i + 1) & mask) {
    if (((i - home(keys_[i])) & mask) < ((i - hole) & mask)) continue;
    keys_[hole] = keys_[i];
    values_[hole] = values_[i];
    hole = i;
  }
  values_[hole] = 0;
}

void BlockMap::clear() {
  std::fill(values_.begin(), values_.end(), 0);
  used_ = 0;
}

void BlockMap::grow() {
  std::vector<std::uint64_t> keys(std::max<std::size_t>(64, 2 * keys_.size()));
  std::vector<std::uint32_t> values(keys.size(), 0);
  keys_.swap(keys);
  values_.swap(values);
  for (std::size_t k = 0; k < keys.size(); ++k) {
    if (values[k] == 0) continue;
    std::size_t i = home(keys[k]);
    while (values_[i] != 0) i = (i + 1) & (keys_.size() - 1);
    keys_[i] = keys[k];
    values_[i] = values[k];
  }
}

}  // namespace derm
