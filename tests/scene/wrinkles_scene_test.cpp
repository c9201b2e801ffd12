// Folds by recipe: keys, tools that join, bakes, normal maps, proposals.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "derm/base/hash.h"
#include "derm/base/rng.h"
#include "derm/cast/cast.h"
#include "derm/deform/flesh_auto.h"
#include "derm/deform/wrinkle_proposal.h"
#include "derm/io/character_file.h"
#include "derm/mesh/adjacency.h"
#include "derm/mesh/closedness.h"
#include "derm/mesh/weld.h"
#include "derm/scene/bake.h"
#include "derm/scene/flesh_recipe.h"
#include "derm/scene/normal_map.h"
#include "derm/scene/recipe.h"
#include "derm/scene/scene.h"
#include "derm/scene/wrinkle_recipe.h"

#include "deform/wrinkle_rig.h"

namespace derm::wrinkles_scene_test {
namespace {

using namespace testing_support;

const char* const kTool = R"([[layer]]
type = "wrinkles"
name = "folds"
from = [0.1, 0, 0]
to = [0.9, 0, 0]
width_m = 0.5
points = 9
h_max_m = 0.05
)";

std::string errorOf(const std::string& text) {
  const Result<Recipe> recipe = parseRecipe(text, "r.toml");
  if (!recipe) return recipe.error().text();
  Diagnostics notes;
  const auto character = std::make_shared<const Character>(squeezable(sheet(8)));
  const Result<Scene> scene = openScene(*recipe, {.character = character}, notes);
  return scene ? "no error" : scene.error().text();
}

std::string withKey(const std::string& line) { return std::string(kTool) + line + "\n"; }

Scene sceneOf(const std::string& text, TriMesh mesh = sheet(16), Diagnostics* notes = nullptr) {
  Diagnostics unused;
  const auto character = std::make_shared<const Character>(squeezable(std::move(mesh)));
  return openScene(parseRecipe(text, "r.toml").value(), {.character = character},
                   notes ? *notes : unused)
      .value();
}

/// The shipped trousers, whose knee closes over its folds.
Scene trousers(std::shared_ptr<const Character> character, double fps) {
  Diagnostics notes;
  Recipe recipe = loadRecipe(std::filesystem::path(DERM_EXAMPLE_RECIPES) / "trousers.toml").value();
  recipe.fps = fps;
  return openScene(recipe, {.character = std::move(character)}, notes).value();
}

std::shared_ptr<const Character> trousersMoved(float by_m) {
  Diagnostics notes;
  Character out = openCharacter("cast:trousers", {}, {}, notes).value();
  for (Vec3f& p : out.mesh.positions) {
    // By where it is, so that vertices at one place stay there.
    Hash64 hash;
    hash.add(p.x());
    hash.add(p.y());
    hash.add(p.z());
    Rng random(hash.value());
    for (Eigen::Index k = 0; k < 3; ++k) p[k] += by_m * static_cast<float>(random.uniform(-1, 1));
  }
  return std::make_shared<const Character>(std::move(out));
}

// The slivers of a crease are mostly rounding; what is asked of them must not decide heights.
// Browsers showed other folds than the program.
TEST(WrinklesScene, FoldsInAClosingCreaseMakeLittleOfRounding) {
  Scene one = trousers(trousersMoved(0), 30), other = trousers(trousersMoved(3e-8f), 30);
  for (std::size_t f = 0; f < one.frameTimes().size(); ++f) {
    const std::span<const Vec3f> a = one.frame(f).positions(), b = other.frame(f).positions();
    ASSERT_EQ(a.size(), b.size());
    float most = 0;
    for (std::size_t v = 0; v < a.size(); ++v) most = std::max(most, (a[v] - b[v]).norm());
    EXPECT_LT(most, 5e-7f) << "frame " << f;
  }
}

TEST(WrinklesScene, FoldsInAClosingCreaseDoNotJump) {
  Scene scene = trousers(trousersMoved(0), 480);
  const std::size_t unfolded = scene.character()->mesh.vertexCount();
  std::vector<Vec3f> last, before;
  float skin = 0, folds = 0;  // [m] the largest second difference
  for (std::size_t f = 0; f < scene.frameTimes().size(); ++f) {
    const std::span<const Vec3f> now = scene.frame(f).positions();
    for (std::size_t v = 0; f >= 2 && v < now.size(); ++v) {
      float& most = v < unfolded ? skin : folds;
      most = std::max(most, (now[v] - 2 * last[v] + before[v]).norm());
    }
    before = std::move(last);
    last.assign(now.begin(), now.end());
  }
  EXPECT_GT(folds, 0);
  EXPECT_LT(folds, 1.5f * skin);
}

// Recipes cut once less than the library, which showed as dashes on crests.
TEST(WrinklesScene, CutsAsOftenAsTheLibraryDoesByItself) {
  const auto triangles = [](const std::string& text) {
    Scene scene = sceneOf(text, sheet(4));
    return scene.frame(0).triangles().size();
  };
  const std::string library = "subdivide = " + std::to_string(WrinkleToolDesc{}.subdivide);
  EXPECT_EQ(triangles(kTool), triangles(withKey(library)));
  EXPECT_GT(triangles(kTool), triangles(withKey("subdivide = 2")));
}

// The paper's own forms, kept to show the difference.
TEST(WrinklesScene, LiteralFormsOfLengthAndProjectionDiffer) {
  const std::string text = R"(character = "cast:wrist"
clip = "flex"
fps = 10
[[layer]]
type = "wrinkles"
name = "crease"
from = [0.072, 0.027, 0.0]
to = [0.130, 0.019, 0.0]
width_m = 0.06
h_max_m = 0.006
)";
  const auto wrist = std::make_shared<const Character>(makeCastMember("wrist").value());
  struct Played {
    std::vector<Vec3f> straight, folded;
    WrinkleToolState state;
  };
  const auto play = [&](const std::string& key) {
    Diagnostics notes;
    Scene scene =
        openScene(parseRecipe(text + key, "r.toml").value(), {.character = wrist}, notes).value();
    Played out;
    const auto straight = scene.playback().frameAt(0.0).positions();
    out.straight.assign(straight.begin(), straight.end());
    const auto folded = scene.playback().frameAt(2.8).positions();
    out.folded.assign(folded.begin(), folded.end());
    out.state = scene.playback().find<WrinklesLayer>("crease")->tool(0);
    for (const Vec3f& p : out.folded) EXPECT_TRUE(p.allFinite());
    return out;
  };
  const Played ours = play(""), chord = play("length = \"chord\"\n"),
               moved = play("projection = \"moved\"\n");
  EXPECT_EQ(ours.straight, chord.straight);
  EXPECT_EQ(ours.straight, moved.straight);
  EXPECT_NE(ours.folded, chord.folded);
  EXPECT_NE(ours.folded, moved.folded);
  // A closing crease brings A and B together: the line between them claims more than the skin lost.
  EXPECT_GT(chord.state.fold.spare, ours.state.fold.spare);
}

