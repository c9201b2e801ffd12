#pragma once

#include <span>
#include <string_view>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/image/float_image.h"
#include "derm/mesh/surface_point.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

/// The sets of lines that drawWrinkles() knows: "forehead" (raised brows), "frown" (between the
/// brows), "nose" (its root and sides), "crows_feet" (beside the eyes), "smile" (from nostrils to
/// mouth).
std::span<const std::string_view> drawnWrinkleNames();

struct DrawnWrinklesDesc {
  int width = 2048;   ///< [px] of the texture, 16 to 16384
  int height = 2048;  ///< [px] the same
  int padding = 8;    ///< [px] [0,256] rings around charts, against bleeding at seams
  double depth = 1;   ///< (0,8] of the folds, over a grown person's of about fifty
};

/// A normal map of wrinkles that needs no photo and no artist: lines laid by the control points of
/// a face, in its own proportions, so that the same rule fits every head. `sets`: names of
/// drawnWrinkleNames(), joined by "+".
///
/// Lines are curves over the face's plane, projected onto the skin from the front. Each is a furrow
/// with a crest on either side, h = a (0.45 exp(-u^2 / 9.7) - exp(-u^2 / 2)) with u the distance
/// over its half width, uneven along the line and ending softly. Heights of several add up; their
/// gradient goes into the tangent frame of each texel, so seams and mirrored charts come out right.
///
/// Returns unit normals, three channels: x along u, y up, z out of the skin; flat beside the lines
/// and where the mesh's own pieces are no skin. Errors: a mesh without texture coordinates (it says
/// how to get them), control points that validateControlPoints() rejects, a name that is no set
/// (with the nearest), numbers out of range. Notes: map-overlap where charts lie on each other. The
/// same bits for any number of threads.
Result<FloatImage> drawWrinkles(const TriMesh& mesh, std::span<const LabelledPoint> points,
                                std::string_view sets, const DrawnWrinklesDesc& desc,
                                Diagnostics& notes);

}  // namespace derm
