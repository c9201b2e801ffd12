#include "derm/io/obj.h"

#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "derm/io/character_file.h"
#include "derm/mesh/adjacency.h"
#include "derm/mesh/closedness.h"
#include "derm/mesh/measures.h"
#include "derm/mesh/weld.h"

#include "support/compare.h"
#include "support/shelf.h"
#include "support/test_folder.h"
#include "support/unpacked.h"

namespace derm::obj_test {
namespace {

Result<Character> parse(std::string_view text, Diagnostics& notes,
                        const SideFileReader& read = {}) {
  return parseObj(text, "test.obj", {}, notes, read);
}

Character parsed(std::string_view text) {
  Diagnostics notes;
  Result<Character> character = parse(text, notes);
  EXPECT_TRUE(character.ok()) << (character.ok() ? "" : character.error().text());
  return character.ok() ? *std::move(character) : Character{};
}

std::string errorOf(std::string_view text) {
  Diagnostics notes;
  const Result<Character> character = parse(text, notes);
  return character.ok() ? "no error" : character.error().text();
}

constexpr std::string_view kSquare = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

double areaOf(const Character& c) { return area(c.mesh.positions, c.mesh.triangles); }

TEST(ObjReader, ReadsEveryIndexForm) {
  const std::string data = std::string(kSquare) + "vt 0 0\nvt 1 0\nvt 1 1\nvn 0 0 1\n";
  for (const char* face : {"f 1 2 3", "f 1/1 2/2 3/3", "f 1//1 2//1 3//1", "f 1/1/1 2/2/1 3/3/1",
                           "f -4 -3 -2", "f -4/-3/-1 -3/-2/-1 -2/-1/-1", "f 1/1/ 2/2/ 3/3/",
                           "f\t1  2\t 3  # a comment", "fo 1 2 3"}) {
    SCOPED_TRACE(face);
    const Character c = parsed(data + face + "\n");
    ASSERT_EQ(c.mesh.triangles.size(), 1u);
    EXPECT_EQ(c.mesh.triangles[0], (Triangle{0, 1, 2}));
    EXPECT_EQ(c.mesh.vertexCount(), 4u);
  }
}

TEST(ObjReader, NegativeIndicesCountFromWhereTheyStand) {
  const Character c = parsed(std::string(kSquare) + "f -4 -3 -2\nv 5 5 5\nf -4 -3 -1\n");
  EXPECT_EQ(c.mesh.triangles, (std::vector<Triangle>{{0, 1, 2}, {1, 2, 4}}));
}

TEST(ObjReader, FacesMayComeBeforeTheirVertices) {
  EXPECT_EQ(parsed("f 1 2 3\n" + std::string(kSquare)).mesh.triangles.size(), 1u);
}

TEST(ObjReader, AcceptsOddSpellings) {
  const Character c = parsed(
      "\xEF\xBB\xBF# mark\r\n  v  .8e-1\t-.7e+2 +5.5\r\nv 1 0 \\\r\n 0\r\n\r\nv 1e-60 1 0 1.0\r\n"
      "s off\r\nf 1 \\\r\n2 3");
  ASSERT_EQ(c.mesh.vertexCount(), 3u);
  EXPECT_EQ(c.mesh.positions[0], Vec3f(0.08f, -70.0f, 5.5f));
  EXPECT_EQ(c.mesh.positions[1], Vec3f(1, 0, 0));
  EXPECT_EQ(c.mesh.positions[2], Vec3f(0, 1, 0));
  EXPECT_EQ(c.mesh.triangles.size(), 1u);
  EXPECT_EQ(parsed("v 0 0 0\rv 1 0 0\rv 0 1 0\rf 1 2 3\r").mesh.triangles.size(), 1u);
}

TEST(ObjReader, KeepsVertexNumbersWithoutSeams) {
  const Character c = parsed("v 9 9 9\n" + std::string(kSquare) +
                             "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n" + "f 5/4 4/3 3/2\nf 5/4 3/2 2/1\n");
  ASSERT_EQ(c.mesh.vertexCount(), 5u);  // the unreferenced first one too
  EXPECT_EQ(c.mesh.triangles, (std::vector<Triangle>{{4, 3, 2}, {4, 2, 1}}));
  EXPECT_EQ(c.mesh.uvs[1], Vec2f(0, 1));
  EXPECT_EQ(c.mesh.uvs[4], Vec2f(0, 0));
}

TEST(ObjReader, DoublesAVertexOnlyWhereUvOrNormalDiffer) {
  const Character c =
      parsed(std::string(kSquare) + "vt 0 0\nvt 1 0\nvt 1 1\nvt 0.5 0.25\nf 1/1 2/2 3/3\n" +
             "f 1/4 3/3 4/1\nf 1/4 2/2 4/1\nf 1 2 4\n");
  ASSERT_EQ(c.mesh.vertexCount(), 5u);
  EXPECT_EQ(c.mesh.positions[4], c.mesh.positions[0]);
  EXPECT_EQ(c.mesh.uvs[4], Vec2f(0.5f, 0.75f));
  EXPECT_EQ(c.mesh.triangles[1], (Triangle{4, 2, 3}));
  EXPECT_EQ(c.mesh.triangles[2], (Triangle{4, 1, 3}));
  EXPECT_EQ(c.mesh.triangles[3], (Triangle{0, 1, 3}));  // no uv given: shares the first
}

TEST(ObjReader, CutsConcavePolygonsInsideTheirOutline) {
  // An arrow head whose fan from the first corner would cover ground outside of it.
  const Character arrow = parsed("v 0 0 0\nv 2 1 0\nv 0 2 0\nv 1 1 0\nf 2 3 4 1\nf 1 2 3 4\n");
  ASSERT_EQ(arrow.mesh.triangles.size(), 4u);
  EXPECT_NEAR(areaOf(arrow), 2.0, 1e-12);
  // A comb: every tooth adds concave corners. Standing in space, to test the projection.
  std::string text;
  std::string face = "f";
  const int teeth = 40;
  int corners = 0;
  for (int i = 0; i <= 2 * teeth; ++i) {
    const double height = i % 2 == 0 ? 0.2 : 1.0;
    text += "v " + std::to_string(0.3 * i) + " " + std::to_string(height) + " " +
            std::to_string(2.0 * i) + "\n";
    face += " " + std::to_string(++corners);
  }
  text +=
      "v " + std::to_string(0.3 * 2 * teeth) + " 0 " + std::to_string(4.0 * teeth) + "\nv 0 0 0\n";
  face += " " + std::to_string(corners + 1) + " " + std::to_string(corners + 2);
  const Character comb = parsed(text + face + "\n");
  EXPECT_EQ(comb.mesh.triangles.size(), static_cast<std::size_t>(corners));
  const double width = 2 * teeth * std::hypot(0.3, 2.0);
  EXPECT_NEAR(areaOf(comb), width * 0.6, 1e-3);
}

TEST(ObjReader, CutsPolygonsWithBridgesToHolesAndFlatCorners) {
  // A square ring of area 8 written as one outline with a bridge that is walked twice.
  const Character ring = parsed(
      "v 0 0 0\nv 3 0 0\nv 3 3 0\nv 0 3 0\nv 1 1 0\nv 1 2 0\nv 2 2 0\nv 2 1 0\n"
      "f 1 2 3 4 1 5 6 7 8 5\n");
  EXPECT_EQ(ring.mesh.triangles.size(), 8u);
  EXPECT_NEAR(areaOf(ring), 8.0, 1e-6);
  // A corner in the middle of a side gives no triangle without area.
  const Character flat = parsed("v 0 0 0\nv 1 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nf 1 2 3 4 5\n");
  for (const Triangle& t : flat.mesh.triangles)
    EXPECT_GT(area(flat.mesh.positions, std::span(&t, 1)), 0.1);
}

TEST(ObjReader, SurvivesPolygonsWithoutAnyShape) {
  for (const char* face : {"f 1 1 1 1 1", "f 1 2 1 2 1 2", "f 1 3 2 4", "f 1 2 3 1 2 3 1 2 3"}) {
    SCOPED_TRACE(face);
    const Character c = parsed(std::string(kSquare) + face + "\n");
    EXPECT_FALSE(c.mesh.triangles.empty());
  }
}

TEST(ObjReader, BoundsTheWorkForHostilePolygons) {
  // A spiral of 40,000 corners: plain ear clipping would take hours.
  std::string text, face = "f";
  const int n = 40000;
  for (int i = 0; i < n; ++i) {
    const double turn = 0.05 * (i < n / 2 ? i : n - 1 - i);
    const double radius = turn + (i < n / 2 ? 0.0 : 1.5);
    text += "v " + std::to_string(radius * std::cos(turn)) + " " +
            std::to_string(radius * std::sin(turn)) + " 0\n";
    face += " " + std::to_string(i + 1);
  }
  const Character c = parsed(text + face + "\n");
  EXPECT_EQ(c.mesh.triangles.size(), static_cast<std::size_t>(n - 2));
}

TEST(ObjReader, SkipsLinesAndPointsWithANote) {
  Diagnostics notes;
  const Result<Character> c =
      parse(std::string(kSquare) + "l 1 2\np 1 2 3\nf 1 2\nf 1 2 3\nvp 1 2\n", notes);
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(c->mesh.triangles.size(), 1u);
  EXPECT_EQ(notes.count("not-a-face"), 2u);
  EXPECT_EQ(notes.count("face-too-small"), 1u);
  EXPECT_EQ(notes.count("statement-ignored"), 1u);
}

TEST(ObjReader, ErrorsNameLineAndIndex) {
  const std::string square(kSquare);
  EXPECT_EQ(errorOf(""), "test.obj: no vertices (\"v\" lines) in the file");
  EXPECT_EQ(errorOf("v 1 2 x\n"), "test.obj:1: v[2]: \"x\" is not a number");
  EXPECT_EQ(errorOf("v 1 2 3\nv 1 nan 3\n"), "test.obj:2: v[1]: \"nan\" is not a finite number");
  EXPECT_EQ(errorOf("v inf 2 3\n"), "test.obj:1: v[0]: \"inf\" is not a finite number");
  EXPECT_EQ(errorOf("v 1e39 2 3\n"), "test.obj:1: v[0]: \"1e39\" is not a finite number");
  EXPECT_EQ(errorOf("v 1 2\n"), "test.obj:1: v[0]: 2 coordinates, but a vertex needs 3");
  EXPECT_EQ(errorOf("v 1 2 3\nvn 1 2\n"), "test.obj:2: vn[0]: 2 coordinates, but a normal needs 3");
  EXPECT_EQ(errorOf("v 1 2 3\nvt\n"), "test.obj:2: vt[0]: no coordinates");
  EXPECT_EQ(errorOf(square + "f 1 2 5\n"),
            "test.obj:5: f: vertex index 5, but there are 4, counted from 1");
  EXPECT_EQ(errorOf(square + "f 1 2 0\n"),
            "test.obj:5: f: vertex index 0, but there are 4, counted from 1");
  EXPECT_EQ(errorOf(square + "f 1 2 -5\n"),
            "test.obj:5: f: vertex index -5, but there are 4 before it");
  EXPECT_EQ(errorOf(square + "vt 0 0\nf 1/1 2/1 3/2\n"),
            "test.obj:6: f: texture index 2, but there are 1, counted from 1");
  EXPECT_EQ(errorOf(square + "vn 0 0 1\nf 1//1 2//2 3//1\n"),
            "test.obj:6: f: normal index 2, but there are 1, counted from 1");
  EXPECT_EQ(errorOf(square + "f 1 2 a\n"), "test.obj:5: f: \"a\" is not a vertex index");
  EXPECT_EQ(errorOf(square + "f 1 2 99999999999999999999\n"),
            "test.obj:5: f: \"99999999999999999999\" is not a vertex index");
  Diagnostics notes;
  const Result<Character> bad_unit = parseObj(kSquare, "test.obj", {.metres_per_unit = 0.0}, notes);
  ASSERT_FALSE(bad_unit.ok());
  EXPECT_EQ(bad_unit.error().code, ErrorCode::BadArgument);
}

TEST(ObjReader, IndicesIntoListsThatTheFileLacksAltogetherAreIgnored) {
  Diagnostics notes;
  const Result<Character> c = parse(std::string(kSquare) + "f 1/1/1 2/2/2 3/3/3\n", notes);
  ASSERT_TRUE(c.ok()) << c.error().text();
  EXPECT_EQ(c->mesh.vertexCount(), 4u);
  EXPECT_TRUE(c->mesh.uvs.empty());
  EXPECT_EQ(notes.count("texture-coordinates-absent"), 3u);
  EXPECT_EQ(notes.count("normals-absent"), 3u);
}

TEST(ObjReader, GroupsAndObjectsBecomeVertexGroups) {
  const Character c = parsed(
      std::string(kSquare) +
      "o My Thing\ng front  left\nf 1 2 3\ng back left\nf 1 3 4\ng\nf 2 3 4\n" + "g unused\n");
  ASSERT_EQ(c.mesh.groups.size(), 4u);
  EXPECT_EQ(c.mesh.groups[0].name, "My_Thing");
  EXPECT_EQ(c.mesh.groups[0].vertices, (std::vector<std::uint32_t>{0, 1, 2, 3}));
  ASSERT_NE(c.mesh.findGroup("front"), nullptr);
  EXPECT_EQ(c.mesh.findGroup("front")->vertices, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(c.mesh.findGroup("left")->vertices, (std::vector<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(c.mesh.findGroup("back")->strengths, (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(c.instances[0].name, "My Thing");
}

TEST(ObjReader, ObjectsBecomeInstancesWhereTheirVerticesFollowOneAnother) {
  const std::string a = std::string(kSquare) + "o a\nf 1 2 3\n";
  const Character apart = parsed(a + std::string(kSquare) + "o b\nf 5 6 7\nf 5 7 8\n");
  ASSERT_EQ(apart.instances.size(), 2u);
  EXPECT_EQ(apart.instances[0].name, "a");
  EXPECT_EQ(apart.instances[0].vertex_count, 4u);  // vertex 3 is loose and stays here
  EXPECT_EQ(apart.instances[1].name, "b");
  EXPECT_EQ(apart.instances[1].first_vertex, 4u);
  const Character regrouped = parsed(a + std::string(kSquare) + "o b\nf 6 7 8\ng later\nf 5 6 7\n");
  ASSERT_EQ(regrouped.instances.size(), 2u);  // its lowest vertex comes with its second group
  EXPECT_EQ(regrouped.instances[1].first_vertex, 4u);
  const Character shared = parsed(a + std::string(kSquare) + "o b\nf 1 6 7\n");
  ASSERT_EQ(shared.instances.size(), 1u);
  EXPECT_EQ(shared.instances[0].name, "test");
}

TEST(ObjReader, MaterialRunsBecomeParts) {
  const Character c =
      parsed(std::string(kSquare) +
             "f 1 2 3\nusemtl skin of arm \nf 1 3 4\nusemtl b\nusemtl skin of arm\n" +
             "f 1 2 4\nusemtl b\nf 1 2 3\n");
  ASSERT_EQ(c.parts.size(), 3u);
  ASSERT_EQ(c.materials.size(), 2u);
  EXPECT_EQ(c.materials[0].name, "skin of arm");
  EXPECT_EQ(c.parts[0].material, -1);
  EXPECT_EQ(c.parts[1].material, 0);
  EXPECT_EQ(c.parts[1].triangle_count, 2u);
  EXPECT_EQ(c.parts[2].material, 1);
}

TEST(ObjReader, ReadsMaterialLibrariesThroughTheCallback) {
  const std::map<std::string, std::string, std::less<>> files = {
      {"a b.mtl",
       "newmtl red\r\n\tKd 1 0.5 0\nd 0.75\nTr 0.9\nmap_Kd -s 1 1 1 -o 0 0 -bm 2 texture 01.png\n"
       "norm -bm 3 normalmap.jpg\nPm 0.5\nnewmtl unused\nKd x\nnewmtl grey\nKd .5\nTr .25\nNs 98\n"
       "Kd bad\n"},
      {"maps/c.mtl", "newmtl blue\nmap_Kd dir\\blue.jpeg\n"},
      {"texture 01.png", "\x89PNG..."}};
  const SideFileReader read = [&](std::string_view name) -> Result<std::vector<std::uint8_t>> {
    const auto found = files.find(name);
    if (found == files.end()) return Error{ErrorCode::CannotRead, "none", {}};
    return std::vector<std::uint8_t>(found->second.begin(), found->second.end());
  };
  Diagnostics notes;
  const Result<Character> c = parse(
      "mtllib a b.mtl\nmtllib none.mtl maps\\c.mtl\nmtllib missing.mtl\n" + std::string(kSquare) +
          "usemtl red\nf 1 2 3\nusemtl grey\nf 1 2 3\nusemtl blue\nf 1 2 3\n",
      notes, read);
  ASSERT_TRUE(c.ok());
  ASSERT_EQ(c->materials.size(), 3u);
  EXPECT_EQ(c->materials[0].base_colour, Vec4f(1, 0.5f, 0, 0.75f));
  EXPECT_TRUE(c->materials[0].transparent);
  EXPECT_EQ(c->materials[0].metallic, 0.5f);
  ASSERT_EQ(c->images.size(), 3u);
  EXPECT_EQ(c->images[0].uri, "texture%2001.png");
  EXPECT_EQ(c->images[0].bytes.size(), 7u);
  EXPECT_EQ(c->images[0].mime_type, "image/png");
  EXPECT_EQ(c->materials[0].base_colour_image, 0);
  EXPECT_EQ(c->images[static_cast<std::size_t>(c->materials[0].normal_image)].uri, "normalmap.jpg");
  EXPECT_EQ(c->materials[1].base_colour, Vec4f(0.5f, 0.5f, 0.5f, 0.75f));
  EXPECT_NEAR(c->materials[1].roughness, std::sqrt(2.0f / 100.0f), 1e-6);
  EXPECT_EQ(c->images[2].uri, "maps/dir/blue.jpeg");
  EXPECT_EQ(notes.count("material-library-missing"), 1u);
  EXPECT_EQ(notes.count("material-statement-unusable"), 1u);
  EXPECT_EQ(notes.count("image-not-read"), 2u) << "the normal map and the blue picture";
}

TEST(ObjReader, ReadsVertexColoursAsSrgb) {
  const Character c = parsed("v 0 0 0\nv 1 0 0 0 0.5 1\nv 0 1 0 1 1 1 0.5\nf 1 2 3\n");
  ASSERT_EQ(c.mesh.colours.size(), 3u);
  EXPECT_EQ(c.mesh.colours[0], Vec4f(1, 1, 1, 1));
  EXPECT_NEAR(c.mesh.colours[1].y(), 0.2140411, 1e-6);
  EXPECT_EQ(c.mesh.colours[2].w(), 0.5f);
}

TEST(ObjReader, ComputesMissingNormalsAndSaysSo) {
  Diagnostics notes;
  const Result<Character> c =
      parse(std::string(kSquare) + "vn 0 0 -2\nvn 0 0 0\n" + "f 1//1 2//1 3//2\nf 1 3 4\n", notes);
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(c->mesh.normals[0], Vec3f(0, 0, -1));
  EXPECT_EQ(c->mesh.normals[2], Vec3f(0, 0, 1));  // given as zero
  EXPECT_EQ(c->mesh.normals[3], Vec3f(0, 0, 1));
  EXPECT_EQ(notes.count("normals-computed"), 1u);
  const Character nan = parsed(std::string(kSquare) + "vn nan -nan nan\nf 1//1 2//1 3//1\n");
  EXPECT_EQ(nan.mesh.normals[0], Vec3f(0, 0, 1)) << "of a triangle that had no area elsewhere";
}

TEST(ObjReader, AssumesMetresUnlessToldOtherwise) {
  Diagnostics notes;
  const Result<Character> plain = parse(kSquare, notes);
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(notes.count("unit-assumed"), 1u);
  Diagnostics told;
  const Result<Character> scaled = parseObj(kSquare, "test.obj", {.metres_per_unit = 0.1}, told);
  ASSERT_TRUE(scaled.ok());
  EXPECT_EQ(told.count("unit-assumed"), 0u);
  EXPECT_EQ(scaled->import.metres_per_unit, 0.1);
  EXPECT_NEAR(scaled->mesh.positions[2].x(), 0.1f, 1e-8);
}

TEST(ObjReader, EveryTruncationIsACharacterOrAnError) {
  const std::string text =
      "# derm\nmtllib a.mtl\no thing\nv 0 0 0 1 0.5 0\nv 1.5e0 0 0\nv 1 1 0\nv -0 1 0\nvt 0 0.5\n"
      "vn 0 0 1\ng a b\nusemtl m\ns 1\nf 1/1/1 2/1/1 \\\n3/1/1 -1/-1/-1\nl 1 2\n";
  for (std::size_t length = 0; length <= text.size(); ++length) {
    Diagnostics notes;
    const Result<Character> c = parse(std::string_view(text).substr(0, length), notes);
    if (c.ok())
      EXPECT_TRUE(validate(*c).ok()) << length;
    else
      EXPECT_FALSE(c.error().text().empty());
  }
}

TEST(ObjReader, HundredsOfGroupNamesOnEveryFaceStayWithinBounds) {
  std::string text(kSquare);
  text += "g";
  for (int i = 0; i < 30000; ++i) text += " n" + std::to_string(i);
  text += "\n";
  for (int i = 0; i < 5000; ++i) text += "usemtl m" + std::to_string(i % 2) + "\nf 1 2 3\n";
  Diagnostics notes;
  const Result<Character> c = parse(text, notes);
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(notes.count("groups-left-out"), 1u);
}

// Writing.

TEST(ObjWriter, ReadingBackGivesTheSameMesh) {
  for (const shelf::ShelfMesh& m : shelf::all()) {
    SCOPED_TRACE(m.name);
    if (m.mesh.vertexCount() == 0) continue;
    Character c;
    c.name = "test";
    c.mesh = m.mesh;
    addDefaultParts(c);
    const Character once = parsed(encodeObj(c));
    EXPECT_EQ(once.mesh.positions, c.mesh.positions);
    EXPECT_EQ(once.mesh.triangles, c.mesh.triangles);
  }
}

TEST(ObjWriter, ReadWriteReadIsEqual) {
  const std::string text =
      std::string(kSquare) + kSquare.data() +
      "vt 0.1 0.3\nvt 1e-9 0.7\nvt 0.123456789 -3.25\nvn 0.1 0.2 0.3\n" +
      "vn -1 0 0\nusemtl some material\ng z y\nf 1/1/1 2/2/1 3/3/2\n" +
      "usemtl other\ng x\no part two\nf 5/1/1 6/2/1 7/3/2 8/1/2\ng y\nf 1/3/1 2/1 4/2\n";
  const Character once = parsed(text);
  const std::string written = encodeObj(once);
  const Character twice = parsed(written);
  EXPECT_TRUE(once.mesh == twice.mesh) << written;
  EXPECT_EQ(once.parts, twice.parts);
  EXPECT_EQ(once.instances, twice.instances);
  ASSERT_EQ(once.materials.size(), twice.materials.size());
  EXPECT_EQ(written, encodeObj(twice));
}

TEST(ObjWriter, FacesWithoutGroupsStayWithout) {
  // Several objects make the writer name the groups first; that must not put faces into them.
  const Character once =
      parsed(std::string(kSquare) + "f 1 2 3\n" + std::string(kSquare) + "o b\ng z y\nf 5 6 7 8\n");
  const Character twice = parsed(encodeObj(once));
  EXPECT_TRUE(once.mesh == twice.mesh);
  EXPECT_EQ(once.instances, twice.instances);
}

TEST(ObjWriter, KeepsEveryBitOfAFloat) {
  Character c;
  c.name = "test";
  c.mesh.positions = {
      {1.1f, 3.4028235e38f, 1.17549435e-38f}, {1e-45f, -0.1f, 16777217.0f}, {0, 0, 1}};
  c.mesh.uvs = {{0.1f, 0.1f}, {1e-12f, 1e-7f}, {1.0f / 3, -1.0f / 3}};
  c.mesh.normals.assign(3, Vec3f(0, 0, 1));
  c.mesh.triangles = {{0, 1, 2}};
  addDefaultParts(c);
  const Character back = parsed(encodeObj(c));
  EXPECT_EQ(back.mesh.positions, c.mesh.positions);
  EXPECT_EQ(back.mesh.uvs, c.mesh.uvs);
}

TEST(ObjWriter, NamesThatWouldBreakALineAreMadeHarmless) {
  Character c = parsed(std::string(kSquare) + "usemtl a\ng b\nf 1 2 3\n");
  c.materials[0].name = "evil\nv 0 0 0\\";
  c.mesh.groups[0].name = "# no\ncomment";
  const Character back = parsed(encodeObj(c));
  EXPECT_EQ(back.mesh.vertexCount(), 4u);
  EXPECT_EQ(back.materials[0].name, "evil_v 0 0 0\\");
  ASSERT_EQ(back.mesh.groups.size(), 1u);
  EXPECT_EQ(back.mesh.groups[0].name, "__no_comment");
}

using ObjFiles = testing_support::FolderTest;

TEST_F(ObjFiles, NotesWhatObjCannotHold) {
  Character c = shelf::rigged({"cube", shelf::cube(), true});
  c.mesh.groups.push_back({"soft", {0, 1}, {0.5f, 1.0f}});
  Diagnostics notes;
  ASSERT_TRUE(saveObj(folder_ / "losses.obj", c, notes).ok());
  EXPECT_EQ(notes.count("skeleton-not-in-obj"), 1u);
  EXPECT_EQ(notes.count("strengths-not-in-obj"), 1u);
  const Result<void> empty = saveObj(folder_ / "empty.obj", Character{}, notes);
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.error().code, ErrorCode::BadArgument);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "empty.obj"));
}

// Third-party files.

TEST(ObjData, EveryOddFileEndsInACharacterOrAnErrorLine) {
  DERM_DATA_OR_SKIP(folder, "odd-obj");
  std::size_t good = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".obj") continue;
    Diagnostics notes;
    const Result<Character> c = loadObj(entry.path(), {}, notes);
    good += c.ok();
    const std::string stem = entry.path().stem().string();
    const bool broken = stem.starts_with("invalid") || stem.starts_with("empty.") ||
                        stem == "empty" || stem == "malformed" ||
                        stem == "issue-356-leading-spaces-newmtl";
    if (!c.ok()) {
      EXPECT_TRUE(c.error().text().starts_with(entry.path().string())) << c.error().text();
      EXPECT_TRUE(broken || stem.starts_with("regr") || stem == "testpoints") << c.error().text();
    }
  }
  EXPECT_GE(good, 25u);
}

TEST(ObjData, SpotIsClosedAndKeepsItsNumbers) {
  DERM_DATA_OR_SKIP(folder, "shapes");
  Diagnostics notes;
  const Result<Character> c = loadObj(folder / "spot_triangulated.obj", {}, notes);
  ASSERT_TRUE(c.ok()) << c.error().text();
  EXPECT_EQ(c->mesh.triangles.size(), 5856u);
  const std::vector<std::uint32_t> weld = weldMap(c->mesh.positions);
  EXPECT_EQ(weldedCount(weld), 2930u);
  EXPECT_TRUE(checkClosed(mapped(c->mesh.triangles, weld)).closed());
  const Result<Character> again = parseObj(encodeObj(*c), "spot_triangulated.obj", {}, notes);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->mesh == c->mesh);
}

TEST(ObjData, MakeHumanBodiesAreClosedAndKeepTheirNumbers) {
  DERM_PACKED_DATA_OR_SKIP(folder, "makehuman");
  std::size_t bodies = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".obj") continue;
    Diagnostics notes;
    const Result<Character> c = loadObj(entry.path(), {.metres_per_unit = 0.1}, notes);
    ASSERT_TRUE(c.ok()) << c.error().text();
    ++bodies;
    EXPECT_EQ(c->mesh.triangles.size(), 26756u);
    // Texture seams double vertices, but only behind the 13,380 of the file.
    const std::vector<std::uint32_t> weld = weldMap(c->mesh.positions);
    EXPECT_EQ(weldedCount(weld), 13380u);
    EXPECT_TRUE(std::all_of(weld.begin(), weld.end(), [](std::uint32_t v) { return v < 13380; }));
    EXPECT_TRUE(checkClosed(mapped(c->mesh.triangles, weld)).closed());
    const double litres = 1000 * volume(c->mesh.positions, c->mesh.triangles);
    EXPECT_GT(litres, 40);
    EXPECT_LT(litres, 150);
  }
  EXPECT_EQ(bodies, 4u);
}

TEST(ObjData, IctHeadsLoad) {
  DERM_PACKED_DATA_OR_SKIP(folder, "faces-ict");
  std::size_t heads = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".obj") continue;
    Diagnostics notes;
    const Result<Character> c = loadObj(entry.path(), {}, notes);
    ASSERT_TRUE(c.ok()) << c.error().text();
    EXPECT_GT(c->mesh.triangles.size(), 1000u);
    ++heads;
  }
  EXPECT_GE(heads, 5u);
}

}  // namespace
}  // namespace derm::obj_test