// A tube that begins to bend in its middle, under a stroke that is longer than the bend: which
// bumps rise tells the strategies apart.
TEST(WrinklesScene, StrategiesRaiseDifferentBumps) {
  const auto tube = std::make_shared<const Character>(makeCastMember("cylinder").value());
  const auto positions = [&](const std::string& key) {
    const std::string text = R"(character = "cast:cylinder"
clip = "bend"
[[layer]]
type = "wrinkles"
name = "folds"
from = [1.0, 0.0, 4.0]
to = [1.0, 0.0, 16.0]
width_m = 2.0
points = 13
spacing = 0
profile = "round"
)";
    Diagnostics notes;
    Scene scene =
        openScene(parseRecipe(text + key, "r.toml").value(), {.character = tube}, notes).value();
    const auto at = scene.playback().frameAt(1.1).positions();
    return std::vector<Vec3f>(at.begin(), at.end());
  };
  const std::vector<Vec3f> flat = positions("h_max_m = 1e-6\nsaturation = \"clamp\"\n");
  // How far each of the six bumps, 2 m of skin each, moves a vertex of the tube. [m], from A on.
  const auto bumps = [&](const std::string& strategy) {
    const std::vector<Vec3f> folded = positions("h_max_m = 0.3\nstrategy = \"" + strategy + "\"\n");
    std::array<double, 6> out{};
    for (std::size_t v = 0; v < tube->mesh.vertexCount(); ++v) {
      const Vec3f& rest = tube->mesh.positions[v];
      const int bump = static_cast<int>(std::floor((rest.z() - 4) / 2));
      if (bump < 0 || bump > 5) continue;
      double& most = out[static_cast<std::size_t>(bump)];
      most = std::max(most, static_cast<double>((folded[v] - flat[v]).norm()));
    }
    return out;
  };
  const std::array<double, 6> from_a = bumps("from-a"), symmetric = bumps("symmetric"),
                              together = bumps("simultaneous"), squeezed = bumps("squeezed");
  EXPECT_GT(from_a[0], 0.1);
  EXPECT_LT(from_a[5], 1e-4);
  EXPECT_GT(symmetric[0], 0.1);
  EXPECT_GT(symmetric[5], 0.1);
  EXPECT_LT(symmetric[2], 0.5 * symmetric[0]);
  for (const double height : together) EXPECT_GT(height, 0.05);
  EXPECT_GT(squeezed[2], 1.2 * squeezed[0]);
  EXPECT_GT(squeezed[3], 1.2 * squeezed[5]);
}

