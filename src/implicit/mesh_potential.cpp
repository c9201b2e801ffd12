#include <algorithm>
#include <cmath>
#include <string>

#include "derm/base/number_text.h"
#include "derm/base/parallel.h"
#include "derm/implicit/potential_target.h"
#include "derm/mesh/adjacency.h"
#include "derm/mesh/closedness.h"
#include "derm/mesh/measures.h"
#include "derm/mesh/triangle_tree.h"
#include "derm/mesh/weld.h"

#include "implicit/mesh_openings.h"
#include "implicit/mesh_parts.h"
#include "implicit/sign_flood.h"

namespace derm {
namespace {

constexpr float kOpen = 0.87f;  // [voxel] half a cube's diagonal: no surface between two such nodes

Error badMesh(std::string message, std::optional<std::uint64_t> index = std::nullopt) {
  return Error{ErrorCode::BadData, std::move(message), {.element = "mesh", .index = index}};
}

std::uint64_t maxBlocks(const PotentialDesc& desc) { return desc.max_memory / skinBytesPerBlock(); }

Error tooLarge(const PotentialDesc& desc) {
  return badMesh("the band needs more than the " + std::to_string(desc.max_memory >> 20) +
                 " MB allowed at a voxel of " + std::to_string(desc.voxel_m) + " m");
}

/// Writes triangles of a mesh into a grid: distance and side of the nearest one.
class TriangleWriter {
 public:
  TriangleWriter(const TriMesh& mesh, const detail::MeshPart& part, const PotentialDesc& desc,
                 BandGrid& grid)
      : mesh_(mesh), part_(part), desc_(desc), grid_(grid) {
    for (const Vec3f& p : mesh.positions)
      points_.push_back((p.cast<double>() - desc.origin) / desc.voxel_m);
  }

  /// Around the triangles, and wherever `solid` has blocks.
  Result<void> makeBlocks(const BandGrid* solid) {
    BlockMap seen;
    std::vector<BlockCoord> wanted;
    for (const std::uint32_t t : part_.triangles) {
      const NodeBox box = boxOf(mesh_.triangles[t]);
      for (int z = box.low[2] >> 3; z <= box.high[2] >> 3; ++z)
        for (int y = box.low[1] >> 3; y <= box.high[1] >> 3; ++y)
          for (int x = box.low[0] >> 3; x <= box.high[0] >> 3; ++x) {
            const BlockCoord at{x, y, z};
            if (seen.find(at) != 0) continue;
            seen.set(at, 1);
            wanted.push_back(at);
            if (wanted.size() > maxBlocks(desc_)) return tooLarge(desc_);
          }
    }
    if (solid != nullptr)
      for (const std::uint32_t slot : solid->order()) wanted.push_back(solid->coord(slot));
    grid_.createBlocks(wanted);
    side_.assign(grid_.slotCount() * BandGrid::kNodes, 0.0f);
    for (const std::uint32_t slot : grid_.order())
      std::fill_n(grid_.values(slot), BandGrid::kNodes, 1e9f);
    return {};
  }

  void writeAll() {
    for (std::size_t i = 0; i < part_.triangles.size(); ++i)
      write(mesh_.triangles[part_.triangles[i]], part_.turns[i]);
  }

  /// Negative: behind the nearest triangle.
  float side(std::uint32_t slot, int node) const {
    return side_[slot * BandGrid::kNodes + static_cast<std::size_t>(node)];
  }

 private:
  struct NodeBox {
    int low[3], high[3];
  };

  NodeBox boxOf(const Triangle& t) const {
    const double reach = grid_.width() + 0.5;
    NodeBox box;
    for (int k = 0; k < 3; ++k) {
      const double a = points_[t[0]][k], b = points_[t[1]][k], c = points_[t[2]][k];
      box.low[k] = static_cast<int>(std::ceil(std::min({a, b, c}) - reach));
      box.high[k] = static_cast<int>(std::floor(std::max({a, b, c}) + reach));
    }
    return box;
  }

