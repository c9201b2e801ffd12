#include <cmath>
#include <numbers>

#include "cast/curve.h"
#include "cast/figure.h"
#include "cast/members.h"
#include "cast/planar_pose.h"

/// Jeans for an adult on invisible legs, hems just above y = 0, facing +z; exactly symmetric.
/// Smooth at rest: folds are for a wrinkles layer to make. Closed: the openings at waist and hems
/// are hollows.
namespace derm::detail::cast {
namespace {

constexpr double kWaist_m = 1.02, kHem_m = 0.075;

Sculpt trousersBody() {
  Sculpt hips;
  hips.limb({{{0, 1.06, 0.004}, 0.118},
             {{0, 0.98, 0.000}, 0.122},
             {{0, 0.91, -0.004}, 0.132},
             {{0, 0.86, -0.002}, 0.124}},
            0.06, {0});
  Sculpt s;
  s.add(hips, {0}, {.scale = {1.38, 1, 1}});
  s.ellipsoid({0.082, 0.885, -0.050}, {0.085, 0.095, 0.082}, aboutX(12),
              {0.05, kBothSides});  // seat
  Sculpt leg;
  leg.limb({{{0.094, 0.865, 0.000}, 0.096},
            {{0.100, 0.770, 0.004}, 0.089},
            {{0.106, 0.630, 0.008}, 0.076},
            {{0.108, 0.510, 0.008}, 0.069},
            {{0.111, 0.380, -0.006}, 0.070},
            {{0.115, 0.220, -0.010}, 0.068},
            {{0.117, 0.020, -0.008}, 0.072}},
           0.06, {0});
  leg.ellipsoid({0.107, 0.515, 0.030}, {0.046, 0.060, 0.048}, Quatd::Identity(), {0.03});  // knee
  s.add(leg, {0.028, kBothSides});
  s.displace([](const Vec3d& p) {  // the waistband and the turned hems stand proud
    return 0.0035 * smoothStep(kWaist_m - 0.052, kWaist_m - 0.044, p.y()) +
           0.0030 * smoothStep(kHem_m + 0.046, kHem_m + 0.038, p.y());
  });
  Sculpt above, below, waist_hollow, leg_hollow;
  above.halfSpace({0, kWaist_m, 0}, Vec3d(0, -1, 0.06), {0});
  below.halfSpace({0, kHem_m, 0}, Vec3d(0, 1, -0.04), {0});
  waist_hollow.ellipsoid({0, kWaist_m, 0.004}, {0.148, 0.085, 0.101}, Quatd::Identity(), {0});
  leg_hollow.ellipsoid({0.117, kHem_m, -0.008}, {0.053, 0.070, 0.053}, Quatd::Identity(), {0});
  s.carve(above, {0.009});
  s.carve(below, {0.008});
  s.carve(waist_hollow, {0.010});
  s.carve(leg_hollow, {0.009, kBothSides});
  return s;
}

Rig trousersRig() {
  Rig rig;
  rig.add("pelvis", "", {0, 0.92, 0});
  rig.add("waist", "pelvis", {0, 0.97, 0});
  for (const auto& [side, x] : {std::pair<std::string, double>{"_left", 1.0}, {"_right", -1.0}}) {
    rig.add("thigh" + side, "pelvis", {x * 0.092, 0.880, 0.000});
    rig.add("shin" + side, "thigh" + side, {x * 0.108, 0.505, 0.010});
    rig.add("ankle" + side, "shin" + side, {x * 0.117, 0.090, -0.010});
  }
  return rig;
}

std::vector<Bone> trousersBones(const Rig& rig) {
  std::vector<Bone> bones = {
      {rig["waist"], {{-0.05, 1.01, 0}, 0.11}, {{0.05, 1.01, 0}, 0.11}},
      {rig["pelvis"], {{-0.06, 0.92, -0.01}, 0.12}, {{0.06, 0.92, -0.01}, 0.12}}};
  for (const std::string side : {"_left", "_right"}) {
    const Vec3d hip = rig.position("thigh" + side), knee = rig.position("shin" + side),
                ankle = rig.position("ankle" + side);
    bones.push_back({rig["thigh" + side], {hip + Vec3d(0, -0.06, 0), 0.085}, {knee, 0.070}});
    bones.push_back({rig["shin" + side], {knee, 0.070}, {ankle, 0.070}});
  }
  return bones;
}

/// A squat: the knees bend to about 95 degrees and the hips sink and move back, ankles stay put.
Clip bendClip(const Rig& rig) {
  static const Curve down({{0, 0}, {1.5, 1}, {2.1, 1}, {3.6, 0}});
  ClipSketch clip("bend");
  for (int f = 0; f <= 108; ++f) {
    const double t = f / 30.0, d = down(t);
    PlanarPose pose(rig);
    pose.pitch("pelvis") = 22 * d;
    pose.pitch("waist") = -8 * d;
    pose.move = Vec3d(0, -0.260 * d, -0.140 * std::sin(0.5 * std::numbers::pi * d));
    for (const std::string side : {"_left", "_right"}) {
      pose.reach("thigh" + side, "shin" + side, "ankle" + side, rig.position("ankle" + side));
      pose.pitchInWorld("ankle" + side, pose.worldPitch("shin" + side));
    }
    pose.addKeys(t, clip);
  }
  return std::move(clip).finish();
}

/// Walking in place. Joint angles are those of people on level ground (flexion of hip and knee over
/// one cycle from heel strike); the pelvis rides at the height that the standing leg gives it.
Clip walkClip(const Rig& rig) {
  constexpr double kCycle_s = 1.1;
  static const Curve hip({{0.0, 27}, {0.10, 24}, {0.30, 5}, {0.50, -13}, {0.60, -8}, {0.85, 30}},
                         1.0);
  static const Curve knee(
      {{0.0, 6}, {0.13, 18}, {0.36, 5}, {0.50, 14}, {0.62, 42}, {0.73, 62}, {0.96, 5}}, 1.0);
  const int frames = 33;
  const double rest_ankle = rig.position("ankle_left").y();
  ClipSketch clip("walk");
  for (int f = 0; f <= frames; ++f) {
    const double phase = static_cast<double>(f % frames) / frames,
                 turn = 2.0 * std::numbers::pi * phase;
    PlanarPose pose(rig);
    double lowest = 1e9;
    for (const auto& [side, own] :
         {std::pair<std::string, double>{"_left", phase}, {"_right", phase + 0.5}}) {
      pose.pitch("thigh" + side) = -hip(own);
      pose.pitch("shin" + side) = knee(own);
      // A soft minimum: where both feet are down the height passes smoothly from leg to leg.
      const double y = pose.where("ankle" + side).y();
      lowest =
          lowest > 1e8 ? y : 0.5 * (lowest + y - std::sqrt((lowest - y) * (lowest - y) + 4e-4));
    }
    const double time = kCycle_s * f / frames;
    clip.translation(
        rig["pelvis"], time,
        rig.position("pelvis") + Vec3d(0.012 * std::sin(turn), rest_ankle - lowest, 0));
    clip.rotation(rig["pelvis"], time,
                  aboutY(-5.0 * std::cos(turn)) * aboutZ(2.5 * std::sin(turn)));
    clip.rotation(rig["waist"], time, aboutY(4.0 * std::cos(turn)));
    for (const std::string side : {"_left", "_right"}) {
      clip.rotation(rig["thigh" + side], time, aboutX(pose.pitch("thigh" + side)));
      clip.rotation(rig["shin" + side], time, aboutX(pose.pitch("shin" + side)));
    }
  }
  return std::move(clip).finish();
}

Vec3d denim(const Vec3d& p) {
  // Worn lighter over thighs and knees; dark inside the openings.
  const double x = std::abs(p.x());
  const double worn = smoothStep(0.03, 0.08, p.z()) *
                      smoothStep(0.05, 0.12, std::min(x, 0.22 - x) + 0.04) *
                      smoothStep(0.30, 0.48, p.y()) * smoothStep(0.86, 0.72, p.y());
  Vec3d c = Vec3d(0.060, 0.120, 0.270) + 0.55 * worn * Vec3d(0.16, 0.20, 0.24);
  const double waist = std::hypot(p.x() / 0.152, (p.z() - 0.004) / 0.105),
               leg = std::hypot((x - 0.117) / 0.0555, (p.z() + 0.008) / 0.0555);
  if (p.y() > kWaist_m - 0.09 && waist < 1.0) c *= 0.25;
  if (p.y() < kHem_m + 0.08 && leg < 1.0) c *= 0.25;
  return c;
}

}  // namespace

Character makeTrousers() {
  Figure f;
  f.name = "trousers";
  f.body = trousersBody();
  f.grid = {{0, 0.05, -0.17}, {0.23, 1.06, 0.17}, 0.007, true};
  Sculpt band, hem;
  band.halfSpace({0, kWaist_m - 0.048, 0}, Vec3d(0, -1, 0.06), {0});
  hem.halfSpace({0, kHem_m + 0.042, 0}, Vec3d(0, 1, -0.04), {0});
  f.regions = {{1, band}, {2, hem}};
  f.materials = {paint("denim", {1, 1, 1}, 0.8), paint("waistband", {0.62, 0.62, 0.66}, 0.8),
                 paint("hems", {0.8, 0.8, 0.85}, 0.8)};
  f.remesh.triangles = 6362;
  f.remesh.base_edge = 0.022;
  f.remesh.spots = {
      {{{0.116, kHem_m, -0.01}, 0.080}, {{0.116, kHem_m - 0.01, -0.01}, 0.080}, 0.0110, 0.05},
      {{{0.108, 0.56, 0}, 0.08}, {{0.108, 0.44, 0}, 0.08}, 0.0155, 0.06},
      {{{0.116, kHem_m, -0.01}, 0.075}, {{0.115, 0.22, -0.01}, 0.075}, 0.0150, 0.05},
      {{{0, kWaist_m, 0}, 0.13}, {{0.05, kWaist_m, 0}, 0.13}, 0.0165, 0.03}};
  f.rig = trousersRig();
  f.bones = trousersBones(f.rig);
  f.weights.spread = 14;
  f.colour = denim;
  const auto knee = [](double side) {
    return [side](const Vec3d& p) {
      return side * p.x() > 0 ? smoothStep(0.36, 0.44, p.y()) * smoothStep(0.66, 0.58, p.y()) : 0.0;
    };
  };
  f.groups = {{"knee_left", knee(1)},
              {"knee_right", knee(-1)},
              {"waist",
               [](const Vec3d& p) { return smoothStep(kWaist_m - 0.07, kWaist_m - 0.04, p.y()); }}};
  Character trousers = built(f);
  trousers.clips = {bendClip(f.rig), walkClip(f.rig)};
  return trousers;
}

}  // namespace derm::detail::cast
