#include "derm/character/character.h"

#include <gtest/gtest.h>

#include "derm/mesh/measures.h"

#include "support/blended.h"
#include "support/shelf.h"

namespace derm {
namespace {

TEST(Character, EveryRiggedShelfMeshIsValid) {
  for (const shelf::ShelfMesh& m : shelf::all()) {
    SCOPED_TRACE(m.name);
    const Character c = shelf::rigged(m);
    const Result<void> ok = validate(c);
    EXPECT_TRUE(ok.ok()) << ok.error().text();
    EXPECT_EQ(c.boneCount(), 3u);
  }
}

TEST(Character, ClipsAreFoundByNameThenByNumberAndMissingOnesNameTheNearest) {
  const Character c = shelf::rigged(shelf::closedOnes().front());
  EXPECT_EQ(*c.findClip("stretch"), 1u);
  EXPECT_EQ(*c.findClip("0"), 0u);
  EXPECT_FALSE(c.findClip("2").ok());
  EXPECT_NE(c.findClip("bendd").error().message.find("did you mean \"bend\"?"), std::string::npos);
  EXPECT_EQ(c.findClip("bendd").error().code, ErrorCode::BadArgument);
}

TEST(Character, ValidateCatchesRangesThatDoNotCover) {
  const Character good = shelf::rigged(shelf::closedOnes().front());
  Character c = good;
  c.parts[0].triangle_count -= 1;
  EXPECT_FALSE(validate(c).ok());
  c = good;
  c.parts[0].vertex_count = 4;
  EXPECT_NE(validate(c).error().text().find("leaves the part's vertices"), std::string::npos);
  c = good;
  c.instances[0].vertex_count -= 1;
  EXPECT_FALSE(validate(c).ok());
  c = good;
  c.parts[0].material = 0;
  EXPECT_NE(validate(c).error().text().find("no such material"), std::string::npos);
  c = good;
  c.instances.clear();
  EXPECT_FALSE(validate(c).ok());
}

/// Where the clip's skinned bones are, to see that a change of units or axes moves all alike.
std::vector<Vec3f> posedCorners(const Character& c) {
  Pose pose = c.restPose();
  sampleClip(c.clips[0], 0.7f, pose);
  std::vector<Affine3d> model(c.skeleton.size());
  localToModel(c.skeleton, pose.local, model);
  return testing_support::blended(c, model);
}

TEST(Character, ScalingLengthsScalesThePosedMesh) {
  Character c = shelf::rigged(shelf::closedOnes().front());
  const std::vector<Vec3f> before = posedCorners(c);
  scaleLengths(c, 100);
  const std::vector<Vec3f> after = posedCorners(c);
  for (std::size_t v = 0; v < before.size(); ++v)
    EXPECT_LT((after[v] - 100 * before[v]).norm(), 1e-4f * 100);
}

TEST(Character, RotatingAxesRotatesThePosedMesh) {
  Character c = shelf::rigged(shelf::closedOnes().front());
  const std::vector<Vec3f> before = posedCorners(c);
  const Quatd turn(Eigen::AngleAxisd(-1.5707963267948966, Vec3d::UnitX()));
  rotateAxes(c, turn);
  const std::vector<Vec3f> after = posedCorners(c);
  for (std::size_t v = 0; v < before.size(); ++v)
    EXPECT_LT((after[v] - turn.cast<float>() * before[v]).norm(), 2e-6f);
}

}  // namespace
}  // namespace derm
