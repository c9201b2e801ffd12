#pragma once

#include "cast/figure.h"

namespace derm::detail::cast {

/// The cat's body and skeleton, standing on y = 0 and looking along +z; exactly symmetric.
Figure catFigure();

/// Its clips: "run" (a gallop in place, loops), "jump" (crouch, leap, landing) and "idle" (loops).
std::vector<Clip> catClips(const Rig& rig);

}  // namespace derm::detail::cast
