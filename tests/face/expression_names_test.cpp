#include "derm/face/expression_names.h"

#include <set>

#include <gtest/gtest.h>

namespace derm::expression_names_test {
namespace {

TEST(ExpressionNames, AllFiftyTwoShapesAreLinkedToTheOtherVocabularies) {
  std::set<std::string_view> names;
  for (const FaceShape& s : faceShapes()) {
    SCOPED_TRACE(s.name);
    EXPECT_TRUE(names.insert(s.name).second);
    EXPECT_EQ(findFaceShape(s.name), &s);
    const FaceShape* mirror = findFaceShape(s.mirror);
    ASSERT_NE(mirror, nullptr);
    EXPECT_EQ(mirror->mirror, s.name);
    EXPECT_EQ(mirroredLabel(s.name), s.mirror);
    EXPECT_EQ(mirror->points.size(), s.points.size());
    EXPECT_FALSE(s.points.empty());
    for (const std::string_view number : s.points) EXPECT_NE(findFaceFeature(number), nullptr);
    // FACS has nothing for the whole mouth going sideways.
    const bool sideways = s.name == "mouthLeft" || s.name == "mouthRight";
    EXPECT_EQ(findActionUnit(s.action_unit) == nullptr, sideways);
  }
  EXPECT_EQ(names.size(), 52u);
}

TEST(ExpressionNames, TheMirroredShapeMovesTheMirroredPoints) {
  for (const FaceShape& s : faceShapes()) {
    std::set<std::string_view> here, there;
    for (const std::string_view p : s.points) here.insert(findFaceFeature(p)->mirror);
    for (const std::string_view p : findFaceShape(s.mirror)->points) there.insert(p);
    EXPECT_EQ(here, there) << s.name;
  }
}

TEST(ExpressionNames, ShapesAreFoundInTheSpellingsOfOtherFiles) {
  EXPECT_EQ(findFaceShape("eyeBlink_L")->name, "eyeBlinkLeft");
  EXPECT_EQ(findFaceShape("MOUTH_SMILE_RIGHT")->name, "mouthSmileRight");
  EXPECT_EQ(findFaceShape("cheekPuff")->name, "cheekPuff");
  EXPECT_EQ(findFaceShape("Brow Down R")->name, "browDownRight");
  EXPECT_EQ(findFaceShape("eyeBlink"), nullptr);
  EXPECT_EQ(findFaceShape(""), nullptr);
  EXPECT_EQ(findFaceShape(">_<"), nullptr) << "a morph target without a letter";
  const Result<const FaceShape*> wrong = faceShapeNamed("eyeBlinkLeftt");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("eyeBlinkLeft"), std::string::npos);
}

TEST(ExpressionNames, VrmPresetsAreMixesOfShapes) {
  std::set<std::string_view> names;
  for (const VrmPreset& p : vrmPresets()) {
    SCOPED_TRACE(p.name);
    EXPECT_TRUE(names.insert(p.name).second);
    EXPECT_EQ(p.shapes.empty(), p.name == "neutral");
    for (const ShapeWeight& s : p.shapes) {
      EXPECT_NE(findFaceShape(s.shape), nullptr) << s.shape;
      EXPECT_TRUE(s.weight > 0 && s.weight <= 1);
    }
  }
  EXPECT_EQ(names.size(), 18u);
  EXPECT_EQ(findVrmPreset("Joy")->name, "happy");
  EXPECT_EQ(findVrmPreset("blink_l")->name, "blinkLeft");
  EXPECT_EQ(findVrmPreset("grin"), nullptr);
}

TEST(ExpressionNames, LookingLeftTurnsBothEyesToTheSubjectsLeft) {
  for (const ShapeWeight& s : findVrmPreset("lookLeft")->shapes)
    EXPECT_EQ(findFaceShape(s.shape)->action_unit, 61) << s.shape;
}

}  // namespace
}  // namespace derm::expression_names_test
