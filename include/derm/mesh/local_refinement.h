#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "derm/mesh/butterfly.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

/// A vertex that a refinement adds, in the middle of the edge between two others.
struct MiddleVertex {
  std::uint32_t a = 0;  ///< ends of the edge: vertices of the surface, or added ones before this
  std::uint32_t b = 0;  ///< one, numbered on from the surface's
  /// Of the stencils: its welded vertex; vertices on both sides of a seam share it.
  std::uint32_t slot = 0;
};

/// A part of a surface, refined: what replaces which triangles, and where the new points are.
struct LocalRefinement {
  std::vector<std::uint32_t> replaced;  ///< triangles of the surface, sorted
  /// What stands in for them. Corners below vertexCount() are the surface's own vertices, the
  /// others vertices[corner - vertexCount()].
  std::vector<Triangle> triangles;
  std::vector<std::uint32_t> sources;  ///< per new triangle the one it is a piece of
  std::vector<MiddleVertex> vertices;
  ButterflyStencils stencils;  ///< positions of the new vertices, by their slots
  /// Slot of each of the surface's vertices that `triangles` use: (vertex, slot), sorted.
  std::vector<std::array<std::uint32_t, 2>> corners;
};

/// A triangle surface prepared for local refinement by the modified butterfly, to a level of its
/// own for every triangle. Level l cuts a triangle into 4^l. Levels of neighbours differ by one at
/// most (balanced() sees to it), and a triangle beside finer ones is cut to meet their vertices:
///
///      /\          /\        one side, two sides, three sides cut
///     /  \        /  \ .     by the neighbours' middle points
///    /  / \      /----\ .
///   /__/___\    /__\___\ .
///
/// so there are no cracks and no T-junctions, across levels and at the rim. New points are where
/// refining the whole surface would put them, to the last bit of the stencils.
///
/// Rules: regular points Dyn, Levin, Gregory 1990; ends of other valence Zorin, Schröder, Sweldens
/// 1996 (both ends: the mean). Along borders and creases the four-point rule (-1, 9, 9, -1)/16;
/// where such a line ends or branches the missing point is mirrored (2a - b). Points of the regular
/// rule beyond a border or crease are mirrored too (b + c - a over the edge bc).
/// Creases are: borders, edges of more than two triangles or of two that disagree on which side is
/// outside, and those given. Triangles with two corners at one position have no say in any of this
/// and are left out beside cut ones: their other two sides are one edge, so what was closed stays
/// closed.
/// Immutable; share freely. Cost: O(n log n) to prepare; refine() O(n + refined triangles * log).
class RefinableSurface {
 public:
  static constexpr int kMaxLevels = 4;

  /// Requires indices < vertex_count. `weld` (see weld.h), where not empty, joins vertices at one
  /// welded vertex. `creases`: edges by their vertices, in any order.
  RefinableSurface(std::span<const Triangle> triangles, std::size_t vertex_count,
                   std::span<const std::uint32_t> weld = {},
                   std::span<const std::array<std::uint32_t, 2>> creases = {});

  std::size_t vertexCount() const { return vertex_count_; }
  std::size_t triangleCount() const { return corners_.size(); }

  /// The levels wanted (one per triangle, each <= kMaxLevels), raised where neighbours differ by
  /// more than one. Triangles with two corners at one position get 0.
  std::vector<std::uint8_t> balanced(std::span<const std::uint8_t> levels) const;
  /// Which triangles refine() would replace: those with a level, and those beside them. Levels
  /// balanced.
  std::vector<std::uint8_t> touched(std::span<const std::uint8_t> levels) const;

  /// Requires balanced levels, one per triangle.
  LocalRefinement refine(std::span<const std::uint8_t> levels) const;

  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  /// An edge between two welded vertices.
  struct Edge {
    std::uint32_t a = kNone, b = kNone;
    std::array<std::uint32_t, 2> triangles = {kNone, kNone};  ///< first two that count
    bool sharp = false;                                       ///< border or crease
  };
  /// Triangles and edges of one level, by welded vertices.
  struct Net {
    std::vector<Triangle> welded;  ///< corners as welded vertices
    std::vector<Triangle> edges;   ///< edge i joins corners i and i + 1; kNone where they coincide
    std::vector<Edge> edge;
  };

 private:
  Net net_;
  std::vector<Triangle> corners_;  ///< as given, before welding
  std::vector<std::uint32_t> weld_;
  std::size_t vertex_count_ = 0;
};

}  // namespace derm
