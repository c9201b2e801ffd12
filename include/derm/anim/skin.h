#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "derm/anim/pose.h"
#include "derm/anim/skeleton.h"
#include "derm/base/diagnostics.h"
#include "derm/base/result.h"

namespace derm {

/// One frame that vertices can follow: a joint, and the matrix that takes the bind-pose mesh into
/// that joint's space. A joint may appear in several slots with different binds (several skins).
struct SkinSlot {
  JointId joint;
  Affine3f inverse_bind = Affine3f::Identity();

  bool operator==(const SkinSlot& other) const {
    return joint == other.joint && inverse_bind.matrix() == other.inverse_bind.matrix();
  }
};

struct Influence {
  std::uint32_t slot = 0;
  float weight = 0;  ///< (0,1]

  bool operator==(const Influence&) const = default;
};

/// Which slots each vertex follows, and how much: any number per vertex, sorted by weight (largest
/// first, then by slot), each slot once, weights > 0 with sum 1.
struct Skin {
  std::vector<SkinSlot> slots;
  /// vertexCount() + 1; influences of v: [offsets[v], offsets[v+1]).
  std::vector<std::uint32_t> offsets;
  std::vector<Influence> influences;

  std::size_t vertexCount() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  bool empty() const { return offsets.size() < 2; }
  std::span<const Influence> operator[](std::size_t vertex) const {
    return std::span(influences).subspan(offsets[vertex], offsets[vertex + 1] - offsets[vertex]);
  }
  std::size_t maxInfluences() const;
  bool operator==(const Skin&) const = default;
};

/// Builds a Skin row by row and makes each row fit its rules: equal slots are added together, zero
/// and non-finite or negative weights dropped (noted), rows sorted and normalised (noted when the
/// sum was off by more than 1e-3; a row that sums to 1 but for rounding keeps its bits, so that
/// building from a built skin changes nothing). A row with nothing left gets `fallback_slot` with
/// weight 1 (noted).
class SkinBuilder {
 public:
  SkinBuilder(std::vector<SkinSlot> slots, std::size_t expected_vertices);
  /// Adds the next vertex. `row` is used as work space.
  void addVertex(std::vector<Influence>& row, std::uint32_t fallback_slot, std::string_view element,
                 Diagnostics& notes);
  /// Adds many vertices that follow one slot alone.
  void addRigidVertices(std::size_t count, std::uint32_t slot);
  /// For readers that meet slots while reading.
  std::uint32_t addSlot(const SkinSlot& slot);
  Skin finish() &&;

 private:
  Skin skin_;
};

/// Slots name existing joints, rows obey the rules above, numbers are finite.
Result<void> validate(const Skin& skin, std::size_t vertex_count, std::size_t joint_count,
                      std::string_view name);

/// The skin with at most `max_influences` influences per vertex (the largest) and none below
/// `min_weight` (the largest always stays), renormalised. Requires max_influences >= 1.
Skin pruned(const Skin& skin, std::size_t max_influences, float min_weight = 0.0f);

/// Skinning matrices S_j = model_j * inverse_bind_j, one per slot. Allocation-free.
void skinningMatrices(const Skin& skin, std::span<const Affine3d> model,
                      std::span<Affine3f> palette) noexcept;

/// Local transforms that put every slot's joint at its bind, so that skinning gives the mesh back.
/// Joints without a slot keep their rest relative to their parent. Where one joint has several
/// slots the first counts.
std::vector<Transform> bindTransforms(const Skeleton& skeleton, const Skin& skin);

}  // namespace derm
