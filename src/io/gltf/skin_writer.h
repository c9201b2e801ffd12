#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "io/gltf/node_writer.h"

namespace derm::detail::gltf {

/// How an instance is skinned in the file.
struct SkinUse {
  std::size_t skin = 0;  ///< number in the file
  bool kept = false;     ///< the document's own, unchanged
  std::size_t joint_count = 0;
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  std::vector<std::uint32_t> joint_of_slot;  ///< per slot of the character its joint, or kNone
};

/// A skinned instance to write, and what it was in the document (null if new).
struct SkinnedInstance {
  std::size_t instance = 0;
  const ImportedInstance* source = nullptr;
};

/// Turns the character's slots into glTF skins. A skin of the document whose slots did not change
/// is kept; other slots are gathered into new skins, since a glTF skin may name a joint only once.
class SkinWriter {
 public:
  SkinWriter(WriteContext& context, NodeWriter& nodes) : context_(context), nodes_(nodes) {}

  Result<void> write(const std::vector<SkinnedInstance>& instances);
  /// Requires an instance given to write().
  const SkinUse& of(std::size_t instance) const { return uses_[use_of_instance_.at(instance)]; }

 private:
  bool keepSkin(const SkinnedInstance& instance);
  std::vector<std::uint32_t> slotsUsed(std::size_t instance) const;
  Result<std::size_t> writeSkin(const std::vector<std::uint32_t>& slots,
                                const std::vector<SkinnedInstance>& users);
  std::optional<std::size_t> replaceable(const std::vector<SkinnedInstance>& users) const;
  void countUsers(const std::vector<SkinnedInstance>& instances);

  WriteContext& context_;
  NodeWriter& nodes_;
  std::vector<SkinUse> uses_;
  std::map<std::size_t, std::size_t> use_of_instance_;
  std::map<std::size_t, std::size_t> use_of_kept_skin_;
  std::map<std::size_t, int> other_users_;  ///< per skin of the document, nodes that still need it
};

}  // namespace derm::detail::gltf
