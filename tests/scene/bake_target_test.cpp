// What correctives are written onto: refined skins, pruned weights, several clips, chained bakes.
#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "derm/deform/basic_layers.h"
#include "derm/io/character_file.h"
#include "derm/mesh/measures.h"
#include "derm/mesh/weld.h"
#include "derm/scene/bake.h"
#include "derm/scene/volume_study.h"

#include "deform/wrinkle_rig.h"
#include "support/compare.h"
#include "support/posed.h"
#include "support/test_folder.h"
#include "support/test_layer_types.h"
#include "support/unpacked.h"

namespace derm {
namespace {

namespace fs = std::filesystem;
using testing_support::poseAt;
using testing_support::riggedTube;
using testing_support::sheet;
using testing_support::squeezable;
using testing_support::stackOf;
using testing_support::testLayerTypes;

constexpr std::string_view kBump = "fps = 12\n[[layer]]\ntype = \"bump\"\n";

class BakeTargetTest : public testing_support::FolderTest {
 protected:
  BakeDesc describe(std::string_view recipe, std::shared_ptr<const Character> character) const {
    BakeDesc out{.recipe = parseRecipe(recipe, "r.toml", testLayerTypes()).value(),
                 .scene = {.character = std::move(character), .types = &testLayerTypes()},
                 .output = folder_ / "out.glb"};
    out.as = BakeAs::Correctives;
    return out;
  }
  BakeReport baked(const BakeDesc& desc) {
    const Result<BakeReport> report = bake(desc, notes_);
    EXPECT_TRUE(report.ok()) << report.error().text();
    return report.ok() ? *report : BakeReport();
  }
  std::string errorOf(const BakeDesc& desc) {
    const Result<BakeReport> report = bake(desc, notes_);
    return report.ok() ? "no error" : report.error().message;
  }
  std::shared_ptr<const Character> loaded(const fs::path& file) {
    Result<Character> character = loadCharacter(file, {}, notes_);
    EXPECT_TRUE(character.ok()) << character.error().text();
    return std::make_shared<const Character>(character.ok() ? *std::move(character) : Character());
  }

  /// Largest distance between what an engine that reads so many influences shows of a file and the
  /// scene, at so many instants per frame. Vertices of the scene's surface that the file has
  /// elsewhere are found by what they are at rest.
  double playedError(const BakeDesc& desc, std::string_view clip_name, int per_frame,
                     std::size_t influences = 99) {
    Character file = *loaded(desc.output);
    file.skin = pruned(file.skin, influences);
    const auto played = std::make_shared<const Character>(std::move(file));
    StackRunner runner(stackOf(played, {morphLayer(), skinningLayer({})}));
    Recipe recipe = desc.recipe;
    if (!clip_name.empty()) recipe.clip = std::string(clip_name);
    Scene scene = openScene(recipe, desc.scene, notes_).value();
    const std::vector<std::uint32_t> order = matched(played->mesh, scene.stack().output().rest);
    const Clip& clip = clip_name.empty() ? played->clips.front()
                                         : played->clips[played->findClip(clip_name).value()];
    const std::size_t count = scene.frameTimes().size();
    double largest = 0;
    for (std::size_t i = 0; i <= (count - 1) * std::size_t(per_frame); ++i) {
      const double t = scene.frameTimes()[0] + double(i) / (scene.recipe().fps * per_frame);
      const auto want = scene.playback().frameAt(t).positions();
      runner.setPose(poseAt(*played, clip, t), t);
      const auto shown = runner.evaluate().positions();
      for (std::size_t v = 0; v < shown.size(); ++v)
        largest = std::max<double>(largest, Vec3f(shown[v] - want[order[v]]).norm());
    }
    return largest;
  }

  /// Per vertex of a file one of the surface with the same position, normal and uv at rest.
  static std::vector<std::uint32_t> matched(const TriMesh& file, const TriMesh& surface) {
    std::vector<std::uint32_t> out;
    if (file.vertexCount() == surface.vertexCount()) {
      bool same = true;
      for (std::size_t v = 0; v < file.vertexCount() && same; ++v)
        same = Vec3f(file.positions[v] - surface.positions[v]).norm() < 1e-5f;
      for (std::uint32_t v = 0; same && v < file.vertexCount(); ++v) out.push_back(v);
      if (same) return out;
    }
    for (std::size_t v = 0; v < file.vertexCount(); ++v) {
      std::uint32_t best = 0;
      float nearest = 1e9f;
      for (std::uint32_t s = 0; s < surface.vertexCount(); ++s) {
        float off = Vec3f(file.positions[v] - surface.positions[s]).norm();
        if (!file.normals.empty()) off += 0.1f * Vec3f(file.normals[v] - surface.normals[s]).norm();
        if (!file.uvs.empty()) off += 0.1f * Vec2f(file.uvs[v] - surface.uvs[s]).norm();
        if (off >= nearest) continue;
        nearest = off;
        best = s;
      }
      out.push_back(best);
    }
    return out;
  }

