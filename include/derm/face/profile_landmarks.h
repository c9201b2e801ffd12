#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "derm/base/result.h"
#include "derm/face/landmark_match.h"
#include "derm/mesh/surface_point.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

struct ProfileMatches {
  std::vector<LandmarkMatch> landmarks;  ///< the source's points, in their order
  /// Mean difference of how both heads bend, 0 = none: 0.1 between humans, 0.2 to a cartoon. Ranks
  /// maps between the same two heads; a small one does not prove that they are right.
  double residual = 0;
  std::optional<std::size_t> via;  ///< which of the heads between was used, if one was
};

/// Finds points of one head on another by aligning profiles: pictures of depth, seen from the
/// front, are matched row by row from top to bottom, then from the mirror axis outwards in every
/// row, by dynamic time warping of second derivatives at three scales; then dense optical flow.
/// Keeps the order of features, so that nothing folds, and needs no basins to agree
/// (watershed_landmarks.h).
///
/// Where two heads differ much, the way through a third, of which `between` may list some, can be
/// better; of all ways that with the lowest residual is taken.
///
/// Measured on heads with known points, mean error as a share of the target's diagonal: between two
/// humans 0.3 %, human and cartoon 0.7 %. It can slip by a feature (an eye onto the edge of its
/// socket), to 2 %, without a large residual. Both heads must look along +Z with +Y up and have
/// about the same parts. Confidence: how alike the surroundings of both points bend. Same bits on
/// every run. Cost: 0.3 s per pair of heads on one thread, hardly depending on the triangles.
/// Errors as those of matchByWatershed(). Requires no null in `between`.
Result<ProfileMatches> matchByProfiles(const TriMesh& source,
                                       std::span<const LabelledPoint> source_points,
                                       const TriMesh& target,
                                       std::span<const TriMesh* const> between = {});

}  // namespace derm
