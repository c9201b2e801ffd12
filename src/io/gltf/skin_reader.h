#pragma once

#include "io/gltf/geometry_reader.h"

namespace derm::detail::gltf {

/// Finds for every instance the slots it follows and the matrix that moves its vertices into model
/// space (ImportedInstance::to_model), and reads the skin's rows. Needs the skeleton in the
/// character and positions as the file has them.
Result<void> readSkin(const ReadContext& context, Import& import);

}  // namespace derm::detail::gltf
