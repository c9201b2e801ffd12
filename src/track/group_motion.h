#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <Eigen/Core>

namespace derm::detail {

using Point2 = Eigen::Vector2d;

/// x -> linear x + offset.
struct PlaneMap {
  Eigen::Matrix2d linear = Eigen::Matrix2d::Identity();
  Point2 offset = Point2::Zero();
  Point2 operator()(const Point2& p) const { return linear * p + offset; }
};

/// Who is whose neighbour among markers, by where they are in the first frame.
class MarkerGroup {
 public:
  static constexpr std::size_t kNeighbours = 8;

  explicit MarkerGroup(std::span<const Point2> first);

  /// [px] typical distance to the nearest neighbours.
  double spacing(std::size_t marker) const { return spacing_[marker]; }

  /// How the neighbours of a marker that are `usable` moved, as an affine map, robustly: iterated
  /// least squares with Tukey's weights, near ones counting more. As much of a map as the number of
  /// neighbours allows: nothing (false), translation, similarity, affine. The marker itself is not
  /// asked.
  bool motion(std::size_t marker, std::span<const Point2> from, std::span<const Point2> to,
              std::span<const std::uint8_t> usable, PlaneMap& out) const;

 private:
  std::size_t count_;
  std::vector<std::uint32_t> nearest_;  ///< all others of every marker, near ones first
  std::vector<double> distance_;
  std::vector<double> spacing_;
};

}  // namespace derm::detail
