#include "derm/character/character.h"

#include <cmath>

#include <gtest/gtest.h>

#include "derm/mesh/measures.h"

#include "support/blended.h"
#include "support/shelf.h"

namespace derm::character_test {
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

TEST(Character, LabelledPointsAreCheckedComparedAndKept) {
  Character good = shelf::rigged(shelf::closedOnes().front());
  good.points = {{"nose", {1, Vec3f(0.5f, 0.25f, 0.25f)}}, {"chin", {0, Vec3f(0, 0, 1)}}};
  ASSERT_TRUE(validate(good)) << validate(good).error().text();
  EXPECT_EQ(good.findPoint("chin")->triangle, 0u);
  EXPECT_EQ(good.findPoint("ear"), nullptr);
  Character c = good;
  std::swap(c.points[0], c.points[1]);
  EXPECT_TRUE(sameContent(good, c)) << "their order is no content";
  c.points[0].point.barycentric = Vec3f(0, 1, 0);
  EXPECT_FALSE(sameContent(good, c));
  c = good;
  c.points.pop_back();
  EXPECT_FALSE(sameContent(good, c));
  c = good;
  c.points[1].label = "nose";
  EXPECT_NE(validate(c).error().text().find("points[1]: the label \"nose\" is used twice"),
            std::string::npos)
      << validate(c).error().text();
  c.points[1].label = "";
  EXPECT_NE(validate(c).error().text().find("has no label"), std::string::npos);
  c = good;
  c.points[1].point.triangle = 1000000;
  EXPECT_NE(validate(c).error().text().find("\"chin\": surface point on triangle 1000000"),
            std::string::npos);
  c.points[1].point = {0, Vec3f(1, 1, 1)};
  EXPECT_FALSE(validate(c));
  // They follow the triangles, so nothing has to move them.
  const Character still = frozen(good, good.mesh);
  EXPECT_EQ(still.points, good.points);
  c = good;
  scaleLengths(c, 3);
  EXPECT_EQ(c.points, good.points);
  const auto positionIn = [](const Character& of) {
    return positionAt(of.points[0].point, of.mesh.triangles, of.mesh.positions);
  };
  EXPECT_LT((positionIn(c) - 3 * positionIn(good)).norm(), 1e-5f);
}

TEST(Character, DetailMapsAreCheckedAndCompared) {
  Character good = shelf::rigged(shelf::closedOnes().front());
  good.images.push_back({.name = "wrinkles"});
  good.materials.push_back({.detail_maps = {{.image = 0, .strength = 2, .control = "frown"}}});
  ASSERT_TRUE(validate(good)) << validate(good).error().text();
  const auto broken = [&](auto change) {
    Character c = good;
    change(c.materials[0].detail_maps[0]);
    EXPECT_FALSE(sameContent(good, c));
    const Result<void> ok = validate(c);
    return ok ? std::string() : ok.error().text();
  };
  EXPECT_EQ(broken([](DetailMap& m) { m.control = "smile"; }), "");
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(broken([](DetailMap& m) { m.image = 1; }), "detail map 0: no such image"));
  EXPECT_TRUE(has(broken([](DetailMap& m) { m.image = -1; }), "no such image"));
  EXPECT_TRUE(has(broken([](DetailMap& m) { m.uv_set = 8; }), "sets 0 to 7"));
  EXPECT_TRUE(has(broken([](DetailMap& m) { m.strength = -1; }), "strength"));
  EXPECT_TRUE(has(broken([](DetailMap& m) { m.uv_scale.x() = INFINITY; }), "not finite"));
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
}  // namespace derm::character_test
