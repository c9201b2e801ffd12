#include "derm/implicit/potential_target.h"

#include <algorithm>
#include <cmath>

#include "derm/base/assert.h"
#include "derm/implicit/polygonise.h"
#include "derm/mesh/adjacency.h"

namespace derm {

PotentialTarget::PotentialTarget(std::shared_ptr<const Potential> potential)
    : potential_(std::move(potential)) {
  DERM_REQUIRE(potential_ != nullptr);
  const BandGrid& grid = potential_->grid;
  for (const std::uint32_t slot : grid.order()) {
    const BlockCoord& at = grid.coord(slot);
    box_.include(potential_->nodePosition(8 * at.x, 8 * at.y, 8 * at.z));
    box_.include(potential_->nodePosition(8 * at.x + 7, 8 * at.y + 7, 8 * at.z + 7));
  }
  findSeeds();
}

/// Bodies are the pieces of the surface that hold matter; seeds lie up to two voxels below it.
void PotentialTarget::findSeeds() {
  const TriMesh mesh = polygonised(*potential_);
  const Pieces pieces = connectedPieces(mesh.triangles, mesh.vertexCount());
  const SurfaceMeasures sizes = measured(mesh);
  std::vector<Vec3d> sums(pieces.count, Vec3d::Zero());
  std::vector<double> counts(pieces.count, 0);
  for (std::size_t v = 0; v < mesh.vertexCount(); ++v) {
    sums[pieces.of_vertex[v]] += mesh.positions[v].cast<double>();
    counts[pieces.of_vertex[v]] += 1;
  }
  const double h = potential_->voxel_m;
  const auto add = [&](const Vec3d& at, std::uint32_t part) {
    if (sizes.pieces[part].volume > 0 && potential_->valueAt(at) > h) seeds_.push_back({at, part});
  };
  for (std::uint32_t part = 0; part < pieces.count; ++part) add(sums[part] / counts[part], part);
  constexpr std::size_t kVerticesPerSeed = 64;
  for (std::size_t v = 0; v < mesh.vertexCount(); v += kVerticesPerSeed) {
    const Vec3d out = mesh.normals[v].cast<double>();
    add(mesh.positions[v].cast<double>() - 2 * h * out, pieces.of_vertex[v]);
  }
}

void PotentialTarget::sample(const SampleBatch& at, std::span<float> g) const noexcept {
  for (std::size_t i = 0; i < at.size(); ++i)
    g[i] = static_cast<float>(
        potential_->valueAt(at.origin + Vec3f(at.x[i], at.y[i], at.z[i]).cast<double>()));
}

FieldRange PotentialTarget::rangeIn(const Box3d& box) const {
  const double side = 8 * potential_->voxel_m;
  const Vec3d low = (box.low - potential_->origin) / side;
  const Vec3d high = (box.high - potential_->origin) / side;
  constexpr double kMaxBlocks = 512;
  if (!((high - low).array() + 2).isFinite().all() ||
      ((high - low).array() + 2).prod() > kMaxBlocks)
    return {};
  bool inside = false, outside = false;
  for (int z = int(std::floor(low.z())); z <= int(std::floor(high.z())); ++z)
    for (int y = int(std::floor(low.y())); y <= int(std::floor(high.y())); ++y)
      for (int x = int(std::floor(low.x())); x <= int(std::floor(high.x())); ++x) {
        const std::uint32_t slot = potential_->grid.slotAt({x, y, z});
        if (potential_->grid.isLive(slot)) return {};
        (slot == BandGrid::kInside ? inside : outside) = true;
      }
  if (inside && outside) return {};
  const double far = potential_->voxel_m * potential_->grid.width();
  return inside ? FieldRange{far, far} : FieldRange{-far, -far};
}

void PotentialTarget::appendSeeds(std::vector<TargetSeed>& seeds) const {
  seeds.insert(seeds.end(), seeds_.begin(), seeds_.end());
}

}  // namespace derm
