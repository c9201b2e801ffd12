#include "derm/scene/bake.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <unistd.h>

#include "derm/base/parallel.h"
#include "derm/deform/basic_layers.h"
#include "derm/io/character_file.h"
#include "derm/io/file_bytes.h"
#include "derm/io/point_cache.h"
#include "derm/mesh/measures.h"

#include "support/compare.h"
#include "support/posed.h"
#include "support/test_folder.h"
#include "support/test_layer_types.h"

namespace derm::bake_test {
namespace {

namespace fs = std::filesystem;
using testing_support::maxDistance;
using testing_support::poseAt;
using testing_support::riggedTube;
using testing_support::skinned;
using testing_support::stackOf;
using testing_support::testLayerTypes;

constexpr std::string_view kBump = "fps = 12\n[[layer]]\ntype = \"bump\"\n";
constexpr std::string_view kSpringAndBump =
    "fps = 12\npreroll_s = 0.2\n[[layer]]\ntype = \"spring\"\n[[layer]]\ntype = \"bump\"\n";

std::shared_ptr<const Character> withMaterial() {
  Character c = *riggedTube();
  c.materials.push_back({.name = "skin", .base_colour = {0.8f, 0.5f, 0.4f, 1}});
  c.parts[0].material = 0;
  return std::make_shared<const Character>(c);
}

class BakeTest : public testing_support::FolderTest {
 protected:
  BakeDesc describe(std::string_view recipe, const std::string& file,
                    std::shared_ptr<const Character> character = withMaterial()) const {
    return {.recipe = parseRecipe(recipe, "r.toml", testLayerTypes()).value(),
            .scene = {.character = std::move(character), .types = &testLayerTypes()},
            .output = folder_ / file};
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
  std::vector<std::vector<Vec3f>> framesOf(const BakeDesc& desc) {
    Scene scene = openScene(desc.recipe, desc.scene, notes_).value();
    std::vector<std::vector<Vec3f>> out;
    for (std::size_t i = 0; i < scene.frameTimes().size(); ++i) {
      const auto p = scene.frame(i).positions();
      out.emplace_back(p.begin(), p.end());
    }
    return out;
  }
  Character loaded(const fs::path& file) {
    Result<Character> character = loadCharacter(file, {}, notes_);
    EXPECT_TRUE(character.ok()) << character.error().text();
    return character.ok() ? *std::move(character) : Character();
  }
  /// Largest distance between a baked glb, played by morphs and linear skinning, and the stack, at
  /// so many instants per frame.
  double playedError(const BakeDesc& desc, int per_frame = 1) {
    const auto played = std::make_shared<const Character>(loaded(desc.output));
    StackRunner runner(stackOf(played, {morphLayer(), skinningLayer({})}));
    Scene scene = openScene(desc.recipe, desc.scene, notes_).value();
    const std::size_t count = scene.frameTimes().size();
    double largest = 0;
    for (std::size_t i = 0; i <= (count - 1) * std::size_t(per_frame); ++i) {
      const double t = scene.frameTimes()[0] + double(i) / (scene.recipe().fps * per_frame);
      const auto want = scene.playback().frameAt(t).positions();
      runner.setPose(poseAt(*played, played->clips.front(), t), t);
      largest = std::max<double>(largest, maxDistance(runner.evaluate().positions(), want));
    }
    return largest;
  }
  std::size_t partFiles() const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder_))
      count += entry.path().extension() == ".part";
    return count;
  }

  Diagnostics notes_;
};

TEST_F(BakeTest, PointCachesHoldTheFramesBitForBit) {
  for (const char* file : {"a.pc2", "a.mdd"}) {
    const BakeDesc desc = describe(kSpringAndBump, file);
    const BakeReport report = baked(desc);
    const PointCache cache = loadPointCache(desc.output).value();
    const std::vector<std::vector<Vec3f>> want = framesOf(desc);
    ASSERT_EQ(cache.frameCount(), want.size());
    ASSERT_EQ(report.frames.size(), want.size());
    for (std::size_t f = 0; f < want.size(); ++f)
      EXPECT_TRUE(std::ranges::equal(cache.frame(f), want[f])) << file << " " << f;
  }
}

