#include "derm/implicit/skin_report.h"

#include <algorithm>
#include <cmath>

#include "derm/implicit/polygonise.h"

namespace derm {

SkinRecord recorded(const ActiveSkin& skin, const TriMesh& mesh, const SkinStep& last) {
  const SurfaceMeasures m = measured(mesh);
  SkinRecord r;
  r.time_s = skin.time_s();
  r.euler_number = m.euler_number;
  r.components = m.pieces.size();
  r.volume = m.volume;
  r.area = m.area;
  r.residual_mean = last.residual_mean;
  r.residual_max = last.residual_max;
  r.active_nodes = skin.potential().grid.activeCount();
  for (const Body& b : skin.bodies()) {
    r.cavities += b.cavities;
    if (skin.law().volume != Hold::No) r.wanted_volume += b.wanted_volume;
  }
  return r;
}

double unreachedShare(const Potential& skin, const Potential& target, double voxels) {
  const TriMesh mesh = polygonised(target);
  const double far = skin.voxel_m * std::min(voxels, static_cast<double>(skin.grid.activeLimit()));
  std::size_t unreached = 0;
  for (const Vec3f& p : mesh.positions) unreached += std::abs(skin.valueAt(p.cast<double>())) > far;
  return mesh.positions.empty()
             ? 0
             : static_cast<double>(unreached) / static_cast<double>(mesh.positions.size());
}

}  // namespace derm
