// The control curve's numbers and figures: Larboulette, Cani, Arnaldi 2006, section 3.2.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "derm/deform/fold_curve.h"

namespace derm::fold_curve_paper_test {
namespace {

std::vector<double> heightsOf(const FoldCurveDesc& desc, double ab) {
  const FoldCurve curve = FoldCurve::make(desc).value();
  FoldCurve::Scratch scratch = curve.makeScratch();
  std::vector<double> heights(curve.pointCount());
  curve.evaluate(ab, 1, scratch, heights);
  return heights;
}

/// The curve as a picture in letters, in true proportions (a letter is twice as high as wide).
std::string picture(const std::vector<double>& heights, double ab) {
  constexpr int kColumns = 100;
  const double cell = 1.0 / kColumns;
  const double top = std::max(2 * cell, *std::max_element(heights.begin(), heights.end()));
  const int rows = int(std::ceil(top / (2 * cell))) + 1;
  std::vector<std::string> lines(std::size_t(rows), std::string(kColumns + 1, ' '));
  for (int c = 0; c <= int(ab * kColumns); ++c) {
    const double at = std::min(c * cell / ab, 1.0) * double(heights.size() - 1);
    const auto i = std::min(std::size_t(at), heights.size() - 2);
    const double h = heights[i] + (at - double(i)) * (heights[i + 1] - heights[i]);
    lines[std::size_t(rows - 1 - int(std::lround(h / (2 * cell))))][std::size_t(c)] = '*';
  }
  std::string out;
  for (const std::string& line : lines)
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  return out;
}

FoldCurveDesc elevenPoints(FoldPropagation propagation) {
  return {.points = 11, .spacing = 1, .crest = 1, .h_max = 0.06, .propagation = propagation};
}

TEST(FoldCurvePaper, Fig9_BumpsSpreadFromAWhileItNearsB) {
  std::puts("Figure 9: A comes nearer to B, bumps appear at A and spread");
  std::size_t raised_before = 0;
  for (const double ab : {1.0, 0.97, 0.93, 0.9, 0.87}) {
    const std::vector<double> h = heightsOf(elevenPoints(FoldPropagation::FromA), ab);
    std::printf("|AB| = %.2f\n%s", ab, picture(h, ab).c_str());
    std::size_t raised = 0;
    for (const std::size_t at : {1u, 4u, 7u}) {
      raised += h[at] > 0;
      if (at == 1) continue;
      EXPECT_LE(h[at], h[at - 3] + 1e-15) << "bumps grow one after the other";
    }
    EXPECT_GE(raised, raised_before);
    raised_before = raised;
  }
  EXPECT_EQ(raised_before, 3u);
}

TEST(FoldCurvePaper, Fig10_OneBumpTakesUpTheLostLength) {
  const double h = foldHeight(0.1, 0.9 / 4);
  EXPECT_NEAR(h, 0.15811388, 5e-9);
  EXPECT_NEAR(foldGain(h, 0.9 / 4), 0.1, 1e-16);
  const std::vector<double> curve = heightsOf(
      {.points = 5, .spacing = 3, .h_max = 1, .propagation = FoldPropagation::FromA}, 0.9);
  std::printf("Figure 10: n = 5, l = 1, |AB| = 0.9: h = %.8f\n%s", h, picture(curve, 0.9).c_str());
  EXPECT_NEAR(curve[1], 0.15811388, 5e-9);
}

TEST(FoldCurvePaper, PropagationsGiveTheWorkedHeights) {
  const auto from_a = heightsOf(elevenPoints(FoldPropagation::FromA), 0.9);
  EXPECT_NEAR(from_a[1], 0.06, 1e-12);
  EXPECT_NEAR(from_a[4], 0.06, 1e-12);
  EXPECT_NEAR(from_a[7], 0.051447, 5e-7);
  const auto symmetric = heightsOf(elevenPoints(FoldPropagation::Symmetric), 0.9);
  EXPECT_NEAR(symmetric[1], 0.06, 1e-12);
  EXPECT_NEAR(symmetric[5], 0.051447, 5e-7);
  EXPECT_NEAR(symmetric[9], 0.06, 1e-12);
  const auto simultaneous = heightsOf(elevenPoints(FoldPropagation::Simultaneous), 0.9);
  for (const std::size_t at : {1u, 4u, 7u}) EXPECT_NEAR(simultaneous[at], 0.057252, 5e-7);
  for (const auto& [propagation, name] : kFoldPropagations) {
    const auto saturated = heightsOf(elevenPoints(propagation), 0.8);
    EXPECT_NEAR(*std::max_element(saturated.begin(), saturated.end()), 0.080277, 5e-7) << name;
  }
}

TEST(FoldCurvePaper, Fig11_SpacingAndCrestChangeThePatternNotTheHeight) {
  std::puts("Figure 11: spacing 1, spacing 2, crest of 2 points");
  const FoldCurveDesc base{.points = 13, .h_max = 1, .propagation = FoldPropagation::Simultaneous};
  for (const auto& [spacing, crest] : {std::pair{1, 1}, {2, 1}, {1, 2}}) {
    FoldCurveDesc desc = base;
    desc.spacing = spacing;
    desc.crest = crest;
    const FoldCurve curve = FoldCurve::make(desc).value();
    EXPECT_EQ(curve.bumpCount(), (12 + spacing) / (crest + 1 + spacing));
    const std::vector<double> h = heightsOf(desc, 0.85);
    std::fputs(picture(h, 0.85).c_str(), stdout);
    EXPECT_NEAR(*std::max_element(h.begin(), h.end()),
                foldHeight(0.15 / curve.bumpCount(), 0.85 / 12), 1e-12);
  }
}

TEST(FoldCurvePaper, Fig12_FinerLevelsRideOnCoarserOnes) {
  std::puts("Figure 12: one level, then shares 0.7 and 0.3");
  FoldCurveDesc desc{.points = 11,
                     .h_max = 1,
                     .propagation = FoldPropagation::Simultaneous,
                     .shares = {0.7, 0.3},
                     .fine_h_max = {1}};
  const std::vector<double> fine = heightsOf(desc, 0.85);
  ASSERT_EQ(fine.size(), 21u);
  std::fputs(picture(fine, 0.85).c_str(), stdout);
  EXPECT_NEAR(foldLength(0.85, fine), 1, 1e-12);
  // On flat segments the ellipse gives the flat formula.
  EXPECT_NEAR(fine[5], foldHeight(0.3 * 0.15 / 10, 0.85 / 20), 1e-12);
  // Lifting by the flat formula on slopes would not keep the length.
  std::vector<double> naive = fine;
  for (std::size_t i = 1; i < naive.size(); i += 2)
    naive[i] = (fine[i - 1] + fine[i + 1]) / 2 + foldHeight(0.3 * 0.15 / 10, 0.85 / 20);
  EXPECT_GT(std::abs(foldLength(0.85, naive) - 1), 1e-3);
}

}  // namespace
}  // namespace derm::fold_curve_paper_test
