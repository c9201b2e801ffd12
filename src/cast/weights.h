#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/mesh/tri_mesh.h"

#include "cast/rig.h"
#include "cast/sculpt.h"

namespace derm::detail::cast {

/// The flesh around one joint's bone. A joint may have several; a joint without one moves nothing.
struct Bone {
  JointId joint;
  Bead a, b;
};

/// Between `start` and `end` the weight passes evenly from one joint to the other, instead of at
/// the border between their bones: along a limb that twists, and at elbows, whose inside and
/// outside else follow different bones.
struct WeightRamp {
  JointId from, to;
  Vec3d start, end;
};

struct WeightDesc {
  int spread = 8;              ///< smoothing steps: the blend reaches about sqrt(spread) edges
  std::size_t influences = 4;  ///< at most, per vertex
  double min_weight = 0.02;    ///< smaller weights are dropped
  /// Joints beside the plane x = 0 pull nothing at `side_none` times their own distance from it,
  /// wholly from `side_whole` on. Trunks that legs swing under want less: else these drag the
  /// belly.
  double side_none = -1.0, side_whole = 0.0;
  /// [m] A joint pulls wholly up to `reach_whole` from the flesh of its bones, nothing from
  /// `reach_none` on: where triangles are large, diffusion alone lets elbows drag a chest.
  double reach_whole = 1e9, reach_none = 2e9;
  std::vector<WeightRamp> ramps;
};

/// Every vertex goes to the bone whose flesh is nearest; then the border between bones is softened
/// by diffusion along the surface. Weights thus never jump across a gap (from finger to finger,
/// from leg to leg), and blend wider where the triangles, and so the limbs, are larger.
/// `mirror_of`, where not empty, makes the result exactly symmetric: joints "…_left" and "…_right"
/// change places.
Skin diffusedWeights(const TriMesh& mesh, const Rig& rig, std::span<const Bone> bones,
                     const WeightDesc& desc, std::span<const std::uint32_t> mirror_of);

/// Per joint its partner on the other side, itself where it has none.
std::vector<std::size_t> mirrorJoints(const Skeleton& skeleton);

}  // namespace derm::detail::cast