  Diagnostics notes_;
};

std::set<std::string> morphNames(const Character& character) {
  std::set<std::string> out;
  for (const MorphTarget& m : character.morphs) out.insert(m.name);
  return out;
}

TEST_F(BakeTargetTest, FoldsTravelOnARefinedSkinThatKeepsSkeletonAndWeights) {
  BakeDesc desc;
  desc.recipe = loadRecipe(fs::path(DERM_EXAMPLE_RECIPES) / "wrist.toml").value();
  desc.output = folder_ / "wrist.glb";
  desc.as = BakeAs::Correctives;
  desc.correctives.error_m = 0.0005;
  const BakeReport report = baked(desc);
  ASSERT_TRUE(report.correctives);
  EXPECT_LE(report.correctives->max_error_m, 0.0005);
  EXPECT_LE(report.correctives->max_error_between_m, 0.0005);
  Scene scene = openScene(desc.recipe, {}, notes_).value();
  const Character& own = *scene.character();
  const auto out = loaded(desc.output);
  ASSERT_TRUE(validate(*out).ok());
  EXPECT_GT(out->mesh.vertexCount(), own.mesh.vertexCount());
  EXPECT_EQ(out->mesh.vertexCount(), scene.stack().output().rest.vertexCount());
  EXPECT_EQ(out->mesh.triangles.size(), scene.stack().output().rest.triangles.size());
  EXPECT_EQ(out->skeleton.joints.size(), own.skeleton.joints.size());
  EXPECT_EQ(out->clips.size(), own.clips.size());
  EXPECT_EQ(out->materials.size(), own.materials.size());
  EXPECT_LE(out->skin.maxInfluences(), std::max<std::size_t>(4, own.skin.maxInfluences()));
  for (std::size_t v = 0; v < own.mesh.vertexCount(); ++v)
    ASSERT_EQ(out->skin[v].size(), own.skin[v].size()) << "the character's own weights stay";
  EXPECT_LE(playedError(desc, "flex", 7), 0.0005 + 1e-6);
}

/// Two sheets over each other, each a mesh of its own; a tool reaches the upper one, the first.
Character twoSheets() {
  Character c = squeezable(sheet(12));
  const auto n = static_cast<std::uint32_t>(c.mesh.vertexCount());
  const auto triangles = static_cast<std::uint32_t>(c.mesh.triangles.size());
  for (std::uint32_t v = 0; v < n; ++v) {
    c.mesh.positions.push_back(c.mesh.positions[v] - Vec3f(0, 1, 0));
    c.mesh.normals.push_back(c.mesh.normals[v]);
    const std::vector<Influence> row(c.skin[v].begin(), c.skin[v].end());
    c.skin.influences.insert(c.skin.influences.end(), row.begin(), row.end());
    c.skin.offsets.push_back(static_cast<std::uint32_t>(c.skin.influences.size()));
  }
  for (std::uint32_t t = 0; t < triangles; ++t) {
    const Triangle& upper = c.mesh.triangles[t];
    c.mesh.triangles.push_back({upper[0] + n, upper[1] + n, upper[2] + n});
  }
  c.parts.push_back({.name = "lower",
                     .first_triangle = triangles,
                     .triangle_count = triangles,
                     .first_vertex = n,
                     .vertex_count = n});
  c.instances.push_back({.name = "lower",
                         .joint = c.instances[0].joint,
                         .first_part = 1,
                         .part_count = 1,
                         .first_vertex = n,
                         .vertex_count = n,
                         .first_morph = 1});
  MorphTarget lift{.name = "lift", .default_weight = 0.5f};
  for (std::uint32_t v = 0; v < n; ++v) {
    lift.vertices.push_back(v);
    lift.positions.push_back(Vec3f(0, 0.2f * c.mesh.positions[v].x(), 0));
  }
  c.morphs = {lift};
  c.instances[0].morph_count = 1;
  c.mesh.groups = {{.name = "lower half", .vertices = {n, n + 1}, .strengths = {0.25f, 1.0f}}};
  return c;
}

TEST_F(BakeTargetTest, RefinedInstancesKeepTheirVerticesTogetherAndTheirMorphs) {
  const Character c = twoSheets();
  ASSERT_TRUE(validate(c).ok()) << validate(c).error().text();
  BakeDesc desc = describe(kBump, std::make_shared<const Character>(c));
  desc.recipe = parseRecipe(R"(fps = 12
[[layer]]
type = "wrinkles"
name = "folds"
from = [0.1, 0, 0]
to = [0.9, 0, 0]
width_m = 0.5
points = 9
h_max_m = 0.05
)",
                            "r.toml")
                    .value();
  desc.scene.types = nullptr;
  const BakeReport report = baked(desc);
  const auto out = loaded(desc.output);
  ASSERT_TRUE(validate(*out).ok());
  ASSERT_EQ(out->instances.size(), 2u);
  const std::uint32_t n = c.instances[0].vertex_count;
  EXPECT_GT(out->instances[0].vertex_count, n);
  EXPECT_EQ(out->instances[1].vertex_count, n) << "nothing folds there";
  EXPECT_EQ(out->instances[1].morph_count, 0u);
  EXPECT_GT(report.correctives->shapes, 0u);
  EXPECT_LT(playedError(desc, "squeeze", 1), 2e-6 * report.diagonal_m);
  ASSERT_GE(out->morphs.size(), 2u);
  EXPECT_EQ(out->morphs[0].name, "lift");
  for (std::size_t i = 0; i < out->morphs[0].vertices.size(); ++i) {
    const float x = out->mesh.positions[out->morphs[0].vertices[i]].x();
    EXPECT_NEAR(out->morphs[0].positions[i].y(), 0.2f * x, 1e-6f);
  }
  EXPECT_GE(out->morphs[0].vertices.size() + 13, out->instances[0].vertex_count)
      << "added vertices follow morphs of those around them";
  const VertexGroup* group = out->mesh.findGroup("lower half");
  ASSERT_NE(group, nullptr);
  EXPECT_EQ(group->vertices[0], out->instances[1].first_vertex);
}

TEST_F(BakeTargetTest, SeveralClipsShareShapesAndKeepTheBoundInEach) {
  BakeDesc desc = describe(kBump, riggedTube());
  desc.correctives.error_m = 0.005;
  desc.clips = {"all"};
  const BakeReport report = baked(desc);
  const auto out = loaded(desc.output);
  ASSERT_EQ(out->clips.size(), 2u);
  EXPECT_EQ(report.clips, riggedTube()->clipNames());
  EXPECT_EQ(report.clip, "");
  EXPECT_EQ(out->morphs.size(), report.correctives->shapes);
  EXPECT_EQ(morphNames(*out).size(), out->morphs.size());
  for (const std::string& clip : riggedTube()->clipNames())
    EXPECT_LE(playedError(desc, clip, 5), 1.1 * 0.005) << clip;
  // One of them alone, named twice, is one clip.
  BakeDesc one = describe(kBump, riggedTube());
  one.clips = {"1", riggedTube()->clips[1].name};
  EXPECT_EQ(baked(one).clip, riggedTube()->clips[1].name);
}

TEST_F(BakeTargetTest, ClipsThatDoNotFitAreErrors) {
  BakeDesc desc = describe(kBump, riggedTube());
  desc.clips = {"0", "wlak"};
  EXPECT_NE(errorOf(desc).find("wlak"), std::string::npos);
  desc.clips = {"all"};
  desc.recipe.range_s = {0, 0.5};
  EXPECT_EQ(errorOf(desc), "a range is one clip's; several clips are baked whole");
  desc.recipe.range_s.reset();
  desc.as = BakeAs::Cache;
  EXPECT_EQ(errorOf(desc), "a cache holds one clip; several are for correctives");
  Character still = *riggedTube();
  still.clips.clear();
  desc = describe(kBump, std::make_shared<const Character>(still));
  desc.clips = {"all"};
  EXPECT_EQ(errorOf(desc), "the character has no clips");
}

TEST_F(BakeTargetTest, ChainedBakesGiveEveryShapeANameOfItsOwn) {
  BakeDesc first = describe(kBump, riggedTube());
  first.correctives.shapes = 3;
  first.clips = {"0"};
  baked(first);
  BakeDesc second = describe(kBump, loaded(first.output));
  second.output = folder_ / "again.glb";
  second.correctives.shapes = 3;
  second.clips = {"1"};
  baked(second);
  const auto out = loaded(second.output);
  EXPECT_EQ(out->morphs.size(), 6u);
  EXPECT_EQ(morphNames(*out),
            (std::set<std::string>{"derm 1", "derm 2", "derm 3", "derm 4", "derm 5", "derm 6"}));
}

TEST_F(BakeTargetTest, PrunedWeightsAreMadeUpForByTheShapes) {
  BakeDesc desc = describe("fps = 12\n", riggedTube());  // three joints, up to three influences
  ASSERT_GE(riggedTube()->skin.maxInfluences(), 2u);
  desc.correctives.error_m = 0.002;
  desc.influences = 1;
  const BakeReport report = baked(desc);
  EXPECT_EQ(loaded(desc.output)->skin.maxInfluences(), 1u);
  EXPECT_EQ(report.correctives->max_influences, 1u);
  EXPECT_GT(report.correctives->shapes, 0u);
  EXPECT_LE(playedError(desc, "", 7), 1.1 * 0.002);
  desc.influences = 0;
  EXPECT_EQ(errorOf(desc), "at least 1 influence is expected");
  desc.influences = 4;
  desc.as = BakeAs::Cache;
  desc.correctives = {};
  EXPECT_EQ(errorOf(desc), "a cache has no weights: a number of influences is for correctives");
}

TEST_F(BakeTargetTest, PartsWithinTheBoundGetNoShapes) {
  DERM_DATA_OR_SKIP(folder, "gltf-characters");
  BakeDesc desc;
  desc.recipe = defaultVolumeRecipe("");
  desc.scene.character = loaded(folder / "KayKit_Knight.glb");
  desc.output = folder_ / "knight.glb";
  desc.as = BakeAs::Correctives;
  desc.correctives.error_m = 0.0005;
  for (const bool bound : {true, false}) {
    if (!bound) desc.correctives = {.shapes = 12};
    const BakeReport report = baked(desc);
    EXPECT_LE(report.correctives->max_error_m, bound ? 0.0005 : 1);
    const auto out = loaded(desc.output);
    std::size_t still = 0, moving = 0;
    for (const MeshInstance& i : out->instances) {
      (i.morph_count == 0 ? still : moving) += 1;
      if (!i.rigid) continue;
      EXPECT_EQ(i.morph_count, 0u) << i.name << ": held in a hand, it has nothing to correct";
    }
    EXPECT_GE(still, 5u);
    EXPECT_GE(moving, 3u);
  }
  EXPECT_LE(playedError(desc, "", 1), 0.02);
}

TEST_F(BakeTargetTest, ABodyOfEightInfluencesIsRightWhereFourAreRead) {
  DERM_PACKED_DATA_OR_SKIP(folder, "makehuman");
  BakeDesc desc;
  desc.recipe = defaultVolumeRecipe("");
  desc.recipe.fps = 8;
  desc.scene.character = loaded(folder / "mh_A_caucasian_male_young_rig163.glb");
  desc.output = folder_ / "body.glb";
  desc.as = BakeAs::Correctives;
  desc.clips = {"run01"};
  desc.correctives.error_m = 0.0005;
  ASSERT_GT(desc.scene.character->skin.maxInfluences(), 4u);
  const BakeReport all = baked(desc);
  EXPECT_GT(notes_.count("more-than-4-influences"), 0u);
  EXPECT_GT(all.correctives->max_error_four_influences_m, 0.005) << "what was not said before";
  const double shown_m = playedError(desc, "run01", 5, 4);
  EXPECT_LE(shown_m, 1.1 * all.correctives->max_error_four_influences_m);
  EXPECT_GE(shown_m, 0.8 * all.correctives->max_error_four_influences_m);
  desc.influences = 4;
  notes_ = Diagnostics();
  const BakeReport four = baked(desc);
  EXPECT_EQ(notes_.count("more-than-4-influences"), 0u);
  EXPECT_EQ(four.correctives->max_influences, 4u);
  EXPECT_LE(four.correctives->max_error_four_influences_m, 0.0005);
  EXPECT_LE(playedError(desc, "run01", 5, 4), 1.1 * 0.0005);
}

}  // namespace
}  // namespace derm
