#include "derm/deform/fold_curve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include <gtest/gtest.h>

#include "support/allocations.h"

namespace derm::fold_curve_test {
namespace {

std::string errorOf(const FoldCurveDesc& desc) {
  const Result<FoldCurve> curve = FoldCurve::make(desc);
  return curve ? "" : curve.error().text();
}

struct Shape {
  std::vector<double> heights;
  FoldState state;
};

Shape shapeOf(const FoldCurveDesc& desc, double ab, double rest = 1) {
  const FoldCurve curve = FoldCurve::make(desc).value();
  FoldCurve::Scratch scratch = curve.makeScratch();
  Shape out{std::vector<double>(curve.pointCount()), {}};
  out.state = curve.evaluate(ab, rest, scratch, out.heights);
  return out;
}

TEST(FoldCurve, AStretchedOrRestingCurveIsStraight) {
  for (const double ab : {1.0, 1.5, 1e6}) {
    const Shape shape = shapeOf({.h_max = 0.1, .shares = {0.7, 0.3}}, ab);
    EXPECT_TRUE(
        std::all_of(shape.heights.begin(), shape.heights.end(), [](double h) { return h == 0; }));
    EXPECT_EQ(shape.state.bumps, 0u);
    EXPECT_LE(shape.state.spare, 0);
  }
}

TEST(FoldCurve, TheEndsNeverMove) {
  for (const auto& [propagation, name] : kFoldPropagations)
    for (const double ab : {0.95, 0.5, 0.0}) {
      const Shape shape = shapeOf({.points = 9,
                                   .spacing = 0,
                                   .h_max = 0.05,
                                   .propagation = propagation,
                                   .shares = {0.5, 0.3, 0.2}},
                                  ab);
      EXPECT_EQ(shape.heights.front(), 0) << name;
      EXPECT_EQ(shape.heights.back(), 0) << name;
    }
}

TEST(FoldCurve, EveryFieldOutOfRangeIsNamed) {
  EXPECT_NE(errorOf({.points = 2, .h_max = 1}).find("points"), std::string::npos);
  EXPECT_NE(errorOf({.points = 2000, .h_max = 1}).find("points"), std::string::npos);
  EXPECT_NE(errorOf({.spacing = -1, .h_max = 1}).find("spacing"), std::string::npos);
  EXPECT_NE(errorOf({.points = 5, .crest = 4, .h_max = 1}).find("crest"), std::string::npos);
  EXPECT_NE(errorOf({.h_max = 0}).find("h_max_m: must be above 0"), std::string::npos);
  EXPECT_NE(errorOf({.h_max = std::nan("")}).find("h_max_m"), std::string::npos);
  EXPECT_NE(errorOf({.h_max = 1, .shares = {}}).find("levels"), std::string::npos);
  EXPECT_NE(errorOf({.h_max = 1, .shares = {0.5, 0.4}}).find("sum to 0.9"), std::string::npos);
  EXPECT_NE(errorOf({.h_max = 1, .shares = {1.5, -0.5}}).find("levels[1]"), std::string::npos);
  EXPECT_NE(errorOf({.h_max = 1, .shares = {0.5, 0.5}, .fine_h_max = {1, 1}}).find("fine_h_max_m"),
            std::string::npos);
  EXPECT_NE(errorOf({.h_max = 1, .shares = {0.5, 0.5}, .fine_h_max = {0}}).find("fine_h_max_m[0]"),
            std::string::npos);
  EXPECT_NE(errorOf({.h_max = 1, .soft_start = 0.6}).find("soft_start"), std::string::npos);
}

TEST(FoldCurve, EndsThatMeetGiveUprightFoldsOfTheWholeLength) {
  for (const double ab : {0.0, 1e-300, 1e-15, 1e-9}) {
    const Shape shape = shapeOf({.h_max = 0.05, .shares = {0.8, 0.2}}, ab);
    for (const double h : shape.heights) EXPECT_TRUE(std::isfinite(h) && h >= 0 && h <= 0.5) << ab;
    EXPECT_NEAR(foldLength(ab, shape.heights), 1, 1e-12) << ab;
  }
  const Shape one = shapeOf({.points = 3, .h_max = 9}, 0);
  EXPECT_DOUBLE_EQ(one.heights[1], 0.5);
}

TEST(FoldCurve, NumbersThatAreNoneLeaveItFlat) {
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Shape& shape : {shapeOf({.h_max = 0.1}, nan), shapeOf({.h_max = 0.1}, 1, nan),
                             shapeOf({.h_max = 0.1}, 0, infinity)})
    for (const double h : shape.heights) EXPECT_EQ(h, 0);
}

TEST(FoldCurve, ClampedFoldsStopAtTheirThresholdAndReportWhatIsMissing) {
  FoldCurveDesc desc{.h_max = 0.06, .saturation = FoldSaturation::Clamp};
  const Shape shape = shapeOf(desc, 0.8);
  EXPECT_DOUBLE_EQ(*std::max_element(shape.heights.begin(), shape.heights.end()), 0.06);
  EXPECT_TRUE(shape.state.saturated);
  EXPECT_NEAR(foldLength(0.8, shape.heights) + shape.state.missing, 1, 1e-12);
  EXPECT_NEAR(shape.state.missing, 0.2 - 3 * foldGain(0.06, 0.08), 1e-15);
}

TEST(FoldCurve, SaturationIsReachedWithoutAJump) {
  // B cap = d where 3 gain(0.06, ab / 10) = 1 - ab.
  double low = 0.5, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (3 * foldGain(0.06, middle / 10) > 1 - middle ? high : low) = middle;
  }
  for (const auto& [propagation, name] : kFoldPropagations) {
    const Shape before = shapeOf({.h_max = 0.06, .propagation = propagation}, low + 1e-10);
    const Shape after = shapeOf({.h_max = 0.06, .propagation = propagation}, low - 1e-10);
    EXPECT_FALSE(before.state.saturated);
    EXPECT_TRUE(after.state.saturated);
    for (std::size_t i = 0; i < before.heights.size(); ++i)
      EXPECT_NEAR(before.heights[i], after.heights[i], 1e-9) << name;
  }
}

