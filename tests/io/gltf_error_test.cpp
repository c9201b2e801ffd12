// Bytes are hostile: every wrong file ends in one Error that says where, or in a sound Character.
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "io/gltf_builder.h"

namespace derm::gltf_error_test {
namespace {

using testing_support::GltfBuilder;
using testing_support::Json;
using testing_support::parse;
using testing_support::parseText;

/// A good file: two joints, a skinned triangle with a morph target, one clip, all in one .glb.
GltfBuilder goodFile() {
  GltfBuilder g;
  g.addTriangleMesh();
  Json& primitive = g.root["meshes"][0]["primitives"][0];
  primitive["indices"] = g.addInts<std::uint16_t>({0, 1, 2}, 5123, "SCALAR", 1);
  primitive["attributes"]["JOINTS_0"] =
      g.addInts<std::uint8_t>({0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}, 5121, "VEC4", 4);
  primitive["attributes"]["WEIGHTS_0"] =
      g.addFloats({1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}, "VEC4", 4);
  primitive["targets"] = {{{"POSITION", g.addFloats({0, 0, 1, 0, 0, 0, 0, 0, 0}, "VEC3", 3)}}};
  g.addNode({{"name", "a"}, {"children", {1}}});
  g.addNode({{"name", "b"}, {"translation", {0, 1, 0}}});
  g.addNode({{"name", "body"}, {"mesh", 0}, {"skin", 0}});
  std::vector<float> binds(32, 0.0f);
  for (int m = 0; m < 2; ++m)
    for (int i = 0; i < 4; ++i) binds[static_cast<std::size_t>(16 * m + 5 * i)] = 1;
  g.append("skins", {{"joints", {0, 1}}, {"inverseBindMatrices", g.addFloats(binds, "MAT4", 16)}});
  g.append("animations",
           {{"samplers",
             {{{"input", g.addFloats({0, 1}, "SCALAR", 1)},
               {"output", g.addFloats({0, 0, 0, 1, 0, 0, 1, 0}, "VEC4", 4)}}}},
            {"channels", {{{"sampler", 0}, {"target", {{"node", 1}, {"path", "rotation"}}}}}}});
  g.addScene({0, 2});
  return g;
}

struct Case {
  const char* name;
  std::function<void(GltfBuilder&)> spoil;
  const char* expected;  ///< the error's whole line
};

void setFloat(GltfBuilder& g, int accessor, std::size_t element, float value) {
  const Json& view = g.root["bufferViews"][g.root["accessors"][accessor]["bufferView"].get<int>()];
  std::memcpy(g.bin.data() + view["byteOffset"].get<std::size_t>() + 4 * element, &value, 4);
}

const std::vector<Case>& cases() {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  static const std::vector<Case> all = {
      {"no asset", [](auto& g) { g.root.erase("asset"); },
       "test.glb: asset: missing; this is not a glTF 2.0 file"},
      {"version", [](auto& g) { g.root["asset"]["version"] = "1.0"; },
       "test.glb: asset.version: \"1.0\"; only version 2 is read"},
      {"required extension",
       [](auto& g) {
         g.root["extensionsRequired"] = {"KHR_texture_transform", "EXT_meshopt_compression"};
       },
       "test.glb: extensionsRequired[1]: the file needs EXT_meshopt_compression, which derm does "
       "not read; \"gltf-transform cp IN.glb OUT.glb\" unpacks it"},
      {"another required extension", [](auto& g) { g.root["extensionsRequired"] = {"ACME_thing"}; },
       "test.glb: extensionsRequired[0]: the file needs ACME_thing, which derm does not read"},
      {"nan position", [=](auto& g) { setFloat(g, 0, 4, kNan); },
       "test.glb: meshes[0].primitives[0].attributes.POSITION[1]: not a finite number"},
      {"nan normal", [=](auto& g) { setFloat(g, 1, 8, kNan); },
       "test.glb: meshes[0].primitives[0].attributes.NORMAL[2]: not a finite number"},
      {"nan morph", [=](auto& g) { setFloat(g, 5, 2, kNan); },
       "test.glb: meshes[0].primitives[0].targets[0].POSITION[0]: not a finite number"},
      {"nan bind", [=](auto& g) { setFloat(g, 6, 17, kNan); },
       "test.glb: skins[0].inverseBindMatrices[1]: accessor 6 holds a number that is not finite"},
      {"nan key", [=](auto& g) { setFloat(g, 8, 5, kNan); },
       "test.glb: animations[0].samplers[0].output[1]: accessor 8 holds a number that is not "
       "finite"},
      {"times", [](auto& g) { setFloat(g, 7, 0, 3); },
       "test.glb: animations[0].samplers[0].input[1]: times do not increase"},
      {"vertex index",
       [](auto& g) {
         g.bin[g.root["bufferViews"][2]["byteOffset"].template get<std::size_t>() + 2] = 3;
       },
       "test.glb: meshes[0].primitives[0].indices[1]: vertex 3 of 3"},
      {"restart",
       [](auto& g) {
         const auto at = g.root["bufferViews"][2]["byteOffset"].template get<std::size_t>();
         g.bin[at + 4] = g.bin[at + 5] = 0xFF;
       },
       "test.glb: meshes[0].primitives[0].indices[2]: a primitive restart value is not allowed"},
      {"joint index",
       [](auto& g) {
         g.bin[g.root["bufferViews"][3]["byteOffset"].template get<std::size_t>() + 8] = 2;
       },
       "test.glb: meshes[0].primitives[0].attributes.JOINTS_0[2]: joint 2 of a skin with 2"},
      {"view too long", [](auto& g) { g.root["bufferViews"][0]["byteLength"] = 100000; },
       "test.glb: bufferViews[0]: bytes 0 + 100000 reach beyond the 344 of buffer 0"},
      {"view far away", [](auto& g) { g.root["bufferViews"][0]["byteOffset"] = ~0ull; },
       "test.glb: bufferViews[0]: bytes 18446744073709551615 + 36 reach beyond the 344 of buffer "
       "0"},
      {"accessor too long", [](auto& g) { g.root["accessors"][0]["count"] = 4; },
       "test.glb: accessors[0]: needs bytes 0 to 48 of a buffer view of 36 bytes"},
      {"count", [](auto& g) { g.root["accessors"][0]["count"] = 1ull << 40; },
       "test.glb: accessors[0].count: missing, 0 or above 2^32 - 1"},
      {"count of another attribute", [](auto& g) { g.root["accessors"][1]["count"] = 2; },
       "test.glb: meshes[0].primitives[0].attributes.NORMAL: accessor 1 has 2 elements for 3 "
       "vertices"},
      {"component", [](auto& g) { g.root["accessors"][0]["componentType"] = 5124; },
       "test.glb: accessors[0].componentType: missing or unknown"},
      {"type", [](auto& g) { g.root["accessors"][0]["type"] = "VEC2"; },
       "test.glb: meshes[0].primitives[0].attributes.POSITION: accessor 0 has 2 components per "
       "element"},
      {"unknown type", [](auto& g) { g.root["accessors"][0]["type"] = 7; },
       "test.glb: accessors[0].type: missing or unknown"},
      {"stride", [](auto& g) { g.root["bufferViews"][0]["byteStride"] = 8; },
       "test.glb: accessors[0]: its elements take 12 bytes, but lie 8 apart"},
      {"wild stride", [](auto& g) { g.root["bufferViews"][0]["byteStride"] = 1000; },
       "test.glb: bufferViews[0].byteStride: 1000 is not in 4 to 252"},
      {"no such view", [](auto& g) { g.root["accessors"][0]["bufferView"] = 99; },
       "test.glb: accessors[0].bufferView: refers to number 99, but there are 9"},
      {"no such accessor", [](auto& g) { g.root["meshes"][0]["primitives"][0]["indices"] = 99; },
       "test.glb: meshes[0].primitives[0].indices: refers to accessor 99, but there are 9"},
      {"negative", [](auto& g) { g.root["nodes"][2]["mesh"] = -1; },
       "test.glb: nodes[2].mesh: must be a whole number of at least 0"},
      {"no such mesh", [](auto& g) { g.root["nodes"][2]["mesh"] = 1; },
       "test.glb: nodes[2].mesh: refers to number 1, but there are 1"},
      {"no such skin", [](auto& g) { g.root["nodes"][2]["skin"] = 4; },
       "test.glb: nodes[2].skin: refers to number 4, but there are 1"},
      {"no joints", [](auto& g) { g.root["skins"][0]["joints"] = Json::array(); },
       "test.glb: skins[0].joints: missing or empty"},
      {"no such joint",
       [](auto& g) {
         g.root["skins"][0]["joints"] = {0, 7};
       },
       "test.glb: skins[0].joints[1]: refers to no node"},
      {"few binds", [](auto& g) { g.root["accessors"][6]["count"] = 1; },
       "test.glb: skins[0].inverseBindMatrices: 1 matrices for 2 joints"},
      {"two parents", [](auto& g) { g.root["nodes"][2]["children"] = {1}; },
       "test.glb: nodes[1]: has two parents, nodes 0 and 2"},
      {"cycle", [](auto& g) { g.root["nodes"][1]["children"] = {0}; },
       "test.glb: nodes[0]: is its own ancestor"},
      {"no such child", [](auto& g) { g.root["nodes"][1]["children"] = {8}; },
       "test.glb: nodes[1].children[0]: refers to no node; there are 3"},
      {"transform",
       [](auto& g) {
         g.root["nodes"][1]["translation"] = {0, 1};
       },
       "test.glb: nodes[1].translation: must be an array of 3 numbers"},
      {"huge transform",
       [](auto& g) {
         g.root["nodes"][1]["translation"] = {0, 1e300, 0};
       },
       "test.glb: nodes[1].translation[1]: too large for a float"},
      {"no such scene node", [](auto& g) { g.root["scenes"][0]["nodes"] = {9}; },
       "test.glb: scenes[0].nodes[0]: refers to no node; there are 3"},
      {"mode", [](auto& g) { g.root["meshes"][0]["primitives"][0]["mode"] = 7; },
       "test.glb: meshes[0].primitives[0].mode: is not in 0 to 6"},
      {"primitives", [](auto& g) { g.root["meshes"][0]["primitives"] = 5; },
       "test.glb: meshes[0].primitives: missing or not an array"},
      {"no such sampler", [](auto& g) { g.root["animations"][0]["channels"][0]["sampler"] = 1; },
       "test.glb: animations[0].channels[0].sampler: refers to number 1, but there are 1"},
      {"few values", [](auto& g) { g.root["accessors"][8]["count"] = 1; },
       "test.glb: animations[0].samplers[0].output: 4 numbers, but 2 keys need 8"},
      {"interpolation",
       [](auto& g) { g.root["animations"][0]["samplers"][0]["interpolation"] = "BEZIER"; },
       "test.glb: animations[0].samplers[0].interpolation: unknown interpolation"},
      {"sparse index",
       [](auto& g) {
         g.root["accessors"][0]["sparse"] = {
             {"count", 1},
             {"indices",
              {{"bufferView", g.template addView<std::uint8_t>({3})}, {"componentType", 5121}}},
             {"values", {{"bufferView", 0}}}};
       },
       "test.glb: accessors[0].sparse.indices[0]: 3 is not below the accessor's count 3"},
      {"sparse order",
       [](auto& g) {
         g.root["accessors"][0]["sparse"] = {
             {"count", 2},
             {"indices",
              {{"bufferView", g.template addView<std::uint8_t>({1, 1})}, {"componentType", 5121}}},
             {"values", {{"bufferView", 0}}}};
       },
       "test.glb: accessors[0].sparse.indices[1]: does not increase"},
      {"draco only",
       [](auto& g) {
         g.root["accessors"][0].erase("bufferView");
         g.root["meshes"][0]["primitives"][0]["extensions"]["KHR_draco_mesh_compression"] =
             Json::object();
       },
       "test.glb: meshes[0].primitives[0]: its data is only there as KHR_draco_mesh_compression, "
       "which derm does not read; \"gltf-transform cp IN.glb OUT.glb\" unpacks it"},
  };
  return all;
}

TEST(GltfErrors, TheGoodFileIsGood) {
  Diagnostics notes;
  const Result<Character> c = parse(goodFile().glb(), notes);
  ASSERT_TRUE(c) << c.error().text();
  EXPECT_TRUE(validate(*c));
  EXPECT_TRUE(notes.empty()) << notes.notes().front().text();
}

TEST(GltfErrors, EachNamesItsElementAndIndex) {
  for (const Case& spoiled : cases()) {
    SCOPED_TRACE(spoiled.name);
    GltfBuilder g = goodFile();
    spoiled.spoil(g);
    const Result<Character> c = parse(g.glb());
    ASSERT_FALSE(c);
    EXPECT_EQ(c.error().text(), spoiled.expected);
  }
}

TEST(GltfErrors, NoSuchSceneIsABadArgument) {
  Diagnostics notes;
  const Result<Character> c = parse(goodFile().glb(), notes, {.scene = 3});
  ASSERT_FALSE(c);
  EXPECT_EQ(c.error().code, ErrorCode::BadArgument);
  EXPECT_EQ(c.error().text(), "test.glb: scenes: there is no scene 3; the file has 1");
}

TEST(GltfErrors, EveryTruncationOfABinaryFileIsSurvived) {
  const std::vector<std::uint8_t> whole = goodFile().glb();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    // A copy of exactly that size, so that sanitizers see a read beyond it.
    const std::vector<std::uint8_t> cut(whole.begin(), whole.begin() + static_cast<long>(length));
    const Result<Character> c = parse(cut);
    EXPECT_FALSE(c) << length;
  }
}

TEST(GltfErrors, EveryTruncationOfATextFileIsSurvived) {
  GltfBuilder g = goodFile();
  g.root["buffers"] = {{{"byteLength", g.bin.size()}}};
  const std::string whole = g.root.dump(1);
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(parseText(std::string(whole, 0, length))) << length;
}

TEST(GltfErrors, AShorterDeclaredLengthOfAnyChunkIsSurvived) {
  const std::vector<std::uint8_t> whole = goodFile().glb();
  for (const std::size_t field : {8u, 12u})
    for (std::uint32_t length = 0; length < whole.size() + 8; ++length) {
      std::vector<std::uint8_t> bytes = whole;
      std::memcpy(bytes.data() + field, &length, 4);
      const Result<Character> c = parse(bytes);
      if (c) {
        EXPECT_TRUE(validate(*c)) << field << " " << length;
      }
    }
}

TEST(GltfErrors, EveryChangedByteEndsInACharacterOrAnError) {
  const std::vector<std::uint8_t> whole = goodFile().glb();
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const int change : {1, 0x80, 0xFF}) {
      std::vector<std::uint8_t> bytes = whole;
      bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ change);
      Diagnostics notes;
      const Result<Character> c = parse(bytes, notes);
      if (c) {
        EXPECT_TRUE(validate(*c)) << at << " " << change;
      } else {
        EXPECT_FALSE(c.error().message.empty());
      }
    }
}

