#pragma once

#include <span>
#include <vector>

#include "deform/wrinkle_tool.h"

namespace derm::detail {

/// A tool's control curve where it lies on the skin: how long its segments are and how high they
/// can fold. Length is taken along the skin, not through the air: a crease that closes brings A and
/// B together, but most of the skin between them is still there.
class SkinLine {
 public:
  SkinLine() = default;
  /// `points`: `kSteps` per segment of the curve and its end, evenly spread over the drawn length;
  /// those without a position are bridged. The first and the last have one.
  explicit SkinLine(std::vector<RidingPoint> points) : points_(std::move(points)) {}

  static constexpr std::size_t kSteps = 4;

  std::size_t segmentCount() const { return (points_.size() - 1) / kSteps; }
  /// Lengths [m] of the segments now, and their sum. Requires segments.size() == segmentCount().
  double measure(std::span<const Vec3f> positions, std::span<double> segments) const noexcept;
  /// [m] from the first point to the last, through the air.
  double chord(std::span<const Vec3f> positions) const noexcept {
    return (points_.back().at(positions) - points_.front().at(positions)).cast<double>().norm();
  }
  /// How high [m] the curve may rise over each segment before its neighbours' normals meet;
  /// infinite where they do not.
  void findLimits(std::span<const Vec3f> positions, std::span<const Vec3f> normals,
                  std::span<double> limits) const noexcept;

 private:
  std::vector<RidingPoint> points_;
};

}  // namespace derm::detail
