#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "derm/anim/skin.h"
#include "derm/base/cache_line_vector.h"
#include "derm/deform/rotation_centres.h"
#include "derm/deform/skinning.h"

namespace derm::detail {

/// Vertices of one block: as many as an AVX register has floats. Sixteen suit AVX-512 registers but
/// waste more lanes on the small groups of real characters.
inline constexpr std::size_t kBlockLanes = 8;

enum class BlockKind : std::uint32_t { Linear, DualQuaternion, Mixed, Centre };

/// Consecutive blocks of one kind that follow the same slots.
struct BlockRun {
  BlockKind kind = BlockKind::Linear;
  std::uint32_t twist_bone = TwistShares::kNone;  ///< centre: which one twists these vertices
  std::uint32_t first_block = 0;
  std::uint32_t block_count = 0;
  std::uint32_t slot_count = 0;
  std::size_t first_slot = 0;    ///< in SkinningBlocks::slots
  std::size_t first_weight = 0;  ///< in SkinningBlocks::weights
};

/// The bound surface, regrouped for the kernels. Each vertex lies in one lane of one block; lanes
/// of a block are sorted by vertex, and spare ones repeat the last vertex (computing it again costs
/// less than a branch). A block's slots are sorted and may be more than a vertex has: its weight
/// is then 0. Adding exact zeros in a fixed order, a vertex gets the same bits in any block.
///
///   weights of a run:   block 0: slot 0: lane 0..7, slot 1: lane 0..7, …; block 1: …
///   positions, normals: block 0: x lane 0..7, y 0..7, z 0..7; block 1: …
struct SkinningBlocks {
  std::size_t vertex_count = 0;
  std::vector<Vec3d> slot_centres;  ///< [m] bind position of each slot's joint
  bool uses_dual_quaternions = false;
  std::vector<SlotLink> slot_links;    ///< centre: whose sign each slot's rotation follows
  std::vector<Vec3f> vertex_centres;   ///< centre: [m] in the caller's order; or empty
  std::vector<TwistBone> twist_bones;  ///< centre
  bool has_normals = false;
  bool has_tangents = false;

  /// Tile t has runs [tile_runs[t], tile_runs[t+1]). A tile holds vertices that are neighbours in
  /// the caller's order, so that its output stays in a near cache; tiles are the unit of threads.
  std::vector<std::uint32_t> tile_runs;
  std::vector<BlockRun> runs;
  std::vector<std::uint32_t> slots;
  CacheLineVector<float> weights;
  CacheLineVector<std::uint32_t> vertices;  ///< kBlockLanes per block
  CacheLineVector<float> positions;         ///< 3 * kBlockLanes per block
  CacheLineVector<float> normals;           ///< the same, or empty
  CacheLineVector<float> tangents;          ///< 4 * kBlockLanes per block, or empty
  // For dual quaternions only, otherwise empty; the centre method has centres alone:
  /// Per lane its largest influence, as index into the run's slots.
  CacheLineVector<std::uint32_t> pivots;
  CacheLineVector<float> centres;  ///< 3 * kBlockLanes per block: centre of stretch, of rotation
  CacheLineVector<float> shares;   ///< per lane the share of the dual quaternion result
  CacheLineVector<float> twist_shares;  ///< per lane, where there are twist bones

  std::size_t tileCount() const { return tile_runs.size() - 1; }
  std::size_t slotCount() const { return slot_centres.size(); }
};

/// What the centre method needs besides; empty for the others.
struct CentreTables {
  std::vector<Vec3d> of_vertices;  ///< [m]
  std::vector<SlotLink> links;
  std::vector<TwistBone> twist_bones;
  TwistShares twists;  ///< empty without twist bones
};

/// Groups and packs. Input is valid (SkinningBinding::bind checked it).
SkinningBlocks makeSkinningBlocks(const SurfaceStreams& rest, const Skin& skin,
                                  const SkinningDesc& desc, const CentreTables& centres);

}  // namespace derm::detail
