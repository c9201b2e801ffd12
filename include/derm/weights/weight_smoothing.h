#pragma once

#include "derm/anim/skin.h"
#include "derm/base/result.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

struct WeightSmoothingDesc {
  int passes = 1;       ///< [0,1000] each reaches one edge further
  float amount = 0.5f;  ///< [0,1] share that the neighbours' mean takes; 1/2 damps without swinging
  bool weld = true;     ///< vertices at one position are one: seams stay shut
};

/// Weights averaged with those of the vertices joined by an edge: w' = (1 - amount) w + amount *
/// mean. Rows still sum to 1; they grow by the neighbours' slots (shares below 1e-6 are dropped),
/// so use pruned() afterwards. Vertices without triangles keep their row. Where `weld` is set,
/// vertices at one position come out with one row, that of their mean where they differed.
/// The neighbours count alike, so the reach depends on the mesh's edge length. O(passes * edges *
/// influences); the same bits for every thread count.
/// Fails on parameters out of range and on a skin that does not fit the mesh.
Result<Skin> smoothedWeights(const Skin& skin, const TriMesh& mesh,
                             const WeightSmoothingDesc& desc);

}  // namespace derm
