// Landmarks by watershed (Dutreve 2011, 3.4.1) on heads given by formulas, whose points are known.
#include <cstdio>

#include <gtest/gtest.h>

#include "derm/face/watershed_landmarks.h"

#include "face/synthetic_faces.h"

namespace derm::watershed_landmarks_paper_test {
namespace {

using namespace testing_support;

double errorOf(const SyntheticHeadDesc& from, const SyntheticHeadDesc& to) {
  const SyntheticFace source(slightlyAsymmetric(from)), target(slightlyAsymmetric(to));
  Diagnostics notes;
  const auto matches =
      matchByWatershed(source.mesh(), source.head.points, target.mesh(), {}, notes);
  EXPECT_TRUE(matches.ok());
  EXPECT_TRUE(notes.empty());
  const double error = target.meanError(*matches);
  std::printf("%s to %s: %.2f %% of the diagonal\n", from.name.c_str(), to.name.c_str(), error);
  return error;
}

TEST(WatershedLandmarksPaper, BetweenHumans) {
  EXPECT_LE(errorOf(syntheticHeadA(), syntheticHeadB()), 0.8);
  EXPECT_LE(errorOf(syntheticHeadB(), syntheticHeadA()), 0.8);
}

TEST(WatershedLandmarksPaper, BetweenAHumanAndACartoon) {
  EXPECT_LE(errorOf(syntheticHeadA(), syntheticHeadC()), 1.8);
  EXPECT_LE(errorOf(syntheticHeadC(), syntheticHeadA()), 1.8);
}

TEST(WatershedLandmarksPaper, TheSameHeadWithOtherTriangles) {
  for (const SyntheticHeadDesc& head : {syntheticHeadA(), syntheticHeadB(), syntheticHeadC()})
    EXPECT_LE(errorOf(head, retessellated(head)), 0.3);
}

}  // namespace
}  // namespace derm::watershed_landmarks_paper_test
