#include <algorithm>
#include <cmath>

#include "cast/cat.h"

namespace derm::detail::cast {
namespace {

/// The head is modelled about the middle of its skull and then placed.
const Vec3d kHeadCentre(0, 0.336, 0.240);
constexpr double kHeadScale = 1.2;
Vec3d onHead(const Vec3d& local) { return kHeadCentre + kHeadScale * local; }
const Placement kHeadPlacement{kHeadCentre, Quatd::Identity(), Vec3d::Constant(kHeadScale)};
const Placement kEarPlacement{
    {0.0235, 0.0265, -0.004}, Quatd(aboutZ(-17) * aboutY(25) * aboutX(-6)), {1, 1, 1}};

/// [m] along the ear: its point begins and ends here.
constexpr double kEarWide = 0.024;
constexpr double kEarTop = 0.048;

Rig catRig() {
  Rig rig;
  rig.add("root", "", {0, 0, 0});
  rig.add("pelvis", "root", {0, 0.262, -0.165});
  // In the middle of the trunk: bent about joints off its axis, flesh would be lost or gained.
  rig.add("spine_1", "pelvis", {0, 0.227, -0.117});
  rig.add("spine_2", "spine_1", {0, 0.242, -0.055});
  rig.add("spine_3", "spine_2", {0, 0.241, 0.000});
  rig.add("spine_4", "spine_3", {0, 0.236, 0.055});
  rig.add("spine_5", "spine_4", {0, 0.232, 0.108});
  rig.add("neck_1", "spine_5", {0, 0.270, 0.158});
  rig.add("neck_2", "neck_1", {0, 0.292, 0.185});
  rig.add("head", "neck_2", {0, 0.316, 0.212});
  rig.add("jaw", "head", onHead({0, -0.024, 0.012}));
  rig.add("tail_1", "pelvis", {0, 0.276, -0.222});
  rig.add("tail_2", "tail_1", {0, 0.264, -0.266});
  rig.add("tail_3", "tail_2", {0, 0.263, -0.311});
  rig.add("tail_4", "tail_3", {0, 0.280, -0.352});
  rig.add("tail_5", "tail_4", {0, 0.314, -0.381});
  rig.add("tail_6", "tail_5", {0, 0.357, -0.393});
  for (const auto& [side, x] : {std::pair<std::string, double>{"_left", 1.0}, {"_right", -1.0}}) {
    rig.add("ear" + side, "head", onHead({x * 0.0235, 0.030, -0.004}));
    rig.add("shoulder" + side, "spine_5", {x * 0.030, 0.282, 0.098});
    rig.add("upper_arm" + side, "shoulder" + side, {x * 0.046, 0.214, 0.134});
    rig.add("forearm" + side, "upper_arm" + side, {x * 0.044, 0.144, 0.098});
    rig.add("paw_front" + side, "forearm" + side, {x * 0.040, 0.045, 0.116});
    rig.add("thigh" + side, "pelvis", {x * 0.040, 0.254, -0.170});
    rig.add("shin" + side, "thigh" + side, {x * 0.050, 0.158, -0.118});
    rig.add("foot" + side, "shin" + side, {x * 0.047, 0.084, -0.202});
    rig.add("paw_back" + side, "foot" + side, {x * 0.047, 0.022, -0.182});
  }
  return rig;
}

std::vector<Bone> catBones(const Rig& rig) {
  std::vector<Bone> bones;
  const auto bone = [&](const std::string& joint, const Vec3d& to, double ra, double rb) {
    bones.push_back({rig[joint], {rig.position(joint), ra}, {to, rb}});
  };
  const auto chain = [&](const std::string& joint, const std::string& next, double ra, double rb) {
    bone(joint, rig.position(next), ra, rb);
  };
  bones.push_back({rig["pelvis"], {{0, 0.250, -0.205}, 0.048}, {{0, 0.250, -0.130}, 0.055}});
  // The floor of the pelvis, which otherwise would follow the belly, bent against the hips.
  bones.push_back({rig["pelvis"], {{0, 0.200, -0.195}, 0.050}, {{0, 0.200, -0.125}, 0.050}});
  const auto numbered = [](const char* name, int i) {
    return std::string(name) + std::to_string(i);
  };
  // The trunk is taller than wide: a row of bones along the back and one along the belly, which
  // without the latter would follow elbows and thighs.
  for (int i = 1; i <= 5; ++i) {
    const std::string name = numbered("spine_", i);
    const Vec3d a = rig.position(name);
    const Vec3d b = rig.position(i < 5 ? numbered("spine_", i + 1) : "neck_1");
    const Vec3d back(0, 0.005, 0), back_end(0, i < 5 ? 0.005 : -0.025, 0);
    bones.push_back({rig[name], {a + back, 0.056}, {b + back_end, 0.056}});
    bones.push_back({rig[name], {{0, 0.200, a.z()}, 0.050}, {{0, 0.200, b.z()}, 0.050}});
  }
  chain("neck_1", "neck_2", 0.044, 0.040);
  chain("neck_2", "head", 0.040, 0.036);
  bones.push_back(
      {rig["head"], {onHead({0, 0, 0.002}), 0.048}, {onHead({0, -0.010, 0.045}), 0.02}});
  bones.push_back(
      {rig["jaw"], {onHead({0, -0.034, 0.028}), 0.009}, {onHead({0, -0.034, 0.044}), 0.009}});
  for (int i = 1; i <= 5; ++i) chain(numbered("tail_", i), numbered("tail_", i + 1), 0.013, 0.013);
  bone("tail_6", {0, 0.398, -0.386}, 0.012, 0.010);
  for (const std::string side : {"_left", "_right"}) {
    const double x = side == "_left" ? 1.0 : -1.0;
    bone("ear" + side, onHead({x * 0.036, 0.068, -0.004}), 0.010, 0.004);
    bones.push_back({rig["shoulder" + side],
                     {{x * 0.038, 0.270, 0.104}, 0.016},
                     {{x * 0.046, 0.225, 0.135}, 0.022}});
    chain("upper_arm" + side, "forearm" + side, 0.024, 0.016);
    chain("forearm" + side, "paw_front" + side, 0.021, 0.013);
    bone("paw_front" + side, {x * 0.040, 0.014, 0.145}, 0.014, 0.016);
    chain("thigh" + side, "shin" + side, 0.048, 0.029);
    chain("shin" + side, "foot" + side, 0.024, 0.013);
    chain("foot" + side, "paw_back" + side, 0.013, 0.013);
    bone("paw_back" + side, {x * 0.047, 0.014, -0.150}, 0.014, 0.016);
  }
  return bones;
}

Sculpt trunk() {
  Sculpt barrel;
  barrel.limb({{{0, 0.243, -0.200}, 0.047},
               {{0, 0.247, -0.145}, 0.056},
               {{0, 0.250, -0.075}, 0.054},
               {{0, 0.241, 0.000}, 0.060},
               {{0, 0.234, 0.075}, 0.066},
               {{0, 0.240, 0.130}, 0.059},
               {{0, 0.252, 0.165}, 0.047}},
              0.05, {0});
  Sculpt s;
  s.add(barrel, {0}, {.scale = {0.86, 1, 1}});
  // A soft belly, and the fold of skin from it to the thigh.
  s.ellipsoid({0, 0.205, -0.030}, {0.040, 0.032, 0.085}, Quatd::Identity(), {0.04});
  s.limb({{{0, 0.256, 0.150}, 0.046}, {{0, 0.290, 0.188}, 0.041}, {{0, 0.322, 0.222}, 0.040}}, 0.03,
         {0.04});
  return s;
}

Sculpt hindLeg() {
  Sculpt s;
  s.ellipsoid({0.044, 0.226, -0.165}, {0.031, 0.060, 0.050}, aboutX(-20), {0});
  s.cone({{0.046, 0.215, -0.152}, 0.038}, {{0.051, 0.160, -0.120}, 0.025}, {0.03});
  s.limb({{{0.050, 0.160, -0.120}, 0.023},
          {{0.050, 0.133, -0.147}, 0.021},
          {{0.048, 0.090, -0.195}, 0.0125},
          {{0.047, 0.082, -0.203}, 0.0120}},
         0.012, {0.025});
  s.limb({{{0.047, 0.082, -0.202}, 0.0115},
          {{0.047, 0.050, -0.193}, 0.0105},
          {{0.047, 0.022, -0.182}, 0.0125}},
         0.008, {0.010});
  s.ellipsoid({0.047, 0.0145, -0.164}, {0.0175, 0.0145, 0.028}, Quatd::Identity(), {0.010});
  for (const double x : {0.0375, 0.047, 0.0565})
    s.ellipsoid({x, 0.0115, x == 0.047 ? -0.139 : -0.144}, {0.0072, 0.0105, 0.0095},
                Quatd::Identity(), {0.005});
  return s;
}

Sculpt frontLeg() {
  Sculpt s;
  s.ellipsoid({0.036, 0.245, 0.118}, {0.020, 0.060, 0.036}, aboutX(-28), {0});
  s.cone({{0.044, 0.214, 0.143}, 0.032}, {{0.045, 0.172, 0.106}, 0.025}, {0.03});
  s.limb({{{0.044, 0.170, 0.100}, 0.021},
          {{0.043, 0.135, 0.103}, 0.0195},
          {{0.041, 0.085, 0.112}, 0.0135},
          {{0.040, 0.045, 0.117}, 0.0130},
          {{0.040, 0.022, 0.126}, 0.0135}},
         0.012, {0.020});
  s.ellipsoid({0.040, 0.0145, 0.139}, {0.0175, 0.0145, 0.026}, Quatd::Identity(), {0.010});
  for (const double x : {0.0305, 0.040, 0.0495})
    s.ellipsoid({x, 0.0115, x == 0.040 ? 0.163 : 0.158}, {0.0072, 0.0105, 0.0095},
                Quatd::Identity(), {0.005});
  return s;
}

Sculpt ear() {
  Sculpt shell, hollow, s;
  shell.cone({{0, 0, 0}, 0.0215}, {{0, 0.046, 0}, 0.0034}, {0});
  s.add(shell, {0}, {.scale = {1, 1, 0.66}});
  hollow.cone({{0, 0.003, 0}, 0.0130}, {{0, 0.032, 0}, 0.0030}, {0});
  s.carve(hollow, {0.004}, {{0, 0, 0.0105}, Quatd::Identity(), {1, 1, 0.55}});
  return s;
}

/// Draws the ears out to a point, which takes triangles smaller than the cat can afford.
Vec3d withPointedEars(const Vec3d& p) {
  const Vec3d head = (p - kHeadPlacement.move) / kHeadScale;
  Vec3d q = kEarPlacement.turn.conjugate() * Vec3d(head - kEarPlacement.move);
  if (q.y() < kEarWide || std::hypot(q.x(), q.z()) > kEarWide) return p;
  const double up = smoothStep(kEarWide, kEarTop, q.y());
  q = {(1.0 - 0.90 * up) * q.x(), q.y() + 0.006 * up, (1.0 - 0.90 * up) * q.z()};
  return kHeadPlacement.move + kHeadScale * (kEarPlacement.move + kEarPlacement.turn * q);
}

const Vec3d kEye(0.0190, 0.0030, 0.0325);
const Quatd kEyeTurn = aboutY(24) * aboutX(-6) * aboutZ(10);
const Vec3d kEyeAxis = kEyeTurn * Vec3d::UnitZ();
const Vec3d kNose(0, -0.0120, 0.0575);

Sculpt head() {
  Sculpt s;
  s.ellipsoid({0, 0, 0}, {0.041, 0.036, 0.041}, Quatd::Identity(), {0});
  s.ellipsoid({0.0215, -0.015, 0.011}, {0.0225, 0.021, 0.024}, Quatd::Identity(),
              {0.02, kBothSides});
  s.cone({{0, 0.004, 0.026}, 0.0155}, {{0, -0.012, 0.049}, 0.0090}, {0.016});
  s.ellipsoid({0.0088, -0.0215, 0.046}, {0.0125, 0.0105, 0.0130}, Quatd::Identity(),
              {0.007, kBothSides});
  s.ellipsoid({0, -0.0320, 0.041}, {0.011, 0.0085, 0.0125}, Quatd::Identity(), {0.006});
  s.ellipsoid(kNose, {0.0075, 0.0050, 0.0050}, Quatd::Identity(), {0.003});
  s.ellipsoid(kEye, {0.0110, 0.0088, 0.0092}, kEyeTurn, {0.002, kBothSides});
  s.add(ear(), {0.010, kBothSides}, kEarPlacement);
  return s;
}

/// Patches of the head with a colour of their own. The solids pass through the skin steeply, so
/// that their outlines on it are well defined.
std::vector<Region> headRegions() {
  Sculpt eyes, pupils, nose, inner_ear, ears;
  eyes.ellipsoid(kEye + kEyeAxis * 0.005, {0.0092, 0.0072, 0.020}, kEyeTurn, {0, kBothSides});
  pupils.ellipsoid(kEye + kEyeAxis * 0.005, {0.0038, 0.0068, 0.020}, kEyeTurn, {0, kBothSides});
  nose.ellipsoid(kNose + Vec3d(0, 0.0010, 0.004), {0.0078, 0.0052, 0.015}, Quatd::Identity(), {0});
  inner_ear.ellipsoid({0, 0.015, 0.012}, {0.0105, 0.0225, 0.015}, Quatd::Identity(), {0});
  ears.add(inner_ear, {0, kBothSides}, kEarPlacement);
  std::vector<Region> regions(4);
  for (const auto& [material, part] : {std::pair{1, &eyes}, {2, &pupils}, {3, &nose}, {4, &ears}}) {
    regions[material - 1].material = material;
    regions[material - 1].inside.add(*part, {0}, kHeadPlacement);
  }
  return regions;
}

/// Beads along a smooth curve (Catmull and Rom's) through these. A few long cones would show: as a
/// knob at each joint, where their blends overlap.
std::vector<Bead> throughBeads(const std::vector<Bead>& beads) {
  constexpr int kPieces = 5;
  std::vector<Bead> out;
  for (std::size_t i = 0; i + 1 < beads.size(); ++i) {
    const Bead &a = beads[i], &b = beads[i + 1];
    const Vec3d before = beads[i == 0 ? i : i - 1].centre;
    const Vec3d after = beads[std::min(i + 2, beads.size() - 1)].centre;
    const Vec3d leave = 0.5 * (b.centre - before), arrive = 0.5 * (after - a.centre);
    for (int k = 0; k < kPieces; ++k) {
      const double t = static_cast<double>(k) / kPieces, s = 1.0 - t;
      out.push_back({s * s * (1.0 + 2.0 * t) * a.centre + t * t * (1.0 + 2.0 * s) * b.centre +
                         s * t * (s * leave - t * arrive),
                     s * a.radius + t * b.radius});
    }
  }
  out.push_back(beads.back());
  return out;
}

Sculpt tail() {
  Sculpt s;
  s.limb(throughBeads({{{0, 0.268, -0.200}, 0.024},
                       {{0, 0.274, -0.232}, 0.0190},
                       {{0, 0.264, -0.266}, 0.0168},
                       {{0, 0.263, -0.311}, 0.0160},
                       {{0, 0.280, -0.352}, 0.0157},
                       {{0, 0.314, -0.381}, 0.0157},
                       {{0, 0.357, -0.393}, 0.0152},
                       {{0, 0.392, -0.387}, 0.0128}}),
         0.0, {0});
  return s;
}

Sculpt catBody() {
  Sculpt s = trunk();
  s.add(hindLeg(), {0.035, kBothSides});
  s.add(frontLeg(), {0.030, kBothSides});
  s.add(head(), {0.025}, kHeadPlacement);
  s.add(tail(), {0.025});
  return s;
}

Vec3d mix(const Vec3d& a, const Vec3d& b, double t) { return a + t * (b - a); }

/// Ginger, darker along the back, with a white bib, belly, muzzle and socks and a ringed tail.
/// Fades are wider than the triangles there, or one would see their corners.
Vec3d catColour(const Vec3d& p) {
  const Vec3d ginger(0.78, 0.33, 0.085), dark(0.46, 0.15, 0.035), cream(0.93, 0.84, 0.70);
  const bool on_tail = p.z() < -0.225 && p.y() > 0.22;
  Vec3d c = mix(ginger, dark,
                0.7 * smoothStep(0.275, 0.305, p.y()) * smoothStep(0.04, 0.01, std::abs(p.x())));
  if (on_tail) {
    const double along = std::atan2(p.y() - 0.33, -p.z() - 0.20);
    c = mix(ginger, dark, 0.5 + 0.5 * std::sin(14.0 * along));
    c = mix(c, cream, smoothStep(0.375, 0.39, p.y()));
    return c;
  }
  const Vec3d h = (p - kHeadCentre) / kHeadScale;
  if (h.z() > -0.02 && h.y() > -0.045) {
    c = mix(ginger, dark,
            0.6 * smoothStep(0.015, 0.032, h.y()) * smoothStep(0.030, 0.010, std::abs(h.x())));
    const double muzzle =
        (Vec3d(h - Vec3d(0, -0.026, 0.050)).cwiseQuotient(Vec3d(0.024, 0.016, 0.026))).norm();
    c = mix(cream, c, smoothStep(0.85, 1.40, muzzle));
    // White under the colours of eyes and nose, but fur on their outlines: those vertices are the
    // fur's too, and would shine out into it as far as the next ones.
    const Vec3d e = kEyeTurn.conjugate() * Vec3d(Vec3d(std::abs(h.x()), h.y(), h.z()) - kEye);
    const double eye = std::hypot(e.x() / 0.0092, e.y() / 0.0072);
    if (e.z() > 0) c = mix(Vec3d(0.95, 0.90, 0.82), c, smoothStep(0.70, 0.96, eye));
    const double nose = std::hypot(h.x() / 0.0078, (h.y() - kNose.y()) / 0.0056);
    if (h.z() > 0.05) c = mix(Vec3d(1, 1, 1), c, smoothStep(0.55, 0.96, nose));
    // The cleft below the nose, and the mouth that it ends in.
    const double below = kNose.y() - 0.004 - h.y();
    if (h.z() > 0.04 && below > 0)
      c = mix(c, Vec3d(0.42, 0.22, 0.17),
              0.75 * smoothStep(0.0035, 0.0, std::abs(h.x())) * smoothStep(0.018, 0.012, below));
    return c;
  }
  const double low = smoothStep(0.215, 0.170, p.y()) * smoothStep(0.060, 0.015, std::abs(p.x()));
  c = mix(c, cream, low);
  c = mix(c, cream,
          smoothStep(0.14, 0.18, p.z()) * smoothStep(0.052, 0.012, std::abs(p.x())) *
              smoothStep(0.31, 0.26, p.y()));
  c = mix(c, cream, smoothStep(0.055, 0.042, p.y()));
  return c;
}

}  // namespace

Figure catFigure() {
  Figure f;
  f.name = "cat";
  f.body = catBody();
  f.grid = {{0, -0.02, -0.43}, {0.12, 0.45, 0.36}, 0.005, true};
  f.regions = headRegions();
  f.materials = {paint("fur", {1, 1, 1}, 0.7), paint("eyes", {0.50, 0.55, 0.10}, 0.2),
                 paint("pupils", {0.01, 0.01, 0.01}, 0.15), paint("nose", {0.80, 0.36, 0.32}, 0.4),
                 paint("inner ears", {0.95, 0.62, 0.55}, 0.7)};
  f.remesh.triangles = 2826;
  f.remesh.base_edge = 0.0245;
  f.remesh.spots = {
      {{onHead({0, 0, 0}), 0.050}, {onHead({0, -0.01, 0.04}), 0.03}, 0.0110, 0.03},
      {{onHead({0.019, 0.003, 0.036}), 0.010},
       {onHead({0.020, 0.003, 0.034}), 0.010},
       0.0039,
       0.013},
      {{onHead({0, -0.012, 0.058}), 0.006}, {onHead({0.004, -0.012, 0.058}), 0.006}, 0.0045, 0.016},
      {{onHead({0.0235, 0.03, -0.004}), 0.022},
       {onHead({0.038, 0.07, -0.004}), 0.02},
       0.0062,
       0.01},
      {{{0.047, 0.08, -0.20}, 0.015}, {{0.047, 0.02, -0.18}, 0.015}, 0.0105, 0.02},
      {{{0.047, 0.0145, -0.165}, 0.02}, {{0.047, 0.0145, -0.145}, 0.02}, 0.0080, 0.015},
      {{{0.042, 0.13, 0.105}, 0.015}, {{0.04, 0.03, 0.12}, 0.015}, 0.0115, 0.02},
      {{{0.040, 0.0145, 0.135}, 0.02}, {{0.040, 0.0145, 0.155}, 0.02}, 0.0080, 0.015},
      {{{0, 0.270, -0.24}, 0.015}, {{0, 0.263, -0.311}, 0.015}, 0.0104, 0.02},
      {{{0, 0.28, -0.35}, 0.013}, {{0, 0.395, -0.390}, 0.016}, 0.0098, 0.02}};
  f.finish = withPointedEars;
  f.rig = catRig();
  f.weights.spread = 9;
  f.weights.side_none = 0.4;
  f.weights.side_whole = 0.95;
  f.weights.reach_whole = -0.003;
  f.weights.reach_none = 0.045;
  f.bones = catBones(f.rig);
  f.colour = catColour;
  f.groups = {
      {"belly",
       [](const Vec3d& p) {
         return smoothStep(0.235, 0.200, p.y()) * smoothStep(-0.135, -0.095, p.z()) *
                smoothStep(0.090, 0.050, p.z());
       }},
      {"haunches",
       [](const Vec3d& p) {
         return smoothStep(-0.10, -0.13, p.z()) * smoothStep(0.155, 0.19, p.y()) *
                smoothStep(0.015, 0.035, std::abs(p.x())) * smoothStep(-0.235, -0.215, p.z());
       }},
      {"neck",
       [](const Vec3d& p) {
         return smoothStep(0.150, 0.185, p.z()) * smoothStep(0.245, 0.225, p.z()) *
                smoothStep(0.225, 0.245, p.y());
       }},
  };
  return f;
}

}  // namespace derm::detail::cast
