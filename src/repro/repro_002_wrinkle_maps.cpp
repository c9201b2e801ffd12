#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "derm/base/number_text.h"
#include "derm/cast/cast.h"
#include "derm/face/arkit_shapes.h"
#include "derm/face/detail_acquisition.h"
#include "derm/face/expression_clip.h"
#include "derm/face/face_features.h"
#include "derm/face/face_rig.h"
#include "derm/face/face_weights.h"
#include "derm/face/map_transfer.h"
#include "derm/face/wrinkle_poses.h"
#include "derm/image/compose.h"
#include "derm/image/normal_map.h"
#include "derm/io/png.h"
#include "derm/scene/detail_bake.h"
#include "derm/view/detail_sheet.h"

#include "repro/documents.h"
#include "repro/example_recipes.h"
#include "repro/furrowed_skin.h"
#include "repro/measuring.h"
#include "repro/rigged_head.h"

/// Dutreve 2011, chapter 5: wrinkle maps from photos, and on faces that move.
namespace derm::detail::repro {
namespace {

constexpr std::string_view kAcquireSetup =
    "derm face detail acquire rest.png frown.png -o map.png\n"
    "derm face detail acquire rest.png frown.png --method thesis -o printed.png   # eq. 5.8";

AcquisitionDesc wholePicture(DetailMethod method) {
  AcquisitionDesc desc;
  desc.method = method;
  desc.align = false;
  desc.mask = FloatImage(512, 512, 1, 1.0f);
  return desc;
}

Result<void> measureAcquisition(ReproResult& r, Diagnostics& notes) {
  const FurrowedSkin skin = furrowedSkin();
  const auto error = [&](DetailMethod method) -> Result<double> {
    DERM_TRY(const SlopeMap map,
             acquireDetail(std::span(&skin.photos, 1), wholePicture(method), notes));
    return meanAngle(skin.slopes, map.slopes);
  };
  const double flat = meanAngle(skin.slopes, FloatImage(512, 512, 2));
  DERM_TRY(const double thesis, error(DetailMethod::Thesis));
  DERM_TRY(const double blurred, error(DetailMethod::BlurDirection));
  DERM_TRY(const double fitted, error(DetailMethod::HeightFit));
  r.numbers.push_back(near(unprinted("no map at all: mean angle off", "°", flat), 9.86, 0.25));
  r.numbers.push_back(within(
      unprinted("eq. 5.8 as printed (the literal form): worse than none", "°", thesis), flat, 14));
  r.numbers.push_back(within(unprinted("direction from a blurred ratio", "°", blurred), 0, 3.0));
  r.numbers.push_back(within(unprinted("height fit (ours)", "°", fitted), 0, 1.0));
  return {};
}

Result<void> drawAcquisition(ReproResult& r, Diagnostics& notes) {
  const FurrowedSkin skin = furrowedSkin();
  std::vector<Rgba8Image> panels;
  const auto normals = [](const FloatImage& slopes) {
    FloatImage out(slopes.width, slopes.height, 3);
    for (int y = 0; y < slopes.height; ++y)
      for (int x = 0; x < slopes.width; ++x) {
        const float p = slopes.at(x, y, 0), q = slopes.at(x, y, 1);
        const float l = std::sqrt(1 + p * p + q * q);
        out.at(x, y, 0) = -p / l;
        out.at(x, y, 1) = q / l;
        out.at(x, y, 2) = 1 / l;
      }
    return encodeNormals8(out, NormalGreen::Up);
  };
  panels.push_back(normals(skin.slopes));
  for (const DetailMethod method : {DetailMethod::Thesis, DetailMethod::HeightFit}) {
    DERM_TRY(const SlopeMap map,
             acquireDetail(std::span(&skin.photos, 1), wholePicture(method), notes));
    panels.push_back(encodeNormals8(normalsOf(map), NormalGreen::Up));
  }
  const std::array<const char*, 3> names = {"truth", "eq. 5.8", "height fit"};
  for (std::size_t i = 0; i < panels.size(); ++i) drawLabel(panels[i], names[i], Corner::TopLeft);
  // Photos and their ratio, brightest to white.
  const auto greyPicture = [](const FloatImage& image, float full) {
    Rgba8Image out(image.width, image.height);
    for (int y = 0; y < image.height; ++y)
      for (int x = 0; x < image.width; ++x) {
        const auto g =
            static_cast<std::uint8_t>(255 * std::clamp(image.at(x, y, 0) / full, 0.0f, 1.0f));
        out.at(x, y) = {g, g, g, 255};
      }
    return out;
  };
  FloatImage ratio(skin.photos.neutral.width, skin.photos.neutral.height, 1);
  for (int y = 0; y < ratio.height; ++y)
    for (int x = 0; x < ratio.width; ++x)
      ratio.at(x, y, 0) =
          skin.photos.expression.at(x, y, 0) / std::max(1e-4f, skin.photos.neutral.at(x, y, 0));
  const float brightest =
      *std::max_element(skin.photos.neutral.values.begin(), skin.photos.neutral.values.end());
  std::vector<Rgba8Image> photos = {greyPicture(skin.photos.neutral, brightest),
                                    greyPicture(skin.photos.expression, brightest),
                                    greyPicture(ratio, 1.2f)};
  const std::array<const char*, 3> seen = {"at rest", "expression", "ratio"};
  for (std::size_t i = 0; i < photos.size(); ++i) drawLabel(photos[i], seen[i], Corner::TopLeft);
  r.pictures.push_back(
      {.caption = "Two photos of skin and their ratio (5.1, 5.2)", .image = sideBySide(photos, 4)});
  r.pictures.push_back({.caption = "Normal maps of four furrows from two photos (5.3)",
                        .image = sideBySide(panels, 4)});
  return {};
}

constexpr std::string_view kPoseSetup =
    "#include \"derm/face/wrinkle_poses.h\"\n"
    "WrinklePoses poses = WrinklePoses::bind(desc, weights).value();";

/// Three points at the origin that a pose moves by 2 along x each; one vertex follows them by .2,
/// .3 and .5.
Result<WrinklePoses> threePoints(WrinkleInfluence influence) {
  WrinklePosesDesc desc;
  desc.neutral.assign(3, Vec3d::Zero());
  desc.poses = {{.name = "k", .points = std::vector<Vec3d>(3, Vec3d(2, 0, 0))}};
  desc.influence = influence;
  FaceWeights weights;
  weights.offsets = {0, 3};
  weights.shares = {{2, 0.5}, {1, 0.3}, {0, 0.2}};
  return WrinklePoses::bind(desc, weights);
}

/// Three control points in the plane: on their way from neutral to two references (fig. 5.6).
void addEvaluationPlot(ReproResult& r) {
  struct Point {
    double x0, y0, x1, y1, x2, y2, x, y;
  };
  std::vector<PlotSeries> series;
  const Point points[3] = {{0, 0, 0.5, 1.6, 1.4, -0.4, 0.55, 0.7},
                           {3, 0.2, 3.2, 1.9, 4.3, 0.1, 3.3, 1.5},
                           {6, 0, 5.6, 1.3, 7.2, -0.5, 6.6, 0.2}};
  for (int j = 0; j < 3; ++j) {
    const Point& p = points[j];
    const auto way = [&](const char* name, double x, double y) {
      const double dx = x - p.x0, dy = y - p.y0;
      const double alpha =
          std::clamp(((p.x - p.x0) * dx + (p.y - p.y0) * dy) / (dx * dx + dy * dy), 0.0, 1.0);
      PlotSeries s{.name = std::string(name) + ", α = " + shortNumber(alpha, 2)};
      s.x = {p.x0, x};
      s.y = {p.y0, y};
      series.push_back(std::move(s));
      PlotSeries foot{.name = "", .dashed = true};
      foot.x = {p.x, p.x0 + alpha * dx};
      foot.y = {p.y, p.y0 + alpha * dy};
      series.push_back(std::move(foot));
    };
    const std::string number = std::to_string(j + 1);
    way(("point " + number + ", pose 1").c_str(), p.x1, p.y1);
    way(("point " + number + ", pose 2").c_str(), p.x2, p.y2);
  }
  r.pictures.push_back({.caption =
                            "Control points in the current pose (the dashed lines' far ends) "
                            "projected onto the ways from the neutral pose to two references",
                        .plot = PlotDesc{.x = {.label = "x"},
                                         .y = {.label = "y"},
                                         .series = std::move(series),
                                         .width = 760,
                                         .height = 340}});
}

Result<void> measureAlphas(ReproResult& r, Diagnostics&) {
  DERM_TRY(const WrinklePoses poses, threePoints(WrinkleInfluence::Weighted));
  struct Case {
    Vec3f at;
    double wanted;
    const char* name;
  };
  for (const Case& c : {Case{{1, 0, 0}, .5, "half way"},
                        {{0.5f, 0, 0}, .25, "a quarter"},
                        {{2, 0, 0}, 1, "there"},
                        {{3, 0, 0}, 1, "beyond"},
                        {{-1, 0, 0}, 0, "the other way"},
                        {{1, 5, 0}, .5, "aside"}}) {
    std::array<float, 3> alpha{};
    poses.alphas(std::array{c.at, c.at, c.at}, alpha);
    r.numbers.push_back(near(
        unprinted(std::string("α, point ") + c.name + ", |P_k − P_0| = 2", "", double{alpha[0]}),
        c.wanted, 1e-6));
  }
  addEvaluationPlot(r);
  return {};
}

Result<void> measureMasks57(ReproResult& r, Diagnostics&) {
  const std::array<float, 3> alpha = {0.25f, 0.5f, 1.0f};
  std::array<float, 1> beta{};
  DERM_TRY(const WrinklePoses weighted, threePoints(WrinkleInfluence::Weighted));
  weighted.betas(alpha, beta);
  r.numbers.push_back(
      near(unprinted("β of weights .2 .3 .5 and α .25 .5 1, weighted (ours)", "", double{beta[0]}),
           0.579289, 1e-5));
  DERM_TRY(const WrinklePoses literal, threePoints(WrinkleInfluence::Printed));
  literal.betas(alpha, beta);
  r.numbers.push_back(near(
      unprinted("eq. 5.11 as printed: the sum is 1.271, clamped", "", double{beta[0]}), 1, 1e-6));
  return {};
}

Result<void> measureTheta(ReproResult& r, Diagnostics&) {
  const ModulationCurve theta;
  PlotSeries curve{.name = "θ(x) = sin⁴(πx/2)"},
      printed_form{.name = "((cos(π(1+x))+1)/2)²", .dashed = true};
  double off = 0;
  for (int i = 0; i <= 50; ++i) {
    const double x = i / 50.0;
    const double literal = std::pow((std::cos(3.14159265358979 * (1 + x)) + 1) / 2, 2);
    curve.x.push_back(x);
    curve.y.push_back(double{theta(static_cast<float>(x))});
    printed_form.x.push_back(x);
    printed_form.y.push_back(literal);
    off = std::max(off, std::abs(curve.y.back() - literal));
  }
  for (const auto& [x, wanted] :
       {std::pair{0.25, .021447}, {0.5, .25}, {0.75, .728553}, {1.0, 1.0}})
    r.numbers.push_back(near(printed("θ(" + shortNumber(x) + ")", "",
                                     std::pow((std::cos(3.14159265358979 * (1 + x)) + 1) / 2, 2),
                                     1e-6, double{theta(static_cast<float>(x))}),
                             wanted, 1e-6));
  r.numbers.push_back(
      within(unprinted("largest difference from (5.12) as printed", "", off), 0, 1e-6));
  r.pictures.push_back({.caption = "How wrinkles come with a deformation",
                        .plot = PlotDesc{.x = {.label = "deformation"},
                                         .y = {.label = "depth of the wrinkles"},
                                         .series = {curve, printed_form},
                                         .width = 560,
                                         .height = 280}});
  return {};
}

Result<void> measureBlends(ReproResult& r, Diagnostics&) {
  const auto of_slopes = [](double p, double q) {
    FloatImage out(1, 1, 3);
    const double l = std::sqrt(1 + p * p + q * q);
    out.values = {static_cast<float>(-p / l), static_cast<float>(-q / l),
                  static_cast<float>(1 / l)};
    return out;
  };
  const FloatImage base = of_slopes(0.6, 0), other = of_slopes(0, 0.5);
  const auto blended = [&](const FloatImage& over, NormalBlend blend) {
    FloatImage out;
    const NormalLayer layer{.normals = &over};
    blendNormals(base, std::span(&layer, 1), blend, out);
    return out;
  };
  const FloatImage self = blended(base, NormalBlend::Whiteout);
  r.numbers.push_back(near(
      unprinted("(5.14), slope 0.6 with itself: n_x", "", double{self.values[0]}), -.813621, 1e-5));
  r.numbers.push_back(near(unprinted("n_z", "", double{self.values[2]}), .581395, 1e-5));
  const FloatImage cross = blended(other, NormalBlend::Whiteout);
  r.numbers.push_back(
      near(unprinted("slopes 0.6 across and 0.5 along: n_x", "", double{cross.values[0]}), -.501395,
           1e-5));
  r.numbers.push_back(near(unprinted("n_y", "", double{cross.values[1]}), -.435826, 1e-5));
  const FloatImage exact = blended(base, NormalBlend::PartialDerivative);
  r.numbers.push_back(near(unprinted("the same slopes added exactly (blend = \"slopes\"): n_x", "",
                                     double{exact.values[0]}),
                           -.768221, 1e-5));
  // Slope of the mean of two normals over the slope that one had: what plain averaging loses.
  const FloatImage flat = of_slopes(0, 0);
  const double nx = 0.5 * double{base.values[0] + flat.values[0]};
  const double nz = 0.5 * double{base.values[2] + flat.values[2]};
  r.numbers.push_back(within(
      unprinted("fig. 5.9's other method, the mean of both normals: slope kept over a flat map", "",
                -nx / nz / 0.6),
      0.4, 0.55));
  return {};
}

/// The recipe's lines on a head that plays the six expressions at 1, 2, … s.
Result<Scene> linesOn(std::string_view head, const PictureEncoder& encode, Diagnostics& notes) {
  DERM_TRY(Character character, makeCastMember(head, encode));
  DERM_TRY(const std::string clip, addExpressionClip(character, kSixExpressions, notes));
  DERM_TRY(Recipe recipe, parseRecipe(kWrinkleMaps, "wrinkle_maps.toml"));
  recipe.clip = clip;
  return openScene(recipe, {.character = std::make_shared<const Character>(std::move(character))},
                   notes);
}

/// The recipe's lines on the man, who raises his left brow in the middle of the clip.
Result<Scene> oneBrow(const PictureEncoder& encode, Diagnostics& notes, bool both = false) {
  DERM_TRY(RiggedHead head, riggedHead("man", encode, notes));
  DERM_TRY(const FacePoser poser, FacePoser::make(head.character, head.rig));
  DERM_TRY(auto raised, faceShapeDisplacements("browOuterUpLeft", head.points));
  if (both) {
    DERM_TRY(const auto right, faceShapeDisplacements("browOuterUpRight", head.points));
    raised.insert(raised.end(), right.begin(), right.end());
  }
  head.character.clips.push_back(poser.clip("one brow", raised));
  DERM_TRY(Recipe recipe, parseRecipe(kWrinkleMaps, "wrinkle_maps.toml"));
  recipe.clip = std::string("one brow");
  return openScene(
      recipe, {.character = std::make_shared<const Character>(std::move(head.character))}, notes);
}

/// Weights of two points of a brow, and the mask that they make when the brow is raised.
Result<void> drawMask57(ReproResult& r, Diagnostics& notes) {
  DERM_TRY(Scene scene, oneBrow({}, notes));
  Shot shot{.yaw_deg = 5, .pitch_deg = 5, .zoom = 1.2, .width = 600, .height = 640};
  std::vector<Rgba8Image> images;  // halved, so that legends are small
  for (const std::string_view point : {"4.3", "4.5"}) {
    Shot weights = shot;
    weights.view.weights = controlJointName(point);
    DERM_TRY(const Rgba8Image image, pictureOf(scene, weights, notes));
    images.push_back(boxDownscaled(image, 2));
  }
  shot.time_s = 0.5 * double{scene.clip()->duration_s()};
  shot.view.channel = "lines.stretch";
  DERM_TRY(const Rgba8Image mask, pictureOf(scene, shot, notes));
  images.push_back(boxDownscaled(mask, 2));
  r.pictures.push_back({.caption =
                            "Weights of two points of a brow, and what shows of the lines when "
                            "the brow is raised",
                        .image = sideBySide(images, 4)});
  return {};
}

/// Two maps, their mean, and (5.14), lit from the side.
Result<void> drawBlends(ReproResult& r, Diagnostics&) {
  constexpr int kSize = 220;
  const auto waves = [](double period_x, double period_y, double depth) {
    FloatImage out(kSize, kSize, 3);
    for (int y = 0; y < kSize; ++y)
      for (int x = 0; x < kSize; ++x) {
        const double p = period_x > 0 ? depth * std::cos(6.2832 * x / period_x) : 0;
        const double q = period_y > 0 ? depth * std::cos(6.2832 * y / period_y) : 0;
        const double l = std::sqrt(1 + p * p + q * q);
        out.at(x, y, 0) = static_cast<float>(-p / l);
        out.at(x, y, 1) = static_cast<float>(-q / l);
        out.at(x, y, 2) = static_cast<float>(1 / l);
      }
    return out;
  };
  const FloatImage fine = waves(14, 0, 0.5), folds = waves(0, 73, 0.6);
  FloatImage mean = fine, whiteout;
  for (std::size_t i = 0; i < mean.values.size(); ++i)
    mean.values[i] = 0.5f * (fine.values[i] + folds.values[i]);
  const NormalLayer layer{.normals = &folds};
  blendNormals(fine, std::span(&layer, 1), NormalBlend::Whiteout, whiteout);
  const auto lit = [](const FloatImage& n, const char* label) {
    Rgba8Image out(kSize, kSize);
    const Vec3f light = Vec3f(-0.5f, 0.6f, 0.62f).normalized();
    for (int y = 0; y < kSize; ++y)
      for (int x = 0; x < kSize; ++x) {
        const Vec3f normal = Vec3f(n.at(x, y, 0), n.at(x, y, 1), n.at(x, y, 2)).normalized();
        const auto g = static_cast<std::uint8_t>(235 * std::max(0.0f, normal.dot(light)));
        out.at(x, y) = {g, g, g, 255};
      }
    drawLabel(out, label, Corner::TopLeft);
    return out;
  };
  const std::array images = {lit(fine, "one map"), lit(folds, "the other"), lit(mean, "their mean"),
                             lit(whiteout, "(5.14)")};
  r.pictures.push_back({.caption =
                            "Two maps lit from the side; their mean flattens both, (5.14) keeps "
                            "them",
                        .image = sideBySide(images, 4)});
  return {};
}

Result<void> measureOneBrow(ReproResult& r, Diagnostics& notes) {
  DERM_TRY(Scene scene, oneBrow({}, notes));
  // Means over the forehead's halves of how much the map "stretch" shows.
  const auto halves = [&](double time_s) {
    const SkinFrame& frame = scene.playback().frameAt(time_s);
    const std::span<const float> shown = frame.channel("lines.stretch");
    std::array<double, 2> sum{};
    for (std::size_t v = 0; v < shown.size(); ++v)
      sum[frame.positions()[v].x() > 0 ? 0 : 1] += double{shown[v]};
    return sum;
  };
  const std::array<double, 2> rest = halves(0),
                              left = halves(0.5 * double{scene.clip()->duration_s()});
  r.numbers.push_back(
      near(unprinted("neutral: what shows of the lines", "", rest[0] + rest[1]), 0, 1e-3));
  r.numbers.push_back(within(unprinted("left brow raised: share of what shows that is on its side",
                                       "%", 100 * left[0] / std::max(1e-9, left[0] + left[1])),
                             80, 100));
  return {};
}

Result<void> drawOneBrow(ReproResult& r, Diagnostics& notes) {
  DERM_TRY(Scene one, oneBrow(encodePng, notes));
  DERM_TRY(Scene two, oneBrow(encodePng, notes, true));
  const double middle = 0.5 * double{one.clip()->duration_s()};
  std::vector<Rgba8Image> panels;
  for (const auto& [scene, time] : {std::pair{&one, 0.0}, {&one, middle}, {&two, middle}}) {
    DERM_TRY(Rgba8Image image, pictureOf(*scene,
                                         {.time_s = time,
                                          .yaw_deg = 5,
                                          .pitch_deg = 5,
                                          .zoom = 1.6,
                                          .width = 360,
                                          .height = 360},
                                         notes));
    panels.push_back(std::move(image));
  }
  r.pictures.push_back(
      {.caption = "Neutral; one brow is raised, and lines come above it alone; both",
       .image = sideBySide(panels, 4)});
  return {};
}

Result<void> drawSheet(ReproResult& r, std::string_view head, Diagnostics& notes) {
  DERM_TRY(Scene scene, linesOn(head, encodePng, notes));
  const std::array<double, 6> times = {1, 2, 3, 4, 5, 6};
  DetailSheetDesc desc{.cell = {.width = 160, .height = 190}};
  desc.orbit.zoom = 1.35;
  DERM_TRY(Rgba8Image sheet, drawDetailSheet(scene, times, kSixExpressions, desc, notes));
  r.pictures.push_back(
      {.caption = "Six expressions: without lines, with them, and where the two maps show",
       .image = std::move(sheet)});
  return {};
}

Result<void> measureLines(ReproResult& r, Diagnostics& notes) {
  DERM_TRY(Scene scene, linesOn("woman", {}, notes));
  const auto largest = [&](double time_s, std::string_view channel) {
    const std::span<const float> shown = scene.playback().frameAt(time_s).channel(channel);
    return shown.empty() ? 0.0 : double{*std::max_element(shown.begin(), shown.end())};
  };
  r.numbers.push_back(within(unprinted("surprise: most of the raised brows' lines that shows", "",
                                       largest(4, "lines.stretch")),
                             0.3, 1));
  r.numbers.push_back(within(
      unprinted("anger: most of the frown's lines that shows", "", largest(6, "lines.compress")),
      0.3, 1));
  r.numbers.push_back(
      better(within(printed("frames, without drawing (theirs, drawn on an Athlon 64: over 100)",
                            "frames/s", 100, 0, framesPerSecond(scene)),
                    100, kNoEnd),
             ReproSense::MoreIsBetter));
  return {};
}

Result<void> drawWoman(ReproResult& r, Diagnostics& notes) { return drawSheet(r, "woman", notes); }
Result<void> drawMan(ReproResult& r, Diagnostics& notes) { return drawSheet(r, "man", notes); }

/// The furrows of fig. 5.3's photo on the woman's texture. The photo is taken to be of the man's
/// forehead, so that its landmarks are where he has his points.
Result<SlopeMap> furrowsOnTexture(const RiggedHead& woman, const RiggedHead& man,
                                  Diagnostics& notes) {
  const FurrowedSkin skin = furrowedSkin();
  DERM_TRY(const SlopeMap furrows,
           acquireDetail(std::span(&skin.photos, 1), wholePicture(DetailMethod::HeightFit), notes));
  constexpr double kPixelsPerMetre = 3300, kBrows_px = 420;
  const Vec3d between_brows = 0.5 * (man.points.at("4.1") + man.points.at("4.2"));
  std::vector<PhotoLandmark> landmarks;
  for (const std::string_view number : controlPointNumbers()) {
    const Vec3d p = kPixelsPerMetre * (man.points.at(number) - between_brows);
    landmarks.push_back({std::string(number), {256 + p.x(), kBrows_px - p.y()}});
  }
  return transferDetail(furrows, landmarks, woman.character.mesh, woman.character.points, {},
                        notes);
}

Result<void> drawAdaptation(ReproResult& r, Diagnostics& notes) {
  DERM_TRY(RiggedHead woman, riggedHead("woman", encodePng, notes));
  DERM_TRY(const RiggedHead man, riggedHead("man", {}, notes));
  DERM_TRY(const SlopeMap map, furrowsOnTexture(woman, man, notes));
  const Rgba8Image normals = encodeNormals8(normalsOf(map), NormalGreen::Up);
  Character& head = woman.character;
  Material& skin = head.materials.at(static_cast<std::size_t>(head.parts.front().material));
  const Image& painted = head.images.at(static_cast<std::size_t>(skin.base_colour_image));
  DERM_TRY(const Rgba8Image texture, decodePng(painted.bytes, painted.name));
  const auto reduced = [](const Rgba8Image& image) {
    return boxDownscaled(image, std::max(1, image.width / 320));
  };
  std::vector<Rgba8Image> panels = {reduced(texture), reduced(normals)};
  head.images.push_back({.name = "furrows", .mime_type = "image/png", .bytes = encodePng(normals)});
  skin.detail_maps.push_back({.image = static_cast<int>(head.images.size()) - 1});
  DERM_TRY(Rgba8Image worn, headPicture(head,
                                        {.yaw_deg = 15,
                                         .pitch_deg = 8,
                                         .zoom = 1.35,
                                         .width = panels[0].height,
                                         .height = panels[0].height},
                                        notes));
  panels.push_back(std::move(worn));
  const std::array<const char*, 3> names = {"texture", "map", "worn"};
  for (std::size_t i = 0; i < panels.size(); ++i) drawLabel(panels[i], names[i], Corner::TopLeft);
  r.pictures.push_back({.caption =
                            "The character's texture; the furrows of 5.3 brought into its space "
                            "by landmarks (5.4); the head that wears them",
                        .image = sideBySide(panels, 4)});
  return {};
}

/// What the method is given, and what it makes of a pose (5.5).
Result<void> drawOverview(ReproResult& r, Diagnostics& notes) {
  DERM_TRY(Scene scene, linesOn("woman", encodePng, notes));
  constexpr double kSurprise_s = 4;
  constexpr int kCell = 300;
  const auto shot = [](double time_s, const char* label) {
    Shot out{.time_s = time_s,
             .yaw_deg = 7,
             .pitch_deg = 3,
             .zoom = 1.3,
             .width = kCell,
             .height = kCell};
    out.view.label = label;
    return out;
  };
  Shot neutral = shot(0, "at rest"), mask = shot(kSurprise_s, "");
  neutral.view.points = true;
  mask.view.channel = "lines.stretch";
  std::vector<Rgba8Image> images;
  for (const Shot& one : {neutral, mask}) {
    DERM_TRY(Rgba8Image image, pictureOf(scene, one, notes));
    images.push_back(std::move(image));
  }
  DERM_TRY(DetailBaker baker, DetailBaker::make(scene, {.width = kCell, .height = kCell}, notes));
  images.push_back(baker.map8(kSurprise_s));
  drawLabel(images.back(), "blended map", Corner::TopLeft);
  DERM_TRY(Rgba8Image image, pictureOf(scene, shot(kSurprise_s, "drawn"), notes));
  images.push_back(std::move(image));
  r.pictures.push_back({.caption =
                            "The head at rest with its control points; in surprise, what shows of "
                            "the lines of raised brows, from how far the points went (5.9 to "
                            "5.12); the maps blended by it (5.13, 5.14); the face",
                        .image = sideBySide(images, 4)});
  return {};
}

constexpr std::array<ReproExhibit, 10> kWrinkleMapExhibits = {{
    {"figs. 5.1–5.3, 5.11", "normal maps from two photos", kAcquireSetup,
     "(5.8) has the wrong sign over much of every furrow, and frontal light cannot tell a furrow "
     "from a ridge. (5.5), (5.6): L must point to the light. Photos are synthetic, so that the "
     "truth is known.",
     measureAcquisition, drawAcquisition},
    {"fig. 5.4", "the map on a character's texture",
     "derm face detail acquire rest.png frown.png --landmarks l.json --onto cast:woman -o map.png",
     "Slopes turn and scale with the texture's charts; the thesis warps the picture only.",
     noNumbers, drawAdaptation},
    {"fig. 5.5", "from a pose to wrinkles", kWrinkleMaps, "", noNumbers, drawOverview},
    {"fig. 5.6", "how far a point is on its way", kPoseSetup,
     "(5.9) needs the squared norm in its denominator; as printed it depends on the unit.",
     measureAlphas, nullptr},
    {"fig. 5.7", "masks", kPoseSetup,
     "(5.11) sums over the wrong index and exceeds 1; weighted by the skin's weights it stays in "
     "[0, 1] and is smooth. influence = \"printed\" is the literal form.",
     measureMasks57, drawMask57},
    {"fig. 5.8", "the modulation curve θ", kPoseSetup, "(5.12) is sin⁴(πx/2).", measureTheta,
     nullptr},
    {"fig. 5.9", "blending normal maps", "derm face detail bake look.toml --blend whiteout -o maps",
     "(5.14) is \"whiteout\" blending; its bars mean normalising. It steepens detail that agrees "
     "(0.6 + 0.6 becomes 1.40); adding slopes is exact for height fields.",
     measureBlends, drawBlends},
    {"fig. 5.10", "one brow", "derm render examples/recipes/one_brow.toml --time 1.5 -o brow.png",
     "", measureOneBrow, drawOneBrow},
    {"figs. 5.12–5.14", "two reference poses, six expressions", kWrinkleMaps,
     "Our maps are drawn by rule from the control points; the thesis's were photographed.",
     measureLines, drawWoman},
    {"fig. 5.15", "the same on another head", kWrinkleMaps, "", noNumbers, drawMan},
}};

}  // namespace

std::span<const ReproExhibit> wrinkleMapExhibits() { return kWrinkleMapExhibits; }

}  // namespace derm::detail::repro
