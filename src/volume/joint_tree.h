#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "derm/anim/skeleton.h"
#include "derm/anim/skin.h"
#include "derm/mesh/measured_surface.h"
#include "derm/volume/volume_regions.h"

/// Private to room volume: the joints that bend a surface, and what hangs on them.
namespace derm::detail {

/// Calls body(mesh vertex, part) for the vertices that a point is the mean of; parts sum to 1.
template <class Body>
void eachVertexOf(const MeasuredSurface& surface, std::size_t point, const Body& body) {
  const auto addVertices = [&](std::size_t p, double part) {
    const std::span<const std::uint32_t> vertices = surface.vertices_of_welded[p];
    for (const std::uint32_t v : vertices) body(v, part / static_cast<double>(vertices.size()));
  };
  if (point < surface.weldedCount()) return addVertices(point, 1.0);
  const std::span<const std::uint32_t> border = surface.borders[point - surface.weldedCount()];
  for (const std::uint32_t p : border) addVertices(p, 1.0 / static_cast<double>(border.size()));
}

/// The joints that carry weights or join branches that do. Empty for a skin without rows.
std::vector<RegionJoint> regionJoints(const Skeleton& skeleton, const Skin& skin);

/// Weights of points over region joints: columns are entries of `joints`. Vertices at
/// one position count as their mean, the middle of a boundary loop as the mean of the loop.
ShareRows measuredWeights(const MeasuredSurface& surface, const Skin& skin,
                          std::span<const RegionJoint> joints);

/// For each row the weight at or below each joint: entries of all ancestors, rows by column.
ShareRows weightsBelow(const ShareRows& weights, std::span<const RegionJoint> joints);

/// Per node of a tree (parents before children, RegionJoint::kNone above the roots) whether lines
/// with nodes that count branch at or below it: what is left over are unbranched lines, limbs.
std::vector<char> branchingNodes(std::span<const std::uint32_t> parents,
                                 std::span<const char> counts);

}  // namespace derm::detail
