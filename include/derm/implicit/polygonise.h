#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "derm/implicit/potential.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

/// Turns the zero surface of a potential into triangles.
///
/// Marching cubes with a table of our own: one shared vertex per crossed lattice edge, cut where f
/// is zero along it; closed, manifold along edges and outward oriented whatever the signs, since
/// ambiguous faces are cut alike from both sides (separating inside corners). Normals come from the
/// field: its difference along the edge, central differences across it. Vertices and triangles
/// follow the blocks' order and do not depend on threads or history.
///
/// O(blocks) plus the surface; keeps its buffers, so repeated use allocates nothing once they are
/// large enough. Not thread-safe; make one per user.
class Polygoniser {
 public:
  Polygoniser();
  ~Polygoniser();
  Polygoniser(Polygoniser&&) noexcept;
  Polygoniser& operator=(Polygoniser&&) noexcept;

  /// Replaces positions [m], triangles and, if asked for, normals of `out`.
  void run(const Potential& potential, TriMesh& out, bool normals = true);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The same once, for those who need one mesh.
TriMesh polygonised(const Potential& potential);

/// Numbers of one closed piece of a polygonised surface.
struct SurfacePiece {
  double volume = 0;     ///< [m^3] signed: negative for a cavity
  double area = 0;       ///< [m^2]
  int euler_number = 0;  ///< vertices - edges + triangles: 2 minus twice the handles
  std::uint32_t triangles = 0;
};

/// Volume, area and topology of a closed mesh as a whole and by piece, exact for the polygons.
struct SurfaceMeasures {
  double volume = 0;
  double area = 0;
  int euler_number = 0;
  std::vector<SurfacePiece> pieces;  ///< in order of their first vertex
};

/// Requires a closed mesh with shared vertices. O(n).
SurfaceMeasures measured(const TriMesh& mesh);

}  // namespace derm
