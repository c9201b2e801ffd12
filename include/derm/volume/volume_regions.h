#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "derm/anim/skeleton.h"
#include "derm/anim/skin.h"
#include "derm/base/result.h"
#include "derm/mesh/measured_surface.h"

namespace derm {

/// Rows of few non-zero shares: entries of row r are [offsets[r], offsets[r + 1]), by column.
struct ShareRows {
  std::vector<std::uint32_t> offsets = {0};
  std::vector<std::uint32_t> columns;
  std::vector<double> shares;

  std::size_t rowCount() const { return offsets.size() - 1; }
  std::span<const std::uint32_t> columnsOf(std::size_t row) const {
    return std::span(columns).subspan(offsets[row], offsets[row + 1] - offsets[row]);
  }
  std::span<const double> sharesOf(std::size_t row) const {
    return std::span(shares).subspan(offsets[row], offsets[row + 1] - offsets[row]);
  }
};

/// How a surface is divided into regions that keep their volume one by one.
enum class RegionKind {
  Whole,       ///< one region: all pieces together
  Components,  ///< one per connected piece
  Joints,      ///< one per joint that bends a good part of a piece, merged where they overlap
  Groups,      ///< one per named vertex group, and one for what is left over in each piece
};

struct RegionsDesc {
  RegionKind kind = RegionKind::Joints;
  /// [0,1] Joints: regions merge while skin at their border bends more than this (0: it does not
  /// bend at all, 1: half of it follows either side). A border through skin that bends lets
  /// material flow between regions, and exactness then costs shape. 1 = never merge.
  double beta = 0.3;
  /// [0,1] Joints: share of its piece's area that a joint has to carry to count. Keeps fingers and
  /// toes out of it; 0 keeps them.
  double min_area_share = 0.012;
  /// Joints: area / (border length)^2 of what a joint carries. Limbs have 0.26 to 0.83, patches
  /// like brows, breasts and muscles 0.1 and less.
  double min_limb_ratio = 0.2;
  /// [0,1] Joints: regions of a smaller share of their piece's volume join a neighbour.
  double min_volume_share = 0.005;
  /// Joints: regions of fewer points join a neighbour: on coarse meshes a border is as wide as a
  /// region, and what flows across it is more than the region can take.
  std::size_t min_points = 200;
  std::vector<std::string> groups = {};  ///< Groups: names of vertex groups, at least one

  bool operator==(const RegionsDesc&) const = default;
};

/// One joint of the tree that regions are made of: a joint that carries weights, or one where
/// several such branches meet. Joints that do neither are passed over. Where a surface has no skin
/// there is one entry without a joint, in its middle.
struct RegionJoint {
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

  JointId joint;                 ///< invalid: stands still
  std::uint32_t parent = kNone;  ///< nearest one above it, in this list; before it in the list
  Vec3d bind_position = Vec3d::Zero();  ///< [m]
};

/// The part of a connected piece that keeps its volume.
struct VolumeRegion {
  std::string name;         ///< of its topmost joint, its group or its piece; unique
  std::uint32_t piece = 0;  ///< connected piece; 0 for RegionKind::Whole
  JointId joint;            ///< topmost of its joints; invalid where it has none
};

/// Who belongs to which region. Made once per surface; immutable plain data.
///
/// Method (own; see docs/volume.md): S_j(i), the weight that vertex i gives to joint j and all
/// below it, says where a joint bends: m_j = S_j (1 - S_j). A vertex is labelled with the joint
/// that bends it most (the nearest labelled one's where nothing bends it); labels are merged into
/// regions as RegionsDesc says; membership is softened over a few edges, so that a region's volume
/// changes smoothly with where its border lies.
/// Cost: O(vertices * influences * depth) and some averaging passes; well under a second for 13k
/// vertices and 163 joints.
struct VolumeRegions {
  std::vector<VolumeRegion> regions;  ///< those of a piece follow each other
  std::vector<RegionJoint> joints;    ///< parents before children
  ShareRows membership;               ///< per point, columns are regions; each row sums to 1
  /// Per point the entry of `joints` that its prism stands on (see RegionVolumes).
  std::vector<std::uint32_t> anchor;
  /// Per piece the region that takes what belongs to nobody (three anchors meeting).
  std::vector<std::uint32_t> hub_of_piece;
  /// Per point how much each entry of `joints` concerns it: the labels, averaged over thirty rings,
  /// without those of limbs it does not follow; joints that no label of their limb stands for, by
  /// weight. Rows sum to 1.
  ShareRows concern;
  /// Per piece and joint (piece * joints.size() + joint) the labelled joint that takes over what
  /// this joint does: the nearest labelled one from it upwards, within its limb, or kNone. A limb's
  /// joint that finds none stands for itself.
  std::vector<std::uint32_t> stands_for;
  /// Per point 1 - sum of squared weights: 0 where skin is rigid.
  std::vector<float> bending;

  std::size_t regionCount() const { return regions.size(); }
  std::size_t jointCount() const { return joints.size(); }

  /// `mesh` and `skin` are the surface's own. A skin without rows is allowed: then nothing bends,
  /// and RegionKind::Joints is the same as Components. Fails on a group that does not exist or is
  /// empty, and on numbers out of range.
  static Result<VolumeRegions> bind(const MeasuredSurface& surface, const TriMesh& mesh,
                                    const Skeleton& skeleton, const Skin& skin,
                                    const RegionsDesc& desc);

  /// [m] Where the joints are: posed by joint-to-model matrices, or at bind. One entry per joint.
  void jointPositions(std::span<const Affine3d> model, std::span<Vec3d> out) const noexcept;
  std::vector<Vec3d> bindPositions() const;
};

}  // namespace derm
