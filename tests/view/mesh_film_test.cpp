#include "derm/view/mesh_film.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "support/shelf.h"

namespace derm::mesh_film_test {
namespace {

/// A ball that is not there yet, rises, and then stays where it is.
std::vector<TriMesh> risingBall() {
  std::vector<TriMesh> out;
  for (int f = 0; f < 30; ++f) {
    const float height = 0.1f * float(std::clamp(f - 4, 0, 10));
    out.push_back(shelf::sphere(12, 16, f < 4 ? 0.01f : 0.3f, Vec3f(0, height, 0)));
  }
  return out;
}

TEST(MeshStrip, TellsWhatHappensAndNothingTwice) {
  const std::vector<TriMesh> frames = risingBall();
  const std::vector<std::size_t> shown = tellingFrames(frames, 6);
  ASSERT_EQ(shown.size(), 6u);
  EXPECT_EQ(shown.front(), 4u);  // the first in which the ball can be seen
  EXPECT_EQ(shown.back(), 14u);  // the first in which it has come to rest
  for (std::size_t i = 1; i < shown.size(); ++i) EXPECT_NEAR(shown[i] - shown[i - 1], 2.0, 1.0);
}

TEST(MeshStrip, WhereNothingHappensThereIsOnePicture) {
  const std::vector<TriMesh> still(7, shelf::sphere(8, 12, 0.5f));
  EXPECT_EQ(tellingFrames(still, 8), std::vector<std::size_t>{0});
  EXPECT_TRUE(tellingFrames({}, 8).empty());
  const std::vector<TriMesh> empty(3);
  EXPECT_EQ(tellingFrames(empty, 8).size(), 1u);
}

// A split took no more change than standing still: a strip jumped over it.
TEST(MeshStrip, ShowsTheFramesThatAreMarked) {
  const std::vector<TriMesh> frames = risingBall();
  const std::vector<FrameMark> marks = {{7, "split"}, {22, "merge"}};
  const std::vector<std::size_t> shown = tellingFrames(frames, 6, marks);
  EXPECT_EQ(shown.size(), 6u);
  EXPECT_TRUE(std::is_sorted(shown.begin(), shown.end()));
  for (const FrameMark& mark : marks)
    EXPECT_NE(std::find(shown.begin(), shown.end(), mark.frame), shown.end()) << mark.frame;
  EXPECT_EQ(shown.front(), 4u);
  const std::vector<TriMesh> still(7, shelf::sphere(8, 12, 0.5f));
  EXPECT_EQ(tellingFrames(still, 8, std::vector<FrameMark>{{3, "split"}}),
            (std::vector<std::size_t>{0, 3}));
  // More marks than pictures, and one beyond the end.
  const std::vector<FrameMark> many = {{5, "a"}, {6, "b"}, {7, "c"}, {8, "d"}, {99, "e"}};
  EXPECT_EQ(tellingFrames(frames, 3, many).size(), 3u);
}

TEST(MeshStrip, HasTheSizeAskedFor) {
  if (const auto renderer = OffscreenRenderer::create(); !renderer)
    GTEST_SKIP() << renderer.error().text();
  MeshFilmDesc desc;
  desc.size = {.width = 301, .height = 97};
  const Rgba8Image strip = drawMeshStrip(risingBall(), desc, 5).value();
  EXPECT_EQ(strip.width, 301);
  EXPECT_EQ(strip.height, 97);
  EXPECT_FALSE(drawMeshStrip({}, desc, 5).ok());
}

}  // namespace
}  // namespace derm::mesh_film_test
