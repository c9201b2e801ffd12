#include "derm/image/normal_map.h"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

#include "derm/base/rng.h"

namespace derm::normal_map_test {
namespace {

Vec3f fromSlopes(double p, double q) { return Vec3d(-p, -q, 1).normalized().cast<float>(); }

FloatImage onePixel(const Vec3f& n) {
  FloatImage out(1, 1, 3);
  std::copy_n(n.data(), 3, out.values.data());
  return out;
}

Vec3f blended(const Vec3f& base, const std::vector<Vec3f>& details, NormalBlend blend,
              float gamma = 1) {
  std::vector<FloatImage> maps;
  for (const Vec3f& d : details) maps.push_back(onePixel(d));
  std::vector<NormalLayer> layers;
  for (const FloatImage& m : maps) layers.push_back({&m, gamma});
  FloatImage out;
  blendNormals(onePixel(base), layers, blend, out);
  return {out.values[0], out.values[1], out.values[2]};
}

double angleDeg(const Vec3f& a, const Vec3f& b) {
  const Vec3d x = a.cast<double>(), y = b.cast<double>();
  return std::atan2(x.cross(y).norm(), x.dot(y)) * 180 / std::numbers::pi;
}

void expectNear(const Vec3f& a, double x, double y, double z) {
  EXPECT_LT((a.cast<double>() - Vec3d(x, y, z)).cwiseAbs().maxCoeff(), 2e-6) << a.transpose();
}

/// Normals all around, in rows.
FloatImage someNormals(int width, int height, std::uint64_t seed) {
  Rng rng(seed);
  FloatImage out(width, height, 3);
  for (std::size_t i = 0; 3 * i < out.values.size(); ++i) {
    const Vec3f n = fromSlopes(rng.uniform(-0.6, 0.6), rng.uniform(-0.6, 0.6));
    std::copy_n(n.data(), 3, out.values.data() + 3 * i);
  }
  return out;
}

Vec3f at(const FloatImage& image, std::size_t i) {
  return {image.values[3 * i], image.values[3 * i + 1], image.values[3 * i + 2]};
}

TEST(NormalMap, FlatIsTheUsualBlueAndStaysFlat) {
  const FloatImage flat = onePixel(Vec3f::UnitZ());
  for (const NormalGreen green : {NormalGreen::Up, NormalGreen::Down}) {
    const Rgba8Image bytes = encodeNormals8(flat, green);
    EXPECT_EQ(bytes.at(0, 0), (Rgba8{128, 128, 255, 255}));
    EXPECT_EQ(at(decodeNormals(bytes, green), 0), Vec3f(0, 0, 1));
    EXPECT_EQ(at(decodeNormals(encodeNormals16(flat, green), green), 0), Vec3f(0, 0, 1));
  }
  EXPECT_EQ(at(decodeNormals(Rgba8Image(1, 1, {127, 127, 255, 255}), NormalGreen::Up), 0),
            Vec3f(0, 0, 1));
}

TEST(NormalMap, BytesComeBackWithinHalfAStep) {
  const FloatImage normals = someNormals(64, 64, 1);
  double worst8 = 0, worst16 = 0, mean8 = 0;
  const FloatImage back8 =
      decodeNormals(encodeNormals8(normals, NormalGreen::Down), NormalGreen::Down);
  const FloatImage back16 =
      decodeNormals(encodeNormals16(normals, NormalGreen::Up), NormalGreen::Up);
  for (std::size_t i = 0; i < 64 * 64; ++i) {
    worst8 = std::max(worst8, angleDeg(at(normals, i), at(back8, i)));
    worst16 = std::max(worst16, angleDeg(at(normals, i), at(back16, i)));
    mean8 += angleDeg(at(normals, i), at(back8, i)) / (64 * 64);
  }
  EXPECT_LT(worst8, 0.5);
  EXPECT_LT(mean8, 0.3);
  EXPECT_LT(worst16, 0.003);
}

TEST(NormalMap, GreenUpAndDownAreMirrored) {
  const Vec3f n = fromSlopes(0.3, -0.4);
  const Rgba8 up = encodeNormals8(onePixel(n), NormalGreen::Up).at(0, 0);
  const Rgba8 down = encodeNormals8(onePixel(n), NormalGreen::Down).at(0, 0);
  EXPECT_GT(up.g, 128);
  EXPECT_NEAR(up.g - 127.5, 127.5 - down.g, 1.1);
  EXPECT_EQ(up.r, down.r);
}

TEST(NormalMap, WhatIsNoNormalIsFlat) {
  FloatImage odd(3, 1, 3);
  odd.values = {0,
                0,
                0,
                std::numeric_limits<float>::quiet_NaN(),
                0,
                1,
                std::numeric_limits<float>::infinity(),
                0,
                1};
  const Rgba8Image bytes = encodeNormals8(odd, NormalGreen::Up);
  for (int x = 0; x < 3; ++x) EXPECT_EQ(bytes.at(x, 0), (Rgba8{128, 128, 255, 255}));
  EXPECT_EQ(at(decodeNormals(Rgba8Image(1, 1, {127, 128, 0, 255}), NormalGreen::Up), 0),
            Vec3f(0, 0, 1));
}

TEST(NormalBlendTest, KnownValues) {
  const Vec3f n = fromSlopes(0.6, 0);
  expectNear(n, -0.514496, 0, 0.857493);
  expectNear(blended(n, {n}, NormalBlend::Whiteout), -0.813621, 0, 0.581395);
  EXPECT_EQ(blended(n, {fromSlopes(-0.6, 0)}, NormalBlend::Whiteout), Vec3f(0, 0, 1));
  expectNear(blended(n, {n}, NormalBlend::PartialDerivative), -0.768221, 0, 0.640184);
  expectNear(blended(n, {n}, NormalBlend::PartialDerivative, 0.5f), -0.668965, 0, 0.743294);
  const Vec3f other = fromSlopes(0, 0.5);
  expectNear(blended(n, {other}, NormalBlend::PartialDerivative), -0.472866, -0.394055, 0.788110);
  expectNear(blended(n, {other}, NormalBlend::Whiteout), -0.501395, -0.435826, 0.747435);
  expectNear(blended(n, {other}, NormalBlend::Whiteout, 0.5f), -0.510938, -0.228164, 0.828784);
}

TEST(NormalBlendTest, NoStrengthIsTheBaseAndAFlatBaseIsTheDetail) {
  const FloatImage base = someNormals(40, 30, 2), detail = someNormals(40, 30, 3);
  FloatImage flat(40, 30, 3), half(40, 30, 1), out;
  for (std::size_t i = 0; i < 1200; ++i) {
    flat.values[3 * i + 2] = 1;
    half.values[i] = i % 2 == 0 ? 1.0f : 0.0f;
  }
  for (const NormalBlend blend : {NormalBlend::Whiteout, NormalBlend::Reoriented,
                                  NormalBlend::PartialDerivative, NormalBlend::Udn}) {
    const NormalLayer none{&detail, 0};
    blendNormals(base, std::span(&none, 1), blend, out);
    EXPECT_EQ(out, base);
    const NormalLayer some{&detail, 1, &half};
    blendNormals(base, std::span(&some, 1), blend, out);
    for (std::size_t i = 1; i < 1200; i += 2)
      EXPECT_LT(angleDeg(at(out, i), at(base, i)), 1e-5) << "gamma is 0 on every second pixel";
    const NormalLayer all{&detail, 1};
    blendNormals(flat, std::span(&all, 1), blend, out);
    if (blend == NormalBlend::Udn) continue;
    for (std::size_t i = 0; i < 1200; ++i) EXPECT_LT(angleDeg(at(out, i), at(detail, i)), 1e-4);
  }
}

TEST(NormalBlendTest, PartialDerivativeAddsSlopes) {
  Rng rng(4);
  for (int i = 0; i < 200; ++i) {
    const double p = rng.uniform(-0.6, 0.6), q = rng.uniform(-0.6, 0.6);
    const double a = rng.uniform(-0.6, 0.6), b = rng.uniform(-0.6, 0.6);
    const double c = rng.uniform(-0.6, 0.6), d = rng.uniform(-0.6, 0.6);
    EXPECT_LT(angleDeg(blended(fromSlopes(p, q), {fromSlopes(a, b), fromSlopes(c, d)},
                               NormalBlend::PartialDerivative),
                       fromSlopes(p + a + c, q + b + d)),
              1e-5 * 3);
  }
}

/// Deviation from added slopes over slopes in +-0.6, and how much of the base survives.
TEST(NormalBlendTest, NeutralDetailSurvives) {
  const FloatImage base = someNormals(100, 100, 5), detail = someNormals(100, 100, 6);
  for (const auto& [blend, error, gain] : {std::tuple{NormalBlend::Whiteout, 2.25, 1.11},
                                           {NormalBlend::Reoriented, 3.24, 1.18},
                                           {NormalBlend::Udn, 1.31, 1.0}}) {
    FloatImage out;
    const NormalLayer layer{&detail};
    blendNormals(base, std::span(&layer, 1), blend, out);
    double sum = 0, along = 0, own = 0;
    for (std::size_t i = 0; i < 10000; ++i) {
      const Vec3f b = at(base, i), d = at(detail, i), o = at(out, i);
      sum += angleDeg(o, fromSlopes(static_cast<double>(-b.x() / b.z() - d.x() / d.z()),
                                    static_cast<double>(-b.y() / b.z() - d.y() / d.z()))) /
             10000;
      const float slope = b.x() / b.z();
      along += static_cast<double>(slope * (o.x() / o.z()));
      own += static_cast<double>(slope * slope);
    }
    EXPECT_NEAR(sum, error, 0.15);
    EXPECT_NEAR(along / own, gain, 0.08) << "1 = all of the neutral map's slopes are still there";
  }
}

TEST(NormalBlendTest, BytesAreTheFloatsOnes) {
  const FloatImage base = someNormals(130, 70, 7), detail = someNormals(130, 70, 8);
  FloatImage strengths(130, 70, 1);
  Rng rng(9);
  for (float& s : strengths.values)
    s = rng.uniform() < 0.3 ? 0.0f : static_cast<float>(rng.uniform());
  for (const NormalGreen green : {NormalGreen::Up, NormalGreen::Down}) {
    const Rgba8Image base8 = encodeNormals8(base, green), detail8 = encodeNormals8(detail, green);
    for (const NormalBlend blend : {NormalBlend::Whiteout, NormalBlend::Reoriented,
                                    NormalBlend::PartialDerivative, NormalBlend::Udn}) {
      Rgba8Image out8;
      const NormalLayer8 layer8{&detail8, 0.8f, &strengths};
      blendNormals(base8, std::span(&layer8, 1), blend, green, out8);
      const FloatImage from = decodeNormals(base8, green), over = decodeNormals(detail8, green);
      FloatImage out;
      const NormalLayer layer{&over, 0.8f, &strengths};
      blendNormals(from, std::span(&layer, 1), blend, out);
      const Rgba8Image expected = encodeNormals8(out, green);
      for (std::size_t i = 0; i < out8.pixels.size(); ++i) {
        if (strengths.values[i] == 0) {
          EXPECT_EQ(out8.pixels[i], base8.pixels[i]) << "untouched to the byte";
          continue;
        }
        EXPECT_LE(std::abs(out8.pixels[i].r - expected.pixels[i].r), 1);
        EXPECT_LE(std::abs(out8.pixels[i].g - expected.pixels[i].g), 1);
        EXPECT_LE(std::abs(out8.pixels[i].b - expected.pixels[i].b), 1);
      }
    }
  }
}

/// Any number of pixels and maps, over the base itself: each pixel is what it is alone.
TEST(NormalBlendTest, PixelsDoNotDependOnTheirNeighbours) {
  const Rgba8Image base = encodeNormals8(someNormals(61, 1, 7), NormalGreen::Up);
  const Rgba8Image a = encodeNormals8(someNormals(61, 1, 8), NormalGreen::Up);
  const Rgba8Image b = encodeNormals8(someNormals(61, 1, 9), NormalGreen::Up);
  FloatImage strengths(61, 1, 1);
  for (int x = 0; x < 61; ++x) strengths.at(x, 0, 0) = x % 7 == 0 ? 0.0f : float(x) / 60;
  for (const NormalBlend blend : {NormalBlend::Whiteout, NormalBlend::Reoriented,
                                  NormalBlend::PartialDerivative, NormalBlend::Udn}) {
    Rgba8Image all = base;
    const std::array<NormalLayer8, 2> layers = {NormalLayer8{&a, 1, &strengths},
                                                NormalLayer8{&b, 0.3f, nullptr}};
    blendNormals(all, layers, blend, NormalGreen::Up, all);
    for (int x = 0; x < 61; ++x) {
      const Rgba8Image own(1, 1, base.at(x, 0)), one(1, 1, a.at(x, 0)), other(1, 1, b.at(x, 0));
      FloatImage strength(1, 1, 1);
      strength.at(0, 0, 0) = strengths.at(x, 0, 0);
      const std::array<NormalLayer8, 2> alone = {NormalLayer8{&one, 1, &strength},
                                                 NormalLayer8{&other, 0.3f, nullptr}};
      Rgba8Image out;
      blendNormals(own, alone, blend, NormalGreen::Up, out);
      EXPECT_EQ(all.at(x, 0), out.at(0, 0)) << x;
    }
  }
}

}  // namespace
}  // namespace derm::normal_map_test