  void write(const Triangle& t, float turn) {
    const Vec3d &a = points_[t[0]], &b = points_[t[1]], &c = points_[t[2]];
    Vec3d normal = Vec3d(b - a).cross(Vec3d(c - a));
    const double length = normal.norm();
    if (length > 0) normal /= length;
    const NodeBox box = boxOf(t);
    for (int z = box.low[2]; z <= box.high[2]; ++z)
      for (int y = box.low[1]; y <= box.high[1]; ++y)
        for (int x = box.low[0]; x <= box.high[0]; ++x) {
          const std::uint32_t slot = grid_.slotAt({x >> 3, y >> 3, z >> 3});
          const int node = (z & 7) * 64 + (y & 7) * 8 + (x & 7);
          float& best = grid_.values(slot)[node];
          const Vec3d p(x, y, z);
          const double height = normal.dot(p - a);
          if (std::abs(height) > best + 1e-4) continue;
          const Vec3d where = closestOnTriangle(p, a, b, c);
          const Vec3d away = p - (where[0] * a + where[1] * b + where[2] * c);
          const float distance = static_cast<float>(away.norm());
          if (distance > best + 1e-4f) continue;
          // At an edge several triangles are as near: the one that faces the point most knows best.
          float& side = side_[slot * BandGrid::kNodes + static_cast<std::size_t>(node)];
          const float faces = turn * static_cast<float>(height);
          if (distance < best - 1e-4f || std::abs(faces) > std::abs(side)) side = faces;
          best = std::min(best, distance);
        }
  }

