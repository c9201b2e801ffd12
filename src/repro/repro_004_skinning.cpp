#include <array>
#include <cmath>
#include <memory>
#include <numbers>

#include "derm/anim/clip.h"
#include "derm/base/number_text.h"
#include "derm/math/transform.h"
#include "derm/mesh/measures.h"

#include "repro/documents.h"
#include "repro/measuring.h"
#include "repro/tube.h"

/// Niceron, Loubeyre, Deddah: a cylinder with three joints, its clip, its skin; a character.
namespace derm::detail::repro {
namespace {

TubeDesc labTube() {
  return {.rings = 25, .sectors = 25, .length_m = 2, .radius_m = 0.5, .joints = {0, 1, 2}};
}

/// The first half follows joint 0, the second joint 1.
double labRigid(const Vec3d& p, std::size_t joint) {
  return joint == (p.z() < 1 ? 0u : 1u) ? 1.0 : 0.0;
}

/// Linear along the axis.
double labSmooth(const Vec3d& p, std::size_t joint) {
  return joint == 0 ? 1 - p.z() / 2 : joint == 1 ? p.z() / 2 : 0.0;
}

std::shared_ptr<const Character> labCharacter(const TubeWeights& weights) {
  Character out = tube(labTube(), weights);
  out.clips.push_back(bendingClip({0, 30, 60, 90}));
  return std::make_shared<const Character>(std::move(out));
}

std::vector<Affine3d> jointsAt(const Character& c, float time_s) {
  Pose pose = c.restPose();
  sampleClip(c.clips[0], time_s, pose);
  std::vector<Affine3d> model(c.skeleton.size());
  localToModel(c.skeleton, pose.local, model);
  return model;
}

constexpr std::string_view kLabRecipe =
    R"(# derm cast cylinder --rings 25 --sectors 25 --length 2 --radius 0.5 --weights axis -o lab.glb
# (--weights halves for one joint per point)
character = "lab.glb"
clip = "bend"
[skinning]
method = "linear"
)";

constexpr std::string_view kMonsterRecipe = "character = \"cast:cat\"\nclip = \"run\"\n";

Result<void> measureMesh(ReproResult& r, Diagnostics&) {
  const Character c = tube(labTube(), labSmooth);
  double worst = 0;
  for (std::size_t v = 0; v < 25 * 25; ++v) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(v % 25) / 25;
    const Vec3d wanted(0.5 * std::cos(angle), 0.5 * std::sin(angle),
                       2.0 * static_cast<double>(v / 25) / 24);
    worst = std::max(worst, (c.mesh.positions[v].cast<double>() - wanted).norm());
  }
  r.numbers.push_back(within(unprinted("points off the formula", "m", worst), 0, 1e-6));
  const double prism = 0.5 * 25 * std::sin(2 * std::numbers::pi / 25) * 0.25 * 2;
  r.numbers.push_back(near(unprinted("volume inside; ½ N_v sin(2π/N_v) R² L", "m³",
                                     volume(c.mesh.positions, c.mesh.triangles)),
                           prism, 1e-6));
  return {};
}

Result<void> drawTube(ReproResult& r, std::string caption, const TubeWeights& weights, Shot shot,
                      std::span<const double> times, Diagnostics& notes) {
  DERM_TRY(Scene scene, sceneOf(kLabRecipe, notes, labCharacter(weights)));
  shot.yaw_deg = 180;
  shot.pitch_deg = 78;
  for (const double time : times) {
    shot.time_s = time;
    DERM_TRY(Rgba8Image image, pictureOf(scene, shot, notes));
    r.pictures.push_back(
        {.caption = caption + ", t = " + shortNumber(time) + " s", .image = std::move(image)});
  }
  return {};
}

Result<void> drawMesh(ReproResult& r, Diagnostics& notes) {
  Shot shot{.width = 420, .height = 220};
  shot.view.wireframe = true;
  return drawTube(r, "the mesh of the cylinder", labSmooth, shot, std::array{0.0}, notes);
}

Result<void> measureSkeleton(ReproResult& r, Diagnostics&) {
  const auto c = labCharacter(labSmooth);
  const std::vector<Affine3d> model = restModelMatrices(c->skeleton);
  for (std::size_t j = 0; j < 3; ++j)
    r.numbers.push_back(near(printed("joint " + std::to_string(j) + ", z in the model", "m",
                                     static_cast<double>(j), 1e-6, model[j].translation().z()),
                             static_cast<double>(j), 1e-6));
  return {};
}

