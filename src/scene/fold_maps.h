#pragma once

#include <span>

#include "derm/base/diagnostics.h"
#include "derm/base/progress.h"
#include "derm/base/result.h"
#include "derm/scene/bake.h"
#include "derm/scene/scene.h"

/// Private to room scene.
namespace derm::detail {

/// Gives a character what folds add to its shading: per material a few tangent-space normal maps
/// over its own, each of an instant of the motion, and for each a control that says in the clips
/// how much of it shows (Material::detail_maps, Character::controls). The mesh stays as it is.
///
/// `folded` are the scenes with folds and `smooth` the same without the layers that make them, one
/// per clip; `character` has the mesh, materials and clips of theirs. Maps are taken one by one
/// from the frame that those before show worst; a frame's weights are the least squares of their
/// slopes, in [0,1]. Errors are what plays: pictures as they are encoded, weights linear between
/// frames. Fails on a character without texture coordinates.
Result<BakeReport::FoldMaps> addFoldMaps(std::span<const Scene> folded,
                                         std::span<const Scene> smooth, const FoldMapsDesc& desc,
                                         Character& character, Diagnostics& notes,
                                         const Progress& progress);

}  // namespace derm::detail
