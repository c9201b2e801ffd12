#include "face/shape_morph.h"

#include "derm/mesh/normals.h"
#include "derm/mesh/weld.h"

namespace derm::detail {
namespace {

/// Of the mesh's diagonal: what moves less is left out.
constexpr double kSmallest = 1e-6;
/// Of a unit normal: the same.
constexpr float kSmallestTurn = 1e-3f;

}  // namespace

double diagonalOf(const TriMesh& mesh) {
  Eigen::AlignedBox3d box;
  for (const Vec3f& p : mesh.positions) box.extend(Eigen::Vector3d(p.cast<double>()));
  return box.isEmpty() ? 0.0 : box.diagonal().norm();
}

MorphMaker::MorphMaker(const TriMesh& mesh, std::span<const std::uint32_t> of_vertex)
    : mesh_(mesh),
      of_vertex_(of_vertex),
      weld_(weldMap(mesh.positions, mesh.triangles)),
      rest_normals_(areaWeightedNormals(mesh.positions, mesh.triangles, weld_)),
      smallest_m_(kSmallest * diagonalOf(mesh)) {}

void MorphMaker::add(std::span<const Vec3d> shape, std::vector<Vec3f>& positions,
                     std::vector<Vec3f>& normals) const {
  std::vector<bool> moved(positions.size(), false);
  for (std::size_t v = 0; v < positions.size(); ++v)
    if (const Vec3d& d = shape[of_vertex_[v]]; d.norm() > smallest_m_) {
      positions[v] += d.cast<float>();
      moved[weld_[v]] = true;
    }
  updateAreaWeightedNormals(positions, mesh_.triangles, weld_, moved, normals);
}

MorphTarget MorphMaker::make(std::span<const Vec3d> shape, std::span<const Vec3d> base) const {
  MorphTarget out;
  std::vector<Vec3f> moved = mesh_.positions;
  std::vector<Vec3f> base_normals = rest_normals_;
  if (!base.empty()) add(base, moved, base_normals);
  std::vector<Vec3f> normals = base_normals;
  add(shape, moved, normals);
  for (std::size_t v = 0; v < moved.size(); ++v) {
    const Vec3d& d = shape[of_vertex_[v]];
    const bool moves = d.norm() > smallest_m_;
    const Vec3f turn = normals[v] - base_normals[v];
    if (!moves && turn.norm() < kSmallestTurn) continue;
    out.vertices.push_back(static_cast<std::uint32_t>(v));
    out.positions.push_back(moves ? Vec3f(d.cast<float>()) : Vec3f::Zero());
    out.normals.push_back(turn);
  }
  return out;
}

}  // namespace derm::detail
