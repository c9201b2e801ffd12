#include "derm/derm.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "derm/cast/cast.h"
#include "derm/io/gltf.h"
#include "derm/scene/scene.h"

namespace {

using nlohmann::json;

struct Closer {
  void operator()(derm_scene* scene) const { derm_close(scene); }
  void operator()(derm_files* files) const { derm_files_free(files); }
  void operator()(derm_liquid* liquid) const { derm_liquid_close(liquid); }
};
using ScenePointer = std::unique_ptr<derm_scene, Closer>;

constexpr const char* kCat = R"(# the cat of the manual
character = "cast:cat"
clip = "jump"
fps = 30  # film

[skinning]
method = "centre"

[[layer]]
type = "flesh"
name = "belly"  # soft
dominant = "spine_1"
ends = ["spine_5"]
frequency_hz = 5.0
from_m = [0, 0.295, -0.110]
to_m = [0, 0.295, 0.108]

[[layer]]
type = "volume"
)";

ScenePointer open(const char* text) { return ScenePointer(derm_open(nullptr, text, "cat.toml")); }

std::vector<float> positions(const ScenePointer& scene) {
  const float* p = derm_positions(scene.get());
  return {p, p + 3 * derm_vertex_count(scene.get())};
}

json parsed(const char* text) {
  EXPECT_NE(text, nullptr) << derm_last_error();
  return text == nullptr ? json() : json::parse(text);
}

TEST(CInterface, PlaysWhatTheSceneDoes) {
  const ScenePointer cat = open(kCat);
  ASSERT_NE(cat, nullptr) << derm_last_error();
  derm::Diagnostics notes;
  auto scene = derm::openScene(*derm::parseRecipe(kCat, "cat.toml"), {}, notes);
  ASSERT_TRUE(scene.ok());
  for (const double t : {0.0, 0.3, 0.7, 0.2}) {
    ASSERT_EQ(derm_seek(cat.get(), t), 1);
    const auto want = scene->playback().frameAt(t).positions();
    const std::vector<float> got = positions(cat);
    ASSERT_EQ(got.size(), 3 * want.size());
    EXPECT_EQ(std::memcmp(got.data(), want.data(), got.size() * sizeof(float)), 0) << t;
  }
}

TEST(CInterface, ErrorsAreObjectsWithAPlace) {
  EXPECT_EQ(derm_open(nullptr, "character = \"cast:cat\"\nclip = \"jumpp\"\n", "x.toml"), nullptr);
  const json error = json::parse(derm_last_error());
  EXPECT_EQ(error["code"], "bad_data");
  EXPECT_EQ(error["line"], 2);
  EXPECT_EQ(error["column"], 8);
  EXPECT_EQ(error["file"], "x.toml");
  EXPECT_NE(error["text"].get<std::string>().find("did you mean \"jump\""), std::string::npos);
  EXPECT_EQ(derm_open(nullptr, "", ""), nullptr);
  EXPECT_EQ(derm_open_character(nullptr, "nothing.glb"), nullptr);
  EXPECT_EQ(derm_seek(nullptr, 0), 0);
  EXPECT_EQ(json::parse(derm_last_error())["code"], "bad_argument");
}

TEST(CInterface, OpensFilesFromMemoryByTheirNames) {
  derm::Diagnostics notes;
  const auto glb = derm::encodeGlb(*derm::makeCastMember("arm"), notes);
  ASSERT_TRUE(glb.ok());
  const std::unique_ptr<derm_files, Closer> files(derm_files_new());
  std::copy(glb->begin(), glb->end(), derm_files_add(files.get(), "folder/arm.glb", glb->size()));
  const ScenePointer arm(derm_open(files.get(), "character = \"arm.glb\"\n", "folder/arm.toml"));
  ASSERT_NE(arm, nullptr) << derm_last_error();
  const json character = parsed(derm_character(arm.get()));
  EXPECT_EQ(character["vertices"], derm_vertex_count(arm.get()));
  EXPECT_FALSE(character["clips"].empty());
  EXPECT_FALSE(character["joints"].empty());
  const ScenePointer alone(derm_open_character(files.get(), "folder/arm.glb"));
  ASSERT_NE(alone, nullptr) << derm_last_error();
  EXPECT_EQ(positions(alone), positions(arm));
}

