#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "cast/cat.h"
#include "cast/curve.h"
#include "cast/planar_pose.h"

namespace derm::detail::cast {
namespace {

constexpr double kEase = 0.10;       // share of a leg's length, see PlanarPose::reach
constexpr double kFrameRate = 60.0;  // [Hz] keys; between them slerp

/// [m] The trunk is placed by a point between the shoulder blades and the loins, above its joints.
const Vec3d kAboveSpine(0, 0.030, 0);

struct Leg {
  const char* upper;
  const char* lower;
  const char* end;  ///< the joint that the two-bone formula places
  const char* paw;  ///< toes; the same as `end` on the front legs
  Vec3d pad;        ///< on the ground under the paw at rest
  bool hind;
};

const std::array<Leg, 4> kLegs = {{
    {"thigh_left", "shin_left", "foot_left", "paw_back_left", {0.047, 0, -0.165}, true},
    {"thigh_right", "shin_right", "foot_right", "paw_back_right", {-0.047, 0, -0.165}, true},
    {"upper_arm_left",
     "forearm_left",
     "paw_front_left",
     "paw_front_left",
     {0.040, 0, 0.140},
     false},
    {"upper_arm_right",
     "forearm_right",
     "paw_front_right",
     "paw_front_right",
     {-0.040, 0, 0.140},
     false},
}};

/// Stands the leg so that its pad is at `pad`, with the metatarsus (hind legs) and toes pitched so.
void placeLeg(PlanarPose& pose, const Rig& rig, const Leg& leg, const Vec3d& pad, double foot_pitch,
              double toe_pitch) {
  // A pitched paw stands on its toe tips or its heel, not on the pad's middle.
  const double tilt = std::sin(std::clamp(toe_pitch, -90.0, 90.0) * std::numbers::pi / 180.0);
  const Vec3d raised = pad + Vec3d(0, tilt > 0 ? 0.028 * tilt : -0.018 * tilt, 0);
  const Vec3d paw = raised - pitched(leg.pad - rig.position(leg.paw), toe_pitch);
  if (!leg.hind) {
    pose.reach(leg.upper, leg.lower, leg.end, paw, kEase);
    pose.pitchInWorld(leg.paw, toe_pitch);
    return;
  }
  const Vec3d ankle = paw - pitched(rig.position(leg.paw) - rig.position(leg.end), foot_pitch);
  pose.reach(leg.upper, leg.lower, leg.end, ankle, kEase);
  pose.pitchInWorld(leg.end, foot_pitch);
  pose.pitchInWorld(leg.paw, toe_pitch);
}

/// Arches the back by `arch` degrees (pelvis tucked under, chest down) or hollows it (negative), as
/// a whole pitched by `pitch`; the middle of the trunk comes to `centre`, the head looks along
/// `gaze`.
void placeTrunk(PlanarPose& pose, double arch, double pitch, const Vec3d& centre, double gaze) {
  pose.pitch("pelvis") = pitch - arch;
  for (const char* joint : {"spine_1", "spine_2", "spine_3", "spine_4", "spine_5"})
    pose.pitch(joint) = 2.0 * arch / 5.0;
  const double chest = pitch + arch;
  pose.pitch("neck_1") = 0.35 * (gaze - chest);
  pose.pitch("neck_2") = 0.35 * (gaze - chest);
  pose.pitch("head") = 0.30 * (gaze - chest);
  pose.move = Vec3d::Zero();
  // Half-way between the third and fourth joint the spine is pitched by the mean of both.
  const Vec3d middle = 0.5 * (pose.where("spine_3") + pose.where("spine_4")) +
                       pitched(kAboveSpine, pitch + 0.4 * arch);
  pose.move = Vec3d(0, centre.y() - middle.y(), centre.z() - middle.z());
}

/// The tail carried `lift` degrees higher at its root, straightened by `straight` [0,1] and waving.
void placeTail(PlanarPose& pose, double lift, double straight, double wave, double phase) {
  const std::array<const char*, 6> joints = {"tail_1", "tail_2", "tail_3",
                                             "tail_4", "tail_5", "tail_6"};
  // What undoes the rest pose's upward sweep, joint by joint.
  const std::array<double, 6> sweep = {10, -12, -22, -26, -22, -12};
  for (std::size_t i = 0; i < joints.size(); ++i) {
    const double delay = 0.75 * static_cast<double>(i);
    pose.pitch(joints[i]) = straight * sweep[i] +
                            wave * (0.5 + 0.12 * static_cast<double>(i)) * std::sin(phase - delay);
  }
  pose.pitch("tail_1") += lift;
}

void placeEars(PlanarPose& pose, double back) {
  pose.pitch("ear_left") = -back;
  pose.pitch("ear_right") = -back;
}

Vec3d trunkCentre(const Rig& rig) {
  return 0.5 * (rig.position("spine_3") + rig.position("spine_4")) + kAboveSpine;
}

// ---- run ---------------------------------------------------------------------------------------

constexpr double kStride_s = 0.5;  // [s] one cycle
constexpr double kStance = 0.26;   // share of the cycle that a paw is on the ground
constexpr double kStep_m = 0.21;   // [m] that the ground passes under a standing paw

struct Footfall {
  double touch;    ///< phase of the cycle at which the paw lands
  double reach_m;  ///< where it lands, ahead of its position at rest
};

/// Half-bound: the hind paws land almost together, the front ones one after the other.
constexpr std::array<Footfall, 4> kFootfalls = {
    {{0.02, 0.102}, {0.96, 0.090}, {0.46, 0.088}, {0.54, 0.096}}};

/// The pad's position ahead of rest and above ground, for a share `s` of its own cycle since
/// landing.
Vec3d padPath(double s, const Footfall& foot, double lift_m) {
  const double back = foot.reach_m - kStep_m;
  if (s < kStance) return Vec3d(0, 0, foot.reach_m - kStep_m * s / kStance);
  const double u = (s - kStance) / (1.0 - kStance);
  // Leaves and meets the ground at the ground's own speed.
  const double speed = -kStep_m / kStance * (1.0 - kStance);
  Curve ahead({{0, back}, {1, foot.reach_m}});
  ahead.slopeAt(0, speed).slopeAt(1, speed);
  const double up = std::sin(std::numbers::pi * std::pow(u, 0.8));
  return Vec3d(0, lift_m * std::pow(std::max(up, 0.0), 1.3), ahead(u));
}

void runFrame(PlanarPose& pose, const Rig& rig, double phase) {
  static const Curve arch({{0.05, 18}, {0.38, -10}, {0.60, 1.5}, {0.88, 25.5}}, 1.0);
  static const Curve pitch({{0.02, -5}, {0.30, -7}, {0.55, 6}, {0.80, 4}}, 1.0);
  static const Curve height({{0.12, -0.022}, {0.36, 0.016}, {0.60, -0.014}, {0.86, 0.020}}, 1.0);
  static const Curve surge({{0.10, -0.008}, {0.40, 0.008}, {0.75, 0.0}}, 1.0);
  const Vec3d centre = trunkCentre(rig) + Vec3d(0, height(phase), surge(phase));
  placeTrunk(pose, arch(phase), pitch(phase), centre, 6.0 + 0.15 * pitch(phase));
  placeTail(pose, 10.0 + 0.45 * arch(phase), 0.75, 10.0, 2.0 * std::numbers::pi * phase);
  placeEars(pose, 22);

  // Over a paw's own cycle, from landing: metatarsus and toes of the hind, toes of the front legs.
  static const Curve hind_foot(
      {{0.0, -10}, {0.13, 4}, {0.26, 38}, {0.45, 58}, {0.70, 32}, {0.90, -10}}, 1.0);
  static const Curve hind_toes(
      {{0.0, -6}, {0.04, 0}, {0.18, 0}, {0.27, 38}, {0.45, 85}, {0.75, 28}, {0.93, -10}}, 1.0);
  static const Curve front_toes(
      {{0.0, -8}, {0.04, 0}, {0.18, 0}, {0.27, 45}, {0.45, 110}, {0.70, 70}, {0.92, -10}}, 1.0);
  static const Curve shoulder({{0.0, -27}, {0.26, 24}, {0.60, 3}, {0.85, -24}}, 1.0);
  for (std::size_t i = 0; i < kLegs.size(); ++i) {
    const Leg& leg = kLegs[i];
    double s = phase - kFootfalls[i].touch;
    s -= std::floor(s);
    const Vec3d pad = leg.pad + padPath(s, kFootfalls[i], leg.hind ? 0.034 : 0.050);
    if (!leg.hind) pose.pitch(i == 2 ? "shoulder_left" : "shoulder_right") = shoulder(s);
    placeLeg(pose, rig, leg, pad, leg.hind ? hind_foot(s) : 0.0,
             leg.hind ? hind_toes(s) : front_toes(s));
  }
}

Clip runClip(const Rig& rig) {
  ClipSketch clip("run");
  const int frames = static_cast<int>(std::lround(kStride_s * kFrameRate));
  for (int f = 0; f <= frames; ++f) {
    PlanarPose pose(rig);
    // The last key is the first one again, to the bit.
    runFrame(pose, rig, static_cast<double>(f % frames) / frames);
    pose.addKeys(f / kFrameRate, clip);
  }
  return std::move(clip).finish();
}

// ---- jump --------------------------------------------------------------------------------------

constexpr double kJump_s = 2.2;
constexpr double kLeave_s = 0.80;  // hind paws leave the ground
constexpr double kFrontLeave_s = 0.64;
constexpr double kLand_s = 1.30;  // front paws land
constexpr double kHindLand_s = 1.42;
constexpr double kLeap_m = 0.72;  // [m] distance, from stand to stand

/// The trunk's middle relative to its position at rest: pushed by the legs, free in flight, caught
/// again.
struct LeapPath {
  static constexpr double kFlight_s = kLand_s - kLeave_s;
  static constexpr double kFromY = 0.120, kToY = 0.070, kFromZ = 0.13, kToZ = 0.61;
  static constexpr double kSpeedZ = (kToZ - kFromZ) / kFlight_s;
  static constexpr double kSpeedY = (kToY - kFromY) / kFlight_s + 0.5 * kGravity * kFlight_s;

