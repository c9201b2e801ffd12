#include <array>
#include <string>

#include "cast/curve.h"
#include "cast/figure.h"
#include "cast/members.h"

/// A baby's left forearm and hand along +x, palm down, thumb forward (+z): rolls of fat with a deep
/// crease at the wrist, which is where skinning has the most to lose. The hand bends about z.
namespace derm::detail::cast {
namespace {

constexpr double kCrease_m = 0.1015;  // x of the deepest point of the wrist's crease

struct Digit {
  const char* name;
  Bead knuckle, middle, tip;
};

const std::array<Digit, 5>& digits() {
  static const std::array<Digit, 5> all = {{
      {"thumb",
       {{0.124, -0.005, 0.019}, 0.0098},
       {{0.139, -0.008, 0.0335}, 0.0078},
       {{0.149, -0.0095, 0.041}, 0.0064}},
      {"index",
       {{0.150, -0.001, 0.0200}, 0.0080},
       {{0.166, -0.004, 0.0245}, 0.0068},
       {{0.178, -0.010, 0.0275}, 0.0058}},
      {"middle",
       {{0.153, 0.000, 0.0068}, 0.0082},
       {{0.170, -0.003, 0.0080}, 0.0069},
       {{0.183, -0.010, 0.0088}, 0.0059}},
      {"ring",
       {{0.152, 0.000, -0.0068}, 0.0080},
       {{0.168, -0.003, -0.0088}, 0.0068},
       {{0.180, -0.010, -0.0103}, 0.0058}},
      {"little",
       {{0.147, -0.001, -0.0195}, 0.0074},
       {{0.160, -0.004, -0.0242}, 0.0062},
       {{0.169, -0.010, -0.0275}, 0.0054}},
  }};
  return all;
}

Sculpt wristBody() {
  Sculpt s;
  // Rolls: each bulges over the next, the blend between them is a fold.
  s.ellipsoid({-0.012, 0.001, 0.000}, {0.040, 0.0345, 0.0365}, Quatd::Identity(), {0});
  s.ellipsoid({0.036, -0.001, 0.000}, {0.041, 0.0350, 0.0375}, aboutZ(-4), {0.012});
  s.ellipsoid({0.0765, 0.000, 0.000}, {0.0285, 0.0300, 0.0325}, aboutZ(3), {0.010});
  s.cone({{0.085, 0, 0}, 0.0205}, {{0.120, 0, 0}, 0.0170}, {0.003});
  // The hand: a cushion, with the pads of the thumb and of the little finger under it.
  s.ellipsoid({0.1325, 0.001, 0.000}, {0.0285, 0.0185, 0.0275}, Quatd::Identity(), {0.0045});
  s.ellipsoid({0.126, -0.007, 0.0135}, {0.0190, 0.0120, 0.0130}, aboutY(-30), {0.006});
  s.ellipsoid({0.128, -0.006, -0.0130}, {0.0190, 0.0115, 0.0115}, Quatd::Identity(), {0.006});
  for (const Digit& d : digits()) s.limb({d.knuckle, d.middle, d.tip}, 0.004, {0.0045});
  // Dimples over the knuckles.
  for (std::size_t i = 1; i < digits().size(); ++i) {
    Sculpt dimple;
    dimple.ball(digits()[i].knuckle.centre + Vec3d(-0.004, 0.0155, 0), 0.0062, {0});
    s.carve(dimple, {0.006});
  }
  return s;
}

Rig wristRig() {
  Rig rig;
  rig.add("forearm", "", {0, 0, 0});
  rig.add("hand", "forearm", {0.104, 0, 0});
  for (const Digit& d : digits()) rig.add(d.name, "hand", d.knuckle.centre);
  return rig;
}

std::vector<Bone> wristBones(const Rig& rig) {
  std::vector<Bone> bones = {{rig["forearm"], {{-0.02, 0, 0}, 0.034}, {{0.088, 0, 0}, 0.025}},
                             {rig["hand"], {{0.118, 0, 0}, 0.0185}, {{0.142, 0, 0}, 0.018}}};
  for (const Digit& d : digits()) bones.push_back({rig[d.name], d.knuckle, d.tip});
  return bones;
}

/// Down, back through straight, up, and to rest again; the fingers close as the hand goes up.
Clip wristFlexClip(const Rig& rig) {
  static const Curve bend({{0, 0}, {1.0, -68}, {1.4, -68}, {2.6, 48}, {3.0, 48}, {4.0, 0}});
  static const Curve grip({{0, 0}, {1.2, -8}, {2.6, 38}, {3.0, 38}, {3.7, 0}, {4.0, 0}});
  ClipSketch clip("flex");
  for (int f = 0; f <= 120; ++f) {
    const double t = f / 30.0;
    clip.rotation(rig["hand"], t, aboutZ(bend(t)));
    for (std::size_t i = 1; i < digits().size(); ++i)
      clip.rotation(rig[digits()[i].name], t, aboutZ(-grip(t)));
    clip.rotation(rig["thumb"], t, aboutY(0.4 * grip(t)));
  }
  return std::move(clip).finish();
}

Vec3d babyColour(const Vec3d& p) {
  const Vec3d plain(0.88, 0.60, 0.49), rosy(0.86, 0.44, 0.36);
  double red = 0.7 * smoothStep(0.010, 0.002, std::abs(p.x() - kCrease_m));
  for (const Digit& d : digits())
    red = std::max(red, 0.8 * smoothStep(0.014, 0.005, (p - d.tip.centre).norm()));
  return plain + red * (rosy - plain);
}

}  // namespace

Character makeWrist() {
  Figure f;
  f.name = "wrist";
  f.body = wristBody();
  f.grid = {{-0.055, -0.045, -0.045}, {0.20, 0.045, 0.055}, 0.0016, false};
  f.materials = {paint("skin", {1, 1, 1}, 0.5)};
  f.remesh.triangles = 2480;
  f.remesh.base_edge = 0.0080;
  f.remesh.spots = {
      {{{kCrease_m, 0, 0}, 0.024}, {{kCrease_m + 0.004, 0, 0}, 0.024}, 0.0042, 0.012},
      {{{0.135, 0, 0}, 0.02}, {{0.165, -0.004, 0}, 0.032}, 0.0040, 0.02},
      {{digits()[0].middle.centre, 0.01}, {digits()[0].tip.centre, 0.01}, 0.0040, 0.01}};
  f.rig = wristRig();
  f.bones = wristBones(f.rig);
  f.weights.spread = 14;
  f.colour = babyColour;
  f.groups = {{"crease", [](const Vec3d& p) {
                 return smoothStep(0.016, 0.006, std::abs(p.x() - kCrease_m));
               }}};
  Character wrist = built(f);
  wrist.clips = {wristFlexClip(f.rig)};
  return wrist;
}

}  // namespace derm::detail::cast
