#include "derm/implicit/polygonise.h"

#include <numeric>

#include "derm/base/parallel.h"
#include "derm/mesh/adjacency.h"

#include "implicit/lattice_surface.h"

namespace derm {

struct Polygoniser::Impl {
  detail::EdgeIndex index;
  detail::LatticeSurface surface;
};

Polygoniser::Polygoniser() : impl_(std::make_unique<Impl>()) {}
Polygoniser::~Polygoniser() = default;
Polygoniser::Polygoniser(Polygoniser&&) noexcept = default;
Polygoniser& Polygoniser::operator=(Polygoniser&&) noexcept = default;

void Polygoniser::run(const Potential& potential, TriMesh& out, bool normals) {
  impl_->index.build(potential.grid);
  detail::LatticeSurface& s = impl_->surface;
  // The arrays change hands twice, so that neither side allocates once they are large enough.
  s.points.swap(out.positions);
  s.normals.swap(out.normals);
  s.triangles.swap(out.triangles);
  polygoniseLattice(potential.grid, impl_->index, normals, s);
  const Vec3d corner =
      potential.nodePosition(8 * s.reference.x, 8 * s.reference.y, 8 * s.reference.z);
  const double h = potential.voxel_m;
  constexpr std::size_t kPointsPerChunk = 4096;
  parallelFor(s.points.size(), kPointsPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      s.points[i] = Vec3d(corner + h * s.points[i].cast<double>()).cast<float>();
  });
  s.points.swap(out.positions);
  s.normals.swap(out.normals);
  s.triangles.swap(out.triangles);
}

TriMesh polygonised(const Potential& potential) {
  TriMesh mesh;
  Polygoniser().run(potential, mesh);
  return mesh;
}

SurfaceMeasures measured(const TriMesh& mesh) {
  SurfaceMeasures all;
  const Pieces pieces = connectedPieces(mesh.triangles, mesh.vertexCount());
  all.pieces.resize(pieces.count);
  if (mesh.positions.empty()) return all;
  const Vec3d centre = mesh.positions.front().cast<double>();
  for (const std::uint32_t piece : pieces.of_vertex) all.pieces[piece].euler_number += 2;
  for (const Triangle& t : mesh.triangles) {
    SurfacePiece& piece = all.pieces[pieces.of_vertex[t[0]]];
    const Vec3d a = mesh.positions[t[0]].cast<double>() - centre;
    const Vec3d b = mesh.positions[t[1]].cast<double>() - centre;
    const Vec3d c = mesh.positions[t[2]].cast<double>() - centre;
    piece.volume += a.dot(b.cross(c)) / 6;
    piece.area += Vec3d(b - a).cross(Vec3d(c - a)).norm() / 2;
    --piece.euler_number;
    ++piece.triangles;
  }
  for (SurfacePiece& piece : all.pieces) {
    piece.euler_number /= 2;  // V - E + F with E = 3 F / 2
    all.volume += piece.volume;
    all.area += piece.area;
    all.euler_number += piece.euler_number;
  }
  return all;
}

}  // namespace derm
