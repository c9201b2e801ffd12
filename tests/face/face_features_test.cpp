#include "derm/face/face_features.h"

#include <set>

#include <gtest/gtest.h>

namespace derm::face_features_test {
namespace {

TEST(FaceFeatures, NumbersAndNamesAreUniqueAndFindTheirPoint) {
  std::set<std::string_view> labels;
  for (const FaceFeature& p : faceFeatures()) {
    EXPECT_TRUE(labels.insert(p.number).second) << p.number;
    EXPECT_TRUE(labels.insert(p.name).second) << p.name;
    EXPECT_EQ(findFaceFeature(p.number), &p);
    EXPECT_EQ(findFaceFeature(p.name), &p);
  }
  EXPECT_EQ(findFaceFeature("Nose_Tip")->number, "9.3");
}

TEST(FaceFeatures, EveryPointHasItsMirrorImage) {
  for (const FaceFeature& p : faceFeatures()) {
    SCOPED_TRACE(p.name);
    const FaceFeature* m = findFaceFeature(p.mirror);
    ASSERT_NE(m, nullptr);
    EXPECT_EQ(m->mirror, p.number);
    if (p.side == FaceSide::Middle) {
      EXPECT_EQ(m, &p);
      continue;
    }
    EXPECT_TRUE(m->side != p.side && m->side != FaceSide::Middle);
    const bool left = p.side == FaceSide::Left;
    EXPECT_TRUE(p.name.ends_with(left ? "_left" : "_right"));
    EXPECT_EQ(mirroredLabel(p.name), m->name);
    EXPECT_EQ(mirroredLabel(p.number), m->number);
  }
}

TEST(FaceFeatures, TheEyeCornersMirrorInnerToInner) {
  EXPECT_EQ(mirroredLabel("3.7"), "3.12");
  EXPECT_EQ(mirroredLabel("3.11"), "3.8");
}

TEST(FaceFeatures, OtherLabelsMirrorByTheirWords) {
  EXPECT_EQ(mirroredLabel("eyeBlinkLeft"), "eyeBlinkRight");
  EXPECT_EQ(mirroredLabel("RIGHT_ear"), "LEFT_ear");
  EXPECT_EQ(mirroredLabel("brow_L"), "brow_R");
  EXPECT_EQ(mirroredLabel("marker.r"), "marker.l");
  EXPECT_EQ(mirroredLabel("forehead"), "forehead");
}

TEST(FaceFeatures, TwentyEightControlPointsComeInPairs) {
  std::set<std::string_view> all;
  for (const std::string_view number : controlPointNumbers()) all.insert(number);
  EXPECT_EQ(all.size(), 28u);
  for (const std::string_view number : all)
    EXPECT_TRUE(all.contains(findFaceFeature(number)->mirror)) << number;
}

TEST(FaceFeatures, AWrongNameIsAnsweredWithTheNearest) {
  const Result<const FaceFeature*> name = faceFeatureNamed("noes_tip");
  ASSERT_FALSE(name);
  EXPECT_NE(name.error().message.find("nose_tip"), std::string::npos) << name.error().message;
  const Result<const FaceFeature*> number = faceFeatureNamed("8.11");
  ASSERT_FALSE(number);
  EXPECT_NE(number.error().message.find("\"8.1"), std::string::npos) << number.error().message;
}

}  // namespace
}  // namespace derm::face_features_test