TEST(CInterface, EditsKeepCommentsAndSayWhatWasBound) {
  const ScenePointer cat = open(kCat);
  ASSERT_NE(cat, nullptr) << derm_last_error();
  derm_seek(cat.get(), 0.5);
  json report = parsed(derm_set_key(cat.get(), "belly", "frequency_hz", "3.5"));
  EXPECT_EQ(report["rebound"], json::array({"belly"}));
  EXPECT_FALSE(report["reopened"]);
  std::string text = derm_recipe_text(cat.get());
  EXPECT_NE(text.find("name = \"belly\"  # soft"), std::string::npos) << text;
  EXPECT_NE(text.find("frequency_hz = 3.5"), std::string::npos) << text;
  parsed(derm_set_key(cat.get(), "", "fps", "24"));
  EXPECT_NE(std::string(derm_recipe_text(cat.get())).find("fps = 24  # film"), std::string::npos);
  parsed(derm_set_key(cat.get(), nullptr, "skinning.alpha", "0.25"));
  EXPECT_EQ(parsed(derm_recipe(cat.get()))["sections"]["skinning"]["alpha"], 0.25);
  parsed(derm_enable_layer(cat.get(), "volume", 0));
  parsed(derm_rename_layer(cat.get(), "belly", "paunch"));
  parsed(derm_move_layer(cat.get(), "paunch", 1));
  parsed(derm_add_layer(cat.get(), "volume", nullptr, -1, nullptr));
  const json layers = parsed(derm_recipe(cat.get()))["layers"];
  ASSERT_EQ(layers.size(), 3u);
  EXPECT_EQ(layers[0]["name"], "volume");
  EXPECT_EQ(layers[0]["enabled"], false);
  EXPECT_EQ(layers[1]["name"], "paunch");
  EXPECT_EQ(layers[2]["name"], "volume_2");
  parsed(derm_remove_layer(cat.get(), "volume_2"));
  // A value out of range, an unknown layer: an error, and nothing changed.
  text = derm_recipe_text(cat.get());
  EXPECT_EQ(derm_set_key(cat.get(), "paunch", "frequency_hz", "-1"), nullptr);
  EXPECT_EQ(derm_set_key(cat.get(), "paunch", "frequency_hz", "{"), nullptr);
  EXPECT_EQ(derm_remove_layer(cat.get(), "pounch"), nullptr);
  EXPECT_NE(std::string(derm_last_error()).find("paunch"), std::string::npos);
  EXPECT_EQ(text, derm_recipe_text(cat.get()));
}

TEST(CInterface, AMotionThatIsPutElsewhereIsOpenedAnew) {
  derm::Diagnostics notes;
  const auto glb = derm::encodeGlb(*derm::makeCastMember("arm"), notes);
  ASSERT_TRUE(glb.ok());
  const std::unique_ptr<derm_files, Closer> files(derm_files_new());
  std::copy(glb->begin(), glb->end(), derm_files_add(files.get(), "other.glb", glb->size()));
  const ScenePointer arm(
      derm_open(files.get(), "character = \"cast:arm\"\nmotion = \"other.glb\"\n", "arm.toml"));
  ASSERT_NE(arm, nullptr) << derm_last_error();
  for (const char* key : {"arms_out", "ground"}) {
    const bool preset = parsed(derm_recipe(arm.get()))["sections"][""][key].get<bool>();
    const json report = parsed(derm_set_key(arm.get(), "", key, preset ? "false" : "true"));
    EXPECT_EQ(report["reopened"], true) << key;
    EXPECT_EQ(parsed(derm_recipe(arm.get()))["sections"][""][key], !preset);
  }
}

