#include "derm/io/ply.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "derm/image/rgba8_image.h"

#include "support/compare.h"

namespace derm::ply_test {
namespace {

Result<Character> parse(std::string_view text, Diagnostics& notes) {
  return parsePly({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "test.ply", {},
                  notes);
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

template <class T>
void put(std::string& out, T value, bool big) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  if (big != (std::endian::native == std::endian::big)) std::reverse(bytes.begin(), bytes.end());
  out += bytes;
}

const std::string kAscii =
    "ply\nformat ascii 1.0\ncomment made by hand\nelement vertex 4\nproperty float x\n"
    "property float y\nproperty double z\nelement face 1\nproperty list uchar int vertex_indices\n"
    "end_header\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n";

/// The same square with everything a vertex can have, extra elements, and odd types.
std::string binarySquare(bool big) {
  std::string out =
      std::string("ply\r\nformat ") + (big ? "binary_big_endian" : "binary_little_endian") +
      " 1.0\r\nobj_info x\r\nelement extra 2\r\nproperty list uint16 int8 bag\r\n"
      "property double d\r\nelement face 2\r\nproperty uchar flags\r\n"
      "property list int32 uint16 vertex_index\r\nelement vertex 4\r\n"
      "property list uchar float ignored\r\nproperty double x\r\nproperty int16 y\r\n"
      "property int8 z\r\nproperty float nx\r\nproperty float ny\r\nproperty float nz\r\n"
      "property float s\r\nproperty float t\r\nproperty uchar red\r\nproperty uchar green\r\n"
      "property ushort blue\r\nproperty float alpha\r\nelement nothing 5000000000\r\n"
      "end_header\r\n";
  for (int i = 0; i < 2; ++i) {
    put<std::uint16_t>(out, static_cast<std::uint16_t>(i), big);
    for (int k = 0; k < i; ++k) put<std::int8_t>(out, 7, big);
    put<double>(out, 1.5, big);
  }
  for (const auto& face : {std::vector<int>{0, 1, 2}, std::vector<int>{0, 2, 3}}) {
    put<std::uint8_t>(out, 1, big);
    put<std::int32_t>(out, 3, big);
    for (const int v : face) put<std::uint16_t>(out, static_cast<std::uint16_t>(v), big);
  }
  const int corners[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  for (int v = 0; v < 4; ++v) {
    put<std::uint8_t>(out, static_cast<std::uint8_t>(v), big);
    for (int k = 0; k < v; ++k) put<float>(out, 3.0f, big);
    put<double>(out, corners[v][0] + 0.25, big);
    put<std::int16_t>(out, static_cast<std::int16_t>(-300 * corners[v][1]), big);
    put<std::int8_t>(out, -3, big);
    for (const float n : {0.0f, 0.0f, v == 3 ? 0.0f : 2.0f}) put<float>(out, n, big);
    put<float>(out, 0.5f, big);
    put<float>(out, 0.25f, big);
    put<std::uint8_t>(out, 255, big);
    put<std::uint8_t>(out, 0, big);
    put<std::uint16_t>(out, 65535, big);
    put<float>(out, 0.5f, big);
  }
  return out;
}

TEST(PlyReader, ReadsAscii) {
  const Character c = parsed(kAscii);
  EXPECT_EQ(c.mesh.positions[2], Vec3f(1, 1, 0));
  EXPECT_EQ(c.mesh.triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}}));
  EXPECT_EQ(c.mesh.normals[0], Vec3f(0, 0, 1));
  EXPECT_EQ(c.import.format, "PLY");
}

TEST(PlyReader, ReadsBothByteOrdersAnyTypesAndElementOrder) {
  for (const bool big : {false, true}) {
    SCOPED_TRACE(big);
    Diagnostics notes;
    const Result<Character> c = parse(binarySquare(big), notes);
    ASSERT_TRUE(c.ok()) << c.error().text();
    EXPECT_EQ(c->mesh.positions[2], Vec3f(1.25f, -300, -3));
    EXPECT_EQ(c->mesh.triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}}));
    EXPECT_EQ(c->mesh.normals[0], Vec3f(0, 0, 1));
    EXPECT_EQ(c->mesh.normals[3], Vec3f(0, 0, -1));  // given as zero, so computed
    EXPECT_EQ(c->mesh.uvs[1], Vec2f(0.5f, 0.75f));
    EXPECT_EQ(c->mesh.colours[1], Vec4f(1, 0, 1, 0.5f));
    EXPECT_EQ(notes.count("element-ignored"), 2u);
    EXPECT_EQ(notes.count("property-ignored"), 1u);
  }
}

TEST(PlyReader, PointsWithoutFacesAreACharacter) {
  const Character c = parsed(
      "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\n"
      "property float z\nproperty uchar diffuse_red\nproperty uchar diffuse_green\n"
      "property uchar diffuse_blue\nend_header\n0 0 0 255 255 255\n1 2 3 0 0 0");
  EXPECT_EQ(c.mesh.vertexCount(), 2u);
  EXPECT_TRUE(c.mesh.triangles.empty());
  EXPECT_EQ(c.mesh.colours[1], Vec4f(0, 0, 0, 1));
}

TEST(PlyReader, CutsConcavePolygons) {
  std::string text = kAscii;
  text.replace(text.find("1 1 0\n"), 6, "0.2 0.2 0\n");
  const Character c = parsed(text);
  EXPECT_EQ(c.mesh.triangles.size(), 2u);
  for (const Triangle& t : c.mesh.triangles)
    EXPECT_TRUE(std::find(t.begin(), t.end(), 0u) != t.end() &&
                std::find(t.begin(), t.end(), 2u) != t.end());  // the cut goes through the dent
}

