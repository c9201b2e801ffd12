#include "derm/face/face_regions.h"

#include <gtest/gtest.h>

#include "derm/face/face_features.h"

namespace derm::face_regions_test {
namespace {

std::vector<std::string> controlLabels() {
  return {controlPointNumbers().begin(), controlPointNumbers().end()};
}

double weightOf(std::string_view regions, const std::string& label) {
  const Result<std::vector<double>> out = faceRegionWeights(regions, std::vector{label});
  EXPECT_TRUE(out) << out.error().text();
  return out->front();
}

TEST(FaceRegions, EveryControlPointHasOneRegionOfItsOwn) {
  for (const std::string& label : controlLabels()) {
    int own = 0;
    for (const std::string_view region : faceRegionNames()) {
      const double weight = weightOf(region, label);
      EXPECT_TRUE(weight >= 0 && weight <= 1);
      own += weight == 1 ? 1 : 0;
    }
    EXPECT_EQ(own, 1) << label;
    EXPECT_EQ(weightOf("", label), 1);
    EXPECT_EQ(weightOf("all", label), 1);
  }
}

TEST(FaceRegions, MirrorImagesHaveMirroredWeights) {
  for (const std::string& label : controlLabels()) {
    for (const std::string_view region : faceRegionNames())
      EXPECT_EQ(weightOf(region, label), weightOf(region, mirroredLabel(label))) << label;
    EXPECT_EQ(weightOf("left", label), weightOf("right", mirroredLabel(label)));
    EXPECT_EQ(weightOf("left", label) + weightOf("right", label), 1);
  }
}

TEST(FaceRegions, PointsThatMeetAreNeverPulledApartByARegion) {
  for (const auto& [upper, lower] :
       {std::pair{"3.1", "3.3"}, {"3.2", "3.4"}, {"8.1", "8.2"}, {"8.5", "8.7"}, {"2.2", "2.3"}})
    for (const std::string_view region : faceRegionNames())
      EXPECT_EQ(weightOf(region, upper), weightOf(region, lower)) << region << " " << upper;
}

TEST(FaceRegions, ItemsJoinSidesAndPoints) {
  EXPECT_EQ(weightOf("mouth.left", "8.3"), 1);
  EXPECT_EQ(weightOf("mouth.left", "8.4"), 0);
  EXPECT_EQ(weightOf("mouth.left", "8.1"), 0.5);
  EXPECT_EQ(weightOf(" brows , 8.4 ", "mouth_corner_right"), 1);
  EXPECT_EQ(weightOf("mouth", "upper_lip_middle"), 1);
  EXPECT_EQ(weightOf("mouth", "2.2"), 1);  // the inner lips
  EXPECT_EQ(weightOf("jaw", "2.10"), 1);
  EXPECT_EQ(weightOf("mine,jaw", "mine"), 1);
  EXPECT_EQ(weightOf("jaw", "mine"), 0);
}

TEST(FaceRegions, UnknownWordsAreSaidWithTheNearest) {
  const Result<std::vector<double>> out = faceRegionWeights("mouth,brow", controlLabels());
  ASSERT_FALSE(out);
  EXPECT_NE(out.error().text().find(
                "\"brow\" is no region of a face and no point; did you mean \"brows\""),
            std::string::npos)
      << out.error().text();
  EXPECT_FALSE(faceRegionWeights("mouth.", controlLabels()));
  EXPECT_FALSE(faceRegionWeights("mouth.up", controlLabels()));
}

}  // namespace
}  // namespace derm::face_regions_test
