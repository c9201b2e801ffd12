#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "derm/mesh/measured_surface.h"
#include "derm/mesh/winding_columns.h"

namespace derm::quality {

/// The closed, welded form of a character's skin, and what it is like at rest. Numbers are of the
/// positions taken last.
class SkinMeasures {
 public:
  explicit SkinMeasures(const TriMesh& mesh);
  SkinMeasures(const SkinMeasures&) = delete;
  SkinMeasures& operator=(const SkinMeasures&) = delete;

  void take(std::span<const Vec3f> positions);
  const MeasuredSurface& surface() const { return surface_; }
  std::span<const Triangle> triangles() const { return own_; }
  std::span<const Vec3f> points() const { return points_; }
  /// Of its triangles, twice their areas long.
  const std::vector<Vec3f>& normals() const { return normals_; }
  double restArea() const { return area_; }

  /// Triangles that face against others' normals.
  int turnedAgainst(const std::vector<Vec3f>& others) const;
  /// Edges with more than 150 degrees between the normals beside them.
  int foldedEdges() const;
  /// Area of skin inside other skin, and not at rest; in thousandths of the skin's area.
  double inside();
  /// Length of the curves in which skin crosses skin, over the root of the skin's area.
  double curves() const;
  /// Of all edges that are no shorter than a tenth of the mean: the largest growth.
  double worstStretch() const;

 private:
  struct Cut {
    std::uint64_t pair = 0;
    double length = 0;
  };
  std::span<const std::int32_t> windings();
  std::vector<Cut> cuts() const;

  MeasuredSurface surface_;
  std::span<const Triangle> own_;
  std::vector<std::array<std::uint32_t, 2>> beside_;  ///< per inner edge: its triangles
  std::vector<std::array<std::uint32_t, 2>> edges_;
  std::vector<float> rest_lengths_;
  std::vector<Vec3f> points_, normals_;
  WindingColumns columns_;
  std::vector<std::int32_t> rest_inside_;
  std::vector<std::uint64_t> rest_cuts_;
  double area_ = 0;
  float unit_ = 0;
};

}  // namespace derm::quality
