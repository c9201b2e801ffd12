#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "derm/base/result.h"

namespace derm {

/// "brows", "eyes", "nose", "cheeks", "mouth" and "jaw".
std::span<const std::string_view> faceRegionNames();

/// [0,1] per label: how much a point belongs to what `regions` names. Items are separated by
/// commas: a region, "left" or "right" (the subject's), both joined by a dot ("mouth.left"), or a
/// point by number or name; "all" or nothing at all is every point.
///
/// A point has 1 in its own region, and less in those that it lies at the border of: cheeks follow
/// the mouth by a quarter, for example. The midline has a half in "left" and in "right". Other
/// points have 0. Of several items the largest counts. Fails on an unknown word, with the nearest.
Result<std::vector<double>> faceRegionWeights(std::string_view regions,
                                              std::span<const std::string> labels);

}  // namespace derm
