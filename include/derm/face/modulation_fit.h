#pragma once

#include <cstddef>
#include <span>

#include "derm/base/result.h"
#include "derm/face/detail_acquisition.h"
#include "derm/face/wrinkle_poses.h"

namespace derm {

/// How far a face is on its way from rest to an expression, by its landmarks in three pictures:
/// eq. 5.9 of Dutreve 2011 per landmark, weighted by how far each goes. [0,1]. Landmarks are
/// matched by label; those that move less than a tenth of the one that moves most say nothing.
/// Errors: fewer than two in common; an expression in which none moves.
Result<double> wayOfLandmarks(std::span<const PhotoLandmark> neutral,
                              std::span<const PhotoLandmark> now,
                              std::span<const PhotoLandmark> expression);

/// How much of the detail `full` is in `now`: the factor that explains its slopes best, weighted by
/// the mask of `full`. May leave [0,1]. Requires maps of one size.
double shareOfDetail(const SlopeMap& now, const SlopeMap& full);

/// One picture of a film: how far the face has come, and how much of its detail shows.
struct AppearanceSample {
  double way = 0;     ///< [0,1]
  double shown = 0;   ///< 1 = all of it
  double time_s = 0;  ///< [s] for reports
};

struct ModulationFit {
  ModulationCurve curve;
  double rms = 0;       ///< of the samples about the curve
  double rms_sin4 = 0;  ///< and about sin^4, which the thesis drew through its own
};

/// The curve along which wrinkles appear (Dutreve 2011, figure 5.8), from a film: straight between
/// `keys` evenly spaced ways, never falling, from 0 to 1; least squares with a little smoothness
/// where samples are few. Errors: fewer than four samples, samples not finite, keys not in [3,33],
/// samples that do not cover half of the way.
Result<ModulationFit> fitModulation(std::span<const AppearanceSample> samples,
                                    std::size_t keys = 9);

}  // namespace derm
