#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "derm/mesh/tri_mesh.h"

namespace derm {

/// Answers "what is near this point" and "what does this segment cross" for a set of triangles.
/// Method: a binary tree of axis-aligned boxes, split at the median of the longest side; all sums
/// in double. Any triangles will do: open, non-manifold, self-crossing. Zero-area triangles are
/// found by closestPoint (they are segments or points) but never crossed.
/// Cost: O(n log n) to build, about O(log n) per query; 200 bytes per triangle.
/// Owns copies of what it needs; immutable, so share it freely between threads. The answers do not
/// depend on the tree's shape: of equally near triangles the one with the smallest index is given.
class TriangleTree {
 public:
  static constexpr std::uint32_t kNoVertex = 0xFFFFFFFFu;

  struct Nearest {
    std::uint32_t triangle = 0;
    Vec3d barycentric = Vec3d::Zero();  ///< [0,1], sum 1: where in the triangle
    Vec3d point = Vec3d::Zero();        ///< [m]
    double distance = 0;                ///< [m]
  };
  struct Hit {
    std::uint32_t triangle = 0;
    double t = 0;                       ///< [0,1] where on the segment
    Vec3d barycentric = Vec3d::Zero();  ///< [0,1], sum 1: where in the triangle
  };

  TriangleTree() = default;
  /// Requires indices < positions.size() and finite positions.
  TriangleTree(std::span<const Vec3d> positions, std::span<const Triangle> triangles);
  TriangleTree(std::span<const Vec3f> positions, std::span<const Triangle> triangles);

  bool empty() const { return triangles_.empty(); }

  /// The nearest point on the triangles, if there is one within `max_distance_m`.
  std::optional<Nearest> closestPoint(
      const Vec3d& p, double max_distance_m = std::numeric_limits<double>::infinity()) const;
  /// The same among the triangles that `accept` says yes to: one side of a thin sheet, a part.
  std::optional<Nearest> closestPoint(const Vec3d& p, double max_distance_m,
                                      const std::function<bool(std::uint32_t)>& accept) const;

  /// The first triangle met on the way from `from` to `to`, edges and corners included: a segment
  /// cannot slip through between two triangles. Segments in a triangle's plane do not meet it.
  std::optional<Hit> firstHit(const Vec3d& from, const Vec3d& to) const;

  /// Which crossings a sight line cares for.
  struct Sight {
    /// [m] >= 0: triangles whose plane is nearer to either end do not block.
    double clearance_m = 0;
    double t_end = 1;  ///< [0,1] crossings beyond this share of the way do not block
    std::uint32_t ignore_vertex = kNoVertex;  ///< triangles with this corner do not block
  };
  /// True where some triangle lies in the way.
  bool blocks(const Vec3d& from, const Vec3d& to, const Sight& sight) const;

 private:
  struct Node {
    Vec3d low;
    Vec3d high;
    /// Leaf: first entry of order_; else: left child, right is next to it.
    std::uint32_t first = 0;
    std::uint32_t count = 0;  ///< triangles of a leaf; 0 for an inner node
  };
  using Corners = std::array<Vec3d, 3>;

  void build();
  void split(std::uint32_t node, std::uint32_t first, std::uint32_t last,
             std::span<const Vec3d> centres);
  template <class Accept>
  std::optional<Nearest> closestAmong(const Vec3d& p, double max_distance_m,
                                      const Accept& accept) const;
  template <class Visit>
  void alongSegment(const Vec3d& from, const Vec3d& to, const double& t_end,
                    const Visit& visit) const;

  std::vector<Corners> corners_;  ///< per triangle
  std::vector<Triangle> triangles_;
  std::vector<std::uint32_t> order_;  ///< triangles as the leaves hold them
  std::vector<Node> nodes_;
};

/// Nearest point to `p` on the triangle a b c, as barycentric coordinates; a triangle without area
/// is treated as its edges.
Vec3d closestOnTriangle(const Vec3d& p, const Vec3d& a, const Vec3d& b, const Vec3d& c);

/// [0,1] where on the segment from `a` to `b` the nearest point to `p` is; 0 where a = b.
double closestOnSegment(const Vec3d& p, const Vec3d& a, const Vec3d& b);

}  // namespace derm
