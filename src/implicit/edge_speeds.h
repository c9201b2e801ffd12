#pragma once

#include <span>
#include <vector>

#include "derm/implicit/potential.h"
#include "derm/implicit/target.h"

#include "implicit/band_stepper.h"

namespace derm::detail {

/// How a target's values become voxels of distance.
struct FieldScale {
  float iso = 0;
  float per_value = 1;  ///< [voxel] per unit of G - iso
  float reach = 2;      ///< [voxel] clamp
};

/// What edge points carry in a step; one entry each.
struct EdgeFields {
  std::vector<float> distance;   ///< Ghat [voxel], clamped
  std::vector<float> curvature;  ///< [1/voxel]; empty where not wanted

  std::size_t memoryBytes() const {
    return (distance.capacity() + curvature.capacity()) * sizeof(float);
  }
};

/// Samples the target and interpolates the curvature at all edge points. Requires prepare() of the
/// stepper.
void sampleEdges(const Potential& potential, const BandStepper& stepper, const Target& target,
                 const FieldScale& scale, bool curvature, EdgeFields& out);

/// The same at the near nodes themselves (512 per slot), for Evaluation::Nodes.
void sampleNearNodes(const Potential& potential, const BandStepper& stepper, const Target& target,
                     const FieldScale& scale, std::vector<float>& out);

/// [1/m] 90 % quantile of |grad G| at up to some thousand edge points; 0 where there are none.
double measuredSlope(const Potential& potential, const EdgeIndex& index, const Target& target);

}  // namespace derm::detail
