#pragma once

#include <span>

#include "derm/image/float_image.h"
#include "derm/image/rgba8_image.h"

namespace derm {

/// Tangent-space normal maps. Decoded they are FloatImages of three channels with unit vectors: x
/// along u (right), y up (against v), z out of the surface.

/// What a bright green channel means.
enum class NormalGreen {
  Up,   ///< +Y: glTF, OpenGL, Blender
  Down  ///< -Y: DirectX, Unreal
};

/// Normals as bytes, (n + 1) / 2 of the range, rounded: flat becomes (128, 128, 255). What is not
/// finite or has no length is flat. Requires three channels.
Rgba8Image encodeNormals8(const FloatImage& normals, NormalGreen green);
UInt16Image encodeNormals16(const FloatImage& normals, NormalGreen green);

/// And back, made unit length. The two middle values of x and y (127 and 128; 32767 and 32768) are
/// 0: flat stays exactly flat. z below 0 counts as 0. `UInt16Image` needs three or four channels.
FloatImage decodeNormals(const Rgba8Image& image, NormalGreen green);
FloatImage decodeNormals(const UInt16Image& image, NormalGreen green);

/// Of stored numbers [0,1] (a map of any depth as floats, 3 or 4 channels), slopes times
/// `strength`.
FloatImage normalsOfStored(const FloatImage& stored, NormalGreen green, float strength);

/// Of heights: the first channel times `height_px` [px], by central differences; at the borders
/// one-sided.
FloatImage normalsOfHeights(const FloatImage& heights, float height_px);

/// How the detail of several maps adds up. All of them return the base where the strength is 0, and
/// a flat base returns the detail (Udn: with the base's z).
enum class NormalBlend {
  Whiteout,    ///< (x0 + x1, y0 + y1, z0 z1), made unit length: Dutreve 2011, eq. 5.14
  Reoriented,  ///< the detail turned by the base's own rotation (Barré-Brisebois, Hill 2012)
  PartialDerivative,  ///< slopes add: exact for height fields
  Udn,                ///< (x0 + x1, y0 + y1, z0): cheapest, flattens detail on slopes
};

/// One map over the base. gamma = strength * (strengths ? its pixel : 1) fades it: normals go
/// linearly to flat and are made unit length (eq. 5.13); with PartialDerivative slopes are scaled.
struct NormalLayer {
  const FloatImage* normals = nullptr;    ///< three channels, as large as the base
  float strength = 1;                     ///< [0,1]
  const FloatImage* strengths = nullptr;  ///< one channel [0,1], as large as the base, or null
};

/// Layers over a base, in order. Requires pictures as stated. `blended` is made as large as the
/// base; it may be the base itself. The same bits for any number of threads.
void blendNormals(const FloatImage& base, std::span<const NormalLayer> layers, NormalBlend blend,
                  FloatImage& blended);

/// The same from bytes to bytes, for baking a map per frame: 1024 x 1024 in about 4 ms on one
/// thread. All maps have the same convention; alpha is the base's. Where every gamma is 0 the bytes
/// are the base's own.
struct NormalLayer8 {
  const Rgba8Image* normals = nullptr;
  float strength = 1;
  const FloatImage* strengths = nullptr;
};
void blendNormals(const Rgba8Image& base, std::span<const NormalLayer8> layers, NormalBlend blend,
                  NormalGreen green, Rgba8Image& blended);

}  // namespace derm
