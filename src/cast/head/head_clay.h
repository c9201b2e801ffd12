#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "cast/head/design.h"

namespace derm::detail::cast {

/// The forms of a head without its thin parts (lids, lips, ears): about 25 solids pressed together
/// with wide blends. A function of space, negative inside, about the distance [cm] near the
/// surface. Symmetric about x = 0 to the bit: solids beside the middle are evaluated at x and -x.
class HeadClay {
 public:
  explicit HeadClay(const HeadDesign& design);

  double distance(const Vec3d& p) const;
  Vec3d gradient(const Vec3d& p) const;  ///< central differences over 0.02 cm
  /// Newton steps along the gradient. `keep_y` holds the height: the rim of the neck stays flat.
  Vec3d projected(Vec3d p, int steps, bool keep_y = false) const;
  /// Where a ray from the front along -z meets the surface.
  double frontZ(double x, double y) const;
  /// The same from the left, along -x.
  double sideX(double y, double z) const;

  /// Proportions of this head applied to a point of the common model.
  Vec3d warped(const Vec3d& p) const;
  /// Centre and radii of a solid by its name; it must be there.
  std::pair<Vec3d, Vec3d> ellipsoidOf(std::string_view name) const;

 private:
  struct Solid {
    std::string_view name;
    bool cone = false, carve = false, both_sides = false;
    Vec3d a = Vec3d::Zero();  // centre, or a cone's first end
    Vec3d b = Vec3d::Zero();  // radii, or its second end
    double radius_a = 0, radius_b = 0;
    double blend = 0;
  };
  Vec3d warpScale(double y) const;
  static double solidDistance(const Solid& s, const Vec3d& p);
  std::vector<WarpKnot> warp_;
  std::vector<Solid> solids_;
};

}  // namespace derm::detail::cast
