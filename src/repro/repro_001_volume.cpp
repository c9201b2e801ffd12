#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "derm/cast/cylinder.h"
#include "derm/mesh/measures.h"
#include "derm/scene/volume_study.h"

#include "repro/bent_cylinder.h"
#include "repro/documents.h"
#include "repro/elbow.h"
#include "repro/measuring.h"

/// "Skinning à volume constant", chapter 5: the cat, weights over time; and all methods compared.
namespace derm::detail::repro {
namespace {

constexpr std::string_view kPawSetup =
    "character = \"cast:cat\"\nclip = \"jump\"\nfps = 15\n[skinning]\nmethod = \"linear\"\n"
    "[[layer]]\ntype = \"volume\"\nregions = \"joints\"\nmethod = \"axes-exact\"\n"
    "mask = \"weights\"\n";
/// The report's own way: confined to one leg.
constexpr std::string_view kOnePawSetup =
    "character = \"cast:cat\"\nclip = \"jump\"\nfps = 15\n[skinning]\nmethod = \"linear\"\n"
    "[[layer]]\ntype = \"volume\"\nregions = [\"foreleg_left\"]\nmethod = \"axes-exact\"\n"
    "mask = \"weights * group:foreleg_left\"\n";
constexpr std::string_view kPawDefault =
    "character = \"cast:cat\"\nclip = \"jump\"\nfps = 15\n[skinning]\nmethod = \"centre\"\n"
    "[[layer]]\ntype = \"volume\"\n";

Result<void> measureCat(ReproResult& r, Diagnostics& notes) {
  for (const auto& [name, recipe] :
       {std::pair{"a third along each axis, the left foreleg alone", kOnePawSetup},
        {"a third along each axis, per joint", kPawSetup},
        {"derm's own: centre skinning, sections", kPawDefault}}) {
    DERM_TRY(const Recipe parsed, parseRecipe(recipe, "cat.toml"));
    DERM_TRY(const VolumeStudy study, studyVolume(parsed, {}, notes));
    const std::size_t worst = study.worstRegionBefore().value_or(0);
    r.numbers.push_back(within(unprinted(std::string(name) + ": most that a part loses before (" +
                                             study.region_names[worst] + ")",
                                         "%", 100 * study.region_loss_before[worst]),
                               0.5, 60));
    r.numbers.push_back(within(unprinted(std::string(name) + ": most that one is off after", "%",
                                         100 * study.max_relative_error_after),
                               0, 1e-3));
  }
  return {};
}

Result<void> drawCat(ReproResult& r, Diagnostics& notes) {
  Shot shot{.time_s = 0.9, .yaw_deg = 60, .pitch_deg = 10, .zoom = 2.6, .width = 420};
  shot.view.focus = "forearm_left";
  Shot one = shot, thirds = shot, own = shot;
  shot.view.label = "linear skinning";
  one.view.label = "thirds, this leg alone";
  thirds.view.label = "thirds, every joint";
  own.view.label = "derm";
  return addPanels(
      r, "The cat as its forelegs fold, t = 0.9 s",
      std::array{Panel{"character = \"cast:cat\"\nclip = \"jump\"\n", shot},
                 Panel{std::string(kOnePawSetup), one}, Panel{std::string(kPawSetup), thirds},
                 Panel{std::string(kPawDefault), own}},
      2, notes);
}

/// The cylinder in double, bent with any weights of its first joint.
struct WeightedBend {
  CylinderModel model = makeCylinderModel(CylinderKind::M627);
  std::vector<Vec3d> turned;  ///< where joint 1 takes each vertex

