#pragma once

#include <functional>
#include <span>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/image/float_image.h"
#include "derm/mesh/surface_point.h"
#include "derm/mesh/tri_mesh.h"
#include "derm/mesh/uv_raster.h"

namespace derm::detail::maps {

/// A texel's point on the skin with its tangent frame, unit vectors: x along u, y up the texture.
struct TexelFrame {
  Vec3d position, x, y, normal;
};

/// The texels of a head's skin: what maps are drawn on.
class TexelFrames {
 public:
  /// Of the piece with most of the points; of the whole mesh where there are none. Errors: no
  /// texture coordinates, sizes or padding out of range. Notes: map-overlap.
  static Result<TexelFrames> make(const TriMesh& mesh, std::span<const LabelledPoint> points,
                                  int width, int height, int padding, Diagnostics& notes);

  std::span<const Triangle> triangles() const { return skin_.triangles; }
  const TriMesh& skin() const { return skin_; }
  bool hasSurface(std::size_t texel) const { return raster_.hasSurface(texel); }
  TexelFrame at(std::size_t texel) const;

  /// normal(texel) for every texel with surface, flat elsewhere; on several threads.
  template <class Normal>
  FloatImage map(const Normal& normal) const;

 private:
  TriMesh skin_;  ///< with normals
  std::vector<Vec4f> tangents_;
  UvRaster raster_;
};

void forTexelRows(int height, const std::function<void(int)>& row);

template <class Normal>
FloatImage TexelFrames::map(const Normal& normal) const {
  FloatImage out(raster_.width, raster_.height, 3);
  forTexelRows(out.height, [&](int y) {
    for (int x = 0; x < out.width; ++x) {
      const std::size_t texel = raster_.texel(x, y);
      Vec3d n = hasSurface(texel) ? normal(texel) : Vec3d::UnitZ();
      if (!n.allFinite()) n = Vec3d::UnitZ();
      for (int c = 0; c < 3; ++c)
        out.values[3 * texel + static_cast<std::size_t>(c)] = static_cast<float>(n[c]);
    }
  });
  return out;
}

}  // namespace derm::detail::maps
