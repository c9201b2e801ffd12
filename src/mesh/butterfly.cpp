#include "derm/mesh/butterfly.h"

#include <cmath>
#include <cstring>
#include <numbers>

#include "derm/base/assert.h"

namespace derm {
namespace {

/// Four floats that the compiler keeps in one register: the kernels below are bound by loads, and
/// one load per point instead of three is what makes them fast. The fourth is the next slot's; a
/// store spoils that one, which is written next.
using Float4 [[gnu::vector_size(16)]] = float;

Float4 load(const float* slot) {
  Float4 out;
  std::memcpy(&out, slot, sizeof out);
  return out;
}

void store(const Float4& value, float* slot) { std::memcpy(slot, &value, sizeof value); }

}  // namespace

std::vector<double> butterflyRing(int k) {
  DERM_REQUIRE(k >= 3);
  if (k == 3) return {5.0 / 12, -1.0 / 12, -1.0 / 12};
  if (k == 4) return {3.0 / 8, 0, -1.0 / 8, 0};
  std::vector<double> s;
  for (int j = 0; j < k; ++j) {
    const double turn = 2 * std::numbers::pi * j / k;
    s.push_back((0.25 + std::cos(turn) + 0.5 * std::cos(2 * turn)) / k);
  }
  return s;
}

ButterflyStencils::ButterflyStencils(std::vector<std::uint32_t> sources, std::vector<Level> levels,
                                     std::vector<Regular> regular, std::vector<General> general,
                                     std::vector<StencilEntry> entries)
    : sources_(std::move(sources)),
      levels_(std::move(levels)),
      regular_(std::move(regular)),
      general_(std::move(general)),
      entries_(std::move(entries)),
      slot_count_(sources_.size() + regular_.size() + general_.size()) {}

void ButterflyStencils::gather(std::span<const Vec3f> values,
                               std::span<Vec3f> slots) const noexcept {
  DERM_REQUIRE(slots.size() == slot_count_ + 1);
  for (std::size_t i = 0; i < sources_.size(); ++i) slots[i] = values[sources_[i]];
}

void ButterflyStencils::evaluate(float smoothing, std::span<Vec3f> slots) const noexcept {
  DERM_REQUIRE(slots.size() == slot_count_ + 1);
  const Float4 half = {0.5f, 0.5f, 0.5f, 0.5f};
  const float w = 0.0625f * smoothing;
  const Float4 wing = {w, w, w, w};
  const Float4 scale = {smoothing, smoothing, smoothing, smoothing};
  float* const values = slots.data()->data();
  const auto at = [values](std::uint32_t slot) { return load(values + 3 * std::size_t{slot}); };
  for (const Level& level : levels_) {
    float* out = values + 3 * std::size_t{level.first_slot};
    const Regular* const rows = regular_.data() + level.first_regular;
    for (std::uint32_t i = 0; i < level.regular_count; ++i, out += 3) {
      const Regular& r = rows[i];
      const Float4 sides = at(r.c) + at(r.d);
      const Float4 wings = (at(r.e) + at(r.f)) + (at(r.g) + at(r.h));
      store(half * (at(r.a) + at(r.b)) + wing * ((sides + sides) - wings), out);
    }
    for (std::uint32_t i = 0; i < level.general_count; ++i, out += 3) {
      const General& g = general_[level.first_general + i];
      Float4 sum = {0, 0, 0, 0};
      for (std::uint32_t e = g.first; e < g.first + g.count; ++e) {
        const float weight = entries_[e].weight;
        sum += Float4{weight, weight, weight, weight} * at(entries_[e].slot);
      }
      store(half * (at(g.a) + at(g.b)) + scale * sum, out);
    }
  }
}

}  // namespace derm
