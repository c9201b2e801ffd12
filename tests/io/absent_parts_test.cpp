// A derm built without some parts says so, whoever asks for them.
#include <gtest/gtest.h>

#include "derm/base/parallel.h"
#include "derm/io/character_file.h"
#include "derm/io/film.h"
#include "derm/io/image_file.h"
#include "derm/io/png.h"
#include "derm/io/vdb.h"

namespace derm::absent_parts_test {
namespace {

template <class T>
void expectUnsupported(const Result<T>& result, const std::string& option) {
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::Unsupported);
  EXPECT_NE(result.error().message.find(option), std::string::npos) << result.error().text();
}

TEST(AbsentParts, PicturesAndFilmsSayWhichOptionTheyNeed) {
  Diagnostics notes;
  const std::vector<std::uint8_t> png{0x89, 'P', 'N', 'G'}, jpeg{0xFF, 0xD8, 0xFF, 0xE0};
  EXPECT_FALSE(hasImageFiles());
  expectUnsupported(decodeImage(png, "a.png"), "DERM_WITH_IMAGES");
  expectUnsupported(decodeImage(jpeg, "a.jpg"), "DERM_WITH_IMAGES");
  expectUnsupported(savePng("a.png", Rgba8Image()), "DERM_WITH_IMAGES");
  expectUnsupported(FilmWriter::open("a.mp4", {}, notes), "DERM_WITH_FILMS");
  expectUnsupported(validateFilm("a.mp4", {}), "DERM_WITH_FILMS");
}

TEST(AbsentParts, FormatsOfAbsentLibrariesSayWhichOptionTheyNeed) {
  Diagnostics notes;
  if (!hasVdb()) expectUnsupported(loadVdb("a.vdb"), "DERM_WITH_OPENVDB");
  const std::vector<std::string> known = readableEndings();
  if (std::find(known.begin(), known.end(), ".fbx") == known.end())
    expectUnsupported(parseCharacter({}, "a.fbx", {}, notes), "DERM_WITH_ASSIMP");
}

}  // namespace
}  // namespace derm::absent_parts_test
