#pragma once

#include <span>
#include <vector>

#include "derm/character/character.h"
#include "derm/deform/channel_groups.h"
#include "derm/deform/stack.h"

namespace derm::detail {

/// A still of the surface that a stack gives, with the character's parts and materials. Refined
/// surfaces become one instance, their triangles sorted by part.
Character stillCharacter(const Stack& stack);

/// A character that shows given surfaces one after another: the first is its mesh, the others are
/// morph targets with step weights. No skeleton, no skin.
class CacheCharacter {
 public:
  CacheCharacter(const Stack& stack, std::size_t frame_count);

  /// Frames in order.
  void addFrame(std::span<const Vec3f> positions, std::span<const Vec3f> normals);
  /// Its channels become groups of the mesh: see derm/deform/channel_groups.h.
  void addChannels(const SkinFrame& frame, Diagnostics& notes) {
    derm::addChannels(frame, out_.mesh, notes);
  }
  Character take(std::span<const double> times_s, std::string clip_name) &&;

 private:
  Character out_;
  std::vector<std::vector<MorphTarget>> morphs_;  ///< per instance, one per frame but the first
  bool has_first_ = false;
};

}  // namespace derm::detail