  const TriMesh& mesh_;
  const detail::MeshPart& part_;
  const PotentialDesc& desc_;
  BandGrid& grid_;
  std::vector<Vec3d> points_;  ///< [voxel]
  std::vector<float> side_;    ///< height over the nearest triangle's plane
};

Result<void> checkMesh(const TriMesh& mesh, const PotentialDesc& desc) {
  if (mesh.triangles.empty()) return badMesh("has no triangles");
  DERM_CHECK(validate(mesh, "mesh"));
  if (!(desc.voxel_m > 0) || !std::isfinite(desc.voxel_m))
    return badMesh("the voxel size must be positive, not " + std::to_string(desc.voxel_m));
  const Bounds box = bounds(mesh.positions);
  const double far = std::max((box.low.cast<double>() - desc.origin).cwiseAbs().maxCoeff(),
                              (box.high.cast<double>() - desc.origin).cwiseAbs().maxCoeff());
  if (!(far / desc.voxel_m < 8.0 * (BlockCoord::kLimit - 4)))
    return badMesh("lies beyond the lattice's reach at a voxel of " + std::to_string(desc.voxel_m) +
                   " m");
  return {};
}

/// Signed distances to a part of the mesh.
struct PartField {
  explicit PartField(float width) : grid(width) {}
  BandGrid grid;
  std::vector<BlockCoord> dry;  ///< missing blocks that are inside
  /// Open nodes near the surface that their triangle says are inside, and those of them that the
  /// flood has reached.
  std::size_t behind = 0, leaked = 0;
};

/// Nodes of a block that lie in a solid found before; all outside where there is none.
BandGrid::Words signsAt(const BandGrid* solid, const BlockCoord& at) {
  return solid == nullptr ? BandGrid::Words{} : solid->signs(solid->slotAt(at));
}

std::vector<BandGrid::Words> openNodes(const BandGrid& grid, const BandGrid* solid) {
  std::vector<BandGrid::Words> open(grid.slotCount());
  for (const std::uint32_t slot : grid.order()) {
    const BandGrid::Words taken = signsAt(solid, grid.coord(slot));
    for (int i = 0; i < 512; ++i)
      open[slot][static_cast<std::size_t>(i >> 6)] |=
          static_cast<std::uint64_t>(grid.values(slot)[i] > kOpen) << (i & 63);
    for (std::size_t z = 0; z < 8; ++z) open[slot][z] &= ~taken[z];
  }
  return open;
}

/// Whether the flood came within two nodes of a node: all that lies before a surface that can be
/// seen from outside is so near.
bool floodIsNear(const BandGrid& grid, const std::vector<BandGrid::Words>& reached,
                 const BlockCoord& block, int node) {
  const int x = 8 * block.x + (node & 7), y = 8 * block.y + (node >> 3 & 7),
            z = 8 * block.z + (node >> 6);
  for (int dz = -2; dz <= 2; ++dz)
    for (int dy = -2; dy <= 2; ++dy)
      for (int dx = -2; dx <= 2; ++dx) {
        const int nx = x + dx, ny = y + dy, nz = z + dz;
        const std::uint32_t slot = grid.slotAt({nx >> 3, ny >> 3, nz >> 3});
        if (!grid.isLive(slot)) {
          if (slot != BandGrid::kInside) return true;
          continue;
        }
        const std::uint64_t word = reached[slot][static_cast<std::size_t>(nz & 7)];
        if ((word >> ((ny & 7) * 8 + (nx & 7)) & 1) != 0) return true;
      }
  return false;
}

/// Gives all nodes their sign. `pockets`: room that the flood does not come near is inside,
/// whatever its walls say; or pockets behind a slit (a mouth, eyes) that is too narrow would be
/// torn: inside in the middle, outside along their walls.
void applySigns(const std::vector<BandGrid::Words>& open,
                const std::vector<BandGrid::Words>& reached, const TriangleWriter& triangles,
                bool pockets, PartField& field) {
  BandGrid& grid = field.grid;
  const float w = grid.width();
  for (const std::uint32_t slot : grid.order()) {
    float* f = grid.values(slot);
    for (int i = 0; i < 512; ++i) {
      const std::size_t z = static_cast<std::size_t>(i >> 6);
      const bool passed = (open[slot][z] >> (i & 63) & 1) != 0;
      const bool wet = (reached[slot][z] >> (i & 63) & 1) != 0;
      const bool behind_triangle = triangles.side(slot, i) < 0;
      bool inside = passed ? !wet : behind_triangle;
      if (pockets && !inside && !passed && !floodIsNear(grid, reached, grid.coord(slot), i))
        inside = true;
      if (passed && f[i] < w && behind_triangle) {
        ++field.behind;
        field.leaked += wet;
      }
      const float d = std::min(f[i], w);
      f[i] = inside ? std::max(d, 1e-4f) : -d;
    }
    grid.updateWords(slot);
  }
}

/// The field of one part. What is open is closed by `solid`, if there is one: an arm's open end may
/// lie in a trunk. Within the solid nodes take the side of the nearest triangle.
Result<PartField> fieldOf(const TriMesh& mesh, const detail::MeshPart& part,
                          const PotentialDesc& desc, const PartField* solid, bool pockets) {
  PartField field(desc.band_width);
  const BandGrid* const taken = solid != nullptr ? &solid->grid : nullptr;
  TriangleWriter triangles(mesh, part, desc, field.grid);
  DERM_CHECK(triangles.makeBlocks(taken));
  if (solid != nullptr) field.grid.markInside(solid->dry);
  triangles.writeAll();
  const std::vector<BandGrid::Words> open = openNodes(field.grid, taken);
  const detail::SignFlood flood(field.grid, open);
  field.dry = flood.dryBlocks();
  field.grid.markInside(field.dry);
  applySigns(open, flood.reached(), triangles, pockets && solid == nullptr, field);
  return field;
}

/// Makes `field` that of the union: the larger value. Outside that is the distance from the union,
/// since what is nearest is never hidden; inside it is at most the depth, and as exact as near
/// surfaces that do not meet.
Result<void> unite(const PartField& other, const PotentialDesc& desc, PartField& field) {
  BandGrid& grid = field.grid;
  std::vector<BlockCoord> wanted;
  for (const std::uint32_t slot : other.grid.order())
    if (!grid.isLive(grid.slotAt(other.grid.coord(slot)))) wanted.push_back(other.grid.coord(slot));
  if (grid.blockCount() + wanted.size() > maxBlocks(desc)) return tooLarge(desc);
  grid.createBlocks(wanted);
  const std::span<const std::uint32_t> order = grid.order();
  parallelFor(order.size(), 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const float* const more = other.grid.values(other.grid.slotAt(grid.coord(order[i])));
      float* const f = grid.values(order[i]);
      for (std::size_t n = 0; n < BandGrid::kNodes; ++n) f[n] = std::max(f[n], more[n]);
      grid.updateWords(order[i]);
    }
  });
  grid.markInside(other.dry);
  field.dry.insert(field.dry.end(), other.dry.begin(), other.dry.end());
  field.behind += other.behind;
  field.leaked += other.leaked;
  return {};
}

