#include "derm/io/stl.h"

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "derm/io/character_file.h"
#include "derm/mesh/measures.h"

namespace derm {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr float kCorners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
constexpr int kFaces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};

Bytes bytesOf(const std::string& text) { return {text.begin(), text.end()}; }

std::string tetraText(const std::string& name, const std::string& normal) {
  std::string out = "solid " + name + "\n";
  for (const auto& face : kFaces) {
    out += "facet normal " + normal + "\nouter loop\n";
    for (const int v : face)
      out += "vertex " + std::to_string(kCorners[v][0]) + " " + std::to_string(kCorners[v][1]) +
             " " + std::to_string(kCorners[v][2]) + "\n";
    out += "endloop\nendfacet\n";
  }
  return out + "endsolid " + name + "\n";
}

void addFloat(Bytes& out, float value) {
  std::uint8_t raw[4];
  std::memcpy(raw, &value, 4);
  out.insert(out.end(), raw, raw + 4);
}

Bytes tetraBinary(std::uint32_t announced, unsigned attribute = 0) {
  Bytes out(80, ' ');
  std::memcpy(out.data(), "solid of a program that does not care", 37);
  for (int i = 0; i < 4; ++i) out.push_back(static_cast<std::uint8_t>(announced >> (8 * i)));
  for (const auto& face : kFaces) {
    for (int i = 0; i < 3; ++i) addFloat(out, 0);
    for (const int v : face)
      for (const float x : kCorners[v]) addFloat(out, x);
    out.push_back(static_cast<std::uint8_t>(attribute));
    out.push_back(static_cast<std::uint8_t>(attribute >> 8));
  }
  return out;
}

Result<Character> parsed(const Bytes& bytes, Diagnostics& notes) {
  return parseStl(bytes, "models/t.stl", {}, notes);
}

std::string failureOf(const Bytes& bytes) {
  Diagnostics notes;
  const Result<Character> c = parsed(bytes, notes);
  return c.ok() ? "read" : c.error().text();
}

TEST(Stl, TextAndBinaryGiveTheSameJoinedMesh) {
  Diagnostics notes;
  const Result<Character> text = parsed(bytesOf(tetraText("tetra", "0 0 0")), notes);
  const Result<Character> binary = parsed(tetraBinary(4), notes);
  ASSERT_TRUE(text.ok()) << text.error().text();
  ASSERT_TRUE(binary.ok()) << binary.error().text();
  EXPECT_EQ(text->mesh.vertexCount(), 4u);
  EXPECT_EQ(text->mesh, binary->mesh);
  EXPECT_EQ(text->parts[0].name, "tetra");
  EXPECT_EQ(text->import.format, "STL");
  EXPECT_NEAR(volume(text->mesh.positions, text->mesh.triangles), 1.0 / 6, 1e-6);
}

TEST(Stl, CornersStayApartWhereTheFilesNormalsDo) {
  std::string text = tetraText("t", "0 0 0");
  text.replace(text.find("0 0 0"), 5, "0 0 -2");
  Diagnostics notes;
  const Result<Character> c = parsed(bytesOf(text), notes);
  ASSERT_TRUE(c.ok()) << c.error().text();
  EXPECT_EQ(c->mesh.vertexCount(), 7u);  // three corners with a normal, four without
  EXPECT_EQ(c->mesh.normals[0], Vec3f(0, 0, -1));
  EXPECT_EQ(notes.count("normals-computed"), 1u);
}

TEST(Stl, SolidsArePartsAndColoursAreRead) {
  Diagnostics notes;
  const Result<Character> two =
      parsed(bytesOf(tetraText("left", "0 0 0") + tetraText("", "0 0 0")), notes);
  ASSERT_TRUE(two.ok()) << two.error().text();
  ASSERT_EQ(two->parts.size(), 2u);
  EXPECT_EQ(two->parts[1].name, "t");
  EXPECT_EQ(two->parts[1].first_vertex, 4u);
  EXPECT_EQ(two->mesh.vertexCount(), 8u);
  const Result<Character> red = parsed(tetraBinary(4, 0x8000 | 31 << 10), notes);
  ASSERT_TRUE(red.ok()) << red.error().text();
  ASSERT_EQ(red->mesh.colours.size(), 4u);
  EXPECT_EQ(red->mesh.colours[0], Vec4f(1, 0, 0, 1));
  Bytes magics = tetraBinary(4, 31);
  std::memcpy(magics.data() + 40, "COLOR=\xff\xff\xff\xff", 10);
  const Result<Character> also_red = parsed(magics, notes);
  ASSERT_TRUE(also_red.ok()) << also_red.error().text();
  EXPECT_EQ(also_red->mesh.colours[0], Vec4f(1, 0, 0, 1));
}

TEST(Stl, ErrorsNameTheFileAndWhatIsWrong) {
  EXPECT_NE(failureOf(bytesOf("no scene")).find("too short"), std::string::npos);
  EXPECT_NE(failureOf(tetraBinary(5)).find("models/t.stl"), std::string::npos);
  std::string text = tetraText("t", "0 0 0");
  text.replace(text.find("vertex 0.000000"), 15, "vertex inf");
  EXPECT_EQ(failureOf(bytesOf(text)), "models/t.stl:4: facet: \"inf\" is not a finite number");
  EXPECT_NE(failureOf(bytesOf("solid a\nendsolid a\n")).find("no triangles"), std::string::npos);
  Bytes nan = tetraBinary(4);
  for (int i = 0; i < 4; ++i) nan[84 + 12 + static_cast<std::size_t>(i)] = 0xFF;
  EXPECT_NE(failureOf(nan).find("not a finite number"), std::string::npos);
}

TEST(Stl, ACountThatDoesNotFitTheBytesIsRefused) {
  Bytes bytes = tetraBinary(2000000000);
  bytes[0] = 'x';  // binary, whatever else
  EXPECT_EQ(failureOf(bytes),
            "models/t.stl: 2000000000 triangles announced, which take 100000000084 bytes; the file "
            "has 284");
}

TEST(Stl, EveryTruncationIsACharacterOrAnError) {
  for (const Bytes& whole : {tetraBinary(4), bytesOf(tetraText("t", "0 0 1"))})
    for (std::size_t length = 0; length < whole.size(); ++length) {
      Diagnostics notes;
      const Result<Character> c =
          parsed(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)), notes);
      if (c.ok()) {
        EXPECT_TRUE(validate(*c).ok());
      }
    }
}

}  // namespace
}  // namespace derm
