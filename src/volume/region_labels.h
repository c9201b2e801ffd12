#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/mesh/adjacency.h"
#include "derm/mesh/measured_surface.h"
#include "derm/volume/volume_regions.h"

/// Private to room volume: which joint each vertex of a surface belongs to.
namespace derm::detail {

/// The surface at rest, as the makers of regions look at it.
struct RestSurface {
  const MeasuredSurface& surface;
  std::span<const Vec3d> positions;  ///< [m] per point
  IndexLists neighbours;             ///< of points

  std::size_t size() const { return positions.size(); }
  std::size_t pieceCount() const { return surface.piece_count; }
  std::uint32_t pieceOf(std::size_t vertex) const { return surface.piece_of_point[vertex]; }
};

struct RegionLabels {
  std::vector<std::uint32_t> label;  ///< per vertex, an entry of the region joints
  std::vector<double> bend;          ///< [0,1] per vertex 4 max m_j over the joints that count
  std::vector<char> counts;          ///< per piece and joint (piece * joints + joint)
  std::vector<char> labelled;        ///< per piece: some joint bends it
};

/// Finds, piece by piece, the joints that count and gives every vertex the one that bends it most.
/// `below` are the weights at or below each joint. Pieces that no joint bends get the joint that
/// carries most of them. Requires at least one joint.
RegionLabels labelVertices(const RestSurface& rest, const ShareRows& below,
                           const ShareRows& weights, std::span<const RegionJoint> joints,
                           const RegionsDesc& desc);

/// A group of labels of one piece: what becomes a region.
struct LabelGroup {
  std::uint32_t piece = 0;
  std::uint32_t joint = 0;  ///< topmost of its labels, of equals the first
};

struct LabelGroups {
  std::vector<LabelGroup> groups;           ///< by piece, then joint
  std::vector<std::uint32_t> group_of_row;  ///< per vertex
};

/// Merges labels into groups as RegionsDesc tells.
LabelGroups mergeLabels(const RestSurface& rest, const RegionLabels& labels,
                        std::span<const RegionJoint> joints, const RegionsDesc& desc);

}  // namespace derm::detail
