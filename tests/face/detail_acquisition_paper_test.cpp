#include <gtest/gtest.h>

#include "derm/face/detail_acquisition.h"

#include "wrinkled_skin.h"

/// Furrows whose slopes are known, photographed under one lamp, with no setting of their own. Flat
/// is 9.9 degrees off on all of them.
namespace derm::detail_acquisition_paper_test {
namespace {

using namespace testing_support;

SlopeErrors errorsOf(const Furrows& f, const PhotoLight& light, double noise, Bits bits,
                     AcquisitionDesc (*edit)(AcquisitionDesc) = nullptr) {
  const Relief relief = furrows(f);
  const PhotoPair pair = photosOf(relief, light, noise, bits);
  AcquisitionDesc desc = wholePicture(pair);
  if (edit != nullptr) desc = edit(std::move(desc));
  Diagnostics notes;
  const auto map = acquireDetail(std::span(&pair, 1), desc, notes);
  EXPECT_TRUE(map.ok()) << map.error().text();
  if (!map.ok()) return {99, 0, 99, 0, 0};
  return compare(relief.p, relief.q, map->slopes);
}

struct Case {
  const char* name;
  Furrows furrows;
  PhotoLight light;
  double noise;
  Bits bits;
  double max_deg;
};

class FurrowsOfKnownShape : public ::testing::TestWithParam<Case> {};

TEST_P(FurrowsOfKnownShape, AreFound) {
  const Case& c = GetParam();
  const SlopeErrors e = errorsOf(c.furrows, c.light, c.noise, c.bits);
  RecordProperty("error_deg", std::to_string(e.steep_deg));
  RecordProperty("false_tilt_deg", std::to_string(e.false_tilt_deg));
  EXPECT_NEAR(e.of_flat_deg, 9.9, 0.25);
  EXPECT_LE(e.steep_deg, c.max_deg);
  EXPECT_LE(e.false_tilt_deg, 1.0);
}

constexpr PhotoLight kFrontal = {};
constexpr PhotoLight kAbove20 = {0, 20};
constexpr PhotoLight kAbove30 = {0, 30};
INSTANTIATE_TEST_SUITE_P(
    Frontal, FurrowsOfKnownShape,
    ::testing::Values(
        Case{"s6", {}, kFrontal, 0, Bits::Float, 1.0},
        Case{"s6linear8", {}, kFrontal, 0, Bits::Linear8, 1.2},
        Case{"s6srgb8", {}, kFrontal, 0, Bits::Srgb8, 1.5},
        Case{"s6noisy", {}, kFrontal, 0.01, Bits::Float, 2.4},
        Case{"s3", {.sigma = {3}}, kFrontal, 0, Bits::Float, 2.4},
        Case{"s3noisy", {.sigma = {3}}, kFrontal, 0.01, Bits::Float, 3.8},
        Case{"s12", {.sigma = {12}}, kFrontal, 0, Bits::Float, 2.4},
        Case{"s12noisy", {.sigma = {12}}, kFrontal, 0.01, Bits::Float, 3.8},
        Case{"mixed", {.sigma = {3, 5, 8, 12}}, kFrontal, 0, Bits::Float, 2.4},
        Case{"mixedsrgb8", {.sigma = {3, 5, 8, 12}}, kFrontal, 0, Bits::Srgb8, 3.2},
        Case{"mixednoisy", {.sigma = {3, 5, 8, 12}}, kFrontal, 0.01, Bits::Float, 3.8},
        Case{"dense", {.spacing = 30, .count = 6}, kFrontal, 0, Bits::Float, 2.2},
        Case{"densenoisy", {.spacing = 30, .count = 6}, kFrontal, 0.01, Bits::Float, 3.5}),
    [](const auto& p) { return std::string(p.param.name); });
INSTANTIATE_TEST_SUITE_P(
    FromAbove, FurrowsOfKnownShape,
    ::testing::Values(
        Case{"s6at20", {}, kAbove20, 0.01, Bits::Float, 1.5},
        Case{"s6at30", {}, kAbove30, 0.01, Bits::Float, 1.1},
        Case{"ridgesat20", {.sign = -1}, kAbove20, 0.01, Bits::Float, 1.5},
        Case{"mixedat20", {.sigma = {3, 5, 8, 12}}, kAbove20, 0.01, Bits::Float, 1.5},
        Case{"mixedat20srgb8", {.sigma = {3, 5, 8, 12}}, kAbove20, 0, Bits::Srgb8, 1.5}),
    [](const auto& p) { return std::string(p.param.name); });

TEST(FurrowsAtFrontalLight, RidgesWithTheFlagAreFurrowsTurnedOver) {
  const SlopeErrors furrow = errorsOf({}, kFrontal, 0, Bits::Float);
  const SlopeErrors ridge = errorsOf({.sign = -1}, kFrontal, 0, Bits::Float, [](AcquisitionDesc d) {
    d.zones = {{.name = "all", .fold = FoldKind::Bulge}};
    return d;
  });
  EXPECT_NEAR(ridge.steep_deg, furrow.steep_deg, 0.1);
  const SlopeErrors unsaid = errorsOf({.sign = -1}, kFrontal, 0, Bits::Float);
  EXPECT_GT(unsaid.steep_deg, 15) << "frontal light cannot tell; who assumes wrongly pays";
}

TEST(FurrowsAtFrontalLight, TheThesisRuleIsWorseThanAFlatMapAndTheBlurRuleMuchBetter) {
  const auto thesis = [](AcquisitionDesc d) {
    d.method = DetailMethod::Thesis;
    return d;
  };
  const auto blur = [](AcquisitionDesc d) {
    d.method = DetailMethod::BlurDirection;
    return d;
  };
  const SlopeErrors printed = errorsOf({}, kFrontal, 0, Bits::Float, thesis);
  EXPECT_NEAR(printed.steep_deg, 12.26, 0.2);
  EXPECT_GT(printed.steep_deg, printed.of_flat_deg);
  EXPECT_LE(errorsOf({}, kFrontal, 0, Bits::Float, blur).steep_deg, 3.0);
  EXPECT_LE(errorsOf({}, kFrontal, 0.01, Bits::Float, blur).steep_deg, 4.2);
}

TEST(FurrowsAtFrontalLight, ALightThatIsNotKnownIsRuinous) {
  const Relief relief = furrows({});
  PhotoPair pair = photosOf(relief, kAbove20, 0.01, Bits::Float);
  pair.light = kFrontal;
  Diagnostics notes;
  const auto map = acquireDetail(std::span(&pair, 1), wholePicture(pair), notes);
  ASSERT_TRUE(map.ok()) << map.error().text();
  EXPECT_GT(compare(relief.p, relief.q, map->slopes).steep_deg, 12);
  EXPECT_EQ(notes.count("light-frontal"), 1u);
}

TEST(FurrowsAtFrontalLight, ExposureThatDiffersIsEvenedOut) {
  const Relief relief = furrows({});
  PhotoPair pair = photosOf(relief, kFrontal, 0.01, Bits::Float);
  PhotoPair ramp = pair;
  for (float& v : pair.expression.values) v *= 1.07f;
  // A quarter brighter at the right.
  for (int y = 0; y < 512; ++y)
    for (int x = 0; x < 512; ++x)
      ramp.expression.at(x, y, 0) *= 1 + 0.25f * static_cast<float>(x) / 512;
  Diagnostics notes;
  AcquisitionDesc desc = wholePicture(pair);
  const auto evened = acquireDetail(std::span(&pair, 1), desc, notes);
  desc.even_exposure = false;
  const auto raw = acquireDetail(std::span(&pair, 1), desc, notes);
  desc.even_exposure = true;
  const auto ramped = acquireDetail(std::span(&ramp, 1), desc, notes);
  ASSERT_TRUE(evened.ok() && raw.ok() && ramped.ok());
  EXPECT_LE(compare(relief.p, relief.q, ramped->slopes).steep_deg, 2.5);
  EXPECT_LE(compare(relief.p, relief.q, evened->slopes).steep_deg, 2.5);
  EXPECT_GT(compare(relief.p, relief.q, raw->slopes).steep_deg, 8);
}

TEST(FurrowsAtFrontalLight, RepetitionsAreAveraged) {
  const Relief relief = furrows({});
  std::vector<PhotoPair> pairs;
  for (std::uint64_t seed = 1; seed <= 4; ++seed)
    pairs.push_back(photosOf(relief, kFrontal, 0.02, Bits::Float, seed));
  const AcquisitionDesc desc = wholePicture(pairs[0]);
  Diagnostics notes;
  const auto one = acquireDetail(std::span(pairs.data(), 1), desc, notes);
  const auto four = acquireDetail(pairs, desc, notes);
  ASSERT_TRUE(one.ok() && four.ok());
  EXPECT_LE(compare(relief.p, relief.q, four->slopes).steep_deg, 2.8);
  EXPECT_LT(four->noise, 0.6 * one->noise);
}

TEST(FurrowsOnTiltedSkin, TheZonesNormalIsTakenIntoAccount) {
  // A cheek turned 30 degrees aside, the light at the camera: the base shows as an oblique light.
  const Relief relief = furrows({});
  const double tilt = std::tan(30 * std::numbers::pi / 180);
  Rng rng(5);
  PhotoPair pair;
  pair.neutral = pair.expression = FloatImage(512, 512, 1);
  const Vec3d light = directionOf({});
  for (std::size_t i = 0; i < relief.z.size(); ++i) {
    const double albedo = rng.uniform(0.35, 0.8);
    const auto p = static_cast<double>(relief.p.values[i]);
    const auto q = static_cast<double>(relief.q.values[i]);
    pair.neutral.values[i] = static_cast<float>(albedo * shading(0, -tilt, light));
    pair.expression.values[i] = static_cast<float>(albedo * shading(p, q - tilt, light));
  }
  // Slopes over the skin itself, which looks 30 degrees down.
  Plane over_p = relief.p, over_q = relief.q;
  const Eigen::Vector3d base = Eigen::Vector3d(0, tilt, 1).normalized();
  const auto turn = Eigen::Quaterniond::FromTwoVectors(base, Eigen::Vector3d::UnitZ());
  for (std::size_t i = 0; i < over_p.size(); ++i) {
    const Eigen::Vector3d n =
        turn * Eigen::Vector3d(-static_cast<double>(relief.p.values[i]),
                               tilt - static_cast<double>(relief.q.values[i]), 1);
    over_p.values[i] = static_cast<float>(-n.x() / n.z());
    over_q.values[i] = static_cast<float>(-n.y() / n.z());
  }
  Diagnostics notes;
  AcquisitionDesc desc = wholePicture(pair);
  const auto as_flat = acquireDetail(std::span(&pair, 1), desc, notes);
  desc.zones = {{.name = "cheek", .base_normal = Vec3d(0, -tilt, 1)}};
  const auto tilted = acquireDetail(std::span(&pair, 1), desc, notes);
  ASSERT_TRUE(as_flat.ok() && tilted.ok());
  EXPECT_LE(compare(over_p, over_q, tilted->slopes).steep_deg, 1.5);
  EXPECT_GT(compare(over_p, over_q, as_flat->slopes).steep_deg, 6);
}

}  // namespace
}  // namespace derm::detail_acquisition_paper_test
