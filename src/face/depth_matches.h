#pragma once

#include <functional>
#include <span>
#include <vector>

#include "derm/base/result.h"
#include "derm/face/landmark_match.h"

#include "face/depth_map.h"

/// Private to room face: what the ways of matching depth maps share.
namespace derm::detail {

/// Both are meshes, and the points are on the source.
Result<void> checkHeads(const TriMesh& source, std::span<const LabelledPoint> source_points,
                        const TriMesh& target);

/// The source's points where a map of pixels takes them. Confidence: correlation of the Laplacians
/// around both.
std::vector<LandmarkMatch> matchesUnder(const TriMesh& source,
                                        std::span<const LabelledPoint> source_points,
                                        const DepthMap& from, const TriMesh& target,
                                        const DepthMap& to,
                                        const std::function<Pixel(const Pixel&)>& map);

}  // namespace derm::detail
