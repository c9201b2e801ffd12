#pragma once

#include "io/gltf/geometry_reader.h"

namespace derm::detail::gltf {

/// Fills the morph targets laid out by readGeometry, as the file has them (not yet moved). Dense
/// targets keep only what moves; sparse ones keep exactly the vertices they list.
Result<void> readMorphs(const ReadContext& context, Import& import);

}  // namespace derm::detail::gltf