TEST(CInterface, WhatCannotBeAValueIsAnError) {
  const ScenePointer cat = open(kCat);
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  EXPECT_EQ(derm_set_key(cat.get(), "belly", "from_m", deep.c_str()), nullptr);
  EXPECT_NE(std::string(derm_last_error()).find("nested"), std::string::npos);
  EXPECT_EQ(derm_set_points(cat.get(), R"([{"label":"tip","triangle":1.5}])"), nullptr);
  const float ray[3] = {0, 0, 1};
  derm_hit hit;
  EXPECT_EQ(derm_pick(cat.get(), nullptr, ray, &hit), 0);
  EXPECT_EQ(derm_pick(cat.get(), ray, nullptr, &hit), 0);
  EXPECT_EQ(derm_character_glb(cat.get(), nullptr), nullptr);
  EXPECT_NE(std::string(derm_last_error()).find("size"), std::string::npos);
  EXPECT_EQ(derm_files_add(nullptr, "x.glb", 1), nullptr);
  size_t size = 1;
  EXPECT_EQ(derm_bake(cat.get(), R"({"format":"gltf"})", &size), nullptr) << "its numbers are lost";
  EXPECT_EQ(size, 0u);
}

TEST(CInterface, AnotherInnerRateCountsForTheHostsPosesToo) {
  const auto swung = [](const ScenePointer& cat) {
    derm_sample(cat.get(), -1, 0);
    derm_reset(cat.get());
    for (int i = 0; i < 5; ++i) {
      derm_pose(cat.get())[1] += 0.05f;
      derm_step(cat.get(), 1 / 30.0);
    }
    return positions(cat);
  };
  const ScenePointer edited = open(kCat);
  const std::vector<float> before = swung(edited);
  parsed(derm_set_key(edited.get(), "", "simulation.rate_hz", "30"));
  const ScenePointer fresh(derm_open(nullptr, derm_recipe_text(edited.get()), "cat.toml"));
  ASSERT_NE(fresh, nullptr) << derm_last_error();
  const std::vector<float> want = swung(fresh);
  EXPECT_NE(want, before);
  EXPECT_EQ(swung(edited), want);
}

TEST(CInterface, UndoIsTheTextFromBefore) {
  const ScenePointer cat = open(kCat);
  derm_seek(cat.get(), 0.6);
  const std::vector<float> before = positions(cat);
  parsed(derm_set_key(cat.get(), "belly", "frequency_hz", "2"));
  derm_seek(cat.get(), 0);
  derm_seek(cat.get(), 0.6);
  EXPECT_NE(positions(cat), before);
  parsed(derm_set_recipe_text(cat.get(), kCat));
  derm_seek(cat.get(), 0);
  derm_seek(cat.get(), 0.6);
  EXPECT_EQ(positions(cat), before);
}

TEST(CInterface, AnEditWhileTheClipStandsShowsWhatPlayingItGives) {
  const ScenePointer cat = open(kCat);
  derm_seek(cat.get(), 0.6);
  parsed(derm_set_key(cat.get(), "belly", "frequency_hz", "3.5"));
  const std::vector<float> went_on = positions(cat);
  derm_seek(cat.get(), 0.6);
  const std::string text = derm_recipe_text(cat.get());
  const ScenePointer fresh = open(text.c_str());
  derm_seek(fresh.get(), 0.6);
  EXPECT_EQ(positions(cat), positions(fresh));
  EXPECT_NE(positions(cat), went_on) << "an edit alone lets motion go on";
  // Also at the very start, and after playing on for a while.
  derm_seek(cat.get(), 0);
  parsed(derm_set_key(cat.get(), "belly", "frequency_hz", "6"));
  derm_seek(cat.get(), 0);
  derm_seek(fresh.get(), 0.2);
  parsed(derm_set_key(fresh.get(), "belly", "frequency_hz", "6"));
  for (const double t : {0.22, 0.25, 0.3}) derm_seek(fresh.get(), t);
  derm_seek(fresh.get(), 0.3);
  derm_seek(cat.get(), 0.3);
  EXPECT_EQ(positions(cat), positions(fresh));
}