TEST_F(BakeTest, IntoMemoryGivesTheBytesOfTheFiles) {
  for (const auto& [file, as] :
       {std::pair("a.pc2", BakeAs::Cache), std::pair("a.mdd", BakeAs::Cache),
        std::pair("a.glb", BakeAs::Cache), std::pair("a.gltf", BakeAs::Cache),
        std::pair("a_{frame}.obj", BakeAs::Cache), std::pair("c.glb", BakeAs::Correctives)}) {
    SCOPED_TRACE(file);
    MemoryFiles memory;
    BakeDesc desc = describe(kSpringAndBump, file);
    desc.as = as;
    desc.report = folder_ / "report.json";
    const BakeReport on_disk = baked(desc);
    desc.files = &memory;
    const BakeReport in_memory = baked(desc);
    EXPECT_EQ(on_disk.state_hash, in_memory.state_hash);
    const auto* report = memory.find(*desc.report);
    ASSERT_NE(report, nullptr);
    const std::string_view json(reinterpret_cast<const char*>(report->data()), report->size());
    EXPECT_EQ(parseBakeReport(json, "report").value().frames.size(), on_disk.frames.size());
    EXPECT_GE(memory.files().size(), std::string(file) == "a.gltf" ? 3u : 2u);
    for (const auto& [name, bytes] : memory.files()) {
      if (name == desc.report->generic_string()) continue;  // has times in it
      EXPECT_EQ(bytes, readFile(name).value()) << name;
      fs::remove(name);
    }
    fs::remove(*desc.report);
    EXPECT_EQ(fileCount(), 0u) << "nothing but these was written";
  }
}

TEST_F(BakeTest, ACancelledBakeIntoMemoryLeavesNothing) {
  MemoryFiles memory;
  BakeDesc desc = describe(kBump, "a.pc2");
  desc.files = &memory;
  const Progress stop = [](double done, std::string_view) { return done < 0.4; };
  EXPECT_FALSE(bake(desc, notes_, stop).ok());
  EXPECT_TRUE(memory.files().empty());
  EXPECT_EQ(fileCount(), 0u);
}

TEST_F(BakeTest, ARecipeWithoutLayersBakesToExactlyWhatSkinningGives) {
  const auto character = withMaterial();
  const BakeDesc desc = describe("fps = 10", "a.pc2", character);
  const BakeReport report = baked(desc);
  const PointCache cache = loadPointCache(desc.output).value();
  for (std::size_t f = 0; f < cache.frameCount(); ++f) {
    const Pose pose = poseAt(*character, character->clips[0], report.frames[f].time_s);
    const TriMesh want = skinned(*character, pose, SkinningMethod::Linear);
    EXPECT_TRUE(std::ranges::equal(cache.frame(f), want.positions));
    EXPECT_EQ(report.frames[f].max_displacement_m, 0);
    EXPECT_EQ(report.frames[f].volume_m3, volume(want.positions, want.triangles));
    EXPECT_EQ(report.frames[f].area_m2, area(want.positions, want.triangles));
  }
}

TEST_F(BakeTest, AGlbCachePlaysTheFramesWithoutASkin) {
  const BakeDesc desc = describe(kSpringAndBump, "a.glb");
  baked(desc);
  EXPECT_LT(playedError(desc), 1e-6);
  const Character cache = loaded(desc.output);
  EXPECT_EQ(cache.morphs.size(), 12u);
  ASSERT_EQ(cache.clips.size(), 1u);
  EXPECT_EQ(cache.clips[0].name, "bend");
  EXPECT_EQ(cache.clips[0].tracks[0].interpolation, Interpolation::Step);
  ASSERT_EQ(cache.materials.size(), 1u);
  EXPECT_EQ(cache.materials[0].name, "skin");
}

TEST_F(BakeTest, AStillCharacterBakesToAStillGlb) {
  const BakeDesc desc = describe("fps = 5\nrange_s = [0.5, 0.5]", "a.glb");
  baked(desc);
  const Character still = loaded(desc.output);
  EXPECT_TRUE(still.clips.empty());
  EXPECT_LT(maxDistance(still.mesh.positions, framesOf(desc).front()), 1e-7f);
}

TEST_F(BakeTest, ObjSequencesArePaddedAndExact) {
  const BakeDesc desc = describe(kBump, "walk_{frame}.obj");
  baked(desc);
  const std::vector<std::vector<Vec3f>> want = framesOf(desc);
  ASSERT_EQ(want.size(), 13u);
  for (std::size_t f = 0; f < want.size(); ++f) {
    const std::string number = (f < 10 ? "0" : "") + std::to_string(f);
    EXPECT_EQ(loaded(folder_ / ("walk_" + number + ".obj")).mesh.positions, want[f]);
  }
  EXPECT_EQ(partFiles(), 0u);
  EXPECT_EQ(errorOf(describe(kBump, "walk.obj")),
            "13 frames in one file; put {frame} into its name: walk_{frame}.obj");
}

