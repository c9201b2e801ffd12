#include <algorithm>
#include <cmath>
#include <numbers>

#include "cast/head/cage_builder.h"

namespace derm::detail::cast {
namespace {

constexpr double kLean = 0.20;    // [rad] backwards
constexpr double kTragus = 3.35;  // [rad] where it is: at the front, below the middle
const Vec3d kUp(0, std::cos(kLean), -std::sin(kLean));
const Vec3d kForward(0, std::sin(kLean), std::cos(kLean));

/// One ring of an ear as a share of its outline.
struct EarRing {
  double number;
  double scale, front_scale;  ///< the latter where the ear runs into the cheek
  double lift, hinge;         ///< [cm] off the head, and how much it follows the ear's flare
  double front_lift = 0, lobe_lift = 0;
  double shift = 0;  ///< [cm] backwards
  double clay = 0;
};

constexpr EarRing kRings[] = {
    {.number = 1,
     .scale = .74,
     .front_scale = 1.16,
     .lift = -.10,
     .hinge = .25,
     .shift = -.30,
     .clay = .6},
    {.number = 2, .scale = .93, .front_scale = 1.07, .lift = .02, .hinge = .95, .front_lift = -.05},
    {.number = 3, .scale = 1.0, .front_scale = 1.0, .lift = .22, .hinge = 1, .front_lift = -.12},
    {.number = 4,
     .scale = .93,
     .front_scale = .93,
     .lift = .42,
     .hinge = 1,
     .front_lift = -.22,
     .lobe_lift = -.05},
    {.number = 5,
     .scale = .80,
     .front_scale = .80,
     .lift = .10,
     .hinge = 1,
     .front_lift = .02,
     .lobe_lift = .18},
    {.number = 6,
     .scale = .62,
     .front_scale = .62,
     .lift = .34,
     .hinge = .9,
     .front_lift = .12,
     .lobe_lift = .10},
    {.number = 7,
     .scale = .42,
     .front_scale = .42,
     .lift = -.10,
     .hinge = .7,
     .front_lift = .10,
     .shift = -.12},
    {.number = 8, .scale = .28, .front_scale = .28, .lift = -.55, .hinge = .35, .shift = -.20}};

/// The rim at an angle (0 back, pi/2 top): how far back and up. [cm] at size 1
Vec2d earOutline(double angle) {
  const double b = std::cos(angle), u = std::sin(angle), low = std::max(-u, 0.0);
  const double wide = 1.75 + 0.30 * u - 0.25 * low * low;
  return {b * wide * (b > 0 ? 1.0 : 0.80) + .15, 3.05 * u - 0.15};
}

/// Evenly spaced angles whose mean is that of the outline's own.
std::vector<double> evenAngles(const std::vector<Vec3d>& outline, const Vec3d& centre) {
  std::vector<double> angles;
  for (const Vec3d& p : outline) {
    double a = std::atan2((p - centre).dot(kUp), -(p - centre).dot(kForward));
    if (!angles.empty())
      a += 2 * std::numbers::pi * std::round((angles.back() - a) / (2 * std::numbers::pi));
    angles.push_back(a);
  }
  const double n = static_cast<double>(angles.size());
  const double step = std::copysign(2 * std::numbers::pi / n, angles.back() - angles.front());
  double start = 0;
  for (std::size_t k = 0; k < angles.size(); ++k)
    start += (angles[k] - step * static_cast<double>(k)) / n;
  for (std::size_t k = 0; k < angles.size(); ++k) angles[k] = start + step * static_cast<double>(k);
  return angles;
}

}  // namespace

BlockPlan earPlan(const HeadDesign& design, const HeadClay& clay,
                  const std::vector<Vec3d>& outline) {
  const EarDesign& ear = design.ear;
  std::vector<Vec3d> base;
  for (const Vec3d& p : outline) base.push_back(clay.projected(p, 8));
  const Vec3d centre = clay.projected({7.0, ear.y, ear.z}, 8);
  BlockPlan plan{.block = kEarBlock, .outline_pin = .6, .sink = 0};
  for (const EarRing& ring : kRings)
    plan.rings.push_back({ring.number, {}, ring.clay, SkinPart::Ear});
  for (const double angle : evenAngles(base, centre)) {
    const Vec2d rim = earOutline(angle) * ear.size;
    const double front = std::pow(std::max(-std::cos(angle), 0.0), 1.5);
    const double lobe = std::pow(std::max(-std::sin(angle), 0.0), 3);
    for (std::size_t k = 0; k < std::size(kRings); ++k) {
      const EarRing& ring = kRings[k];
      const bool runs_in = ring.front_scale != ring.scale;
      const double scale = ring.scale + (ring.front_scale - ring.scale) * front;
      const double back = rim.x() * scale + ring.shift * (1 - (runs_in ? front : 0));
      Vec3d p = centre + kUp * (rim.y() * scale) - kForward * back;
      // The tragus: a flap that stands before the concha.
      const double flap =
          std::exp(-std::pow((std::remainder(angle - kTragus, 2 * std::numbers::pi)) / .42, 2));
      if (ring.number == 5) p += flap * Vec3d(.22, 0, -.16) * ear.size;
      if (ring.number == 6) p += flap * Vec3d(.26, 0, -.34) * ear.size;
      if (ring.number == 7) p += flap * Vec3d(-.10, 0, -.10) * ear.size;
      p.x() += ring.lift + ear.flare * (back + 1.2 * ear.size) * ring.hinge;
      // Follow the head's side: on a flat plane the upper front would sink into a wide skull.
      p.x() += .7 * std::clamp(clay.sideX(p.y(), p.z()) - centre.x(), -.5, 1.5) +
               front * ring.front_lift + lobe * ring.lobe_lift;
      plan.rings[k].points.push_back(ring.number == 1 ? clay.projected(p, 8) : p);
    }
  }
  return plan;
}

}  // namespace derm::detail::cast
