// The curve along which wrinkles appear, from a film.
#include "derm/face/modulation_fit.h"

#include <cmath>

#include <gtest/gtest.h>

#include "derm/base/rng.h"

namespace derm {
namespace {

std::vector<AppearanceSample> samplesOf(double (*curve)(double), int count, double noise) {
  Rng rng(3);
  std::vector<AppearanceSample> out;
  for (int i = 0; i <= count; ++i) {
    const double way = static_cast<double>(i) / count;
    out.push_back({.way = way, .shown = curve(way) + noise * (rng.uniform() - 0.5)});
  }
  return out;
}

TEST(ModulationFit, FindsTheCurveThroughNoise) {
  const auto square = [](double x) { return x * x; };
  const ModulationFit fit = fitModulation(samplesOf(square, 40, 0.05)).value();
  for (double x = 0; x <= 1; x += 0.05)
    EXPECT_NEAR(static_cast<double>(fit.curve(static_cast<float>(x))), x * x, 0.03) << x;
  EXPECT_LT(fit.rms, 0.03);
  EXPECT_GT(fit.rms_sin4, fit.rms);
  // What is sin^4 is said to be.
  const auto sin4 = [](double x) { return std::pow(std::sin(1.5707963 * x), 4); };
  EXPECT_LT(fitModulation(samplesOf(sin4, 40, 0)).value().rms_sin4, 1e-6);
}

TEST(ModulationFit, NeverFallsAndGoesFromNothingToAll) {
  const auto bump = [](double x) { return x < 0.5 ? 2 * x : 1.6 - 1.2 * x; };
  const ModulationCurve curve = fitModulation(samplesOf(bump, 30, 0.1), 13).value().curve;
  ASSERT_EQ(curve.keys.size(), 13u);
  EXPECT_EQ(curve.keys.front().y(), 0);
  EXPECT_EQ(curve.keys.back().y(), 1);
  for (std::size_t i = 1; i < curve.keys.size(); ++i)
    EXPECT_GE(curve.keys[i].y(), curve.keys[i - 1].y());
}

TEST(ModulationFit, BadSamplesAreNamed) {
  const auto line = [](double x) { return x; };
  EXPECT_FALSE(fitModulation(samplesOf(line, 2, 0)).ok());
  EXPECT_FALSE(fitModulation(samplesOf(line, 20, 0), 2).ok());
  std::vector<AppearanceSample> samples = samplesOf(line, 20, 0);
  samples.resize(8);
  const auto part = fitModulation(samples);
  ASSERT_FALSE(part.ok());
  EXPECT_NE(part.error().text().find("of the way"), std::string::npos) << part.error().text();
  samples = samplesOf(line, 20, 0);
  samples[3].shown = std::nan("");
  EXPECT_FALSE(fitModulation(samples).ok());
}

TEST(WayOfLandmarks, IsTheShareOfTheMotion) {
  const std::vector<PhotoLandmark> rest = {{"a", {10, 10}}, {"b", {50, 10}}, {"c", {30, 90}}};
  const std::vector<PhotoLandmark> full = {{"a", {10, 0}}, {"b", {50, 4}}, {"c", {30, 90.2}}};
  std::vector<PhotoLandmark> now = rest;
  EXPECT_EQ(wayOfLandmarks(rest, now, full).value(), 0);
  now[0].position.y() = 5;
  now[1].position.y() = 7;
  EXPECT_NEAR(wayOfLandmarks(rest, now, full).value(), 0.5, 1e-12);
  EXPECT_EQ(wayOfLandmarks(rest, full, full).value(), 1);
  EXPECT_FALSE(wayOfLandmarks(rest, now, rest).ok());
  EXPECT_FALSE(wayOfLandmarks(rest, {}, full).ok());
}

TEST(ShareOfDetail, IsTheFactorOfTheSlopes) {
  SlopeMap full;
  full.slopes = FloatImage(8, 8, 2, 0.3f);
  full.mask = FloatImage(8, 8, 1, 1.0f);
  SlopeMap now = full;
  for (float& v : now.slopes.values) v *= 0.4f;
  EXPECT_NEAR(shareOfDetail(now, full), 0.4, 1e-6);
  EXPECT_EQ(shareOfDetail(now, SlopeMap{.slopes = FloatImage(8, 8, 2), .mask = full.mask}), 0);
}

}  // namespace
}  // namespace derm
