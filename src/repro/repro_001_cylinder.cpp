#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "derm/base/number_text.h"
#include "derm/cast/cylinder.h"
#include "derm/image/compose.h"
#include "derm/mesh/measures.h"

#include "repro/bent_cylinder.h"
#include "repro/documents.h"
#include "repro/elbow.h"
#include "repro/measuring.h"
#include "repro/tube.h"

/// "Skinning à volume constant", chapter 4: what a bent cylinder loses, and every way to give it
/// back.
namespace derm::detail::repro {
namespace {

Result<void> measureAngles(ReproResult& r, Diagnostics&) {
  const BentCylinder cylinder(makeCylinderModel(CylinderKind::M627));
  PlotSeries curve{.name = "lost"};
  for (int i = 0; i <= 24; ++i) {
    curve.x.push_back(i * 7.5);
    curve.y.push_back(cylinder.lossPercent(i * 7.5));
  }
  // A and e for weights constant on each section; the discrete cylinder has 24 intervals.
  for (const double angle : {22.5, 45.0, 67.5, 90.0})
    r.numbers.push_back(near(unprinted("lost at " + degrees(angle) + "; (1 − cos t)(A + e)", "%",
                                       cylinder.lossPercent(angle)),
                             11.1725 * (1 - std::cos(angle * std::numbers::pi / 180)), 0.06));
  r.pictures.push_back({.caption = "Volume that linear skinning loses, over the angle",
                        .plot = PlotDesc{.x = {.label = "angle", .unit = "°"},
                                         .y = {.label = "volume lost", .unit = "%"},
                                         .series = {curve},
                                         .width = 640,
                                         .height = 280}});
  return {};
}

Result<void> measureAlpha(ReproResult& r, Diagnostics&) {
  double last = 1e9;
  for (const double alpha : {1.0, 2.0, 4.0}) {
    const Character c = tube({}, powerWeights(alpha));
    const double loss = 100 * (1 - volume(bentTube(c, 90), c.mesh.triangles) /
                                       volume(c.mesh.positions, c.mesh.triangles));
    r.numbers.push_back(within(
        unprinted("lost at 90°, α = " + shortNumber(alpha) + "; less the more local", "%", loss), 0,
        last));
    last = loss;
  }
  return {};
}

Result<void> drawAlpha(ReproResult& r, Diagnostics& notes) {
  std::vector<Rgba8Image> images;
  for (const double alpha : {1.0, 2.0, 4.0}) {
    Shot shot = elbowShot();
    shot.width = shot.height = 320;
    shot.zoom = 1;
    shot.view.focus.reset();
    shot.view.label = "alpha = " + shortNumber(alpha);
    DERM_TRY(Rgba8Image image, tubePicture(powerWeights(alpha), shot, notes));
    images.push_back(std::move(image));
  }
  r.pictures.push_back(
      {.caption = "The higher α, the more local the bend", .image = gridOf(images, 3, 4)});
  return {};
}

Result<void> drawTestModel(ReproResult& r, Diagnostics& notes) {
  Shot shot = elbowShot();
  shot.zoom = 1;
  shot.view.focus.reset();
  shot.view.skeleton = true;
  return addPicture(r, "The test cylinder, linearly skinned, with its skeleton (4.4)",
                    bareCylinder("linear"), shot, notes);
}

Result<void> drawAngles(ReproResult& r, Diagnostics& notes) {
  std::vector<Panel> panels;
  for (const double time : {0.75, 1.5, 2.25, 3.0}) {
    Shot shot = elbowShot();
    shot.time_s = time;
    shot.width = shot.height = 300;
    shot.zoom = 1;
    shot.view.focus.reset();
    panels.push_back({bareCylinder("linear"), shot});
  }
  return addPanels(r, "π/8, π/4, 3π/8 and π/2", panels, 4, notes);
}

constexpr std::string_view kTable41Setup =
    "# cylinders M625, M627 (cast:cylinder-m625, cast:cylinder), bent about their middle joint\n"
    "character = \"cast:cylinder-m625\"\nclip = \"bend\"\n[skinning]\nmethod = \"linear\"\n"
    "[[layer]]\ntype = \"volume\"\nregions = \"whole\"\nmask = \"everywhere\"\n"
    "method = \"axes-exact\"   # or \"axes-linear\"\n";

Result<void> measureTable41(ReproResult& r, Diagnostics&) {
  const BentCylinder theirs(makeCylinderModel(CylinderKind::M625), false);
  const BentCylinder closed(makeCylinderModel(CylinderKind::M627));
  const std::array<double, 5> before = {0.2, 1.5, 4, 7, 11},
                              before_digit = {0.05, 0.05, 0.5, 0.5, 0.5};
  const std::array<double, 5> linear = {8e-6, 5e-2, 0.04, 0.14, 0.34};
  const std::array<double, 5> linear_digit = {5e-7, 5e-3, 5e-3, 5e-3, 5e-3};
  const std::array<double, 5> linear_wanted = {7.955e-5, 5.577e-3, 3.978e-2, 0.13944, 0.33637};
  const std::array<double, 5> before_wanted = {0.17072, 1.5055, 4.0141, 7.3939, 11.237};
  const std::array<double, 5> exact = {7e-5, 3e-4, 7e-5, 5e-5, 8e-6};
  const char* const exponent =
      "an exponent is misprinted: the error of one linearised step is of second order, about "
      "0.25 (ΔV/V₀)², and cannot be larger at 30° than at 50° or fall faster from 30° to 10°";
  for (std::size_t i = 0; i < 5; ++i)
    r.numbers.push_back(near(printed(degrees(kAngles[i]) + ", before", "%", before[i],
                                     before_digit[i], theirs.lossPercent(kAngles[i])),
                             before_wanted[i], 1e-3));
  for (std::size_t i = 0; i < 5; ++i) {
    const double ours =
        theirs.corrected(kAngles[i], {.method = VolumeMethod::AxesLinear}).error_percent;
    r.numbers.push_back(because(
        near(printed(degrees(kAngles[i]) + ", one step", "%", linear[i], linear_digit[i], ours),
             linear_wanted[i], 2e-3 * linear_wanted[i]),
        i < 2 ? exponent : ""));
  }
  for (std::size_t i = 0; i < 5; ++i)
    r.numbers.push_back(better(
        within(printed(
                   degrees(kAngles[i]) + ", exact", "%", exact[i], 0,
                   closed.corrected(kAngles[i], {.method = VolumeMethod::AxesExact}).error_percent),
               0, 1e-10),
        ReproSense::LessIsBetter));
  return {};
}

Result<void> measureSpeed(ReproResult& r, Diagnostics&) {
  // 225 vertices: 15 × 15, as close as the cast has it is 16 × 16 and two cap centres.
  const BentCylinder cylinder(makeCylinderModel(CylinderKind::M258));
  const char* const machine = "theirs draws too, on the graphics card of its year";
  r.numbers.push_back(because(
      better(
          within(printed("one step (drawn at 74 without)", "frames/s", 53, 0,
                         cylinder.correctionsPerSecond(90, {.method = VolumeMethod::AxesLinear})),
                 53, kNoEnd),
          ReproSense::MoreIsBetter),
      machine));
  r.numbers.push_back(because(
      better(within(printed("exact", "frames/s", 45, 0,
                            cylinder.correctionsPerSecond(90, {.method = VolumeMethod::AxesExact})),
                    45, kNoEnd),
             ReproSense::MoreIsBetter),
      machine));
  return {};
}

constexpr std::string_view kExactAxesSetup =
    "character = \"cast:cylinder\"\nclip = \"bend\"\n[skinning]\nmethod = \"linear\"\n[[layer]]\n"
    "type = \"volume\"\npreset = \"fidelity\"\nregions = \"whole\"\nmethod = \"axes-exact\"\n"
    "mask = \"everywhere\"\n";

Result<void> drawSpeed(ReproResult& r, Diagnostics& notes) {
  Shot shot = elbowShot();
  shot.view.wireframe = false;
  shot.view.comparison = Comparison::Ghost;
  return addPicture(r, "Corrected (blue) over linear skinning (outline)", kExactAxesSetup, shot,
                    notes);
}

Result<void> measureEnds(ReproResult& r, Diagnostics&) {
  const BentCylinder c(makeCylinderModel(CylinderKind::M627));
  const CylinderCorrection all = c.corrected(90, {.method = VolumeMethod::AxesExact});
  r.numbers.push_back(
      near(unprinted("largest move near the elbow", "R", all.near_elbow_m), 0.0569, 0.002));
  r.numbers.push_back(
      near(unprinted("largest move at the ends, which swell", "R", all.at_ends_m), 0.304, 0.002));
  // The share of each axis, over all vertices.
  std::array<double, 3> squares{};
  for (const Vec3d& u : all.moved)
    for (int a = 0; a < 3; ++a) squares[std::size_t(a)] += u[a] * u[a];
  const double sum = squares[0] + squares[1] + squares[2];
  const char* const axes[3] = {"x (red)", "y (green)", "z (blue)"};
  for (std::size_t a = 0; a < 3; ++a)
    r.numbers.push_back(within(
        unprinted(std::string("share of ") + axes[a] + " in the move", "%", 100 * squares[a] / sum),
        5, 80));
  VolumeMethodDesc other{.method = VolumeMethod::AxesExact};
  other.axis_order = {2, 1, 0};
  double between = 0;
  const CylinderCorrection turned = c.corrected(90, other);
  for (std::size_t i = 0; i < all.moved.size(); ++i)
    between = std::max(between, (all.moved[i] - turned.moved[i]).norm());
  r.numbers.push_back(
      near(unprinted("the order z, y, x instead changes the move by up to", "R", between), 0.014,
           0.003));
  return {};
}

Result<void> drawEnds(ReproResult& r, Diagnostics& notes) {
  Shot plain = elbowShot(), held = elbowShot();
  plain.zoom = held.zoom = 1;
  plain.view.focus.reset();
  held.view.focus.reset();
  plain.view.label = "linear skinning";
  held.view.label = "exact, all vertices";
  held.view.wireframe = false;
  Shot coded = held;
  coded.view.label.clear();
  coded.view.diagram = Diagram::Correction;
  return addPanels(
      r,
      "Linear skinning; corrected (4.6); the correction along x, y, z as red, green, "
      "blue (4.7)",
      std::array{Panel{bareCylinder("linear"), plain}, Panel{std::string(kExactAxesSetup), held},
                 Panel{std::string(kExactAxesSetup), coded}},
      3, notes);
}

constexpr std::string_view kMaskSetup =
    "character = \"cast:cylinder\"\nclip = \"bend\"\n[skinning]\nmethod = \"linear\"\n[[layer]]\n"
    "type = \"volume\"\npreset = \"fidelity\"\nregions = \"whole\"\nmethod = \"axes-exact\"\n"
    "mask = \"weights\"\na = 15\nb = 8\n";

/// What a picture of a masked correction shows.
enum class MaskShown { Gamma, Moved, Axes };

/// Rows of a figure: widths and localisations.
Result<void> measureMasks(ReproResult& r, std::span<const CylinderMask> masks) {
  const BentCylinder c(makeCylinderModel(CylinderKind::M627));
  for (const CylinderMask& mask : masks) {
    const CylinderCorrection k = c.corrected(90, {.method = VolumeMethod::AxesExact}, mask);
    const std::string at = "a = " + shortNumber(mask.a) + ", b = " + shortNumber(mask.b);
    r.numbers.push_back(
        within(unprinted(at + ": largest move near the elbow", "R", k.near_elbow_m), 0.05, 5));
    r.numbers.push_back(within(unprinted(at + ": at the ends", "R", k.at_ends_m), 0, 0.05));
    r.numbers.push_back(within(unprinted(at + ": volume off", "%", k.error_percent), 0, 1e-9));
  }
  return {};
}

Result<void> measureMask49(ReproResult& r, Diagnostics&) {
  const BentCylinder c(makeCylinderModel(CylinderKind::M627));
  const CylinderCorrection k =
      c.corrected(90, {.method = VolumeMethod::AxesExact}, {.a = 15, .b = 8});
  r.numbers.push_back(near(
      unprinted("a = 15, b = 8: largest move near the elbow", "R", k.near_elbow_m), 0.2075, 0.004));
  r.numbers.push_back(within(unprinted("at the ends", "R", k.at_ends_m), 0, 1e-9));
  r.numbers.push_back(within(unprinted("volume off", "%", k.error_percent), 0, 1e-10));
  const CylinderCorrection kr =
      c.corrected(90, {.method = VolumeMethod::AxesExact}, {.a = 8, .b = 15});
  r.numbers.push_back(
      within(unprinted("the other reading, a = 8, b = 15: largest move near the elbow", "R",
                       kr.near_elbow_m),
             k.near_elbow_m, 5));
  return {};
}

Result<void> measureMask411(ReproResult& r, Diagnostics&) {
  return measureMasks(r, std::array{CylinderMask{0.2, 0.2}, CylinderMask{5, 5},
                                    CylinderMask{10, 10}, CylinderMask{15, 15}});
}

Result<void> measureMask412(ReproResult& r, Diagnostics&) {
  return measureMasks(r,
                      std::array{CylinderMask{1, 10}, CylinderMask{30, 10}, CylinderMask{10, 30}});
}

Result<void> drawMasks(ReproResult& r, std::string caption, std::span<const CylinderMask> masks,
                       MaskShown what, Diagnostics& notes) {
  std::vector<Panel> panels;
  for (const CylinderMask& mask : masks) {
    Shot shot = elbowShot();
    shot.width = 300;
    shot.height = 320;
    const std::string a = shortNumber(mask.a), b = shortNumber(mask.b);
    shot.view.label = "a = " + a + ", b = " + b;
    if (what == MaskShown::Gamma) shot.view.diagram = Diagram::Gamma;
    if (what == MaskShown::Axes) shot.view.diagram = Diagram::Correction;
    if (what == MaskShown::Moved) shot.view.displacement_mm = 400.0f;
    panels.push_back(
        {heldCylinder("axes-exact", "mask = \"weights\"\na = " + a + "\nb = " + b + "\n"), shot});
  }
  return addPanels(r, std::move(caption), panels, 4, notes);
}

Result<void> drawMask49(ReproResult& r, Diagnostics& notes) {
  Shot cat{.time_s = 0.9, .yaw_deg = 60, .pitch_deg = 10, .width = 420, .height = 320};
  cat.view.diagram = Diagram::Gamma;
  Shot bent = elbowShot();
  bent.width = bent.height = 320;
  bent.view.diagram = Diagram::Gamma;
  DERM_CHECK(
      addPanels(r, "γ, where the correction may move (4.8): a cylinder and the cat",
                std::array{Panel{std::string(kMaskSetup), bent},
                           Panel{"character = \"cast:cat\"\nclip = \"jump\"\n[skinning]\nmethod "
                                 "= \"linear\"\n[[layer]]\ntype = \"volume\"\nmethod = "
                                 "\"axes-exact\"\nregions = \"joints\"\nmask = \"weights\"\n",
                                 cat}},
                2, notes));
  DERM_CHECK(drawMasks(r, "How far it moves (4.9)", std::array{CylinderMask{15, 8}},
                       MaskShown::Moved, notes));
  return drawMasks(r, "The same along x, y, z as red, green, blue (4.10)",
                   std::array{CylinderMask{15, 8}}, MaskShown::Axes, notes);
}

Result<void> drawMask411(ReproResult& r, Diagnostics& notes) {
  return drawMasks(r, "p = q = 0.2, 5, 10, 15",
                   std::array{CylinderMask{0.2, 0.2}, CylinderMask{5, 5}, CylinderMask{10, 10},
                              CylinderMask{15, 15}},
                   MaskShown::Moved, notes);
}

Result<void> drawMask412(ReproResult& r, Diagnostics& notes) {
  return drawMasks(
      r, "Too local and not smooth; the text's reading of the second; the formula's: the ball",
      std::array{CylinderMask{1, 10}, CylinderMask{30, 10}, CylinderMask{10, 30}}, MaskShown::Moved,
      notes);
}

constexpr std::string_view kNormalSetup =
    "character = \"cast:cylinder-m258\"\nclip = \"bend\"\n[skinning]\nmethod = \"linear\"\n"
    "[[layer]]\ntype = \"volume\"\nregions = \"whole\"\nmethod = \"normal\"\n"
    "mask = \"everywhere\"\nexact = false   # true: nothing is left\n";

Result<void> measureTable42(ReproResult& r, Diagnostics&) {
  const BentCylinder c(makeCylinderModel(CylinderKind::M258));
  const std::array<double, 5> before = {0.2, 1.5, 4, 7, 11}, digit = {0.05, 0.05, 0.5, 0.5, 0.5};
  const std::array<double, 5> normal = {0.05, 0.5, 1.5, 3.1, 4.9};
  const std::array<double, 5> wanted = {7.70e-5, 6.08e-3, 4.446e-2, 0.1565, 0.3758};
  const char* const first_order =
      "the printed errors are of first order in the volume lost; one consistent linearised step "
      "leaves second order. The printed (4.14) has V^YZ twice, which does give errors of that size";
  for (std::size_t i = 0; i < 5; ++i)
    r.numbers.push_back(
        because(within(printed(degrees(kAngles[i]) + ", before", "%", before[i], digit[i],
                               c.lossPercent(kAngles[i])),
                       0.8 * before[i], 1.1 * before[i]),
                i == 3 ? "the report's cylinder is not given; ours has 258 vertices" : ""));
  VolumeMethodDesc step{.method = VolumeMethod::Normal, .solve = VolumeSolve::Linearised};
  std::array<double, 5> row{};
  for (std::size_t i = 0; i < 5; ++i) {
    row[i] = c.corrected(kAngles[i], step).error_percent;
    r.numbers.push_back(
        because(better(near(printed(degrees(kAngles[i]) + ", along normals, one step", "%",
                                    normal[i], 0, row[i]),
                            wanted[i], 5e-3 * wanted[i]),
                       ReproSense::LessIsBetter),
                first_order));
  }
  r.numbers.push_back(
      within(unprinted("order of the error, from 30° and 90°", "",
                       std::log(row[4] / row[1]) / std::log(c.lossPercent(90) / c.lossPercent(30))),
             1.8, 2.4));
  r.numbers.push_back(
      within(unprinted("90°, followed until the volume is right", "%",
                       c.corrected(90, {.method = VolumeMethod::Normal}).error_percent),
             0, 1e-10));
  return {};
}

Result<void> measureNormal(ReproResult& r, Diagnostics&) {
  const BentCylinder c(makeCylinderModel(CylinderKind::M627));
  const CylinderCorrection k = c.corrected(90, {.method = VolumeMethod::Normal}, {.a = 15, .b = 8});
  // Sides against the inside of the elbow: y across the bend's plane, +x is where it bends to.
  const std::vector<Vec3d>& rest = c.model().positions;
  double sides = 0, inside = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (std::abs(rest[i].z() - 10) > 1) continue;
    if (std::abs(rest[i].y()) > 0.9) sides = std::max(sides, k.moved[i].norm());
    if (rest[i].x() > 0.9) inside = std::max(inside, k.moved[i].norm());
  }
  r.numbers.push_back(
      within(unprinted("move of the elbow's sides over that of its inside; the sides stretch", "",
                       sides / inside),
             1.0, kNoEnd));
  const double stated = [&] {
    VolumeMethodDesc desc{.method = VolumeMethod::Laplacian, .solve = VolumeSolve::Linearised};
    desc.energy = LaplacianEnergy::Stated;
    return c.corrected(90, desc).error_percent;
  }();
  const double developed =
      c.corrected(90, {.method = VolumeMethod::Laplacian, .solve = VolumeSolve::Linearised})
          .error_percent;
  r.numbers.push_back(near(
      unprinted("4.8: Laplacian coordinates, κ = 5, the energy as stated, one step", "%", stated),
      0.364, 0.002));
  r.numbers.push_back(
      near(unprinted("the energy as developed, one step", "%", developed), 0.362, 0.002));
  return {};
}

Result<void> drawNormal(ReproResult& r, Diagnostics& notes) {
  std::vector<Panel> panels;
  for (const double time : {1.5, 2.25, 3.0}) {
    Shot shot = elbowShot();
    shot.width = shot.height = 320;
    shot.time_s = time;
    shot.view.displacement_mm = 400.0f;
    panels.push_back({heldCylinder("normal", "mask = \"weights\"\n"), shot});
  }
  for (Panel panel : std::vector<Panel>(panels)) {
    panel.shot.view.displacement_mm.reset();
    panel.shot.view.diagram = Diagram::Correction;
    panels.push_back(std::move(panel));
  }
  return addPanels(r,
                   "Along normals, at growing angles: by how far it moved (4.13), and along x, y, "
                   "z as red, green, blue (4.14)",
                   panels, 3, notes);
}

constexpr std::array<ReproExhibit, 10> kCylinderExhibits = {{
    {"fig. 4.2", "the cylinder at four angles", kCylinderSetup,
     "The report gives no dimensions: H/R = 20 fits table 4.1 best.", measureAngles, drawAngles},
    {"fig. 4.3", "how local the weights are", kCylinderSetup, "", measureAlpha, drawAlpha},
    {"table 4.1", "volume before, after one step, exact (fig. 4.4's cylinder)", kTable41Setup,
     "Two exponents are misprinted: 8·10⁻⁶ at 10° reads 8·10⁻⁵ and 5·10⁻² at 30° reads 5·10⁻³; "
     "with them every printed digit is ours. The \"exact\" row is the noise of floats; in double "
     "nothing is left.",
     measureTable41, drawTestModel},
    {"fig. 4.5", "in real time", kExactAxesSetup, "", measureSpeed, drawSpeed},
    {"figs. 4.6, 4.7", "exact, all vertices: the ends swell", kExactAxesSetup,
     "A third along each axis depends on the frame and on the order of the axes; it is not the "
     "minimum of the stated energy (4.9). F is called the free vertices in 4.6 and the fixed ones "
     "in annex D.1; the result needs the free ones.",
     measureEnds, drawEnds},
    {"figs. 4.8–4.10", "weighted by the skin's weights", kMaskSetup,
     "Printed γ = (1 − w_max^q)^p, and a text in which q localises and p smooths: with the printed "
     "formula it is the other way round. Ours are named by what they do: a widens, b localises.",
     measureMask49, drawMask49},
    {"fig. 4.11", "p = q = 0.2, 5, 10, 15", kMaskSetup, "", measureMask411, drawMask411},
    {"fig. 4.12", "too local", kMaskSetup,
     "By the text's reading q = b, p = a gives the left one and no ball on the right; the printed "
     "formula (q = a, p = b) gives the ball. No one reading gives both.",
     measureMask412, drawMask412},
    {"table 4.2", "along normals", kNormalSetup,
     "Not reproducible with the right formula: (4.14) prints V^YZ where V^XY belongs (annex F has "
     "it right).",
     measureTable42, nullptr},
    {"figs. 4.13, 4.14", "along normals: the sides stretch; Laplacian coordinates", kNormalSetup,
     "Section 4.8 states one energy and develops another; both are here (kappa, energy).",
     measureNormal, drawNormal},
}};

}  // namespace

std::span<const ReproExhibit> cylinderExhibits() { return kCylinderExhibits; }

}  // namespace derm::detail::repro
