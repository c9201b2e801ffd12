#pragma once

#include "derm/deform/fold_curve.h"

namespace derm::detail {

/// The two flanks of a bump: how wide each is, on the ground.
struct Flanks {
  double left = 0, right = 0;  ///< [m] >= 0
};

/// By how much the way over a bump of this height is longer than its ground. [m]
double bumpGain(FoldProfile profile, double height, const Flanks& flanks);
/// The inverse: exact for straight flanks, by Newton's method to rounding for round ones. [m]
double bumpHeight(FoldProfile profile, double gain, const Flanks& flanks);

/// Height above the middle of a segment (dx, dy) at which the way over it is longer by `gain` than
/// the segment: the ends are the foci of an ellipse, met along the vertical through its centre.
double heightOverSegment(double gain, double dx, double dy);
/// The gain of a point at this height above the middle of a segment.
double gainOverSegment(double height, double dx, double dy);

}  // namespace derm::detail
