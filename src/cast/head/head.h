#pragma once

#include "derm/cast/cast.h"
#include "derm/character/character.h"

#include "cast/head/design.h"

namespace derm::detail::cast {

/// A painted head with eyes, teeth, tongue and lashes, expressions as morph targets and a clip that
/// plays them. Without an encoder its colours are those of vertices.
Character makeHead(const HeadDesign& design, const PictureEncoder& encode);

}  // namespace derm::detail::cast
