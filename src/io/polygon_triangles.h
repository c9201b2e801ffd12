#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/mesh/tri_mesh.h"

namespace derm::detail {

/// Of one polygon in a file; bounds a reader's work space.
inline constexpr std::size_t kMaxCorners = 1 << 18;

/// Cuts polygons into triangles. A polygon of n >= 3 corners always gives n - 2 triangles that use
/// every corner and keep its orientation, however degenerate it is.
///
/// Method: the polygon is projected along its dominant axis (normal by Newell's sums, in double).
/// Strictly convex ones become a fan from the first corner; others are cut by ear clipping, which
/// handles concave outlines and bridges to holes. Where no ear is left (self-crossing or flat
/// outlines) flat corners go first, then any convex one.
///
/// Ear clipping takes O(n * concave corners) tests. One object allows `kMaxTests` of them in all,
/// so that hostile polygons cannot hang a reader; after that concave polygons are cut without
/// looking, which blindlyCut() counts. Keep one object per file: its buffers are reused.
class PolygonTriangulator {
 public:
  static constexpr std::uint64_t kMaxTests = 50'000'000;

  /// Appends triangles of corner numbers (0 … n-1). Requires corners.size() >= 3.
  void triangulate(std::span<const Vec3f> corners, std::vector<Triangle>& out);
  std::size_t blindlyCut() const { return blindly_cut_; }

 private:
  struct Point {
    double u, v;
  };
  bool project(std::span<const Vec3f> corners);
  bool strictlyConvex() const;
  void clipEars(std::vector<Triangle>& out);
  bool isEar(std::uint32_t corner);
  std::uint32_t leastBadCorner(std::uint32_t start) const;
  double turn(std::uint32_t corner) const;
  void remove(std::uint32_t corner);

  std::vector<Point> points_;
  std::vector<std::uint32_t> previous_;
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> concave_;  ///< corners that may lie inside an ear; some may be gone
  std::vector<bool> concave_at_start_;
  std::vector<bool> gone_;
  std::uint64_t tests_left_ = kMaxTests;
  std::size_t gone_concave_ = 0;
  std::size_t blindly_cut_ = 0;
};

}  // namespace derm::detail
