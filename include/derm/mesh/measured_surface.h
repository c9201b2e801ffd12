#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/mesh/adjacency.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

/// The closed form of a mesh that volumes are measured on: whatever the triangles, the volume
/// inside them is made well defined, translation and rotation invariant, and every decision is
/// noted.
///
/// - Vertices at one position (texture seams, hard edges, collapsed poles) count as one *welded
///   vertex*; where they come apart in a pose, the welded vertex is their mean.
/// - Edges walked more often one way than the other are the border of the surface: holes, but also
///   non-manifold edges and triangles wound the wrong way. Each connected part of that border is
///   closed by a fan to its *apex*, the mean of its welded vertices; the fan runs against the
///   border's edges as often as needed, so that every directed edge meets its reverse (P: borders
///   are cycles, so such a fan closes any set of triangles; the fan over a flipped triangle undoes
///   it).
/// - Triangles without three different welded vertices are left out, and so is the inner one of two
///   closed sides that lie on each other. Sheets with two sides keep both: they have no volume.
/// - Pieces (connected by edges) are told apart, with the sign of their volume: inside-out pieces
///   are accepted, their volume counts negative.
///
/// Points are numbered welded vertices first, then apexes; a point's position is a linear function
/// of the mesh's positions:
///
///      vertices   0 1 2 3 4 ...       welded vertex = mean of its vertices (mostly one)
///      points     [ welded | apexes ] apex = mean of its border's welded vertices
///
/// Plain data, immutable after makeMeasuredSurface(); share freely between threads.
struct MeasuredSurface {
  std::vector<std::uint32_t> welded_of_vertex;  ///< per vertex of the mesh
  IndexLists vertices_of_welded;                ///< at least one each, sorted
  /// Per apex the welded vertices of its border, sorted.
  IndexLists borders;
  std::vector<Triangle> triangles;              ///< of points; the mesh's own, then the fans
  std::vector<std::uint32_t> source_triangles;  ///< per own triangle its index in the mesh

  std::uint32_t piece_count = 0;
  /// Welded vertices without triangles are one piece together, the last.
  std::vector<std::uint32_t> piece_of_point;
  std::vector<std::uint32_t> piece_of_triangle;  ///< fans included
  std::vector<double> piece_volumes;             ///< [m^3] at rest, signed
  std::vector<double> piece_areas;               ///< [m^2] at rest, without fans

  std::size_t vertexCount() const { return welded_of_vertex.size(); }
  std::size_t weldedCount() const { return vertices_of_welded.rowCount(); }
  std::size_t apexCount() const { return borders.rowCount(); }
  std::size_t pointCount() const { return weldedCount() + apexCount(); }
  std::size_t ownTriangleCount() const { return source_triangles.size(); }
  /// False for a piece whose volume is none but for rounding: a sheet, a hair card, loose vertices.
  bool hasVolume(std::size_t piece) const;
};

/// Requires a valid mesh (see validate() in tri_mesh.h). O(n log n). Notes, in the name of
/// `element`: measure-welded, measure-doubled (index: a triangle), measure-closed-border (index: a
/// welded vertex's first vertex), measure-odd-edges (non-manifold or wound against each other),
/// measure-degenerate, measure-inside-out, measure-no-volume (index: the piece's first vertex).
MeasuredSurface makeMeasuredSurface(std::span<const Vec3f> positions,
                                    std::span<const Triangle> triangles, std::string_view element,
                                    Diagnostics& notes);

/// Positions of all points, apexes too, minus `origin` (pass one near the surface: volumes of
/// far-off surfaces cancel badly). Allocation-free; same bits for any thread count. Require the
/// sizes vertexCount() and pointCount().
void measurePoints(const MeasuredSurface& surface, std::span<const Vec3f> positions,
                   const Vec3d& origin, std::span<Vec3d> points) noexcept;
void measurePoints(const MeasuredSurface& surface, std::span<const Vec3d> positions,
                   const Vec3d& origin, std::span<Vec3d> points) noexcept;

/// Fills the apexes' entries from the welded vertices': for positions, displacements, and any other
/// field that is linear over the surface. Requires values.size() == pointCount().
void completeApexes(const MeasuredSurface& surface, std::span<Vec3d> values) noexcept;
void completeApexes(const MeasuredSurface& surface, std::span<double> values) noexcept;

/// The reverse, for gradients: gives each apex' entry to its border in equal parts and clears it.
void spreadApexes(const MeasuredSurface& surface, std::span<Vec3d> gradient) noexcept;

/// Adds a welded vertex's displacement [m] to each of its vertices, rounding once.
void addToVertices(const MeasuredSurface& surface, std::span<const Vec3d> displacement,
                   std::span<Vec3f> positions) noexcept;

}  // namespace derm
