#include "derm/face/photo_light.h"

#include <cmath>

#include <gtest/gtest.h>

#include "derm/base/rng.h"

namespace derm::photo_light_test {
namespace {

TEST(PhotoLight, AnglesAndDirections) {
  EXPECT_TRUE(directionOf({}).isApprox(Vec3d::UnitZ()));
  EXPECT_NEAR(directionOf({0, 30}).y(), 0.5, 1e-12) << "from above";
  EXPECT_NEAR(directionOf({30, 0}).x(), 0.5, 1e-12) << "from the picture's right";
  const PhotoLight light{-20, 35};
  EXPECT_NEAR(lightFrom(directionOf(light)).azimuth_deg, -20, 1e-9);
  EXPECT_NEAR(lightFrom(directionOf(light)).elevation_deg, 35, 1e-9);
  EXPECT_TRUE(validate(light).ok());
  EXPECT_FALSE(validate(PhotoLight{90, 0}).ok());
  EXPECT_FALSE(validate(PhotoLight{0, NAN}).ok());
}

/// A sphere of one albedo with freckles, a highlight and noise.
struct Ball {
  FloatImage luminance = FloatImage(120, 120, 1);
  FloatImage normals = FloatImage(120, 120, 3);
  Ball(const PhotoLight& light, double ambient) {
    Rng rng(1);
    const Vec3d d = directionOf(light), half = (d + Vec3d::UnitZ()).normalized();
    for (int y = 0; y < 120; ++y)
      for (int x = 0; x < 120; ++x) {
        const double nx = (x - 60) / 55.0, ny = (60 - y) / 55.0, rest = 1 - nx * nx - ny * ny;
        if (rest <= 0) continue;
        const Vec3d n(nx, ny, std::sqrt(rest));
        double v = ambient + (0.6 - ambient) * std::max(0.0, n.dot(d));
        if (rng.uniform() < 0.05) v *= 0.5;
        v += 0.4 * std::pow(std::max(0.0, n.dot(half)), 80);
        luminance.at(x, y, 0) = static_cast<float>(v + rng.uniform(-0.01, 0.01));
        for (int c = 0; c < 3; ++c) normals.at(x, y, c) = static_cast<float>(n[c]);
      }
  }
};

TEST(PhotoLight, IsReadFromAKnownSurface) {
  for (const PhotoLight light : {PhotoLight{}, PhotoLight{0, 30}, PhotoLight{-40, 20}})
    for (const double ambient : {0.0, 0.15}) {
      const Ball ball(light, ambient);
      const auto found = estimateLight(ball.luminance, ball.normals, {});
      ASSERT_TRUE(found.ok()) << found.error().text();
      const double off =
          std::acos(std::min(1.0, directionOf(found->light).dot(directionOf(light))));
      EXPECT_LT(off * 57.3, 2.0) << light.azimuth_deg << ' ' << light.elevation_deg << ' '
                                 << ambient;
      EXPECT_LT(found->residual, 0.03);
      EXPECT_NEAR(found->ambient, ambient / 0.6, 0.05);
    }
}

TEST(PhotoLight, WhatCannotBeToldIsAnError) {
  const Ball ball({}, 0);
  FloatImage none(120, 120, 1);
  EXPECT_FALSE(estimateLight(ball.luminance, ball.normals, none).ok()) << "an empty mask";
  EXPECT_FALSE(estimateLight(FloatImage(10, 10, 1), ball.normals, {}).ok());
  FloatImage flat(120, 120, 3);
  for (std::size_t i = 2; i < flat.values.size(); i += 3) flat.values[i] = 1;
  EXPECT_FALSE(estimateLight(FloatImage(120, 120, 1, 0.5f), flat, {}).ok());
}

}  // namespace
}  // namespace derm::photo_light_test
