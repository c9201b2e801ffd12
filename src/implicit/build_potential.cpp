#include "derm/implicit/build_potential.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "derm/base/parallel.h"

#include "implicit/band_stepper.h"

namespace derm {
namespace {

constexpr std::size_t kBuiltBlocksPerChunk = 8;
constexpr int kSweeps = 16;  // enough for slopes from 0.3 to 3

/// A box of blocks, upper end not included.
struct BlockRange {
  BlockCoord low, high;
  int longest() const { return std::max({high.x - low.x, high.y - low.y, high.z - low.z}); }
};

Error badTarget(std::string message) {
  return Error{ErrorCode::BadArgument, std::move(message), {.element = "target"}};
}

/// Finds the blocks that may hold surface, and those that are inside for certain.
class BlockSearch {
 public:
  BlockSearch(const Target& target, const PotentialDesc& desc) : target_(target), desc_(desc) {}

  Result<void> run(const BlockRange& all) {
    max_blocks_ = desc_.max_memory / skinBytesPerBlock();
    return visit(all);
  }
  std::vector<BlockCoord> surface;
  std::vector<BlockCoord> inside;

 private:
  Box3d boxOf(const BlockRange& r) const {
    const double side = 8 * desc_.voxel_m;
    const Box3d box{desc_.origin + side * Vec3d(r.low.x, r.low.y, r.low.z),
                    desc_.origin + side * Vec3d(r.high.x, r.high.y, r.high.z)};
    return box.grown((desc_.band_width + 2) * desc_.voxel_m);
  }

  Result<void> visit(const BlockRange& r) {
    const FieldRange range = target_.rangeIn(boxOf(r));
    if (range.high < target_.iso()) return {};
    const bool certain = range.low > target_.iso();
    if (certain || r.longest() == 1) return take(r, certain);
    const BlockCoord middle{(r.low.x + r.high.x + 1) >> 1, (r.low.y + r.high.y + 1) >> 1,
                            (r.low.z + r.high.z + 1) >> 1};
    for (int n = 0; n < 8; ++n) {
      BlockRange part = r;
      (n & 1 ? part.low.x : part.high.x) = middle.x;
      (n & 2 ? part.low.y : part.high.y) = middle.y;
      (n & 4 ? part.low.z : part.high.z) = middle.z;
      if (part.low.x >= part.high.x || part.low.y >= part.high.y || part.low.z >= part.high.z)
        continue;
      DERM_CHECK(visit(part));
    }
    return {};
  }

  Result<void> take(const BlockRange& r, bool certain) {
    std::vector<BlockCoord>& list = certain ? inside : surface;
    const auto side = [](std::int32_t low, std::int32_t high) {
      return static_cast<std::uint64_t>(high - low);
    };
    const std::uint64_t more =
        side(r.low.x, r.high.x) * side(r.low.y, r.high.y) * side(r.low.z, r.high.z);
    // Before they are listed: what is certain may be most of the lattice.
    if (surface.size() + (certain ? 0 : more) + (inside.size() + (certain ? more : 0)) / 64 >
        max_blocks_)
      return badTarget("the band needs more than the " + std::to_string(desc_.max_memory >> 20) +
                       " MB allowed at a voxel of " + std::to_string(desc_.voxel_m) +
                       " m; use a larger voxel or allow more memory");
    for (std::int32_t z = r.low.z; z < r.high.z; ++z)
      for (std::int32_t y = r.low.y; y < r.high.y; ++y)
        for (std::int32_t x = r.low.x; x < r.high.x; ++x) list.push_back({x, y, z});
    return {};
  }

  const Target& target_;
  const PotentialDesc& desc_;
  std::uint64_t max_blocks_ = 0;
};

Result<BlockRange> blocksAround(const Box3d& box, const PotentialDesc& desc) {
  const double side = 8 * desc.voxel_m;
  const Box3d grown = box.grown((desc.band_width + 2) * desc.voxel_m);
  const Vec3d low = (grown.low - desc.origin) / side, high = (grown.high - desc.origin) / side;
  if (!(std::max(low.cwiseAbs().maxCoeff(), high.cwiseAbs().maxCoeff()) < BlockCoord::kLimit - 4))
    return badTarget("the target lies beyond the lattice's " +
                     std::to_string(8 * BlockCoord::kLimit) + " voxels either way at a voxel of " +
                     std::to_string(desc.voxel_m) + " m");
  const auto coord = [](const Vec3d& v, double add) {
    return BlockCoord{static_cast<std::int32_t>(std::floor(v.x() + add)),
                      static_cast<std::int32_t>(std::floor(v.y() + add)),
                      static_cast<std::int32_t>(std::floor(v.z() + add))};
  };
  return BlockRange{coord(low, 0), coord(high, 1)};
}

Result<void> checkDesc(const Target& target, const PotentialDesc& desc) {
  if (!(desc.voxel_m > 0) || !std::isfinite(desc.voxel_m))
    return badTarget("the voxel size must be positive, not " + std::to_string(desc.voxel_m));
  if (!(desc.band_width >= 2 && desc.band_width <= 6))
    return badTarget("the band's width must be 2 to 6 voxels, not " +
                     std::to_string(desc.band_width));
  if (!desc.origin.allFinite()) return badTarget("the lattice's origin is not finite");
  const Box3d box = target.bounds();
  if (box.empty()) return badTarget("the target is empty: it has no inside");
  if (!box.finite()) return badTarget("the target's bounds are not finite");
  return {};
}

/// G - iso on the nodes of all blocks; what is not finite becomes far outside.
void sampleBlocks(const Target& target, Potential& potential) {
  std::array<float, BandGrid::kNodes> x, y, z;
  for (std::size_t i = 0; i < BandGrid::kNodes; ++i) {
    x[i] = static_cast<float>(potential.voxel_m * static_cast<double>(i & 7));
    y[i] = static_cast<float>(potential.voxel_m * static_cast<double>(i >> 3 & 7));
    z[i] = static_cast<float>(potential.voxel_m * static_cast<double>(i >> 6));
  }
  BandGrid& grid = potential.grid;
  const float iso = static_cast<float>(target.iso());
  parallelFor(grid.blockCount(), kBuiltBlocksPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t b = begin; b < end; ++b) {
      const std::uint32_t slot = grid.order()[b];
      const BlockCoord& at = grid.coord(slot);
      const std::span<float> out(grid.values(slot), BandGrid::kNodes);
      target.sample({potential.nodePosition(8 * at.x, 8 * at.y, 8 * at.z), x, y, z}, out);
      for (float& f : out) f = std::isfinite(f) ? f - iso : -std::numeric_limits<float>::max();
      grid.updateWords(slot);
    }
  });
}

