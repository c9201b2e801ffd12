#include "derm/face/profile_landmarks.h"

#include <limits>

#include <gtest/gtest.h>

#include "derm/base/parallel.h"

#include "face/profile_alignment.h"
#include "face/synthetic_faces.h"

namespace derm::profile_landmarks_test {
namespace {

using namespace testing_support;

TEST(ProfileLandmarks, KeepsLabelsAndOrderAndIsTheSameEveryTime) {
  const SyntheticFace a(syntheticHeadA()), b(syntheticHeadB());
  const auto once = matchByProfiles(a.mesh(), a.head.points, b.mesh());
  ASSERT_TRUE(once.ok());
  ASSERT_EQ(once->landmarks.size(), a.head.points.size());
  for (std::size_t i = 0; i < a.head.points.size(); ++i) {
    EXPECT_EQ(once->landmarks[i].label, a.head.points[i].label);
    EXPECT_GE(once->landmarks[i].confidence, 0);
    EXPECT_LE(once->landmarks[i].confidence, 1);
  }
  EXPECT_FALSE(once->via);
  const ThreadLimit one(1);
  const auto again = matchByProfiles(a.mesh(), a.head.points, b.mesh());
  EXPECT_EQ(once->landmarks, again->landmarks);
  EXPECT_EQ(once->residual, again->residual);
}

TEST(ProfileLandmarks, AHeadIsFoundOnItself) {
  const SyntheticFace a(syntheticHeadA());
  const auto same = matchByProfiles(a.mesh(), a.head.points, a.mesh());
  ASSERT_TRUE(same.ok());
  EXPECT_LT(same->residual, 1e-3);
  for (std::size_t i = 0; i < same->landmarks.size(); ++i) {
    const auto at = [&](const SurfacePoint& p) {
      return positionAt(p, a.mesh().triangles, a.mesh().positions);
    };
    EXPECT_LT((at(same->landmarks[i].point) - at(a.head.points[i].point)).norm(), 1e-4f);
  }
}

TEST(ProfileLandmarks, TheBetterOfTwoWaysIsTaken) {
  const SyntheticFace b(slightlyAsymmetric(syntheticHeadB())),
      c(slightlyAsymmetric(syntheticHeadC()));
  const SyntheticFace a(slightlyAsymmetric(syntheticHeadA()));
  const auto direct = matchByProfiles(b.mesh(), b.head.points, c.mesh());
  const TriMesh* through[] = {&b.mesh(), &a.mesh()};
  const auto chained = matchByProfiles(b.mesh(), b.head.points, c.mesh(), through);
  ASSERT_TRUE(direct.ok() && chained.ok());
  EXPECT_EQ(chained->via, 1u);
  EXPECT_LT(chained->residual, direct->residual);
  EXPECT_LT(c.meanError(chained->landmarks), c.meanError(direct->landmarks));
}

TEST(ProfileLandmarks, SaysWhatIsWrong) {
  const SyntheticFace a(syntheticHeadA());
  const auto error = [](const auto& matches) {
    return matches.ok() ? std::string("none") : matches.error().text();
  };
  const auto has = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  };
  TriMesh broken = a.mesh();
  broken.positions[7].x() = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(has(error(matchByProfiles({}, {}, a.mesh())), "nothing is to be seen"));
  EXPECT_TRUE(has(error(matchByProfiles(a.mesh(), {}, {})), "nothing is to be seen"));
  EXPECT_TRUE(has(error(matchByProfiles(broken, {}, a.mesh())), "source"));
  EXPECT_TRUE(has(error(matchByProfiles(a.mesh(), {}, broken)), "target"));
  const TriMesh* through[] = {&broken};
  EXPECT_TRUE(has(error(matchByProfiles(a.mesh(), {}, a.mesh(), through)), "between[0]"));
}

TEST(ProfileLandmarks, AnythingThatCanBeSeenGivesNumbers) {
  const SyntheticFace a(syntheticHeadA());
  TriMesh sliver, strip;
  sliver.positions = {{0, 0, 0}, {1, 0, 0}, {0, 0.02f, 0}};
  sliver.triangles = {{0, 1, 2}};
  strip.positions = {{0, 0, 0}, {0.1f, 0, 0}, {0, 5, 1}};
  strip.triangles = {{0, 1, 2}};
  for (const TriMesh& odd : {sliver, strip}) {
    const auto matches = matchByProfiles(a.mesh(), a.head.points, odd);
    ASSERT_TRUE(matches.ok());
    EXPECT_TRUE(std::isfinite(matches->residual));
    for (const LandmarkMatch& match : matches->landmarks)
      EXPECT_TRUE(validate(match.point, 1, "point").ok());
    EXPECT_TRUE(matchByProfiles(odd, {}, a.mesh()).ok());
  }
}

TEST(ProfileAlignment, MapsAreChained) {
  detail::depth::PixelMap shift(64), turn(64);
  for (int j = 0; j < shift.nodes(); ++j)
    for (int i = 0; i < shift.nodes(); ++i) {
      const detail::depth::Pixel p = shift.positionOf(i, j);
      shift.at(i, j) = p + detail::depth::Pixel(3, -2);
      turn.at(i, j) = detail::depth::Pixel(p.y(), p.x());
    }
  EXPECT_LT((shift({30.3, 20.9}) - detail::depth::Pixel(33.3, 18.9)).norm(), 1e-12);
  EXPECT_LT((chained(shift, turn)({30, 20}) - detail::depth::Pixel(18, 33)).norm(), 1e-12);
}

TEST(ProfileAlignment, FindsTheMirrorAxis) {
  const SyntheticFace a(slightlyAsymmetric(syntheticHeadA()));
  const auto depth = detail::depth::drawDepth(a.mesh(), 512);
  ASSERT_TRUE(depth.ok());
  EXPECT_NEAR(detail::depth::BendChannels(*depth).mirror_axis, depth->pixelOf(Vec3d::Zero()).x(),
              0.5);
}

}  // namespace
}  // namespace derm::profile_landmarks_test