TEST(FoldCurve, WhatTheCoarseBumpsCannotTakeSpillsToTheFinerOnes) {
  const FoldCurveDesc desc{.h_max = 0.03, .shares = {0.9, 0.1}, .fine_h_max = {0.04}};
  const Shape shape = shapeOf(desc, 0.8);
  EXPECT_FALSE(shape.state.saturated);
  for (std::size_t i = 0; i < shape.heights.size(); i += 2)
    EXPECT_LE(shape.heights[i], 0.03 + 1e-15);
  EXPECT_NEAR(foldLength(0.8, shape.heights), 1, 1e-12);
}

TEST(FoldCurve, AFinerLevelStaysUnderItsThresholdUntilAllAreFull) {
  const FoldCurveDesc desc{.h_max = 0.05, .shares = {0.5, 0.5}, .fine_h_max = {0.004}};
  const Shape shape = shapeOf(desc, 0.97);
  EXPECT_FALSE(shape.state.saturated);
  for (std::size_t i = 1; i < shape.heights.size(); i += 2)
    EXPECT_LE(shape.heights[i] - (shape.heights[i - 1] + shape.heights[i + 1]) / 2, 0.004 * 1.05);
  // The fine points are full by now; the coarse bumps have taken over what they could not.
  EXPECT_GT(*std::max_element(shape.heights.begin(), shape.heights.end()),
            foldHeight(0.5 * 0.03 / 2, 0.097));
  const Shape full = shapeOf(desc, 0.3);
  EXPECT_TRUE(full.state.saturated);
  EXPECT_NEAR(foldLength(0.3, full.heights), 1, 1e-12);
}

