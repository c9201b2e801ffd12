#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "derm/base/result.h"
#include "derm/math/rbf.h"
#include "derm/mesh/surface_point.h"
#include "derm/mesh/tri_mesh.h"
#include "derm/mesh/triangle_tree.h"

/// Private to room face: heads as pictures of depth, and what is measured on these.
namespace derm::detail {

using Pixel = RbfPoint<2>;  ///< continuous; pixel (x, y) covers [x, x+1] x [y, y+1], y down

/// One number per pixel, rows from top to bottom.
struct Map {
  int size = 0;
  std::vector<float> values;

  Map() = default;
  Map(int size_px, float value)
      : size(size_px), values(std::size_t(size_px) * std::size_t(size_px), value) {}

  std::size_t index(int x, int y) const {
    return std::size_t(y) * std::size_t(size) + std::size_t(x);
  }
  float& at(int x, int y) { return values[index(x, y)]; }
  float at(int x, int y) const { return values[index(x, y)]; }
  /// Between pixel middles, edges extended.
  double sample(const Pixel& p) const;
};

/// A head seen from the front (from +Z, +Y up) without perspective.
struct DepthMap {
  Map depth;  ///< [px] towards the viewer; where there is no head, as far as the farthest that is
  std::vector<std::uint8_t> inside;  ///< per pixel: head, holes (an open mouth) included
  Map rim_distance;                  ///< [px] to the nearest pixel that is not head
  Pixel low = Pixel::Zero(), high = Pixel::Zero();  ///< corners of the head's bounds
  Vec3d origin = Vec3d::Zero();                     ///< [m] at pixel (0, 0), depth 0
  double pixels_per_metre = 1;

  int size() const { return depth.size; }
  bool contains(const Pixel& p) const;
  Pixel pixelOf(const Vec3d& position) const {
    return {(position.x() - origin.x()) * pixels_per_metre,
            (origin.y() - position.y()) * pixels_per_metre};
  }
  /// [m] on the depth map's surface.
  Vec3d positionAt(const Pixel& p) const;
};

/// `size_px` pixels a side, the head as large as a margin of 4 % permits. Triangles that look away
/// are not drawn; holes are filled smoothly. Fails where nothing looks at the viewer.
Result<DepthMap> drawDepth(const TriMesh& head, int size_px);

/// The foremost point of the head under a pixel; beside the head and in its holes the nearest.
SurfacePoint pointUnder(const Pixel& p, const DepthMap& map, const TriangleTree& triangles);

/// Gaussian of standard deviation `sigma_px`, edges extended. 0 leaves the map as it is.
Map blurred(const Map& map, double sigma_px);

}  // namespace derm::detail
