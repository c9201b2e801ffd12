#include <algorithm>
#include <cmath>
#include <numbers>

#include "cast/head/cage_builder.h"

namespace derm::detail::cast {
namespace {

constexpr double kHalfPi = std::numbers::pi / 2;

/// Margin of a lid over the eye's centre, (x, y).
Vec2d lidMargin(const EyeDesign& e, double s, bool upper) {
  const double x = e.half_width * (0.62 * s + 0.38 * std::sin(s * kHalfPi));
  const double y = upper ? e.upper * (1 - std::pow(std::abs(s + 0.10 * (1 - s * s)), 2.3))
                         : -e.lower * (1 - std::pow(std::abs(s - 0.10 * (1 - s * s)), 2.0));
  return {x, y + e.tilt * s * (0.5 + 0.5 * std::abs(s))};
}

/// How far a ring lies outside the margin.
struct Outward {
  double up, low, inner, outer;
};

Vec2d movedMargin(const EyeDesign& e, double s, double u, const Outward& by) {
  const Vec2d m = lidMargin(e, s, u >= 0);
  const double across = s > 0 ? by.outer : -by.inner;
  if (u == 0) return {m.x() + across, m.y()};
  const double fade = 0.45 + 0.55 * (1 - std::pow(std::abs(s), 4));
  return {m.x() + across * std::pow(std::abs(s), 1.5), m.y() + (u > 0 ? by.up : -by.low) * fade};
}

/// The point of a ball of radius r over (x, y); beyond its outline it slides down the side.
Vec3d onBall(const Vec2d& p, double r) {
  const double d = p.norm(), rim = 0.97 * r;
  const double inside = std::min(d, rim);
  return {p.x(), p.y(), std::sqrt(r * r - inside * inside) - 0.9 * std::max(d - rim, 0.0)};
}

/// At the corners the skin turns towards the pupil and lies against the ball: the inner one is the
/// caruncle, which closes the gap beside the ball.
Vec3d tuck(const EyeDesign& e, double s, double u) {
  const Vec2d out = movedMargin(e, s, u, {.30, .25, .02, .02});
  const double inner = std::max(-s - .7, 0.0) / .3, outer = std::max(s - .8, 0.0) / .2;
  Vec2d in = lidMargin(e, s, u >= 0);
  in.x() += .26 * inner - .10 * outer;
  const double k = std::max(inner, outer);
  return onBall((1 - k) * out + k * in, e.radius + .05 - .07 * k);
}

/// On a circle of the socket behind the lids, at an angle from the gaze.
Vec3d behind(double s, double u, double angle, double r) {
  const double a = u != 0 ? std::atan2(u * std::cos(s * kHalfPi), std::sin(s * kHalfPi))
                          : (s > 0 ? 0.0 : std::numbers::pi);
  return r * Vec3d(std::sin(angle) * std::cos(a), std::sin(angle) * std::sin(a), std::cos(angle));
}

}  // namespace

BlockPlan eyePlan(const HeadDesign& design, const HeadClay& clay) {
  const EyeDesign& e = design.eye;
  const double r = e.radius, lid = e.lid, crease = e.crease_height;
  BlockPlan plan{.block = kEyeBlock, .outline_pin = .55, .sink = .35};
  plan.rings = {{1, {}, .85}, {2, {}, 0}, {3, {}, 0}, {4, {}, 0}};
  plan.rings.push_back({5, {}, 0, SkinPart::Socket});
  plan.rings.push_back({7, {}, 0, SkinPart::Socket});
  for (const auto& [column, row] : kEyeBlock.outline()) {
    const bool corner = row == 15 && (column == 3 || column == 9);
    const double s = corner ? (column == 3 ? -1.0 : 1.0) : (column - 6) / 4.0;
    const double u = corner ? 0 : (row == 16 ? 1 : -1);
    plan.places.push_back({s, u});

    const double height = u > 0 ? e.upper + e.orbit_above : u < 0 ? e.lower + e.orbit_below : 0;
    Vec3d orbit = e.centre;
    orbit.x() +=
        u == 0 ? (e.half_width + .50) * s : (e.half_width + .42) * std::sin(s * kHalfPi * .97);
    orbit.y() += u * height * std::pow(std::max(std::cos(s * kHalfPi * .9), 0.0), .75) + e.tilt * s;
    orbit.z() = clay.frontZ(orbit.x(), orbit.y());
    plan.outline.push_back(orbit);

    const Vec3d rings[] = {
        onBall(movedMargin(e, s, u, {crease + .16, .52, .26, .30}), r + lid + .02),
        onBall(movedMargin(e, s, u, {crease - .10, .20, .12, .14}), r + lid),
        onBall(movedMargin(e, s, u, {.03, .03, .03, .03}), r + lid - .02),
        onBall(lidMargin(e, s, u >= 0), r + .03),
        tuck(e, s, u),
        behind(s, u, 2.3, r + .14)};
    for (std::size_t k = 0; k < plan.rings.size(); ++k)
      plan.rings[k].points.push_back(e.centre + rings[k]);
  }
  return plan;
}

}  // namespace derm::detail::cast
