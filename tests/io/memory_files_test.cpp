// What is read from and written to files can be read from and written to memory, with equal
// results.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "derm/io/character_file.h"
#include "derm/io/file_bytes.h"
#include "derm/io/gltf.h"
#include "derm/io/output_files.h"
#include "derm/io/point_cache.h"

#include "support/shelf.h"
#include "support/test_folder.h"

namespace derm::memory_files_test {
namespace {

using Bytes = MemoryFiles::Bytes;

Bytes bytesOf(std::string_view text) { return {text.begin(), text.end()}; }

class MemoryFilesTest : public testing_support::FolderTest {
 protected:
  Bytes onDisk(const std::string& name) { return readFile(folder_ / name).value(); }
  Bytes inMemory(const std::string& name) {
    const Bytes* found = memory_.find(name);
    EXPECT_NE(found, nullptr) << name;
    return found != nullptr ? *found : Bytes();
  }
  /// Puts a file into both.
  void put(const std::string& name, Bytes bytes) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    ASSERT_TRUE(writeFileWhole(folder_ / name, bytes));
    memory_.put(name, std::move(bytes));
  }
  void expectSameRead(const std::string& name) {
    SCOPED_TRACE(name);
    Diagnostics notes, memory_notes;
    const Result<Character> want = loadCharacter(folder_ / name, {}, notes);
    const Result<Character> got =
        parseCharacter(inMemory(name), name, {}, memory_notes, memory_.sideFilesOf(name));
    ASSERT_TRUE(want) << want.error().text();
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_TRUE(sameContent(*want, *got));
    EXPECT_EQ(want->images, got->images);
    EXPECT_EQ(want->name, got->name);
    EXPECT_EQ(want->import.format, got->import.format);
    EXPECT_EQ(notes.notes().size(), memory_notes.notes().size());
  }

  MemoryFiles memory_;
  Diagnostics notes_;
};

Character tube() {
  Character c = shelf::rigged({"tube", shelf::tube(4, 6, 0.5f, 2.0f), false});
  c.materials.push_back({.name = "skin", .base_colour_image = 0});
  c.images.push_back(
      {.name = "skin", .mime_type = "image/png", .uri = "skin.png", .bytes = bytesOf("\x89PNG1")});
  for (MeshPart& part : c.parts) part.material = 0;
  return c;
}

TEST_F(MemoryFilesTest, CharactersAreWrittenWithTheSameBytes) {
  const Character c = tube();
  for (const char* name : {"a.glb", "b.gltf", "c.obj"}) {
    ASSERT_TRUE(saveCharacter(c, folder_ / name, notes_)) << name;
    ASSERT_TRUE(saveCharacter(c, name, notes_, memory_)) << name;
    EXPECT_EQ(inMemory(name), onDisk(name)) << name;
  }
  EXPECT_EQ(inMemory("b.bin"), onDisk("b.bin"));
  EXPECT_EQ(memory_.files().size(), 4u);
  EXPECT_FALSE(saveCharacter(c, "a.xyz", notes_, memory_));
}

TEST_F(MemoryFilesTest, APictureThatLiesBesideIsNotEmbedded) {
  const Character c = tube();
  put("skin.png", c.images[0].bytes);
  ASSERT_TRUE(saveCharacter(c, folder_ / "a.gltf", notes_));
  ASSERT_TRUE(saveCharacter(c, "a.gltf", notes_, memory_));
  EXPECT_EQ(inMemory("a.gltf"), onDisk("a.gltf"));
  expectSameRead("a.gltf");
}

TEST_F(MemoryFilesTest, EveryFormatIsReadTheSameWay) {
  const Bytes obj = bytesOf(
      "mtllib m/a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nusemtl s\n"
      "f 1/1 2/2 3/3\n");
  put("x/a.obj", obj);
  put("x/m/a.mtl", bytesOf("newmtl s\nKd 1 0 0\nmap_Kd skin.png\n"));
  put("x/m/skin.png", bytesOf("\x89PNG1"));
  put("a.ply", bytesOf("ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\n"
                       "property float y\nproperty float z\nelement face 1\n"
                       "property list uchar int vertex_indices\nend_header\n"
                       "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"));
  put("a.bvh", bytesOf("HIERARCHY\nROOT hip\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation "
                       "Yrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\nMOTION\nFrames: 2\n"
                       "Frame Time: 0.1\n0 0 0\n10 20 30\n"));
  put("a.glb", encodeGlb(tube(), notes_).value());
  put("a.vrm", inMemory("a.glb"));
  for (const char* name : {"x/a.obj", "a.ply", "a.bvh", "a.glb", "a.vrm"}) expectSameRead(name);

  const Character with_picture =
      parseCharacter(obj, "x/a.obj", {}, notes_, memory_.sideFilesOf("x/a.obj")).value();
  ASSERT_EQ(with_picture.images.size(), 1u);
  EXPECT_EQ(with_picture.images[0].bytes, bytesOf("\x89PNG1"));
  EXPECT_EQ(parseCharacter(obj, "x/a.obj", {}, notes_).value().materials.size(), 1u)
      << "without its side files";
}

TEST_F(MemoryFilesTest, UnknownEndingsAndMissingFilesAreNamed) {
  const Result<Character> unknown = parseCharacter(bytesOf("x"), "a.xyz", {}, notes_);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::Unsupported);
  EXPECT_NE(unknown.error().text().find("a.xyz"), std::string::npos);
  const auto missing = memory_.sideFilesOf("x/a.gltf")("a.bin");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().where.file, "x/a.bin");
  EXPECT_FALSE(memory_.create("folder/"));
}

TEST_F(MemoryFilesTest, PointCachesHaveTheSameBytes) {
  const std::vector<Vec3f> points{{1, 2, 3}, {4, 5, 6}};
  for (const auto& [name, format] :
       {std::pair("a.pc2", PointCacheFormat::Pc2), std::pair("a.mdd", PointCacheFormat::Mdd)}) {
    const PointCacheDesc desc{.format = format, .points = 2, .times_s = {0, 0.5}};
    for (OutputFiles* files : {&diskFiles(), static_cast<OutputFiles*>(&memory_)}) {
      const std::filesystem::path file = files == &memory_ ? name : folder_ / name;
      PointCacheWriter writer = PointCacheWriter::create(file, desc, *files).value();
      ASSERT_TRUE(writer.append(points));
      ASSERT_TRUE(writer.append(points));
      EXPECT_EQ(memory_.find(name), nullptr) << "not before commit";
      ASSERT_TRUE(writer.commit());
    }
    EXPECT_EQ(inMemory(name), onDisk(name)) << name;
    EXPECT_EQ(parsePointCache(format, inMemory(name), name).value().frameCount(), 2u);
  }
}

}  // namespace
}  // namespace derm::memory_files_test