TEST(WrinklesScene, EveryKeyOfTheLayerIsReadAndWrittenBack) {
  const std::string text = withKey(R"(strategy = "from-a"
spacing = 2
crest = 2
levels = [0.75, 0.25]
fine_h_max_m = [0.01]
saturation = "clamp"
soft_start = 0.01
falloff = "linear"
subdivide = 1
rest_length_m = 0.9
define_clip = "squeeze"
define_at_s = 0.25)");
  EXPECT_EQ(errorOf(text), "no error");
  const Recipe recipe = parseRecipe(text, "r.toml").value();
  EXPECT_EQ(parseRecipe(writeRecipe(recipe), "again.toml").value(), recipe);
}

TEST(WrinklesScene, BadKeysAreNamedWithTheirLocation) {
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_PRED2(has, errorOf(withKey("levels = [0.5, 0.4]")), "sum to 1");
  EXPECT_PRED2(has, errorOf(withKey("levels = [0.5, 0.4]")), "r.toml:9");
  EXPECT_PRED2(has, errorOf(withKey("path = [0, 0, 0, 1, 0, 0]")), "beside from or to");
  EXPECT_PRED2(has, errorOf(withKey("rest_length_m = 0")), "rest_length_m");
  EXPECT_PRED2(has, errorOf(withKey("rest_length_keys = [0, 1, 2]")), "a length per time");
  EXPECT_PRED2(has, errorOf(withKey("rest_length_keys = [0, 1, 0, 2]")), "ascend");
  EXPECT_PRED2(has, errorOf(withKey("rest_length_keys = [0, -1]")), "above 0");
  EXPECT_PRED2(has, errorOf(withKey("strategy = \"sideways\"")), "strategy");
  EXPECT_PRED2(has, errorOf(withKey("fine_h_max_m = [0.1]")), "fine_h_max_m");
  EXPECT_PRED2(has, errorOf(withKey("from_vertex = 70000")), "no vertex 70000");
  EXPECT_PRED2(has, errorOf("[[layer]]\ntype = \"wrinkles\"\nfrom = [0, 0, 0]\n"), "to: missing");
  EXPECT_PRED2(has, errorOf("[[layer]]\ntype = \"wrinkles\"\nfrom = [0, 0]\nto = [1, 0, 0]\n"),
               "three numbers");
  EXPECT_PRED2(has, errorOf("[[layer]]\ntype = \"wrinkles\"\n"), "has 0");
  std::string text = kTool;
  text.replace(text.find("width_m = 0.5"), 13, "width_m = 0.0");
  EXPECT_PRED2(has, errorOf(text), "width_m: must be above 0");
  text = kTool;
  text.replace(text.find("h_max_m = 0.05"), 14, "h_max_m = 0");
  EXPECT_PRED2(has, errorOf(text), "h_max_m: must be above 0");
  text = kTool;
  text.replace(text.find("to = [0.9"), 9, "to = [0.1");
  EXPECT_PRED2(has, errorOf(text), "A and B must differ");
  EXPECT_PRED2(has, errorOf(text), "r.toml:1") << "the layer's own line";
}

TEST(WrinklesScene, ToolsInARowAreOneLayer) {
  std::string second = kTool;
  second.replace(second.find("\"folds\""), 7, "\"more\"");
  const Scene scene = sceneOf(std::string(kTool) + second);
  ASSERT_EQ(scene.stack().layers().size(), 3u);
  EXPECT_EQ(scene.stack().layers()[2]->name(), "folds + more");
  const Scene one = sceneOf(kTool);
  EXPECT_EQ(scene.stack().output().rest.triangles.size(),
            one.stack().output().rest.triangles.size())
      << "cut once";
  const Scene off = sceneOf(std::string(kTool) + second + "enabled = false\n");
  EXPECT_EQ(off.stack().layers()[2]->name(), "folds");
}

