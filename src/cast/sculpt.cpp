#include "cast/sculpt.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace derm::detail::cast {
namespace {

double ellipsoidDistance(const Vec3d& p, const Vec3d& radii) {
  const Vec3d q = p.cwiseQuotient(radii);
  const double k0 = q.norm();
  const double k1 = q.cwiseQuotient(radii).norm();
  // First-order estimate: exact on the surface, where it matters; the centre has no direction.
  return k1 > 0 ? k0 * (k0 - 1.0) / k1 : -radii.minCoeff();
}

double sign(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; }

}  // namespace

double smoothMin(double a, double b, double width) {
  if (width <= 0) return std::min(a, b);
  const double h = std::max(width - std::abs(a - b), 0.0) / width;
  return std::min(a, b) - 0.25 * h * h * width;
}

double smoothStep(double low, double high, double x) {
  const double t = std::clamp((x - low) / (high - low), 0.0, 1.0);
  return t * t * (3.0 - 2.0 * t);
}

double roundConeDistance(const Vec3d& p, const Bead& a, const Bead& b) {
  const Vec3d axis = b.centre - a.centre, from_a = p - a.centre;
  const double l2 = axis.squaredNorm(), rr = a.radius - b.radius, a2 = l2 - rr * rr;
  if (a2 <= 0)  // one ball holds the other
    return rr >= 0 ? from_a.norm() - a.radius : (p - b.centre).norm() - b.radius;
  const double il2 = 1.0 / l2, y = from_a.dot(axis), z = y - l2;
  const double x2 = (from_a * l2 - axis * y).squaredNorm(), y2 = y * y * l2, z2 = z * z * l2;
  const double k = sign(rr) * rr * rr * x2;
  if (sign(z) * a2 * z2 > k) return std::sqrt(x2 + z2) * il2 - b.radius;
  if (sign(y) * a2 * y2 < k) return std::sqrt(x2 + y2) * il2 - a.radius;
  return (std::sqrt(x2 * a2 * il2) + y * rr) * il2 - a.radius;
}

void Sculpt::Reach::include(const Reach& other, double blend) {
  const double gap = (other.centre - centre).norm();
  const double both = 0.5 * (gap + radius + other.radius);
  if (both > std::max(radius, other.radius)) {
    if (gap > 0) centre += (both - radius) / gap * (other.centre - centre);
    radius = both;
  } else if (other.radius > radius) {
    centre = other.centre;
    radius = other.radius;
  }
  slope = std::min(slope, other.slope);
  if (slope > 0)
    radius += 0.25 * blend / slope;  // a blend swells by a quarter of its width at most
}

void Sculpt::addStroke(Stroke s) {
  // Taking away only makes distances larger.
  if (s.operation == Operation::Add) {
    Reach own = s.reach;
    if (s.join.mirrored) {
      Reach other = own;
      other.centre.x() = -other.centre.x();
      own.include(other, s.join.blend);
    }
    if (strokes_.empty())
      reach_ = own;
    else
      reach_.include(own, s.join.blend);
  } else if (s.operation == Operation::Displace) {
    reach_.slope = 0;
  }
  strokes_.push_back(std::move(s));
}

void Sculpt::cone(const Bead& a, const Bead& b, Join join) {
  Stroke s;
  s.join = join;
  s.a = a;
  s.b = b;
  s.reach = {a.centre, a.radius, 1.0};
  s.reach.include({b.centre, b.radius, 1.0}, 0);
  addStroke(std::move(s));
}

void Sculpt::limb(const std::vector<Bead>& beads, double inner_blend, Join join) {
  Sculpt part;
  const Bead* last = nullptr;
  for (const Bead& bead : beads) {
    if (last) part.cone(*last, bead, {inner_blend});
    last = &bead;
  }
  add(std::move(part), join);
}

void Sculpt::ellipsoid(const Vec3d& centre, const Vec3d& radii, const Quatd& turn, Join join) {
  Stroke s;
  s.shape = Shape::Ellipsoid;
  s.join = join;
  s.a.centre = centre;
  s.radii = radii;
  s.to_local = turn.toRotationMatrix().transpose();
  s.reach = {centre, radii.maxCoeff(), radii.minCoeff() / radii.maxCoeff()};
  addStroke(std::move(s));
}

void Sculpt::ball(const Vec3d& centre, double radius, Join join) {
  cone({centre, radius}, {centre, radius}, join);
}

