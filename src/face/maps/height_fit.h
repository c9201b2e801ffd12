#pragma once

#include <functional>
#include <vector>

#include "face/maps/plane.h"

namespace derm::detail::maps {

/// What one photo pair says, per pixel.
struct PixelRatio {
  Plane ratio;                     ///< expression over neutral, 1 where nothing changed
  Plane weight;                    ///< [0,1] 0 = unknown
  float light_x = 0, light_y = 0;  ///< towards the light, per unit of z; y down
};

/// The fit's inputs at full resolution; all planes of one size.
struct FitInput {
  std::vector<PixelRatio> photos;
  Plane base_p, base_q;  ///< slopes of the skin below the detail; empty = flat
  Plane fold_sign;       ///< +1 where frontal light means furrows, -1 bulges; empty = furrows
};

struct FitSettings {
  float noise = 0.002f;  ///< standard deviation of the ratio, >= 0.002
  float kappa = 0.12f;   ///< [1/px] curvature that costs as much as one deviation of the ratio
  float pull = 1e-6f;
  bool along_folds = true;       ///< stiffer along folds than across
  bool fine = false;             ///< full resolution whatever the noise; for pores
  float frontal_below_deg = 10;  ///< less oblique lights need a guess of what is in and what out
};

/// Told how far it is; false cancels.
using FitProgress = std::function<bool(double)>;

/// [px] Height of the detail, whatever explains the ratios best and bends least; empty where
/// cancelled. Frontal light starts from four guesses and takes the best of each neighbourhood.
Plane fitHeights(const FitInput& input, const FitSettings& settings, const FitProgress& progress);

/// Heights with the slopes nearest to those given (least squares, free borders; mean 0).
Plane integrated(const Plane& p, const Plane& q);

/// Central differences, one-sided at borders.
Plane slopesAcross(const Plane& z);
Plane slopesDown(const Plane& z);

}  // namespace derm::detail::maps