TEST(WrinklesScene, ABakeHasTheFinestTrianglesInEveryFrame) {
  Scene scene = sceneOf("fps = 8\n" + std::string(kTool));
  const std::size_t finest = scene.stack().output().rest.triangles.size();
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "derm-folds-bake.glb";
  Diagnostics notes;
  BakeDesc desc;
  desc.recipe = scene.recipe();
  desc.scene.character = scene.character();
  desc.output = file;
  const Result<BakeReport> report = bake(desc, notes);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->triangles, finest);
  EXPECT_EQ(report->frame_count, 9u);
  EXPECT_GT(report->frames.back().max_displacement_m, 0.02);
  EXPECT_EQ(report->frames.front().max_displacement_m, 0);
  EXPECT_GT(notes.count("wrinkles-saturated"), 0u) << "what the layers met is in the report";
  const Result<Character> read = loadCharacter(file, {}, notes);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->mesh.triangles.size(), finest);
  EXPECT_EQ(read->morphs.size(), 8u);
  std::filesystem::remove(file);
}

TEST(WrinklesScene, LabelledPointsStayWhereTheyAreOnTheFinerMeshOfABake) {
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "points-test.glb";
  Character c = squeezable(sheet(16));
  const auto count = static_cast<std::uint32_t>(c.mesh.triangles.size());
  for (const std::uint32_t t : {count / 2, count / 3, 0u})
    c.points.push_back({"p" + std::to_string(t), {t, Vec3f(0.2f, 0.3f, 0.5f)}});
  const auto character = std::make_shared<const Character>(std::move(c));
  Diagnostics notes;
  BakeDesc desc;
  desc.recipe = parseRecipe("fps = 8\n" + std::string(kTool), "r.toml").value();
  desc.scene.character = character;
  desc.output = file;
  const Result<BakeReport> report = bake(desc, notes);
  ASSERT_TRUE(report) << report.error().text();
  ASSERT_GT(report->triangles, count);
  const Result<Character> fine = loadCharacter(file, {}, notes);
  ASSERT_TRUE(fine) << fine.error().text();
  ASSERT_EQ(fine->points.size(), 3u);
  // The first frame is the rest pose, a flat sheet.
  for (const LabelledPoint& p : character->points) {
    ASSERT_NE(fine->findPoint(p.label), nullptr);
    EXPECT_LT((positionAt(*fine->findPoint(p.label), fine->mesh.triangles, fine->mesh.positions) -
               positionAt(p.point, character->mesh.triangles, character->mesh.positions))
                  .norm(),
              1e-5f);
  }
  std::filesystem::remove(file);
}

TriMesh sheetWithUvs(int n) {
  TriMesh mesh = sheet(n);
  for (const Vec3f& p : mesh.positions) mesh.uvs.push_back(Vec2f(p.x(), p.z() + 0.5f));
  return mesh;
}

TEST(WrinklesScene, ANormalMapShowsTheSlopesOfTheFolds) {
  Scene scene = sceneOf(kTool, sheetWithUvs(20));
  Diagnostics notes;
  const NormalMapDesc desc{.width = 128, .height = 128};
  const Rgba8Image flat = foldNormalMap(scene, 0, desc, notes).value();
  for (const Rgba8& p : flat.pixels) ASSERT_EQ(p, (Rgba8{128, 128, 255, 255}));
  const Rgba8Image folded = foldNormalMap(scene, 0.4, desc, notes).value();
  // The first bump rises from x = 0.1 to 0.2 and falls to 0.3: normals lean back, then forward.
  const auto red = [&](double u) { return int(folded.at(int(u * 128), 64).r); };
  EXPECT_LT(red(0.15), 108);
  EXPECT_GT(red(0.25), 148);
  EXPECT_EQ(folded.at(2, 2), (Rgba8{128, 128, 255, 255}));
  NormalMapDesc down = desc;
  down.y_up = false;
  const Rgba8Image other = foldNormalMap(scene, 0.4, down, notes).value();
  for (std::size_t i = 0; i < folded.pixels.size(); ++i) {
    ASSERT_EQ(other.pixels[i].r, folded.pixels[i].r);
    ASSERT_NEAR(int(other.pixels[i].g) + int(folded.pixels[i].g), 255, 1);
  }
}

