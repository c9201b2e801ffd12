#include <algorithm>
#include <cmath>

#include "implicit/active_skin_impl.h"

namespace derm {

std::size_t ActiveSkin::Impl::plantSeeds(const Target& target) {
  std::vector<TargetSeed> seeds;
  target.appendSeeds(seeds);
  std::erase_if(seeds, [](const TargetSeed& s) { return !s.position.allFinite(); });
  std::stable_sort(seeds.begin(), seeds.end(),
                   [](const TargetSeed& a, const TargetSeed& b) { return a.part < b.part; });
  const double h = potential.voxel_m;
  const double per_metre = target.slope() > 0 ? target.slope() : slope;
  const auto skinIsNear = [&](const TargetSeed& s) {
    return potential.valueAt(s.position) > -0.999 * h * double{potential.grid.width()};
  };
  const auto depthAt = [&](const Vec3d& seed) {  // [voxel]
    const double rise = sampledAt(target, seed) - target.iso();
    const double measured = per_metre > 0 ? per_metre : sampledGradient(target, seed, h).norm();
    return rise / (std::max(measured, 1e-12) * h);
  };
  std::size_t planted = 0;
  for (auto first = seeds.begin(); first != seeds.end();) {
    const auto last = std::find_if(first, seeds.end(),
                                   [&](const TargetSeed& s) { return s.part != first->part; });
    // A part that a skin has reached is filled by that skin.
    if (std::none_of(first, last, skinIsNear)) {
      const auto deep = std::find_if(
          first, last, [&](const TargetSeed& s) { return depthAt(s.position) >= law.birth_depth; });
      constexpr double kSmallest = 1.7, kLargest = 12;
      if (deep != last) {
        plantBall(deep->position, std::clamp(depthAt(deep->position), kSmallest, kLargest));
        ++planted;
      }
    }
    first = last;
  }
  return planted;
}

void ActiveSkin::Impl::plantBall(const Vec3d& centre, double radius_voxels) {
  BandGrid& grid = potential.grid;
  const Vec3d at = (centre - potential.origin) / potential.voxel_m;
  const double reach = radius_voxels + grid.width() + 1;
  if (!(at.cwiseAbs().maxCoeff() + reach < 8.0 * (BlockCoord::kLimit - 2))) return;
  const auto block = [](double v) { return static_cast<std::int32_t>(std::floor(v / 8)); };
  std::vector<BlockCoord> coords;
  for (std::int32_t z = block(at.z() - reach); z <= block(at.z() + reach); ++z)
    for (std::int32_t y = block(at.y() - reach); y <= block(at.y() + reach); ++y)
      for (std::int32_t x = block(at.x() - reach); x <= block(at.x() + reach); ++x)
        coords.push_back({x, y, z});
  grid.createBlocks(coords);
  const float w = grid.width();
  for (const BlockCoord& coord : coords) {
    const std::uint32_t slot = grid.slotAt(coord);
    if (!grid.isLive(slot)) continue;
    float* f = grid.values(slot);
    for (int i = 0; i < static_cast<int>(BandGrid::kNodes); ++i) {
      const Vec3d node(8 * coord.x + (i & 7), 8 * coord.y + (i >> 3 & 7), 8 * coord.z + (i >> 6));
      const float ball = static_cast<float>(radius_voxels - (node - at).norm());
      f[i] = std::max(f[i], std::clamp(ball, -w, w));
    }
    grid.updateWords(slot);
  }
  grid.fitToBand();
  quiet_steps = 0;
}

}  // namespace derm
