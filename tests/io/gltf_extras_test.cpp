// What derm keeps in a glTF's extras: labelled surface points, detail normal maps, controls.
#include <filesystem>

#include <gtest/gtest.h>

#include "derm/io/character_file.h"

#include "io/gltf_builder.h"
#include "support/shelf.h"
#include "support/test_folder.h"

namespace derm::gltf_extras_test {
namespace {

using testing_support::encode;
using testing_support::GltfBuilder;
using testing_support::Json;
using testing_support::jsonOf;
using testing_support::readValid;

Character read(const std::vector<std::uint8_t>& bytes) {
  Diagnostics notes;
  const Character c = readValid(bytes, notes);
  EXPECT_EQ(notes.count("bad-point") + notes.count("bad-detail-map"), 0u);
  return c;
}

Vec3f positionOf(const Character& c, const char* label) {
  const SurfacePoint* point = c.findPoint(label);
  EXPECT_NE(point, nullptr) << label;
  return point ? positionAt(*point, c.mesh.triangles, c.mesh.positions) : Vec3f::Zero();
}

/// Two cubes, the first in two parts, with points on all three parts in no order.
Character twoCubes() {
  Character c;
  c.name = "cubes";
  c.mesh = shelf::cube();
  TriMesh second = shelf::cube();
  for (Vec3f& p : second.positions) p += Vec3f(3, 0, 0);
  for (Triangle t : second.triangles) c.mesh.triangles.push_back({t[0] + 8, t[1] + 8, t[2] + 8});
  c.mesh.positions.insert(c.mesh.positions.end(), second.positions.begin(), second.positions.end());
  c.mesh.normals.insert(c.mesh.normals.end(), second.normals.begin(), second.normals.end());
  c.parts = {{.name = "lower", .triangle_count = 5, .vertex_count = 8},
             {.name = "upper", .first_triangle = 5, .triangle_count = 7, .vertex_count = 8},
             {.name = "other",
              .first_triangle = 12,
              .triangle_count = 12,
              .first_vertex = 8,
              .vertex_count = 8}};
  c.instances = {
      {.name = "a", .part_count = 2, .vertex_count = 8},
      {.name = "b", .first_part = 2, .part_count = 1, .first_vertex = 8, .vertex_count = 8}};
  c.points = {{"far", {17, Vec3f(0.1f, 0.2f, 0.7f)}},
              {"low", {4, Vec3f(0.3f, 0.3f, 0.4f)}},
              {"Näse \"1\"", {5, Vec3f(1, 0, 0)}},
              {"high", {11, Vec3f(0.123456789f, 0.5f, 0.376543211f)}}};
  return c;
}

TEST(GltfPoints, PointsOnSeveralPartsAndMeshesComeBackBitForBit) {
  const Character c = twoCubes();
  ASSERT_TRUE(validate(c)) << validate(c).error().text();
  const std::vector<std::uint8_t> glb = encode(c);
  const Character back = read(glb);
  EXPECT_TRUE(sameContent(c, back));
  EXPECT_EQ(back.points.size(), 4u);
  for (const LabelledPoint& p : c.points) EXPECT_EQ(*back.findPoint(p.label), p.point);
  // Where they lie: with their primitive, counted from its first triangle.
  const Json upper = jsonOf(glb)["meshes"][0]["primitives"][1]["extras"]["derm_points"];
  ASSERT_EQ(upper.size(), 2u);
  EXPECT_EQ(upper[0]["label"], "Näse \"1\"");
  EXPECT_EQ(upper[0]["triangle"], 0);
  EXPECT_EQ(upper[1]["triangle"], 6);
  // Once more, from the file's own document.
  EXPECT_EQ(encode(back), encode(read(encode(back))));
  EXPECT_TRUE(sameContent(c, read(encode(back))));
}

TEST(GltfPoints, EditsThatKeepTrianglesKeepPoints) {
  Character c = read(encode(twoCubes()));
  for (Vec3f& p : c.mesh.positions) p *= 2;
  scaleLengths(c, 0.5);
  c.parts[1].name = "renamed";
  const Character back = read(encode(c));
  EXPECT_TRUE(sameContent(c, back));
  EXPECT_EQ(back.points.size(), 4u);
}

TEST(GltfPoints, PointsMoveAppearAndGo) {
  Character c = read(encode(twoCubes()));
  const std::vector<LabelledPoint> first = c.points;
  c.points = {{"low", {13, Vec3f(0, 1, 0)}}, {"new", {0, Vec3f(0, 0.5f, 0.5f)}}};
  const std::vector<std::uint8_t> changed = encode(c);
  EXPECT_TRUE(sameContent(c, read(changed)));
  EXPECT_FALSE(jsonOf(changed)["meshes"][0]["primitives"][1].contains("extras") &&
               jsonOf(changed)["meshes"][0]["primitives"][1]["extras"].contains("derm_points"));
  c.points.clear();
  EXPECT_TRUE(read(encode(c)).points.empty());
  c.points = first;
  EXPECT_TRUE(sameContent(c, read(encode(c))));
}

/// A triangle (0,0,0) (1,0,0) (0,1,0) with one point nearest to its second corner.
GltfBuilder withPoints(Json points) {
  GltfBuilder g;
  const int mesh = g.addTriangleMesh();
  g.root["meshes"][mesh]["name"] = "triangle";
  g.root["meshes"][mesh]["primitives"][0]["extras"] = {{"derm_points", std::move(points)},
                                                       {"mine", 1}};
  return g;
}

const Json kOne = {{{"label", "p"}, {"triangle", 0}, {"weights", {0.25, 0.5, 0.25}}}};

TEST(GltfPoints, AMirroringNodeLeavesThePointWhereItIs) {
  GltfBuilder g = withPoints(kOne);
  g.addNode({{"mesh", 0}, {"scale", {-2, 1, 1}}});
  g.addScene({0});
  const Character c = read(g.glb());
  EXPECT_LT((positionOf(c, "p") - Vec3f(-1, 0.25f, 0)).norm(), 1e-6f);
  EXPECT_EQ(jsonOf(encode(c))["meshes"][0], jsonOf(g.glb())["meshes"][0]);
  // Written anew, without the document.
  Character bare = c;
  bare.source = nullptr;
  EXPECT_LT((positionOf(read(encode(bare)), "p") - Vec3f(-1, 0.25f, 0)).norm(), 1e-6f);
  // Changed in it.
  Character moved = c;
  moved.points[0].point.barycentric = Vec3f(0, 0, 1);
  const Vec3f position = positionOf(moved, "p");
  EXPECT_LT((positionOf(read(encode(moved)), "p") - position).norm(), 1e-6f);
}

TEST(GltfPoints, OfAMeshShownTwiceTheFirstNodeHasThePoints) {
  GltfBuilder g = withPoints(kOne);
  g.addNode({{"name", "left"}, {"mesh", 0}});
  g.addNode({{"name", "right"}, {"mesh", 0}, {"translation", {5, 0, 0}}});
  g.addScene({0, 1});
  Character c = read(g.glb());
  ASSERT_EQ(c.points.size(), 1u);
  EXPECT_EQ(c.points[0].point.triangle, 0u);
  EXPECT_EQ(jsonOf(encode(c)), jsonOf(g.glb()));
  // Renamed, moved to the second, and one each: the other node must not bring the old one back.
  c.points[0].label = "renamed";
  EXPECT_TRUE(sameContent(c, read(encode(c))));
  c.points = {{"p", {1, Vec3f(0, 0, 1)}}};
  EXPECT_TRUE(sameContent(c, read(encode(c))));
  c.points = {{"p", {1, Vec3f(0, 0, 1)}}, {"q", {0, Vec3f(0, 1, 0)}}};
  EXPECT_TRUE(sameContent(c, read(encode(c))));
  c.points.clear();
  EXPECT_TRUE(read(encode(c)).points.empty());
}

TEST(GltfPoints, BrokenPointsAreNotedLeftOutAndCarried) {
  const Json odd = {
      {{"label", "good"}, {"triangle", 0}, {"weights", {0.333, 0.333, 0.333}}, {"colour", "red"}},
      {{"label", "beyond"}, {"triangle", 1}, {"weights", {1, 0, 0}}},
      {{"label", "half"}, {"triangle", 0}, {"weights", {0.5, 0, 0}}},
      {{"label", "good"}, {"triangle", 0}, {"weights", {1, 0, 0}}},
      {{"label", ""}, {"triangle", 0}, {"weights", {1, 0, 0}}},
      {{"label", 7}, {"triangle", 0.5}, {"weights", "none"}},
      {{"label", "negative"}, {"triangle", 0}, {"weights", {1.5, -0.5, 0}}},
      nullptr,
      12};
  for (const Json& points : {odd, Json("text"), Json({{"label", "x"}}), Json(nullptr), Json(-1)}) {
    SCOPED_TRACE(points.dump());
    GltfBuilder g = withPoints(points);
    g.addNode({{"mesh", 0}});
    g.addScene({0});
    Diagnostics notes;
    Character c = readValid(g.glb(), notes);
    EXPECT_EQ(c.points.size(), points == odd ? 1u : 0u);
    EXPECT_EQ(notes.count("bad-point"), points == odd ? 8u : 1u);
    EXPECT_EQ(jsonOf(encode(c)), jsonOf(g.glb())) << "unchanged";
    c.points.push_back({"added", {0, Vec3f(0, 1, 0)}});
    const Json written = jsonOf(encode(c))["meshes"][0]["primitives"][0]["extras"];
    EXPECT_EQ(written["mine"], 1);
    EXPECT_EQ(written["derm_points"].size(), points == odd ? 10u : 2u) << written.dump();
    Diagnostics again;
    EXPECT_TRUE(sameContent(c, readValid(encode(c), again)));
  }
}

class GltfExtrasFiles : public testing_support::FolderTest {};

TEST_F(GltfExtrasFiles, ObjSaysThatItHasNoPoints) {
  Diagnostics notes;
  ASSERT_TRUE(saveCharacter(twoCubes(), folder_ / "a.obj", notes));
  EXPECT_EQ(notes.count("points-not-in-obj"), 1u);
  ASSERT_TRUE(saveCharacter(twoCubes(), folder_ / "a.gltf", notes));
  EXPECT_EQ(loadCharacter(folder_ / "a.gltf", {}, notes)->points.size(), 4u);
}

/// A cube with two pictures and a material that lays the second over the first, twice.
Character detailed() {
  Character c;
  c.name = "skin";
  c.mesh = shelf::cube();
  c.mesh.uvs.assign(8, Vec2f(0.5f, 0.25f));
  c.mesh.groups = {{"brow", {2, 3}, {1, 0.5f}}};
  c.images = {{"base", "image/png", "", {0x89, 'P', 'N', 'G'}},
              {"frown", "image/png", "", {0x89, 'P', 'N', 'G', 2}}};
  c.materials = {{.name = "m",
                  .normal_image = 0,
                  .detail_maps = {{.image = 1,
                                   .uv_scale = Vec2f(8, 4),
                                   .uv_offset = Vec2f(0.1f, -0.25f),
                                   .strength = 0.7f,
                                   .vertex_group = "brow",
                                   .control = "frown"},
                                  {.image = 1, .uv_set = 1, .channel = "raised"}}},
                 {.name = "plain"}};
  addDefaultParts(c);
  return c;
}

TEST(GltfDetailMaps, TheyComeBackAndTheRestIsPlainGltf) {
  const Character c = detailed();
  ASSERT_TRUE(validate(c)) << validate(c).error().text();
  const std::vector<std::uint8_t> glb = encode(c);
  const Json material = jsonOf(glb)["materials"][0];
  const Json maps = material["extras"]["derm_detail_maps"];
  ASSERT_EQ(maps.size(), 2u);
  EXPECT_EQ(maps[0]["control"], "frown");
  EXPECT_EQ(maps[0]["scale"], Json({8.0, 4.0}));
  EXPECT_EQ(maps[1], Json({{"index", maps[0]["index"]},
                           {"texCoord", 1},
                           {"strength", 1.0},
                           {"channel", "raised"}}));
  EXPECT_EQ(jsonOf(glb)["textures"][maps[0]["index"].get<std::size_t>()]["source"], 1);
  EXPECT_FALSE(jsonOf(glb)["materials"][1].contains("extras"));
  EXPECT_TRUE(sameContent(c, read(glb)));
  EXPECT_TRUE(sameContent(c, read(encode(read(glb)))));
}

TEST(GltfDetailMaps, TheyChangeAloneAndBrokenOnesAreCarried) {
  GltfBuilder g;
  const int mesh = g.addTriangleMesh();
  g.root["meshes"][mesh]["primitives"][0]["material"] = 0;
  g.append("images", {{"uri", "data:image/png;base64,iVBORw=="}});
  g.append("textures", {{"source", 0}});
  const Json odd = {{{"index", 0}, {"strength", 0.5}, {"theirs", true}},
                    {{"index", 4}},
                    {{"index", 0}, {"strength", -1}},
                    {{"index", 0}, {"scale", {1}}},
                    {{"index", 0}, {"control", 3}},
                    {{"index", 0}, {"channel", true}},
                    {{"index", 0}, {"texCoord", 99}},
                    "what"};
  g.append("materials",
           {{"emissiveFactor", {1, 0, 0}}, {"extras", {{"mine", 1}, {"derm_detail_maps", odd}}}});
  g.addNode({{"mesh", 0}});
  g.addScene({0});
  Diagnostics notes;
  Character c = readValid(g.glb(), notes);
  EXPECT_EQ(notes.count("bad-detail-map"), 7u);
  ASSERT_EQ(c.materials[0].detail_maps.size(), 1u);
  EXPECT_EQ(c.materials[0].detail_maps[0].strength, 0.5f);
  EXPECT_EQ(jsonOf(encode(c)), jsonOf(g.glb()));
  c.materials[0].detail_maps[0].control = "smile";
  const Json changed = jsonOf(encode(c))["materials"][0];
  EXPECT_EQ(changed["extras"]["mine"], 1);
  EXPECT_EQ(changed["extras"]["derm_detail_maps"].size(), 8u);
  EXPECT_EQ(changed["emissiveFactor"], Json({1, 0, 0}));
  Diagnostics again;
  EXPECT_TRUE(sameContent(c, readValid(encode(c), again)));
  c.materials[0].detail_maps.clear();
  EXPECT_EQ(jsonOf(encode(c))["materials"][0]["extras"]["derm_detail_maps"].size(), 7u);
}

Character withControls() {
  Character c = twoCubes();
  c.skeleton.joints = {{.name = "root"}};
  c.controls = {{.name = "smile", .preset = 0.25f, .low = -1, .high = 2}, {.name = "frown"}};
  const Track smile{.channel = Channel::Control,
                    .interpolation = Interpolation::Cubic,
                    .control = 0,
                    .times_s = {0, 0.5f},
                    .values = {0, 0.1f, 1, 0, 0.7f, 0}};
  const Track frown{.channel = Channel::Control,
                    .interpolation = Interpolation::Step,
                    .control = 1,
                    .times_s = {0.25f},
                    .values = {1}};
  const Track way{.channel = Channel::Translation,
                  .joint = JointId(0),
                  .times_s = {0, 1},
                  .values = {0, 0, 0, 1, 0, 0}};
  c.clips = {{.name = "grin", .tracks = {way, smile}}, {.name = "face alone", .tracks = {frown}}};
  return c;
}

TEST(GltfControls, SurviveARoundTripWithTheirTracks) {
  const Character c = withControls();
  ASSERT_TRUE(validate(c)) << validate(c).error().text();
  const Character back = read(encode(c));
  EXPECT_EQ(back.controls, c.controls);
  EXPECT_EQ(back.clips, c.clips);
  const Character again = read(encode(back));
  EXPECT_EQ(again.controls, c.controls);
  EXPECT_EQ(again.clips, c.clips);
  Character none = back;
  none.controls.clear();
  for (Clip& clip : none.clips)
    std::erase_if(clip.tracks, [](const Track& t) { return t.channel == Channel::Control; });
  EXPECT_FALSE(jsonOf(encode(none)).contains("extras"));
}

TEST(GltfControls, StayInTimeWithAClipThatStartsBeforeZero) {
  Character c = withControls();
  c.clips[0].tracks[0].times_s = {-1, 1};  // glTF has no such times: the clip is moved
  const Character back = read(encode(c));
  EXPECT_EQ(back.clips[0].tracks[0].times_s, (std::vector<float>{0, 2}));
  EXPECT_EQ(back.clips[0].tracks[1].times_s, (std::vector<float>{1, 1.5f}));
  EXPECT_EQ(back.clips[1], c.clips[1]);
}

TEST(GltfControls, WhatIsMalformedIsLeftOutWithAWord) {
  const Json good = jsonOf(encode(withControls()))["extras"]["derm_controls"];
  const auto count = [&](const Json& ours) {
    GltfBuilder g;
    g.root["extras"]["derm_controls"] = ours;
    Diagnostics notes;
    const Result<Character> c = testing_support::parse(g.glb(), notes);
    EXPECT_TRUE(c) << (c ? "" : c.error().text());
    EXPECT_TRUE(!c || validate(*c));
    return notes.count("bad-controls");
  };
  Json twice = good;
  twice["controls"][1]["name"] = "smile";
  EXPECT_GT(count(twice), 0u);
  for (const Json& bad : {Json("text"), Json(nullptr), Json(1e300)}) {
    Json changed = good;
    changed["controls"][0]["preset"] = bad;
    EXPECT_GT(count(changed), 0u) << bad;
    changed = good;
    changed["clips"][1]["tracks"][0]["values"][0] = bad;
    EXPECT_GT(count(changed), 0u) << bad;
    changed = good;
    changed["clips"][1]["tracks"][0]["control"] = bad;
    EXPECT_GT(count(changed), 0u) << bad;
  }
  Json far = good;
  far["clips"][1]["tracks"][0]["control"] = 2;
  EXPECT_GT(count(far), 0u);
}

}  // namespace
}  // namespace derm::gltf_extras_test