TEST(WrinklesScene, ANormalMapIsTheSameToTheByte) {
  TriMesh mesh = sheetWithUvs(20);
  // Charts with rims inside the square, and one that leaves it.
  for (Vec2f& uv : mesh.uvs) uv = Vec2f(0.1f + 0.7f * uv.x(), 0.35f + 0.8f * uv.y());
  Scene scene = sceneOf(kTool, mesh);
  Diagnostics notes;
  const Rgba8Image map =
      foldNormalMap(scene, 0.4, {.width = 150, .height = 130, .padding = 5}, notes).value();
  EXPECT_EQ(notes.count("uv-outside-map"), 1u);
  Hash64 hash;
  hash.addSpan(std::span<const Rgba8>(map.pixels));
  EXPECT_EQ(hash.value(), 6510694690169270535u);  // changes with the folds' mesh, too
}

TEST(WrinklesScene, ANormalMapIsOfTheSquareThatChartsLieIn) {
  TriMesh beside = sheetWithUvs(20);
  for (Vec2f& uv : beside.uvs) uv = 0.75f * uv + Vec2f(2.125f, -0.875f);
  Scene scene = sceneOf(kTool, beside);
  Diagnostics notes;
  const Rgba8Image map = foldNormalMap(scene, 0.4, {.width = 128, .height = 128}, notes).value();
  EXPECT_EQ(notes.count("uv-outside-map"), 0u);
  const auto red = [&](double u) { return int(map.at(int((0.125 + 0.75 * u) * 128), 64).r); };
  EXPECT_LT(red(0.15), 108);
  EXPECT_GT(red(0.25), 148);
}

TEST(WrinklesScene, ANormalMapNeedsTextureCoordinates) {
  Scene scene = sceneOf(kTool);
  Diagnostics notes;
  const auto map = foldNormalMap(scene, 0, {}, notes);
  ASSERT_FALSE(map);
  EXPECT_NE(map.error().text().find("no texture coordinates"), std::string::npos);
  EXPECT_FALSE(foldNormalMap(scene, 0, {.width = 0}, notes));
}

TEST(WrinklesScene, ProposalsFindWhereAndHowSkinIsSqueezed) {
  // Squeezed along x only between x = 0.4 and 0.6.
  Character c = squeezable(sheet(30));
  SkinBuilder builder(c.skin.slots, c.mesh.vertexCount());
  Diagnostics notes;
  std::vector<Influence> row;
  for (const Vec3f& p : c.mesh.positions) {
    const float u = std::clamp((p.x() - 0.4f) / 0.2f, 0.0f, 1.0f);
    row = {{0, 1 - u}, {1, u}};
    builder.addVertex(row, 0, "sheet", notes);
  }
  c.skin = std::move(builder).finish();
  c.clips[0].tracks[0].values[3] = 0.9f;
  const auto found = proposeWrinkles(c, c.clips[0], {});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 1u);
  const WrinkleProposal& p = found->front();
  const Vec3d a = p.tool.path[0].position, b = p.tool.path[1].position;
  EXPECT_NEAR((a.x() + b.x()) / 2, 0.5, 0.03);
  EXPECT_NEAR(std::abs(a.x() - b.x()), 0.2, 0.06);
  EXPECT_NEAR(a.z(), b.z(), 0.04) << "along the squeeze";
  EXPECT_NEAR(p.tool.width_m, 1, 0.1);
  EXPECT_GT(p.squeeze, 0.3);
  EXPECT_NEAR(p.time_s, 1, 1e-6);
  Diagnostics bound;
  EXPECT_TRUE(Stack::bind(std::make_shared<const Character>(c), withTools({p.tool}), bound));
}

/// A sheet that its second slot squeezes along x between two places.
Character squeezedBetween(float from, float to) {
  Character c = squeezable(sheet(30));
  SkinBuilder builder(c.skin.slots, c.mesh.vertexCount());
  Diagnostics notes;
  std::vector<Influence> row;
  for (const Vec3f& p : c.mesh.positions) {
    const float u = std::clamp((p.x() - from) / (to - from), 0.0f, 1.0f);
    row = {{0, 1 - u}, {1, u}};
    builder.addVertex(row, 0, "sheet", notes);
  }
  c.skin = std::move(builder).finish();
  c.clips[0].tracks[0].values[3] = 0.9f;
  return c;
}

