// What of a glTF file becomes what of a Character.
#include <algorithm>
#include <limits>
#include <map>

#include <gtest/gtest.h>

#include "derm/mesh/measures.h"

#include "io/gltf_builder.h"
#include "support/blended.h"

namespace derm::gltf_reader_test {
namespace {

using testing_support::GltfBuilder;
using testing_support::Json;
using testing_support::parse;

Character read(const GltfBuilder& g, const ImportOptions& options = {}) {
  Diagnostics notes;
  return testing_support::readValid(g.glb(), notes, options);
}

/// Vertices as an engine would show them at rest: sum w G B v.
std::vector<Vec3f> shownAtRest(const Character& c) {
  const std::vector<Affine3d> model = restModelMatrices(c.skeleton);
  return testing_support::blended(c, model);
}

/// A triangle on two joints, 0 (root, moved and scaled) and 1 (its child), with the given binds.
GltfBuilder skinnedTriangle(const std::vector<float>& binds) {
  GltfBuilder g;
  g.addTriangleMesh();
  Json& attributes = g.root["meshes"][0]["primitives"][0]["attributes"];
  attributes["JOINTS_0"] =
      g.addInts<std::uint8_t>({0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0}, 5121, "VEC4", 4);
  attributes["WEIGHTS_0"] =
      g.addFloats({1, 0, 0, 0, 0.5f, 0.5f, 0, 0, 0.25f, 0.75f, 0, 0}, "VEC4", 4);
  g.addNode({{"name", "armature"}, {"scale", {0.01, 0.01, 0.01}}, {"children", {1, 3}}});
  g.addNode({{"name", "hip"}, {"translation", {0, 100, 0}}, {"children", {2}}});
  g.addNode({{"name", "knee"}, {"translation", {0, -50, 0}}});
  g.addNode({{"name", "body"}, {"mesh", 0}, {"skin", 0}, {"translation", {9, 9, 9}}});
  g.append("skins", {{"joints", {1, 2}}, {"inverseBindMatrices", g.addFloats(binds, "MAT4", 16)}});
  g.addScene({0});
  return g;
}

std::vector<float> translations(std::vector<Vec3f> shifts) {
  std::vector<float> out;
  for (const Vec3f& t : shifts)
    out.insert(out.end(), {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, t.x(), t.y(), t.z(), 1});
  return out;
}

TEST(GltfReader, ASkinnedMeshIsMovedToWhereItsJointsPutIt) {
  // The mesh is in centimetres; the armature above the joints scales it to metres.
  const Character c = read(skinnedTriangle(translations({{0, -100, 0}, {0, -50, 0}})));
  ASSERT_EQ(c.mesh.vertexCount(), 3u);
  EXPECT_NEAR(c.mesh.positions[1].x(), 0.01f, 1e-8);
  const std::vector<Vec3f> shown = shownAtRest(c);
  for (std::size_t v = 0; v < 3; ++v) EXPECT_LT((shown[v] - c.mesh.positions[v]).norm(), 1e-8);
  EXPECT_EQ(c.mesh.normals[0], Vec3f(0, 0, 1));
  EXPECT_FALSE(c.instances[0].rigid);
}

TEST(GltfReader, SkinningIsTheSpecificationsWhateverTheBindPose) {
  // Rest pose and bind pose disagree: joint matrices times binds are (0,0,0) and (0,30,0) in cm.
  const Character c = read(skinnedTriangle(translations({{0, -100, 0}, {0, -20, 0}})));
  const std::vector<Vec3f> shown = shownAtRest(c);
  // By hand: v in cm, weights (1,0), (.5,.5), (.25,.75), the second joint lifts by 30 cm.
  EXPECT_LT((shown[0] - Vec3f(0, 0, 0)).norm(), 1e-6);
  EXPECT_LT((shown[1] - Vec3f(0.01f, 0.15f, 0)).norm(), 1e-6);
  EXPECT_LT((shown[2] - Vec3f(0, 0.01f + 0.225f, 0)).norm(), 1e-6);
}

TEST(GltfReader, EveryNodeIsAJointAfterItsParent) {
  GltfBuilder g;
  g.addNode({{"name", "leaf"}});
  g.addNode({{"children", {0}}});
  g.addNode({{"name", "root"}, {"children", {1}}});
  g.addNode({{"name", "outside"}});
  g.addScene({2});
  const Character c = read(g);
  EXPECT_EQ(c.skeleton.names(), (std::vector<std::string>{"root", "node_1", "leaf", "outside"}));
  EXPECT_EQ(c.joint_source, (std::vector<int>{2, 1, 0, 3}));
  EXPECT_EQ(c.skeleton.joints[2].parent, JointId(1));
}

TEST(GltfReader, TheBonesOfAHumanoidAreWhatVrmSaysTheyAre) {
  const Json one = {{"hips", {{"node", 1}}}, {"leftUpperArm", {{"node", 2}}}, {"head", 7}};
  const Json old = Json::array({{{"bone", "hips"}, {"node", 1}},
                                {{"bone", "leftUpperArm"}, {"node", 2}},
                                {{"bone", "head"}, {"node", 99}},
                                7});
  for (const bool is_old : {false, true}) {
    GltfBuilder g = skinnedTriangle(translations({{0, -100, 0}, {0, -50, 0}}));
    g.root["extensions"][is_old ? "VRM" : "VRMC_vrm"]["humanoid"]["humanBones"] =
        is_old ? old : one;
    const Character c = read(g);
    EXPECT_EQ(c.skeleton.joints[0].role, "");
    EXPECT_EQ(c.skeleton[c.skeleton.find("hip")].role, "hips") << is_old;
    EXPECT_EQ(c.skeleton[c.skeleton.find("knee")].role, "leftUpperArm") << is_old;
  }
}

TEST(GltfReader, OnlyTheChosenSceneIsShown) {
  GltfBuilder g;
  g.addTriangleMesh();
  g.addNode({{"name", "first"}, {"mesh", 0}});
  g.addNode({{"name", "second"}, {"mesh", 0}});
  g.append("scenes", {{"nodes", {0}}});
  g.append("scenes", {{"nodes", {1}}});
  g.root["scene"] = 1;
  EXPECT_EQ(read(g).instances.at(0).name, "second");
  EXPECT_EQ(read(g, {.scene = 0}).instances.at(0).name, "first");
  EXPECT_EQ(read(g).skeleton.size(), 2u);
  g.root.erase("scene");
  EXPECT_EQ(read(g).instances.at(0).name, "first");
  g.root.erase("scenes");
  EXPECT_EQ(read(g).instances.size(), 2u);
}

TEST(GltfReader, AMeshWithoutSkinFollowsItsNode) {
  GltfBuilder g;
  g.addTriangleMesh();
  g.addNode({{"translation", {0, 2, 0}}, {"scale", {3, 3, 3}}, {"children", {1}}});
  g.addNode({{"name", "sword"}, {"mesh", 0}, {"translation", {1, 0, 0}}});
  g.addScene({0});
  const Character c = read(g);
  EXPECT_EQ(c.mesh.positions, (std::vector<Vec3f>{{3, 2, 0}, {6, 2, 0}, {3, 5, 0}}));
  EXPECT_TRUE(c.instances[0].rigid);
  EXPECT_EQ(c.skeleton[c.instances[0].joint].name, "sword");
  EXPECT_EQ(c.skin.slots.size(), 1u);
  for (std::size_t v = 0; v < 3; ++v)
    EXPECT_LT((shownAtRest(c)[v] - c.mesh.positions[v]).norm(), 1e-6);
}

TEST(GltfReader, AMirroringNodeKeepsTheOutsideOut) {
  GltfBuilder g;
  g.addTriangleMesh();
  Json& attributes = g.root["meshes"][0]["primitives"][0]["attributes"];
  attributes["TANGENT"] = g.addFloats({1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1}, "VEC4", 4);
  g.addScene({g.addNode({{"mesh", 0}, {"scale", {-1, 1, 1}}})});
  const Character c = read(g);
  const Triangle t = c.mesh.triangles[0];
  const Vec3f a = c.mesh.positions[t[1]] - c.mesh.positions[t[0]];
  const Vec3f b = c.mesh.positions[t[2]] - c.mesh.positions[t[0]];
  EXPECT_GT(a.cross(b).z(), 0);
  EXPECT_EQ(c.mesh.normals[0], Vec3f(0, 0, 1));
  EXPECT_EQ(c.mesh.tangents[0], Vec4f(-1, 0, 0, -1));
}

TEST(GltfReader, AFlattenedNodeLosesNoShape) {
  GltfBuilder g;
  g.addTriangleMesh();
  g.addScene({g.addNode({{"mesh", 0}, {"scale", {0, 0, 0}}})});
  const Character c = read(g);
  EXPECT_EQ(c.mesh.positions[1], Vec3f(1, 0, 0));
  for (const Vec3f& p : shownAtRest(c)) EXPECT_EQ(p, Vec3f(0, 0, 0));
}

TEST(GltfReader, StripsAndFansBecomeTrianglesOfTheSameSide) {
  for (const int mode : {5, 6}) {
    GltfBuilder g;
    const std::vector<float> strip{0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
    const std::vector<float> fan{0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};
    const int positions = g.addFloats(mode == 5 ? strip : fan, "VEC3", 3);
    g.append("meshes",
             {{"primitives", {{{"attributes", {{"POSITION", positions}}}, {"mode", mode}}}}});
    g.addScene({g.addNode({{"mesh", 0}})});
    const Character c = read(g);
    ASSERT_EQ(c.mesh.triangles.size(), 2u) << mode;
    EXPECT_DOUBLE_EQ(area(c.mesh.positions, c.mesh.triangles), 1.0) << mode;
    for (const Vec3f& n : c.mesh.normals) EXPECT_EQ(n, Vec3f(0, 0, 1)) << mode;
  }
}

TEST(GltfReader, PrimitivesWithTheSameAttributesShareTheirVertices) {
  GltfBuilder g;
  const int shared = g.addFloats({0, 0, 0, 1, 0, 0, 0, 1, 0}, "VEC3", 3);
  const int other = g.addFloats({0, 0, 1, 1, 0, 1, 0, 1, 1}, "VEC3", 3);
  const int indices = g.addInts<std::uint16_t>({0, 1, 2}, 5123, "SCALAR", 1);
  Json primitives = Json::array();
  for (const int positions : {shared, shared, other})
    primitives.push_back({{"attributes", {{"POSITION", positions}}}, {"indices", indices}});
  g.append("meshes", {{"name", "m"}, {"primitives", primitives}});
  g.addScene({g.addNode({{"mesh", 0}})});
  const Character c = read(g);
  EXPECT_EQ(c.mesh.vertexCount(), 6u);
  ASSERT_EQ(c.parts.size(), 3u);
  EXPECT_EQ(c.parts[1].first_vertex, 0u);
  EXPECT_EQ(c.parts[2].first_vertex, 3u);
  EXPECT_EQ(c.parts[2].name, "m_2");
}

TEST(GltfReader, PointsAndLinesAreCarriedNotUsed) {
  GltfBuilder g;
  g.addTriangleMesh();
  Json points = g.root["meshes"][0]["primitives"][0];
  points["mode"] = 0;
  g.root["meshes"][0]["primitives"].push_back(points);
  g.addScene({g.addNode({{"mesh", 0}})});
  Diagnostics notes;
  const Result<Character> c = parse(g.glb(), notes);
  ASSERT_TRUE(c);
  EXPECT_EQ(c->parts.size(), 1u);
  EXPECT_EQ(notes.count("no-triangles"), 1u);
}

TEST(GltfReader, MorphTargetsKeepWhatMovesWithNamesAndWeights) {
  GltfBuilder g;
  g.addTriangleMesh();
  const int dense = g.addFloats({0, 0, 0, 0, 0, 2, 0, 0, 0}, "VEC3", 3);
  const int sparse = g.addAccessor(
      {{"componentType", 5126},
       {"count", 3},
       {"type", "VEC3"},
       {"sparse",
        {{"count", 2},
         {"indices", {{"bufferView", g.addView<std::uint8_t>({0, 2})}, {"componentType", 5121}}},
         {"values", {{"bufferView", g.addView<float>({0, 0, 0, 5, 0, 0})}}}}}});
  const int normals = g.addFloats({0, 0, 0, 0, 0, 0, 0, 1, -1}, "VEC3", 3);
  g.root["meshes"][0]["primitives"][0]["targets"] = {{{"POSITION", dense}, {"NORMAL", normals}},
                                                     {{"POSITION", sparse}}};
  g.root["meshes"][0]["extras"]["targetNames"] = {"smile", "frown"};
  g.root["meshes"][0]["weights"] = {0.5, 0.25};
  g.addScene({g.addNode({{"mesh", 0}, {"weights", {0.75, 0}}, {"scale", {2, 2, 2}}})});
  const Character c = read(g);
  ASSERT_EQ(c.morphs.size(), 2u);
  EXPECT_EQ(c.morphs[0].name, "smile");
  EXPECT_EQ(c.morphs[0].default_weight, 0.75f);
  EXPECT_EQ(c.morphs[0].vertices, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(c.morphs[0].positions[0], Vec3f(0, 0, 4));                  // scaled with the mesh
  EXPECT_EQ(c.morphs[0].normals[1], Vec3f(0, 1, -1));                   // normals are not
  EXPECT_EQ(c.morphs[1].vertices, (std::vector<std::uint32_t>{0, 2}));  // the zero is listed
  EXPECT_EQ(c.morphs[1].positions[1], Vec3f(10, 0, 0));
}

TEST(GltfReader, TangentsThatAreNoNumbersAreReplaced) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  GltfBuilder g;
  g.addTriangleMesh();
  g.root["meshes"][0]["primitives"][0]["attributes"]["TANGENT"] =
      g.addFloats({1, 0, 0, 1, kNan, kNan, kNan, kNan, 1, 0, 0, -1}, "VEC4", 4);
  g.addScene({g.addNode({{"mesh", 0}})});
  Diagnostics notes;
  const Character c = testing_support::readValid(g.glb(), notes);
  ASSERT_EQ(c.mesh.tangents.size(), 3u);
  EXPECT_EQ(c.mesh.tangents[0], Vec4f(1, 0, 0, 1));
  EXPECT_NEAR(c.mesh.tangents[1].head<3>().norm(), 1, 1e-6);
  EXPECT_NEAR(c.mesh.tangents[1].head<3>().dot(c.mesh.normals[1]), 0, 1e-6);
  EXPECT_EQ(c.mesh.tangents[2], Vec4f(1, 0, 0, -1));
  EXPECT_EQ(notes.count("tangent-not-finite"), 1u);
}

TEST(GltfReader, TextureCoordinatesThatAreNoNumbersAreReplaced) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  GltfBuilder g;
  g.addTriangleMesh();
  g.root["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"] =
      g.addFloats({0.5f, 0.25f, kNan, 0.5f, 1, 0}, "VEC2", 2);
  g.addScene({g.addNode({{"mesh", 0}})});
  Diagnostics notes;
  const Character c = testing_support::readValid(g.glb(), notes);
  EXPECT_EQ(c.mesh.uvs, (std::vector<Vec2f>{{0.5f, 0.25f}, {0, 0}, {1, 0}}));
  EXPECT_EQ(notes.count("texture-coordinate-not-finite"), 1u);
}

TEST(GltfReader, NamesOfMorphsMayStandInThePrimitives) {
  GltfBuilder g;
  g.addTriangleMesh();
  Json& primitive = g.root["meshes"][0]["primitives"][0];
  primitive["targets"] = {{{"POSITION", g.addFloats({0, 0, 0, 0, 0, 2, 0, 0, 0}, "VEC3", 3)}}};
  primitive["extras"]["targetNames"] = Json::array({"smile"});
  g.addScene({g.addNode({{"mesh", 0}})});
  ASSERT_EQ(read(g).morphs.size(), 1u);
  EXPECT_EQ(read(g).morphs[0].name, "smile");
  g.root["meshes"][0]["extras"]["targetNames"] = Json::array({"frown"});
  EXPECT_EQ(read(g).morphs[0].name, "frown") << "the mesh's own come first";
}

TEST(GltfReader, ClipsKeepTheirInterpolation) {
  GltfBuilder g;
  g.addNode({{"name", "a"}});
  g.addScene({0});
  const int times = g.addFloats({0, 1}, "SCALAR", 1);
  const int shorts =
      g.addInts<std::int16_t>({0, 0, 0, 32767, 0, 0, 32767, 0}, 5122, "VEC4", 4, true);
  const int step = g.addFloats({1, 2, 3, 4, 5, 6}, "VEC3", 3);
  const int spline = g.addFloats(std::vector<float>(18, 1.0f), "VEC3", 3);
  const auto channel = [](int sampler, const char* path) {
    return Json{{"sampler", sampler}, {"target", {{"node", 0}, {"path", path}}}};
  };
  g.append(
      "animations",
      {{"name", "walk"},
       {"samplers",
        {{{"input", times}, {"output", shorts}},
         {{"input", times}, {"output", step}, {"interpolation", "STEP"}},
         {{"input", times}, {"output", spline}, {"interpolation", "CUBICSPLINE"}}}},
       {"channels", {channel(0, "rotation"), channel(1, "translation"), channel(2, "scale")}}});
  const Character c = read(g);
  ASSERT_EQ(c.clips.size(), 1u);
  EXPECT_EQ(c.clips[0].name, "walk");
  EXPECT_EQ(c.clips[0].tracks[0].values, (std::vector<float>{0, 0, 0, 1, 0, 0, 1, 0}));
  EXPECT_EQ(c.clips[0].tracks[1].interpolation, Interpolation::Step);
  EXPECT_EQ(c.clips[0].tracks[2].interpolation, Interpolation::Cubic);
  EXPECT_EQ(c.clips[0].duration_s(), 1.0f);
}

TEST(GltfReader, WeightChannelsDriveTheMorphsOfTheirNode) {
  GltfBuilder g;
  g.addTriangleMesh();
  const int delta = g.addFloats({0, 0, 1, 0, 0, 1, 0, 0, 1}, "VEC3", 3);
  g.root["meshes"][0]["primitives"][0]["targets"] = {{{"POSITION", delta}}};
  g.addNode({{"mesh", 0}});
  g.addNode({{"mesh", 0}});
  g.addScene({0, 1});
  const int times = g.addFloats({0, 1}, "SCALAR", 1);
  const int values = g.addFloats({0, 1}, "SCALAR", 1);
  g.append("animations",
           {{"samplers", {{{"input", times}, {"output", values}}}},
            {"channels", {{{"sampler", 0}, {"target", {{"node", 1}, {"path", "weights"}}}}}}});
  const Character c = read(g);
  ASSERT_EQ(c.clips.at(0).tracks.size(), 1u);
  EXPECT_EQ(c.clips[0].tracks[0].first_morph, 1u);
  EXPECT_EQ(c.clips[0].tracks[0].morph_count, 1u);
}

TEST(GltfReader, OfKeysAtOneTimeTheFirstCounts) {
  GltfBuilder g;
  g.addNode(Json::object());
  const int times = g.addFloats({0, 1, 1, 2}, "SCALAR", 1);
  const int values = g.addFloats({0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0}, "VEC3", 3);
  g.append("animations",
           {{"samplers", {{{"input", times}, {"output", values}}}},
            {"channels", {{{"sampler", 0}, {"target", {{"node", 0}, {"path", "translation"}}}}}}});
  Diagnostics notes;
  const Result<Character> c = parse(g.glb(), notes);
  ASSERT_TRUE(c) << c.error().text();
  EXPECT_EQ(c->clips[0].tracks[0].times_s, (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(c->clips[0].tracks[0].values[3], 1);
  EXPECT_EQ(notes.count("equal-times"), 1u);
}

TEST(GltfReader, MatricesAreTakenApartAndShearIsNoted) {
  GltfBuilder g;
  g.addNode({{"matrix", {0, 2, 0, 0, -2, 0, 0, 0, 0, 0, 2, 0, 5, 6, 7, 1}}});
  g.addNode({{"matrix", {1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}}});
  Diagnostics notes;
  const Result<Character> c = parse(g.glb(), notes);
  ASSERT_TRUE(c);
  EXPECT_EQ(c->skeleton.joints[0].rest.translation, Vec3f(5, 6, 7));
  EXPECT_LT((c->skeleton.joints[0].rest.scale - Vec3f(2, 2, 2)).norm(), 1e-6);
  EXPECT_EQ(notes.count("shear"), 1u);
}

TEST(GltfReader, MaterialsAndImagesComeAlong) {
  GltfBuilder g;
  g.addTriangleMesh();
  g.root["meshes"][0]["primitives"][0]["material"] = 0;
  g.addScene({g.addNode({{"mesh", 0}})});
  const int picture = g.addView<std::uint8_t>({0x89, 'P', 'N', 'G'});
  g.append("images", {{"bufferView", picture}, {"mimeType", "image/png"}, {"name", "skin"}});
  g.append("images", {{"uri", "data:image/jpeg;base64,/9j/"}});
  g.append("images", {{"uri", "missing.png"}});
  for (int i = 0; i < 3; ++i) g.append("textures", {{"source", i}});
  g.append("materials", {{"name", "shiny"},
                         {"pbrMetallicRoughness",
                          {{"baseColorFactor", {1, 0.5, 0.25, 1}},
                           {"baseColorTexture", {{"index", 0}}},
                           {"roughnessFactor", 0.125}}},
                         {"normalTexture", {{"index", 1}}},
                         {"doubleSided", true},
                         {"alphaMode", "MASK"}});
  Diagnostics notes;
  const Result<Character> c = parse(g.glb(), notes);
  ASSERT_TRUE(c) << c.error().text();
  const Material& m = c->materials.at(0);
  EXPECT_EQ(m.base_colour, Vec4f(1, 0.5f, 0.25f, 1));
  EXPECT_EQ(m.base_colour_image, 0);
  EXPECT_EQ(m.normal_image, 1);
  EXPECT_EQ(m.roughness, 0.125f);
  EXPECT_TRUE(m.double_sided && m.transparent);
  EXPECT_EQ(c->images[0].bytes.size(), 4u);
  EXPECT_EQ(c->images[1].mime_type, "image/jpeg");
  EXPECT_EQ(c->images[1].bytes, (std::vector<std::uint8_t>{0xFF, 0xD8, 0xFF}));
  EXPECT_EQ(c->images[2].uri, "missing.png");
  EXPECT_EQ(notes.count("image-not-read"), 1u);
}

TEST(GltfReader, BuffersMayBeFilesBesideIt) {
  const std::string text =
      R"({"asset":{"version":"2.0"},"buffers":[{"uri":"my%20data.bin","byteLength":36}],
    "bufferViews":[{"buffer":0,"byteLength":36}],
    "accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}],
    "meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}]})";
  std::vector<std::string> asked;
  const SideFileReader files = [&](std::string_view uri) -> Result<std::vector<std::uint8_t>> {
    asked.emplace_back(uri);
    return std::vector<std::uint8_t>(36, 0);
  };
  Diagnostics notes;
  const Result<Character> c =
      parseGltf({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "a.gltf", files,
                {}, notes);
  ASSERT_TRUE(c) << c.error().text();
  EXPECT_EQ(asked, std::vector<std::string>{"my data.bin"});
  EXPECT_EQ(c->mesh.vertexCount(), 3u);
  EXPECT_EQ(notes.count("no-nodes"), 1u);
  EXPECT_TRUE(c->skeleton.joints.empty() && c->skin.empty());
}

TEST(GltfReader, UnitsScaleEverything) {
  GltfBuilder g;
  g.addTriangleMesh();
  g.addScene({g.addNode({{"mesh", 0}, {"translation", {0, 10, 0}}})});
  const Character c = read(g, {.metres_per_unit = 0.01});
  EXPECT_LT((c.mesh.positions[1] - Vec3f(0.01f, 0.1f, 0)).norm(), 1e-7);
  EXPECT_EQ(c.import.metres_per_unit, 0.01);
  EXPECT_EQ(c.import.declared_unit, "m");
  EXPECT_LT((shownAtRest(c)[1] - c.mesh.positions[1]).norm(), 1e-7);
}

TEST(GltfReader, OptionalDracoWithPlainDataIsReadPlain) {
  GltfBuilder g;
  g.addTriangleMesh();
  g.root["extensionsUsed"] = {"KHR_draco_mesh_compression"};
  g.root["meshes"][0]["primitives"][0]["extensions"]["KHR_draco_mesh_compression"] = {
      {"bufferView", 0}, {"attributes", {{"POSITION", 0}}}};
  g.addScene({g.addNode({{"mesh", 0}})});
  EXPECT_EQ(read(g).mesh.vertexCount(), 3u);
}

TEST(GltfReader, TwoMeshesOnOneSkinShareItsSlots) {
  GltfBuilder g = skinnedTriangle(translations({{0, -100, 0}, {0, -50, 0}}));
  g.addNode({{"mesh", 0}, {"skin", 0}});
  g.root["scenes"][0]["nodes"] = {0, 4};
  const Character c = read(g);
  EXPECT_EQ(c.instances.size(), 2u);
  EXPECT_EQ(c.skin.slots.size(), 2u);
}

TEST(GltfReader, JointsOfASkinMayLieOutsideTheScene) {
  GltfBuilder g = skinnedTriangle(translations({{0, -100, 0}, {0, -50, 0}}));
  g.root["nodes"][0]["children"] = {1};
  g.root["scenes"][0]["nodes"] = {3};
  const Character c = read(g);
  EXPECT_EQ(c.instances.size(), 1u);
  EXPECT_NEAR(c.mesh.positions[1].x(), 0.01f, 1e-8);
}

}  // namespace
}  // namespace derm::gltf_reader_test