TEST(CInterface, WhatAnEditChangedIsThereForWhoeverAsksFirst) {
  // The frame is made when it is asked for: by whichever call, it is the same.
  const auto edited = [] {
    ScenePointer cat = open(kCat);
    derm_seek(cat.get(), 0.6);
    parsed(derm_set_key(cat.get(), "", "clip", "\"run\""));
    return cat;
  };
  const ScenePointer by_positions = edited();
  const std::vector<float> want = positions(by_positions);
  const auto poseOf = [](const ScenePointer& cat) {
    const float* pose = derm_pose(cat.get());
    return std::vector<float>(pose, pose + 10 * parsed(derm_character(cat.get()))["joints"].size());
  };
  const ScenePointer by_pose = edited();
  EXPECT_EQ(poseOf(by_pose), poseOf(by_positions));
  EXPECT_EQ(positions(by_pose), want);
  const ScenePointer by_report = edited();
  EXPECT_EQ(parsed(derm_frame_report(by_report.get()))["layers"].size(), 4u);
  EXPECT_EQ(positions(by_report), want);
  const ScenePointer by_linear = edited();
  const auto plain = [](const ScenePointer& cat) {
    const float* p = derm_linear_positions(cat.get());
    return std::vector<float>(p, p + 3 * derm_vertex_count(cat.get()));
  };
  EXPECT_EQ(plain(by_linear), plain(by_positions));
  // And a step from it begins where the clip stands.
  EXPECT_EQ(derm_step(by_linear.get(), 0), 1);
  EXPECT_EQ(derm_step(by_positions.get(), 0), 1);
  EXPECT_EQ(positions(by_linear), positions(by_positions));
}

TEST(CInterface, TakesTheHostsPose) {
  const ScenePointer cat = open(kCat);
  const json character = parsed(derm_character(cat.get()));
  ASSERT_EQ(derm_sample(cat.get(), -1, 0), 1);
  ASSERT_EQ(derm_reset(cat.get()), 1);
  const std::vector<float> rest = positions(cat);
  float* pose = derm_pose(cat.get());
  pose[0] += 0.5f;  // the root goes aside by half a metre
  ASSERT_EQ(derm_reset(cat.get()), 1);
  const std::vector<float> moved = positions(cat);
  for (std::size_t v = 0; v < rest.size(); v += 3) EXPECT_NEAR(moved[v] - rest[v], 0.5, 1e-4);
  pose = derm_pose(cat.get());
  pose[0] = std::nanf("");
  EXPECT_EQ(derm_step(cat.get(), 0.01), 0);
  EXPECT_EQ(positions(cat), moved);
  EXPECT_EQ(derm_step(cat.get(), -1), 0);
  EXPECT_EQ(character["joints"].size() * 10 > 0, true);
}

TEST(CInterface, APoseThatIsNotFiniteDoesNotGetIntoLayersByAnEdit) {
  const ScenePointer cat = open(kCat);
  const auto allFinite = [&] {
    const std::vector<float> p = positions(cat);
    return std::all_of(p.begin(), p.end(), [](float v) { return std::isfinite(v); });
  };
  ASSERT_EQ(derm_sample(cat.get(), -1, 0), 1);
  ASSERT_EQ(derm_reset(cat.get()), 1);
  const float y = derm_pose(cat.get())[1];
  derm_pose(cat.get())[1] = std::nanf("");
  parsed(derm_set_key(cat.get(), "belly", "frequency_hz", "3"));
  EXPECT_TRUE(allFinite()) << "a number of a layer";
  EXPECT_NE(derm_channel(cat.get(), "mask:belly"), nullptr) << derm_last_error();
  EXPECT_TRUE(allFinite()) << "a mask";
  parsed(derm_set_key(cat.get(), "", "simulation.rate_hz", "30"));
  EXPECT_TRUE(allFinite()) << "another clock";
  EXPECT_EQ(derm_step(cat.get(), 0.1), 0) << "what the host wrote is told";
  derm_pose(cat.get())[1] = y;
  ASSERT_EQ(derm_step(cat.get(), 0.1), 1) << derm_last_error();
  EXPECT_TRUE(allFinite());
}

