// Real files and the Khronos collection of wrong ones; skipped, with a word, where they are absent.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "derm/io/file_bytes.h"
#include "derm/io/gltf.h"

#include "support/compare.h"

namespace derm::gltf_data_test {
namespace {

std::vector<std::filesystem::path> gltfFiles(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".gltf" || entry.path().extension() == ".glb")
      out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

void expectGood(const std::filesystem::path& file) {
  SCOPED_TRACE(file.filename().string());
  Diagnostics notes;
  const Result<Character> c = loadGltf(file, {}, notes);
  ASSERT_TRUE(c) << c.error().text();
  const Result<void> valid = validate(*c);
  EXPECT_TRUE(valid) << valid.error().text();
  const Result<std::vector<std::uint8_t>> written = encodeGlb(*c, notes);
  ASSERT_TRUE(written) << written.error().text();
  const SideFileReader beside = [&](std::string_view uri) {
    return readFile(file.parent_path() / uri);
  };
  const Result<Character> back = parseGltf(*written, file.string(), beside, {}, notes);
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_TRUE(sameContent(*c, *back));
}

TEST(GltfData, CharactersLoadAndComeBackEqual) {
  DERM_DATA_OR_SKIP(folder, "gltf-characters");
  for (const std::filesystem::path& file : gltfFiles(folder)) expectGood(file);
}

TEST(GltfData, ACharacterSavedInMidAnimationIsBoundAsTheCleanOne) {
  DERM_DATA_OR_SKIP(folder, "gltf-characters");
  Diagnostics notes;
  const Result<Character> knight = loadGltf(folder / "KayKit_Knight.glb", {}, notes);
  ASSERT_TRUE(knight) << knight.error().text();
  // Its helmet, sword and shields are rigid: they stay with the joints that carry them.
  ASSERT_TRUE(std::any_of(knight->instances.begin(), knight->instances.end(),
                          [](const MeshInstance& m) { return m.rigid; }));
  std::size_t looked = 0;
  for (const Clip& clip : knight->clips) {
    const bool spins = clip.name.find("Spin") != std::string::npos ||
                       clip.name.find("Strafe") != std::string::npos;
    if (!spins && looked++ % 12 != 0) continue;  // there are dozens
    SCOPED_TRACE(clip.name);
    Character posed = *knight;
    Pose pose = knight->restPose();
    sampleClip(clip, 0.4f * clip.duration_s(), pose);
    for (std::size_t j = 0; j < pose.local.size(); ++j)
      posed.skeleton.joints[j].rest = pose.local[j];
    const Result<std::vector<std::uint8_t>> written = encodeGlb(posed, notes);
    ASSERT_TRUE(written) << written.error().text();
    const Result<Character> back = parseGltf(*written, "posed.glb", {}, {}, notes);
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_LT(testing_support::maxDistance(knight->mesh.positions, back->mesh.positions), 1e-3);
  }
}

TEST(GltfData, ConformanceFilesLoadAndComeBackEqual) {
  DERM_DATA_OR_SKIP(folder, "gltf-conformance");
  for (const std::filesystem::path& file : gltfFiles(folder)) expectGood(file);
}

TEST(GltfData, WrongFilesEndInACharacterOrOneError) {
  DERM_DATA_OR_SKIP(folder, "invalid-gltf");
  for (const std::filesystem::path& file : gltfFiles(folder)) {
    SCOPED_TRACE(file.string());
    Diagnostics notes;
    const Result<Character> c = loadGltf(file, {}, notes);
    if (c) {
      EXPECT_TRUE(validate(*c)) << validate(*c).error().text();
      EXPECT_TRUE(encodeGlb(*c, notes));
    } else {
      EXPECT_FALSE(c.error().message.empty());
      EXPECT_EQ(c.error().where.file, file.string());
    }
  }
}

TEST(GltfData, FilesTheKhronosValidatorCallsValidAreNotRefused) {
  DERM_DATA_OR_SKIP(folder, "invalid-gltf/gltf-validator");
  std::ifstream manifest(folder / "MANIFEST.tsv");
  std::string line;
  std::getline(manifest, line);
  int valid = 0;
  while (std::getline(manifest, line)) {
    std::istringstream fields(line);
    std::string file;
    int errors = -1;
    fields >> file >> errors;
    if (errors != 0) continue;
    ++valid;
    Diagnostics notes;
    const Result<Character> c = loadGltf(folder / file, {}, notes);
    EXPECT_TRUE(c) << c.error().text();
  }
  EXPECT_GT(valid, 60);
}

}  // namespace
}  // namespace derm::gltf_data_test
