#include <array>
#include <string>

#include "cast/curve.h"
#include "cast/figure.h"
#include "cast/members.h"

/// A left arm, stretched out along +x with the palm down and the thumb forward (+z): the elbow
/// bends about -y, the forearm twists about x, fingers curl about -z.
namespace derm::detail::cast {
namespace {

struct Finger {
  const char* name;
  std::array<Bead, 4> beads;  ///< knuckle, two joints, tip
};

/// Three phalanges from a knuckle, spread sideways by `splay` and curled a little at each joint.
Finger straightFinger(const char* name, const Vec3d& knuckle, double length, double radius,
                      double splay) {
  constexpr std::array<double, 3> kShare = {0.46, 0.30, 0.24};
  constexpr std::array<double, 3> kThin = {0.93, 0.86, 0.76};
  Finger f{name, {}};
  f.beads[0] = {knuckle, radius};
  Vec3d direction = aboutY(-splay) * (aboutZ(-6) * Vec3d::UnitX());
  for (std::size_t i = 0; i < 3; ++i) {
    f.beads[i + 1] = {f.beads[i].centre + kShare[i] * length * direction, radius * kThin[i]};
    direction = aboutZ(-11) * direction;
  }
  return f;
}

std::array<Finger, 5> fingers() {
  const Finger thumb{"thumb",
                     {{{{0.582, -0.006, 0.030}, 0.0150},
                       {{0.615, -0.015, 0.056}, 0.0122},
                       {{0.642, -0.021, 0.073}, 0.0108},
                       {{0.664, -0.026, 0.084}, 0.0088}}}};
  return {thumb, straightFinger("index", {0.648, 0.002, 0.0340}, 0.074, 0.0102, 8),
          straightFinger("middle", {0.653, 0.004, 0.0112}, 0.083, 0.0105, 2),
          straightFinger("ring", {0.648, 0.003, -0.0122}, 0.076, 0.0100, -5),
          straightFinger("little", {0.638, -0.001, -0.0345}, 0.059, 0.0088, -13)};
}

Sculpt hand() {
  Sculpt s;
  const std::array<Finger, 5> all = fingers();
  // The palm: four bones of the hand under one skin, with the pads of thumb and little finger.
  for (std::size_t i = 1; i < all.size(); ++i) {
    const Vec3d& knuckle = all[i].beads[0].centre;
    s.cone({{0.572, 0.001, 0.55 * knuckle.z()}, 0.0165},
           {knuckle + Vec3d(-0.004, -0.002, 0), all[i].beads[0].radius + 0.0022}, {0.014});
  }
  s.ellipsoid({0.605, -0.003, 0.0}, {0.042, 0.0125, 0.036}, Quatd::Identity(), {0.012});
  s.ellipsoid({0.599, -0.009, 0.029}, {0.034, 0.0165, 0.017}, aboutY(-32), {0.012});
  s.ellipsoid({0.602, -0.009, -0.027}, {0.034, 0.0140, 0.0140}, aboutY(4), {0.012});
  for (const Finger& f : all) {
    s.limb({f.beads[0], f.beads[1], f.beads[2], f.beads[3]}, 0.004, {0.0050});
    for (const std::size_t i : {1u, 2u})  // joints are a little thicker than what is between them
      s.ball(f.beads[i].centre + Vec3d(0, 0.0008, 0), f.beads[i].radius * 1.06, {0.004});
  }
  return s;
}

Sculpt armBody() {
  Sculpt s;
  s.limb({{{-0.005, -0.004, 0}, 0.050},
          {{0.10, -0.004, 0}, 0.041},
          {{0.20, -0.002, 0}, 0.037},
          {{0.285, 0, 0}, 0.036}},
         0.03, {0});
  s.ellipsoid({0.030, 0.014, 0.002}, {0.085, 0.054, 0.062}, aboutZ(-10), {0.02});    // deltoid
  s.ellipsoid({0.172, 0.002, 0.025}, {0.072, 0.035, 0.035}, aboutY(4), {0.012});     // biceps
  s.ellipsoid({0.135, -0.008, -0.024}, {0.092, 0.037, 0.033}, aboutY(-4), {0.012});  // triceps
  s.ellipsoid({0.150, 0.022, -0.008}, {0.060, 0.022, 0.020}, Quatd::Identity(),
              {0.016});  // its outer head
  s.ellipsoid({0.290, -0.002, -0.026}, {0.026, 0.019, 0.015}, Quatd::Identity(), {0.018});  // elbow
  Sculpt forearm;
  forearm.limb({{{0.280, 0, 0}, 0.038},
                {{0.345, 0.002, 0.002}, 0.042},
                {{0.420, 0.002, 0.001}, 0.036},
                {{0.490, 0.001, 0}, 0.0285},
                {{0.552, 0, 0}, 0.0265},
                {{0.580, 0, 0}, 0.0270}},
               0.03, {0});
  forearm.ellipsoid({0.345, 0.014, 0.020}, {0.080, 0.028, 0.025}, aboutY(4),
                    {0.018});  // outer muscles
  forearm.ellipsoid({0.355, -0.013, -0.014}, {0.080, 0.028, 0.027}, aboutY(-3),
                    {0.018});  // inner ones
  s.add(forearm, {0.025}, {.scale = {1, 0.92, 1}});
  // Towards the wrist the forearm is flat: two bones side by side.
  s.displace([](const Vec3d& p) {
    const double near_wrist = smoothStep(0.40, 0.54, p.x()) * smoothStep(0.64, 0.57, p.x());
    return -0.0065 * near_wrist * std::abs(p.y()) / std::hypot(p.y(), p.z() + 1e-4);
  });
  s.add(hand(), {0.020});
  return s;
}

Rig armRig() {
  Rig rig;
  rig.add("upper_arm", "", {0, 0, 0});
  rig.add("forearm", "upper_arm", {0.285, 0, 0});
  rig.add("forearm_twist", "forearm", {0.430, 0, 0});
  rig.add("hand", "forearm_twist", {0.562, 0, 0});
  for (const Finger& f : fingers()) {
    std::string parent = "hand";
    for (std::size_t i = 0; i < 3; ++i) {
      std::string name = f.name;
      name += "_";
      name += std::to_string(i + 1);
      rig.add(name, parent, f.beads[i].centre);
      parent = name;
    }
  }
  return rig;
}

std::vector<Bone> armBones(const Rig& rig) {
  std::vector<Bone> bones = {
      {rig["upper_arm"], {{-0.03, 0, 0}, 0.055}, {{0.285, 0, 0}, 0.038}},
      {rig["forearm"], {{0.285, 0, 0}, 0.038}, {{0.430, 0, 0}, 0.036}},
      {rig["forearm_twist"], {{0.430, 0, 0}, 0.036}, {{0.558, 0, 0}, 0.026}},
  };
  const std::array<Finger, 5> all = fingers();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Finger& f = all[i];
    if (i > 0)
      bones.push_back({rig["hand"], {{0.570, 0, 0.55 * f.beads[0].centre.z()}, 0.016}, f.beads[0]});
    for (std::size_t k = 0; k < 3; ++k) {
      std::string name = f.name;
      name += "_";
      name += std::to_string(k + 1);
      bones.push_back({rig[name], f.beads[k], f.beads[k + 1]});
    }
  }
  return bones;
}

/// Curls the four fingers and, less, the thumb. [degrees at each joint]
void curl(ClipSketch& clip, const Rig& rig, double time_s, double degrees) {
  for (const char* finger : {"index", "middle", "ring", "little"}) {
    for (int i = 1; i <= 3; ++i) {
      std::string name = finger;
      name += "_";
      name += std::to_string(i);
      clip.rotation(rig[name], time_s, aboutZ(-degrees));
    }
  }
  clip.rotation(rig["thumb_2"], time_s, aboutY(0.35 * degrees) * aboutZ(-0.2 * degrees));
  clip.rotation(rig["thumb_3"], time_s, aboutY(0.35 * degrees));
}

constexpr double kRate = 30.0;  // [Hz] of keys

Clip elbowFlexClip(const Rig& rig) {
  static const Curve elbow({{0, 0}, {1.6, 120}, {2.2, 120}, {4.0, 0}});
  static const Curve fist({{0, 0}, {1.4, 42}, {2.3, 42}, {3.6, 0}, {4.0, 0}});
  ClipSketch clip("flex");
  for (int f = 0; f <= 4 * static_cast<int>(kRate); ++f) {
    const double t = f / kRate;
    clip.rotation(rig["forearm"], t, aboutY(-elbow(t)));
    clip.rotation(rig["hand"], t, aboutZ(-0.12 * elbow(t)));
    curl(clip, rig, t, fist(t));
  }
  return std::move(clip).finish();
}

Clip twistClip(const Rig& rig) {
  static const Curve twist({{0, 0}, {1.7, 170}, {2.3, 170}, {4.0, 0}});
  ClipSketch clip("twist");
  for (int f = 0; f <= 4 * static_cast<int>(kRate); ++f) {
    const double t = f / kRate;
    clip.rotation(rig["forearm_twist"], t, aboutX(-twist(t)));
  }
  return std::move(clip).finish();
}

/// The upper arm turns until the elbow's hollow looks up; then bending lifts the hand, palm
/// forward.
Clip waveClip(const Rig& rig) {
  static const Curve raise({{0, 0}, {0.6, 1}, {3.0, 1}, {3.6, 0}});
  static const Curve swing({{0, 0},
                            {0.6, 0},
                            {0.85, 1},
                            {1.25, -1},
                            {1.65, 1},
                            {2.05, -1},
                            {2.45, 1},
                            {2.85, 0},
                            {3.6, 0}});
  ClipSketch clip("wave");
  for (int f = 0; f <= static_cast<int>(3.6 * kRate); ++f) {
    const double t = f / kRate, up = raise(t);
    clip.rotation(rig["upper_arm"], t, aboutZ(14 * up) * aboutX(-82 * up));
    clip.rotation(rig["forearm"], t, aboutY(-82 * up - 20 * swing(t)));
    clip.rotation(rig["hand"], t, aboutY(-16 * swing(t - 0.08)));
    curl(clip, rig, t, -4 * up);
  }
  return std::move(clip).finish();
}

Vec3d skinColour(const Vec3d& p) {
  const Vec3d plain(0.80, 0.50, 0.37), rosy(0.80, 0.38, 0.29), pale(0.86, 0.60, 0.47);
  double red =
      0.6 * smoothStep(0.022, 0.034, -p.z()) * smoothStep(0.05, 0.02, std::abs(p.x() - 0.29));
  for (const Finger& f : fingers()) {
    red = std::max(red, smoothStep(0.020, 0.006, (p - f.beads[3].centre).norm()));
    for (const std::size_t i : {0u, 1u})
      if (p.y() > f.beads[i].centre.y())
        red = std::max(red, 0.5 * smoothStep(0.018, 0.008, (p - f.beads[i].centre).norm()));
  }
  const double under = smoothStep(0.0, -0.03, p.y());
  return plain + red * (rosy - plain) + (1.0 - red) * 0.6 * under * (pale - plain);
}

}  // namespace