TEST(CInterface, ListsEveryFieldWithRangeUnitAndHelp) {
  const json all = parsed(derm_recipe_fields());
  ASSERT_EQ(all["layers"].size(), derm::builtInLayerTypes().all().size());
  bool found = false;
  for (const json& layer : all["layers"])
    for (const json& field : layer["fields"]) {
      EXPECT_FALSE(field["help"].get<std::string>().empty());
      // Flesh and folds show at once, whatever is changed.
      const bool always = layer["type"] == "flesh" || layer["type"] == "wrinkles";
      EXPECT_TRUE(field["live"] == true || (field["live"] == false && !always)) << field["key"];
      if (layer["type"] != "flesh" || field["key"] != "frequency_hz") continue;
      found = true;
      EXPECT_EQ(field["kind"], "number");
      EXPECT_EQ(field["low"], 0.001);
      EXPECT_EQ(field["high"], 1000);
      EXPECT_EQ(field["unit"], "Hz");
      EXPECT_EQ(field["live"], true);
    }
  EXPECT_TRUE(found);
}

TEST(CInterface, QueriesTheFrame) {
  const ScenePointer cat = open(kCat);
  derm_seek(cat.get(), 0.5);
  const json frame = parsed(derm_frame_report(cat.get()));
  bool flesh = false, volume = false;
  for (const json& layer : frame["layers"]) {
    flesh = flesh || layer.contains("elongation_m");
    if (!layer.contains("regions")) continue;
    volume = true;
    for (const json& region : layer["regions"]) {
      if (region["idle"].get<bool>()) continue;
      EXPECT_NEAR(region["after_m3"].get<double>() / region["target_m3"].get<double>(), 1, 1e-5);
    }
  }
  EXPECT_TRUE(flesh && volume);
  const std::vector<float> p = positions(cat);
  const uint32_t* corner = derm_triangles(cat.get());
  float origin[3], direction[3] = {0, 0, -1};
  for (int axis = 0; axis < 3; ++axis)
    origin[axis] =
        (p[3 * corner[0] + axis] + p[3 * corner[1] + axis] + p[3 * corner[2] + axis]) / 3;
  origin[2] += 3;
  derm_hit hit;
  ASSERT_EQ(derm_pick(cat.get(), origin, direction, &hit), 1);
  EXPECT_LT(hit.triangle, derm_triangle_count(cat.get()));
  EXPECT_GE(hit.joint, 0);
  EXPECT_NEAR(origin[2] - hit.distance, hit.position[2], 1e-4);
  direction[2] = 1;
  EXPECT_EQ(derm_pick(cat.get(), origin, direction, &hit), 0);
  const float* alpha = derm_channel(cat.get(), "mask:belly");
  ASSERT_NE(alpha, nullptr) << derm_last_error();
  EXPECT_EQ(*std::max_element(alpha, alpha + derm_vertex_count(cat.get())), 1.0f);
  EXPECT_NE(derm_channel(cat.get(), "weight:spine_1"), nullptr);
  EXPECT_NE(derm_channel(cat.get(), "displacement"), nullptr);
  EXPECT_NE(derm_channel(cat.get(), "compression"), nullptr);
  EXPECT_EQ(derm_channel(cat.get(), "mask:belli"), nullptr);
  EXPECT_NE(derm_joint_matrices(cat.get()), nullptr);
}