Result<void> drawSkeleton(ReproResult& r, Diagnostics& notes) {
  Shot shot{.width = 420, .height = 220};
  shot.view.skeleton = true;
  return drawTube(r, "the skeleton in its bind pose", labSmooth, shot, std::array{0.0}, notes);
}

Result<void> measureKeys(ReproResult& r, Diagnostics&) {
  const auto c = labCharacter(labSmooth);
  for (int key = 0; key < 4; ++key) {
    const double angle = 30 * key * std::numbers::pi / 180;
    const Vec3d at = jointsAt(*c, static_cast<float>(key))[2].translation();
    const std::string name = "joint 2 at " + std::to_string(30 * key) + "°, ";
    r.numbers.push_back(near(unprinted(name + "x", "m", at.x()), std::sin(angle), 1e-6));
    r.numbers.push_back(near(unprinted(name + "z", "m", at.z()), 1 + std::cos(angle), 1e-6));
  }
  return {};
}

Result<void> drawKeys(ReproResult& r, Diagnostics& notes) {
  Shot shot{.width = 300, .height = 220};
  shot.view.skeleton = true;
  return drawTube(r, "key poses of the skeleton", labSmooth, shot, std::array{0.0, 1.0, 2.0, 3.0},
                  notes);
}

Result<void> measureSkinning(ReproResult& r, Diagnostics&) {
  const auto smooth = labCharacter(labSmooth), rigid = labCharacter(labRigid);
  const auto relative = [](const Character& c, double degrees) {
    return volume(bentTube(c, degrees), c.mesh.triangles) /
           volume(c.mesh.positions, c.mesh.triangles);
  };
  // Ring 12 is at L/2, where both joints have one half.
  const std::size_t middle = 12 * 25;
  const std::array<Vec3d, 3> wanted = {Vec3d(0.466506, 0, 0.875), Vec3d(0.375, 0, 0.783494),
                                       Vec3d(0.25, 0, 0.75)};
  for (int key = 1; key <= 3; ++key) {
    const Vec3d at = bentTube(*smooth, 30 * key)[middle].cast<double>();
    const std::string name = "point (R, 0, L/2) at " + std::to_string(30 * key) + "°, ";
    r.numbers.push_back(
        near(unprinted(name + "x", "m", at.x()), wanted[std::size_t(key - 1)].x(), 1e-6));
    r.numbers.push_back(
        near(unprinted(name + "z", "m", at.z()), wanted[std::size_t(key - 1)].z(), 1e-6));
  }
  const double s2 = 0.5;  // sin² of half of 90°
  r.numbers.push_back(
      near(unprinted("V/V₀ at 90°, weights along the axis; 1 − sin²(t/2) (1/3 + 2/(3N²))", "",
                     relative(*smooth, 90)),
           1 - s2 * (1.0 / 3 + 2 / (3.0 * 24 * 24)), 2e-6));
  r.numbers.push_back(
      within(unprinted("V/V₀ at 90°, rigid weights", "", relative(*rigid, 90)), 0.9, 1.05));
  return {};
}

Result<void> drawSkinning(ReproResult& r, Diagnostics& notes) {
  Shot shot{.width = 380, .height = 280};
  shot.view.wireframe = true;
  DERM_CHECK(drawTube(r, "one joint per point", labRigid, shot, std::array{3.0}, notes));
  return drawTube(r, "weights along the axis", labSmooth, shot, std::array{3.0}, notes);
}

Result<void> measureInterpolation(ReproResult& r, Diagnostics&) {
  const auto c = labCharacter(labSmooth);
  const std::vector<Affine3d> half = jointsAt(*c, 0.5f);
  const double degrees =
      std::atan2(half[1].linear()(0, 2), half[1].linear()(0, 0)) * 180 / std::numbers::pi;
  r.numbers.push_back(near(unprinted("joint 1 half way from 0° to 30°", "°", degrees), 15, 1e-4));
  r.numbers.push_back(near(unprinted("length of the bone half way, local frames interpolated", "m",
                                     (half[2].translation() - half[1].translation()).norm()),
                           1, 1e-6));
  const Vec3d from = jointsAt(*c, 0)[2].translation(), to = jointsAt(*c, 1)[2].translation();
  const Vec3d literal = 0.5 * (from + to);
  r.numbers.push_back(
      near(unprinted("the same, global positions interpolated as the report's formula reads", "m",
                     (literal - half[1].translation()).norm()),
           std::cos(15 * std::numbers::pi / 180), 1e-6));
  return {};
}

