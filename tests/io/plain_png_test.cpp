#include "io/plain_png.h"

#include <gtest/gtest.h>

#include "derm/base/rng.h"
#include "derm/io/png.h"

namespace derm::plain_png_test {
namespace {

void expectSame(const Rgba8Image& picture) {
  const Result<Rgba8Image> read = decodePng(detail::encodePlainPng(picture), "plain.png");
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(*read, picture);
}

TEST(PlainPng, LibpngReadsWhatIsWritten) {
  Rng rng(3);
  for (const auto& [width, height] : {std::pair{1, 1}, {7, 5}, {300, 200}, {9000, 3}}) {
    SCOPED_TRACE(width);
    Rgba8Image flat(width, height, {128, 128, 255, 255});
    expectSame(flat);
    Rgba8Image noise = flat;  // every byte and bits of every length
    for (Rgba8& p : noise.pixels) {
      const std::uint64_t bits = rng.next();
      p = {std::uint8_t(bits), std::uint8_t(bits >> 8), std::uint8_t(bits >> 16),
           std::uint8_t(bits >> 24)};
    }
    expectSame(noise);
    Rgba8Image runs = flat;  // repeats of every length, beside and above
    for (std::size_t i = 0; i < runs.pixels.size(); ++i)
      if (rng.next() % 16 == 0) runs.pixels[i] = noise.pixels[i];
    expectSame(runs);
  }
}

TEST(PlainPng, FlatMapsAreSmall) {
  const Rgba8Image flat(1024, 1024, {128, 128, 255, 255});
  EXPECT_LT(detail::encodePlainPng(flat).size(), 40000u);
}

}  // namespace
}  // namespace derm::plain_png_test
