#include "derm/io/off.h"

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "derm/io/character_file.h"
#include "derm/mesh/measures.h"

namespace derm {
namespace {

const std::string kCube =
    "OFF # a comment\n\n8 6 12\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1 1 1\n"
    "4 0 2 3 1\n4 4 5 7 6 255 0 0\n4 0 1 5 4\n4 2 6 7 3\n4 0 4 6 2\n4 1 3 7 5\n";

Result<Character> parsed(const std::string& text, Diagnostics& notes) {
  return parseOff(text, "models/t.off", {}, notes);
}

std::string failureOf(const std::string& text) {
  Diagnostics notes;
  const Result<Character> c = parsed(text, notes);
  return c.ok() ? "read" : c.error().text();
}

/// [bytes] most memory that this process has held since the last call.
std::size_t peakSinceLast() {
  std::size_t kilobytes = 0;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) kilobytes = std::stoul(line.substr(6));
  std::ofstream("/proc/self/clear_refs") << "5";
  return kilobytes << 10;
}

TEST(Off, FacesBecomeTrianglesOfTheFilesVertices) {
  Diagnostics notes;
  const Result<Character> c = parsed(kCube, notes);
  ASSERT_TRUE(c.ok()) << c.error().text();
  EXPECT_EQ(c->name, "t");
  EXPECT_EQ(c->import.format, "OFF");
  EXPECT_EQ(c->mesh.vertexCount(), 8u);
  EXPECT_EQ(c->mesh.triangles.size(), 12u);
  EXPECT_EQ(c->mesh.positions[6], Vec3f(0, 1, 1));
  EXPECT_NEAR(volume(c->mesh.positions, c->mesh.triangles), 1.0, 1e-6);
  EXPECT_EQ(notes.count("unit-assumed"), 1u);
  EXPECT_EQ(notes.count("normals-computed"), 1u);
}

TEST(Off, KeywordMayBeGluedToTheCountsOrMissing) {
  for (const std::string start :
       {"OFF3 1 0\n", "OFF 3 1 0\n", "3 1 0\n", "\xEF\xBB\xBFOFF\r\n3 1 0\r\n"})
    EXPECT_EQ(failureOf(start + "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"), "read") << start;
}

TEST(Off, PrefixesBringNormalsColoursAndTextureCoordinates) {
  Diagnostics notes;
  const Result<Character> c = parsed(
      "STCNOFF\n3 1 0\n0 0 0 0 0 2 255 0 0 255 0.25 1\n1 0 0 0 0 2 0 255 0 255 0 0\n"
      "0 1 0 0 0 2 0 0 255 255 1 0\n3 0 1 2\n",
      notes);
  ASSERT_TRUE(c.ok()) << c.error().text();
  EXPECT_EQ(c->mesh.normals[1], Vec3f(0, 0, 1));
  EXPECT_EQ(c->mesh.colours[2], Vec4f(0, 0, 1, 1));
  EXPECT_EQ(c->mesh.uvs[0], Vec2f(0.25f, 0));
  EXPECT_EQ(c->mesh.uvs[2], Vec2f(1, 1));
  const Result<Character> four = parsed("4OFF\n3 1 0\n0 0 0 2\n2 0 0 2\n0 2 0 2\n3 0 1 2\n", notes);
  ASSERT_TRUE(four.ok()) << four.error().text();
  EXPECT_EQ(four->mesh.positions[1], Vec3f(1, 0, 0));
}

TEST(Off, ErrorsNameFileLineAndWhatIsWrong) {
  EXPECT_EQ(failureOf("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n"),
            "models/t.off:6: face: corner 2 of 3: no vertex \"7\"; there are 3 vertices");
  EXPECT_EQ(failureOf("OFF\n3 1 0\n0 0 0\n1 x 0\n0 1 0\n3 0 1 2\n"),
            "models/t.off:4: vertex: number expected, not \"x\"");
  EXPECT_EQ(failureOf("OFF\n3 1 0\n0 0 0\n1 nan 0\n0 1 0\n3 0 1 2\n"),
            "models/t.off:4: vertex: \"nan\" is not a finite number");
  EXPECT_EQ(failureOf("OFF\n3 2 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"),
            "models/t.off:6: face: the file ends after 1 of 2 faces");
  EXPECT_NE(failureOf("no scene").find("number of vertices expected"), std::string::npos);
  EXPECT_NE(failureOf("OFF BINARY\n").find("text"), std::string::npos);
  EXPECT_NE(failureOf("").find("empty"), std::string::npos);
}

// Assimp took 23 GB for the first of these, and was aborted by an assertion of its own.
TEST(Off, CountsAreHeldAgainstTheBytesBeforeAnythingIsAllocated) {
  const std::string vertices = "0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1 1 1\n";
  const std::string faces = "4 4 5 7 6\n4 4 5 7 6\n4 4 5 7 6\n";
  const std::size_t before = peakSinceLast();
  for (const std::string& text :
       {"OFF\n2000000000 3 0\n" + vertices + faces, "OFF\n8 2000000000 0\n" + vertices + faces,
        "OFF\n8 3 0\n" + vertices + "4 4 5 7 6\n2000000000 4 5 7 6\n4 4 5 7 6\n",
        "OFF\n99999999999999999999 3 0\n" + vertices + faces, "OFF\n-1 3 0\n" + vertices + faces}) {
    const std::string failure = failureOf(text);
    EXPECT_TRUE(failure.starts_with("models/t.off:")) << failure;
  }
  EXPECT_LT(peakSinceLast(), before + (std::size_t{64} << 20));
}

TEST(Off, EveryTruncationIsACharacterOrAnError) {
  for (std::size_t length = 0; length < kCube.size(); ++length) {
    Diagnostics notes;
    const Result<Character> c = parsed(kCube.substr(0, length), notes);
    if (c.ok()) {
      EXPECT_TRUE(validate(*c).ok());
    }
  }
}

TEST(Off, IsReadByItsEndingInEveryBuild) {
  Diagnostics notes;
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(kCube.data()), kCube.size());
  EXPECT_TRUE(parseCharacter(bytes, "CUBE.OFF", {}, notes).ok());
}

}  // namespace
}  // namespace derm