  explicit WeightedBend(double degrees) {
    const double t = degrees * std::numbers::pi / 180, half = kCylinderLength / 2;
    for (const Vec3d& p : model.positions)
      turned.emplace_back(p.x() * std::cos(t) + (p.z() - half) * std::sin(t), p.y(),
                          half - p.x() * std::sin(t) + (p.z() - half) * std::cos(t));
  }
  std::vector<double> weights() const {
    std::vector<double> out;
    for (const std::array<double, 2>& w : model.weights) out.push_back(w[0]);
    return out;
  }
  std::vector<Vec3d> posed(const std::vector<double>& w) const {
    std::vector<Vec3d> out;
    for (std::size_t i = 0; i < w.size(); ++i)
      out.emplace_back(w[i] * model.positions[i] + (1 - w[i]) * turned[i]);
    return out;
  }
  double volumeOf(const std::vector<double>& w) const {
    return volume(std::span<const Vec3d>(posed(w)), model.triangles);
  }
  double rest() const { return volume(std::span<const Vec3d>(model.positions), model.triangles); }
  /// dV/dw of each vertex.
  std::vector<double> slopes(const std::vector<double>& w) const {
    const std::vector<Vec3d> x = posed(w);
    std::vector<Vec3d> v(x.size(), Vec3d::Zero());
    for (const Triangle& t : model.triangles)
      for (std::size_t k = 0; k < 3; ++k) v[t[k]] += x[t[(k + 1) % 3]].cross(x[t[(k + 2) % 3]]) / 6;
    std::vector<double> out;
    for (std::size_t i = 0; i < x.size(); ++i)
      out.push_back(v[i].dot(Vec3d(model.positions[i] - turned[i])));
    return out;
  }
  double stretch(const std::vector<double>& w) const {
    const std::vector<Vec3d> x = posed(w);
    double most = 0;
    for (const Triangle& t : model.triangles)
      for (std::size_t k = 0; k < 3; ++k) {
        const std::uint32_t a = t[k], b = t[(k + 1) % 3];
        const double length = (model.positions[a] - model.positions[b]).norm();
        if (length > 0) most = std::max(most, (x[a] - x[b]).norm() / length);
      }
    return most;
  }
};

/// The weights of the smallest sum of squared changes that keep the volume, by Newton steps.
std::vector<double> leastChangedWeights(const WeightedBend& bend) {
  std::vector<double> w = bend.weights();
  for (int i = 0; i < 40; ++i) {
    const double gap = bend.rest() - bend.volumeOf(w);
    if (std::abs(gap) < 1e-13 * bend.rest()) break;
    const std::vector<double> slope = bend.slopes(w);
    double square = 0;
    for (const double s : slope) square += s * s;
    for (std::size_t v = 0; v < w.size(); ++v) w[v] += gap * slope[v] / square;
  }
  return w;
}

/// All weights sharpened alike: w^a / (w^a + (1 − w)^a), a so that the volume is as near as it
/// gets.
std::pair<std::vector<double>, double> sharpenedWeights(const WeightedBend& bend) {
  const auto with = [&](double a) {
    std::vector<double> w = bend.weights();
    for (double& x : w) x = std::pow(x, a) / (std::pow(x, a) + std::pow(1 - x, a));
    return w;
  };
  double best = 1, best_off = kNoEnd;
  for (double a = 1; a <= 16; a *= 1.02) {
    const double off = std::abs(bend.volumeOf(with(a)) / bend.rest() - 1);
    if (off < best_off) {
      best_off = off;
      best = a;
    }
  }
  return {with(best), best};
}

Result<void> measureWeightsOverTime(ReproResult& r, Diagnostics&) {
  const BentCylinder cylinder(makeCylinderModel(CylinderKind::M627));
  PlotSeries least{.name = "largest change of a weight"},
      sharp{.name = "exponent − 1", .dashed = true};
  for (const double angle : {10.0, 30.0, 50.0, 70.0, 90.0}) {
    const WeightedBend bend(angle);
    const std::vector<double> start = bend.weights(), w = leastChangedWeights(bend);
    double change = 0, outside = 0, move = 0;
    const std::vector<Vec3d> before = bend.posed(start), after = bend.posed(w);
    for (std::size_t i = 0; i < w.size(); ++i) {
      change = std::max(change, std::abs(w[i] - start[i]));
      outside = std::max({outside, -w[i], w[i] - 1});
      move = std::max(move, (after[i] - before[i]).norm());
    }
    const std::string at = degrees(angle) + ": ";
    r.numbers.push_back(within(unprinted(at + "volume off, weights of the least change", "%",
                                         100 * std::abs(bend.volumeOf(w) / bend.rest() - 1)),
                               0, 1e-9));
    r.numbers.push_back(
        within(unprinted(at + "largest change of a weight", "", change), 1e-4, kNoEnd));
    least.x.push_back(angle);
    least.y.push_back(change);
    const auto [sharpened, exponent] = sharpenedWeights(bend);
    sharp.x.push_back(angle);
    sharp.y.push_back(exponent - 1);
    if (angle != 90) continue;
    const CylinderCorrection normal =
        cylinder.corrected(angle, {.method = VolumeMethod::Normal}, {.a = 15, .b = 8});
    r.numbers.push_back(
        within(unprinted(at + "farthest that a weight leaves [0, 1]", "", outside), 0, kNoEnd));
    r.numbers.push_back(
        within(unprinted(at + "largest move of a vertex", "R", move), 0.05, kNoEnd));
    r.numbers.push_back(
        within(unprinted(at + "the same along normals, in a second stage", "R", normal.largest_m),
               0.05, 2));
    r.numbers.push_back(
        within(unprinted(at + "all weights sharpened by one exponent: best exponent", "", exponent),
               1, 16));
    r.numbers.push_back(
        within(unprinted(at + "volume off then", "%",
                         100 * std::abs(bend.volumeOf(sharpened) / bend.rest() - 1)),
               0, 11));
    r.numbers.push_back(within(
        unprinted(at + "longest stretch of an edge then", "", bend.stretch(sharpened)), 1, kNoEnd));
    r.numbers.push_back(within(
        unprinted(at + "longest stretch with the weights as they were", "", bend.stretch(start)), 1,
        2));
  }
  r.pictures.push_back({.caption = "What weights must do over the angle to keep the volume",
                        .plot = PlotDesc{.x = {.label = "angle", .unit = "°"},
                                         .y = {.label = "change"},
                                         .series = {least, sharp},
                                         .width = 640,
                                         .height = 280}});
  return {};
}

constexpr std::array<ReproExhibit, 3> kCatExhibits = {{
    {"fig. 5.1", "the cat's foreleg", kOnePawSetup,
     "At the instant at which linear skinning flattens it. The report confines its correction to "
     "one "
     "leg by hand (a vertex group here); where every joint keeps its own volume that is not "
     "needed.",
     measureCat, drawCat},
    {"chapter 5, the end", "the correction inside the skinning: weights over time", kCylinderSetup,
     "\"Modify skinning weights over time so that the volume stays\": tried here. Weights of the "
     "least change that keep the volume exist at every angle, and cost more than they bring: near "
     "the joint a weight moves a vertex along the chord between its two rigid positions, mostly "
     "sideways, so weights must change far more than the skin needs, and leave [0, 1]. Sharpening "
     "all weights by one exponent keeps them in [0, 1] and stretches the skin instead.",
     measureWeightsOverTime, nullptr},
    {"section 2.2", "what a bend costs, by every method", "derm volume cast:cylinder --compare", "",
     [](ReproResult& r, Diagnostics& notes) -> Result<void> {
       Recipe recipe = defaultVolumeRecipe("cast:cylinder");
       recipe.clip = std::string("bend");
       recipe.fps = 2;
       DERM_TRY(const auto rows, compareVolumeMethods(recipe, {}, notes));
       for (const VolumeComparison& row : rows) {
         const bool held = row.name.find("+") != std::string::npos;
         const bool one_step = row.name.find("axes-linear") != std::string::npos;
         r.numbers.push_back(within(
             unprinted(row.name + ": most that the volume changes", "%", row.worst_percent), 0,
             !held      ? 12
             : one_step ? 1
                        : 1e-3));
       }
       return {};
     },
     nullptr},
}};

}  // namespace

std::span<const ReproExhibit> catExhibits() { return kCatExhibits; }

ReproDocument volumeDocument() {
  static const std::vector<ReproExhibit> all =
      joined({elbowExhibits(), cylinderExhibits(), catExhibits()});
  return {"001", "volume",
          "Skinning à volume constant (research report on constant-volume skinning)", all};
}

}  // namespace derm::detail::repro