TEST(WrinklesScene, ProposalsComeInMirroredPairs) {
  const Character c = squeezedBetween(0.1f, 0.3f);
  const auto found = proposeWrinkles(c, c.clips[0], {});
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_EQ(found->size(), 2u) << "one where the clip squeezes, one on the other side";
  const auto middle = [](const WrinkleProposal& p) {
    return Vec3d((p.tool.path[0].position + p.tool.path[1].position) / 2);
  };
  EXPECT_NEAR(middle((*found)[0]).x(), 0.2, 0.03);
  EXPECT_NEAR(middle((*found)[1]).x(), 0.8, 0.03);
  EXPECT_NEAR(middle((*found)[0]).z(), middle((*found)[1]).z(), 0.04);
  EXPECT_EQ((*found)[0].tool.curve.points, (*found)[1].tool.curve.points);
  EXPECT_GT((*found)[0].squeeze, 0.3);
  EXPECT_NEAR((*found)[1].squeeze, 0, 0.01);
}

TEST(WrinklesScene, ProposalsDoNotGoFromLimbToLimb) {
  Character c = squeezedBetween(0.4f, 0.6f);
  ASSERT_EQ(proposeWrinkles(c, c.clips[0], {})->size(), 1u);
  // The same two joints as limbs of one body.
  c.skeleton.joints.insert(c.skeleton.joints.begin(), Joint{.name = "body"});
  for (std::size_t j = 1; j < 3; ++j) c.skeleton.joints[j].parent = JointId(0);
  for (SkinSlot& slot : c.skin.slots) slot.joint = JointId(slot.joint.index() + 1);
  c.clips[0].tracks[0].joint = JointId(2);
  const auto found = proposeWrinkles(c, c.clips[0], {});
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_TRUE(found->empty());
}

TEST(WrinklesScene, ProposalsStayOnOnePieceWhereClothLiesOverSkin) {
  TriMesh both = sheet(20);
  const TriMesh cloth = sheet(23);
  const auto first = static_cast<std::uint32_t>(both.vertexCount());
  for (const Vec3f& p : cloth.positions) both.positions.push_back(p + Vec3f(0, 0.003f, 0));
  for (const Triangle& t : cloth.triangles)
    both.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
  both.normals.assign(both.vertexCount(), Vec3f(0, 1, 0));
  const Character c = squeezable(both);
  const auto found = proposeWrinkles(c, c.clips[0], {});
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_EQ(found->size(), 2u) << "the skin and the cloth";
  Diagnostics notes;
  for (const WrinkleProposal& p : *found)
    EXPECT_TRUE(Stack::bind(std::make_shared<const Character>(c), withTools({p.tool}), notes));
}

TEST(WrinklesScene, ProposalsSeeWhatMorphTargetsSqueeze) {
  Character c = squeezable(sheet(30));
  MorphTarget frown{.name = "frown"};
  for (std::uint32_t v = 0; v < c.mesh.vertexCount(); ++v) {
    const float from_middle = c.mesh.positions[v].x() - 0.5f;
    frown.vertices.push_back(v);  // half of what lies between 0.4 and 0.6 is gone
    frown.positions.push_back(Vec3f(-0.5f * std::clamp(from_middle, -0.1f, 0.1f), 0, 0));
  }
  c.morphs.push_back(frown);
  c.instances[0].morph_count = 1;
  c.clips = {{"face",
              {{.channel = Channel::MorphWeights,
                .morph_count = 1,
                .times_s = {0, 1},
                .values = {0, 1}}}}};
  const auto found = proposeWrinkles(c, c.clips[0], {});
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_EQ(found->size(), 1u);
  const WrinkleProposal& p = found->front();
  EXPECT_NEAR((p.tool.path[0].position.x() + p.tool.path[1].position.x()) / 2, 0.5, 0.03);
  EXPECT_NEAR(p.squeeze, 0.5, 0.15);
}

