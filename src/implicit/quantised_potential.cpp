#include "derm/implicit/quantised_potential.h"

#include <algorithm>
#include <cmath>

#include "derm/base/rng.h"
#include "derm/implicit/level_set_exchange.h"

namespace derm {
namespace {

constexpr float kMax = 32767;

std::int16_t stored(float value, float per_unit, float noise) {
  const float units = std::clamp(std::round(value * per_unit + noise), -kMax, kMax);
  // Noise and rounding must not move a node to the other side.
  return static_cast<std::int16_t>(value > 0 ? std::max(units, 1.0f) : std::min(units, -1.0f));
}

}  // namespace

QuantisedPotential quantised(const Potential& potential, std::uint64_t dither_seed) {
  LevelSetBlocks level_set = levelSetOf(potential);
  QuantisedPotential out;
  out.voxel_m = level_set.voxel_m;
  out.origin = level_set.origin;
  out.width = level_set.width;
  out.blocks = std::move(level_set.blocks);
  out.inside = std::move(level_set.inside);
  out.values.resize(level_set.values.size());
  const float per_unit = kMax / level_set.width;
  const float limit = potential.grid.activeLimit();
  Rng rng(dither_seed);
  for (std::size_t i = 0; i < out.values.size(); ++i) {
    const float value = level_set.values[i];
    const bool noisy = dither_seed != 0 && std::abs(value) < limit;
    out.values[i] = stored(value, per_unit, noisy ? static_cast<float>(rng.uniform() - 0.5) : 0.0f);
  }
  return out;
}

Result<Potential> dequantised(const QuantisedPotential& quantised) {
  LevelSetBlocks level_set{
      quantised.voxel_m, quantised.origin, quantised.width, quantised.blocks, {}, {}};
  level_set.inside = quantised.inside;
  level_set.values.resize(quantised.values.size());
  const float unit = quantised.width / kMax;
  std::transform(quantised.values.begin(), quantised.values.end(), level_set.values.begin(),
                 [&](std::int16_t v) { return unit * static_cast<float>(v); });
  return potentialOf(level_set);
}

}  // namespace derm
