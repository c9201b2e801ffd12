#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/volume/region_volumes.h"
#include "derm/volume/section_correction.h"

#include "volume/section_kernels.h"

/// Private to room volume: what the section correction works on, in the order it works.
namespace derm::detail {

/// Passes that smooth the field: welded vertices this many rings from skin that bends still move.
inline constexpr int kFieldPasses = 6;

/// Regions that may exchange volume are solved together: those of a piece.
struct SectionBlock {
  std::uint32_t first_region = 0, region_count = 0;
  std::uint32_t first_pure = 0, pure_count = 0;        ///< in pure_chunks
  std::uint32_t first_general = 0, general_count = 0;  ///< in general_chunks
  std::uint32_t first_active = 0, active_count = 0;    ///< rows
  std::uint32_t first_apex = 0, apex_count = 0;        ///< in apexes
  std::size_t first_matrix = 0;                        ///< of region_count^2
};

/// Triangles by what their prisms (region_volumes.h) need.
enum class SectionKind : std::uint8_t {
  Pure,    ///< one region and one anchor: a tetrahedron
  Shared,  ///< several regions, one anchor
  Mixed,   ///< several anchors, or a fan's middle that moves: the whole prism, walls and all
};

/// A run of a block's triangles of one kind.
struct SectionChunk {
  std::uint32_t begin = 0, end = 0;
  SectionKind kind = SectionKind::Pure;
  std::uint32_t region = 0, anchor = 0;  ///< pure
  std::uint32_t block = 0;
  /// Others: the regions its triangles are shared by, in SectionPlan::sets.
  std::uint32_t first_of_set = 0, set_size = 0;
  std::size_t first_part = 0;  ///< others: of set_size * (set_size + 3) numbers
};

struct SectionMixed {
  Triangle corners{}, anchors{};
};

struct SectionRange {
  std::uint32_t begin = 0, end = 0;
};

/// Triangles of one kind and no others; corners are rows.
struct SectionTriangles {
  std::vector<Triangle> pure;  ///< by block, region and anchor
  std::vector<SectionShared> shared;
  std::vector<SectionMixed> mixed;
  std::vector<SectionChunk> pure_chunks, general_chunks;

  const Triangle& corners(SectionKind kind, std::uint32_t t) const {
    return kind == SectionKind::Pure     ? pure[t]
           : kind == SectionKind::Shared ? shared[t].corners
                                         : mixed[t].corners;
  }
};

/// Triangles whose areas are added up one after the other.
struct SectionAreaChunk {
  std::uint32_t begin = 0, end = 0;
  SectionKind kind = SectionKind::Pure;
};

/// A fan's middle: moves as the mean of its border.
struct SectionApex {
  std::uint32_t row = 0;
  std::uint32_t first_border = 0, border_count = 0;  ///< in apex_borders
  std::uint32_t first_entry = 0, entry_count = 0;    ///< in apex_regions
};

/// Welded vertices are worked through this many at a time.
inline constexpr std::size_t kSectionChunk = 2048;

/// How many neighbours of a welded vertex move, and how many it has; the first 255 count.
struct SectionNeighbours {
  std::uint8_t moving = 0, all = 0;
};

/// Shares of welded vertices. Most welded vertices have one, which is 1: for these only what it is
/// of is kept.
class SectionShares {
 public:
  struct Row {
    const std::uint32_t* columns = nullptr;
    const float* shares = nullptr;
    std::uint32_t count = 0;
    std::uint32_t first = 0;  ///< number of its first entry
  };

  void add(std::span<const std::uint32_t> columns, std::span<const float> shares) {
    if (columns.size() == 1 && shares[0] == kWhole) {
      of_welded_.push_back(columns[0]);
      return;
    }
    of_welded_.push_back(kSeveral | static_cast<std::uint32_t>(offsets_.size() - 1));
    columns_.insert(columns_.end(), columns.begin(), columns.end());
    shares_.insert(shares_.end(), shares.begin(), shares.end());
    offsets_.push_back(static_cast<std::uint32_t>(columns_.size()));
  }
  void trim() {
    for (std::vector<std::uint32_t>* list : {&of_welded_, &offsets_, &columns_})
      list->shrink_to_fit();
    shares_.shrink_to_fit();
  }
  Row operator[](std::size_t welded) const {
    const std::uint32_t one = of_welded_[welded];
    if ((one & kSeveral) == 0)
      return {&of_welded_[welded], &kWhole, 1, static_cast<std::uint32_t>(welded)};
    const std::uint32_t first = offsets_[one & ~kSeveral];
    return {columns_.data() + first, shares_.data() + first,
            offsets_[(one & ~kSeveral) + 1] - first,
            static_cast<std::uint32_t>(of_welded_.size()) + first};
  }
  /// Numbers of entries are below this.
  std::size_t entryBound() const { return of_welded_.size() + columns_.size(); }

