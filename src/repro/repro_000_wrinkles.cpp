#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "derm/anim/clip.h"
#include "derm/base/number_text.h"
#include "derm/cast/cast.h"
#include "derm/deform/flesh.h"
#include "derm/deform/fold_curve.h"
#include "derm/deform/wrinkles.h"
#include "derm/image/compose.h"
#include "derm/io/png.h"
#include "derm/math/spring.h"
#include "derm/scene/linear_reference.h"

#include "repro/documents.h"
#include "repro/example_recipes.h"
#include "repro/measuring.h"
#include "repro/tube.h"

/// Larboulette, Cani, Arnaldi 2006: flesh on springs, and folds that keep the skin's length.
namespace derm::detail::repro {
namespace {

// ------------------------------------------------------------------ part 2: flesh

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

// ------------------------------------------------------------------ part 3: the control curve

struct Curve {
  std::vector<double> heights;
  FoldState state;
  double length = 0;  ///< of the polyline; the rest length is 1
};

Result<Curve> curveAt(const FoldCurveDesc& desc, double ab) {
  DERM_TRY(const FoldCurve curve, FoldCurve::make(desc));
  FoldCurve::Scratch scratch = curve.makeScratch();
  Curve out;
  out.heights.resize(curve.pointCount());
  out.state = curve.evaluate(ab, 1, scratch, out.heights);
  out.length = foldLength(ab, out.heights);
  return out;
}

/// The curve in its plane, B fixed at 1; `lift` sets it apart from others in one plot.
PlotSeries drawn(std::string name, const Curve& curve, double ab, double lift = 0) {
  PlotSeries out{.name = std::move(name)};
  const std::size_t last = curve.heights.size() - 1;
  for (std::size_t i = 0; i <= last; ++i) {
    out.x.push_back(1 - ab + ab * static_cast<double>(i) / static_cast<double>(last));
    out.y.push_back(curve.heights[i] + lift);
  }
  return out;
}

void addCurves(ReproResult& r, std::string caption, std::vector<PlotSeries> series) {
  r.pictures.push_back({.caption = std::move(caption),
                        .plot = PlotDesc{.x = {.label = "x over the rest length"},
                                         .y = {.label = "y"},
                                         .series = std::move(series),
                                         .width = 860,
                                         .height = 320}});
}

FoldCurveDesc elevenPoints(FoldPropagation propagation) {
  return {.points = 11, .spacing = 1, .crest = 1, .h_max = 0.06, .propagation = propagation};
}

constexpr std::string_view kCurveSetup =
    "#include \"derm/deform/fold_curve.h\"\n"
    "FoldCurve curve = FoldCurve::make({.points = 11, .spacing = 1, .crest = 1, .h_max = 0.06,\n"
    "                                   .propagation = FoldPropagation::FromA}).value();\n"
    "// or in a recipe: points = 11, spacing = 1, crest = 1, strategy = \"from-a\"";

Result<void> measureFig9(ReproResult& r, Diagnostics&) {
  std::vector<PlotSeries> series;
  std::uint32_t bumps = 0;
  double lift = 0.4;
  for (const double ab : {1.0, 0.97, 0.93, 0.9, 0.87}) {
    DERM_TRY(const Curve c, curveAt(elevenPoints(FoldPropagation::FromA), ab));
    r.numbers.push_back(
        near(unprinted("length at |AB| = " + shortNumber(ab), "l", c.length), 1, 1e-12));
    r.numbers.push_back(within(unprinted("bumps that are raised", "", c.state.bumps),
                               static_cast<double>(bumps), 3));
    bumps = c.state.bumps;
    series.push_back(drawn("|AB| = " + shortNumber(ab), c, ab, lift));
    lift -= 0.1;
  }
  addCurves(r, "A nears B, which is fixed: bumps come up at A and spread", std::move(series));
  return {};
}

Result<void> measureFig10(ReproResult& r, Diagnostics&) {
  DERM_TRY(
      const Curve c,
      curveAt({.points = 5, .spacing = 3, .h_max = 1, .propagation = FoldPropagation::FromA}, 0.9));
  r.numbers.push_back(near(printed("h = √(d·pas + d²/4) for l = 1, |AB| = 0.9, n = 5", "l",
                                   0.15811388, 5e-9, c.heights[1]),
                           std::sqrt(0.1 * 0.225 + 0.0025), 1e-12));
  r.numbers.push_back(near(unprinted("length", "l", c.length), 1, 1e-12));
  addCurves(r, "One bump takes up what is lost", {drawn("curve", c, 0.9)});
  return {};
}

Result<void> measureFig11(ReproResult& r, Diagnostics&) {
  std::vector<PlotSeries> series;
  double lift = 0.5;
  for (const auto& [spacing, crest] : {std::pair{1, 1}, {2, 1}, {1, 2}}) {
    FoldCurveDesc desc{.points = 13, .h_max = 1, .propagation = FoldPropagation::Simultaneous};
    desc.spacing = spacing;
    desc.crest = crest;
    DERM_TRY(const FoldCurve curve, FoldCurve::make(desc));
    DERM_TRY(const Curve c, curveAt(desc, 0.85));
    const std::string name =
        "spacing " + std::to_string(spacing) + ", crest " + std::to_string(crest);
    r.numbers.push_back(near(unprinted(name + ": bumps", "", curve.bumpCount()),
                             (12 + spacing) / (crest + 1 + spacing), 0));
    r.numbers.push_back(near(unprinted(name + ": length", "l", c.length), 1, 1e-12));
    series.push_back(drawn(name, c, 0.85, lift));
    lift -= 0.25;
  }
  for (const auto& [propagation, name] : kFoldPropagations) {
    if (propagation == FoldPropagation::Squeezed) continue;
    DERM_TRY(const Curve c, curveAt(elevenPoints(propagation), 0.9));
    r.numbers.push_back(
        near(unprinted("3.2.4, " + std::string(name) + ": length", "l", c.length), 1, 1e-12));
  }
  addCurves(r, "Schemes of the curve", std::move(series));
  return {};
}

Result<void> measureFig12(ReproResult& r, Diagnostics&) {
  FoldCurveDesc desc{.points = 11,
                     .h_max = 1,
                     .propagation = FoldPropagation::Simultaneous,
                     .shares = {0.7, 0.3},
                     .fine_h_max = {1}};
  DERM_TRY(const Curve fine, curveAt(desc, 0.85));
  desc.shares = {1};
  desc.fine_h_max = {};
  DERM_TRY(const Curve coarse, curveAt(desc, 0.85));
  r.numbers.push_back(
      near(unprinted("length with two levels, 70 and 30 %", "l", fine.length), 1, 1e-12));
  std::vector<double> flat = fine.heights;
  for (std::size_t i = 1; i < flat.size(); i += 2)
    flat[i] =
        (fine.heights[i - 1] + fine.heights[i + 1]) / 2 + foldHeight(0.3 * 0.15 / 10, 0.85 / 20);
  r.numbers.push_back(within(
      unprinted("midpoints lifted by the formula of flat segments, as the text reads: length", "l",
                foldLength(0.85, flat)),
      0.9, 0.999));
  addCurves(r, "One level, and two: finer bumps ride on coarser ones",
            {drawn("one level", coarse, 0.85, 0.3), drawn("two levels", fine, 0.85)});
  return {};
}

constexpr std::string_view kSheetRecipe =
    R"(# a limb (made by the report) whose skin is longer than its bone lets it be
character = "limb.glb"
clip = ""
range_s = [0.0, 1.0]
fps = 10
[[layer]]
type = "wrinkles"
name = "folds"
from = [0.08, 0.0, 0.08]
to = [0.08, 0.0, 0.32]
width_m = 0.12
points = 9
spacing = 0
h_max_m = 0.03
subdivide = 4
strategy = "simultaneous"
rest_length_keys = [0.0, 0.24, 1.0, 0.30]
)";

Result<void> drawLevels(ReproResult& r, Diagnostics& notes) {
  const auto limb = acceleratedLimb(Vec3d(0, 0, 0));
  std::vector<Rgba8Image> images;
  for (const char* levels : {"", "levels = [0.7, 0.3]\n"}) {
    DERM_TRY(Scene scene, sceneOf(std::string(kSheetRecipe) + levels, notes, limb));
    Shot shot{
        .time_s = 1, .yaw_deg = 60, .pitch_deg = 40, .zoom = 1.2, .width = 420, .height = 320};
    shot.view.label = *levels == 0 ? "one level" : "two levels";
    DERM_TRY(Rgba8Image image, pictureOf(scene, shot, notes));
    images.push_back(std::move(image));
  }
  r.pictures.push_back({.caption = "The curve on a mesh (12b)", .image = gridOf(images, 2, 4)});
  return {};
}

/// Where the tool works and how it fades across (fig. 13).
Result<void> drawElevation(ReproResult& r, Diagnostics& notes) {
  DERM_TRY(Scene scene, sceneOf(kSheetRecipe, notes, acceleratedLimb(Vec3d(0, 0, 0))));
  Shot shot{.time_s = 1, .yaw_deg = 60, .pitch_deg = 40, .zoom = 1.2, .width = 480, .height = 340};
  shot.view.channel = "folds";
  DERM_TRY(Rgba8Image image, pictureOf(scene, shot, notes));
  r.pictures.push_back({.caption =
                            "The attenuation a of each vertex in the rectangle of influence; "
                            "its height is that of the curve times a",
                        .image = std::move(image)});
  return {};
}

Result<void> measureFig14(ReproResult& r, Diagnostics&) {
  std::vector<PlotSeries> series;
  for (const FoldFalloff falloff : {FoldFalloff::Linear, FoldFalloff::Wyvill}) {
    PlotSeries s{.name = falloff == FoldFalloff::Linear ? "(a) 1 − |x|" : "(b) Wyvill"};
    for (int i = -50; i <= 50; ++i) {
      s.x.push_back(i / 50.0);
      s.y.push_back(foldFalloff(falloff, i / 50.0));
    }
    r.numbers.push_back(near(
        unprinted(s.name + " at 0 less that at ±1", "",
                  foldFalloff(falloff, 0) - foldFalloff(falloff, 1) - foldFalloff(falloff, -1)),
        1, 1e-12));
    series.push_back(std::move(s));
  }
  r.pictures.push_back({.caption = "How folds fade across the tool",
                        .plot = PlotDesc{.x = {.label = "x"},
                                         .y = {.label = "y"},
                                         .series = std::move(series),
                                         .width = 560,
                                         .height = 260}});
  return {};
}

// ------------------------------------------------------------------ part 4: results

/// What the tools of a scene came to over its frames.
struct ToolReport {
  double highest_m = 0;
  double most_squeezed = 0;  ///< share of a tool's rest length that skinning took
  double least_kept = 1;     ///< share of what was lost that folds gave back
};

std::vector<const WrinklesLayer*> wrinklesOf(const Scene& scene) {
  std::vector<const WrinklesLayer*> out;
  for (const auto& binding : scene.stack().layers())
    if (const auto* layer = scene.playback().find<WrinklesLayer>(binding->name()))
      out.push_back(layer);
  return out;
}

ToolReport toolsOver(Scene& scene) {
  ToolReport out;
  for (std::size_t f = 0; f < scene.frameTimes().size(); ++f) {
    scene.frame(f);
    for (const WrinklesLayer* layer : wrinklesOf(scene))
      for (std::size_t t = 0; t < layer->toolCount(); ++t) {
        const WrinkleToolState& tool = layer->tool(t);
        out.highest_m = std::max(out.highest_m, tool.highest_m);
        if (tool.fold.spare <= 0.01 * tool.rest_length_m) continue;
        out.most_squeezed = std::max(out.most_squeezed, tool.fold.spare / tool.rest_length_m);
        out.least_kept =
            std::min(out.least_kept, 1 - (tool.fold.missing + tool.fold.refused) / tool.fold.spare);
      }
  }
  return out;
}

Result<void> measureTools(ReproResult& r, const std::string& what, std::string_view recipe,
                          double least_kept_percent, Diagnostics& notes,
                          std::shared_ptr<const Character> character = {}) {
  DERM_TRY(Scene scene, sceneOf(recipe, notes, std::move(character)));
  const ToolReport tools = toolsOver(scene);
  r.numbers.push_back(within(unprinted(what + ": most that skinning takes of a tool's length", "%",
                                       100 * tools.most_squeezed),
                             1, 95));
  r.numbers.push_back(
      within(unprinted(what + ": least of it that folds give back", "%", 100 * tools.least_kept),
             least_kept_percent, 100.0001));
  r.numbers.push_back(
      within(unprinted(what + ": highest fold", "mm", 1000 * tools.highest_m), 0.3, 60));
  return {};
}

std::string foreheadOf(std::string_view head, std::string_view keys) {
  return "character = \"cast:" + std::string(head) +
         "\"\nclip = \"\"\nrange_s = [0.0, 2.0]\nfps = 10\n[[layer]]\ntype = \"wrinkles\"\nname = "
         "\"forehead\"\nfrom = [0.0, 0.196, 0.089]\nto = [0.0, 0.232, 0.080]\nwidth_m = 0.07\n"
         "strategy = \"simultaneous\"\nrest_length_keys = [0.0, 0.036, 1.0, 0.052, 2.0, 0.036]\n" +
         std::string(keys);
}

constexpr std::string_view kForeheadA =
    "points = 9\nspacing = 0\nprofile = \"round\"\nh_max_m = 0.003\n";
constexpr std::string_view kForeheadB = "points = 13\nspacing = 1\nh_max_m = 0.004\n";
constexpr std::string_view kForeheadC =
    "points = 9\nspacing = 0\nh_max_m = 0.003\nlevels = [0.7, 0.3]\n";

Result<void> measureForeheads(ReproResult& r, Diagnostics& notes) {
  for (const std::string head : {"man", "woman"}) {
    DERM_TRY(Character made, makeCastMember(head));
    const auto shared = std::make_shared<const Character>(std::move(made));
    int setting = 0;
    for (const std::string_view keys : {kForeheadA, kForeheadB, kForeheadC})
      DERM_CHECK(measureTools(r, head + ", setting " + std::to_string(++setting),
                              foreheadOf(head, keys), 90, notes, shared));
  }
  return {};
}

Result<void> drawForeheads(ReproResult& r, Diagnostics& notes) {
  std::vector<Rgba8Image> images;
  for (const std::string head : {"man", "woman"}) {
    DERM_TRY(Character made, makeCastMember(head, encodePng));
    const auto shared = std::make_shared<const Character>(std::move(made));
    for (const std::string_view keys : {kForeheadA, kForeheadA, kForeheadB, kForeheadC}) {
      DERM_TRY(Scene scene, sceneOf(foreheadOf(head, keys), notes, shared));
      DERM_TRY(Rgba8Image image, pictureOf(scene,
                                           {.time_s = images.size() % 4 == 0 ? 0.0 : 1.0,
                                            .yaw_deg = 18,
                                            .pitch_deg = 14,
                                            .zoom = 1.3,
                                            .width = 280,
                                            .height = 330},
                                           notes));
      images.push_back(std::move(image));
    }
  }
  r.pictures.push_back(
      {.caption = "Two heads, at rest and with three settings", .image = gridOf(images, 4, 4)});
  return {};
}

/// What the straight line from A to B claims as lost, over what the skin along it has lost, in the
/// frame in which that is most.
Result<double> chordOverSkin(std::string_view recipe, const Vec3f& a, const Vec3f& b,
                             Diagnostics& notes) {
  DERM_TRY(Scene scene, sceneOf(recipe, notes));
  const std::vector<Vec3f>& rest = scene.character()->mesh.positions;
  const auto nearest = [&](const Vec3f& p) {
    return std::size_t(std::min_element(rest.begin(), rest.end(),
                                        [&](const Vec3f& x, const Vec3f& y) {
                                          return (x - p).squaredNorm() < (y - p).squaredNorm();
                                        }) -
                       rest.begin());
  };
  const std::size_t from = nearest(a), to = nearest(b);
  const double chord = double((rest[from] - rest[to]).norm());
  double most = 0, ratio = 0;
  for (std::size_t f = 0; f < scene.frameTimes().size(); ++f) {
    const auto at = scene.frame(f).positions();  // folds never move A and B
    const WrinkleToolState& tool = wrinklesOf(scene).at(0)->tool(0);
    const double lost = tool.rest_length_m - tool.length_m;
    if (lost <= most) continue;
    most = lost;
    ratio = (chord - double((at[from] - at[to]).norm())) / lost;
  }
  return ratio;
}

/// Every tool of the recipe with these keys too.
std::string withKeys(std::string_view recipe, std::string_view keys) {
  std::string out;
  std::size_t at = 0;
  for (std::size_t next; (next = recipe.find("h_max_m", at)) != std::string_view::npos;
       at = next + 7) {
    out += recipe.substr(at, next - at);
    out += std::string(keys) + "h_max_m";
  }
  return out + std::string(recipe.substr(at));
}

Result<void> measureWrist(ReproResult& r, Diagnostics& notes) {
  DERM_TRY(const double ratio,
           chordOverSkin(kWrist, Vec3f(0.072f, 0.027f, 0.0f), Vec3f(0.130f, 0.019f, 0.0f), notes));
  r.numbers.push_back(
      within(unprinted("the literal form: what the line AB claims as lost over what the skin lost",
                       "", ratio),
             1, 10));
  for (const auto& [name, key] : {std::pair{"length = \"chord\"", "length = \"chord\"\n"},
                                  {"projection = \"moved\"", "projection = \"moved\"\n"}}) {
    DERM_TRY(Scene scene, sceneOf(withKeys(kWrist, key), notes));
    DERM_TRY(Scene ours, sceneOf(kWrist, notes));
    double apart = 0;
    for (std::size_t f = 0; f < scene.frameTimes().size(); ++f) {
      const auto a = scene.frame(f).positions(), b = ours.frame(f).positions();
      for (std::size_t v = 0; v < std::min(a.size(), b.size()); ++v)
        apart = std::max(apart, double((a[v] - b[v]).norm()));
    }
    r.numbers.push_back(
        within(unprinted(std::string("the literal form, ") + name + ": farthest from ours", "mm",
                         1000 * apart),
               0.05, 60));
  }
  return measureTools(r, "wrist", kWrist, 50, notes);
}
Result<void> drawWrist(ReproResult& r, Diagnostics& notes) {
  Shot shot{.time_s = 2.6, .yaw_deg = 20, .pitch_deg = 45, .zoom = 2, .width = 900, .height = 420};
  shot.view.focus = "hand";
  shot.view.comparison = Comparison::SideBySide;
  DERM_CHECK(addPicture(r, "A baby's wrist: skinning alone, and with folds", kWrist, shot, notes));
  Shot ours = shot;
  ours.width = 340;
  ours.height = 360;
  ours.view.comparison = Comparison::None;
  Shot chord = ours, moved = ours;
  ours.view.label = "ours";
  chord.view.label = "chord length";
  moved.view.label = "projected anew";
  return addPanels(r,
                   "Ours beside the literal forms: the length of the line AB, and folds that are "
                   "projected anew in each frame",
                   std::array{Panel{std::string(kWrist), ours},
                              Panel{withKeys(kWrist, "length = \"chord\"\n"), chord},
                              Panel{withKeys(kWrist, "projection = \"moved\"\n"), moved}},
                   3, notes);
}

/// A series of folds on the front of the right knee alone, drawn where the cloth is longest: on the
/// bent knee.
Result<std::string> frontFolds() {
  DERM_TRY(const Character trousers, makeCastMember("trousers"));
  const auto nearest = [&](const Vec3f& p) {
    const std::vector<Vec3f>& x = trousers.mesh.positions;
    return std::to_string(std::min_element(x.begin(), x.end(),
                                           [&](const Vec3f& a, const Vec3f& b) {
                                             return (a - p).squaredNorm() < (b - p).squaredNorm();
                                           }) -
                          x.begin());
  };
  return "character = \"cast:trousers\"\nclip = \"walk\"\nfps = 30\n[[layer]]\ntype = "
         "\"wrinkles\"\n"
         "name = \"front of the knee\"\nfrom_vertex = " +
         nearest(Vec3f(-0.105f, 0.60f, 0.09f)) +
         "\nto_vertex = " + nearest(Vec3f(-0.110f, 0.40f, 0.09f)) +
         "\nwidth_m = 0.15\npoints = 9\nspacing = 0\nstrategy = \"simultaneous\"\nprofile = "
         "\"round\"\nh_max_m = 0.012\ndefine_clip = \"walk\"\ndefine_at_s = 0.25\n";
}

Result<void> measureTrousers(ReproResult& r, Diagnostics& notes) {
  DERM_CHECK(measureTools(r, "trousers", kTrousers, 50, notes));
  DERM_TRY(const std::string front, frontFolds());
  return measureTools(r, "front of one knee", front, 50, notes);
}
Result<void> drawTrousers(ReproResult& r, Diagnostics& notes) {
  Shot shot{
      .time_s = 0.8, .yaw_deg = 200, .pitch_deg = 15, .zoom = 2.5, .width = 900, .height = 420};
  shot.view.focus = "shin_left";
  shot.view.comparison = Comparison::SideBySide;
  DERM_CHECK(addPicture(r, "Trousers from behind: skinning alone, and with two tools that cross",
                        kTrousers, shot, notes));
  DERM_TRY(const std::string front, frontFolds());
  std::vector<Panel> panels;
  for (const double time : {0.25, 0.6, 0.8}) {
    Shot knee{.time_s = time, .yaw_deg = 8, .pitch_deg = 4, .zoom = 2, .width = 330, .height = 360};
    knee.view.focus = "shin_right";
    panels.push_back({front, knee});
  }
  return addPanels(r,
                   "From the front: a series of folds on one knee, none on the other; they were "
                   "drawn on the bent knee (left)",
                   panels, 3, notes);
}

Result<void> measureBoth(ReproResult& r, Diagnostics& notes) {
  DERM_CHECK(measureTools(r, "cat, two tools", kCatBellyAndFolds, 50, notes));
  DERM_TRY(Scene scene, sceneOf(kCatBellyAndFolds, notes));
  r.numbers.push_back(better(
      within(printed("one flesh element and two tools", "frames/s", 25, 0, framesPerSecond(scene)),
             25, kNoEnd),
      ReproSense::MoreIsBetter));
  return {};
}
Result<void> drawBoth(ReproResult& r, Diagnostics& notes) {
  return addStrip(r, "The cat jumps with a belly that swings and legs that fold", kCatBellyAndFolds,
                  {.yaw_deg = 60, .pitch_deg = 5, .width = 1000, .height = 320}, 6, notes);
}

/// Every tool of the recipe cut so often.
std::string subdivided(std::string_view recipe, int levels) {
  return withKeys(recipe, "subdivide = " + std::to_string(levels) + "\n");
}

Result<double> playedAt(const std::string& recipe, Diagnostics& notes) {
  DERM_TRY(Scene scene, sceneOf(recipe, notes));
  return framesPerSecond(scene);
}

Result<void> measureFps(ReproResult& r, Diagnostics& notes) {
  struct Row {
    const char* name;
    std::string_view recipe;
    int levels;  ///< 0 = no folds at all
    std::optional<double> theirs;
  };
  for (const Row& row :
       {Row{"wrist, idle", kWrist, 0, 188}, Row{"wrist, one level", kWrist, 1, {}},
        Row{"wrist, two levels", kWrist, 2, 23}, Row{"wrist, three levels", kWrist, 3, {}},
        Row{"trousers, idle", kTrousers, 0, {}}, Row{"trousers, one level", kTrousers, 1, 17},
        Row{"trousers, two levels", kTrousers, 2, 7.5},
        Row{"trousers, three levels", kTrousers, 3, {}},
        Row{"cat, belly and folds", kCatBellyAndFolds, 2, 25}}) {
    std::string recipe = subdivided(row.recipe, row.levels);
    if (row.levels == 0) recipe = std::string(row.recipe.substr(0, row.recipe.find("[[layer]]")));
    DERM_TRY(const double rate, playedAt(recipe, notes));
    ReproNumber n = within(unprinted(row.name, "frames/s", rate), row.theirs.value_or(25), kNoEnd);
    n.theirs = row.theirs;
    n.better = ReproSense::MoreIsBetter;
    r.numbers.push_back(std::move(n));
  }
  return {};
}

constexpr std::array<ReproExhibit, 15> kWrinklesExhibits = {{
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
    {"fig. 9", "bumps spread from A", kCurveSetup, "", measureFig9, nullptr},
    {"fig. 10", "the height of a bump", kCurveSetup,
     "d is printed as |AB| − l, which is negative in compression: it is l − |AB|.", measureFig10,
     nullptr},
    {"fig. 11", "schemes of the curve", kCurveSetup, "", measureFig11, nullptr},
    {"fig. 12", "levels of detail", kCurveSetup,
     "On sloped segments the printed formula does not keep the length; midpoints on the ellipse "
     "with the segment's ends as foci do.",
     measureFig12, drawLevels},
    {"figs. 13, 14", "across the tool", kCurveSetup,
     "Vertices are chosen by the scalar product of normals (printed: the vector product); the "
     "attenuation comes from z, across (printed: y).",
     measureFig14, drawElevation},
    {"fig. 15", "a mushroom", kMushroomHop,
     "The cast's mushroom stands on its foot, which is its root; the paper's has its root, the "
     "dominant frame, in the cap: both are here.",
     measureMushroom, drawMushroom},
    {"fig. 16", "the cat's belly", kCatBellyJump, "", measureBelly, drawBelly},
    {"fig. 17", "foreheads of two heads", kManForehead,
     "As in the paper the rest length grows by hand; the heads are the cast's own.",
     measureForeheads, drawForeheads},
    {"fig. 18", "a baby's wrist", kWrist,
     "The paper takes the length of the straight line AB; a crease that closes brings A and B "
     "together while most skin is still there, so ours is the length along the skin. Where crests "
     "meet, what finds no room is told.",
     measureWrist, drawWrist},
    {"fig. 19", "trousers", kTrousers, "", measureTrousers, drawTrousers},
    {"fig. 20", "both tools on the cat", kCatBellyAndFolds, "", measureBoth, drawBoth},
    {"section 4", "frames per second", "derm render examples/recipes/wrist.toml --film wrist.mp4",
     "Theirs were drawn, on an Athlon XP 1700+; ours are made without drawing, at constant "
     "triangles, by this build on this machine.",
     measureFps, nullptr},
}};

}  // namespace

ReproDocument wrinklesDocument() {
  return {"000", "wrinkles",
          "Larboulette, Cani, Arnaldi 2006: Ajout de détails dynamiques à une animation temps-réel "
          "de personnage (flesh and folds)",
          kWrinklesExhibits};
}

}  // namespace derm::detail::repro
