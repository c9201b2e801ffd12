#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "derm/image/rgba8_image.h"
#include "derm/image/srgb.h"
#include "derm/math/vec.h"

namespace derm {

/// A picture of floats in memory, for computing: linear, 1 to 4 channels, any values (normals,
/// heights, light). Rows from top to bottom, no padding, channels beside each other. Of 2 or 4
/// channels the last is alpha, straight. Pixel (x, y) covers [x, x+1] x [y, y+1].
struct FloatImage {
  int width = 0;     ///< [px] >= 0
  int height = 0;    ///< [px] >= 0
  int channels = 1;  ///< 1 to 4
  std::vector<float> values;

  FloatImage() = default;
  /// Requires sizes >= 0 and 1 to 4 channels.
  FloatImage(int width_px, int height_px, int channel_count, float value = 0.0f);

  bool empty() const { return values.empty(); }
  /// Require numbers in range (checked builds check it).
  float& at(int x, int y, int channel) { return values[index(x, y, channel)]; }
  float at(int x, int y, int channel) const { return values[index(x, y, channel)]; }
  bool operator==(const FloatImage&) const = default;

 private:
  std::size_t index(int x, int y, int channel) const;
};

/// The same with 16 bits a channel, as files have it. 65535 stands for 1.
struct UInt16Image {
  int width = 0;
  int height = 0;
  int channels = 1;  ///< 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha
  std::vector<std::uint16_t> values;

  UInt16Image() = default;
  UInt16Image(int width_px, int height_px, int channel_count, std::uint16_t value = 0);

  bool empty() const { return values.empty(); }
  std::uint16_t& at(int x, int y, int channel) { return values[index(x, y, channel)]; }
  std::uint16_t at(int x, int y, int channel) const { return values[index(x, y, channel)]; }
  bool operator==(const UInt16Image&) const = default;

 private:
  std::size_t index(int x, int y, int channel) const;
};

/// One channel at a continuous position, bilinear between pixel middles, edges extended. Nothing is
/// weighted by alpha: values need not be colours. Requires a picture that is not empty.
float sampleBilinear(const FloatImage& image, float x, float y, int channel);
/// All channels at once; those the picture does not have are 0.
Vec4f sampleBilinear(const FloatImage& image, float x, float y);

/// From stored numbers to linear floats. Alpha never has a curve. Exact: back with the same curve
/// gives the same picture.
FloatImage floatImage(const Rgba8Image& image, Curve curve);  ///< 4 channels
FloatImage floatImage(const UInt16Image& image, Curve curve);

/// And back, with rounding; what lies outside [0,1] is clamped, what is not a number is 0. Grey
/// becomes three equal channels, missing alpha opaque.
Rgba8Image rgba8Image(const FloatImage& image, Curve curve);
UInt16Image uint16Image(const FloatImage& image, Curve curve);

}  // namespace derm