TEST(CInterface, GroupsAndPointsChangeTheCharacter) {
  const ScenePointer cat = open(kCat);
  std::vector<float> group(derm_vertex_count(cat.get()), 0.0f);
  group[3] = 0.5f;
  const json report = parsed(derm_set_group(cat.get(), "patch", group.data(), group.size()));
  EXPECT_TRUE(report["reopened"]);
  EXPECT_EQ(derm_channel(cat.get(), "group:patch")[3], 0.5f);
  EXPECT_EQ(derm_set_group(cat.get(), "patch", group.data(), 7), nullptr);
  const float shares[3] = {0.2f, 0.3f, 0.5f};
  parsed(derm_set_point(cat.get(), "tip", 5, shares));
  const json points = parsed(derm_character(cat.get()))["points"];
  EXPECT_EQ(points.back()["label"], "tip");
  EXPECT_NE(derm_point_positions(cat.get()), nullptr);
  EXPECT_EQ(derm_set_point(cat.get(), "tip", 1 << 30, shares), nullptr);
}

TEST(CInterface, AnotherUnitKeepsWhatWasPaintedAndPlaced) {
  const ScenePointer cat = open("character = \"cast:cat\"\n");
  ASSERT_NE(cat, nullptr) << derm_last_error();
  const std::vector<float> before = positions(cat);
  std::vector<float> group(derm_vertex_count(cat.get()), 0.0f);
  group[3] = 0.5f;
  parsed(derm_set_group(cat.get(), "patch", group.data(), group.size()));
  const float shares[3] = {0.2f, 0.3f, 0.5f};
  parsed(derm_set_point(cat.get(), "tip", 5, shares));
  EXPECT_TRUE(parsed(derm_set_key(cat.get(), "", "metres_per_unit", "0.01"))["reopened"]);
  const std::vector<float> small = positions(cat);
  ASSERT_EQ(small.size(), before.size());
  for (std::size_t i = 0; i < small.size(); ++i) ASSERT_NEAR(small[i], 0.01 * before[i], 1e-6);
  const float* painted = derm_channel(cat.get(), "group:patch");
  ASSERT_NE(painted, nullptr) << derm_last_error();
  EXPECT_EQ(painted[3], 0.5f);
  EXPECT_EQ(parsed(derm_character(cat.get()))["points"].back()["label"], "tip");
  parsed(derm_set_key(cat.get(), "", "metres_per_unit", ""));
  EXPECT_EQ(positions(cat), before);
  EXPECT_NE(derm_channel(cat.get(), "group:patch"), nullptr) << derm_last_error();
}

TEST(CInterface, ProposesAndBakes) {
  const ScenePointer cat = open("character = \"cast:cat\"\nclip = \"jump\"\nfps = 10\n");
  const char* text = derm_propose(cat.get(), "all");
  ASSERT_NE(text, nullptr) << derm_last_error();
  const std::string proposed = text;
  EXPECT_NE(proposed.find("flesh"), std::string::npos);
  EXPECT_NE(proposed.find("volume"), std::string::npos);
  parsed(derm_set_recipe_text(cat.get(), proposed.c_str()));
  EXPECT_EQ(derm_propose(cat.get(), "hair"), nullptr);
  size_t size = 0;
  const unsigned char* glb = derm_bake(cat.get(), R"({"format":"pc2"})", &size);
  ASSERT_NE(glb, nullptr) << derm_last_error();
  EXPECT_EQ(std::memcmp(glb, "POINTCACHE2", 11), 0);
  EXPECT_GT(parsed(derm_bake_report(cat.get()))["frame_count"], 5);
  EXPECT_EQ(derm_bake(cat.get(), R"({"format":"docx"})", &size), nullptr);
  EXPECT_EQ(derm_bake(cat.get(), R"({"formta":"glb"})", &size), nullptr);
  ASSERT_NE(derm_character_glb(cat.get(), &size), nullptr);
  EXPECT_GT(size, 1000u);
}

