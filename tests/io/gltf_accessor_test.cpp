// How numbers lie in a file: every component type, normalised or not, interleaved, sparse.
#include <gtest/gtest.h>

#include "io/gltf_builder.h"

namespace derm::gltf_accessor_test {
namespace {

using testing_support::GltfBuilder;
using testing_support::Json;
using testing_support::parse;

constexpr int kByte = 5120, kUbyte = 5121, kShort = 5122, kUshort = 5123, kUint = 5125;

/// A file whose one mesh has the accessor as POSITION; gives what was read.
Result<Character> withPositions(GltfBuilder& g, int positions) {
  g.root["extensionsUsed"] = {"KHR_mesh_quantization"};
  g.root["extensionsRequired"] = {"KHR_mesh_quantization"};
  g.append("meshes", {{"primitives", {{{"attributes", {{"POSITION", positions}}}}}}});
  g.addScene({g.addNode({{"mesh", 0}})});
  return parse(g.glb());
}

template <class T>
std::vector<Vec3f> positionsFrom(const std::vector<T>& values, int component, bool normalised) {
  GltfBuilder g;
  const int accessor = g.addInts(values, component, "VEC3", 3, normalised);
  const Result<Character> c = withPositions(g, accessor);
  EXPECT_TRUE(c) << (c ? "" : c.error().text());
  return c ? c->mesh.positions : std::vector<Vec3f>();
}

TEST(GltfAccessor, IntegersAreReadAsTheyAre) {
  const std::vector<Vec3f> expected{{1, 2, 3}, {-4, 5, 6}, {7, 8, 100}};
  EXPECT_EQ(positionsFrom<std::int8_t>({1, 2, 3, -4, 5, 6, 7, 8, 100}, kByte, false), expected);
  EXPECT_EQ(positionsFrom<std::int16_t>({1, 2, 3, -4, 5, 6, 7, 8, 100}, kShort, false), expected);
  EXPECT_EQ(positionsFrom<std::uint8_t>({0, 2, 3, 4, 5, 6, 7, 8, 255}, kUbyte, false).back().z(),
            255);
  EXPECT_EQ(
      positionsFrom<std::uint16_t>({0, 2, 3, 4, 5, 6, 7, 8, 65535}, kUshort, false).back().z(),
      65535);
}

TEST(GltfAccessor, NormalisedIntegersFollowTheSpecification) {
  EXPECT_EQ(positionsFrom<std::int8_t>({127, -127, -128, 0, 64, 1, 0, 0, 0}, kByte, true)[0],
            Vec3f(1, -1, -1));
  EXPECT_EQ(positionsFrom<std::int16_t>({32767, -32767, -32768, 0, 0, 0, 0, 0, 0}, kShort, true)[0],
            Vec3f(1, -1, -1));
  EXPECT_EQ(positionsFrom<std::uint8_t>({255, 0, 51, 0, 0, 0, 0, 0, 0}, kUbyte, true)[0],
            Vec3f(1, 0, 51.0f / 255.0f));
  EXPECT_EQ(positionsFrom<std::uint16_t>({65535, 0, 13107, 0, 0, 0, 0, 0, 0}, kUshort, true)[0],
            Vec3f(1, 0, 13107.0f / 65535.0f));
}

TEST(GltfAccessor, AStrideOfZeroIsNone) {
  GltfBuilder g;
  g.addTriangleMesh();
  g.root["bufferViews"][0]["byteStride"] = 0;
  g.addScene({g.addNode({{"mesh", 0}})});
  Diagnostics notes;
  const Result<Character> c = parse(g.glb(), notes);
  ASSERT_TRUE(c) << c.error().text();
  EXPECT_EQ(c->mesh.positions[1], Vec3f(1, 0, 0));
  EXPECT_GT(notes.count("zero-stride"), 0u);
}

TEST(GltfAccessor, InterleavedAttributesAreTakenApart) {
  GltfBuilder g;
  const std::vector<float> both{0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0};
  const int view = g.addView(both, 24);
  const Json common = {
      {"bufferView", view}, {"componentType", 5126}, {"count", 3}, {"type", "VEC3"}};
  const int positions = g.addAccessor(common);
  Json normals = common;
  normals["byteOffset"] = 12;
  const int normal_accessor = g.addAccessor(normals);
  g.append(
      "meshes",
      {{"primitives", {{{"attributes", {{"POSITION", positions}, {"NORMAL", normal_accessor}}}}}}});
  g.addScene({g.addNode({{"mesh", 0}})});
  const Result<Character> c = parse(g.glb());
  ASSERT_TRUE(c) << c.error().text();
  EXPECT_EQ(c->mesh.positions, (std::vector<Vec3f>{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}));
  EXPECT_EQ(c->mesh.normals, (std::vector<Vec3f>{{0, 0, 1}, {0, 1, 0}, {1, 0, 0}}));
}

TEST(GltfAccessor, SparseValuesReplaceThoseBelow) {
  for (const bool with_base : {true, false}) {
    SCOPED_TRACE(with_base);
    GltfBuilder g;
    Json accessor = {{"componentType", 5126}, {"count", 3}, {"type", "VEC3"}};
    if (with_base) accessor["bufferView"] = g.addView<float>({1, 1, 1, 2, 2, 2, 3, 3, 3});
    accessor["sparse"] = {
        {"count", 2},
        {"indices", {{"bufferView", g.addView<std::uint8_t>({0, 2})}, {"componentType", kUbyte}}},
        {"values", {{"bufferView", g.addView<float>({7, 8, 9, 4, 5, 6})}}}};
    const int positions = g.addAccessor(accessor);
    const Result<Character> c = withPositions(g, positions);
    ASSERT_TRUE(c) << c.error().text();
    const Vec3f middle = with_base ? Vec3f(2, 2, 2) : Vec3f(0, 0, 0);
    EXPECT_EQ(c->mesh.positions, (std::vector<Vec3f>{{7, 8, 9}, middle, {4, 5, 6}}));
  }
}

TEST(GltfAccessor, SparseIndicesMayBeOfAnyUnsignedType) {
  const auto read = [](int component, auto indices) {
    GltfBuilder g;
    const int positions = g.addAccessor(
        {{"componentType", 5126},
         {"count", 3},
         {"type", "VEC3"},
         {"sparse",
          {{"count", 1},
           {"indices", {{"bufferView", g.addView(indices)}, {"componentType", component}}},
           {"values", {{"bufferView", g.addView<float>({1, 2, 3})}}}}}});
    const Result<Character> c = withPositions(g, positions);
    return c ? c->mesh.positions[1] : Vec3f(Vec3f::Zero());
  };
  EXPECT_EQ(read(kUbyte, std::vector<std::uint8_t>{1}), Vec3f(1, 2, 3));
  EXPECT_EQ(read(kUshort, std::vector<std::uint16_t>{1}), Vec3f(1, 2, 3));
  EXPECT_EQ(read(kUint, std::vector<std::uint32_t>{1}), Vec3f(1, 2, 3));
}

TEST(GltfAccessor, WithoutBytesAllIsZero) {
  GltfBuilder g;
  const int positions = g.addAccessor({{"componentType", 5126}, {"count", 3}, {"type", "VEC3"}});
  const Result<Character> c = withPositions(g, positions);
  ASSERT_TRUE(c) << c.error().text();
  EXPECT_EQ(c->mesh.positions, std::vector<Vec3f>(3, Vec3f::Zero()));
}

TEST(GltfAccessor, IndicesMayBeOfAnyUnsignedType) {
  const auto read = [](int component, auto indices) {
    GltfBuilder g;
    g.addTriangleMesh();
    g.root["meshes"][0]["primitives"][0]["indices"] = g.addInts(indices, component, "SCALAR", 1);
    g.addScene({g.addNode({{"mesh", 0}})});
    const Result<Character> c = parse(g.glb());
    return c ? c->mesh.triangles : std::vector<Triangle>();
  };
  const std::vector<Triangle> expected{{2, 0, 1}, {1, 0, 2}};
  EXPECT_EQ(read(kUbyte, std::vector<std::uint8_t>{2, 0, 1, 1, 0, 2}), expected);
  EXPECT_EQ(read(kUshort, std::vector<std::uint16_t>{2, 0, 1, 1, 0, 2}), expected);
  EXPECT_EQ(read(kUint, std::vector<std::uint32_t>{2, 0, 1, 1, 0, 2}), expected);
}

TEST(GltfAccessor, ColoursOfThreeComponentsAreOpaque) {
  GltfBuilder g;
  g.addTriangleMesh();
  g.root["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"] =
      g.addInts<std::uint16_t>({65535, 0, 0, 0, 65535, 0, 0, 0, 65535}, kUshort, "VEC3", 3, true);
  g.addScene({g.addNode({{"mesh", 0}})});
  const Result<Character> c = parse(g.glb());
  ASSERT_TRUE(c) << c.error().text();
  EXPECT_EQ(c->mesh.colours, (std::vector<Vec4f>{{1, 0, 0, 1}, {0, 1, 0, 1}, {0, 0, 1, 1}}));
}

TEST(GltfAccessor, WeightsOfAnyLegalTypeAndSeveralSetsAreJoined) {
  GltfBuilder g;
  g.addTriangleMesh();
  Json& attributes = g.root["meshes"][0]["primitives"][0]["attributes"];
  const std::vector<std::uint8_t> joints(12, 0);
  std::vector<std::uint16_t> more(12, 0);
  more[0] = 1;
  attributes["JOINTS_0"] = g.addInts(joints, kUbyte, "VEC4", 4);
  attributes["WEIGHTS_0"] =
      g.addInts<std::uint8_t>({51, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0}, kUbyte, "VEC4", 4, true);
  attributes["JOINTS_1"] = g.addInts(more, kUshort, "VEC4", 4);
  attributes["WEIGHTS_1"] =
      g.addInts<std::uint16_t>({52428, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, kUshort, "VEC4", 4, true);
  g.addNode({{"mesh", 0}, {"skin", 0}});
  g.addNode({{"name", "a"}, {"children", {2}}});
  g.addNode({{"name", "b"}});
  g.append("skins", {{"joints", {1, 2}}});
  g.addScene({0, 1});
  const Result<Character> c = parse(g.glb());
  ASSERT_TRUE(c) << c.error().text();
  ASSERT_EQ(c->skin[0].size(), 2u);
  EXPECT_EQ(c->skin[0][0].slot, 1u);
  EXPECT_FLOAT_EQ(c->skin[0][0].weight, 0.8f);
  EXPECT_EQ(c->skin[0][1].slot, 0u);
  EXPECT_FLOAT_EQ(c->skin[0][1].weight, 0.2f);
  EXPECT_EQ(c->skin[1].size(), 1u);
}

}  // namespace
}  // namespace derm::gltf_accessor_test
