#pragma once

#include <span>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/face/detail_acquisition.h"
#include "derm/mesh/surface_point.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

struct MapTransferDesc {
  int width = 1024;   ///< [px] of the texture, 16 to 16384
  int height = 1024;  ///< [px] the same
  int padding = 8;    ///< [px] rings around charts, against bleeding at seams
  /// [deg] (0,90) skin turned farther from the camera gets nothing: the photo does not show it.
  double max_turn_deg = 75;
};

/// Detail of a photo on a character's texture, through labelled points of its surface.
///
/// Radial basis functions (r^3) take every point of the surface to its place in the photo, as the
/// labels that both have say. So the detail is continuous across seams of the texture and fits the
/// character's proportions. Slopes are covectors: with J = d(photo)/d(texture) they become J'
/// (p,q), each component over the length of its column of J, so that directions turn with the chart
/// and mirrored charts come out right. Skin turned away, and pieces other than the one with the
/// points (eyes, teeth), stay flat.
///
/// Errors: a mesh without texture coordinates, fewer than four common labels, sizes out of range,
/// landmarks that cross. Notes: landmark-unmatched; map-overlap where charts lie on each other.
/// O(texels * labels). The same bits for any number of threads.
Result<SlopeMap> transferDetail(const SlopeMap& detail,
                                std::span<const PhotoLandmark> photo_landmarks, const TriMesh& mesh,
                                std::span<const LabelledPoint> points, const MapTransferDesc& desc,
                                Diagnostics& notes);

/// The same where the landmarks are known on the texture itself ([px] of it): a warp of the
/// picture, for textures without a seam through the face.
Result<SlopeMap> transferDetail(const SlopeMap& detail,
                                std::span<const PhotoLandmark> photo_landmarks,
                                std::span<const PhotoLandmark> texture_landmarks,
                                const MapTransferDesc& desc, Diagnostics& notes);

}  // namespace derm
