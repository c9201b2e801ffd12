#pragma once

#include <memory>
#include <span>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/implicit/build_potential.h"
#include "derm/implicit/potential.h"
#include "derm/implicit/target.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

/// Another potential as a target: its distances [m], trilinear; beyond its band only their sign
/// counts, which is all a skin needs to travel.
class PotentialTarget final : public Target {
 public:
  explicit PotentialTarget(std::shared_ptr<const Potential> potential);
  void sample(const SampleBatch& at, std::span<float> g) const noexcept override;
  Box3d bounds() const override { return box_; }
  FieldRange rangeIn(const Box3d& box) const override;
  void appendSeeds(std::vector<TargetSeed>& seeds) const override;
  const Potential& potential() const { return *potential_; }

 private:
  std::shared_ptr<const Potential> potential_;
  Box3d box_;
  void findSeeds();
  std::vector<TargetSeed> seeds_;  ///< a part per body: its middle, then one for every block
};

/// Signed distances to a closed triangle mesh, near it: every triangle is written into the nodes
/// around it; the sign floods in from outside through nodes further than 0.87 voxel from any
/// triangle, so gaps below a voxel and doubled or crossing triangles do no harm; nodes nearer take
/// the side of their nearest triangle. An inside-out mesh is turned (noted).
///
/// A mesh of several closed pieces (a body with eyes, teeth and limbs stuck into it) is their
/// union: pieces whose boxes meet are measured one by one, and the largest value counts, so what
/// one hides of another is no wall. Pieces that are not closed bound something only together, and
/// with the closed ones. Openings of up to 15 % of their piece's area are closed where the
/// winding number of the open mesh passes one half, with a note that says how many and how wide. A
/// piece that crosses itself keeps its inner walls; room that several pieces enclose between them
/// stays hollow. O(surface) for each set of pieces that do not meet. Errors: a mesh without
/// triangles or with numbers that are not finite, memory, and a mesh with wide openings through
/// which the flood gets in (names a boundary edge).
Result<Potential> buildMeshPotential(const TriMesh& mesh, const PotentialDesc& desc,
                                     Diagnostics& notes);

}  // namespace derm