void Sculpt::halfSpace(const Vec3d& point, const Vec3d& outward, Join join) {
  Stroke s;
  s.shape = Shape::HalfSpace;
  s.join = join;
  s.a.centre = point;
  s.radii = outward.normalized();
  addStroke(std::move(s));  // reach: everywhere
}

void Sculpt::addPart(Operation operation, Sculpt part, Join join, const Placement& placement) {
  Stroke s;
  s.operation = operation;
  s.shape = Shape::Part;
  s.join = join;
  s.placement = placement;
  s.to_local = placement.turn.toRotationMatrix().transpose();
  const double smallest = placement.scale.minCoeff(), largest = placement.scale.maxCoeff();
  s.reach.centre =
      placement.move + placement.turn * part.reach_.centre.cwiseProduct(placement.scale);
  s.reach.radius = part.reach_.radius * largest;
  s.reach.slope = part.reach_.slope * smallest / largest;
  s.part = std::make_shared<const Sculpt>(std::move(part));
  addStroke(std::move(s));
}

void Sculpt::add(Sculpt part, Join join, const Placement& placement) {
  addPart(Operation::Add, std::move(part), join, placement);
}

void Sculpt::carve(Sculpt part, Join join, const Placement& placement) {
  addPart(Operation::Carve, std::move(part), join, placement);
}

void Sculpt::displace(std::function<double(const Vec3d&)> offset) {
  Stroke s;
  s.operation = Operation::Displace;
  s.offset = std::move(offset);
  addStroke(std::move(s));
}

double Sculpt::strokeDistance(const Stroke& s, const Vec3d& p) {
  switch (s.shape) {
    case Shape::Cone:
      return roundConeDistance(p, s.a, s.b);
    case Shape::Ellipsoid:
      return ellipsoidDistance(s.to_local * (p - s.a.centre), s.radii);
    case Shape::HalfSpace:
      return s.radii.dot(Vec3d(p - s.a.centre));
    case Shape::Part: {
      const Vec3d local =
          Vec3d(s.to_local * (p - s.placement.move)).cwiseQuotient(s.placement.scale);
      return s.part->distance(local) * s.placement.scale.minCoeff();
    }
  }
  return 0;
}

double Sculpt::distance(const Vec3d& p) const {
  double d = std::numeric_limits<double>::max();
  const Vec3d mirrored(-p.x(), p.y(), p.z());
  for (const Stroke& s : strokes_) {
    if (s.operation == Operation::Displace) {
      d -= s.offset(p);
      continue;
    }
    const double blend = s.join.blend;
    // Beyond this a stroke changes nothing. (A mirrored pair can be a quarter blend nearer.)
    const double far = s.operation == Operation::Add     ? d + 1.25 * blend
                       : s.operation == Operation::Carve ? -d + 1.25 * blend
                                                         : std::numeric_limits<double>::max();
    const bool near = s.reach.minDistance(p) < far;
    const bool mirror_near = s.join.mirrored && s.reach.minDistance(mirrored) < far;
    if (!near && !mirror_near) continue;
    double own = strokeDistance(s, p);
    if (s.join.mirrored) own = smoothMin(own, strokeDistance(s, mirrored), blend);
    d = s.operation == Operation::Carve ? -smoothMin(-d, own, blend) : smoothMin(d, own, blend);
  }
  return d;
}

Vec3d Sculpt::gradient(const Vec3d& p, double step, double* mean) const {
  static const Vec3d kCorners[4] = {{1, -1, -1}, {-1, -1, 1}, {-1, 1, -1}, {1, 1, 1}};
  Vec3d g = Vec3d::Zero();
  double sum = 0;
  for (const Vec3d& corner : kCorners) {
    const double d = distance(p + step * corner);
    g += d * corner;
    sum += d;
  }
  if (mean) *mean = 0.25 * sum;
  return g / (4.0 * step);
}

Vec3d Sculpt::projected(Vec3d p, double step) const {
  for (int i = 0; i < 3; ++i) {
    double d = 0;
    const Vec3d g = gradient(p, step, &d);
    // Where blending flattens the field the step is shortened rather than shot across the body.
    const Vec3d move = d / std::max(g.squaredNorm(), 0.25) * g;
    p -= move;
    if (move.squaredNorm() < step * step * 1e-2) break;
  }
  return p;
}

}  // namespace derm::detail::cast