/// [per voxel] 90 % quantile of the slope of raw samples at nodes beside the surface.
double rawSlope(const BandGrid& grid) {
  std::vector<float> slopes;
  for (const std::uint32_t slot : grid.order()) {
    const float* f = grid.values(slot);
    for (int i = 0; i < 512; ++i) {
      const int x = i & 7, y = i >> 3 & 7, z = i >> 6;
      if (x == 0 || x == 7 || y == 0 || y == 7 || z == 0 || z == 7) continue;
      const bool in = f[i] > 0;
      if ((f[i - 1] > 0) == in && (f[i + 1] > 0) == in && (f[i - 8] > 0) == in &&
          (f[i + 8] > 0) == in && (f[i - 64] > 0) == in && (f[i + 64] > 0) == in)
        continue;
      const Vec3f g(f[i + 1] - f[i - 1], f[i + 8] - f[i - 8], f[i + 64] - f[i - 64]);
      if (const float length = 0.5f * g.norm(); std::isfinite(length)) slopes.push_back(length);
    }
  }
  if (slopes.empty()) return 0;
  const auto at = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() * 9 / 10);
  std::nth_element(slopes.begin(), at, slopes.end());
  return *at;
}

void scaleAndClamp(BandGrid& grid, float scale) {
  const float w = grid.width();
  parallelFor(grid.blockCount(), kBuiltBlocksPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t b = begin; b < end; ++b) {
      const std::uint32_t slot = grid.order()[b];
      float* f = grid.values(slot);
      // Signs are already decided; a tiny positive value must not round to zero.
      for (std::size_t i = 0; i < BandGrid::kNodes; ++i)
        f[i] = f[i] > 0 ? std::clamp(f[i] * scale, 1e-6f, w) : std::clamp(f[i] * scale, -w, 0.0f);
      grid.updateWords(slot);
    }
  });
}

/// Steep fields jump over the band; their nodes beside the surface are brought into it.
/// Returns false where there is no surface at all.
bool activateNearNodes(BandGrid& grid) {
  detail::BandStepper stepper;
  stepper.prepare(grid);
  const float max = 0.95f * grid.width();
  for (const std::uint32_t slot : grid.order()) {
    const BandGrid::Words& near = stepper.near(slot);
    float* f = grid.values(slot);
    for (int z = 0; z < 8; ++z)
      detail::forEachBit(near[static_cast<std::size_t>(z)], [&](int bit) {
        f[64 * z + bit] = std::clamp(f[64 * z + bit], -max, max);
      });
    grid.updateWords(slot);
  }
  return stepper.index().count() > 0;
}

}  // namespace

std::uint64_t skinBytesPerBlock() {
  constexpr std::size_t kWorkSpace = 2048 + 256 + 64 + 12;  // layers, edges, near, rows
  constexpr std::size_t kSurface = 4096;                    // vertices, normals, triangles
  return BandGrid::bytesPerBlock() + kWorkSpace + kSurface;
}

Result<Potential> buildPotential(const Target& target, const PotentialDesc& desc) {
  DERM_CHECK(checkDesc(target, desc));
  DERM_TRY(const BlockRange range, blocksAround(target.bounds(), desc));
  BlockSearch search(target, desc);
  DERM_CHECK(search.run(range));
  Potential potential{desc.voxel_m, desc.origin, BandGrid(desc.band_width)};
  BandGrid& grid = potential.grid;
  grid.markInside(search.inside);
  grid.createBlocks(search.surface);
  sampleBlocks(target, potential);
  const double known = target.slope() * desc.voxel_m;
  const double slope = known > 0 ? known : rawSlope(grid);
  scaleAndClamp(grid, slope > 0 ? static_cast<float>(1 / slope) : 1.0f);
  if (!activateNearNodes(grid))
    return badTarget("the target has no inside at a voxel of " + std::to_string(desc.voxel_m) +
                     " m: it is empty, or slips between the nodes");
  grid.fitToBand();
  detail::renormalise(grid, kSweeps);
  static_cast<void>(
      grid.compact());  // the search makes half as many blocks again as the band keeps
  return potential;
}

}  // namespace derm
