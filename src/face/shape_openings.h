#pragma once

#include <optional>
#include <span>
#include <vector>

#include "face/slit_curves.h"

namespace derm::detail {

/// In widths of an opening: how far a correction of its margin reaches.
inline constexpr double kLidRadius = 0.45, kLipRadius = 0.3;

/// The same opening on both heads.
struct OpeningPair {
  SlitSurface donor, target;
  bool lips = false;  ///< else lids
};

/// A ball that lids slide on.
struct Eyeball {
  Vec3d centre = Vec3d::Zero();  ///< [m]
  double radius_m = 0;
  double farthest_m = 0;  ///< [m] of its points from the centre: a cornea bulges
};

/// What a shape does to an opening of the donor, at equal steps along it: by how much of its height
/// it opened or shut (lids), or by how much of its width (lips).
struct OpeningChange {
  static constexpr int kSteps = 32;
  std::vector<double> risen;   ///< kSteps + 1: height's change over that at rest; -1 = shut
  std::vector<double> grown;   ///< kSteps + 1: [width]
  std::vector<double> height;  ///< kSteps + 1: [width] at the shape
  double upper_share = 0.5;    ///< [0,1] of the motion, upper margin
  bool moves = false;          ///< any point of the margins does
};

/// `shape`: [m] displacement per point of the donor's welded mesh.
OpeningChange openingChange(const WeldedMesh& donor, const SlitSurface& slit,
                            std::span<const Vec3d> shape);

/// Lids: corrects `shape` (per point of the target) so that the opening is the donor's share of its
/// own. `eyeball`, where given, is kept out of the skin.
void matchLids(const WeldedMesh& target, const OpeningPair& pair, const OpeningChange& change,
               double shut_below, const std::optional<Eyeball>& eyeball, std::span<Vec3d> shape);

/// Lips: where the donor's neither part nor close they keep their distance. `base`, where not
/// empty, is a shape both are used on top of (jawOpen under mouthClose); `change` is then that of
/// the sum, and lips that meet in it on the donor meet on the target.
void matchLips(const WeldedMesh& target, const OpeningPair& pair, const OpeningChange& change,
               std::span<const Vec3d> base, std::span<Vec3d> shape);

}  // namespace derm::detail
