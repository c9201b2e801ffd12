#pragma once

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/image/rgba8_image.h"
#include "derm/scene/scene.h"

namespace derm {

struct NormalMapDesc {
  int width = 1024;   ///< [px] 1 to 16384
  int height = 1024;  ///< [px]
  bool y_up = true;   ///< +Y along the bitangent, as glTF and OpenGL have it; false = Direct3D's
  int padding = 4;    ///< [px] >= 0 by which the edges of charts are widened, against bleeding
};

/// The surface of an instant, as a tangent-space normal map for the character's own, unrefined mesh
/// under plain linear skinning: what the layers add to its shading, for engines that keep the
/// coarse triangles. Tangent space: normals and tangents of the mesh (made from its uvs where it
/// has none), MikkTSpace's sign. Linear values: (0,0,1) is (128,128,255); pixels without surface
/// are that, too. The fine surface is drawn into the uv square; of overlapping charts the last
/// triangle wins. Fails on a character without uvs and on sizes out of range.
Result<Rgba8Image> foldNormalMap(Scene& scene, double time_s, const NormalMapDesc& desc,
                                 Diagnostics& notes);

}  // namespace derm
