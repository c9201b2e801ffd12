#pragma once

#include <functional>
#include <span>

#include "face/maps/plane.h"

namespace derm::detail::maps {

/// A smooth displacement of the picture plane: a uniform cubic B-spline. Stiff by its spacing,
/// which is well above a wrinkle's width: it cannot explain wrinkles away.
class SplineField {
 public:
  SplineField(int width, int height, int spacing);
  /// The same field with half the spacing, exactly.
  SplineField refined() const;

  int spacing() const { return spacing_; }
  int columns() const { return columns_; }
  int rows() const { return rows_; }
  std::vector<double>& x() { return x_; }
  std::vector<double>& y() { return y_; }
  /// Displacements of the pixels of one row.
  void row(int y, std::span<float> dx, std::span<float> dy) const;

 private:
  int width_, height_, spacing_;
  int columns_, rows_;  ///< of control points; the first stands one spacing before the picture
  std::vector<double> x_, y_;  ///< [px] per control point
};

/// Where a pixel of the neutral picture is found in the other one before dense alignment.
using CoarseMap = std::function<void(int y, std::span<const float> dx, std::span<const float> dy,
                                     std::span<float> x, std::span<float> y_out)>;

struct AlignmentResult {
  Plane x, y;           ///< [px] per pixel of the neutral picture: where it is in the other one
  Plane dx, dy;         ///< what dense alignment added, in the neutral picture
  double residual = 0;  ///< robust deviation of the last stage's high-passed log images
  bool cancelled = false;
};

/// Finds u such that the other picture at map(x + u(x)) looks as the neutral one at x, for pixels
/// with weight: Gauss-Newton on high-passed logarithms, coarse to fine. Both pictures are linear
/// luminance; `coarse` maps rows of neutral positions (pixel plus displacement) to the other
/// picture, all in pixel middles.
AlignmentResult alignDense(const Plane& neutral, const Plane& other, const Plane& weight,
                           const CoarseMap& coarse, const std::function<bool(double)>& progress);

}  // namespace derm::detail::maps