 private:
  static constexpr std::uint32_t kSeveral = 0x80000000u;
  static constexpr float kWhole = 1.0f;

  std::vector<std::uint32_t> of_welded_;  ///< a column, or kSeveral and the number of a row
  std::vector<std::uint32_t> offsets_ = {0}, columns_;
  std::vector<float> shares_;
};

struct SectionPlan {
  std::size_t point_count = 0, welded_count = 0, region_count = 0, joint_count = 0;
  std::vector<double> rest_volumes;
  std::vector<SectionBlock> blocks;

  /// Points are worked on in rows: first the welded vertices that can move, by block, then those
  /// that stand still, then apexes, each in the surface's order. Everything per active welded
  /// vertex is in this order.
  std::vector<std::uint32_t> row_of_point;
  std::size_t active_count = 0;
  std::vector<SectionRange> rows_of_region;  ///< active rows among which a region's own are
  std::vector<float> bending;                ///< 1 - sum of squared weights
  std::vector<float> mask;                   ///< or empty
  std::vector<float> rest_area_inverse;      ///< 1 / one-ring area; 0 where it is not needed
  std::vector<SectionNeighbours> neighbour_counts;
  /// Where those of kSectionChunk welded vertices begin.
  std::vector<std::uint32_t> chunk_neighbours;
  /// Neighbours that move, without the welded vertex itself; in 32 bits where some lie too far
  /// apart in the mesh's order.
  std::vector<std::int16_t> near_neighbours;
  std::vector<std::int32_t> far_neighbours;
  SectionShares members;   ///< of all points, by row: shares in regions
  SectionShares concerns;  ///< of activities
  /// Regions that shared triangles belong to, set by set, ascending in each.
  std::vector<std::uint32_t> sets;
  /// What a joint's turning counts for: (joint, activity) pairs; an activity is the most of them.
  struct ActivitySource {
    std::uint32_t joint, activity;
  };
  std::vector<ActivitySource> activity_sources;
  /// Per activity that of the next joint above in the same piece, or kNoActivity. A piece's lie
  /// together, and those above come first.
  std::vector<std::uint32_t> activity_above;
  std::vector<char> of_trunk;  ///< per activity: others branch below it
  std::vector<SectionRange> activities_of_piece;

  SectionTriangles moving;
  SectionTriangles still;  ///< summed once per frame, in blocks that can move only
  /// Chunks of moving triangles whose areas are added to their corners, in rounds that may go on at
  /// once.
  std::vector<SectionAreaChunk> area_chunks;
  std::vector<std::uint32_t> area_rounds;  ///< where rounds begin in area_chunks, and the end
  std::size_t part_count = 0;              ///< of all general chunks
  std::size_t matrix_size = 0;
  std::vector<SectionApex> apexes;
  std::vector<std::uint32_t> apex_borders;  ///< rows
  std::vector<std::uint32_t> apex_regions;
  std::vector<std::uint32_t> apex_of_row;  ///< per apex row (row - welded_count): in apexes
  /// Three anchors under one triangle: what lies between them goes to a hub.
  struct AnchorTriangle {
    Triangle anchors{};
    std::uint32_t hub = 0;
  };
  std::vector<AnchorTriangle> anchor_triangles;

  std::size_t activityCount() const { return activity_above.size(); }
  bool moves(std::uint32_t row) const { return row < active_count; }
};

inline constexpr std::uint32_t kStandsStill = 0xFFFFFFFFu;
inline constexpr std::uint32_t kNoActivity = RegionJoint::kNone;

SectionPlan makeSectionPlan(const MeasuredSurface& surface, const VolumeRegions& regions,
                            std::span<const Vec3d> rest_points, std::span<const float> mask);

}  // namespace derm::detail