TEST(FoldCurve, ASoftStartGrowsLinearlyAndReportsWhatIsMissing) {
  FoldCurveDesc desc{.points = 3, .h_max = 1, .soft_start = 0.02};
  const auto height = [&](double d) { return shapeOf(desc, 1 - d).heights[1]; };
  EXPECT_NEAR(height(2e-5) / height(1e-5), 2, 1e-2);
  const Shape shape = shapeOf(desc, 0.99);
  EXPECT_GT(shape.state.missing, 0);
  EXPECT_NEAR(foldLength(0.99, shape.heights) + shape.state.missing, 1, 1e-12);
  const Shape grown = shapeOf(desc, 0.9);
  EXPECT_EQ(grown.state.missing, 0);
  EXPECT_NEAR(foldLength(0.9, grown.heights), 1, 1e-12);
}

TEST(FoldCurve, EvaluatingAllocatesNothing) {
  const FoldCurve curve = FoldCurve::make({.h_max = 0.02, .shares = {0.6, 0.3, 0.1}}).value();
  FoldCurve::Scratch scratch = curve.makeScratch();
  std::vector<double> heights(curve.pointCount());
  const std::size_t before = testing_support::allocationCount();
  double sum = 0;
  for (int i = 0; i < 50; ++i) sum += curve.evaluate(0.02 * i, 1, scratch, heights).spare;
  EXPECT_EQ(testing_support::allocationCount(), before);
  EXPECT_GT(sum, 0);
}

/// Length of the curve over uneven ground, as finely as eyes and meshes see it.
double lengthOver(std::span<const double> segments, std::span<const double> heights, bool round) {
  constexpr int kSteps = 2000;
  const std::size_t stride = (heights.size() - 1) / segments.size();
  double length = 0;
  for (std::size_t i = 0; i + 1 < heights.size(); ++i) {
    const double width = segments[i / stride] / double(stride);
    const auto at = [&](double t) {
      if (round) t = t < 0.5 ? 2 * t * t : 1 - 2 * (1 - t) * (1 - t);
      return heights[i] + t * (heights[i + 1] - heights[i]);
    };
    for (int k = 0; k < kSteps; ++k)
      length += std::hypot(width / kSteps, at((k + 1) / double(kSteps)) - at(k / double(kSteps)));
  }
  return length;
}

Shape shapeOver(const FoldCurveDesc& desc, const FoldGround& ground, double rest) {
  const FoldCurve curve = FoldCurve::make(desc).value();
  FoldCurve::Scratch scratch = curve.makeScratch();
  Shape out{std::vector<double>(curve.pointCount()), {}};
  const double ab = std::accumulate(ground.segments.begin(), ground.segments.end(), 0.0);
  out.state = curve.evaluate(ab, rest, ground, scratch, out.heights);
  return out;
}

TEST(FoldCurve, UnevenGroundKeepsTheLengthOfStraightAndRoundFolds) {
  // A crease: squeezed to a tenth in the middle.
  const std::vector<double> segments = {0.1, 0.1, 0.08, 0.03, 0.01, 0.01, 0.03, 0.08, 0.1, 0.1};
  std::vector<double> lost;
  for (const double s : segments) lost.push_back(0.1 - s);
  for (const auto& [propagation, name] : kFoldPropagations)
    for (const auto& [profile, shape] : kFoldProfiles)
      for (const int crest : {1, 2}) {
        FoldCurveDesc desc{.crest = crest, .h_max = 0.04, .propagation = propagation};
        desc.profile = profile;
        const Shape folded = shapeOver(desc, {segments, lost, {}}, 1);
        EXPECT_NEAR(lengthOver(segments, folded.heights, profile == FoldProfile::Round), 1, 1e-6)
            << name << ' ' << shape;
      }
  const FoldCurveDesc two{.h_max = 0.04, .shares = {0.7, 0.3}};
  const Shape folded = shapeOver(two, {segments, lost, {}}, 1);
  EXPECT_NEAR(lengthOver(segments, folded.heights, false), 1, 1e-9);
}

