// Writing: what did not change comes back as it was, what changed is new, nothing unknown is lost.
#include <filesystem>
#include <limits>

#include <gtest/gtest.h>

#include "derm/io/file_bytes.h"

#include "io/gltf_builder.h"
#include "support/compare.h"
#include "support/shelf.h"
#include "support/test_folder.h"

namespace derm::gltf_writer_test {
namespace {

using testing_support::encode;
using testing_support::GltfBuilder;
using testing_support::Json;
using testing_support::jsonOf;
using testing_support::parse;
using testing_support::readValid;

Character read(const std::vector<std::uint8_t>& bytes) {
  Diagnostics notes;
  return readValid(bytes, notes);
}

/// One of everything, with words of others on every kind of object.
GltfBuilder crowdedFile() {
  GltfBuilder g;
  const Json extras = {{"note", {1, "two", nullptr}}};
  const Json foreign = {{"ACME_thing", {{"value", 7}}}};
  g.root["extensionsUsed"] = {"ACME_thing", "KHR_lights_punctual"};
  g.root["extras"] = extras;
  g.root["vendorRoot"] = true;
  g.root["asset"]["copyright"] = "me";
  g.root["extensions"] = {{"ACME_thing", {{"bone", 1}}},
                          {"KHR_lights_punctual", {{"lights", {{{"type", "point"}}}}}}};
  const int mesh = g.addTriangleMesh();
  Json& primitive = g.root["meshes"][mesh]["primitives"][0];
  primitive["attributes"]["TEXCOORD_0"] = g.addFloats({0, 0, 1, 0, 0, 1}, "VEC2", 2);
  primitive["attributes"]["TEXCOORD_1"] = g.addFloats({5, 5, 6, 5, 5, 6}, "VEC2", 2);
  primitive["attributes"]["_TEMPERATURE"] = g.addFloats({1, 2, 3}, "SCALAR", 1);
  primitive["attributes"]["JOINTS_0"] =
      g.addInts<std::uint8_t>({0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}, 5121, "VEC4", 4);
  primitive["attributes"]["WEIGHTS_0"] =
      g.addFloats({1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}, "VEC4", 4);
  primitive["targets"] = {{{"POSITION", g.addFloats({0, 0, 1, 0, 0, 0, 0, 0, 0}, "VEC3", 3)}}};
  primitive["material"] = 0;
  Json points = primitive;
  points["mode"] = 0;
  g.root["meshes"][mesh]["primitives"].push_back(points);
  g.append("images", {{"uri", "data:image/png;base64,iVBORw=="}});
  g.append("samplers", {{"wrapS", 33071}});
  g.append("textures", {{"source", 0}, {"sampler", 0}});
  g.append("materials", {{"emissiveFactor", {1, 0, 0}},
                         {"pbrMetallicRoughness", {{"baseColorTexture", {{"index", 0}}}}}});
  g.append("cameras", {{"type", "perspective"}, {"perspective", {{"yfov", 1}, {"znear", 1}}}});
  g.addNode({{"name", "a"}, {"children", {1}}});
  g.addNode({{"name", "b"}, {"translation", {0, 1, 0}}, {"camera", 0}});
  g.addNode({{"name", "body"}, {"mesh", 0}, {"skin", 0}});
  g.append("skins", {{"joints", {0, 1}}, {"skeleton", 0}});
  const int times = g.addFloats({0, 1}, "SCALAR", 1);
  g.append("animations",
           {{"name", "turn"},
            {"samplers",
             {{{"input", times}, {"output", g.addFloats({0, 0, 0, 1, 0, 0, 1, 0}, "VEC4", 4)}},
              {{"input", times}, {"output", g.addFloats({1, 1}, "SCALAR", 1)}}}},
            {"channels",
             {{{"sampler", 0}, {"target", {{"node", 1}, {"path", "rotation"}}}},
              {{"sampler", 1},
               {"target",
                {{"path", "pointer"},
                 {"extensions", {{"KHR_animation_pointer", {{"pointer", "/cameras/0"}}}}}}}}}}});
  g.addScene({0, 2});
  for (const char* array :
       {"accessors", "animations", "bufferViews", "cameras", "images", "materials", "meshes",
        "nodes", "samplers", "scenes", "skins", "textures"})
    for (Json& item : g.root[array]) {
      item["extras"] = extras;
      item["extensions"]["ACME_thing"] = foreign["ACME_thing"];
    }
  return g;
}

TEST(GltfWriter, AnUnchangedFileComesBackAsItWas) {
  const std::vector<std::uint8_t> source = crowdedFile().glb();
  const Character c = read(source);
  const std::vector<std::uint8_t> written = encode(c);
  EXPECT_EQ(jsonOf(written), jsonOf(source));
  EXPECT_EQ(written.size(), source.size());
  EXPECT_TRUE(sameContent(c, read(written)));
}

TEST(GltfWriter, AChangedFileNamesDermAndWhomItIsFrom) {
  GltfBuilder source = crowdedFile();
  source.root["asset"]["generator"] = "someone's exporter";
  Character c = read(source.glb());
  EXPECT_EQ(jsonOf(encode(c))["asset"]["generator"], "someone's exporter");
  for (Vec3f& p : c.mesh.positions) p *= 2;
  const std::string signed_by = jsonOf(encode(c))["asset"]["generator"];
  EXPECT_TRUE(signed_by.starts_with("derm ") && signed_by.ends_with(", from someone's exporter"))
      << signed_by;
  Character again = read(encode(c));
  for (Vec3f& p : again.mesh.positions) p *= 2;
  EXPECT_EQ(jsonOf(encode(again))["asset"]["generator"], signed_by);
}

TEST(GltfWriter, TheSameCharacterGivesTheSameBytes) {
  const Character c = shelf::rigged(shelf::all()[5]);
  EXPECT_EQ(encode(c), encode(c));
}

TEST(GltfWriter, MovedVerticesReplaceOnlyThePositions) {
  Character c = read(crowdedFile().glb());
  c.mesh.positions[1] = Vec3f(4, 5, 6);
  const Json before = crowdedFile().root;
  const std::vector<std::uint8_t> written = encode(c);
  const Json after = jsonOf(written);
  EXPECT_EQ(read(written).mesh.positions[1], Vec3f(4, 5, 6));
  const Json& then = before["meshes"][0]["primitives"][0]["attributes"];
  const Json& now = after["meshes"][0]["primitives"][0]["attributes"];
  EXPECT_NE(now["POSITION"], then["POSITION"]);
  for (const char* kept : {"NORMAL", "TEXCOORD_0", "TEXCOORD_1", "_TEMPERATURE", "JOINTS_0"})
    EXPECT_EQ(now[kept], then[kept]) << kept;
  for (const char* kept : {"nodes", "skins", "materials", "animations", "cameras", "extensions"})
    EXPECT_EQ(after[kept], before[kept]) << kept;
  EXPECT_EQ(after["meshes"][0]["primitives"][1], before["meshes"][0]["primitives"][1]);
  const Json& accessor = after["accessors"][now["POSITION"].get<int>()];
  EXPECT_EQ(accessor["max"], (Json{4, 5, 6}));
  EXPECT_EQ(accessor["min"], (Json{0, 0, 0}));
}

TEST(GltfWriter, ReplacedDataIsDroppedWhereNothingUnknownMayReferToIt) {
  GltfBuilder g;
  g.addTriangleMesh();
  g.addScene({g.addNode({{"mesh", 0}})});
  Character c = read(g.glb());
  c.mesh.positions[1] = Vec3f(4, 5, 6);
  const Json after = jsonOf(encode(c));
  EXPECT_EQ(after["accessors"].size(), 2u);
  EXPECT_EQ(after["buffers"][0]["byteLength"], 72);
  // The crowded file uses an extension of which we cannot know what it refers to.
  Character crowded = read(crowdedFile().glb());
  crowded.mesh.positions[1] = Vec3f(4, 5, 6);
  EXPECT_GT(jsonOf(encode(crowded))["accessors"].size(), crowdedFile().root["accessors"].size());
}

TEST(GltfWriter, AChangedSkinIsWrittenAnew) {
  Character c = read(crowdedFile().glb());
  for (SkinSlot& slot : c.skin.slots) slot.inverse_bind.translation().x() += 0.5f;
  std::vector<Influence> row{{0, 0.25f}, {1, 0.75f}};
  Diagnostics notes;
  SkinBuilder builder(c.skin.slots, 3);
  for (int v = 0; v < 3; ++v) {
    row = {{0, 0.25f}, {1, 0.75f}};
    builder.addVertex(row, 0, "", notes);
  }
  c.skin = std::move(builder).finish();
  const std::vector<std::uint8_t> written = encode(c);
  const Json after = jsonOf(written);
  EXPECT_EQ(after["skins"].size(), 1u);  // in its old place
  EXPECT_EQ(after["skins"][0]["extras"], crowdedFile().root["skins"][0]["extras"]);
  const Character back = read(written);
  EXPECT_EQ(back.skin.influences, c.skin.influences);
  const std::vector<Affine3d> model = restModelMatrices(c.skeleton);
  std::vector<Affine3f> now(2), then(2);
  skinningMatrices(back.skin, model, now);
  skinningMatrices(c.skin, model, then);
  for (int s = 0; s < 2; ++s)
    EXPECT_LT((now[s] * back.mesh.positions[1] - then[s] * c.mesh.positions[1]).norm(), 1e-6);
}

TEST(GltfWriter, NewJointsClipsAndMorphsAreAppended) {
  Character c = read(crowdedFile().glb());
  c.skeleton.joints.push_back({.name = "tail", .parent = JointId(1)});
  c.joint_source.push_back(-1);
  c.skeleton.joints[0].rest.translation = Vec3f(0, 0, 3);
  c.morphs.push_back({.name = "lift", .vertices = {1}, .positions = {{0, 1, 0}}});
  c.instances[0].morph_count = 2;
  c.clips.push_back({"wag",
                     {{.channel = Channel::MorphWeights,
                       .interpolation = Interpolation::Cubic,
                       .first_morph = 0,
                       .morph_count = 2,
                       .times_s = {0, 1},
                       .values = std::vector<float>(12, 0.5f)},
                      {.channel = Channel::Scale,
                       .joint = JointId(3),
                       .times_s = {0, 2},
                       .values = {1, 1, 1, 2, 2, 2}}}});
  ASSERT_TRUE(validate(c)) << validate(c).error().text();
  const std::vector<std::uint8_t> written = encode(c);
  const Json after = jsonOf(written);
  EXPECT_EQ(after["nodes"][3]["name"], "tail");
  EXPECT_EQ(after["nodes"][1]["children"], Json{3});
  EXPECT_EQ(after["nodes"][1]["camera"], 0);
  EXPECT_EQ(after["animations"][0], crowdedFile().root["animations"][0]);
  // The points that are only carried must have as many targets.
  EXPECT_EQ(after["meshes"][0]["primitives"][1]["targets"].size(), 2u);
  const Character back = read(written);
  EXPECT_EQ(back.morphs, c.morphs);
  EXPECT_EQ(back.clips, c.clips);
  EXPECT_EQ(back.skeleton, c.skeleton);
}

TEST(GltfWriter, AChangedClipKeepsChannelsWeDoNotKnow) {
  Character c = read(crowdedFile().glb());
  c.clips[0].tracks[0].values[0] = 0.1f;
  const Json after = jsonOf(encode(c));
  ASSERT_EQ(after["animations"].size(), 1u);
  EXPECT_EQ(after["animations"][0]["channels"].size(), 2u);
  EXPECT_EQ(after["animations"][0]["channels"][1]["target"]["path"], "pointer");
  EXPECT_EQ(after["animations"][0]["extras"], crowdedFile().root["animations"][0]["extras"]);
}

TEST(GltfWriter, ARemovedClipAndInstanceAreGone) {
  Character c = read(crowdedFile().glb());
  c.clips.clear();
  c.instances.clear();
  c.parts.clear();
  c.morphs.clear();
  c.mesh = {};
  c.skin = {};
  const Character back = read(encode(c));
  EXPECT_TRUE(back.clips.empty());
  EXPECT_TRUE(back.instances.empty());
  EXPECT_EQ(back.skeleton, c.skeleton);
}

TEST(GltfWriter, OneOfTwoNodesThatShowAMeshCanChange) {
  GltfBuilder g;
  g.addTriangleMesh();
  g.addNode({{"mesh", 0}});
  g.addNode({{"mesh", 0}, {"translation", {5, 0, 0}}});
  g.addScene({0, 1});
  Character c = read(g.glb());
  c.mesh.positions[4] = Vec3f(7, 0, 0);
  const Character back = read(encode(c));
  EXPECT_EQ(back.mesh.positions, c.mesh.positions);
  EXPECT_NE(back.instances[0].source_mesh, back.instances[1].source_mesh);
}

TEST(GltfWriter, ScaledImportsAreWrittenInMetres) {
  Diagnostics notes;
  const Result<Character> c = parse(crowdedFile().glb(), notes, {.metres_per_unit = 0.5});
  ASSERT_TRUE(c);
  const Character back = read(encode(*c));
  EXPECT_EQ(back.mesh.positions, c->mesh.positions);
  EXPECT_EQ(back.skeleton, c->skeleton);
}

TEST(GltfWriter, MaterialsChangeFieldByField) {
  Character c = read(crowdedFile().glb());
  c.materials[0].roughness = 0.25f;
  c.materials.push_back({.name = "new", .base_colour = {0, 1, 0, 1}, .base_colour_image = 0});
  c.parts[0].material = 1;
  const Json after = jsonOf(encode(c));
  EXPECT_EQ(after["materials"][0]["pbrMetallicRoughness"]["roughnessFactor"], 0.25);
  EXPECT_EQ(after["materials"][0]["emissiveFactor"], (Json{1, 0, 0}));
  EXPECT_EQ(after["meshes"][0]["primitives"][0]["material"], 1);
  EXPECT_EQ(after["textures"].size(), 1u);  // the picture has one already
}

TEST(GltfWriter, ACharacterOfOtherJointsKeepsItsMaterialsAndAttributes) {
  Character c = read(crowdedFile().glb());
  c.skeleton = {};
  c.skin = {};
  c.clips.clear();
  c.joint_source.clear();
  c.instances[0].joint = {};
  const Json after = jsonOf(encode(c));
  EXPECT_EQ(after["materials"], crowdedFile().root["materials"]);
  EXPECT_FALSE(after.contains("skins") || after.contains("animations"));
  const Json& attributes = after["meshes"][0]["primitives"][0]["attributes"];
  EXPECT_TRUE(attributes.contains("_TEMPERATURE"));
  EXPECT_FALSE(attributes.contains("JOINTS_0"));
  EXPECT_TRUE(read(encode(c)).skeleton.joints.empty());
}

TEST(GltfWriter, CharactersMadeHereComeBackBitForBit) {
  for (const shelf::ShelfMesh& m : shelf::all()) {
    if (m.mesh.positions.empty()) continue;
    SCOPED_TRACE(m.name);
    const Character c = shelf::rigged(m);
    const Character back = read(encode(c));
    EXPECT_TRUE(sameContent(c, back));
    EXPECT_TRUE(sameContent(back, read(encode(back))));
  }
}

TEST(GltfWriter, AMeshWithoutVerticesIsLeftOutWithAWord) {
  const Character c = shelf::rigged(shelf::all()[0]);
  Diagnostics notes;
  const Result<std::vector<std::uint8_t>> bytes = encodeGlb(c, notes);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(notes.count("empty-mesh"), 1u);
  EXPECT_EQ(read(*bytes).skeleton, c.skeleton);
}

TEST(GltfWriter, BareMeshesGroupsPartsAndPicturesComeBack) {
  Character c;
  c.name = "thing";
  c.mesh = shelf::cube();
  c.mesh.uvs.assign(8, Vec2f(0.5f, 0.25f));
  c.mesh.colours.assign(8, Vec4f(1, 0.5f, 0, 1));
  c.mesh.groups = {{"none", {}, {}}, {"top", {2, 3, 7}, {1, 0.5f, 0.1f}}};
  c.images.push_back({"face", "image/png", "", {0x89, 'P', 'N', 'G'}});
  c.materials.push_back(
      {.name = "m", .base_colour_image = 0, .roughness = 0.5f, .transparent = true});
  c.parts = {{.name = "lower", .triangle_count = 5, .vertex_count = 8, .material = 0},
             {.name = "upper", .first_triangle = 5, .triangle_count = 7, .vertex_count = 8}};
  addDefaultParts(c);
  ASSERT_TRUE(validate(c)) << validate(c).error().text();
  const Character back = read(encode(c));
  EXPECT_TRUE(sameContent(c, back));
  EXPECT_EQ(back.mesh.groups, c.mesh.groups);
  // The two parts share one set of vertices.
  EXPECT_EQ(jsonOf(encode(c))["meshes"][0]["primitives"][0]["attributes"],
            jsonOf(encode(c))["meshes"][0]["primitives"][1]["attributes"]);
}

TEST(GltfWriter, ManyInfluencesNeedSeveralSets) {
  Character c = shelf::rigged(shelf::all()[3]);
  const std::size_t vertices = c.mesh.vertexCount();
  for (int j = 3; j < 300; ++j) {
    c.skeleton.joints.push_back({.name = "extra", .parent = JointId(0)});
    c.skin.slots.push_back({JointId(static_cast<std::size_t>(j)), c.skin.slots[0].inverse_bind});
  }
  Diagnostics notes;
  SkinBuilder builder(c.skin.slots, vertices);
  std::vector<Influence> row;
  for (std::size_t v = 0; v < vertices; ++v) {
    row.clear();
    for (std::uint32_t k = 0; k < 6 + v % 3; ++k) row.push_back({k * 37, 1.0f + float(k)});
    builder.addVertex(row, 0, "", notes);
  }
  c.skin = std::move(builder).finish();
  const std::vector<std::uint8_t> written = encode(c);
  EXPECT_EQ(read(written).skin, c.skin);
  const Json primitive = jsonOf(written)["meshes"][0]["primitives"][0];
  EXPECT_TRUE(primitive["attributes"].contains("WEIGHTS_1"));
  EXPECT_EQ(
      jsonOf(written)["accessors"][primitive["attributes"]["JOINTS_0"].get<int>()]["componentType"],
      5123);  // 300 joints do not fit a byte
}

TEST(GltfWriter, JointsWithoutACommonRootGetOneThatIsNoJoint) {
  Character c = shelf::rigged(shelf::all()[3]);
  for (Joint& j : c.skeleton.joints) j.parent = {};
  const std::vector<std::uint8_t> written = encode(c);
  EXPECT_EQ(jsonOf(written)["scenes"][0]["nodes"].size(), 2u);
  EXPECT_EQ(read(written).skeleton, c.skeleton);
}

TEST(GltfWriter, RigidPropsStayOnTheirJoints) {
  Character c = shelf::rigged(shelf::all()[3]);
  const auto n = static_cast<std::uint32_t>(c.mesh.vertexCount());
  const auto t = static_cast<std::uint32_t>(c.mesh.triangles.size());
  const TriMesh cube = c.mesh;
  for (const Vec3f& p : cube.positions) c.mesh.positions.push_back(p + Vec3f(3, 0, 0));
  c.mesh.normals.insert(c.mesh.normals.end(), cube.normals.begin(), cube.normals.end());
  for (Triangle triangle : cube.triangles) {
    for (std::uint32_t& v : triangle) v += n;
    c.mesh.triangles.push_back(triangle);
  }
  c.parts.push_back({.name = "prop",
                     .first_triangle = t,
                     .triangle_count = t,
                     .first_vertex = n,
                     .vertex_count = n});
  c.instances.push_back({.name = "prop",
                         .joint = JointId(2),
                         .rigid = true,
                         .first_part = 1,
                         .part_count = 1,
                         .first_vertex = n,
                         .vertex_count = n});
  const Affine3d model = restModelMatrices(c.skeleton)[2];
  c.skin.slots.push_back({JointId(2), model.inverse().cast<float>()});
  for (std::uint32_t v = 0; v < n; ++v) {
    c.skin.influences.push_back({3, 1.0f});
    c.skin.offsets.push_back(c.skin.offsets.back() + 1);
  }
  ASSERT_TRUE(validate(c)) << validate(c).error().text();
  const Character back = read(encode(c));
  ASSERT_EQ(back.instances.size(), 2u);
  EXPECT_EQ(back.instances[1].name, "prop");
  EXPECT_EQ(back.instances[1].joint, JointId(2));
  EXPECT_TRUE(back.instances[1].rigid);
  EXPECT_EQ(back.skeleton, c.skeleton);
  EXPECT_LT(testing_support::maxDistance(back.mesh.positions, c.mesh.positions), 2e-6f);
}

TEST(GltfWriter, PartialAndMixedWeightTracksAreFilledUp) {
  Character c;
  c.name = "face";
  c.mesh = shelf::cube();
  c.morphs.resize(3);
  for (std::size_t k = 0; k < 3; ++k)
    c.morphs[k] = {.name = "m" + std::to_string(k),
                   .default_weight = 0.25f * float(k),
                   .vertices = {0},
                   .positions = {{1, 0, 0}}};
  addDefaultParts(c);
  const auto track = [](std::uint32_t first, std::vector<float> times, std::vector<float> values) {
    return Track{.channel = Channel::MorphWeights,
                 .first_morph = first,
                 .morph_count = 1,
                 .times_s = std::move(times),
                 .values = std::move(values)};
  };
  c.clips.push_back({"talk", {track(0, {0, 1}, {0, 1}), track(1, {0, 0.5f}, {1, 0})}});
  const Character back = read(encode(c));
  ASSERT_EQ(back.clips[0].tracks.size(), 1u);
  Pose a = c.restPose(), b = back.restPose();
  for (const float time : {0.0f, 0.25f, 0.5f, 0.8f, 1.0f}) {
    sampleClip(c.clips[0], time, a);
    sampleClip(back.clips[0], time, b);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(a.morph_weights[k], b.morph_weights[k], 1e-6) << time;
  }
}

TEST(GltfWriter, WhatGltfForbidsIsRepaired) {
  Character c = shelf::rigged(shelf::all()[3]);
  c.mesh.normals[0] *= 3.0f;
  c.mesh.colours.assign(c.mesh.vertexCount(), Vec4f(2, -1, 0.5f, 1));
  c.clips[0].tracks[0].times_s = {-1, 1};
  Diagnostics notes;
  const Result<std::vector<std::uint8_t>> bytes = encodeGlb(c, notes);
  ASSERT_TRUE(bytes);
  const Character back = read(*bytes);
  EXPECT_NEAR(back.mesh.normals[0].norm(), 1.0f, 1e-6);
  EXPECT_EQ(back.mesh.colours[0], Vec4f(1, 0, 0.5f, 1));
  EXPECT_EQ(back.clips[0].tracks[0].times_s, (std::vector<float>{0, 2}));
  EXPECT_EQ(notes.count("negative-times"), 1u);
}

class GltfFiles : public testing_support::FolderTest {
 protected:
  GltfFiles() { std::filesystem::create_directory(folder_ / "other"); }
};

TEST_F(GltfFiles, TextAndBinaryFilesHoldTheSame) {
  const Character c = shelf::rigged(shelf::all()[5]);
  for (const char* name : {"a b.gltf", "c.GLB"}) {
    Diagnostics notes;
    const Result<void> saved = saveGltf(folder_ / name, c, notes);
    ASSERT_TRUE(saved) << saved.error().text();
    const Result<Character> back = loadGltf(folder_ / name, {}, notes);
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_TRUE(sameContent(c, *back)) << name;
  }
  EXPECT_TRUE(std::filesystem::exists(folder_ / "a b.bin"));
}

TEST_F(GltfFiles, PicturesBesideTheFileStayThereOrAreEmbedded) {
  const std::vector<std::uint8_t> picture{0x89, 'P', 'N', 'G', 1, 2, 3};
  ASSERT_TRUE(writeFileWhole(folder_ / "skin.png", picture));
  GltfBuilder g;
  g.addTriangleMesh();
  g.addScene({g.addNode({{"mesh", 0}})});
  g.append("images", {{"uri", "skin.png"}});
  ASSERT_TRUE(writeFileWhole(folder_ / "in.glb", g.glb()));
  Diagnostics notes;
  const Result<Character> c = loadGltf(folder_ / "in.glb", {}, notes);
  ASSERT_TRUE(c);
  EXPECT_EQ(c->images[0].bytes, picture);
  ASSERT_TRUE(saveGltf(folder_ / "beside.glb", *c, notes));
  ASSERT_TRUE(saveGltf(folder_ / "other/far.glb", *c, notes));
  const Result<Character> beside = loadGltf(folder_ / "beside.glb", {}, notes);
  const Result<Character> far = loadGltf(folder_ / "other/far.glb", {}, notes);
  ASSERT_TRUE(beside && far);
  EXPECT_TRUE(sameContent(*c, *beside));
  EXPECT_EQ(far->images[0].bytes, picture);
  EXPECT_TRUE(far->images[0].uri.empty());
}

/// A disk on which no .gltf can be written.
class NoDocuments final : public OutputFiles {
 public:
  Result<std::unique_ptr<OutputFile>> create(const std::filesystem::path& file) override {
    if (file.extension() == ".gltf")
      return Error{ErrorCode::CannotWrite, "disk full", {.file = file.string()}};
    return memory.create(file);
  }
  bool holds(const std::filesystem::path& file,
             std::span<const std::uint8_t> bytes) const override {
    return memory.holds(file, bytes);
  }
  MemoryFiles memory;
};

TEST(GltfWriter, ADocumentThatCannotBeWrittenKeepsItsOldBuffer) {
  const std::vector<std::uint8_t> old = {1, 2, 3};
  NoDocuments files;
  files.memory.put("a.bin", old);
  Diagnostics notes;
  EXPECT_FALSE(saveGltf("a.gltf", shelf::rigged(shelf::all()[3]), notes, files));
  ASSERT_NE(files.memory.find("a.bin"), nullptr);
  EXPECT_EQ(*files.memory.find("a.bin"), old);
}

TEST_F(GltfFiles, AFailedWriteLeavesTheOldFile) {
  const Character c = shelf::rigged(shelf::all()[3]);
  Diagnostics notes;
  const Result<void> saved = saveGltf(folder_ / "missing/a.glb", c, notes);
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().code, ErrorCode::CannotWrite);
}

}  // namespace
}  // namespace derm::gltf_writer_test
