#pragma once

#include "io/gltf/geometry_reader.h"

namespace derm::detail::gltf {

/// One clip per animation, in order. Channels that move nothing derm knows stay with the document.
Result<void> readClips(const ReadContext& context, Import& import);

}  // namespace derm::detail::gltf