Result<void> drawInterpolation(ReproResult& r, Diagnostics& notes) {
  Shot shot{.width = 300, .height = 220};
  shot.view.skeleton = true;
  return drawTube(r, "between the keys", labSmooth, shot, std::array{0.5, 1.5, 2.5}, notes);
}

Result<void> measureMonster(ReproResult& r, Diagnostics& notes) {
  DERM_TRY(Scene scene, sceneOf(kMonsterRecipe, notes));
  const Character& c = *scene.character();
  std::vector<Affine3d> model(c.skeleton.size());
  const Pose bind = c.bindPose();
  localToModel(c.skeleton, bind.local, model);
  std::vector<Affine3f> palette(c.skin.slots.size());
  skinningMatrices(c.skin, model, palette);
  double off = 0, sums = 0;
  for (const Affine3f& m : palette)
    off = std::max(off, double((m.matrix() - Affine3f::Identity().matrix()).norm()));
  for (std::size_t v = 0; v < c.skin.vertexCount(); ++v) {
    double sum = 0;
    for (const Influence& i : c.skin[v]) sum += double{i.weight};
    sums = std::max(sums, std::abs(sum - 1));
  }
  r.numbers.push_back(within(unprinted("S_j in the bind pose off the identity", "", off), 0, 1e-5));
  r.numbers.push_back(within(unprinted("weights of a vertex off the sum 1", "", sums), 0, 1e-5));
  return {};
}

Result<void> drawMonsterSkeleton(ReproResult& r, Diagnostics& notes) {
  Shot shot{.time_s = 0.2, .yaw_deg = 60};
  shot.view.skeleton = true;
  return addPicture(r, "the skeleton of a character (ours is a cat)", kMonsterRecipe, shot, notes);
}

Result<void> drawMonster(ReproResult& r, Diagnostics& notes) {
  return addStrip(r, "the skinned character", kMonsterRecipe,
                  {.yaw_deg = 60, .width = 960, .height = 300}, 5, notes);
}

constexpr std::array<ReproExhibit, 7> kSkinningExhibits = {{
    {"fig. 1", "the cylinder's mesh", kLabRecipe,
     "The report's angle 2π k_u/N_u around the cylinder must be 2π k_v/N_v: k_u counts rings.",
     measureMesh, drawMesh},
    {"fig. 2", "the cylinder's skeleton", kLabRecipe,
     "\"Quaternions set to 0\" is the identity (0, 0, 0, 1). The formula for joint 2 \"relative to "
     "joint 0\" is relative to its parent, joint 1.",
     measureSkeleton, drawSkeleton},
    {"fig. 3", "four key poses of the skeleton", kLabRecipe,
     "No numbers are printed; joint 2 moves on a circle about joint 1.", measureKeys, drawKeys},
    {"fig. 4", "the skinned cylinder", kLabRecipe,
     "The inverse of a frame is printed as q = q⁻¹, t = −q⁻¹ t; read q⁻¹ and t⁻¹ on the left. "
     "Half-way weights shrink the section by cos(t/2).",
     measureSkinning, drawSkinning},
    {"fig. 5", "keys interpolated", kLabRecipe,
     "Positions are to be interpolated in the parent's frame: between global ones a bone is cut "
     "short by cos of half the step.",
     measureInterpolation, drawInterpolation},
    {"fig. 6", "a character's skeleton", kMonsterRecipe,
     "The report's monster is a file we do not have: the cast's cat stands in.", measureMonster,
     drawMonsterSkeleton},
    {"fig. 7", "the skinned character", kMonsterRecipe, "", noNumbers, drawMonster},
}};

}  // namespace

ReproDocument skinningDocument() {
  return {"004", "skinning",
          "Niceron, Loubeyre, Deddah: Compte rendu TP Skinning (lab report on skinning)",
          kSkinningExhibits};
}

}  // namespace derm::detail::repro
