#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <vector>

#include "derm/math/vec.h"

namespace derm::detail::cast {

/// A ball on a limb's axis: where, and how thick. [m]
struct Bead {
  Vec3d centre = Vec3d::Zero();
  double radius = 0;
};

/// How a shape joins what was modelled before it.
struct Join {
  double blend = 0.01;    ///< [m] width of the fillet; 0 = a crease
  bool mirrored = false;  ///< also at -x; the two blend with each other first, so symmetry is exact
};

inline constexpr bool kBothSides = true;  ///< for Join::mirrored

/// Where a sub-sculpt stands: scale, then turn, then move.
struct Placement {
  Vec3d move = Vec3d::Zero();
  Quatd turn = Quatd::Identity();
  Vec3d scale = Vec3d::Ones();
};

/// A solid modelled like clay: balls, tapered limbs and lumps pressed together, grooves taken out.
/// Stands for a function of space that is negative inside and about the distance to the surface
/// [m] near it (not exactly: ellipsoids, scaling and blending bend the metric a little).
class Sculpt {
 public:
  /// Round cone: the hull of two balls. (I. Quilez' closed form.)
  void cone(const Bead& a, const Bead& b, Join join);
  /// A limb: balls joined by round cones, blended with each other by `inner_blend`.
  void limb(const std::vector<Bead>& beads, double inner_blend, Join join);
  void ellipsoid(const Vec3d& centre, const Vec3d& radii, const Quatd& turn, Join join);
  void ball(const Vec3d& centre, double radius, Join join);
  /// Everything on the side of `point` that `outward` points away from: a straight cut.
  void halfSpace(const Vec3d& point, const Vec3d& outward, Join join);
  void add(Sculpt part, Join join, const Placement& placement = {});
  /// Takes the part away; `blend` rounds the rim.
  void carve(Sculpt part, Join join, const Placement& placement = {});
  /// Pushes the surface out by offset(p) [m] (small against the shape, smooth): folds, rolls.
  void displace(std::function<double(const Vec3d&)> offset);

  double distance(const Vec3d& p) const;
  /// Differences over `step` [m], from the corners of a tetrahedron. `mean`, where given, gets the
  /// value at p to second order in the step.
  Vec3d gradient(const Vec3d& p, double step, double* mean = nullptr) const;
  /// Newton steps along the gradient onto the surface.
  Vec3d projected(Vec3d p, double step) const;

 private:
  enum class Operation { Add, Carve, Displace };
  enum class Shape { Cone, Ellipsoid, HalfSpace, Part };
  /// distance(p) >= slope * (|p - centre| - radius): lets far strokes be skipped, exactly.
  struct Reach {
    Vec3d centre = Vec3d::Zero();
    double radius = 0;
    double slope = 0;
    double minDistance(const Vec3d& p) const { return slope * ((p - centre).norm() - radius); }
    void include(const Reach& other, double blend);
  };
  struct Stroke {
    Operation operation = Operation::Add;
    Shape shape = Shape::Cone;
    Join join;
    Bead a, b;                    // Cone; Ellipsoid: a.centre is the centre
    Vec3d radii = Vec3d::Zero();  // Ellipsoid; HalfSpace: the outward normal
    Mat3d to_local = Mat3d::Identity();
    Placement placement;  // Part
    std::shared_ptr<const Sculpt> part;
    std::function<double(const Vec3d&)> offset;
    Reach reach;
  };
  static double strokeDistance(const Stroke& stroke, const Vec3d& p);
  void addPart(Operation operation, Sculpt part, Join join, const Placement& placement);
  void addStroke(Stroke stroke);
  std::vector<Stroke> strokes_;
  Reach reach_;  // of everything so far
};

/// The smaller of a and b, rounded where they are within `width` of each other (quadratic).
double smoothMin(double a, double b, double width);
/// Distance to the hull of two balls.
double roundConeDistance(const Vec3d& p, const Bead& a, const Bead& b);
/// 0 below `low`, 1 above `high`, smooth between.
double smoothStep(double low, double high, double x);

}  // namespace derm::detail::cast