TEST_F(BakeTest, FinerTopologyBakesToACacheAndToCorrectives) {
  const std::string recipe = std::string(kBump) + "[[layer]]\ntype = \"refine\"\nname = \"fine\"\n";
  const BakeDesc points = describe(recipe, "a.pc2");
  const BakeReport report = baked(points);
  EXPECT_EQ(report.triangles, 2 * withMaterial()->mesh.triangles.size());
  EXPECT_EQ(loadPointCache(points.output).value().points, report.vertices);
  const BakeDesc glb = describe(recipe, "a.glb");
  baked(glb);
  EXPECT_LT(playedError(glb), 1e-6);
  EXPECT_EQ(loaded(glb.output).mesh.triangles.size(), report.triangles);
  EXPECT_EQ(loaded(glb.output).materials.size(), 1u);
  BakeDesc shapes = describe(recipe, "b.glb");
  shapes.as = BakeAs::Correctives;
  EXPECT_EQ(baked(shapes).vertices, report.vertices);
  EXPECT_LT(playedError(shapes), 1e-5);
  EXPECT_TRUE(loaded(shapes.output).hasSkin());
}

TEST_F(BakeTest, CorrectivesAtFullRankPlayEveryFrame) {
  for (const char* method : {"linear", "dual-quaternion"}) {
    BakeDesc desc = describe(
        std::string(kSpringAndBump) + "[skinning]\nmethod = \"" + method + "\"\n", "a.glb");
    desc.as = BakeAs::Correctives;
    const BakeReport report = baked(desc);
    const double error = playedError(desc);
    EXPECT_LT(error, 1e-6 * report.diagonal_m);
    ASSERT_TRUE(report.correctives);
    EXPECT_NEAR(report.correctives->max_error_m, error, 1e-6);
    const Character out = loaded(desc.output);
    EXPECT_TRUE(out.hasSkin());
    EXPECT_EQ(out.clips.size(), 2u);
    EXPECT_EQ(out.morphs.size(), report.correctives->shapes);
  }
}

TEST_F(BakeTest, CorrectivesKeepTheErrorBoundAskedFor) {
  for (const double bound : {0.05, 0.005, 0.0005}) {
    BakeDesc desc = describe(kBump, "a.glb");
    desc.as = BakeAs::Correctives;
    desc.correctives.error_m = bound;
    const BakeReport report = baked(desc);
    EXPECT_LE(report.correctives->max_error_m, bound);
    EXPECT_LE(playedError(desc), bound);
    EXPECT_LT(report.correctives->rms_error_m, report.correctives->max_error_m);
  }
  BakeDesc desc = describe(kBump, "b.glb");
  desc.as = BakeAs::Correctives;
  desc.correctives.error_m = 1e-10;
  EXPECT_FALSE(bake(desc, notes_).ok());
  EXPECT_FALSE(fs::exists(desc.output));
}

TEST_F(BakeTest, TheErrorBoundHoldsBetweenFramesToo) {
  // A bump that crosses the tube in a fraction of a second: at 12 frames per second it jumps.
  for (const char* recipe :
       {"fps = 12\n[[layer]]\ntype = \"bump\"\nspeed = 4\n",
        "fps = 7\n[[layer]]\ntype = \"spring\"\n[[layer]]\ntype = \"bump\"\n"}) {
    BakeDesc desc = describe(recipe, "a.glb");
    desc.as = BakeAs::Correctives;
    const BakeReport loose = baked(desc);
    EXPECT_GT(loose.correctives->max_error_between_m, 0.05);
    EXPECT_EQ(loose.correctives->keys, loose.frame_count);
    desc.correctives.error_m = 0.005;
    const BakeReport tight = baked(desc);
    EXPECT_LE(tight.correctives->max_error_m, 0.005);
    EXPECT_LE(tight.correctives->max_error_between_m, 0.005);
    EXPECT_GT(tight.correctives->max_error_between_m, 0);
    EXPECT_GT(tight.correctives->keys, tight.frame_count);
    EXPECT_EQ(notes_.count("off-between-frames"), 0u);
    // Instants that the bake did not look at.
    EXPECT_LE(playedError(desc, 29), 1.1 * 0.005) << recipe;
  }
}