  static Vec3d at(double t) {
    static const Curve y_before = Curve({{0, 0},
                                         {0.12, 0.004},
                                         {0.46, -0.061},
                                         {0.57, -0.056},
                                         {0.70, 0.024},
                                         {kLeave_s, kFromY}})
                                      .slopeAt(kLeave_s, kSpeedY);
    static const Curve z_before =
        Curve({{0, 0}, {0.12, 0}, {0.50, -0.035}, {0.60, -0.030}, {kLeave_s, kFromZ}})
            .slopeAt(kLeave_s, kSpeedZ);
    static const Curve y_after =
        Curve({{kLand_s, kToY}, {1.47, -0.053}, {1.60, -0.059}, {1.95, 0.001}, {2.2, 0}})
            .slopeAt(kLand_s, kSpeedY - kGravity * kFlight_s);
    static const Curve z_after =
        Curve({{kLand_s, kToZ}, {1.55, kLeap_m + 0.012}, {1.75, kLeap_m + 0.010}, {2.2, kLeap_m}})
            .slopeAt(kLand_s, kSpeedZ);
    if (t < kLeave_s) return Vec3d(0, y_before(t), z_before(t));
    if (t > kLand_s) return Vec3d(0, y_after(t), z_after(t));
    const double s = t - kLeave_s;
    return Vec3d(0, kFromY + kSpeedY * s - 0.5 * kGravity * s * s, kFromZ + kSpeedZ * s);
  }
};

void jumpTrunk(PlanarPose& pose, const Rig& rig, double t) {
  static const Curve arch({{0, 0},
                           {0.10, 0},
                           {0.48, 16},
                           {0.57, 14},
                           {kLeave_s, -14},
                           {0.98, -4},
                           {1.20, 12},
                           {1.36, 22},
                           {1.56, 20},
                           {1.95, -2},
                           {2.2, 0}});
  static const Curve pitch({{0, 0},
                            {0.10, 0},
                            {0.50, -2},
                            {0.57, -3.5},
                            {0.70, -18},
                            {kLeave_s, -28},
                            {1.05, -3},
                            {kLand_s, 21},
                            {1.40, 14},
                            {1.60, 1.5},
                            {1.90, -1},
                            {2.2, 0}});
  static const Curve gaze({{0, 0},
                           {0.25, -4},
                           {0.55, -12},
                           {kLeave_s, -22},
                           {1.05, 6},
                           {kLand_s, 14},
                           {1.60, 6},
                           {1.95, -2},
                           {2.2, 0}});
  placeTrunk(pose, arch(t), pitch(t), trunkCentre(rig) + LeapPath::at(t), gaze(t));
  static const Curve lift({{0, 0},
                           {0.46, -14},
                           {0.58, -4},
                           {kLeave_s, 34},
                           {0.98, 18},
                           {1.20, 24},
                           {1.45, 26},
                           {1.80, -6},
                           {2.2, 0}});
  static const Curve straight(
      {{0, 0}, {0.50, 0.6}, {1.0, 0.8}, {1.45, 0.4}, {1.85, 0.1}, {2.2, 0}});
  static const Curve wave({{0, 0}, {0.3, 7}, {0.6, 7}, {0.9, 12}, {1.5, 12}, {2.2, 0}});
  placeTail(pose, lift(t), straight(t), wave(t), 9.0 * t);
  static const Curve ears({{0, 0}, {0.5, -8}, {kLeave_s, 24}, {kLand_s, 24}, {1.7, 0}, {2.2, 0}});
  placeEars(pose, ears(t));
}

/// A leg while its paw is off the ground: the pad relative to the hip or shoulder, over [from, to].
Vec3d airbornePad(const Rig& rig, const Leg& leg, double t, double from, double to,
                  std::initializer_list<Vec3d> between) {
  PlanarPose at_from(rig), at_to(rig), now(rig);
  jumpTrunk(at_from, rig, from);
  jumpTrunk(at_to, rig, to);
  jumpTrunk(now, rig, t);
  std::vector<Curve::Key> y, z;
  const auto key = [&](double time, const Vec3d& offset) {
    y.push_back({time, offset.y()});
    z.push_back({time, offset.z()});
  };
  key(from, leg.pad - at_from.where(leg.upper));
  double time = from;
  for (const Vec3d& offset : between) {
    time += (to - from) / static_cast<double>(between.size() + 1);
    key(time, offset);
  }
  key(to, leg.pad + Vec3d(0, 0, kLeap_m) - at_to.where(leg.upper));
  const Vec3d hip = now.where(leg.upper);
  return Vec3d(leg.pad.x(), hip.y() + Curve(y)(t), hip.z() + Curve(z)(t));
}

void jumpLegs(PlanarPose& pose, const Rig& rig, double t) {
  static const Curve hind_foot({{0, 0},
                                {0.12, 0},
                                {0.50, -24},
                                {0.60, -22},
                                {kLeave_s, 62},
                                {0.92, 80},
                                {1.12, 50},
                                {1.32, -10},
                                {kHindLand_s, -16},
                                {1.60, -22},
                                {1.95, 0},
                                {2.2, 0}});
  static const Curve hind_toes({{0, 0},
                                {0.68, 0},
                                {kLeave_s, 34},
                                {0.92, 85},
                                {1.12, 55},
                                {1.34, -6},
                                {kHindLand_s, 0},
                                {2.2, 0}});
  static const Curve front_toes({{0, 0},
                                 {0.60, 0},
                                 {kFrontLeave_s, 15},
                                 {0.78, 95},
                                 {0.98, 80},
                                 {1.16, 10},
                                 {1.26, -14},
                                 {kLand_s + 0.03, 0},
                                 {2.2, 0}});
  static const Curve shoulder({{0, 0},
                               {0.50, 6},
                               {0.75, -8},
                               {1.15, -23},
                               {kLand_s, -21},
                               {1.50, 10},
                               {1.95, 0},
                               {2.2, 0}});
  const Vec3d leap(0, 0, kLeap_m);
  for (std::size_t i = 0; i < kLegs.size(); ++i) {
    const Leg& leg = kLegs[i];
    const double leave = leg.hind ? kLeave_s : kFrontLeave_s,
                 land = leg.hind ? kHindLand_s : kLand_s;
    if (!leg.hind) pose.pitch(i == 2 ? "shoulder_left" : "shoulder_right") = shoulder(t);
    Vec3d pad = leg.pad;
    if (t >= land)
      pad += leap;
    else if (t > leave && leg.hind)
      pad = airbornePad(
          rig, leg, t, leave, land,
          {{0, -0.225, -0.145}, {0, -0.195, -0.105}, {0, -0.180, -0.040}, {0, -0.195, 0.010}});
    else if (t > leave)
      pad = airbornePad(
          rig, leg, t, leave, land,
          {{0, -0.134, 0.020}, {0, -0.110, 0.060}, {0, -0.120, 0.100}, {0, -0.155, 0.120}});
    placeLeg(pose, rig, leg, pad, hind_foot(t), leg.hind ? hind_toes(t) : front_toes(t));
  }
}

Clip jumpClip(const Rig& rig) {
  ClipSketch clip("jump");
  const int frames = static_cast<int>(std::lround(kJump_s * kFrameRate));
  for (int f = 0; f <= frames; ++f) {
    const double t = f / kFrameRate;
    PlanarPose pose(rig);
    jumpTrunk(pose, rig, t);
    jumpLegs(pose, rig, t);
    pose.addKeys(t, clip);
  }
  return std::move(clip).finish();
}

// ---- idle --------------------------------------------------------------------------------------

/// Looks about, swings its tail, flicks an ear. Legs stand still, so only what is above them moves.
Clip idleClip(const Rig& rig) {
  constexpr double kLength_s = 4.0;
  static const Curve look(
      {{0, 0}, {0.8, 0}, {1.2, 22}, {2.0, 22}, {2.5, -16}, {3.3, -14}, {3.7, 0}}, kLength_s);
  static const Curve nod({{0, 0}, {1.2, -4}, {2.0, 3}, {2.6, 5}, {3.5, 0}}, kLength_s);
  static const Curve flick({{0, 0}, {1.5, 0}, {1.56, 26}, {1.64, 0}, {1.7, 18}, {1.8, 0}},
                           kLength_s);
  ClipSketch clip("idle");
  const int frames = static_cast<int>(kLength_s * 30);
  for (int f = 0; f <= frames; ++f) {
    const double time = f / 30.0, t = (f % frames) / 30.0;
    const double turn = 2.0 * std::numbers::pi * t / kLength_s;
    for (const char* joint : {"neck_1", "neck_2", "head"})
      clip.rotation(rig[joint], time, aboutY(look(t) / 3.0) * aboutX(nod(t) / 3.0));
    clip.rotation(rig["ear_left"], time, aboutZ(-flick(t)));
    for (int i = 1; i <= 6; ++i) {
      const double sway = (4.0 + 2.2 * i) * std::sin(turn - 0.55 * i);
      const double lift = 3.0 * std::sin(2.0 * turn - 0.5 * i);
      clip.rotation(rig[std::string("tail_") + std::to_string(i)], time,
                    aboutY(sway) * aboutX(lift));
    }
  }
  return std::move(clip).finish();
}

}  // namespace

std::vector<Clip> catClips(const Rig& rig) { return {runClip(rig), jumpClip(rig), idleClip(rig)}; }

}  // namespace derm::detail::cast
