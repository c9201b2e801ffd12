#pragma once

#include <cstddef>
#include <span>

#include "derm/math/rbf.h"

/// Private to room math: radial basis functions of many points at a time.
namespace derm::detail {

/// A map from `in` to `out` coordinates, rounded.
struct RbfBatch {
  RbfKernel kernel = RbfKernel::Biharmonic;
  int in = 3, out = 3;
  /// The centroid is subtracted in two parts: rounded to a float alone it would shift all points.
  float centroid[3] = {}, centroid_rest[3] = {};
  float per_radius = 1;
  float linear[9] = {};  ///< out rows of in
  float constant[3] = {};
  std::span<const float> centres;  ///< in + 1 + out numbers each: position, shape, weight
};

/// `points` holds count times batch.in numbers, `mapped` count times batch.out. A point's result
/// does not depend on its place in the array. May be the same memory if in = out.
void evaluateRbf(const RbfBatch& batch, const float* points, float* mapped, std::size_t count);

}  // namespace derm::detail
