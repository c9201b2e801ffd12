#include <array>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "derm/base/number_text.h"
#include "derm/deform/fold_curve.h"
#include "derm/deform/wrinkles.h"
#include "derm/image/compose.h"

#include "repro/documents.h"
#include "repro/measuring.h"

/// Larboulette, Cani, Arnaldi 2006, part 3: the control curve of folds, and how it lifts the skin.
namespace derm::detail::repro {
namespace {

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

constexpr std::array<ReproExhibit, 5> kFoldCurveExhibits = {{
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
}};

}  // namespace

std::span<const ReproExhibit> foldCurveExhibits() { return kFoldCurveExhibits; }

}  // namespace derm::detail::repro
