#pragma once

#include <span>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/image/float_image.h"
#include "derm/mesh/surface_point.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

struct SculptMapDesc {
  int width = 2048;   ///< [px] of the texture, 16 to 16384
  int height = 2048;  ///< [px] the same
  int padding = 8;    ///< [px] [0,256] rings around charts, against bleeding at seams
  /// [m] > 0 how far from the head's skin the sculpt is looked for; 0 = a hundredth of the head.
  double reach_m = 0;
};

/// What a finely sculpted (or scanned) surface adds to a head, as a tangent-space normal map on the
/// head's texture. Both lie on each other in model space. From every texel's point a ray goes along
/// the head's normal both ways; of what it meets the nearest counts, else the nearest point of the
/// sculpt. `points`: labelled points of the head; its skin is the piece that most of them are on,
/// so that eyes and teeth with textures of their own are left out. None: the whole mesh.
///
/// Returns unit normals, three channels: x along u, y up, z out of the skin; flat where the sculpt
/// is farther off than the reach. Errors: a head without texture coordinates (it says how to get
/// them), an empty sculpt, one that lies nowhere near the head, numbers out of range. Notes:
/// map-overlap; sculpt-missed where more than a tenth of the texels found nothing. O(texels log
/// triangles). The same bits for any number of threads.
Result<FloatImage> sculptNormals(const TriMesh& head, std::span<const LabelledPoint> points,
                                 const TriMesh& sculpt, const SculptMapDesc& desc,
                                 Diagnostics& notes);

}  // namespace derm
