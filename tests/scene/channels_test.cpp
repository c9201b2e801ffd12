#include <algorithm>

#include <gtest/gtest.h>

#include "derm/cast/cast.h"
#include "derm/deform/channel_groups.h"
#include "derm/io/character_file.h"
#include "derm/scene/bake.h"
#include "derm/scene/scene.h"
#include "derm/volume/volume_layer.h"

/// What layers tell of where they work: masks as channels of frames and groups of stills.
namespace derm::channels_test {
namespace {

constexpr const char* kCat = R"(character = "cast:cat"
clip = "jump"
fps = 10
[skinning]
method = "centre"
[[layer]]
type = "flesh"
name = "belly"
dominant = "spine_1"
ends = ["spine_5"]
from_m = [0, 0.295, -0.110]
to_m = [0, 0.295, 0.108]
[[layer]]
type = "volume"
[[layer]]
type = "wrinkles"
name = "foreleg"
from = [0.045, 0.235, 0.155]
to = [0.045, 0.150, 0.105]
width_m = 0.08
[[layer]]
type = "wrinkles"
name = "hind leg"
from = [0.060, 0.225, -0.085]
to = [0.055, 0.150, -0.020]
width_m = 0.09
)";
const std::vector<std::string> kMasks = {"belly", "volume", "foreleg", "hind leg"};

Recipe catRecipe() { return parseRecipe(kCat, "cat.toml").value(); }

Scene opened(const Recipe& recipe, Topology topology = Topology::Constant) {
  static const auto cat = std::make_shared<const Character>(makeCastMember("cat").value());
  Diagnostics notes;
  SceneOptions options;
  if (recipe.character == "cast:cat") options.character = cat;
  options.topology = topology;
  return openScene(recipe, options, notes).value();
}

std::vector<Vec3f> positionsAt(Scene& scene, double time_s) {
  const auto at = scene.playback().frameAt(time_s).positions();
  return {at.begin(), at.end()};
}

TEST(Channels, FramesHaveNoMasksThatNobodyAskedFor) {
  Scene scene = opened(catRecipe());
  EXPECT_EQ(scene.stack().masks(), kMasks);
  EXPECT_TRUE(scene.playback().frameAt(0.6).channelNames().empty());
  ASSERT_TRUE(scene.keepChannels(std::array{kMasks[1]}).ok());
  ASSERT_TRUE(scene.keepChannels(std::array{kMasks[0]}).ok()) << "beside those kept before";
  const SkinFrame& frame = scene.playback().frameAt(0.6);
  EXPECT_EQ(frame.channelNames().size(), 2u);
  EXPECT_EQ(frame.channel("volume").size(), frame.vertexCount());
  EXPECT_TRUE(frame.channel("foreleg").empty());
}

TEST(Channels, MasksChangeNoBitOfTheFrames) {
  for (const Topology topology : {Topology::Constant, Topology::Adaptive}) {
    Scene plain = opened(catRecipe(), topology), kept = opened(catRecipe(), topology);
    ASSERT_TRUE(kept.keepChannels(kMasks).ok());
    for (const double time_s : {0.0, 0.3, 0.6, 0.9})
      EXPECT_EQ(positionsAt(plain, time_s), positionsAt(kept, time_s)) << time_s;
  }
}

/// Without its other layers, a layer moves only vertices that its mask shows.
TEST(Channels, ALayerMovesNothingThatItsMaskLeavesOut) {
  const Recipe all = catRecipe();
  for (std::size_t layer = 0; layer < all.layers.size(); ++layer) {
    Recipe with = all, without = all;
    for (std::size_t i = 0; i < all.layers.size(); ++i) {
      with.layers[i].enabled = i == layer;
      without.layers[i].enabled = false;
    }
    Scene on = opened(with), off = opened(without);
    ASSERT_TRUE(on.keepChannels(std::array{all.layers[layer].name}).ok());
    std::size_t moved = 0, shown = 0, left_out = 0;
    for (const double time_s : {0.3, 0.6, 0.9, 1.2}) {
      const std::vector<Vec3f> before = positionsAt(off, time_s);
      const SkinFrame& frame = on.playback().frameAt(time_s);
      const std::span<const float> mask = frame.channel(all.layers[layer].name);
      ASSERT_EQ(mask.size(), frame.vertexCount());
      for (std::size_t v = 0; v < before.size(); ++v) {
        const bool moves = frame.positions()[v] != before[v];
        moved += moves;
        shown += mask[v] > 0;
        left_out += moves && mask[v] == 0;
      }
      EXPECT_GE(*std::min_element(mask.begin(), mask.end()), 0.0f);
      EXPECT_LE(*std::max_element(mask.begin(), mask.end()), 1.0f);
    }
    EXPECT_GT(moved, 0u) << all.layers[layer].name;
    EXPECT_LT(shown, 4 * off.stack().output().rest.vertexCount()) << all.layers[layer].name;
    EXPECT_EQ(left_out, 0u) << all.layers[layer].name;
  }
}

/// As docs/volume.md has them: the product of what a method goes by and the terms of the mask.
TEST(Channels, TheVolumeLayersMaskIsGamma) {
  Recipe recipe;
  recipe.character = "cast:arm";
  recipe.layers =
      parseRecipe("[[layer]]\ntype = \"volume\"\npreset = \"fidelity\"\n", "r").value().layers;
  Scene scene = opened(recipe);
  ASSERT_TRUE(scene.keepChannels(std::array{std::string("volume")}).ok());
  const BoundSurface& surface = scene.stack().input();
  Diagnostics notes;
  const MeasuredSurface measured =
      makeMeasuredSurface(surface.rest.positions, surface.rest.triangles, "arm", notes);
  VolumeMaskDesc desc = volumePreset(VolumePreset::Fidelity).mask;
  const std::vector<double> gamma =
      volumeGamma(measured, surface.rest, scene.character()->skeleton, surface.skin, desc, notes)
          .value();
  const SkinFrame& frame = scene.playback().frameAt(1.0);
  for (std::size_t v = 0; v < frame.vertexCount(); ++v)
    ASSERT_EQ(frame.channel("volume")[v], static_cast<float>(gamma[measured.welded_of_vertex[v]]));
}

TEST(Channels, MasksGoOnToRefinedVertices) {
  Scene scene = opened(catRecipe());
  ASSERT_TRUE(scene.keepChannels(kMasks).ok());
  const SkinFrame& frame = scene.playback().frameAt(0.6);
  const std::size_t own = scene.character()->mesh.vertexCount();
  ASSERT_GT(frame.vertexCount(), own);
  for (const char* name : {"foreleg", "hind leg", "volume"}) {
    std::size_t added = 0;
    for (std::size_t v = own; v < frame.vertexCount(); ++v) added += frame.channel(name)[v] > 0;
    EXPECT_GT(added, 20u) << name;
  }
}

TEST(Channels, AnUnknownOneIsAnErrorThatListsWhatLayersWrite) {
  Scene scene = opened(catRecipe());
  const Result<void> near = scene.keepChannels(std::array{std::string("forleg")});
  ASSERT_FALSE(near.ok());
  EXPECT_NE(near.error().text().find("did you mean \"foreleg\""), std::string::npos)
      << near.error().text();
  const Result<void> far = scene.keepChannels(std::array{std::string("zzz")});
  ASSERT_FALSE(far.ok());
  EXPECT_NE(far.error().text().find("\"belly\", \"volume\""), std::string::npos)
      << far.error().text();
}

TEST(Channels, AnEditKeepsThem) {
  Recipe recipe = catRecipe();
  Scene scene = opened(recipe);
  Diagnostics notes;
  ASSERT_TRUE(scene.keepChannels(std::array{kMasks[0]}).ok());
  recipe.layers[1].enabled = false;
  ASSERT_TRUE(scene.change(recipe, notes).ok());
  EXPECT_FALSE(scene.playback().frameAt(0.6).channel("belly").empty());
  recipe.fps = 20;
  recipe.range_s = std::array{0.0, 1.0};  // another motion: it starts anew
  ASSERT_TRUE(scene.change(recipe, notes).ok());
  EXPECT_FALSE(scene.playback().frameAt(0.6).channel("belly").empty());
}

TEST(Channels, AStillHasThemAsVertexGroups) {
  MemoryFiles files;
  Diagnostics notes;
  BakeDesc desc;
  desc.recipe = catRecipe();
  desc.output = "still.glb";
  desc.recipe.range_s = std::array{0.6, 0.6};
  desc.channels = {"belly", "hind leg"};
  desc.files = &files;
  const Result<BakeReport> report = bake(desc, notes);
  ASSERT_TRUE(report.ok()) << report.error().text();
  const Character still = parseCharacter(*files.find("still.glb"), "still.glb", {}, notes).value();
  Scene scene = opened(desc.recipe);
  ASSERT_TRUE(scene.keepChannels(desc.channels).ok());
  const SkinFrame& frame = scene.playback().frameAt(0.6);
  for (const std::string& name : desc.channels) {
    const VertexGroup* group = still.mesh.findGroup(name);
    ASSERT_NE(group, nullptr) << name;
    std::vector<float> values(frame.vertexCount(), 0.0f);
    for (std::size_t i = 0; i < group->vertices.size(); ++i)
      values[group->vertices[i]] = group->strengths[i];
    EXPECT_TRUE(std::ranges::equal(values, frame.channel(name))) << name;
  }
  EXPECT_EQ(still.mesh.findGroup("volume"), nullptr);
}

TEST(Channels, FilesWithoutAPlaceForThemSaySo) {
  Diagnostics notes;
  MemoryFiles files;
  BakeDesc desc;
  desc.recipe = catRecipe();
  desc.output = "a_{frame}.obj";
  desc.channels = {"belly"};
  desc.files = &files;
  const Result<BakeReport> obj = bake(desc, notes);
  ASSERT_FALSE(obj.ok());
  EXPECT_NE(obj.error().text().find("vertex groups"), std::string::npos) << obj.error().text();
  desc.output = "a.glb";
  desc.channels = {"bely"};
  const Result<BakeReport> unknown = bake(desc, notes);
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().text().find("did you mean \"belly\""), std::string::npos)
      << unknown.error().text();
}

TEST(ChannelGroups, ClampToStrengthsAndTakeThePlaceOfGroupsOfTheirName) {
  TriMesh still;
  still.positions.assign(4, Vec3f::Zero());
  still.groups = {{"painted", {1}, {1.0f}}, {"mask", {0}, {1.0f}}};
  SkinFrame frame({.max_vertices = 4, .with_normals = false, .channels = {"mask"}});
  const NormalUpdate normals(still);
  frame.begin(still, normals);
  const std::array values = {0.0f, 0.25f, 2.0f, -1.0f};
  std::copy(values.begin(), values.end(), frame.channel("mask").begin());
  Diagnostics notes;
  addChannels(frame, still, notes);
  ASSERT_EQ(still.groups.size(), 2u);
  EXPECT_EQ(still.groups[0].name, "painted");
  EXPECT_EQ(still.groups[1], (VertexGroup{"mask", {1, 2}, {0.25f, 1.0f}}));
  EXPECT_EQ(notes.count("channel-clamped"), 2u);
  EXPECT_EQ(notes.count("channel-replaces-group"), 1u);
  EXPECT_TRUE(validate(still, "still").ok());
}

}  // namespace
}  // namespace derm::channels_test
