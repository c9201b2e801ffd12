#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "derm/anim/clip.h"
#include "derm/base/number_text.h"
#include "derm/cast/cast.h"
#include "derm/deform/flesh.h"
#include "derm/deform/wrinkles.h"
#include "derm/image/compose.h"
#include "derm/math/spring.h"
#include "derm/scene/linear_reference.h"

#include "repro/documents.h"
#include "repro/example_recipes.h"
#include "repro/measuring.h"
#include "repro/tube.h"

/// Larboulette, Cani, Arnaldi 2006, part 2 and figs. 15, 16: flesh on springs.
namespace derm::detail::repro {
namespace {

constexpr std::string_view kLimbSetup =
    R"(# a limb of 0.4 m along +z (made by the report), its bone from one end to the other, accelerated
# at 4 m/s² across its axis, then along it
character = "limb.glb"
fps = 60
[[layer]]
type = "flesh"
dominant = "j0"
ends = ["j1"]
frequency_hz = 3
damping_ratio = 0.15
max_elongation = 0.9
)";

/// A limb whose bone is accelerated for a fifth of a second.
std::shared_ptr<const Character> acceleratedLimb(const Vec3d& acceleration) {
  Character out =
      tube({.rings = 25, .sectors = 24, .length_m = 0.4, .radius_m = 0.08, .joints = {0, 0.4}},
           [](const Vec3d&, std::size_t joint) { return joint == 0 ? 1.0 : 0.0; });
  Track move{.channel = Channel::Translation, .joint = JointId(0)};
  for (int k = 0; k <= 48; ++k) {
    const double t = k / 240.0;
    move.times_s.push_back(static_cast<float>(t));
    for (int a = 0; a < 3; ++a)
      move.values.push_back(static_cast<float>(0.5 * acceleration[a] * t * t));
  }
  out.clips.push_back({"push", {move}});
  return std::make_shared<const Character>(std::move(out));
}

Result<void> measureLimb(ReproResult& r, Diagnostics& notes) {
  for (const bool along : {false, true}) {
    const Vec3d acceleration = along ? Vec3d(0, 0, 4) : Vec3d(4, 0, 0);
    const auto limb = acceleratedLimb(acceleration);
    DERM_TRY(Scene scene, sceneOf(kLimbSetup, notes, limb));
    const std::size_t last = scene.frameTimes().size() - 1;
    const SkinFrame& frame = scene.frame(last);
    const double t = scene.frameTimes()[last];
    const Vec3d carried = 0.5 * acceleration * t * t;
    const auto moved = [&](std::size_t vertex) {
      return Vec3d(frame.positions()[vertex].cast<double>() -
                   limb->mesh.positions[vertex].cast<double>() - carried);
    };
    const Vec3d direction = acceleration.normalized();
    const std::string how = along ? "along the bone" : "across the bone";
    // Rings of 24 points; ring 12 is the middle. P1 lies at +x, P2 at −x.
    r.numbers.push_back(within(unprinted("accelerated " + how + ": P₁ moves by", "mm",
                                         1000 * moved(12 * 24).dot(direction)),
                               -80, -1));
    r.numbers.push_back(
        within(unprinted("P₂", "mm", 1000 * moved(12 * 24 + 12).dot(direction)), -80, -1));
    r.numbers.push_back(near(unprinted("points at the ends", "mm",
                                       1000 * std::max(moved(0).norm(), moved(24 * 24).norm())),
                             0, 1e-3));
    // One exact step of the spring from rest under −acceleration.
    const SpringConstants spring{.omega = 2 * std::numbers::pi * 3, .zeta = 0.15};
    const double rest = -4 / (spring.omega * spring.omega);
    const double exact = rest - exactSpringStep(spring, t).xx * rest;
    const auto* layer = scene.playback().find<FleshLayer>("flesh");
    if (layer == nullptr) return Error{ErrorCode::BadData, "the recipe has no flesh", {}};
    r.numbers.push_back(within(unprinted("the spring's elongation over that of the spring alone",
                                         "", layer->elongation_m().dot(direction) / exact),
                               0.5, 1.03));
  }
  return {};
}

/// The limb at rest, accelerated across its axis, and along it.
Result<void> drawLimb(ReproResult& r, Diagnostics& notes) {
  std::vector<Rgba8Image> images;
  for (const Vec3d& acceleration : {Vec3d(0, 0, 0.001), Vec3d(40, 0, 0), Vec3d(0, 0, 40)}) {
    DERM_TRY(Scene scene, sceneOf(kLimbSetup, notes, acceleratedLimb(acceleration)));
    Shot shot{.time_s = scene.frameTimes().back(),
              .yaw_deg = 0,
              .pitch_deg = 84,
              .width = 300,
              .height = 360};
    shot.view.diagram = Diagram::Flesh;
    shot.view.wireframe = true;
    shot.view.label = acceleration.x() > 1 ? "across" : acceleration.z() > 1 ? "along" : "at rest";
    DERM_TRY(Rgba8Image image, pictureOf(scene, shot, notes));
    images.push_back(std::move(image));
  }
  r.pictures.push_back(
      {.caption = "A limb with the frame that is rigid with its bone and the one on the spring: at "
                  "rest, accelerated across the bone, and along it (ten times as hard as measured)",
       .image = gridOf(images, 3, 4)});
  return {};
}

Result<void> measureFrames(ReproResult& r, Diagnostics&) {
  // p = 0.5 sin 4t, k = 80, c = 3, m = 1; u(2) of the true motion 0.12553.
  const SpringConstants spring = springConstants(80, 3, 1);
  const auto swing = [&](double dt, bool exact) {
    const SpringStep step = exact ? exactSpringStep(spring, dt) : eulerSpringStep(spring, dt);
    double u = 0, v = 0;  // it keeps the speed that it meets
    const int steps = static_cast<int>(std::lround(2 / dt));
    const auto bone = [](double t) { return t < 0 ? 2 * t : 0.5 * std::sin(4 * t); };
    for (int i = 0; i < steps; ++i) {
      const double t = i * dt;
      // Over the frame that comes; the paper's loop knows the frames so far.
      const double a = exact ? 2 * (std::cos(4 * (t + dt)) - std::cos(4 * t)) / dt
                             : (bone(t) - 2 * bone(t - dt) + bone(t - 2 * dt)) / (dt * dt);
      const double rest = -a / (spring.omega * spring.omega), x = u - rest;
      const double nx = step.xx * x + step.xv * v, nv = step.vx * x + step.vv * v;
      u = rest + nx;
      v = nv;
    }
    return u;
  };
  const double truth = swing(1.0 / 4000, true);
  r.numbers.push_back(
      near(unprinted("elongation at 2 s, bone 0.5 sin 4t, k = 80, c = 3, m = 1", "m", truth),
           0.12553, 2e-4));
  r.numbers.push_back(within(
      unprinted("exact step, 30 frames/s: off by", "m", std::abs(swing(1.0 / 30, true) - truth)), 0,
      2e-3));
  r.numbers.push_back(within(unprinted("the paper's Euler, 30 frames/s: off by", "m",
                                       std::abs(swing(1.0 / 30, false) - truth)),
                             3e-3, 0.1));
  // "Any simple method is robust enough not to diverge."
  const SpringConstants stiff = springConstants(4000, 2, 1);
  const double bound = eulerSpringStepBound(stiff);
  const auto grown = [&](double dt, bool exact) {
    const SpringStep step = exact ? exactSpringStep(stiff, dt) : eulerSpringStep(stiff, dt);
    double x = 1, v = 0;
    for (int i = 0; i < 400; ++i) {
      const double nx = step.xx * x + step.xv * v;
      v = step.vx * x + step.vv * v;
      x = nx;
    }
    return std::log10(std::max(1e-300, std::hypot(x, v / stiff.omega)));
  };
  r.numbers.push_back(
      within(unprinted("k = 4000 N/m, 400 Euler steps just over 2/ω: log₁₀ of the elongation", "",
                       grown(1.05 * bound, false)),
             5, kNoEnd));
  r.numbers.push_back(
      within(unprinted("the same, just under", "", grown(0.95 * bound, false)), -kNoEnd, 1));
  r.numbers.push_back(
      within(unprinted("the same step, exact", "", grown(1.05 * bound, true)), -kNoEnd, 0));
  return {};
}

Result<void> measureWeights(ReproResult& r, Diagnostics& notes) {
  for (const auto& [y, wanted] : {std::pair{0.0, 1.0}, {0.5, 0.5}, {1.0, 0.0}})
    r.numbers.push_back(near(printed("attenuation at y = " + shortNumber(y), "", wanted, 1e-12,
                                     foldFalloff(FoldFalloff::Wyvill, y)),
                             wanted, 1e-12));
  r.numbers.push_back(within(
      unprinted("its slope at y = 1 (the parabola's is −2)", "",
                (foldFalloff(FoldFalloff::Wyvill, 1) - foldFalloff(FoldFalloff::Wyvill, 1 - 1e-6)) /
                    1e-6),
      -1e-4, 1e-4));
  DERM_TRY(Scene scene, sceneOf(kMushroomHop, notes));
  const std::array<std::string, 1> channels = {"cap and stem"};
  DERM_CHECK(scene.keepChannels(channels));
  const auto alpha = scene.frame(0).channel("cap and stem");
  const auto [low, high] = std::minmax_element(alpha.begin(), alpha.end());
  r.numbers.push_back(
      near(printed("largest α₂ of the mushroom's vertices", "", 1, 1e-5, double{*high}), 1, 1e-5));
  r.numbers.push_back(within(unprinted("smallest", "", double{*low}), 0, 0.05));
  PlotSeries wyvill{.name = "Wyvill"}, parabola{.name = "1 − y²", .dashed = true};
  for (int i = -50; i <= 50; ++i) {
    const double y = i / 50.0;
    wyvill.x.push_back(y);
    parabola.x.push_back(y);
    wyvill.y.push_back(foldFalloff(FoldFalloff::Wyvill, y));
    parabola.y.push_back(1 - y * y);
  }
  r.pictures.push_back({.caption = "Attenuation along the bone (6b): flat at both ends",
                        .plot = PlotDesc{.x = {.label = "y"},
                                         .y = {.label = "attenuation"},
                                         .series = {wyvill, parabola},
                                         .width = 560,
                                         .height = 260}});
  return {};
}

Result<void> drawWeights(ReproResult& r, Diagnostics& notes) {
  Shot weights{.width = 420, .height = 380}, frames = weights;
  weights.view.channel = "cap and stem";
  frames.time_s = 0.8;
  frames.view.diagram = Diagram::Flesh;
  frames.view.wireframe = true;
  return addPanels(r,
                   "Weights of a flesh element, 0 to 1; its frame at rest and the one that swings",
                   std::array{Panel{std::string(kMushroomHop), weights},
                              Panel{std::string(kMushroomHop), frames}},
                   2, notes);
}

/// What a scene's layers add to linear skinning, at most over its frames. [m]
Result<double> largestMove(Scene& scene) {
  DERM_TRY(std::shared_ptr<const Stack> plain_stack, scene.linearReferenceStack());
  LinearReference plain(std::move(plain_stack));
  double most = 0;
  for (std::size_t f = 0; f < scene.frameTimes().size(); ++f) {
    const SkinFrame& frame = scene.frame(f);
    const SkinFrame& linear = plain.evaluate(scene.playback().pose(), scene.frameTimes()[f]);
    for (std::size_t v = 0; v < frame.vertexCount(); ++v)
      most = std::max(most, double((frame.positions()[v] - linear.positions()[v]).norm()));
  }
  return most;
}

/// Flesh swings visibly, and never further than the way to the bone.
Result<void> measureSwing(ReproResult& r, std::string_view recipe, double least_mm, double most_mm,
                          Diagnostics& notes) {
  DERM_TRY(Scene scene, sceneOf(recipe, notes));
  DERM_TRY(const double most, largestMove(scene));
  r.numbers.push_back(
      within(unprinted("largest way from linear skinning; 0.9 of that to the bone is the limit",
                       "mm", 1000 * most),
             least_mm, most_mm));
  r.numbers.push_back(
      within(unprinted("frames, without drawing", "frames/s", framesPerSecond(scene)), 25, kNoEnd));
  return {};
}

/// The cast's mushroom with the paper's skeleton: the root in the cap, its child at the foot's
/// base, moving as before.
Result<std::shared_ptr<const Character>> mushroomRootedInItsCap() {
  DERM_TRY(const Character stands, makeCastMember("mushroom"));
  DERM_TRY(const JointId foot, stands.skeleton.named("foot"));
  DERM_TRY(const JointId cap, stands.skeleton.named("cap"));
  const auto modelOf = [&](const Pose& pose) {
    std::vector<Affine3d> model(stands.skeleton.size());
    localToModel(stands.skeleton, pose.local, model);
    return model;
  };
  const std::vector<Affine3d> rest = modelOf(stands.restPose());
  const auto local = [](const Affine3d& m) {
    Transform out;
    out.translation = m.translation().cast<float>();
    out.rotation = Quatd(Mat3d(m.linear())).normalized().cast<float>();
    return out;
  };
  Character out = stands;
  out.skeleton.joints = {Joint{.name = "cap"}, Joint{.name = "foot", .parent = JointId(0)}};
  out.skeleton.joints[0].rest = local(rest[cap.index()]);
  out.skeleton.joints[1].rest = local(rest[cap.index()].inverse() * rest[foot.index()]);
  for (SkinSlot& slot : out.skin.slots) slot.joint = JointId(slot.joint == cap ? 0 : 1);
  const Clip& hop = stands.clips.at(0);
  std::array<Track, 4> tracks;
  for (std::size_t j = 0; j < 2; ++j) {
    tracks[2 * j] = {.channel = Channel::Translation, .joint = JointId(j)};
    tracks[2 * j + 1] = {.channel = Channel::Rotation, .joint = JointId(j)};
  }
  for (int f = 0; f <= static_cast<int>(std::lround(60 * hop.duration_s())); ++f) {
    Pose pose = stands.restPose();
    sampleClip(hop, static_cast<float>(f) / 60, pose);
    const std::vector<Affine3d> now = modelOf(pose);
    const std::array<Transform, 2> moved = {local(now[cap.index()]),
                                            local(now[cap.index()].inverse() * now[foot.index()])};
    for (std::size_t j = 0; j < 2; ++j) {
      const Vec3f& t = moved[j].translation;
      const Quatf& q = moved[j].rotation;
      tracks[2 * j].times_s.push_back(static_cast<float>(f) / 60);
      tracks[2 * j].values.insert(tracks[2 * j].values.end(), {t.x(), t.y(), t.z()});
      tracks[2 * j + 1].times_s.push_back(static_cast<float>(f) / 60);
      tracks[2 * j + 1].values.insert(tracks[2 * j + 1].values.end(), {q.x(), q.y(), q.z(), q.w()});
    }
  }
  out.clips.clear();
  out.clips.push_back({"hop", std::vector<Track>(tracks.begin(), tracks.end())});
  return std::make_shared<const Character>(std::move(out));
}

constexpr std::string_view kCapMushroom =
    "# the mushroom with its root in the cap, as the paper has it (made by the report)\n"
    "character = \"mushroom_rooted_in_its_cap.glb\"\nclip = \"hop\"\npreroll_s = 1.2\nloop = true\n"
    "[[layer]]\ntype = \"flesh\"\nname = \"cap and stem\"\ndominant = \"cap\"\nends = "
    "[\"foot\"]\nfrequency_hz = 3.5\ndamping_ratio = 0.15\n";

Result<void> measureMushroom(ReproResult& r, Diagnostics& notes) {
  DERM_CHECK(measureSwing(r, kMushroomHop, 2, 120, notes));
  DERM_TRY(const std::shared_ptr<const Character> rooted, mushroomRootedInItsCap());
  DERM_TRY(Scene scene, sceneOf(kCapMushroom, notes, rooted));
  DERM_TRY(const double most, largestMove(scene));
  r.numbers.push_back(
      within(unprinted("the same with the paper's own skeleton: the root in the cap, dominant",
                       "mm", 1000 * most),
             2, 120));
  return {};
}
Result<void> measureBelly(ReproResult& r, Diagnostics& notes) {
  DERM_CHECK(measureSwing(r, kCatBellyRun, 1, 60, notes));
  return measureSwing(r, kCatBellyJump, 1, 60, notes);
}

Result<void> drawSwing(ReproResult& r, std::string caption, std::string_view recipe, double yaw,
                       Diagnostics& notes) {
  Shot shot{.yaw_deg = yaw, .width = 1000, .height = 320};
  shot.view.field = true;
  shot.view.field_scale = 2;
  return addStrip(r, std::move(caption), recipe, shot, 6, notes);
}

Result<void> drawMushroom(ReproResult& r, Diagnostics& notes) {
  DERM_CHECK(drawSwing(r, "A mushroom hops; strokes from linear skinning to the result, doubled",
                       kMushroomHop, 30, notes));
  DERM_TRY(const std::shared_ptr<const Character> rooted, mushroomRootedInItsCap());
  DERM_TRY(Scene scene, sceneOf(kCapMushroom, notes, rooted));
  std::vector<Rgba8Image> images;
  for (const double time : {0.2, 0.5, 0.8, 0.95}) {
    Shot shot{.time_s = time, .width = 250, .height = 280};
    shot.view.diagram = Diagram::Flesh;
    DERM_TRY(Rgba8Image image, pictureOf(scene, shot, notes));
    images.push_back(std::move(image));
  }
  r.pictures.push_back(
      {.caption = "With the paper's skeleton, the cap dominant: weights and frames",
       .image = gridOf(images, 4, 4)});
  return {};
}
Result<void> drawBelly(ReproResult& r, Diagnostics& notes) {
  return drawSwing(r, "The cat's belly in a jump", kCatBellyJump, 80, notes);
}

constexpr std::array<ReproExhibit, 5> kFleshExhibits = {{
    {"figs. 1, 2", "a limb under acceleration", kLimbSetup,
     "Flesh moves against the acceleration, most in the middle, not at all at the joints.",
     measureLimb, drawLimb},
    {"section 2.3.2", "the spring between the frames (fig. 5)", kLimbSetup,
     "\"Any simple method is robust enough not to diverge\" is false: the paper's Euler step is "
     "stable only for k dt²/m < 4 − 2 c dt/m. Ours is the exact solution, stable for every step; "
     "integrator = \"euler\" is the literal form.",
     measureFrames, nullptr},
    {"figs. 3, 6", "weights of a flesh element", kMushroomHop,
     "Outside [−1, 1] the printed attenuation is not 0 (−7 at 2): it must be clamped.",
     measureWeights, drawWeights},
    {"fig. 15", "a mushroom", kMushroomHop,
     "The cast's mushroom stands on its foot, which is its root; the paper's has its root, the "
     "dominant frame, in the cap: both are here.",
     measureMushroom, drawMushroom},
    {"fig. 16", "the cat's belly", kCatBellyJump, "", measureBelly, drawBelly},
}};

}  // namespace

std::span<const ReproExhibit> fleshExhibits() { return kFleshExhibits; }

}  // namespace derm::detail::repro
