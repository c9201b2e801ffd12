#pragma once

#include <span>
#include <vector>

#include "face/maps/plane.h"

namespace derm::detail::maps {

/// What one photo pair says of a surface, at one resolution: how much brighter every cell (the
/// square between four pixels) became, and how much that counts.
struct CellRatio {
  Plane target;                    ///< (w-1) x (h-1): ratio times the base's own shading
  Plane weight;                    ///< the same size, [0,1]
  float light_x = 0, light_y = 0;  ///< towards the light, per unit of z; y down
};

/// Everything that a height field is measured against at one resolution.
struct FitTerms {
  int width = 0, height = 0;  ///< of the height field
  std::vector<CellRatio> photos;
  Plane base_p, base_q;  ///< per cell, slopes of the skin below the detail; empty = flat
  /// Per pixel sqrt(coherence) times t_x^2, 2 t_x t_y, t_y^2; t runs along the folds. Empty = none.
  Plane along_xx, along_xy, along_yy;
  float noise = 0.002f;          ///< of the ratio
  float along_stiffness = 0.3f;  ///< kappa along folds, as a share of kappa
  float pull = 1e-6f;            ///< mu: keeps heights near 0 where nothing else says anything
};

/// J(z) = sum of w huber_3((r(grad z + base) - R) / s) + 1/(2 k^2) sum of (zxx^2 + 2 zxy^2 + zyy^2)
///      + 1/2 (1/ka^2 - 1/k^2) sum of c (t' H t)^2 + mu/(2 s^2) sum of z^2
/// with r(p, q) = (1 - lx p - ly q) / sqrt(1 + p^2 + q^2). Slopes are means over cells.
/// Writes dJ/dz where `gradient` is not null, and J per pixel where `per_pixel` is not null. The
/// same bits for any number of threads. O(pixels).
double heightEnergy(const FitTerms& terms, float kappa, std::span<const float> z, float* gradient,
                    Plane* per_pixel = nullptr);

}  // namespace derm::detail::maps