TEST_F(BakeTest, WhereTheSkinJumpsTheFramesAreKeptAndTheRestIsSaid) {
  // Where the loop starts again the bump is back at the other end.
  BakeDesc desc =
      describe("fps = 12\nloop = true\n[[layer]]\ntype = \"bump\"\nspeed = 4\n", "a.glb");
  desc.as = BakeAs::Correctives;
  desc.correctives.error_m = 0.005;
  const BakeReport report = baked(desc);
  EXPECT_LE(report.correctives->max_error_m, 0.005);
  EXPECT_GT(report.correctives->max_error_between_m, 0.005);
  EXPECT_EQ(notes_.count("off-between-frames"), 1u);
  EXPECT_LT(report.correctives->keys, 100u) << "dense where it jumps only";
}

TEST_F(BakeTest, ABoundBelowRoundingNamesWhatPlays) {
  BakeDesc desc = describe(kBump, "a.glb");
  desc.as = BakeAs::Correctives;
  const std::string all = std::to_string(baked(desc).correctives->shapes);
  for (const double bound : {1e-12, 1e-8}) {
    desc.correctives.error_m = bound;
    const std::string text = errorOf(desc);
    EXPECT_NE(text.find(" mm cannot be kept: played with all " + all +
                        " shapes the file is still off by "),
              std::string::npos)
        << text;
  }
}

TEST_F(BakeTest, TheCatsJumpKeepsItsBoundInBetweenAndSaysItsVolume) {
  BakeDesc desc;
  desc.recipe = loadRecipe(std::filesystem::path(DERM_EXAMPLE_RECIPES) / "cat_jump.toml").value();
  desc.output = folder_ / "cat.glb";
  desc.as = BakeAs::Correctives;
  desc.correctives.error_m = 0.0005;
  const BakeReport report = baked(desc);
  EXPECT_LE(report.correctives->max_error_m, 0.0005);
  EXPECT_LE(report.correctives->max_error_between_m, 0.0005);
  EXPECT_LE(report.correctives->shapes, 30u);
  EXPECT_LE(report.correctives->keys, 200u);
  Character out = loaded(desc.output);
  const auto jump = out.findClip("jump").value();
  std::swap(out.clips[0], out.clips[jump]);
  const auto played = std::make_shared<const Character>(std::move(out));
  StackRunner runner(stackOf(played, {morphLayer(), skinningLayer({})}));
  Scene scene = openScene(desc.recipe, desc.scene, notes_).value();
  double largest = 0, change = 0;
  const double rest_m3 = volume(played->mesh.positions, played->mesh.triangles);
  for (double t = 0; t < 2.2; t += 0.0073) {  // on no key's grid
    runner.setPose(poseAt(*played, played->clips[0], t), t);
    const auto shown = runner.evaluate().positions();
    largest =
        std::max<double>(largest, maxDistance(shown, scene.playback().frameAt(t).positions()));
    change = std::max(change, std::abs(volume(shown, played->mesh.triangles) / rest_m3 - 1));
  }
  EXPECT_LE(largest, 0.0005);
  EXPECT_GT(change, 0.5 * std::abs(report.correctives->volume_change));
  EXPECT_LE(change, 1.1 * std::abs(report.correctives->volume_change));
  EXPECT_NEAR(report.frames[30].played_volume_m3, report.frames[30].volume_m3,
              2e-3 * report.rest_volume_m3);
  EXPECT_NE(report.frames[30].played_volume_m3, report.frames[30].volume_m3);
}

TEST_F(BakeTest, TheNumberOfShapesIsAsAskedAndNoMore) {
  BakeDesc desc = describe(kBump, "a.glb");
  desc.as = BakeAs::Correctives;
  desc.correctives.shapes = 4;
  EXPECT_EQ(baked(desc).correctives->shapes, 4u);
  desc.correctives.shapes = 500;
  const BakeReport full = baked(desc);
  EXPECT_LE(full.correctives->shapes, full.correctives->keys + 1);  // and the base
  EXPECT_EQ(notes_.count("fewer-shapes"), 1u);
}

TEST_F(BakeTest, WithoutLayersThereIsNothingToCorrect) {
  BakeDesc desc = describe("fps = 10", "a.glb");
  desc.as = BakeAs::Correctives;
  EXPECT_EQ(baked(desc).correctives->shapes, 0u);
  EXPECT_EQ(notes_.count("nothing-to-correct"), 1u);
  EXPECT_EQ(loaded(desc.output).clips.size(), 2u);
}

