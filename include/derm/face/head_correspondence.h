#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "derm/base/result.h"
#include "derm/mesh/surface_point.h"

namespace derm {

/// Which point of one head (the source) is the same part of the face as each vertex of another (the
/// target). What carries weights and shapes from head to head; how it was found does not matter.
struct HeadCorrespondence {
  /// As a triangle: this vertex has no counterpart (back of the head, neck, inside of the mouth).
  static constexpr std::uint32_t kNoTriangle = 0xFFFFFFFFu;

  std::vector<SurfacePoint> source_points;  ///< per vertex of the target, on the source's triangles
  std::vector<float> confidence;  ///< [0,1] per vertex of the target; 0 where there is none

  bool has(std::size_t vertex) const { return source_points[vertex].triangle != kNoTriangle; }
  bool operator==(const HeadCorrespondence&) const = default;
};

/// One point and one confidence per vertex, every point valid on the source or kNoTriangle.
/// O(vertices).
Result<void> validate(const HeadCorrespondence& correspondence, std::size_t source_triangle_count,
                      std::size_t target_vertex_count);

}  // namespace derm
