#include "implicit/lattice_surface.h"

#include <algorithm>
#include <cmath>

#include "derm/base/parallel.h"

#include "implicit/band_layers.h"
#include "implicit/block_tile.h"
#include "implicit/cell_table.h"
#include "implicit/resize_tight.h"

namespace derm::detail {
namespace {

constexpr std::size_t kSurfaceBlocksPerChunk = 8;

/// Sign words of a block's slice z at the four columns (x, y), (x+1, y), (x, y+1), (x+1, y+1).
struct SliceCorners {
  std::uint64_t word[4];
};

SliceCorners cornersOf(const BandGrid& grid, std::uint32_t slot, int z) {
  const int dz = z >> 3;
  const std::size_t i = static_cast<std::size_t>(z & 7);
  const std::uint64_t own = grid.signs(grid.neighbour(slot, 0, 0, dz))[i];
  const std::uint64_t right = grid.signs(grid.neighbour(slot, 1, 0, dz))[i];
  const std::uint64_t above = grid.signs(grid.neighbour(slot, 0, 1, dz))[i];
  const std::uint64_t across = grid.signs(grid.neighbour(slot, 1, 1, dz))[i];
  const auto next_x = [](std::uint64_t w, std::uint64_t beside) {
    return (w >> 1 & ~kColumn7) | (beside & kColumn0) << 7;
  };
  return {{own, next_x(own, right), own >> 8 | above << 56,
           next_x(own, right) >> 8 | next_x(above, across) << 56}};
}

/// Adds a block's triangles.
class CellWalker {
 public:
  CellWalker(const BandGrid& grid, const EdgeIndex& index, std::vector<Triangle>& out)
      : grid_(grid), index_(index), table_(cellTable()), out_(out) {}

  void walk(std::uint32_t slot) {
    for (int n = 0; n < 8; ++n) {
      const std::uint32_t s = grid_.neighbour(slot, n & 1, n >> 1 & 1, n >> 2);
      edges_[n] = &index_.of(s);
    }
    SliceCorners low = cornersOf(grid_, slot, 0);
    for (int z = 0; z < 8; ++z) {
      const SliceCorners high = cornersOf(grid_, slot, z + 1);
      const std::uint64_t any = low.word[0] | low.word[1] | low.word[2] | low.word[3] |
                                high.word[0] | high.word[1] | high.word[2] | high.word[3];
      const std::uint64_t all = low.word[0] & low.word[1] & low.word[2] & low.word[3] &
                                high.word[0] & high.word[1] & high.word[2] & high.word[3];
      forEachBit(any & ~all, [&](int bit) {
        unsigned inside = 0;
        for (int c = 0; c < 4; ++c) {
          inside |= static_cast<unsigned>(low.word[c] >> bit & 1) << c;
          inside |= static_cast<unsigned>(high.word[c] >> bit & 1) << (c + 4);
        }
        addCell(table_[inside], bit & 7, bit >> 3, z);
      });
      low = high;
    }
  }

 private:
  void addCell(const CellCase& cell, int x, int y, int z) {
    std::uint32_t ids[12];
    std::uint32_t known = 0;
    const auto vertex = [&](int edge) {
      if (!(known >> edge & 1)) {
        ids[edge] = vertexOn(edge, x, y, z);
        known |= 1u << edge;
      }
      return ids[edge];
    };
    for (std::size_t t = 0; t < cell.triangle_count; ++t)
      out_.push_back({vertex(cell.edges[3 * t]), vertex(cell.edges[3 * t + 1]),
                      vertex(cell.edges[3 * t + 2])});
  }

  std::uint32_t vertexOn(int edge, int x, int y, int z) const {
    const int corner = edgeCorner(edge);
    x += corner & 1;
    y += corner >> 1 & 1;
    z += corner >> 2;
    const BlockEdges& at = *edges_[(x >> 3) | (y >> 3) << 1 | (z >> 3) << 2];
    return at.id(edge >> 2, z & 7, (x & 7) + 8 * (y & 7));
  }

