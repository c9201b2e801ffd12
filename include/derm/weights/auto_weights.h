#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "derm/anim/skeleton.h"
#include "derm/anim/skin.h"
#include "derm/base/diagnostics.h"
#include "derm/base/progress.h"
#include "derm/base/result.h"
#include "derm/mesh/tri_mesh.h"
#include "derm/weights/bone_segments.h"

namespace derm {

/// How skin weights are found. With d the distance of a vertex from a bone:
enum class WeightMethod {
  Nearest,          ///< all to the nearest bone: rigid parts, armour, robots
  Linear,           ///< straight blend along the bone to its neighbours, half and half at a joint
  InverseDistance,  ///< every bone by 1 / d^exponent through the air: simple shapes
  Heat,      ///< heat spread over the surface from the bones inside it: the one to start with
  Geodesic,  ///< 1 / d^exponent with d along the surface: like Heat, with a setting for width
};

/// What distance is measured to.
enum class DistanceTo {
  Segments,     ///< the bones from joint to joint (see boneSegments)
  JointPoints,  ///< the joints alone
};

/// "nearest", "linear", "inverse-distance", "heat", "geodesic".
std::string_view nameOf(WeightMethod method);
/// The method of that name, or an error that lists the nearest names.
Result<WeightMethod> weightMethodNamed(std::string_view name);

struct AutoWeightsDesc {
  WeightMethod method = WeightMethod::Heat;
  DistanceTo to = DistanceTo::Segments;  ///< Linear always uses segments
  /// (0,32] of InverseDistance and Geodesic: higher is stiffer. 4 keeps limbs apart (2 is the
  /// classic choice for two joints).
  float exponent = 4.0f;
  /// [0.001,1000] of Heat: strength of the bone against the flow along the surface, the `c` of the
  /// paper: higher is stiffer; a blend is about (limb radius / sqrt(c)) wide. The authors use 1; 2
  /// came nearer to the artists' weights on all nine characters it was chosen on (docs/weights.md).
  float heat_transfer = 2.0f;
  /// [0,1] of Linear: share of the bone over which it blends; 0 is rigid.
  float blend_length = 1.0f;
  std::size_t max_influences = 4;  ///< >= 1 per vertex; 4 is what every engine plays
  /// [0,0.5] weights below are dropped: 0.001 is a quarter of what 8-bit weights can express.
  float smallest = 1e-3f;
  int smoothing_passes = 0;       ///< [0,1000] see weight_smoothing.h; Heat needs none
  float smoothing_amount = 0.5f;  ///< [0,1] share of the neighbours' mean per pass
  /// Vertices at one position (texture seams, hard edges) get one row, so that seams stay shut.
  /// Turn off where parts that must come apart (lips) touch exactly.
  bool weld = true;
};

/// Every field in range; the error names the field.
Result<void> validate(const AutoWeightsDesc& desc);

/// Skin weights for any triangle mesh from its bones alone, in the bind pose.
///
/// Nearest, InverseDistance: Euclidean, ignoring the surface. Linear: at share t of the nearest
///   bone, the bone has 1/2 + t and the one before it the rest where t < 1/2, and mirrored with the
///   one after; a bone without one before it (after it) blends over its whole length instead of
///   half. Two bones of equal length L/2 in a row so give exactly w = 1 - z/L, z/L.
/// Heat: Baran, Popovic, "Automatic rigging and animation of 3D characters", 2007, section 4:
///   (L + A H) w = A H p with the cotangent Laplacian L (cotangent.h), vertex areas A,
///   H = heat_transfer / d^2 and p = 1 for the nearest bone that the vertex sees. Bones equally
///   near (to 1e-4) share. The matrix is factorised once (sparse LDL^T) for all bones. Where we
///   differ: a vertex that does not see its nearest bone takes the nearest one it does see, up to
///   twice as far, and else the nearest unseen, as if twice as far (the paper: none). Cavities and
///   limbs without bones so follow what is around them instead of what is seen through their root.
/// Geodesic: every bone's distance is kept where it is the nearest seen one, and grows along the
///   surface from there (geodesic.h); after Dionne, de Lasa, "Geodesic voxel binding", 2013, but on
///   the surface instead of voxels.
///
/// Sight: the straight line from the vertex to the nearest point of the bone must not cross the
/// vertex's own connected piece of surface (its last tenth is free, so a bone may stick out a
/// little). Other pieces do not hide a bone: clothes see the bones in the body. Pieces that have
/// bones inside (by winding number, so holes do not matter) do not look at bones inside other
/// pieces only: a torso does not follow the arm beside it, an eye with a bone follows that alone.
///
/// Rows: never empty, weights in (0,1], sum 1. What is odd is told in `notes`: "vertex-unseen"
/// (Heat, Geodesic) with the index of a vertex that sees no near bone and follows the nearest one
/// unseen; "vertex-loose": a vertex without triangles follows the nearest bone; "bone-unused":
/// nothing follows the bone; "bone-not-invertible": a bind matrix without inverse, left out.
/// Moving, turning, mirroring or scaling mesh and bones together, or reordering vertices, changes
/// nothing but rounding; results are the same bits for every thread count.
///
/// Cost: O(vertices * bones) for the simple ones; Heat adds a factorisation, about O(n^1.5), and a
/// solve per bone; Geodesic a search per bone. Memory O(n) beside the result.
/// Fails on parameters out of range, no bones, a bone that is no joint or is listed twice, matrices
/// or positions that are not finite, and when `progress` cancels.
/// Slots of the result: `bones` in the order given, inverse_bind = bind_model^-1.
Result<Skin> autoWeights(const TriMesh& mesh, const Skeleton& skeleton,
                         std::span<const JointId> bones, std::span<const Affine3d> bind_model,
                         const AutoWeightsDesc& desc, Diagnostics& notes,
                         const Progress& progress = {});

/// The same for bones given as segments (or points) of your own; desc.to does not matter. Fails
/// where a segment names a slot that is not there.
Result<Skin> autoWeights(const TriMesh& mesh, std::span<const SkinSlot> slots,
                         std::span<const BoneSegment> bones, const AutoWeightsDesc& desc,
                         Diagnostics& notes, const Progress& progress = {});

}  // namespace derm
