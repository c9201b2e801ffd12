#include "derm/implicit/skin_report.h"

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
  if (skin.strategy().volume != Hold::No)
    for (const Body& b : skin.bodies()) r.wanted_volume += b.wanted_volume;
  return r;
}

}  // namespace derm