TEST(GltfErrors, JsonMistakesHaveLineAndColumn) {
  const Result<Character> c = parseText("{\"asset\":\n {\"version\" \"2.0\"}}");
  ASSERT_FALSE(c);
  EXPECT_EQ(c.error().where.line, 2u);
  EXPECT_GT(c.error().where.column.value_or(0), 10u);
  EXPECT_FALSE(parseText(""));
  EXPECT_FALSE(parseText("{\"asset\":{\"version\":\"2.0\xC3\x28\"}}"));  // not UTF-8
  EXPECT_FALSE(parseText("{\"asset\":{\"version\":\"2.0\"},\"a\":1e999}"));
}

TEST(GltfErrors, OfEqualKeysTheLastCounts) {
  const std::string text = R"({"asset":{"version":"1.0","version":"2.0"}})";
  Diagnostics notes;
  const Result<Character> c =
      parseGltf({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "a.gltf",
                SideFileReader(), {}, notes);
  EXPECT_TRUE(c);
  EXPECT_EQ(notes.count("duplicate-key"), 1u);
}

TEST(GltfErrors, DeepNestingIsRefusedNotFollowed) {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  const Result<Character> c = parseText(R"({"asset":{"version":"2.0"},"extras":)" + deep + "}");
  ASSERT_FALSE(c);
  EXPECT_EQ(c.error().message, "JSON nested deeper than 256 levels");
  EXPECT_FALSE(parseText(std::string(100000, '{')));
}

TEST(GltfErrors, ALongChainOfNodesIsNoProblem) {
  constexpr int kNodes = 100000;
  std::string nodes;
  for (int i = 0; i + 1 < kNodes; ++i) nodes += "{\"children\":[" + std::to_string(i + 1) + "]},";
  const std::string text = R"({"asset":{"version":"2.0"},"nodes":[)" + nodes + "{}]}";
  Result<Character> c = parseText(text);
  ASSERT_TRUE(c) << c.error().text();
  EXPECT_EQ(c->skeleton.size(), static_cast<std::size_t>(kNodes));
  // The other way round: every parent comes after its child.
  nodes = "{}";
  for (int i = 1; i < kNodes; ++i) nodes += ",{\"children\":[" + std::to_string(i - 1) + "]}";
  c = parseText(R"({"asset":{"version":"2.0"},"nodes":[)" + nodes + "]}");
  ASSERT_TRUE(c) << c.error().text();
  EXPECT_EQ(c->joint_source.front(), kNodes - 1);
}

TEST(GltfErrors, AFewBytesCannotAskForGigabytes) {
  const auto refused = [](const std::string& text) {
    const Result<Character> c = parseText(R"({"asset":{"version":"2.0"},)" + text + "}");
    EXPECT_FALSE(c) << text.substr(0, 200);
    if (!c) {
      EXPECT_NE(c.error().message.find("memory"), std::string::npos) << c.error().text();
    }
  };
  // Positions that are all zero and need no bytes.
  refused(R"("accessors":[{"componentType":5126,"count":1000000000,"type":"VEC3"}],
    "meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}])");
  // Key frames likewise.
  refused(R"("accessors":[{"componentType":5126,"count":1000000000,"type":"SCALAR"},
    {"componentType":5126,"count":1000000000,"type":"VEC3"}],"nodes":[{}],
    "animations":[{"samplers":[{"input":0,"output":1}],
    "channels":[{"sampler":0,"target":{"node":0,"path":"scale"}}]}])");
  // One mesh shown by very many nodes.
  std::string nodes = R"({"mesh":0})";
  for (int i = 0; i < 20000; ++i) nodes += R"(,{"mesh":0})";
  refused(R"("accessors":[{"componentType":5126,"count":3000,"type":"VEC3"}],
    "meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],"nodes":[)" +
          nodes + "]");
  // One sampler used by very many channels.
  std::string channels = R"({"sampler":0,"target":{"node":0,"path":"scale"}})";
  for (int i = 0; i < 3000; ++i) channels += R"(,{"sampler":0,"target":{"node":0,"path":"scale"}})";
  refused(R"("accessors":[{"componentType":5126,"count":100000,"type":"SCALAR"},
    {"componentType":5126,"count":100000,"type":"VEC3"}],"nodes":[{}],
    "animations":[{"samplers":[{"input":0,"output":1}],"channels":[)" +
          channels + "]}]");
  // JSON that is small as text and large in memory.
  std::string objects = "{}";
  for (int i = 0; i < 2000000; ++i) objects += ",{}";
  refused("\"extras\":[" + objects + "]");
}

TEST(GltfErrors, FilesOutsideTheFolderAreNotRead) {
  for (const char* uri :
       {"../secret.bin", "a/../../secret.bin", "/etc/passwd", "file:///etc/passwd",
        "http://example.com/a.bin", "%2e%2e/secret.bin", "C:\\\\a.bin", ""}) {
    const std::string text = std::string(R"({"asset":{"version":"2.0"},"buffers":[{"uri":")") +
                             uri +
                             R"(","byteLength":36}],"bufferViews":[{"buffer":0,"byteLength":36}],
        "accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}],
        "meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],"images":[{"uri":")" +
                             uri + "\"}]}";
    Diagnostics notes;
    bool asked = false;
    const SideFileReader files = [&](std::string_view) -> Result<std::vector<std::uint8_t>> {
      asked = true;
      return std::vector<std::uint8_t>(36);
    };
    const Result<Character> c =
        parseGltf({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "a.gltf",
                  files, {}, notes);
    EXPECT_FALSE(c) << uri;
    EXPECT_FALSE(asked) << uri;
    EXPECT_EQ(notes.count("buffer-not-read"), 1u) << uri;
  }
}

TEST(GltfErrors, AMissingBufferMattersOnlyWhereItIsUsed) {
  EXPECT_TRUE(
      parseText(R"({"asset":{"version":"2.0"},"buffers":[{"uri":"no.bin","byteLength":4}]})"));
}

TEST(GltfErrors, OddGlbChunksAreNoted) {
  std::vector<std::uint8_t> bytes = goodFile().glb();
  bytes.insert(bytes.end(), {4, 0, 0, 0, 'X', 'Y', 'Z', 'W', 1, 2, 3, 4});
  const auto length = static_cast<std::uint32_t>(bytes.size());
  std::memcpy(bytes.data() + 8, &length, 4);
  bytes.push_back(0);  // and one byte too many
  Diagnostics notes;
  EXPECT_TRUE(parse(bytes, notes));
  EXPECT_EQ(notes.count("unknown-chunk"), 1u);
  EXPECT_EQ(notes.count("trailing-bytes"), 1u);
}

}  // namespace
}  // namespace derm::gltf_error_test
