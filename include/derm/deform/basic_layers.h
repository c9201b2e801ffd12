#pragma once

#include "derm/deform/layer.h"
#include "derm/deform/skinning.h"

namespace derm {

/// Adds the pose's morph targets to the rest surface. Comes first; costs nothing while all weights
/// are zero.
LayerFactory morphLayer();

/// Carries the surface from the bind pose to the frame's pose. A character without a skin passes
/// through unchanged.
LayerFactory skinningLayer(const SkinningDesc& desc);

}  // namespace derm
