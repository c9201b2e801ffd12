#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/deform/region_volumes.h"
#include "derm/deform/section_correction.h"

/// Private to room deform: what the section correction works on, in the order it works.
namespace derm::detail {

/// Regions that may exchange volume are solved together: those of a piece.
struct SectionBlock {
  std::uint32_t first_region = 0, region_count = 0;
  std::uint32_t first_pure = 0, pure_count = 0;        ///< in pure_chunks
  std::uint32_t first_general = 0, general_count = 0;  ///< in general_chunks
  std::uint32_t first_active = 0, active_count = 0;    ///< in active
  std::uint32_t first_apex = 0, apex_count = 0;        ///< in apexes
  std::size_t first_matrix = 0;                        ///< of region_count^2
};

/// A run of the block's triangles of one region, or of its shared triangles and walls.
struct SectionChunk {
  std::uint32_t begin = 0, end = 0;
  std::uint32_t region = 0;
  bool walls = false;          ///< general: walls, not triangles
  std::size_t first_part = 0;  ///< general: of region_count * (region_count + 1) partial sums
};

/// A fan's middle: moves as the mean of its border.
struct SectionApex {
  std::uint32_t point = 0;
  std::uint32_t first_border = 0, border_count = 0;  ///< in apex_borders
  std::uint32_t first_entry = 0, entry_count = 0;    ///< in apex_regions
};

struct SectionPlan {
  SectionDesc desc;
  std::size_t point_count = 0, place_count = 0, region_count = 0, joint_count = 0;
  std::vector<double> rest_volumes;
  std::vector<SectionBlock> blocks;

  // Places that can move, by block. Everything per active place is in this order.
  std::vector<std::uint32_t> active;
  std::vector<std::uint32_t> active_of_point;  ///< kNone: stands still
  std::vector<float> bending;                  ///< 1 - sum of squared weights
  std::vector<float> mask;                     ///< or empty
  std::vector<float> rest_area_inverse;        ///< 1 / one-ring area; 0 where it is not needed
  std::vector<std::uint32_t> neighbour_offsets, neighbours;  ///< active ones only
  std::vector<float> neighbour_weights;  ///< per place 1 / number of all its neighbours
  std::vector<std::uint32_t> member_offsets, member_regions;
  std::vector<float> member_shares;
  std::vector<std::uint32_t> concern_offsets, concern_activities;
  std::vector<float> concern_shares;
  /// What a joint's turning counts for: (joint, activity) pairs; an activity is the most of them.
  struct ActivitySource {
    std::uint32_t joint, activity;
  };
  std::vector<ActivitySource> activity_sources;
  std::size_t activity_count = 0;

  std::vector<Triangle> pure;  ///< moving ones, by block and region
  std::vector<SectionChunk> pure_chunks;
  std::vector<RegionVolumes::SharedTriangle> general_triangles;
  std::vector<RegionVolumes::Wall> walls;
  std::vector<SectionChunk> general_chunks;
  std::size_t part_count = 0;  ///< partial sums of all general chunks
  std::size_t matrix_size = 0;
  std::vector<RegionVolumes::Share> shares;
  std::vector<std::uint32_t> foot;  ///< per point
  std::vector<SectionApex> apexes;
  std::vector<std::uint32_t> apex_borders;  ///< points
  std::vector<std::uint32_t> apex_regions;
  std::vector<std::uint32_t> apex_of_point;  ///< per apex point (point - place_count): in apexes

  // What cannot move is summed once per frame, in blocks that can move only.
  std::vector<Triangle> still;
  std::vector<SectionChunk> still_chunks;
  std::vector<RegionVolumes::SharedTriangle> still_triangles;
  std::vector<RegionVolumes::Wall> still_walls;
  std::vector<RegionVolumes::FeetTriangle> feet_triangles;
};

inline constexpr std::uint32_t kStandsStill = 0xFFFFFFFFu;

SectionPlan makeSectionPlan(const MeasuredSurface& surface, const VolumeRegions& regions,
                            std::span<const Vec3d> rest_points, std::span<const float> mask,
                            const SectionDesc& desc);

}  // namespace derm::detail