/// The union of all parts.
Result<PartField> fieldOfAll(const TriMesh& mesh, const std::vector<detail::MeshPart>& parts,
                             const PotentialDesc& desc, bool pockets) {
  DERM_TRY(PartField all, fieldOf(mesh, parts.front(), desc, nullptr, pockets));
  for (std::size_t k = 1; k < parts.size(); ++k) {
    DERM_TRY(const PartField more,
             fieldOf(mesh, parts[k], desc, parts[k].closed ? nullptr : &all, pockets));
    DERM_CHECK(unite(more, desc, all));
  }
  return all;
}

}  // namespace

Result<Potential> buildMeshPotential(const TriMesh& given, const PotentialDesc& desc,
                                     Diagnostics& notes) {
  DERM_CHECK(checkMesh(given, desc));
  std::vector<Triangle> welded = mapped(given.triangles, weldMap(given.positions));
  const bool was_closed = checkClosed(welded).closed();
  TriMesh mended;
  detail::ClosedOpenings openings;
  if (!was_closed) {
    mended.positions = given.positions;
    mended.triangles = given.triangles;
    openings = detail::closeSmallOpenings(mended, welded);
  }
  const TriMesh& mesh = was_closed ? given : mended;
  const Closedness closedness = checkClosed(welded);
  const bool inside_out = volume(mesh.positions, mesh.triangles) < 0;
  const detail::MeshParts parts = detail::splitIntoParts(mesh, welded, inside_out);
  if (inside_out)
    notes.warn("mesh-inside-out", "mesh", "the triangles face inwards; they are turned");
  else if (parts.turned_pieces > 0)
    notes.warn("mesh-inside-out", "mesh",
               std::to_string(parts.turned_pieces) +
                   " closed pieces face inwards; they are turned, so hollows are filled");
  DERM_TRY(PartField field, fieldOfAll(mesh, parts.parts, desc, !was_closed));
  const double leaked =
      field.behind > 0 ? static_cast<double>(field.leaked) / static_cast<double>(field.behind) : 0;
  constexpr double kLeak = 0.3;  // thin sheets and crossing parts give a few per cent
  if (!closedness.closed() && leaked > kLeak) {
    std::string where;
    if (closedness.first_bad_edge)
      where = " between vertices " + std::to_string((*closedness.first_bad_edge)[0]) + " and " +
              std::to_string((*closedness.first_bad_edge)[1]);
    return badMesh("is open: " + std::to_string(closedness.boundary_edges) +
                   " edges have no second triangle, the first one" + where +
                   "; openings wider than 15 % of its surface and than a voxel (" +
                   std::to_string(desc.voxel_m) + " m) have no inside");
  }
  if (!was_closed) {
    std::string what;
    if (openings.count > 0)
      what =
          std::to_string(openings.count) +
          (openings.count == 1 ? " opening was closed, " : " openings were closed, the widest ") +
          shortNumber(openings.widest_m, 3) + " m across, at vertex " +
          std::to_string(openings.vertex);
    if (!closedness.closed())
      what += std::string(what.empty() ? "" : "; ") + std::to_string(closedness.boundary_edges) +
              " open edges are left: gaps below a voxel are closed, others lie in other pieces or "
              "leak little";
    notes.warn("mesh-not-closed", "mesh", what.empty() ? "has doubled edges" : what);
  }
  field.grid.fitToBand();
  if (field.grid.blockCount() == 0) return badMesh("has no inside at this voxel size");
  return Potential{desc.voxel_m, desc.origin, std::move(field.grid)};
}

}  // namespace derm