TEST_F(BakeTest, ARestPoseHeldOverTimeCarriesItsWeightsInAClipOfItsOwn) {
  Character c = *withMaterial();
  c.clips.clear();
  BakeDesc desc = describe(std::string("range_s = [0, 1]\n") + std::string(kBump), "a.glb",
                           std::make_shared<const Character>(c));
  desc.as = BakeAs::Correctives;
  baked(desc);
  EXPECT_LT(playedError(desc), 1e-5);
}

TEST_F(BakeTest, TheBytesDoNotDependOnThreads) {
  for (const char* file : {"a.pc2", "a.mdd", "a.glb", "b.glb"}) {
    std::vector<std::vector<std::uint8_t>> results;
    std::vector<std::uint64_t> hashes;
    for (const int threads : {1, 2, 8}) {
      const ThreadLimit limit(threads);
      BakeDesc desc = describe(kSpringAndBump, file);
      if (file[0] == 'b') {
        desc.as = BakeAs::Correctives;
        desc.correctives.shapes = 6;
      }
      hashes.push_back(baked(desc).state_hash);
      results.push_back(readFile(desc.output).value());
    }
    EXPECT_EQ(results[0], results[1]) << file;
    EXPECT_EQ(results[0], results[2]) << file;
    EXPECT_EQ(hashes[0], hashes[1]);
    EXPECT_EQ(hashes[0], hashes[2]);
  }
}

TEST_F(BakeTest, TheReportHasWhatItPromises) {
  BakeDesc desc = describe(kSpringAndBump, "a.glb");
  desc.as = BakeAs::Correctives;
  desc.correctives.shapes = 5;
  desc.report = folder_ / "r.json";
  const BakeReport report = baked(desc);
  const std::vector<std::uint8_t> bytes = readFile(*desc.report).value();
  const nlohmann::json json = nlohmann::json::parse(bytes.begin(), bytes.end());
  ASSERT_EQ(json["frames"].size(), 13u);
  for (const char* key :
       {"time_s", "volume_m3", "area_m2", "max_displacement_m", "mean_displacement_m"})
    EXPECT_TRUE(json["frames"][3].contains(key)) << key;
  EXPECT_GT(json["frames"][6]["max_displacement_m"], 0.3);
  ASSERT_EQ(json["layers"].size(), 4u);
  EXPECT_EQ(json["layers"][3]["name"], "bump");
  EXPECT_EQ(json["layers"][3]["type"], "bump");
  EXPECT_GT(json["layers"][2]["ms_per_frame"], 0);
  EXPECT_EQ(json["correctives"]["shapes"], 5);
  EXPECT_DOUBLE_EQ(json["correctives"]["max_error_mm"],
                   1000 * double(json["correctives"]["max_error_m"]));
  EXPECT_DOUBLE_EQ(json["correctives"]["max_error_percent"],
                   100 * double(json["correctives"]["max_error_m"]) / double(json["diagonal_m"]));
  EXPECT_GE(json["correctives"]["max_error_m"], json["correctives"]["rms_error_m"]);
  EXPECT_EQ(std::string(json["state_hash"]).size(), 16u);
  EXPECT_EQ(json["closed"], false);
  EXPECT_EQ(json["as"], "correctives");
  EXPECT_EQ(report.frames.size(), 13u);
}

TEST_F(BakeTest, WithoutMeasuresTheOutputIsTheSame) {
  BakeDesc desc = describe(kSpringAndBump, "a.pc2");
  baked(desc);
  const std::vector<std::uint8_t> measured = readFile(desc.output).value();
  desc.measure = false;
  const BakeReport report = baked(desc);
  EXPECT_EQ(readFile(desc.output).value(), measured);
  EXPECT_TRUE(report.frames.empty());
  EXPECT_EQ(report.frame_count, 13u);
  EXPECT_EQ(report.state_hash, 0u);
  desc.report = folder_ / "r.json";
  EXPECT_EQ(errorOf(desc), "a report needs measures");
}

TEST_F(BakeTest, ProgressGoesUpAndLeavesRoomForWhatTakesLong) {
  BakeDesc desc = describe("fps = 12\n[[layer]]\ntype = \"bump\"\nspeed = 4\n", "a.glb");
  desc.as = BakeAs::Correctives;
  desc.correctives.error_m = 0.005;
  double last = 0, frames = 0;
  std::set<double> between;
  const Result<BakeReport> report = bake(desc, notes_, [&](double done, std::string_view stage) {
    EXPECT_GE(done, last) << stage;
    last = done;
    if (stage == "frames") frames = done;
    if (stage == "between frames") between.insert(done);
    return true;
  });
  ASSERT_TRUE(report.ok()) << report.error().text();
  EXPECT_EQ(last, 1.0);
  EXPECT_LT(frames, 0.3);  // what looks between them plays them several times more
  EXPECT_GT(between.size(), 3u);
}

