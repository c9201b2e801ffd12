#include <array>
#include <cmath>
#include <numbers>

#include "derm/math/decompositions.h"

#include "cast/curve.h"
#include "cast/figure.h"
#include "cast/members.h"

/// A fly agaric, 0.3 m tall, standing on y = 0: a cap and a foot, one joint each.
namespace derm::detail::cast {
namespace {

constexpr double kRim_m = 0.160;  // height of the cap's rim
const Vec3d kCapCentre(0, 0.192, 0);
const Vec3d kCapRadii(0.145, 0.104, 0.145);

struct Spot {
  double around, up;  ///< [degrees] on the cap
  double radius;      ///< [m]
};
constexpr std::array<Spot, 13> kSpots = {{{20, 82, 0.026},
                                          {80, 52, 0.021},
                                          {150, 55, 0.024},
                                          {222, 50, 0.020},
                                          {300, 54, 0.023},
                                          {8, 48, 0.017},
                                          {45, 25, 0.018},
                                          {100, 22, 0.015},
                                          {135, 24, 0.014},
                                          {185, 26, 0.019},
                                          {250, 22, 0.016},
                                          {285, 24, 0.013},
                                          {335, 23, 0.018}}};

Vec3d spotCentre(const Spot& s) {
  const double a = s.around * std::numbers::pi / 180.0, u = s.up * std::numbers::pi / 180.0;
  return kCapCentre + Vec3d(std::sin(a) * std::cos(u), std::sin(u), std::cos(a) * std::cos(u))
                          .cwiseProduct(kCapRadii);
}

Sculpt cap() {
  Sculpt s;
  s.ellipsoid(kCapCentre, kCapRadii, Quatd::Identity(), {0});
  for (const Spot& spot : kSpots) {
    // A wart: a flat button half sunk into the skin.
    const Vec3d at = spotCentre(spot);
    const Vec3d out = (at - kCapCentre).cwiseQuotient(kCapRadii.cwiseAbs2()).normalized();
    const Quatd turn = rotationBetween(Vec3d::UnitZ(), out);
    s.ellipsoid(at, {spot.radius, spot.radius, 0.0065}, turn, {0.003});
  }
  // The underside: hollow, with gills that run from the rim to the foot.
  Sculpt below;
  below.ellipsoid({0, 0.112, 0}, {0.146, 0.078, 0.146}, Quatd::Identity(), {0});
  below.displace([](const Vec3d& p) {
    const double r = std::hypot(p.x(), p.z());
    const double gills = 0.0030 * std::cos(22.0 * std::atan2(p.x(), p.z()));
    return gills * smoothStep(0.045, 0.075, r) * smoothStep(0.135, 0.115, r);
  });
  s.carve(below, {0.014});
  return s;
}

Sculpt foot() {
  Sculpt s;
  s.limb({{{0, 0.044, 0}, 0.062},
          {{0, 0.085, 0}, 0.044},
          {{0, 0.135, 0.002}, 0.031},
          {{0, 0.205, 0}, 0.034}},
         0.03, {0});
  // The frills of the bulb and the skirt below the cap.
  s.displace([](const Vec3d& p) {
    const double rolls = 0.0028 * std::cos(2.0 * std::numbers::pi * (p.y() - 0.050) / 0.019);
    return rolls * smoothStep(0.026, 0.036, p.y()) * smoothStep(0.088, 0.070, p.y());
  });
  Sculpt skirt;
  skirt.cone({{0, 0.160, 0.001}, 0.028}, {{0, 0.118, 0.002}, 0.052}, {0});
  Sculpt under_skirt;
  under_skirt.ellipsoid({0, 0.100, 0.002}, {0.075, 0.034, 0.075}, Quatd::Identity(), {0});
  skirt.carve(under_skirt, {0.008});
  s.add(skirt, {0.008});
  Sculpt ground;
  ground.halfSpace({0, 0, 0}, Vec3d(0, 1, 0), {0});
  s.carve(ground, {0.020});
  return s;
}

/// Crouch, leap, land, wobble. The cap follows the foot late and is pressed down or drawn out along
/// it: joints only turn and move, flesh layers may add the rest. Starts and ends at rest: loops.
Clip hopClip(const Rig& rig) {
  constexpr double kLength_s = 1.2;
  // Free flight from 0.36 s to 0.76 s: g t^2 / 8 = 0.196 m high.
  constexpr double kTakeOff_s = 0.36, kTouchDown_s = 0.76;
  static const Curve press({{0, 0},
                            {0.24, -0.030},
                            {0.30, -0.028},
                            {0.42, 0.022},
                            {0.60, 0.002},
                            {0.74, 0.012},
                            {0.86, -0.032},
                            {0.99, 0.010},
                            {1.10, -0.003},
                            {1.2, 0}});
  static const Curve lean(
      {{0, 0}, {0.24, 9}, {0.45, -12}, {0.70, 4}, {0.82, 7}, {1.0, -2}, {1.2, 0}});
  static const Curve nod({{0, 0},
                          {0.26, 12},
                          {0.42, 14},
                          {0.60, -20},
                          {0.74, -6},
                          {0.88, 20},
                          {1.02, -7},
                          {1.12, 2},
                          {1.2, 0}});
  static const Curve tilt({{0, 0}, {0.3, -3}, {0.6, 5}, {0.9, -4}, {1.05, 2}, {1.2, 0}});
  ClipSketch clip("hop");
  const JointId foot_joint = rig["foot"], cap_joint = rig["cap"];
  const Vec3d cap_rest = rig.position(cap_joint) - rig.position(foot_joint);
  for (int f = 0; f <= 72; ++f) {
    const double t = f / 60.0;
    const double s = t - kTakeOff_s, flight = kTouchDown_s - kTakeOff_s;
    const double high = s > 0 && t < kTouchDown_s ? 0.5 * kGravity * s * (flight - s) : 0.0;
    const double angle = t >= kLength_s ? 0.0 : lean(t);
    // Leaning turns about the rim of the base, so that no part of it sinks into the ground.
    const double lift = 0.046 * std::abs(std::sin(angle * std::numbers::pi / 180.0));
    clip.translation(foot_joint, t, Vec3d(0, high + lift, 0));
    clip.rotation(foot_joint, t, aboutX(angle));
    clip.translation(cap_joint, t, cap_rest + Vec3d(0, press(t), 0));
    clip.rotation(cap_joint, t, aboutX(nod(t)) * aboutZ(tilt(t)));
  }
  return std::move(clip).finish();
}

Vec3d mushroomColour(const Vec3d& p) {
  const double r = std::hypot(p.x(), p.z());
  if (p.y() > kRim_m + 0.004) {  // the cap: deeper red at the top; white below the warts
    for (const Spot& spot : kSpots)
      if ((p - spotCentre(spot)).norm() < spot.radius * 0.97) return Vec3d(1, 1, 1);
    const double top = smoothStep(0.20, 0.29, p.y());
    return Vec3d(1, 1, 1) - top * Vec3d(0.18, 0.45, 0.45);
  }
  const double gill =
      smoothStep(0.05, 0.07, r) * (0.5 + 0.5 * std::cos(22.0 * std::atan2(p.x(), p.z())));
  const double deep = smoothStep(0.05, 0.0, p.y());
  return Vec3d(1, 1, 1) - 0.22 * gill * Vec3d(1, 1.1, 1.3) - 0.30 * deep * Vec3d(0.8, 1.0, 1.2);
}

}  // namespace

Character makeMushroom() {
  Figure f;
  f.name = "mushroom";
  f.body = foot();
  f.body.add(cap(), {0.022});
  f.grid = {{-0.16, -0.01, -0.16}, {0.16, 0.31, 0.16}, 0.0045, false};
  Sculpt stem, spots;
  stem.halfSpace({0, kRim_m, 0}, Vec3d(0, 1, 0), {0});
  stem.ellipsoid({0, 0.112, 0}, {0.136, 0.110, 0.136}, Quatd::Identity(),
                 {0.01});  // the hollow too
  for (const Spot& spot : kSpots) spots.ball(spotCentre(spot), spot.radius, {0});
  f.regions = {{1, stem}, {2, spots}};
  f.materials = {paint("cap", {0.72, 0.045, 0.025}, 0.35), paint("flesh", {0.90, 0.82, 0.66}, 0.7),
                 paint("warts", {0.93, 0.89, 0.78}, 0.75)};
  f.remesh.triangles = 5600;
  f.remesh.base_edge = 0.0105;
  f.remesh.spots = {{{{0, 0.17, 0}, 0.05}, {{0, 0.165, 0}, 0.05}, 0.0095, 0.02}};
  f.rig.add("foot", "", {0, 0, 0});
  f.rig.add("cap", "foot", {0, 0.165, 0});
  f.bones = {{f.rig["foot"], {{0, 0.03, 0}, 0.05}, {{0, 0.115, 0}, 0.04}},
             {f.rig["cap"], {{0, 0.195, 0}, 0.05}, {{0, 0.205, 0}, 0.13}}};
  f.weights.spread = 22;
  f.weights.min_weight = 0.005;
  f.colour = mushroomColour;
  f.groups = {{"cap",
               [](const Vec3d& p) {
                 return smoothStep(0.150, 0.180, p.y() + 0.2 * std::hypot(p.x(), p.z()));
               }},
              {"foot", [](const Vec3d& p) {
                 return 1.0 - smoothStep(0.150, 0.180, p.y() + 0.2 * std::hypot(p.x(), p.z()));
               }}};
  Character mushroom = built(f);
  mushroom.clips = {hopClip(f.rig)};
  return mushroom;
}

}  // namespace derm::detail::cast
