#pragma once

#include <cstdint>
#include <vector>

#include "derm/mesh/local_refinement.h"
#include "derm/mesh/tri_mesh.h"

namespace derm::testing_support {

/// Positions of a surface's vertices followed by those a refinement adds.
inline std::vector<Vec3f> refinedPositions(const std::vector<Vec3f>& positions,
                                           const LocalRefinement& refinement, float smoothing = 1) {
  std::vector<Vec3f> slots(refinement.stencils.slotCount() + 1, Vec3f::Zero());
  refinement.stencils.gather(positions, slots);
  refinement.stencils.evaluate(smoothing, slots);
  std::vector<Vec3f> out = positions;
  for (const MiddleVertex& v : refinement.vertices) out.push_back(slots[v.slot]);
  return out;
}

/// The whole surface with a refinement in it.
inline TriMesh refinedMesh(const TriMesh& mesh, const LocalRefinement& refinement,
                           float smoothing = 1) {
  TriMesh out;
  out.positions = refinedPositions(mesh.positions, refinement, smoothing);
  std::vector<std::uint8_t> replaced(mesh.triangles.size(), 0);
  for (const std::uint32_t t : refinement.replaced) replaced[t] = 1;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
    if (replaced[t] == 0) out.triangles.push_back(mesh.triangles[t]);
  out.triangles.insert(out.triangles.end(), refinement.triangles.begin(),
                       refinement.triangles.end());
  return out;
}

}  // namespace derm::testing_support