TEST_F(BakeTest, CancellingLeavesTheOldOutput) {
  for (const char* file : {"a.pc2", "a.mdd", "a.glb", "a_{frame}.obj"})
    for (const double at : {0.0, 0.3, 0.8, 0.9}) {
      BakeDesc desc = describe(kBump, file);
      desc.report = folder_ / "r.json";
      desc.as = std::string_view(file) == "a.glb" ? BakeAs::Correctives : BakeAs::Cache;
      ASSERT_TRUE(writeFileWhole(desc.output, "old").ok());
      fs::remove(*desc.report);
      bool stopped = false;
      const Result<BakeReport> report = bake(desc, notes_, [&](double fraction, std::string_view) {
        stopped |= fraction >= at;
        return !stopped;
      });
      if (report.ok()) continue;  // nothing reports progress that late for this output
      EXPECT_EQ(report.error().code, ErrorCode::Cancelled);
      EXPECT_EQ(readFile(desc.output).value(), (std::vector<std::uint8_t>{'o', 'l', 'd'}));
      EXPECT_EQ(partFiles(), 0u);
      EXPECT_FALSE(fs::exists(*desc.report));
    }
}

TEST_F(BakeTest, AKilledProcessLeavesTheOldOutputWhole) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const char* file : {"killed.pc2", "killed.glb"}) {
    // The child is another process: the folder must not have its number in its name.
    const fs::path folder = fs::path(testing::TempDir()) / "derm-bake-killed";
    fs::create_directories(folder);
    BakeDesc desc = describe(kBump, file);
    desc.output = folder / file;
    ASSERT_TRUE(writeFileWhole(desc.output, "old").ok());
    EXPECT_EXIT(
        {
          const auto kill_us = [](double fraction, std::string_view) {
            if (fraction > 0.4) ::kill(::getpid(), SIGKILL);
            return true;
          };
          (void)bake(desc, notes_, kill_us);
        },
        testing::KilledBySignal(SIGKILL), "");
    EXPECT_EQ(readFile(desc.output).value(), (std::vector<std::uint8_t>{'o', 'l', 'd'})) << file;
    fs::remove_all(folder);
  }
}

TEST_F(BakeTest, OptionsThatDoNotFitAreErrorsBeforeAnyWork) {
  EXPECT_EQ(errorOf(describe(kBump, "a.fbx")),
            "cannot write \".fbx\" files; .glb, .gltf, .pc2, .mdd or .obj is expected");
  BakeDesc shapes = describe(kBump, "a.pc2");
  shapes.as = BakeAs::Correctives;
  EXPECT_EQ(errorOf(shapes), "correctives are morph targets: .glb or .gltf is expected");
  BakeDesc cache = describe(kBump, "a.glb");
  cache.correctives.shapes = 3;
  EXPECT_EQ(errorOf(cache), "a number of shapes or an error bound is for correctives only");
  BakeDesc both = describe(kBump, "a.glb");
  both.as = BakeAs::Correctives;
  both.correctives = {.shapes = 3, .error_m = 0.1};
  EXPECT_EQ(errorOf(both), "either a number of shapes or an error bound, not both");
  both.correctives = {.shapes = 0};
  EXPECT_EQ(errorOf(both), "at least 1 shape is expected");
  both.correctives = {.error_m = -1.0};
  EXPECT_EQ(errorOf(both), "an error bound of more than 0 is expected");
  BakeDesc same = describe(kBump, "a.glb");
  same.report = folder_ / "." / "a.glb";
  EXPECT_EQ(errorOf(same), "the report would replace the output");
  const Result<BakeReport> nowhere = bake(describe(kBump, "no/a.pc2"), notes_);
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().code, ErrorCode::CannotWrite);
  Character empty;
  empty.name = "empty";
  EXPECT_EQ(errorOf(describe("fps = 5", "a.pc2", std::make_shared<const Character>(empty))),
            "the character has no vertices");
}

TEST_F(BakeTest, AllEndingsTakeALoop) {
  for (const char* file : {"a.pc2", "a.glb"}) {
    const BakeDesc desc =
        describe(std::string("loop = true\n") + std::string(kSpringAndBump), file);
    EXPECT_EQ(baked(desc).frames.size(), 12u);
  }
}

}  // namespace
}  // namespace derm::bake_test