  const BandGrid& grid_;
  const EdgeIndex& index_;
  const std::array<CellCase, 256>& table_;
  std::vector<Triangle>& out_;
  const BlockEdges* edges_[8] = {};
};

/// -grad f at a point between two nodes: along the edge their difference, across it central
/// differences at both, mixed.
Vec3f normalAt(const float* i, int axis, float t) {
  constexpr int kSteps[3] = {1, BlockTile::kRowStep, BlockTile::kSliceStep};
  const int along = kSteps[axis];
  Vec3f n;
  n[axis] = i[0] - i[along];
  for (int k = 1; k < 3; ++k) {
    const int other = (axis + k) % 3, step = kSteps[other];
    const float low = i[-step] - i[step], high = i[along - step] - i[along + step];
    n[other] = 0.5f * (low + t * (high - low));
  }
  const float length = std::sqrt(n.squaredNorm());
  return length > 0 ? Vec3f(n / length) : Vec3f(Vec3f::UnitY());
}

void addPoints(const BandGrid& grid, const EdgeIndex& index, std::uint32_t slot, bool normals,
               LatticeSurface& out) {
  const BandGrid::Words near = index.nearWords(grid, slot);
  std::uint64_t any = 0;
  for (const std::uint64_t w : near) any |= w;
  if (any == 0) return;
  BlockTile tile;
  tile.fill(grid, slot, dilated(tileRows(near)));
  const BlockCoord& at = grid.coord(slot);
  const Vec3f corner(static_cast<float>(8 * (at.x - out.reference.x)),
                     static_cast<float>(8 * (at.y - out.reference.y)),
                     static_cast<float>(8 * (at.z - out.reference.z)));
  constexpr int kSteps[3] = {1, BlockTile::kRowStep, BlockTile::kSliceStep};
  const BlockEdges& edges = index.of(slot);
  std::uint32_t id = index.first(slot);
  for (int axis = 0; axis < 3; ++axis)
    for (int z = 0; z < 8; ++z)
      forEachBit(edges.crossed[axis][z], [&](int bit) {
        const float* i = tile.at(bit & 7, bit >> 3, z);
        const float t = i[0] / (i[0] - i[kSteps[axis]]);
        Vec3f point = corner + Vec3f(static_cast<float>(bit & 7), static_cast<float>(bit >> 3),
                                     static_cast<float>(z));
        point[axis] += t;
        out.points[id] = point;
        if (normals) out.normals[id] = normalAt(i, axis, t);
        ++id;
      });
}

}  // namespace

void polygoniseLattice(const BandGrid& grid, const EdgeIndex& index, bool normals,
                       LatticeSurface& out) {
  const std::span<const std::uint32_t> order = grid.order();
  out.reference = {};
  if (!order.empty()) out.reference = grid.coord(order[order.size() / 2]);
  resizeTight(out.points, index.count());
  resizeTight(out.normals, normals ? index.count() : 0);
  out.triangles.clear();
  if (out.triangles.capacity() < 2 * std::size_t{index.count()})  // all but a few per handle
    out.triangles.reserve(2 * std::size_t{index.count()} + index.count() / 16);
  // Triangles are gathered a few chunks at a time: enough for every thread, and no second copy of
  // them all.
  out.chunks.resize(LatticeSurface::kChunks);
  constexpr std::size_t kBlocksPerWave = LatticeSurface::kChunks * kSurfaceBlocksPerChunk;
  for (std::size_t wave = 0; wave < order.size(); wave += kBlocksPerWave) {
    const std::size_t count = std::min(kBlocksPerWave, order.size() - wave);
    parallelFor(count, kSurfaceBlocksPerChunk, [&](std::size_t begin, std::size_t end) {
      std::vector<Triangle>& triangles = out.chunks[begin / kSurfaceBlocksPerChunk];
      triangles.clear();
      CellWalker walker(grid, index, triangles);
      for (std::size_t b = begin; b < end; ++b) {
        const std::uint32_t slot = order[wave + b];
        if (b + 1 < end) fetchBlock(grid.values(grid.neighbour(order[wave + b + 1], 0, 0, 1)));
        addPoints(grid, index, slot, normals, out);
        walker.walk(slot);
      }
    });
    for (std::size_t c = 0; c * kSurfaceBlocksPerChunk < count; ++c)
      out.triangles.insert(out.triangles.end(), out.chunks[c].begin(), out.chunks[c].end());
  }
}

}  // namespace derm::detail
