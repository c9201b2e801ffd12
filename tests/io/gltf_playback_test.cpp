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

}  // namespace
}  // namespace derm::gltf_playback_test
