#include <algorithm>
#include <cmath>
#include <numbers>

#include "cast/head/cage_builder.h"

namespace derm::detail::cast {
namespace {

constexpr double kHalfGap = 0.005;  // [cm] between closed lips

double square(double x) { return x * x; }
double bell(double t, double middle, double width) {
  return std::exp(-square((t - middle) / width));
}

/// Places along the lips: denser towards the corners.
double alongLip(double s) {
  return 0.55 * std::abs(s) + 0.45 * std::sin(std::abs(s) * std::numbers::pi / 2);
}

/// Heights over the mouth's y at t = 0 (middle) to 1 (corner).
double slitHeight(const MouthDesign& m, double t) {
  return -0.05 * bell(t, 0, .16) + 0.05 * bell(t, .42, .22) + m.corner * t * t * t;
}
double borderHeight(const MouthDesign& m, double t, bool upper) {
  if (!upper) return slitHeight(m, t) - m.lower * (1 - std::pow(t, 2.3));
  return slitHeight(m, t) + m.upper * (1 - std::pow(t, 1.45)) - 0.17 * m.upper * bell(t, 0, .12) +
         .06 * bell(t, .25, .11);
}

/// A ring around the lips: so much wider, so much further above and below, and how round.
struct Around {
  double wider, above, below, round;
};

Vec3d ringPoint(const MouthDesign& m, const HeadClay& clay, double s, double u, const Around& by) {
  const double t = alongLip(s), x = std::copysign(t * (m.half_width + by.wider), s);
  double y = slitHeight(m, 1);
  if (u != 0) {
    const double fall = std::pow(1 - std::pow(t, 2.4), .6);
    const double peak = u > 0 ? borderHeight(m, .25, true) : borderHeight(m, 0, false);
    y = borderHeight(m, t, u > 0) * (1 - by.round) + by.round * peak * fall +
        u * (u > 0 ? by.above : by.below) * (0.30 + 0.70 * fall);
  }
  return {x, m.y + y, clay.frontZ(x, m.y + y)};
}

}  // namespace

BlockPlan mouthPlan(const HeadDesign& design, const HeadClay& clay) {
  const MouthDesign& m = design.mouth;
  BlockPlan plan{.block = kMouthBlock, .outline_pin = 1, .sink = .9};
  plan.rings = {{1, {}, 1}, {2, {}, .8}, {3, {}, 0}, {4, {}, 0}, {5, {}, 0}};
  // Two rings of the same height behind the slit: with the second open already, subdivision would
  // pull the lips apart.
  for (const double number : {6.0, 7.0, 8.0}) plan.rings.push_back({number, {}, 0, SkinPart::Bag});
  for (const auto& [column, row] : kMouthBlock.outline()) {
    const double u = row == 8 ? 0 : row == 9 ? 1 : -1;
    const double s = row == 8 ? (column > 0 ? 1.0 : -1.0) : column / 6.0;
    plan.places.push_back({s, u});
    plan.outline.push_back(ringPoint(m, clay, s, u, {1.0, m.ring_above, m.ring_below, .8}));

    const double t = alongLip(s), side = s < 0 ? -1 : s > 0 ? 1 : 0;
    const double full = u != 0 ? std::pow(1 - t * t, .55) : 0;  // 0 at the corners
    const Vec3d border = ringPoint(m, clay, s, u, {.10, 0, 0, 0});
    const double z = clay.frontZ(border.x(), m.y);
    const double slit = m.y + slitHeight(m, t);
    const double slit_z = z + 0.10 * full - 0.12 * std::pow(t, 4);
    const double body = u > 0 ? 0.50 : 0.55;  // of the way from the border to the slit
    const double bulge = u > 0 ? m.upper_bulge : m.lower_bulge;
    const Vec3d rings[] = {
        ringPoint(m, clay, s, u, {.42, .26, .30, .35}),
        border,
        {side * t * (m.half_width + .02), border.y() * (1 - body) + (slit + u * kHalfGap) * body,
         (std::max(border.z(), z) + z) / 2 + bulge * full - .05 * std::pow(t, 4)},
        {side * t * (m.half_width - .06), slit + u * (kHalfGap + .025 * full), slit_z + .08 * full},
        {side * t * (m.half_width - .10), slit + u * kHalfGap, slit_z - .28},
        {side * t * (m.half_width - .10), slit + u * kHalfGap, slit_z - .55},
        {side * t * (m.half_width + .05), slit + u * .95 * (full + .1), slit_z - 1.3},
        {side * t * (m.half_width - .25), slit + u * 1.15 * (full + .1), slit_z - 3.0}};
    for (std::size_t k = 0; k < plan.rings.size(); ++k) plan.rings[k].points.push_back(rings[k]);
  }
  return plan;
}

}  // namespace derm::detail::cast
