#include "derm/image/difference.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "derm/base/assert.h"

namespace derm {
namespace {

/// One direction of a box blur over a plane of numbers, edges extended.
void boxBlur(std::vector<float>& plane, int count, int stride, int lines, int line_stride,
             int radius) {
  std::vector<float> line(static_cast<std::size_t>(count));
  for (int l = 0; l < lines; ++l) {
    float* first = plane.data() + static_cast<std::ptrdiff_t>(l) * line_stride;
    for (int i = 0; i < count; ++i)
      line[static_cast<std::size_t>(i)] = first[static_cast<std::ptrdiff_t>(i) * stride];
    for (int i = 0; i < count; ++i) {
      float sum = 0;
      for (int k = -radius; k <= radius; ++k)
        sum += line[static_cast<std::size_t>(std::clamp(i + k, 0, count - 1))];
      first[static_cast<std::ptrdiff_t>(i) * stride] = sum / float(2 * radius + 1);
    }
  }
}

std::uint8_t channel(Rgba8 p, int c) { return c == 0 ? p.r : c == 1 ? p.g : c == 2 ? p.b : p.a; }

std::vector<float> blurredDifference(const Rgba8Image& a, const Rgba8Image& b, int c, int radius) {
  std::vector<float> plane(a.pixels.size());
  for (std::size_t i = 0; i < plane.size(); ++i)
    plane[i] = float(channel(a.pixels[i], c)) - float(channel(b.pixels[i], c));
  for (int pass = 0; pass < 2 && radius > 0; ++pass) {
    boxBlur(plane, a.width, 1, a.height, a.width, radius);
    boxBlur(plane, a.height, a.width, a.width, 1, radius);
  }
  return plane;
}

Rgba8Image differencePicture(const Rgba8Image& a, const std::vector<float>& difference,
                             int tolerance) {
  Rgba8Image out(a.width, a.height);
  for (std::size_t i = 0; i < out.pixels.size(); ++i) {
    const Rgba8 p = a.pixels[i];
    const auto grey = static_cast<std::uint8_t>(128 + (int(p.r) + 2 * int(p.g) + int(p.b)) / 8);
    out.pixels[i] = {grey, grey, grey, 255};
    const float red = difference[i] / float(std::max(1, 4 * tolerance));
    blend(out.pixels[i], {220, 20, 30, 255}, red < 0.02f ? 0.0f : red);
  }
  return out;
}

}  // namespace

Result<ImageDifference> compareImages(const Rgba8Image& a, const Rgba8Image& b,
                                      const DifferenceDesc& desc) {
  DERM_REQUIRE(desc.blur_radius_px >= 0 && desc.tolerance >= 0);
  if (a.width != b.width || a.height != b.height)
    return Error{ErrorCode::BadData,
                 "pictures of different sizes: " + std::to_string(a.width) + "x" +
                     std::to_string(a.height) + " and " + std::to_string(b.width) + "x" +
                     std::to_string(b.height),
                 {}};
  std::vector<float> largest(a.pixels.size(), 0.0f);
  for (int c = 0; c < 4; ++c) {
    const std::vector<float> plane = blurredDifference(a, b, c, desc.blur_radius_px);
    for (std::size_t i = 0; i < plane.size(); ++i)
      largest[i] = std::max(largest[i], std::abs(plane[i]));
  }
  ImageDifference out;
  double sum = 0;
  for (const float d : largest) {
    sum += d;
    out.largest = std::max(out.largest, static_cast<int>(std::ceil(d)));
    out.over += d > float(desc.tolerance) ? 1u : 0u;
  }
  if (!largest.empty()) {
    out.mean = sum / double(largest.size());
    out.over_share = double(out.over) / double(largest.size());
  }
  out.picture = differencePicture(a, largest, desc.tolerance);
  return out;
}

}  // namespace derm
