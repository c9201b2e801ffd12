#pragma once

#include <cstdint>

#include "derm/mesh/morph_target.h"

#include "io/gltf/geometry_transform.h"
#include "io/gltf/output.h"

namespace derm::detail::gltf {

/// The part of a morph target that lies in the vertices [first, first + count), counted from
/// `first`.
MorphTarget morphSlice(const MorphTarget& morph, std::uint32_t first, std::uint32_t count);

/// Adds a slice's accessors and gives the JSON of the target: sparse where that is smaller, or
/// where offsets of zero are listed, which a dense accessor would lose.
Json writeTarget(Output& out, const MorphTarget& slice, std::size_t vertex_count);

}  // namespace derm::detail::gltf
