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

#include "derm/base/number_text.h"
#include "derm/deform/pose_character.h"
#include "derm/image/compose.h"
#include "derm/mesh/measures.h"
#include "derm/scene/volume_study.h"

#include "repro/documents.h"
#include "repro/elbow.h"
#include "repro/measuring.h"
#include "repro/tube.h"

/// "Skinning à volume constant", chapter 2: what linear skinning does to boxes and elbows.
namespace derm::detail::repro {
namespace {

constexpr std::string_view kBoxSetup =
    R"(# two boxes, a × b × c and b × a × c with a = 2, b = c = 1,
# the second as a morph target of the first (made by the report)
)";

Result<void> measureBoxes(ReproResult& r, Diagnostics&) {
  Character box;
  box.name = "box";
  MorphTarget other{.name = "other"};
  for (std::uint32_t v = 0; v < 8; ++v) {
    const float x = v & 1, y = v >> 1 & 1, z = v >> 2 & 1;
    box.mesh.positions.emplace_back(2 * x, y, z);
    other.vertices.push_back(v);
    other.positions.emplace_back(-x, y, 0.0f);
  }
  box.mesh.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                        {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  addDefaultParts(box);
  box.instances[0].morph_count = 1;
  box.morphs.push_back(std::move(other));
  PlotSeries curve{.name = "V(t)/V(0)"};
  for (int i = 0; i <= 20; ++i) {
    const double t = i / 20.0;
    Pose pose = box.restPose();
    pose.morph_weights[0] = static_cast<float>(t);
    DERM_TRY(const TriMesh posed, poseCharacter(box, pose, SkinningMethod::Linear));
    const double ratio = volume(posed.positions, posed.triangles) / 2;
    curve.x.push_back(t);
    curve.y.push_back(ratio);
    if (i == 0 || i == 5 || i == 10 || i == 20)
      r.numbers.push_back(near(
          unprinted("V/V₀ at t = " + shortNumber(t) + "; (a + (b−a)t)(b + (a−b)t)/ab", "", ratio),
          (2 - t) * (1 + t) / 2, 1e-6));
  }
  r.pictures.push_back({.caption = "The volume of what lies between two boxes of equal volume",
                        .plot = PlotDesc{.x = {.label = "t"},
                                         .y = {.label = "V / V₀"},
                                         .series = {curve},
                                         .width = 640,
                                         .height = 280}});
  return {};
}

/// Halves that follow one bone each, or all of it by the inverse square of distances to the ends.
double halfWeights(const Vec3d& p, std::size_t joint) {
  return joint == (p.z() < 10 ? 0u : 1u) ? 1.0 : 0.0;
}

double longestStretch(const Character& c, const std::vector<Vec3f>& posed) {
  double most = 0;
  for (const Triangle& t : c.mesh.triangles)
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t a = t[k], b = t[(k + 1) % 3];
      const double rest = double((c.mesh.positions[a] - c.mesh.positions[b]).norm());
      if (rest > 0) most = std::max(most, double((posed[a] - posed[b]).norm()) / rest);
    }
  return most;
}

Result<void> measureBlocks(ReproResult& r, Diagnostics&) {
  const Character linked = tube({}, halfWeights), smooth = tube({}, powerWeights(2));
  r.numbers.push_back(within(unprinted("longest stretch of an edge at 90°, halves linked", "",
                                       longestStretch(linked, bentTube(linked, 90))),
                             1.5, kNoEnd));
  r.numbers.push_back(within(
      unprinted("the same, smooth weights", "", longestStretch(smooth, bentTube(smooth, 90))), 1,
      1.5));
  return {};
}

/// The section in the middle of a bent tube: its least half width over R.
double middleSection(const Character& c, double angle) {
  const std::vector<Vec3f> posed = bentTube(c, angle);
  Vec3d middle = Vec3d::Zero();
  for (std::size_t s = 0; s < 25; ++s) middle += posed[12 * 25 + s].cast<double>() / 25;
  double least = 1e9;
  for (std::size_t s = 0; s < 25; ++s)
    least = std::min(least, (posed[12 * 25 + s].cast<double>() - middle).norm());
  return least;
}

Result<void> measureElbow(ReproResult& r, Diagnostics& notes) {
  const Character smooth = tube({}, powerWeights(2));
  for (const double angle : {45.0, 90.0})
    r.numbers.push_back(
        near(unprinted("section at the joint over R at " + degrees(angle) + "; cos(t/2)", "",
                       middleSection(smooth, angle)),
             std::cos(angle * std::numbers::pi / 360), 0.01));
  Recipe cat = defaultVolumeRecipe("cast:cat");
  cat.clip = std::string("jump");
  cat.fps = 15;
  cat.skinning = SkinningMethod::Linear;
  DERM_TRY(const VolumeStudy study, studyVolume(cat, {}, notes));
  const std::size_t worst = study.worstRegionBefore().value_or(0);
  r.numbers.push_back(within(unprinted("the cat's jump, linear: most that a part of it loses (" +
                                           study.region_names[worst] + ")",
                                       "%", 100 * study.region_loss_before[worst]),
                             3, 60));
  return {};
}

/// The two boxes and what lies half way between them.
Result<void> drawBoxes(ReproResult& r, Diagnostics& notes) {
  std::vector<Rgba8Image> images;
  for (const double t : {0.0, 0.5, 1.0}) {
    Character box;
    box.name = "box";
    for (std::uint32_t v = 0; v < 8; ++v) {
      const double x = v & 1, y = v >> 1 & 1, z = v >> 2 & 1;
      box.mesh.positions.push_back(Vec3d((2 - t) * x, (1 + t) * y, z).cast<float>());
    }
    box.mesh.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                          {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    addDefaultParts(box);
    DERM_TRY(Scene scene, sceneOf("character = \"cast:cylinder\"\n", notes,
                                  std::make_shared<const Character>(std::move(box))));
    Shot shot{.yaw_deg = 25, .pitch_deg = 20, .width = 300, .height = 260};
    shot.view.wireframe = true;
    shot.view.label = "t = " + shortNumber(t);
    DERM_TRY(Rgba8Image image, pictureOf(scene, shot, notes));
    images.push_back(std::move(image));
  }
  r.pictures.push_back(
      {.caption = "A box, half way, and the other box", .image = gridOf(images, 3, 4)});
  return {};
}

Result<void> drawBlocks(ReproResult& r, Diagnostics& notes) {
  Shot rigid = elbowShot(), smooth = elbowShot();
  rigid.view.label = "one bone per vertex";
  smooth.view.label = "smooth weights";
  return addPanels(
      r, "The bent cylinder: halves linked (2.8), and smooth weights (2.10, 2.12)",
      std::array{Panel{bareCylinder("rigid"), rigid}, Panel{bareCylinder("linear"), smooth}}, 2,
      notes);
}

Result<void> drawElbow(ReproResult& r, Diagnostics& notes) {
  Shot rigid = elbowShot();
  rigid.view.wireframe = false;
  rigid.view.comparison = Comparison::Ghost;
  DERM_CHECK(addPicture(r, "Two cylinders joined (blue) and smooth skinning (outline)",
                        bareCylinder("rigid"), rigid, notes));
  return addPicture(r, "The cat, linear skinning, as its foreleg folds",
                    "character = \"cast:cat\"\nclip = \"jump\"\n",
                    {.time_s = 0.9, .yaw_deg = 60, .pitch_deg = 10}, notes);
}

constexpr std::array<ReproExhibit, 3> kElbowExhibits = {{
    {"fig. 2.2", "interpolating two boxes does not keep their volume", kBoxSetup, "", measureBoxes,
     drawBoxes},
    {"figs. 2.7, 2.8", "blocks, and halves linked", kCylinderSetup, "", measureBlocks, drawBlocks},
    {"figs. 2.10–2.14", "smooth weights and the collapsing elbow", kCylinderSetup,
     "The report's game characters (2.9, 2.11) are pictures of others and are not redrawn.",
     measureElbow, drawElbow},
}};

}  // namespace

std::span<const ReproExhibit> elbowExhibits() { return kElbowExhibits; }

}  // namespace derm::detail::repro
