#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace derm {

/// A 32-bit index that cannot be mistaken for another kind of index. Default: invalid.
template <class Tag>
struct Id {
  static constexpr std::uint32_t kInvalid = 0xFFFFFFFFu;

  std::uint32_t value = kInvalid;

  constexpr Id() = default;
  constexpr explicit Id(std::size_t index) : value(static_cast<std::uint32_t>(index)) {}

  constexpr bool valid() const { return value != kInvalid; }
  constexpr std::size_t index() const { return value; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

using VertexId = Id<struct VertexTag>;
using FaceId = Id<struct FaceTag>;
using JointId = Id<struct JointTag>;

}  // namespace derm
