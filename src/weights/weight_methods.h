#pragma once

#include <cstdint>
#include <vector>

#include "derm/anim/skin.h"
#include "derm/base/progress.h"
#include "derm/base/result.h"

#include "weights/bone_sources.h"
#include "weights/welded_surface.h"

/// Private to room weights: the ways of finding weights, one row per welded vertex of the surface.
/// Rows are not yet normalised, sorted or pruned; a row may be empty where a method has no answer.
namespace derm::detail {

using WeightRows = std::vector<std::vector<Influence>>;

/// The nearest bone; of those equally near the deepest, then the one of the lowest slot. Needs at
/// least one bone.
const BoneSegment& nearestBone(const WeldedSurface& surface, const Vec3d& p);

WeightRows nearestRows(const WeldedSurface& surface);
WeightRows linearRows(const WeldedSurface& surface, double blend_length);
/// Shares below `min_weight` of the largest are left out.
WeightRows inverseDistanceRows(const WeldedSurface& surface, double exponent, double min_weight);

Result<WeightRows> heatRows(const WeldedSurface& surface, const BoneSources& sources,
                            double heat_transfer, double min_weight, const Progress& progress);
Result<WeightRows> geodesicRows(const WeldedSurface& surface, const BoneSources& sources,
                                double exponent, double min_weight, const Progress& progress);

/// No vertex is nearer to a bone than this share of the bounding diagonal, or one that touches a
/// bone would outweigh all others.
inline constexpr double kNearestHeat = 1e-4;

}  // namespace derm::detail
