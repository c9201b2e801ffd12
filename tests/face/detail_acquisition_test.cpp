#include "derm/face/detail_acquisition.h"

#include <limits>

#include <gtest/gtest.h>

#include "derm/base/parallel.h"

#include "face/maps/height_energy.h"
#include "face/maps/spline_alignment.h"
#include "wrinkled_skin.h"

namespace derm::detail_acquisition_test {
namespace {

using namespace testing_support;
using namespace detail::maps;

/// Grain of several sizes, as skin has it, around 0.5.
Plane skin(int width, int height, std::uint64_t seed = 1) {
  Rng rng(seed);
  Plane out(width, height, 0.5f);
  for (const double size : {1.2, 2.5, 6.0}) {
    Plane grain(width, height);
    for (float& v : grain.values) v = static_cast<float>(gaussian(rng));
    grain = blurred(grain, size);
    const float scale = 0.03f / std::max(1e-6f, robustDeviation(grain, nullptr));
    for (std::size_t i = 0; i < out.size(); ++i) out.values[i] += scale * grain.values[i];
  }
  return out;
}

/// One furrow across the picture.
Relief oneFurrow(int width, int height, double depth = 3, double sigma = 5) {
  Plane z(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      z.row(y)[x] =
          static_cast<float>(-depth * std::exp(-0.5 * std::pow((y - height / 2.0) / sigma, 2)) *
                             std::exp(-0.5 * std::pow((x - width / 2.0) / (width / 5.0), 2)));
  return Relief(std::move(z));
}

Plane shaded(const Plane& albedo, const Relief& relief, const PhotoLight& light) {
  Plane out = albedo;
  const Vec3d d = directionOf(light);
  for (std::size_t i = 0; i < out.size(); ++i)
    out.values[i] *= static_cast<float>(shading(static_cast<double>(relief.p.values[i]),
                                                static_cast<double>(relief.q.values[i]), d));
  return out;
}

PhotoPair furrowOnSkin(int width, int height, const PhotoLight& light) {
  const Plane albedo = skin(width, height);
  PhotoPair out;
  out.light = light;
  out.neutral = imageOf(shaded(albedo, Relief(Plane(width, height)), light));
  out.expression = imageOf(shaded(albedo, oneFurrow(width, height), light));
  return out;
}

Result<SlopeMap> acquire(const PhotoPair& pair, const AcquisitionDesc& desc, Diagnostics& notes) {
  return acquireDetail(std::span(&pair, 1), desc, notes);
}

TEST(DetailPlanes, BlurKeepsMeansAndWideOnesAreNearTheExact) {
  Plane spot(201, 151);
  spot.row(75)[100] = 1;
  for (const double sigma : {0.5, 3.0, 8.0, 17.0}) {
    const Plane b = blurred(spot, sigma);
    double sum = 0, xx = 0;
    for (int y = 0; y < b.height; ++y)
      for (int x = 0; x < b.width; ++x) {
        sum += static_cast<double>(b.at(x, y));
        xx += static_cast<double>(b.at(x, y)) * (x - 100) * (x - 100);
      }
    EXPECT_NEAR(sum, 1, 2e-3) << sigma;
    EXPECT_NEAR(std::sqrt(xx / sum), sigma, 0.03 * sigma + 0.03) << sigma;
  }
}

TEST(DetailPlanes, HalvingAndDoublingKeepSmoothHeights) {
  for (const int size : {64, 61}) {
    Plane z(size, size);
    for (int y = 0; y < size; ++y)
      for (int x = 0; x < size; ++x)
        z.row(y)[x] = static_cast<float>(std::sin(x / 9.0) + std::cos(y / 11.0));
    const Plane back = doubled(halved(z), size, size, 1);
    for (int y = 4; y < size - 4; ++y)
      for (int x = 4; x < size - 4; ++x) EXPECT_NEAR(back.at(x, y), z.at(x, y), 0.012f);
  }
}

TEST(DetailPlanes, SlopesAreIntegrated) {
  const Relief relief = oneFurrow(97, 70);
  const Plane z = integrated(relief.p, relief.q);
  float offset = 0;
  for (std::size_t i = 0; i < z.size(); ++i)
    offset += (z.values[i] - relief.z.values[i]) / static_cast<float>(z.size());
  for (std::size_t i = 0; i < z.size(); ++i)
    EXPECT_NEAR(z.values[i] - offset, relief.z.values[i], 0.06f);
}

TEST(DetailHeights, GradientIsTheEnergysDerivative) {
  Rng rng(2);
  FitTerms terms;
  terms.width = 23;
  terms.height = 37;  // several bands of rows
  terms.noise = 0.02f;
  terms.pull = 1e-3f;
  const auto noise = [&](int w, int h, double low, double high) {
    Plane p(w, h);
    for (float& v : p.values) v = static_cast<float>(rng.uniform(low, high));
    return p;
  };
  for (int i = 0; i < 2; ++i) {
    CellRatio photo{noise(22, 36, 0.8, 1.1), noise(22, 36, 0, 1), i == 0 ? 0.3f : 0.0f, -0.5f};
    terms.photos.push_back(std::move(photo));
  }
  terms.base_p = noise(22, 36, -0.2, 0.2);
  terms.base_q = noise(22, 36, -0.2, 0.2);
  terms.along_xx = noise(23, 37, 0, 1);
  terms.along_xy = noise(23, 37, -1, 1);
  terms.along_yy = noise(23, 37, 0, 1);
  Plane z = noise(23, 37, -0.1, 0.1);
  std::vector<float> gradient(z.size());
  heightEnergy(terms, 0.1f, z.values, gradient.data());
  for (const std::size_t i : {std::size_t{0}, std::size_t{22}, std::size_t{23 * 15 + 7},
                              std::size_t{23 * 16 + 11}, std::size_t{23 * 36 + 3}, z.size() - 1}) {
    const float kept = z.values[i], step = 2e-3f;
    z.values[i] = kept + step;
    const double above = heightEnergy(terms, 0.1f, z.values, nullptr);
    z.values[i] = kept - step;
    const double below = heightEnergy(terms, 0.1f, z.values, nullptr);
    z.values[i] = kept;
    const double slope = (above - below) / (2 * static_cast<double>(step));
    EXPECT_NEAR(static_cast<double>(gradient[i]), slope, 0.01 * std::abs(slope) + 0.2) << i;
  }
  Plane parts(23, 37);
  const double whole = heightEnergy(terms, 0.1f, z.values, nullptr, &parts);
  double sum = 0;
  for (const float v : parts.values) sum += static_cast<double>(v);
  EXPECT_NEAR(sum, whole, 1e-2 * whole) << "all but the pull to 0";
}

TEST(DetailAlignment, RefiningAFieldChangesNothing) {
  SplineField field(300, 200, 128);
  Rng rng(3);
  for (double& v : field.x()) v = rng.uniform(-3, 3);
  for (double& v : field.y()) v = rng.uniform(-3, 3);
  const SplineField fine = field.refined();
  std::vector<float> ax(300), ay(300), bx(300), by(300);
  for (const int y : {0, 63, 64, 150, 199}) {
    field.row(y, ax, ay);
    fine.row(y, bx, by);
    for (std::size_t x = 0; x < 300; ++x) {
      EXPECT_NEAR(ax[x], bx[x], 1e-4f);
      EXPECT_NEAR(ay[x], by[x], 1e-4f);
    }
  }
}

TEST(DetailAcquisition, AFurrowIsFoundThroughAWarpAndColours) {
  PhotoPair pair = furrowOnSkin(256, 192, {0, 30});
  Rng rng(4);
  const Warp warp(256, 192, 2, rng);
  const Plane moved = warp.applied(planeOf(pair.expression));
  // Three channels of one luminance.
  pair.expression = FloatImage(256, 192, 3);
  for (std::size_t i = 0; i < moved.size(); ++i)
    for (std::size_t c = 0; c < 3; ++c) pair.expression.values[3 * i + c] = moved.values[i];
  Diagnostics notes;
  AcquisitionDesc desc;
  desc.mask = FloatImage(256, 192, 1, 1.0f);
  const auto map = acquire(pair, desc, notes);
  ASSERT_TRUE(map.ok()) << map.error().text();
  const Relief relief = oneFurrow(256, 192);
  const SlopeErrors aligned = compare(relief.p, relief.q, map->slopes);
  EXPECT_LT(aligned.steep_deg, 0.3 * aligned.of_flat_deg);
  EXPECT_GT(map->moved_px, 0.2);
  desc.align = false;
  const auto raw = acquire(pair, desc, notes);
  ASSERT_TRUE(raw.ok());
  EXPECT_GT(compare(relief.p, relief.q, raw->slopes).steep_deg, 1.2 * aligned.steep_deg);
}

TEST(DetailAcquisition, LandmarksBridgeAnotherFraming) {
  // The expression is a larger picture, turned by 8 degrees and moved.
  const PhotoPair straight = furrowOnSkin(256, 192, {0, 30});
  const Plane full = planeOf(straight.expression);
  const double turn = 8 * std::numbers::pi / 180, c = std::cos(turn), s = std::sin(turn);
  PhotoPair pair = straight;
  Plane other(300, 260);
  for (int y = 0; y < other.height; ++y)
    for (int x = 0; x < other.width; ++x) {
      const double dx = x - 150.0, dy = y - 130.0;
      other.row(y)[x] = sampleLanczos(full, static_cast<float>(128 + c * dx + s * dy),
                                      static_cast<float>(96 - s * dx + c * dy));
    }
  pair.expression = imageOf(other);
  Rng rng(6);
  for (int i = 0; i < 9; ++i) {
    const double x = 40 + 80 * (i % 3), y = 30 + 60 * (i / 3);
    const std::string label = "p" + std::to_string(i);
    pair.neutral_landmarks.push_back({label, {x + 0.5, y + 0.5}});
    pair.expression_landmarks.push_back(
        {label,
         {150.5 + c * (x - 128) - s * (y - 96) + rng.uniform(-0.7, 0.7),
          130.5 + s * (x - 128) + c * (y - 96) + rng.uniform(-0.7, 0.7)}});
  }
  Diagnostics notes;
  AcquisitionDesc desc;
  desc.mask = polygonMask(256, 192,
                          std::vector<std::vector<Vec2f>>{
                              {Vec2f(20, 20), Vec2f(236, 20), Vec2f(236, 172), Vec2f(20, 172)}});
  const auto map = acquire(pair, desc, notes);
  ASSERT_TRUE(map.ok()) << map.error().text();
  const Relief relief = oneFurrow(256, 192);
  const SlopeErrors e = compare(relief.p, relief.q, map->slopes);
  EXPECT_LT(e.steep_deg, 0.35 * e.of_flat_deg);
  for (int y = 0; y < 192; ++y)
    for (int x = 0; x < 256; ++x)
      if (x < 20 || y < 20 || x >= 236 || y >= 172) {
        EXPECT_EQ(map->slopes.at(x, y, 1), 0.0f) << "nothing beyond the mask";
      }
}

TEST(DetailAcquisition, SameBytesForAnyNumberOfThreads) {
  PhotoPair pair = furrowOnSkin(160, 130, {});
  Diagnostics notes;
  std::vector<FloatImage> slopes;
  for (const int threads : {1, 3}) {
    const ThreadLimit limit(threads);
    const auto map = acquire(pair, {}, notes);
    ASSERT_TRUE(map.ok());
    slopes.push_back(map->slopes);
  }
  EXPECT_EQ(slopes[0], slopes[1]);
}

TEST(DetailAcquisition, TheMaskIsFoundWhereThereIsStructure) {
  const Relief relief = furrows({});
  for (const PhotoLight light : {PhotoLight{}, PhotoLight{0, 20}}) {
    const PhotoPair pair = photosOf(relief, light, 0.01, Bits::Float);
    AcquisitionDesc desc;
    desc.align = false;
    Diagnostics notes;
    const auto map = acquire(pair, desc, notes);
    ASSERT_TRUE(map.ok());
    double steep = 0, both = 0, masked = 0;
    for (std::size_t i = 0; i < relief.p.size(); ++i) {
      const bool is = std::hypot(relief.p.values[i], relief.q.values[i]) > 0.0524f;
      const bool has = map->mask.values[i] > 0.5f;
      steep += is, masked += has, both += is && has;
    }
    EXPECT_GT(both / steep, 0.7) << light.elevation_deg;
    EXPECT_GT(both / masked, 0.7) << light.elevation_deg;
    const PhotoPair flat = photosOf(Relief(Plane(512, 512)), light, 0.01, Bits::Float);
    const auto none = acquire(flat, desc, notes);
    ASSERT_TRUE(none.ok());
    EXPECT_LT(none->masked, 0.02) << light.elevation_deg;
  }
}

TEST(DetailAcquisition, BlackAndWhitePixelsSayNothing) {
  PhotoPair pair = furrowOnSkin(192, 160, {0, 30});
  for (int y = 10; y < 40; ++y)
    for (int x = 10; x < 60; ++x) {
      pair.neutral.at(x, y, 0) = 0;
      pair.expression.at(x + 90, y, 0) = 1;
    }
  Diagnostics notes;
  AcquisitionDesc desc = wholePicture(pair);
  const auto map = acquire(pair, desc, notes);
  ASSERT_TRUE(map.ok());
  const Relief relief = oneFurrow(192, 160);
  for (const float v : map->slopes.values) ASSERT_TRUE(std::isfinite(v));
  const SlopeErrors e = compare(relief.p, relief.q, map->slopes);
  EXPECT_LT(e.steep_deg, 0.3 * e.of_flat_deg);
}

TEST(DetailAcquisition, LargePhotosAreReduced) {
  const PhotoPair pair = furrowOnSkin(400, 300, {0, 30});
  Diagnostics notes;
  AcquisitionDesc desc = wholePicture(pair);
  desc.max_pixels = 40'000;
  const auto map = acquire(pair, desc, notes);
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(map->photo_px, 2);
  EXPECT_EQ(map->slopes.width, 200);
  EXPECT_EQ(notes.count("photo-reduced"), 1u);
}

TEST(DetailAcquisition, ExpressionsAreFusedByTheirMasks) {
  SlopeMap a;
  a.slopes = FloatImage(3, 1, 2);
  a.mask = FloatImage(3, 1, 1);
  SlopeMap b = a;
  a.mask.values = {1, 0.5f, 0};
  b.mask.values = {0, 0.5f, 1};
  a.slopes.values = {0.2f, 0, 0.2f, 0, 0.9f, 0};
  b.slopes.values = {0.9f, 0, 0.4f, 0, -0.3f, 0};
  const auto fused = fuseDetails(std::vector<SlopeMap>{a, b});
  ASSERT_TRUE(fused.ok());
  EXPECT_NEAR(fused->slopes.at(0, 0, 0), 0.2f, 1e-6f);
  EXPECT_NEAR(fused->slopes.at(1, 0, 0), 0.3f, 1e-6f);
  EXPECT_NEAR(fused->slopes.at(2, 0, 0), -0.3f, 1e-6f);
  EXPECT_FALSE(fuseDetails({}).ok());
  b.photo_px = 2;
  EXPECT_FALSE(fuseDetails(std::vector<SlopeMap>{a, b}).ok());
}

TEST(DetailAcquisition, NormalsPointUphillAgainstSlopes) {
  SlopeMap map;
  map.slopes = FloatImage(1, 1, 2);
  map.slopes.values = {0.3f, 0.4f};
  const FloatImage n = normalsOf(map);
  const Vec3d expected = Vec3d(-0.3, 0.4, 1).normalized();
  for (int c = 0; c < 3; ++c) EXPECT_NEAR(n.at(0, 0, c), expected[c], 1e-6) << "y is up";
}

TEST(DetailAcquisition, PolygonsAreFilledByTheEvenOddRule) {
  const std::vector<std::vector<Vec2f>> ring = {
      {Vec2f(2, 2), Vec2f(12, 2), Vec2f(12, 12), Vec2f(2, 12)},
      {Vec2f(5, 5), Vec2f(9, 5), Vec2f(9, 9), Vec2f(5, 9)}};
  const FloatImage mask = polygonMask(16, 16, ring);
  float area = 0;
  for (const float v : mask.values) area += v;
  EXPECT_NEAR(area, 100 - 16, 1e-3f);
  EXPECT_EQ(mask.at(3, 3, 0), 1.0f);
  EXPECT_EQ(mask.at(7, 7, 0), 0.0f);
  EXPECT_EQ(mask.at(14, 7, 0), 0.0f);
  EXPECT_EQ(polygonMask(4, 4, {}), FloatImage(4, 4, 1));
  const std::vector<std::vector<Vec2f>> beyond = {
      {Vec2f(-9, -9), Vec2f(40, -9), Vec2f(40, 40), Vec2f(-9, 40)}};
  EXPECT_EQ(polygonMask(4, 4, beyond), FloatImage(4, 4, 1, 1.0f));
}

TEST(DetailAcquisition, BadInputIsNamed) {
  const PhotoPair good = furrowOnSkin(64, 64, {0, 30});
  const auto fails = [&](auto edit, const char* word) {
    std::vector<PhotoPair> pairs = {good};
    AcquisitionDesc desc;
    desc.mask = FloatImage(64, 64, 1, 1.0f);
    edit(pairs, desc);
    Diagnostics notes;
    const auto r = acquireDetail(pairs, desc, notes);
    ASSERT_FALSE(r.ok()) << word;
    EXPECT_NE(r.error().text().find(word), std::string::npos) << r.error().text();
  };
  fails([](auto& p, auto&) { p.clear(); }, "no photos");
  fails([](auto& p, auto&) { p[0].neutral = FloatImage(8, 8, 1); }, "neutral");
  fails([](auto& p, auto&) { p[0].expression.values[7] = std::numeric_limits<float>::quiet_NaN(); },
        "expression");
  fails([](auto& p, auto&) { p[0].expression = FloatImage(32, 64, 1, 0.5f); }, "need landmarks");
  fails([](auto& p, auto&) { p[0].light.elevation_deg = 89; }, "light");
  fails([](auto&, auto& d) { d.mask = FloatImage(63, 64, 1, 1.0f); },
        "mask: must have one channel");
  fails([](auto&, auto& d) { d.mask = FloatImage(64, 64, 1); }, "mask: is empty");
  fails(
      [](auto& p, auto&) {
        std::fill(p[0].expression.values.begin(), p[0].expression.values.end(), 0.0f);
      },
      "black nor white");
  fails([](auto&, auto& d) { d.method = DetailMethod::Thesis; }, "frontal light only");
  fails(
      [](auto& p, auto& d) {
        p[0].light = {};
        d.fine_grain = true;
      },
      "fine_grain");
  fails([](auto&, auto& d) { d.base_normals = FloatImage(64, 64, 1); }, "base_normals");
  fails([](auto&, auto& d) { d.zones = {{.name = "cheek", .base_normal = Vec3d(1, 0, 0)}}; },
        "cheek");
  fails([](auto&, auto& d) { d.max_pixels = 5; }, "max_pixels");

  const auto with = [](std::vector<Vec2f> at) {
    std::vector<PhotoLandmark> out;
    for (std::size_t i = 0; i < at.size(); ++i)
      out.push_back({std::string(1, static_cast<char>('a' + i)), at[i].template cast<double>()});
    return out;
  };
  const std::vector<Vec2f> corners = {Vec2f(10, 10), Vec2f(50, 10), Vec2f(50, 50),
                                      Vec2f(10, 50), Vec2f(30, 20), Vec2f(30, 40)};
  fails(
      [&](auto& p, auto&) {
        p[0].neutral_landmarks = with({corners[0], corners[1]});
        p[0].expression_landmarks = p[0].neutral_landmarks;
      },
      "2 landmarks in common");
  fails(
      [&](auto& p, auto&) {
        p[0].neutral_landmarks = with(corners);
        p[0].expression_landmarks = p[0].neutral_landmarks;
        std::swap(p[0].expression_landmarks[4].position, p[0].expression_landmarks[5].position);
      },
      "\"e\" and \"f\"");
  fails(
      [&](auto& p, auto&) {
        p[0].neutral_landmarks = with(corners);
        p[0].expression_landmarks = p[0].neutral_landmarks;
        for (PhotoLandmark& l : p[0].expression_landmarks) l.position.x() = 64 - l.position.x();
      },
      "landmarks cross");
  fails(
      [&](auto& p, auto&) {
        p[0].neutral_landmarks = with(corners);
        p[0].expression_landmarks = p[0].neutral_landmarks;
        p[0].expression_landmarks[2].position.x() = NAN;
      },
      "\"c\"");

  PhotoPair odd = good;
  odd.neutral_landmarks = with(corners);
  odd.expression_landmarks = with({corners[0], corners[1], corners[2], corners[3]});
  Diagnostics notes;
  EXPECT_TRUE(acquire(odd, {}, notes).ok());
  EXPECT_EQ(notes.count("landmark-unmatched"), 2u);
}

TEST(DetailAcquisition, CanBeCancelled) {
  const PhotoPair pair = furrowOnSkin(64, 64, {0, 30});
  for (const double when : {0.1, 0.6}) {
    Diagnostics notes;
    const auto r = acquireDetail(std::span(&pair, 1), {}, notes,
                                 [&](double done, std::string_view) { return done < when; });
    ASSERT_FALSE(r.ok());
    EXPECT_EQ(r.error().code, ErrorCode::Cancelled);
  }
}

}  // namespace
}  // namespace derm::detail_acquisition_test