TEST(PlyReader, ErrorsNameElementIndexAndByte) {
  const auto with = [](std::string from, const std::string& to) {
    std::string text = kAscii;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  EXPECT_EQ(errorOf(""), "test.ply: header: a PLY file begins with the line \"ply\"");
  EXPECT_EQ(errorOf("ply\n"), "test.ply:1: header: the file ends before \"end_header\"");
  EXPECT_EQ(errorOf(with("format ascii 1.0\n", "")), "test.ply:9: header: no format line");
  EXPECT_EQ(errorOf(with("ascii", "utf8")),
            "test.ply:2: header: format \"utf8\"; ascii, binary_little_endian or binary_big_endian "
            "are known");
  EXPECT_EQ(errorOf(with("vertex 4", "vertex -4")),
            "test.ply:4: header: element \"vertex\": \"-4\" is not a count");
  EXPECT_EQ(errorOf(with("float x", "quad x")),
            "test.ply:5: header: property type \"quad\" is not known");
  EXPECT_EQ(errorOf(with("uchar int", "float int")),
            "test.ply:9: header: the length of a list must have a whole-number type");
  EXPECT_EQ(errorOf(with("comment", "remark")),
            "test.ply:3: header: \"remark\" is not a header statement");
  EXPECT_EQ(errorOf("ply\nproperty int x\n"),
            "test.ply:2: header: property before the first element");
  EXPECT_EQ(errorOf(with("float x", "float q")),
            "test.ply at byte 176: vertex[0]: no properties x, y and z");
  EXPECT_EQ(errorOf(with("1 1 0\n", "1 nan 0\n")),
            "test.ply at byte 195: vertex[2]: position is not a finite number");
  EXPECT_EQ(errorOf(with("1 1 0\n", "1 one 0\n")),
            "test.ply at byte 193: vertex[2]: not a number, but 4 are announced");
  EXPECT_EQ(errorOf(with("4 0 1 2 3\n", "4 0 1 2")),
            "test.ply at byte 207: face[0]: the data ends here, but 1 are announced");
  EXPECT_EQ(errorOf(with("4 0 1 2 3", "4 0 1 2 4")),
            "test.ply at byte 209: face[0]: corner 3: no such vertex; there are 4");
  EXPECT_EQ(errorOf(with("4 0 1 2 3", "4 0 1 2 -1")),
            "test.ply at byte 210: face[0]: corner 3: no such vertex; there are 4");
  EXPECT_EQ(errorOf(with("4 0 1 2 3", "-4 0 1 2 3")),
            "test.ply at byte 202: face[0]: impossible list length");
  EXPECT_EQ(errorOf(with("vertex 4", "vertex 4000000000")),
            "test.ply at byte 185: vertex[0]: 4000000000 announced, but the data is too short");
  EXPECT_EQ(errorOf("ply\nformat ascii 1.0\nend_header\n"), "test.ply: no vertices in the file");
}

TEST(PlyReader, EveryTruncationIsACharacterOrAnError) {
  for (const std::string& text : {kAscii, binarySquare(false), binarySquare(true)})
    for (std::size_t length = 0; length <= text.size(); ++length) {
      Diagnostics notes;
      const Result<Character> c = parse(std::string_view(text).substr(0, length), notes);
      if (c.ok()) {
        EXPECT_TRUE(validate(*c).ok());
      } else {
        EXPECT_TRUE(c.error().text().starts_with("test.ply"));
      }
    }
}

TEST(PlyReader, HostileCountsCostNothing) {
  const std::string head = "ply\nformat binary_little_endian 1.0\n";
  const std::string xyz = "property uchar x\nproperty uchar y\nproperty uchar z\n";
  EXPECT_NE(errorOf(head + "element vertex 9000000000000000000\n" + xyz + "end_header\nabc"),
            "no error");
  EXPECT_NE(
      errorOf(head + "element a 9000000000000000000\nproperty list uchar int b\nend_header\n"),
      "no error");
  EXPECT_NE(
      errorOf(
          head + "element vertex 1\n" + xyz +
          "element face 1\nproperty list uint int vertex_indices\nend_header\nabc\xFF\xFF\xFF\xFF"),
      "no error");
}

TEST(Ply, ColoursAreDecodedByThePicturesCurve) {
  std::string text =
      "ply\nformat ascii 1.0\nelement vertex 256\nproperty float x\nproperty float y\n"
      "property float z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n"
      "element face 1\nproperty list uchar int vertex_indices\nend_header\n";
  for (int v = 0; v < 256; ++v) {
    const std::string n = std::to_string(v);
    text += n + " " + std::to_string(v * v) + " 0 " + n + " " + n + " 7\n";
  }
  text += "3 0 1 2\n";
  Diagnostics notes;
  const auto c =
      parsePly({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "c", {}, notes);
  ASSERT_TRUE(c) << c.error().text();
  ASSERT_EQ(c->mesh.colours.size(), 256u);
  for (int v = 0; v < 256; ++v) {
    const auto b = static_cast<std::uint8_t>(v);
    EXPECT_EQ(c->mesh.colours[std::size_t(v)], linearColour({b, b, 7, 255})) << v;
  }
}

}  // namespace
}  // namespace derm::ply_test