Character makeArm() {
  Figure f;
  f.name = "arm";
  f.body = armBody();
  f.grid = {{-0.085, -0.09, -0.09}, {0.76, 0.09, 0.11}, 0.0038, false};
  f.materials = {paint("skin", {1, 1, 1}, 0.55)};
  f.remesh.triangles = 4200;
  f.remesh.base_edge = 0.0165;
  f.remesh.spots = {{{{0.60, 0, 0}, 0.045}, {{0.66, 0, 0}, 0.045}, 0.0078, 0.05},
                    {{{0.285, 0, 0}, 0.05}, {{0.300, 0, 0}, 0.05}, 0.0125, 0.04}};
  for (const Finger& finger : fingers())
    f.remesh.spots.push_back(
        {{finger.beads[1].centre, 0.02}, {finger.beads[3].centre, 0.02}, 0.0062, 0.02});
  f.rig = armRig();
  f.bones = armBones(f.rig);
  f.weights.spread = 10;
  f.weights.ramps = {{f.rig["forearm"], f.rig["forearm_twist"], {0.33, 0, 0}, {0.53, 0, 0}}};
  f.colour = skinColour;
  f.groups = {
      {"biceps",
       [](const Vec3d& p) {
         return smoothStep(0.06, 0.10, p.x()) * smoothStep(0.26, 0.22, p.x()) *
                smoothStep(0.005, 0.025, p.z());
       }},
      {"forearm",
       [](const Vec3d& p) {
         return smoothStep(0.28, 0.32, p.x()) * smoothStep(0.56, 0.52, p.x());
       }},
      {"caps", [](const Vec3d& p) { return smoothStep(-0.020, -0.040, p.x()); }},
  };
  Character arm = built(f);
  arm.clips = {elbowFlexClip(f.rig), twistClip(f.rig), waveClip(f.rig)};
  return arm;
}

}  // namespace derm::detail::cast
