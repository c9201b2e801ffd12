// What holds for any control curve: its length, its continuity, its symmetry, its scale.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include <gtest/gtest.h>

#include "derm/base/rng.h"
#include "derm/deform/fold_curve.h"

namespace derm::fold_curve_property_test {
namespace {

constexpr double kSameLength = 1e-12;  // relative

struct Case {
  FoldCurveDesc desc;
  double ab = 1;
};

Case randomCase(Rng& rng, std::size_t levels) {
  Case c;
  c.desc.points = 4 + int(rng.below(56));
  c.desc.crest = 1 + int(rng.below(std::min(3, c.desc.points - 2)));
  c.desc.spacing = int(rng.below(4));
  c.desc.h_max = rng.uniform(0.002, 0.3);
  c.desc.propagation = kFoldPropagations[rng.below(3)].first;
  c.ab = rng.uniform(0.2, 1);
  c.desc.shares.clear();
  double sum = 0;
  for (std::size_t i = 0; i < levels; ++i) sum += c.desc.shares.emplace_back(rng.uniform());
  for (double& share : c.desc.shares) share /= sum;
  return c;
}

std::vector<double> heightsOf(const Case& c, double rest = 1) {
  const FoldCurve curve = FoldCurve::make(c.desc).value();
  FoldCurve::Scratch scratch = curve.makeScratch();
  std::vector<double> heights(curve.pointCount());
  curve.evaluate(c.ab * rest, rest, scratch, heights);
  return heights;
}

TEST(FoldCurveProperty, LengthIsKeptIn11922RandomCases) {
  Rng rng(11922);
  double worst = 0;
  for (int i = 0; i < 11922; ++i) {
    const Case c = randomCase(rng, 1);
    worst = std::max(worst, std::abs(foldLength(c.ab, heightsOf(c)) - 1));
  }
  std::printf("worst relative length error over 11922 cases: %.2g\n", worst);
  EXPECT_LE(worst, kSameLength);
}

TEST(FoldCurveProperty, LengthIsKeptOverSeveralLevelsOfDetail) {
  Rng rng(2000);
  double worst = 0;
  for (int i = 0; i < 4000; ++i) {
    const Case c = randomCase(rng, 2 + rng.below(3));
    worst = std::max(worst, std::abs(foldLength(c.ab, heightsOf(c)) - 1));
  }
  std::printf("worst relative length error, 2 to 4 levels: %.2g\n", worst);
  EXPECT_LE(worst, kSameLength);
}

TEST(FoldCurveProperty, HeightsScaleWithTheCurve) {
  Rng rng(7);
  for (int i = 0; i < 200; ++i) {
    Case c = randomCase(rng, 1 + rng.below(3));
    const std::vector<double> plain = heightsOf(c);
    for (const double scale : {1e-6, 1e6}) {
      Case scaled = c;
      scaled.desc.h_max *= scale;
      const std::vector<double> heights = heightsOf(scaled, scale);
      for (std::size_t p = 0; p < plain.size(); ++p)
        EXPECT_NEAR(heights[p] / scale, plain[p], 1e-9);
    }
  }
}

TEST(FoldCurveProperty, SymmetricCurvesAreMirrorImagesWhereThePointsAllow) {
  Rng rng(3);
  int tried = 0;
  for (int i = 0; i < 500; ++i) {
    Case c = randomCase(rng, 1 + rng.below(2));
    c.desc.propagation = FoldPropagation::Symmetric;
    const int period = c.desc.crest + 1 + c.desc.spacing;
    const int bumps = (c.desc.points - 1 + c.desc.spacing) / period;
    const int left_over = c.desc.points - 1 - (bumps * period - c.desc.spacing);
    if (bumps % 2 == 1 && left_over % 2 == 1) continue;  // the middle bump cannot be in the middle
    const std::vector<double> h = heightsOf(c);
    for (std::size_t p = 0; p < h.size(); ++p) ASSERT_NEAR(h[p], h[h.size() - 1 - p], 1e-12);
    ++tried;
  }
  EXPECT_GT(tried, 200);
}

TEST(FoldCurveProperty, BumpsAreNeverFewerUnderMoreCompression) {
  Rng rng(5);
  for (int i = 0; i < 100; ++i) {
    Case c = randomCase(rng, 1);
    const FoldCurve curve = FoldCurve::make(c.desc).value();
    FoldCurve::Scratch scratch = curve.makeScratch();
    std::vector<double> heights(curve.pointCount());
    std::uint32_t before = 0;
    for (double ab = 1; ab >= 0; ab -= 0.001) {
      const std::uint32_t bumps = curve.evaluate(ab, 1, scratch, heights).bumps;
      EXPECT_GE(bumps, before);
      before = bumps;
    }
  }
}

TEST(FoldCurveProperty, HeightsFollowTheDistanceWithoutJumps) {
  // A new bump starts as sqrt(step * d): a step of 1e-8 in |AB| may move it by 1e-4, never by more.
  Rng rng(9);
  for (int i = 0; i < 300; ++i) {
    Case c = randomCase(rng, 1 + rng.below(3));
    const std::vector<double> h = heightsOf(c);
    c.ab -= 1e-8;
    const std::vector<double> nearby = heightsOf(c);
    for (std::size_t p = 0; p < h.size(); ++p) EXPECT_NEAR(h[p], nearby[p], 2e-4);
  }
}

}  // namespace
}  // namespace derm::fold_curve_property_test
