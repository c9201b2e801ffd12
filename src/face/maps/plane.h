#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "derm/base/parallel.h"
#include "derm/image/float_image.h"

namespace derm::detail::maps {

/// One channel of a picture, for filters: rows from top to bottom. Pixel (x, y) has its middle at
/// (x, y) here, so that differences and splines need no halves.
struct Plane {
  int width = 0;
  int height = 0;
  std::vector<float> values;

  Plane() = default;
  Plane(int width_px, int height_px, float value = 0.0f);

  std::size_t size() const { return values.size(); }
  float* row(int y) { return values.data() + std::ptrdiff_t(y) * width; }
  const float* row(int y) const { return values.data() + std::ptrdiff_t(y) * width; }
  float at(int x, int y) const { return row(y)[x]; }
};

using RowMap = Eigen::Map<Eigen::ArrayXf>;
using ConstRowMap = Eigen::Map<const Eigen::ArrayXf>;

/// body(y) for every row, on several threads. A body writes only what belongs to its row.
template <class Body>
void forRows(int rows, const Body& body) {
  parallelFor(static_cast<std::size_t>(rows), 8, [&](std::size_t begin, std::size_t end) {
    for (std::size_t y = begin; y < end; ++y) body(static_cast<int>(y));
  });
}

Plane planeOf(const FloatImage& image, int channel = 0);
FloatImage imageOf(Plane plane);

/// Gaussian blur, borders mirrored. Wide ones are made on a smaller copy: within 1e-3 of the
/// values' range of the exact one. sigma <= 0 gives a copy.
Plane blurred(const Plane& plane, double sigma_px);
/// Blur of what has weight: G*(w v) / G*w; where no weight is near, `otherwise`.
Plane blurred(const Plane& plane, const Plane& weight, double sigma_px, float otherwise);

/// Means of 2 x 2 pixels, of those there are at an odd right or lower border.
Plane halved(const Plane& plane);
/// The way back: cubic (Catmull-Rom) between the small picture's pixels, times `factor`.
Plane doubled(const Plane& plane, int width, int height, float factor);

/// Middle value of those given; 0 of none. Orders them.
float median(std::span<float> values);
/// 1.4826 times the median distance from the median: the standard deviation of Gaussian values,
/// whatever outliers there are. `keep` null or as large as the plane: counts where > 0.5.
float robustDeviation(const Plane& plane, const Plane* keep);

/// The largest value in a square of (2r+1) pixels around each.
Plane dilated(const Plane& plane, int radius);

/// Catmull-Rom (4 x 4) and Lanczos (6 x 6) at a position in the plane's own coordinates, borders
/// extended.
float sampleCubic(const Plane& plane, float x, float y);
float sampleLanczos(const Plane& plane, float x, float y);

}  // namespace derm::detail::maps
