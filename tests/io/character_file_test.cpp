#include "derm/io/character_file.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "derm/io/file_bytes.h"
#include "derm/io/gltf.h"

#include "io/assimp_import.h"
#include "support/compare.h"
#include "support/shelf.h"
#include "support/test_folder.h"

namespace derm::character_file_test {
namespace {

namespace fs = std::filesystem;

class CharacterFile : public testing_support::FolderTest {
 protected:
  fs::path write(const std::string& name, std::string_view text) {
    EXPECT_TRUE(writeFileWhole(folder_ / name, text).ok());
    return folder_ / name;
  }
  Diagnostics notes_;
};

constexpr std::string_view kTriangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";

TEST_F(CharacterFile, WhatIsNotValidIsNotWritten) {
  const Character good = shelf::rigged({"tube", shelf::tube(4, 6, 0.5f, 2.0f), false});
  const std::vector<std::function<void(Character&)>> breaks = {
      [](Character& c) { c.mesh.triangles[1][2] = 9999; },
      [](Character& c) { c.mesh.positions[3].x() = std::numeric_limits<float>::quiet_NaN(); },
      [](Character& c) { c.mesh.positions[3].x() = std::numeric_limits<float>::infinity(); },
      [](Character& c) { c.parts[0].triangle_count = 1000000; },
      [](Character& c) { c.skeleton.joints[0].parent = JointId(1); },
      [](Character& c) { c.skin.influences[0].weight = std::numeric_limits<float>::quiet_NaN(); },
      [](Character& c) { c.mesh.normals.resize(1); },
      [](Character& c) { c.clips[0].tracks[0].values.pop_back(); }};
  for (std::size_t i = 0; i < breaks.size(); ++i) {
    Character bad = good;
    breaks[i](bad);
    for (const char* name : {"a.glb", "a.gltf", "a.obj"}) {
      const Result<void> saved = saveCharacter(bad, folder_ / name, notes_);
      EXPECT_FALSE(saved.ok()) << i << name;
    }
    EXPECT_FALSE(encodeGlb(bad, notes_).ok()) << i;
  }
  EXPECT_EQ(fileCount(), 0u);
  EXPECT_TRUE(saveCharacter(good, folder_ / "a.glb", notes_).ok());
}

/// Recipes name joints, and are UTF-8.
TEST_F(CharacterFile, NamesThatAreNoUtf8AreRepaired) {
  const std::string bvh =
      "HIERARCHY\nROOT H\xFCpfer\n{\nOFFSET 0 0 0\nCHANNELS 3 Xrotation Yrotation Zrotation\n"
      "JOINT Fu\xC3\x9F\n{\nOFFSET 0 1 0\nCHANNELS 3 Xrotation Yrotation Zrotation\n"
      "End Site\n{\nOFFSET 0 1 0\n}\n}\n}\nMOTION\nFrames: 1\nFrame Time: 0.1\n0 0 0 0 0 0\n";
  const Result<Character> c = loadCharacter(write("walk.bvh", bvh), {}, notes_);
  ASSERT_TRUE(c.ok()) << c.error().text();
  EXPECT_TRUE(c->skeleton.find("H\xC3\xBCpfer").valid()) << "read as Latin-1";
  EXPECT_TRUE(c->skeleton.find("Fu\xC3\x9F").valid()) << "UTF-8 stays as it is";
  EXPECT_EQ(notes_.count("name-not-utf8"), 1u);
}

TEST_F(CharacterFile, TheEndingDecidesWhateverItsCase) {
  const Result<Character> obj = loadCharacter(write("a.OBJ", kTriangle), {}, notes_);
  ASSERT_TRUE(obj.ok()) << obj.error().text();
  EXPECT_EQ(obj->name, "a");
  EXPECT_EQ(obj->import.format, "OBJ");
  const Result<Character> bvh = loadCharacter(
      write("b.bvh",
            "HIERARCHY\nROOT r\n{\nCHANNELS 1 Xrotation\n}\nMOTION\nFrames: 1\nFrame Time: 1\n5\n"),
      {}, notes_);
  ASSERT_TRUE(bvh.ok()) << bvh.error().text();
  EXPECT_EQ(bvh->name, "b");
  EXPECT_EQ(bvh->clips.size(), 1u);
  EXPECT_EQ(bvh->mesh.vertexCount(), 0u);
  const Result<Character> ply = loadCharacter(
      write("c.Ply",
            "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n"
            "property float z\nend_header\n1 2 3\n"),
      {}, notes_);
  ASSERT_TRUE(ply.ok()) << ply.error().text();
}

TEST_F(CharacterFile, AnUnknownEndingListsTheKnownOnes) {
  const Result<Character> c = loadCharacter(write("a.doc", "x"), {}, notes_);
  ASSERT_FALSE(c.ok());
  EXPECT_EQ(c.error().code, ErrorCode::Unsupported);
  const std::string wanted =
      detail::assimpAvailable()
          ? "the ending \".doc\" cannot be read; known are .glb, .gltf, .obj, .ply, "
            ".bvh, .fbx, .dae, .off and .stl"
          : "the ending \".doc\" cannot be read; known are .glb, .gltf, .obj, .ply, "
            ".bvh, .off and .stl";
  EXPECT_EQ(c.error().message, wanted);
  const Result<Character> none = loadCharacter(write("plain", "x"), {}, notes_);
  ASSERT_FALSE(none.ok());
  EXPECT_TRUE(none.error().message.starts_with("a file without an ending cannot be read"));
}

TEST_F(CharacterFile, MissingFilesAreNamed) {
  for (const std::string& ending : readableEndings()) {
    const fs::path file = folder_ / ("missing" + ending);
    const Result<Character> c = loadCharacter(file, {}, notes_);
    ASSERT_FALSE(c.ok());
    EXPECT_EQ(c.error().code, ErrorCode::CannotRead) << ending;
    EXPECT_EQ(c.error().where.file, file.string());
  }
}

TEST_F(CharacterFile, EveryEndingSurvivesAnEmptyFileAndRubbish) {
  for (const std::string& ending : readableEndings())
    for (const std::string& bytes :
         {std::string(), std::string(100, '\0'), std::string("garbage\n"),
          std::string("\xFF\xFE\x01garbage")}) {
      const Result<Character> c = loadCharacter(write("r" + ending, bytes), {}, notes_);
      ASSERT_FALSE(c.ok()) << ending;
      EXPECT_TRUE(c.error().text().starts_with((folder_ / ("r" + ending)).string()))
          << c.error().text();
    }
}

TEST_F(CharacterFile, AGlbIsReadWhateverItIsCalled) {
  const Character cube = shelf::rigged({"cube", shelf::cube(), true});
  ASSERT_TRUE(saveCharacter(cube, folder_ / "cube.glb", notes_).ok());
  fs::rename(folder_ / "cube.glb", folder_ / "avatar.vrm");
  const Result<Character> c = loadCharacter(folder_ / "avatar.vrm", {}, notes_);
  ASSERT_TRUE(c.ok()) << c.error().text();
  EXPECT_EQ(c->mesh.positions.size(), cube.mesh.positions.size());
}

TEST_F(CharacterFile, SavesByEndingAndRefusesOthers) {
  const Character cube = shelf::rigged({"cube", shelf::cube(), true});
  for (const char* name : {"c.glb", "c.gltf", "c.obj"}) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(saveCharacter(cube, folder_ / name, notes_).ok());
    const Result<Character> back = loadCharacter(folder_ / name, {}, notes_);
    ASSERT_TRUE(back.ok()) << back.error().text();
    EXPECT_EQ(back->mesh.triangles, cube.mesh.triangles);
  }
  const Result<void> other = saveCharacter(cube, folder_ / "c.fbx", notes_);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().message,
            "the ending \".fbx\" cannot be written; known are .glb, .gltf and .obj");
}

TEST_F(CharacterFile, WithoutAssimpItsFormatsSayHowToGetThem) {
  if (detail::assimpAvailable()) GTEST_SKIP() << "this build has assimp";
  const Result<Character> c = loadCharacter(write("a.fbx", "x"), {}, notes_);
  ASSERT_FALSE(c.ok());
  EXPECT_EQ(c.error().code, ErrorCode::Unsupported);
  EXPECT_NE(c.error().message.find("DERM_WITH_ASSIMP=ON"), std::string::npos);
}

TEST(CharacterFileData, OffAndPlyOddFilesEndInACharacterOrAnErrorLine) {
  DERM_DATA_OR_SKIP(folder, "odd-obj");
  std::size_t tried = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string ending = entry.path().extension().string();
    if (ending != ".off" && ending != ".ply") continue;
    Diagnostics notes;
    const Result<Character> c = loadCharacter(entry.path(), {}, notes);
    if (!c.ok()) {
      EXPECT_TRUE(c.error().text().starts_with(entry.path().string()));
    }
    ++tried;
  }
  EXPECT_GT(tried, 0u);
}

}  // namespace
}  // namespace derm::character_file_test
