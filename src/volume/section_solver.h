#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "volume/section_plan.h"

/// Private to room volume: one frame of the section correction.
namespace derm::detail {

/// All work space, sized once.
struct SectionBuffers {
  SectionBuffers(const SectionPlan& plan, const SectionDesc& numbers);

  SectionDesc desc;

  std::vector<SectionRow> rows;
  std::vector<float> ways;     ///< three per row, and one to spare
  std::vector<double> shares;  ///< per active welded vertex: s, how much of its way it has moved
  std::vector<float> field;    ///< per active welded vertex: b
  std::vector<float> free;     ///< per active welded vertex: 1 - how much it is held
  std::vector<float> gains;    ///< per entry of the active welded vertices' members: G
  std::vector<double> activities;
  std::vector<float> nearness;                           ///< per activity
  std::vector<float> largest_gain;                       ///< per region: max of phi g
  std::vector<float> gain_parts;                         ///< the same per chunk of welded vertices
  std::vector<double> still_volumes, volumes, residual;  ///< per region
  std::vector<double> lambda, trial, best, step;         ///< per region
  std::vector<double> matrix, work;                      ///< per block region_count^2
  std::vector<double> chunk_volumes, chunk_slopes;       ///< per pure or still chunk
  std::vector<double> parts;                             ///< of general chunks
  std::vector<double> part_maxima;                       ///< per chunk of active welded vertices
  std::vector<std::uint32_t> part_rows;                  ///< where the maximum is
  std::vector<Vec3d> apex_moves;                         ///< per entry of apex_regions

  SectionPoints points() { return {rows.data(), ways.data()}; }
  Vec3d positionOf(std::size_t row) const {
    const double* const x = rows[row].x;
    return Vec3d(x[0], x[1], x[2]);
  }
  Vec3d wayOf(std::size_t row) const {
    const float* const way = ways.data() + 3 * row;
    return Vec3d(way[1], way[2], way[0]);
  }
  /// How far a row has moved. One that stands still may have a way that is not finite.
  Vec3d moveOf(std::size_t row) const {
    const double s = row < shares.size() ? shares[row] : 0;
    return s != 0 ? Vec3d(s * wayOf(row)) : Vec3d(Vec3d::Zero());
  }
};

/// Solves all blocks. The displacement of welded vertices that stand still is zero.
SectionReport solveSections(const SectionPlan& plan, const SectionBinding::Frame& frame,
                            SectionBuffers& buffers, std::span<Vec3d> displacement,
                            std::span<RegionOutcome> outcomes, std::span<double> after_m3) noexcept;
/// The same from vertices; what it found stays in the buffers for moveVertices().
SectionReport solveSections(const SectionPlan& plan, const SectionBinding::Frame& frame,
                            const SectionBinding::Vertices& vertices, SectionBuffers& buffers,
                            std::span<RegionOutcome> outcomes, std::span<double> after_m3) noexcept;
void moveVertices(const SectionPlan& plan, const MeasuredSurface& surface,
                  const SectionBuffers& buffers, std::span<Vec3f> positions) noexcept;

}  // namespace derm::detail
