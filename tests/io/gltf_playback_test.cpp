// Written files play in any program as derm plays them: nothing is left to a reader's repairs.
#include <gtest/gtest.h>

#include "io/gltf_builder.h"

namespace derm::gltf_playback_test {
namespace {

using testing_support::encode;
using testing_support::GltfBuilder;
using testing_support::Json;
using testing_support::jsonOf;
using testing_support::readValid;

/// A triangle that follows two joints by these weights (of joints 0 and 1, per vertex).
GltfBuilder skinnedTriangle(const std::vector<float>& weights) {
  GltfBuilder g;
  g.addTriangleMesh();
  Json& attributes = g.root["meshes"][0]["primitives"][0]["attributes"];
  attributes["JOINTS_0"] =
      g.addInts<std::uint8_t>({0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0}, 5121, "VEC4", 4);
  std::vector<float> rows;
  for (std::size_t v = 0; v < 3; ++v)
    rows.insert(rows.end(), {weights[2 * v], weights[2 * v + 1], 0, 0});
  attributes["WEIGHTS_0"] = g.addFloats(rows, "VEC4", 4);
  g.addNode({{"name", "a"}, {"children", {1}}});
  g.addNode({{"name", "b"}});
  g.addNode({{"mesh", 0}, {"skin", 0}});
  g.append("skins", {{"joints", {0, 1}}});
  g.addScene({0, 2});
  return g;
}

TEST(GltfPlayback, RepairedWeightsAreWrittenRepaired) {
  struct Case {
    const char* name;
    const char* note;  // what the reader says
    std::vector<float> weights;
  };
  const Case cases[] = {
      {"none", "vertex-without-weights", {0, 0, 0, 1, 1, 0}},
      {"twice", "weights-not-normalised", {1.5f, 0.5f, 0, 2, 2, 0}},
      {"half", "weights-not-normalised", {0.25f, 0.25f, 0, 0.5f, 0.5f, 0}},
      {"negative", "weight-not-usable", {1, -0.5f, 0, 1, 1, 0}},
      {"nearly", nullptr, {0.5f, 0.49995f, 0, 1, 1, 0}},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    Diagnostics notes;
    const Character c = readValid(skinnedTriangle(one.weights).glb(), notes);
    EXPECT_TRUE(one.note == nullptr || notes.count(one.note) > 0);
    // Read again, there is nothing left to repair: any program takes the weights as they are.
    Diagnostics again;
    const std::vector<std::uint8_t> written = encode(c);
    const Character back = readValid(written, again);
    EXPECT_EQ(back.skin, c.skin);
    for (const char* kind :
         {"vertex-without-weights", "weights-not-normalised", "weight-not-usable"})
      EXPECT_EQ(again.count(kind), 0u) << kind;
    // Once repaired, it stays as it is.
    EXPECT_EQ(jsonOf(encode(back)), jsonOf(written));
    EXPECT_EQ(encode(back), written);
  }
}

TEST(GltfPlayback, GoodWeightsStayWhereTheyAre) {
  Diagnostics notes;
  const GltfBuilder g = skinnedTriangle({1, 0, 0.25f, 0.75f, 0.1f, 0.9f});
  EXPECT_EQ(jsonOf(encode(readValid(g.glb(), notes))), jsonOf(g.glb()));
}

TEST(GltfPlayback, MorphsOfAFileWithoutNormalsMoveNone) {
  GltfBuilder g = skinnedTriangle({1, 0, 0, 1, 0, 1});
  g.root["meshes"][0]["primitives"][0]["attributes"].erase("NORMAL");
  Diagnostics notes;
  Character c = readValid(g.glb(), notes);
  ASSERT_FALSE(c.mesh.normals.empty()) << "they are computed";
  MorphTarget bump{.name = "bump", .vertices = {0, 1, 2}};
  bump.positions.assign(3, Vec3f(0, 0, 0.1f));
  bump.normals.assign(3, Vec3f(0.1f, 0, 0));
  c.morphs.push_back(bump);
  c.instances[0].morph_count = 1;
  const Json after = jsonOf(encode(c));
  const Json& primitive = after["meshes"][0]["primitives"][0];
  EXPECT_FALSE(primitive["attributes"].contains("NORMAL"));
  EXPECT_TRUE(primitive["targets"][0].contains("POSITION"));
  EXPECT_FALSE(primitive["targets"][0].contains("NORMAL"));
}

/// The same with a morph target and a material one of whose textures has coordinates of its own.
GltfBuilder withSecondUvs() {
  GltfBuilder g = skinnedTriangle({1, 0, 0.5f, 0.5f, 0, 1});
  Json& primitive = g.root["meshes"][0]["primitives"][0];
  const int first = g.addFloats({0, 0, 1, 0, 0, 1}, "VEC2", 2);
  const int second = g.addFloats({0, 0, 0.5f, 0, 0, 0.5f}, "VEC2", 2);
  const int moved = g.addFloats({0, 0, 0, 0, 0, 0, 0, 0, 1}, "VEC3", 3);
  primitive["attributes"]["TEXCOORD_0"] = first;
  primitive["attributes"]["TEXCOORD_1"] = second;
  primitive["targets"] = {{{"POSITION", moved}}};
  primitive["material"] = 0;
  g.root["meshes"][0]["weights"] = {0.25};
  g.append("images", {{"uri", "data:image/png;base64,iVBORw0KGgo="}});
  g.append("textures", {{"source", 0}});
  g.append("materials", {{"pbrMetallicRoughness", {{"baseColorTexture", {{"index", 0}}}}},
                         {"occlusionTexture", {{"index", 0}, {"texCoord", 1}}}});
  return g;
}

TEST(GltfPlayback, AStillKeepsTextureCoordinatesThatItsMaterialUses) {
  Diagnostics notes;
  const Character c = readValid(withSecondUvs().glb(), notes);
  ASSERT_EQ(c.morphs.size(), 1u);
  TriMesh posed = c.mesh;
  for (Vec3f& p : posed.positions) p += Vec3f(1, 2, 3);
  Character still = frozen(c, posed);
  for (const bool with_shape : {false, true}) {
    if (with_shape) {  // as a cache has them
      still.morphs.push_back({.name = "frame", .vertices = {1}, .positions = {Vec3f(0, 0, 1)}});
      still.instances[0].morph_count = 1;
    }
    const std::vector<std::uint8_t> written = encode(still);
    const Json json = jsonOf(written);
    ASSERT_EQ(json["meshes"].size(), 1u);
    const Json& primitive = json["meshes"][0]["primitives"][0];
    EXPECT_TRUE(primitive["attributes"].contains("TEXCOORD_1"));
    EXPECT_FALSE(primitive["attributes"].contains("JOINTS_0"));
    EXPECT_EQ(primitive.contains("targets"), with_shape);
    EXPECT_TRUE(with_shape || !json["meshes"][0].contains("weights"));
    EXPECT_FALSE(json.contains("skins"));
    EXPECT_TRUE(json["materials"][0].contains("occlusionTexture"));
    EXPECT_EQ(readValid(written, notes).mesh.positions, posed.positions);
  }
}

TEST(GltfPlayback, TexturesWhoseCoordinatesCannotGoOnAreLeftOutWithAWord) {
  Diagnostics notes;
  Character c = readValid(withSecondUvs().glb(), notes);
  Character finer = frozen(c, c.mesh);
  // A vertex more, as a refined surface has.
  finer.mesh.positions.push_back(Vec3f(1, 1, 0));
  finer.mesh.normals.push_back(Vec3f(0, 0, 1));
  finer.mesh.uvs.push_back(Vec2f(1, 1));
  finer.mesh.triangles.push_back({1, 3, 2});
  finer.parts[0].vertex_count = finer.instances[0].vertex_count = 4;
  finer.parts[0].triangle_count = 2;
  Diagnostics written_notes;
  const Result<std::vector<std::uint8_t>> written = encodeGlb(finer, written_notes);
  ASSERT_TRUE(written.ok());
  const Json json = jsonOf(*written);
  const Json& primitive = json["meshes"][0]["primitives"][0];
  EXPECT_FALSE(primitive["attributes"].contains("TEXCOORD_1"));
  const Json& material = json["materials"][primitive["material"].get<std::size_t>()];
  EXPECT_FALSE(material.contains("occlusionTexture"));
  EXPECT_TRUE(material["pbrMetallicRoughness"].contains("baseColorTexture"));
  EXPECT_EQ(written_notes.count("texture-left-out"), 1u);
}

// A byte's quaternion is up to 0.4 % away from unit length, and the skin was stretched by as much.
TEST(GltfPlayback, RotationsOfWholeNumbersHaveUnitLength) {
  GltfBuilder g;
  g.addNode({{"name", "a"}});
  g.addScene({0});
  const int times = g.addFloats({0, 1}, "SCALAR", 1);
  const int bytes = g.addInts<std::int8_t>({0, 0, 49, 117, 0, 0, 90, 90}, 5120, "VEC4", 4, true);
  const int cubic = g.addInts<std::int8_t>({0, 0, 0, 0, 0, 0, 49, 117, 9, 0, 0, 0,  //
                                            0, 9, 0, 0, 0, 0, 90, 90,  0, 0, 0, 0},
                                           5120, "VEC4", 4, true);
  for (const auto& [output, interpolation] :
       {std::pair(bytes, "LINEAR"), std::pair(cubic, "CUBICSPLINE")})
    g.append(
        "animations",
        {{"samplers", {{{"input", times}, {"output", output}, {"interpolation", interpolation}}}},
         {"channels", {{{"sampler", 0}, {"target", {{"node", 0}, {"path", "rotation"}}}}}}});
  Diagnostics notes;
  const Character c = readValid(g.glb(), notes);
  for (const Clip& clip : c.clips) {
    for (const float time_s : {0.0f, 1.0f}) {
      Pose pose = c.restPose();
      sampleClip(clip, time_s, pose);
      EXPECT_NEAR(pose.local[0].rotation.norm(), 1.0f, 1e-6f);
    }
  }
  EXPECT_EQ(c.clips[1].tracks[0].values[8], 9.0f / 127) << "tangents stay as they are";
}

}  // namespace
}  // namespace derm::gltf_playback_test
