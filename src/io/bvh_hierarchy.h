#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "derm/anim/skeleton.h"
#include "derm/base/result.h"

#include "io/text_scanner.h"

namespace derm::detail::bvh {

enum class ChannelKind : std::uint8_t {
  Xposition,
  Yposition,
  Zposition,
  Xrotation,
  Yrotation,
  Zrotation
};

inline bool isRotation(ChannelKind kind) { return kind >= ChannelKind::Xrotation; }
/// 0, 1, 2 for x, y, z.
inline int axisOf(ChannelKind kind) { return static_cast<int>(kind) % 3; }

struct BvhChannel {
  std::uint32_t joint = 0;
  ChannelKind kind = ChannelKind::Xposition;
};

/// The first half of a BVH file: joints with their offsets in file units, and what each of the
/// numbers of a frame means.
struct Hierarchy {
  Skeleton skeleton;
  std::vector<BvhChannel> channels;  ///< in the order of a frame's numbers; a joint's are together
  std::size_t end_sites = 0;
};

/// Reads up to and including the line "MOTION". Works without recursion, so depth costs no stack.
Result<Hierarchy> parseHierarchy(text::LineScanner& lines, std::string_view name);

}  // namespace derm::detail::bvh
