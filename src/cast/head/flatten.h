#pragma once

#include <map>
#include <vector>

#include "derm/mesh/tri_mesh.h"

#include "cast/head/design.h"

namespace derm::detail::cast {

/// Next vertex along the rim, by vertex.
std::map<std::uint32_t, std::uint32_t> rimOf(const std::vector<Triangle>& triangles);

/// Spreads the free vertices of a disc in the plane: each is the mean of its neighbours by mean
/// value weights. More `rounds` make sizes more even, as long as no triangle turns over: weights of
/// neighbours are divided by a power of their stretch.
void flatten(const std::vector<Triangle>& triangles, const std::vector<Vec3d>& positions,
             const std::vector<bool>& fixed, int rounds, std::vector<Vec2d>& uvs);

}  // namespace derm::detail::cast