TEST(CInterface, ShipsRecipesThatOpen) {
  const json recipes = parsed(derm_shipped_recipes());
  EXPECT_GE(recipes.size(), 9u);
  for (const json& recipe : recipes) {
    const std::string text = recipe["text"].get<std::string>();
    EXPECT_TRUE(derm::parseRecipe(text, recipe["name"].get<std::string>()).ok()) << recipe["name"];
  }
  EXPECT_FALSE(parsed(derm_cast()).empty());
}

TEST(CInterface, PoursALiquid) {
  const std::unique_ptr<derm_liquid, Closer> liquid(derm_liquid_open("pour", 0.8));
  ASSERT_NE(liquid, nullptr) << derm_last_error();
  const double before = derm_liquid_volume(liquid.get());
  for (int i = 0; i < 5; ++i) ASSERT_EQ(derm_liquid_step(liquid.get(), 1 / 30.0), 1);
  EXPECT_GT(derm_liquid_volume(liquid.get()), before);
  EXPECT_GT(derm_liquid_triangle_count(liquid.get()), 100u);
  EXPECT_NE(derm_liquid_normals(liquid.get()), nullptr);
  EXPECT_EQ(derm_liquid_open("sand", 0), nullptr);
}

TEST(CInterface, FacesTellNamesAndRegionsAndFindTheirPoints) {
  const json names = parsed(derm_face_names());
  EXPECT_EQ(names["points"].size(), 28u);
  EXPECT_FALSE(names["regions"].empty());
  const ScenePointer man = open("character = \"cast:man\"\n");
  ASSERT_NE(man, nullptr) << derm_last_error();
  const float* mouth = derm_channel(man.get(), "region:mouth");
  ASSERT_NE(mouth, nullptr) << derm_last_error();
  const std::size_t count = derm_vertex_count(man.get());
  EXPECT_GT(*std::max_element(mouth, mouth + count), 0.9f);
  EXPECT_LE(*std::max_element(mouth, mouth + count), 1.0f + 1e-5f);
  EXPECT_EQ(derm_channel(man.get(), "region:moth"), nullptr);

  const json found = parsed(derm_find_points(man.get(), "cast:woman"));
  ASSERT_GE(found["points"].size(), 28u);
  EXPECT_LT(found["residual"].get<double>(), 0.5);
  const std::string list = found["points"].dump();
  const json edit = parsed(derm_set_points(man.get(), list.c_str()));
  EXPECT_TRUE(edit["reopened"].get<bool>());
  EXPECT_EQ(parsed(derm_character(man.get()))["points"].size(), found["points"].size());
  EXPECT_EQ(derm_set_points(man.get(), "[{\"label\":\"x\",\"triangle\":100000000}]"), nullptr);
  EXPECT_EQ(derm_set_points(man.get(), "{}"), nullptr);
  ASSERT_NE(derm_add_face_shapes(man.get()), nullptr) << derm_last_error();
  const std::size_t morphs = parsed(derm_character(man.get()))["morphs"].size();
  EXPECT_GE(morphs, 52u);
  ASSERT_NE(derm_set_key(man.get(), "", "metres_per_unit", "2"), nullptr) << derm_last_error();
  EXPECT_EQ(parsed(derm_character(man.get()))["morphs"].size(), morphs) << "in another unit";
  EXPECT_EQ(derm_find_points(man.get(), "cast:cat"), nullptr);  // which has no points
}

TEST(CInterface, ClipsTellWhatTheyMove) {
  const ScenePointer cat = open(kCat);
  const json clips = parsed(derm_character(cat.get()))["clips"];
  ASSERT_FALSE(clips.empty());
  EXPECT_FALSE(clips[0]["joints"].empty());
  EXPECT_TRUE(clips[0]["morphs"].empty());
}

}  // namespace
