#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "derm/mesh/tri_mesh.h"

namespace derm {

/// How often the surface goes around some points at once. A column stands on each point, and the
/// triangles above the point count +1 where they face up, -1 where they face down. On which side of
/// an edge a column stands is decided once for both of its triangles, so that none slips through
/// between them: exact for closed surfaces, without tolerances. Only triangles over columns that
/// hold a point are looked at. O(triangles + pairs of a triangle and a point over one column).
class WindingColumns {
 public:
  WindingColumns() = default;
  explicit WindingColumns(std::size_t max_points);
  void clear() { count_ = 0; }
  /// False where there is no room left.
  bool add(const Vec3f& point);
  std::size_t size() const { return count_; }
  /// Winding numbers of the points added, in order. Valid until clear(). Allocation-free.
  std::span<const std::int32_t> evaluate(std::span<const Vec3f> positions,
                                         std::span<const Triangle> triangles) noexcept;

 private:
  static constexpr int kSide = 64;  ///< columns along a side
  std::size_t count_ = 0;
  std::vector<Vec3f> points_;
  std::vector<std::int32_t> winding_;
  std::vector<std::uint32_t> order_;  ///< points by column
  std::vector<std::uint32_t> first_;  ///< of each column, and the end
};

/// 1 for the nodes of a grid that are inside. Nodes are numbered x first, then y, then z.
void markInside(std::span<const Vec3f> positions, std::span<const Triangle> triangles,
                const Vec3f& origin, float spacing, const std::array<int, 3>& size,
                std::span<std::uint8_t> inside);

}  // namespace derm
