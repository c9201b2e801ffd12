#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "derm/math/vec.h"
#include "derm/mesh/surface_point.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

struct UvRasterDesc {
  int width = 1024;   ///< [px] >= 1
  int height = 1024;  ///< [px] >= 1
  int padding = 0;    ///< [px] >= 0 rings of texels added around charts, against bleeding
};

/// What lies under each texel of a texture: texel -> triangle and barycentric coordinates. Rows go
/// from v = 0 downwards (glTF's origin, top left); texel (x, y) is asked at its middle.
struct UvRaster {
  static constexpr std::uint32_t kNoTriangle = 0xFFFFFFFFu;

  int width = 0;
  int height = 0;
  /// Per texel. Of overlapping charts the last triangle counts. Texels of the padding have the
  /// nearest point of a triangle beside them; without surface the triangle is kNoTriangle.
  std::vector<SurfacePoint> points;
  /// Per texel 0 inside a chart, n in the n-th ring around it; 0 without surface, too.
  std::vector<std::uint16_t> rings;

  std::size_t covered_texels = 0;  ///< inside charts
  /// Texels well inside of two triangles or more: mirrored or stacked charts. Shared edges do not
  /// count.
  std::size_t overlapping_texels = 0;
  std::optional<std::array<std::uint32_t, 2>> first_overlap;  ///< the triangles at one of them
  std::size_t outside_corners = 0;  ///< corners of triangles outside 0 to 1, which are cut off
  std::size_t flat_triangles = 0;   ///< without area in the texture; they cover nothing

  bool hasSurface(std::size_t texel) const { return points[texel].triangle != kNoTriangle; }
  std::size_t texel(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
           static_cast<std::size_t>(x);
  }
};

/// Draws triangles into the unit square of their texture coordinates. O(texels under the triangles'
/// bounds + padding * texels). Requires sizes as above, indices < uvs.size() and finite uvs.
UvRaster rasteriseUvs(std::span<const Vec2f> uvs, std::span<const Triangle> triangles,
                      const UvRasterDesc& desc);

/// The square of the texture that most of these places lie in, by its corner nearest to minus
/// infinity: whole numbers. Textures repeat, so that charts may lie in any square, and characters
/// of several textures (UDIM) have theirs side by side. (0, 0) where nothing is within 1000.
Vec2f squareOfMost(std::span<const Vec2f> places);
/// The same of the triangles' middles.
Vec2f squareOfMost(std::span<const Vec2f> uvs, std::span<const Triangle> triangles);
/// The texture coordinates with that square between 0 and 1, where rasteriseUvs() draws.
std::vector<Vec2f> uvsInSquare(std::span<const Vec2f> uvs, const Vec2f& square);

}  // namespace derm
