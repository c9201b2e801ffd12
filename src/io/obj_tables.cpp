#include "io/obj_tables.h"

#include "derm/base/assert.h"
#include "derm/base/hash.h"

namespace derm::detail::obj {

CornerTable::CornerTable(std::size_t position_count)
    : first_(position_count), hash_table_(64, kNone) {}

std::size_t CornerTable::slotOf(const Corner& corner) const {
  Hash64 hash;
  hash.add((std::uint64_t{corner.position} << 32) | corner.uv);
  hash.add(corner.normal);
  const std::size_t mask = hash_table_.size() - 1;
  std::size_t slot = hash.value() & mask;
  while (hash_table_[slot] != kNone && !(doubled_[hash_table_[slot]] == corner))
    slot = (slot + 1) & mask;
  return slot;
}

void CornerTable::grow() {
  hash_table_.assign(2 * hash_table_.size(), kNone);
  for (std::uint32_t i = 0; i < doubled_.size(); ++i) hash_table_[slotOf(doubled_[i])] = i;
}

std::uint32_t CornerTable::vertexOf(const Corner& corner) {
  DERM_ASSERT(corner.position < first_.size());
  Attributes& first = first_[corner.position];
  if (first.uv == kUnused) {
    first = {corner.uv, corner.normal};
    return corner.position;
  }
  const auto fits = [](std::uint32_t have, std::uint32_t want) {
    return have == want || have == kNone || want == kNone;
  };
  if (fits(first.uv, corner.uv) && fits(first.normal, corner.normal)) {
    if (first.uv == kNone) first.uv = corner.uv;
    if (first.normal == kNone) first.normal = corner.normal;
    return corner.position;
  }
  std::size_t slot = slotOf(corner);
  if (hash_table_[slot] == kNone) {
    if (2 * (doubled_.size() + 1) > hash_table_.size()) {
      grow();
      slot = slotOf(corner);
    }
    hash_table_[slot] = static_cast<std::uint32_t>(doubled_.size());
    doubled_.push_back(corner);
  }
  return static_cast<std::uint32_t>(first_.size() + hash_table_[slot]);
}

bool CornerTable::used(std::uint32_t vertex) const {
  return vertex >= first_.size() || first_[vertex].uv != kUnused;
}

Corner CornerTable::corner(std::uint32_t vertex) const {
  if (vertex >= first_.size()) return doubled_[vertex - first_.size()];
  if (first_[vertex].uv == kUnused) return {vertex, kNone, kNone};
  return {vertex, first_[vertex].uv, first_[vertex].normal};
}

std::size_t NameTable::slotOf(std::string_view name) const {
  Hash64 hash;
  hash.addBytes(name.data(), name.size());
  const std::size_t mask = hash_table_.size() - 1;
  std::size_t slot = hash.value() & mask;
  while (hash_table_[slot] != kNone && names_[hash_table_[slot]] != name) slot = (slot + 1) & mask;
  return slot;
}

std::optional<std::uint32_t> NameTable::number(std::string_view name, std::size_t max_names) {
  if (2 * (names_.size() + 1) > hash_table_.size()) {
    hash_table_.assign(hash_table_.empty() ? 64 : 2 * hash_table_.size(), kNone);
    for (std::uint32_t i = 0; i < names_.size(); ++i) hash_table_[slotOf(names_[i])] = i;
  }
  const std::size_t slot = slotOf(name);
  if (hash_table_[slot] == kNone) {
    if (names_.size() >= max_names) return std::nullopt;
    hash_table_[slot] = static_cast<std::uint32_t>(names_.size());
    names_.push_back(name);
  }
  return hash_table_[slot];
}

}  // namespace derm::detail::obj