TEST(FoldCurve, RoundFoldsAreLowerThanStraightOnesOfTheSameLengthAndHaveOneLevel) {
  FoldCurveDesc round{.h_max = 1};
  round.profile = FoldProfile::Round;
  for (const double ab : {0.0, 1e-12, 0.3, 0.9, 0.999999}) {
    const Shape straight = shapeOf({.h_max = 1}, ab);
    const Shape soft = shapeOf(round, ab);
    for (std::size_t i = 0; i < straight.heights.size(); ++i) {
      EXPECT_TRUE(std::isfinite(soft.heights[i]));
      EXPECT_LE(soft.heights[i], straight.heights[i] * (1 + 1e-9)) << ab;
    }
  }
  round.shares = {0.5, 0.5};
  EXPECT_NE(errorOf(round).find("profile"), std::string::npos);
}

TEST(FoldCurve, SqueezedFoldsRiseWhereTheSkinWasLost) {
  const FoldCurveDesc desc{.h_max = 1, .propagation = FoldPropagation::Squeezed};  // at 1, 4, 7
  std::vector<double> segments(10, 0.1), lost(10, 0.0);
  segments[6] = 0.04;
  lost[6] = 0.06;
  const Shape shape = shapeOver(desc, {segments, lost, {}}, 1);
  EXPECT_EQ(shape.heights[1], 0);
  EXPECT_GT(shape.heights[7], 1.5 * shape.heights[4]);
  EXPECT_NEAR(lengthOver(segments, shape.heights, false), 1, 1e-9);
}

TEST(FoldCurve, WhatALimitRefusesGoesToBumpsThatHaveRoom) {
  const std::vector<double> segments(10, 0.08);
  std::vector<double> limits(10, std::numeric_limits<double>::infinity());
  limits[3] = 0.02;  // over the second bump, at 4
  limits[4] = 0.02;  // and over the middle one of the symmetric order, at 5
  for (const auto& [propagation, name] : kFoldPropagations)
    for (const auto saturation : {FoldSaturation::Exceed, FoldSaturation::Clamp}) {
      const FoldCurveDesc desc{.h_max = 0.2, .propagation = propagation, .saturation = saturation};
      const Shape shape = shapeOver(desc, {segments, {}, limits}, 1);
      EXPECT_LE(shape.heights[4], 0.02 * (1 + 1e-12)) << name;
      EXPECT_LE(shape.heights[5], 0.02 * (1 + 1e-12)) << name;
      EXPECT_EQ(shape.state.refused, 0) << name;
      EXPECT_NEAR(foldLength(0.8, shape.heights), 1, 1e-12) << name;
    }
}

TEST(FoldCurve, OnlyWhatFindsNoRoomAnywhereIsRefused) {
  const std::vector<double> segments(10, 0.05), limits(10, 0.03);
  const FoldCurveDesc one{.h_max = 0.2}, two{.h_max = 0.2, .shares = {1.0, 0.0}};
  const Shape coarse = shapeOver(one, {segments, {}, limits}, 1);
  for (const double h : coarse.heights) EXPECT_LE(h, 0.03 * (1 + 1e-12));
  EXPECT_EQ(coarse.state.held, 3u);
  EXPECT_NEAR(foldLength(0.5, coarse.heights) + coarse.state.refused, 1, 1e-12);
  const Shape fine = shapeOver(two, {segments, {}, limits}, 1);
  for (const double h : fine.heights) EXPECT_LE(h, 0.03 * (1 + 1e-12));
  EXPECT_LT(fine.state.refused, coarse.state.refused) << "finer points took some of it";
  EXPECT_NEAR(foldLength(0.5, fine.heights) + fine.state.refused, 1, 1e-12);
}

}  // namespace
}  // namespace derm::fold_curve_test
