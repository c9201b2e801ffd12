#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "deform/section_plan.h"

/// Private to room deform: one frame of the section correction.
namespace derm::detail {

/// A point as the sums read it: x is where it is, s d of that the correction, and h d how it moves
/// with its multiplier. One cache line holds it with room to spare.
struct SectionCorner {
  double x[3];
  double s;
  float d[3];
  float h;
};
static_assert(sizeof(SectionCorner) == 48);

/// All work space, sized once.
struct SectionBuffers {
  explicit SectionBuffers(const SectionPlan& plan);

  std::vector<SectionCorner> corners;  ///< per point
  std::vector<float> field;            ///< per active place: b
  std::vector<float> gains;            ///< per entry of the active places' members: G
  std::vector<double> activities;
  std::vector<float> largest_gain;                       ///< per region: max of phi g
  std::vector<float> gain_parts;                         ///< the same per chunk of places
  std::vector<double> still_volumes, volumes, residual;  ///< per region
  std::vector<double> lambda, trial, best, step;         ///< per region
  std::vector<double> matrix, work;                      ///< per block region_count^2
  std::vector<double> chunk_volumes, chunk_slopes;       ///< per pure or still chunk
  std::vector<double> parts;                             ///< of general chunks
  std::vector<double> part_maxima;                       ///< per chunk of active places
  std::vector<std::uint32_t> part_places;                ///< where the maximum is
  std::vector<Vec3d> apex_moves;                         ///< per entry of apex_regions
};

/// Solves all blocks. The displacement of places that stand still is zero.
SectionReport solveSections(const SectionPlan& plan, const SectionBinding::Frame& frame,
                            SectionBuffers& buffers, std::span<Vec3d> displacement,
                            std::span<RegionOutcome> outcomes, std::span<double> after_m3) noexcept;
/// The same from vertices; what it found stays in the buffers for moveVertices().
SectionReport solveSections(const SectionPlan& plan, const SectionBinding::Frame& frame,
                            const SectionBinding::Vertices& vertices, SectionBuffers& buffers,
                            std::span<RegionOutcome> outcomes, std::span<double> after_m3) noexcept;
void moveVertices(const MeasuredSurface& surface, const SectionBuffers& buffers,
                  std::span<Vec3f> positions) noexcept;

}  // namespace derm::detail
