#pragma once

#include "io/gltf/output.h"

namespace derm::detail::gltf {

/// Drops meshes, skins, accessors and buffer views that the document used and the output no longer
/// does, and the bytes they stood for, so that replaced data does not pile up. What was unused
/// already stays, and nothing moves where an unknown extension might refer to it by number.
void dropReplaced(const GltfDocument& document, Output& out);

}  // namespace derm::detail::gltf
