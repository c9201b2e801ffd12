// Layers in any order with any parameters, on every member of the cast: nothing that is not finite,
// nothing far away, and the promises of the last layer kept. A short run by default;
// DERM_STRESS_FRAMES=10000 plays that many frames on each member.
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "derm/base/parallel.h"
#include "derm/base/rng.h"
#include "derm/cast/cast.h"
#include "derm/deform/flesh_auto.h"
#include "derm/deform/wrinkle_proposal.h"
#include "derm/mesh/measures.h"
#include "derm/scene/flesh_recipe.h"
#include "derm/scene/scene.h"
#include "derm/scene/wrinkle_recipe.h"
#include "derm/volume/volume_layer.h"

#include "scene/random_fields.h"

namespace derm::random_stack_test {
namespace {

using testing_support::RandomFields;

constexpr std::size_t kScenesFrames = 25;  ///< frames that one stack plays
constexpr double kFar = 4;                 ///< bounding diagonals; no layer may throw skin further

std::size_t framesPerMember() {
  const char* const asked = std::getenv("DERM_STRESS_FRAMES");
  return asked != nullptr ? std::strtoul(asked, nullptr, 10) : 100;
}

/// What derm itself would put on the character: the layers that are then shaken.
std::vector<RecipeLayer> sensibleLayers(const Character& c) {
  std::vector<RecipeLayer> out = {{.type = "volume", .name = "volume"}};
  Diagnostics notes;
  if (const auto flesh = proposeFlesh(c, notes))
    for (const FleshProposal& p : *flesh) out.push_back(fleshRecipeLayer(p.desc, c.skeleton));
  for (const Clip& clip : c.clips)
    if (const auto folds = proposeWrinkles(c, clip, {.max_tools = 2}))
      for (const WrinkleProposal& p : *folds) {
        out.push_back(wrinkleRecipeLayer(p.tool));
        out.back().name += " " + clip.name;
      }
  return out;
}

void shake(RecipeLayer& layer, const Character& c, Rng& rng) {
  std::unique_ptr<LayerParameters> parameters = builtInLayerTypes().find(layer.type)->make();
  const FieldList fields = [&](RecipeFields& f) { parameters->fields(f); };
  ASSERT_TRUE(readFields(layer.keys, "", "", fields).ok());
  std::vector<std::string> texts = {"",        "auto",       "weights",
                                    "between", "everywhere", "smooth-weights * distance"};
  for (const VertexGroup& group : c.mesh.groups) texts.push_back("group:" + group.name);
  RandomFields random(rng, rng.below(2) == 0 ? 0.1 : 0.4, std::move(texts));
  fields(random);
  layer.keys = writeFields(fields);
}

Recipe randomRecipe(const Character& c, const std::vector<RecipeLayer>& sensible, Rng& rng) {
  constexpr std::array kMethods = {SkinningMethod::Linear, SkinningMethod::DualQuaternion,
                                   SkinningMethod::Centre, SkinningMethod::Rigid};
  Recipe recipe;
  recipe.skinning = kMethods[rng.below(kMethods.size())];
  recipe.skinning_alpha = rng.uniform();
  recipe.clip = std::int64_t(rng.below(c.clips.size()));
  recipe.fps = std::pow(10.0, rng.uniform(0.7, 2.3));
  recipe.preroll_s = rng.below(2) == 0 ? 0.0 : rng.uniform(0, 0.5);
  recipe.loop = rng.below(2) == 0;
  const std::size_t count = 1 + rng.below(4);
  for (std::size_t i = 0; i < count; ++i) {
    // The first is volume: as often as all others together.
    RecipeLayer layer = sensible[rng.below(2) * rng.below(sensible.size())];
    layer.name += " " + std::to_string(i);
    if (rng.below(4) != 0) shake(layer, c, rng);
    recipe.layers.push_back(std::move(layer));
  }
  return recipe;
}

/// Why the frame is wrong, or nothing.
std::string faultOf(const SkinFrame& frame, const Bounds& stage, double max_outside_m) {
  for (std::size_t v = 0; v < frame.vertexCount(); ++v) {
    const Vec3f& p = frame.positions()[v];
    if (!p.allFinite()) return "vertex " + std::to_string(v) + " is not finite";
    if (!frame.normals().empty() && !frame.normals()[v].allFinite())
      return "normal " + std::to_string(v) + " is not finite";
    const Vec3f out = (stage.low - p).cwiseMax(p - stage.high).cwiseMax(0.0f);
    if (double(out.norm()) > max_outside_m)
      return "vertex " + std::to_string(v) + " is " + std::to_string(out.norm()) + " m outside";
  }
  return {};
}

/// The volume layer that nothing follows, where it promises exact volumes.
const VolumeLayer* exactVolume(const Scene& scene) {
  return scene.playback().find<VolumeLayer>(scene.stack().layers().back()->name());
}

bool promisesExactness(const RecipeLayer& layer) {
  std::unique_ptr<LayerParameters> parameters = builtInLayerTypes().find(layer.type)->make();
  const FieldList fields = [&](RecipeFields& f) { parameters->fields(f); };
  if (!readFields(layer.keys, "", "", fields)) return false;
  for (const RecipeEntry& e : writeFields(fields)) {
    if (e.key == "exact" && e.value.content == decltype(e.value.content)(false)) return false;
    if (e.key == "method" &&
        e.value.content == decltype(e.value.content)(std::string("axes-linear")))
      return false;
  }
  return true;
}

struct Tally {
  std::size_t stacks = 0, refused = 0, frames = 0, exact_frames = 0, short_regions = 0;
  double worst_volume = 0;
};

void play(const std::shared_ptr<const Character>& c, const Recipe& recipe, Rng& rng, Tally& tally) {
  const Result<Recipe> read = parseRecipe(writeRecipe(recipe), "random.toml");
  Diagnostics notes;
  Result<Scene> scene =
      read ? openScene(*read, {.character = c}, notes) : Result<Scene>(read.error());
  ++tally.stacks;
  if (!scene) {
    ++tally.refused;
    EXPECT_FALSE(scene.error().message.empty());
    return;
  }
  const ThreadLimit threads(1 + int(rng.below(2)));
  // Folds are as high as the rest length that is asked for makes them.
  const bool folds = std::any_of(recipe.layers.begin(), recipe.layers.end(),
                                 [](const RecipeLayer& layer) { return layer.type == "wrinkles"; });
  const double max_outside_m = (folds ? 1e4 : kFar) * bounds(c->mesh.positions).diagonal();
  const auto plain = scene->linearReferenceStack();
  ASSERT_TRUE(plain.ok()) << plain.error().text();
  StackRunner skinned(*plain);
  const VolumeLayer* const volume =
      promisesExactness(recipe.layers.back()) ? exactVolume(*scene) : nullptr;
  const std::size_t from = rng.below(scene->frameTimes().size());
  for (std::size_t i = 0; i < kScenesFrames; ++i) {
    const SkinFrame& frame = scene->frame((from + i) % scene->frameTimes().size());
    skinned.setPose(scene->playback().pose(), 0);
    const Bounds stage = bounds(skinned.evaluate().positions());
    const std::string fault = faultOf(frame, stage, max_outside_m);
    ASSERT_EQ(fault, "") << writeRecipe(recipe);
    ++tally.frames;
    if (volume == nullptr) continue;
    const VolumeReport report = volume->report();
    for (std::size_t l = 0; l < report.regions.size(); ++l) {
      const RegionOutcome& region = report.regions[l];
      if (region.idle) continue;
      if (region.short_of_target) {
        ++tally.short_regions;
        continue;
      }
      const double error = std::abs(report.after_m3[l] / region.target_m3 - 1);
      tally.worst_volume = std::max(tally.worst_volume, error);
      ASSERT_LE(error, 1e-5) << "region " << l << ", frame " << i << "\n" << writeRecipe(recipe);
    }
    ++tally.exact_frames;
  }
}

class RandomStacks : public testing::TestWithParam<const char*> {};

TEST_P(RandomStacks, StayFiniteNearAndExact) {
  const auto c = std::make_shared<const Character>(makeCastMember(GetParam()).value());
  const std::vector<RecipeLayer> sensible = sensibleLayers(*c);
  Tally tally;
  const std::size_t frames = framesPerMember();
  for (std::uint64_t seed = 1; tally.frames < frames; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const Recipe recipe = randomRecipe(*c, sensible, rng);
    play(c, recipe, rng, tally);
    if (HasFatalFailure()) return;
  }
  RecordProperty("frames", int(tally.frames));
  std::printf(
      "%s: %zu stacks, %zu refused, %zu frames, %zu of them exact (worst %.1e), %zu regions "
      "short of their target\n",
      GetParam(), tally.stacks, tally.refused, tally.frames, tally.exact_frames, tally.worst_volume,
      tally.short_regions);
  EXPECT_LT(tally.refused, tally.stacks);
}

INSTANTIATE_TEST_SUITE_P(Cast, RandomStacks,
                         testing::Values("cylinder", "arm", "mushroom", "wrist", "trousers",
                                         "cat"));

}  // namespace
}  // namespace derm::random_stack_test
