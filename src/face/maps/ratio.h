#pragma once

#include "face/maps/plane.h"

namespace derm::detail::maps {

/// How much brighter every pixel became, and whether that can be told.
struct Ratio {
  Plane value;   ///< 1 where unknown
  Plane weight;  ///< 0 or what was given
};

/// Expression over neutral, both linear. Pixels that are nearly black or white in either photo are
/// unknown: their ratio is noise, or clipped.
Ratio ratioOf(const Plane& neutral, const Plane& expression, const Plane& weight);

/// Divides out what changes slowly (exposure, a lamp that moved): a ramp in log R, then
/// its wide blur, both without whatever stands out on either side, folds among it.
void removeSlowChange(Ratio& ratio);

/// No camera is better than this; standard deviation of a ratio.
inline constexpr float kLeastNoise = 0.002f;

/// Standard deviation of the ratio's noise, from differences of neighbours; at least kLeastNoise.
float noiseOf(const Ratio& ratio);

/// Where the surface has structure: steep compared to what noise looks like. `steepness` is about
/// 1 - R at frontal light, half the squared slope. [0,1], soft borders.
Plane structureMask(const Plane& steepness, const Plane& weight, float noise);

}  // namespace derm::detail::maps
