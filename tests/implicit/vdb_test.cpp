// Level sets through OpenVDB files; skipped, with a word, where derm is built without it.

#include "derm/io/vdb.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "derm/implicit/build_potential.h"
#include "derm/implicit/level_set_exchange.h"
#include "derm/implicit/polygonise.h"
#include "derm/implicit/shape_targets.h"
#include "derm/io/file_bytes.h"
#include "derm/io/whole_file.h"

namespace derm::vdb_test {
namespace {

TEST(Vdb, ALevelSetComesBackWithTheSameSurface) {
  if (!hasVdb()) GTEST_SKIP() << "built without OpenVDB";
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("derm-" + std::to_string(::getpid()) + ".vdb");
  const Potential p = *buildPotential(TorusTarget(Vec3d(3, -2, 1), 0.6, 0.25),
                                      {.voxel_m = 0.02, .origin = Vec3d(0.01, 0, 0)});
  ASSERT_TRUE(saveVdb(file, levelSetOf(p)).ok());
  const Result<LevelSetBlocks> blocks = loadVdb(file);
  ASSERT_TRUE(blocks.ok()) << blocks.error().text();
  const Result<Potential> back = potentialOf(*blocks);
  ASSERT_TRUE(back.ok()) << back.error().text();
  const TriMesh a = polygonised(p), b = polygonised(*back);
  ASSERT_EQ(a.vertexCount(), b.vertexCount());
  for (std::size_t v = 0; v < a.vertexCount(); ++v)
    EXPECT_LT((a.positions[v] - b.positions[v]).norm(), 0.02f * 0.02f);
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  EXPECT_FALSE(loadVdb(file).ok());
  std::ofstream(file) << "no level set";
  EXPECT_FALSE(loadVdb(file).ok());
  std::filesystem::remove(file);
}

TEST(Vdb, BytesThatWereChangedEndInALevelSetOrAnError) {
  if (!hasVdb()) GTEST_SKIP() << "built without OpenVDB";
  const std::filesystem::path file = std::filesystem::temp_directory_path() /
                                     ("derm-bytes-" + std::to_string(::getpid()) + ".vdb");
  ASSERT_TRUE(saveVdb(file, levelSetOf(*buildPotential(SphereTarget(Vec3d::Zero(), 0.2),
                                                       {.voxel_m = 0.05})))
                  .ok());
  const std::vector<std::uint8_t> good = readFile(file).value();
  for (std::size_t i = 0; i < 60; ++i) {
    std::vector<std::uint8_t> bytes = good;
    const std::size_t at = i < 40 ? i * 16 % bytes.size() : i * bytes.size() / 60;
    for (std::size_t k = at; k < std::min(at + 4, bytes.size()); ++k) bytes[k] = 0xFF;
    ASSERT_TRUE(writeFileWhole(file, bytes).ok());
    const Result<LevelSetBlocks> back = loadVdb(file);
    if (back.ok())
      EXPECT_EQ(back->values.size(), 512 * back->blocks.size());
    else
      EXPECT_FALSE(back.error().message.empty());
  }
  std::filesystem::remove(file);
}

TEST(Vdb, PartsAtTheEndsOfTheLatticeAreRefusedNotFlooded) {
  LevelSetBlocks two;
  two.blocks = {{-1000000, -1000000, -1000000}, {1000000, 1000000, 1000000}};
  two.values.assign(1024, 1.0f);
  const Result<Potential> far = potentialOf(two);
  ASSERT_FALSE(far.ok());
  EXPECT_NE(far.error().text().find("too far apart"), std::string::npos) << far.error().text();
}

TEST(Vdb, SaysThatItIsMissing) {
  if (hasVdb()) GTEST_SKIP() << "built with OpenVDB";
  const Result<LevelSetBlocks> blocks = loadVdb("a.vdb");
  ASSERT_FALSE(blocks.ok());
  EXPECT_EQ(blocks.error().code, ErrorCode::Unsupported);
}

}  // namespace
}  // namespace derm::vdb_test
