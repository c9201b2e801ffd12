#include "derm/mesh/butterfly.h"

#include <cmath>
#include <cstring>
#include <numbers>

#include "derm/base/assert.h"

namespace derm {
namespace {

/// Four floats that the compiler keeps in one register: the kernels below are bound by loads, and
/// one load per point instead of three is what makes them fast.
using Float4 [[gnu::vector_size(16)]] = float;

Float4 load(const Vec4f* slot) {
  Float4 out;
  std::memcpy(&out, slot->data(), sizeof out);
  return out;
}

void store(const Float4& value, Vec4f* slot) { std::memcpy(slot->data(), &value, sizeof value); }

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
                               std::span<Vec4f> slots) const noexcept {
  DERM_REQUIRE(slots.size() == slot_count_);
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const Vec3f& v = values[sources_[i]];
    slots[i] = Vec4f(v.x(), v.y(), v.z(), 0);
  }
}

void ButterflyStencils::evaluate(float smoothing, std::span<Vec4f> slots) const noexcept {
  DERM_REQUIRE(slots.size() == slot_count_);
  const Float4 half = {0.5f, 0.5f, 0.5f, 0.5f};
  const float w = 0.0625f * smoothing;
  const Float4 wing = {w, w, w, w};
  const Float4 scale = {smoothing, smoothing, smoothing, smoothing};
  Vec4f* const at = slots.data();
  for (const Level& level : levels_) {
    Vec4f* out = at + level.first_slot;
    const Regular* const rows = regular_.data() + level.first_regular;
    for (std::uint32_t i = 0; i < level.regular_count; ++i) {
      const Regular& r = rows[i];
      const Float4 sides = load(at + r.c) + load(at + r.d);
      const Float4 wings = (load(at + r.e) + load(at + r.f)) + (load(at + r.g) + load(at + r.h));
      store(half * (load(at + r.a) + load(at + r.b)) + wing * ((sides + sides) - wings), out++);
    }
    for (std::uint32_t i = 0; i < level.general_count; ++i) {
      const General& g = general_[level.first_general + i];
      Float4 sum = {0, 0, 0, 0};
      for (std::uint32_t e = g.first; e < g.first + g.count; ++e) {
        const float weight = entries_[e].weight;
        sum += Float4{weight, weight, weight, weight} * load(at + entries_[e].slot);
      }
      store(half * (load(at + g.a) + load(at + g.b)) + scale * sum, out++);
    }
  }
}

}  // namespace derm
