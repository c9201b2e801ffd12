#pragma once

#include "io/gltf_geometry_reader.h"

namespace derm::gltf {

/// One clip per animation, in order. Channels that move nothing derm knows stay with the document.
Result<void> readClips(const ReadContext& context, Import& import);

}  // namespace derm::gltf
