#include "derm/track/marker_detection.h"

#include <gtest/gtest.h>

#include "track/marked_film.h"

namespace derm::marker_detection_test {
namespace {

using testing_support::MarkedFilm;
using testing_support::MarkedFilmDesc;

Grey8Image inverted(Grey8Image image) {
  for (std::uint8_t& p : image.pixels) p = static_cast<std::uint8_t>(255 - p);
  return image;
}

TEST(DetectDots, FindsEveryDotOfAFaceAndNamesIt) {
  const MarkedFilm film;
  const Grey8Image picture = film.picture(0);
  const auto dots = detectDots(picture);
  ASSERT_TRUE(dots.ok()) << dots.error().text();
  const std::vector<Marker> truth = film.markers();
  EXPECT_EQ(dots->size(), truth.size());
  const auto named = nameDots(*dots, film.face());
  ASSERT_TRUE(named.ok()) << named.error().text();
  ASSERT_EQ(named->size(), truth.size());
  double sum = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    EXPECT_EQ((*named)[i].label, truth[i].label);
    const double off = ((*named)[i].position - truth[i].position).norm();
    EXPECT_LT(off, 1.0) << truth[i].label;  // dots on slopes are not where their middle is
    sum += off;
  }
  EXPECT_LT(sum / static_cast<double>(truth.size()), 0.25);

  DotDetectionDesc bright;
  bright.bright = true;
  const auto white = detectDots(inverted(picture), bright);
  ASSERT_TRUE(white.ok());
  EXPECT_EQ(white->size(), truth.size());
}

TEST(DetectDots, NamesSurviveDotsThatAreMissingAndOthersThatAreNone) {
  const MarkedFilm film;
  auto dots = detectDots(film.picture(0));
  ASSERT_TRUE(dots.ok());
  dots->erase(dots->begin() + 3);
  dots->erase(dots->begin() + 12);
  for (const auto& [x, y] : {std::pair{40.0, 60.0}, {600.0, 400.0}, {320.0, 60.0}})
    dots->push_back({Vec3d(x, y, 0), 4, 80, 1});
  const auto named = nameDots(*dots, film.face());
  ASSERT_TRUE(named.ok()) << named.error().text();
  EXPECT_EQ(named->size(), film.labels().size() - 2);
  for (const Marker& m : *named)
    for (const Marker& t : film.markers())
      if (t.label == m.label) {
        EXPECT_LT((t.position - m.position).norm(), 1.0) << m.label;
      }
}

TEST(DetectDots, MarkersGoToTheirDots) {
  const MarkedFilm film;
  const auto dots = detectDots(film.picture(0));
  ASSERT_TRUE(dots.ok());
  std::vector<Marker> markers = film.markers();
  const std::vector<Marker> truth = markers;
  for (std::size_t i = 0; i < markers.size(); ++i)
    markers[i].position += Vec3d(i % 2 == 0 ? 3 : -2, 2, 0);
  markers.push_back({"none", Vec3d(20, 20, 0)});
  EXPECT_EQ(snapToDots(markers, *dots, 8), truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i)
    EXPECT_LT((markers[i].position - truth[i].position).norm(), 1.0);
  EXPECT_EQ(markers.back().position, Vec3d(20, 20, 0));
}

TEST(DetectDots, NothingToFindAndNumbersOutOfRange) {
  const auto none = detectDots(Grey8Image(64, 48, 100));
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->empty());
  EXPECT_TRUE(detectDots(Grey8Image())->empty());
  EXPECT_FALSE(nameDots(*none, MarkedFilm().face()).ok());
  DotDetectionDesc desc;
  desc.min_radius_px = 0;
  EXPECT_FALSE(detectDots(Grey8Image(64, 48), desc).ok());
  desc = {};
  desc.max_radius_px = 1;
  EXPECT_FALSE(detectDots(Grey8Image(64, 48), desc).ok());
  desc = {};
  desc.min_contrast = 0;
  EXPECT_FALSE(detectDots(Grey8Image(64, 48), desc).ok());
}

}  // namespace
}  // namespace derm::marker_detection_test
