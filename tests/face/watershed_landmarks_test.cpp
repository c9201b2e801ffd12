#include "derm/face/watershed_landmarks.h"

#include <limits>

#include <gtest/gtest.h>

#include "derm/base/parallel.h"

#include "face/synthetic_faces.h"

namespace derm::watershed_landmarks_test {
namespace {

using namespace testing_support;

Result<std::vector<LandmarkMatch>> match(const SyntheticFace& from, const SyntheticFace& to,
                                         const WatershedDesc& desc = {}) {
  Diagnostics notes;
  return matchByWatershed(from.mesh(), from.head.points, to.mesh(), desc, notes);
}

TEST(WatershedLandmarks, KeepsLabelsAndOrderAndIsTheSameEveryTime) {
  const SyntheticFace a(syntheticHeadA()), b(syntheticHeadB());
  const auto once = match(a, b);
  ASSERT_TRUE(once.ok());
  ASSERT_EQ(once->size(), a.head.points.size());
  for (std::size_t i = 0; i < once->size(); ++i) {
    EXPECT_EQ((*once)[i].label, a.head.points[i].label);
    EXPECT_GE((*once)[i].confidence, 0);
    EXPECT_LE((*once)[i].confidence, 1);
  }
  const ThreadLimit one(1);
  EXPECT_EQ(*once, *match(a, b));
}

TEST(WatershedLandmarks, AHeadIsFoundOnItself) {
  const SyntheticFace a(syntheticHeadA());
  const auto same = match(a, a);
  ASSERT_TRUE(same.ok());
  for (std::size_t i = 0; i < same->size(); ++i) {
    const auto at = [&](const SurfacePoint& p) {
      return positionAt(p, a.mesh().triangles, a.mesh().positions);
    };
    EXPECT_LT((at((*same)[i].point) - at(a.head.points[i].point)).norm(), 1e-6f);
    EXPECT_GT((*same)[i].confidence, 0.999f);
  }
}

TEST(WatershedLandmarks, ScaleAndPositionOfAHeadDoNotMatter) {
  const SyntheticFace a(syntheticHeadA()), b(syntheticHeadB());
  SyntheticFace far = b;
  for (Vec3f& p : far.head.mesh.positions) p = 0.03f * p + Vec3f(1, -2, 0.5f);
  const auto near_matches = match(a, b), far_matches = match(a, far);
  ASSERT_TRUE(near_matches.ok() && far_matches.ok());
  for (std::size_t i = 0; i < near_matches->size(); ++i) {
    const Vec3f near = positionAt((*near_matches)[i].point, b.mesh().triangles, b.mesh().positions);
    const Vec3f there = positionAt((*far_matches)[i].point, b.mesh().triangles, b.mesh().positions);
    EXPECT_LT((near - there).norm(), 0.002f);  // of a head of 0.2 m: floats far out are coarse
  }
}

TEST(WatershedLandmarks, WithoutStepsThePointsFollowTheBounds) {
  const SyntheticFace a(syntheticHeadA()), b(syntheticHeadB());
  Diagnostics notes;
  const auto matches = matchByWatershed(a.mesh(), a.head.points, b.mesh(), {.steps = {}}, notes);
  ASSERT_TRUE(matches.ok());
  EXPECT_EQ(notes.count("watershed-no-features"), 1u);
}

TEST(WatershedLandmarks, SaysWhatIsWrong) {
  const SyntheticFace a(syntheticHeadA());
  Diagnostics notes;
  const auto error = [&](const TriMesh& source, std::vector<LabelledPoint> points,
                         const TriMesh& target, const WatershedDesc& desc) {
    const auto matches = matchByWatershed(source, points, target, desc, notes);
    return matches.ok() ? std::string("none") : matches.error().text();
  };
  const auto has = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(error(a.mesh(), a.head.points, {}, {}), "nothing is to be seen"));
  EXPECT_TRUE(has(error({}, {}, a.mesh(), {}), "nothing is to be seen"));
  TriMesh broken = a.mesh();
  broken.positions[7].x() = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(has(error(broken, {}, a.mesh(), {}), "source"));
  EXPECT_TRUE(has(error(a.mesh(), {}, broken, {}), "target"));
  EXPECT_TRUE(has(error(a.mesh(), {{"nose", {.triangle = 9999999}}}, a.mesh(), {}), "point nose"));
  WatershedDesc desc;
  desc.steps[1].size_px = 0;
  EXPECT_TRUE(has(error(a.mesh(), {}, a.mesh(), desc), "watershed.steps[1].size_px"));
  EXPECT_TRUE(has(error(a.mesh(), {}, a.mesh(), {.map_size_px = 10}), "watershed.map_size_px"));
  EXPECT_TRUE(
      has(error(a.mesh(), {}, a.mesh(), {.max_distance_px = -1}), "watershed.max_distance_px"));
  EXPECT_TRUE(has(error(a.mesh(), {}, a.mesh(), {.merge_depth = -1}), "watershed.merge_depth"));
}

TEST(WatershedLandmarks, AnyDescriptorWorks) {
  const SyntheticFace a(syntheticHeadA()), b(syntheticHeadB());
  for (const DepthDescriptor descriptor :
       {DepthDescriptor::Gaussian, DepthDescriptor::SignedSymmetry,
        DepthDescriptor::AbsoluteSymmetry}) {
    const auto matches = match(a, b, {.steps = {{descriptor, 16}, {descriptor, 8}}});
    ASSERT_TRUE(matches.ok());
    EXPECT_LT(b.meanError(*matches), 1.4);
  }
}

}  // namespace
}  // namespace derm::watershed_landmarks_test