TEST(WrinklesScene, ProposalsAskForASkinAndForSqueezedSkin) {
  Character c = squeezable(sheet(10));
  EXPECT_FALSE(proposeWrinkles(c, c.clips[0], {.min_squeeze = 0}));
  EXPECT_FALSE(proposeWrinkles(c, c.clips[0], {.max_tools = 0}));
  c.clips[0].tracks[0].values[3] = 1.2f;  // only stretched
  EXPECT_TRUE(proposeWrinkles(c, c.clips[0], {})->empty());
  c.skin = {};
  EXPECT_FALSE(proposeWrinkles(c, c.clips[0], {}));
}

/// Vertices under the middle of a tool's rectangle, on its side of the skin.
std::vector<bool> coveredBy(const WrinkleToolDesc& tool, const Character& c) {
  const Vec3d a = tool.path[0].position, b = tool.path[1].position;
  const Vec3d along = (b - a).normalized();
  std::size_t nearest = 0;
  for (std::size_t v = 0; v < c.mesh.vertexCount(); ++v)
    if ((c.mesh.positions[v].cast<double>() - (a + b) / 2).norm() <
        (c.mesh.positions[nearest].cast<double>() - (a + b) / 2).norm())
      nearest = v;
  const Vec3d up = c.mesh.normals[nearest].cast<double>();
  const Vec3d across = along.cross(up).normalized();
  std::vector<bool> out;
  for (std::size_t v = 0; v < c.mesh.vertexCount(); ++v) {
    const Vec3d d = c.mesh.positions[v].cast<double>() - (a + b) / 2;
    out.push_back(std::abs(d.dot(along)) < 0.4 * (b - a).norm() &&
                  std::abs(d.dot(across)) < 0.4 * tool.width_m &&
                  std::abs(d.dot(up)) < 0.5 * (b - a).norm() &&
                  c.mesh.normals[v].cast<double>().dot(up) > 0.3);
  }
  return out;
}

TEST(WrinklesScene, ProposalsDoNotLieOverEachOther) {
  for (const CastMember& member : castMembers()) {
    const Character c = makeCastMember(member.name).value();
    for (const Clip& clip : c.clips) {
      const auto found = proposeWrinkles(c, clip, {.min_squeeze = 0.15, .samples_per_s = 10});
      ASSERT_TRUE(found);
      std::vector<std::vector<bool>> covered;
      for (const WrinkleProposal& p : *found) covered.push_back(coveredBy(p.tool, c));
      for (std::size_t i = 0; i < covered.size(); ++i)
        for (std::size_t k = 0; k < i; ++k) {
          std::size_t of_i = 0, of_k = 0, both = 0;
          for (std::size_t v = 0; v < c.mesh.vertexCount(); ++v) {
            of_i += covered[i][v];
            of_k += covered[k][v];
            both += covered[i][v] && covered[k][v];
          }
          EXPECT_LE(both, 0.3 * static_cast<double>(std::min(of_i, of_k)) + 1)
              << member.name << " " << clip.name << ": " << (*found)[i].tool.name << ", "
              << (*found)[k].tool.name;
        }
    }
  }
}

TEST(WrinklesScene, ProposedFleshAndFoldsMakeOneRecipeThatHasNothingToComplainAbout) {
  for (const CastMember& member : castMembers()) {
    const auto c = std::make_shared<const Character>(makeCastMember(member.name).value());
    if (c->skin.empty()) continue;  // a shape for morphing has no bones
    Diagnostics notes;
    const std::vector<FleshProposal> flesh = proposeFlesh(*c, notes).value();
    for (const Clip& clip : c->clips) {
      SCOPED_TRACE(std::string(member.name) + " " + clip.name);
      Recipe recipe{.character = "cast:" + std::string(member.name), .clip = clip.name};
      for (const FleshProposal& p : flesh)
        recipe.layers.push_back(fleshRecipeLayer(p.desc, c->skeleton));
      const auto folds = proposeWrinkles(*c, clip, {.samples_per_s = 10});
      for (const WrinkleProposal& p : *folds) recipe.layers.push_back(wrinkleRecipeLayer(p.tool));
      const Recipe read = parseRecipe(writeRecipe(recipe), "auto.toml").value();
      Diagnostics opened;
      const auto scene = openScene(read, {.character = c}, opened);
      ASSERT_TRUE(scene) << scene.error().text();
      for (const auto& note : opened.notes())
        EXPECT_NE(note.kind, "wrinkles-too-fine") << note.text();
    }
  }
}

}  // namespace
}  // namespace derm::wrinkles_scene_test
