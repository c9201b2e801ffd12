#include "derm/mesh/uv_raster.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

namespace derm::uv_raster_test {
namespace {

const std::vector<Vec2f> kSquare = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
const std::vector<Triangle> kTwo = {{0, 1, 2}, {0, 2, 3}};

std::vector<Vec2f> scaled(const std::vector<Vec2f>& uvs, float by, const Vec2f& shift) {
  std::vector<Vec2f> out;
  for (const Vec2f& uv : uvs) out.push_back(by * uv + shift);
  return out;
}

TEST(UvRaster, EveryTexelOfACoveredSquareLeadsBackToItsOwnUv) {
  const UvRaster raster = rasteriseUvs(kSquare, kTwo, {.width = 13, .height = 8});
  EXPECT_EQ(raster.covered_texels, 13u * 8u);
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 13; ++x) {
      const SurfacePoint& p = raster.points[raster.texel(x, y)];
      ASSERT_TRUE(validate(p, kTwo.size(), "texel"));
      const Vec2f uv = valueAt<Vec2f>(p, kTwo, kSquare);
      EXPECT_NEAR(uv.x() * 13, x + 0.5, 1e-4);
      EXPECT_NEAR(uv.y() * 8, y + 0.5, 1e-4);
      EXPECT_EQ(raster.rings[raster.texel(x, y)], 0);
    }
  // The diagonal goes through middles of texels of a square picture: shared, not overlapping.
  const UvRaster square = rasteriseUvs(kSquare, kTwo, {.width = 16, .height = 16});
  EXPECT_EQ(square.covered_texels, 256u);
  EXPECT_EQ(square.overlapping_texels, 0u);
  EXPECT_FALSE(square.first_overlap);
}

TEST(UvRaster, MirroredChartsAreReportedAndTheLastTriangleCounts) {
  const std::vector<Triangle> stacked = {{0, 1, 2}, {0, 2, 3}, {0, 1, 2}, {2, 1, 0}};
  const UvRaster raster = rasteriseUvs(kSquare, stacked, {.width = 32, .height = 32});
  EXPECT_NEAR(double(raster.overlapping_texels), 32 * 32 / 2, 32);
  ASSERT_TRUE(raster.first_overlap);
  EXPECT_EQ(*raster.first_overlap, (std::array<std::uint32_t, 2>{0, 2}));
  std::set<std::uint32_t> seen;
  for (const SurfacePoint& p : raster.points) seen.insert(p.triangle);
  EXPECT_EQ(seen, (std::set<std::uint32_t>{1, 3}));
}

TEST(UvRaster, PaddingAddsRingsOfTheNearestPoints) {
  const std::vector<Vec2f> island = scaled(kSquare, 0.5f, {0.25f, 0.25f});
  const UvRaster raster = rasteriseUvs(island, kTwo, {.width = 16, .height = 16, .padding = 2});
  EXPECT_EQ(raster.covered_texels, 64u);
  std::size_t filled = 0;
  for (int y = 0; y < 16; ++y)
    for (int x = 0; x < 16; ++x) {
      const std::size_t at = raster.texel(x, y);
      const auto beyond = [](int v) { return v < 4 ? 4 - v : v > 11 ? v - 11 : 0; };
      const int ring = std::max(beyond(x), beyond(y));
      ASSERT_EQ(raster.hasSurface(at), ring <= 2) << x << "," << y;
      if (ring > 2) continue;
      ++filled;
      EXPECT_EQ(raster.rings[at], ring);
      ASSERT_TRUE(validate(raster.points[at], kTwo.size(), "texel"));
      const Vec2f uv = 16 * valueAt<Vec2f>(raster.points[at], kTwo, island);
      // The nearest point of the island's square from 4 to 12.
      EXPECT_NEAR(uv.x(), std::clamp(x + 0.5f, 4.0f, 12.0f), 1e-4f);
      EXPECT_NEAR(uv.y(), std::clamp(y + 0.5f, 4.0f, 12.0f), 1e-4f);
    }
  EXPECT_EQ(filled, 144u);
  // More rings than there is room for are no endless work.
  EXPECT_TRUE(
      rasteriseUvs(island, kTwo, {.width = 16, .height = 16, .padding = 1 << 30}).hasSurface(0));
}

TEST(UvRaster, WhatLeavesTheSquareIsCutOffAndCounted) {
  const UvRaster half =
      rasteriseUvs(scaled(kSquare, 1, {0.5f, 0}), kTwo, {.width = 8, .height = 8});
  EXPECT_EQ(half.covered_texels, 32u);
  EXPECT_EQ(half.outside_corners, 3u);
  const UvRaster far =
      rasteriseUvs(scaled(kSquare, 1e30f, {-2e30f, 5e29f}), kTwo, {.width = 8, .height = 8});
  EXPECT_EQ(far.covered_texels, 0u);
  EXPECT_EQ(far.outside_corners, 6u);
  const std::vector<Vec2f> flat(4, Vec2f(0.5f, 0.5f));
  const UvRaster none = rasteriseUvs(flat, kTwo, {.width = 8, .height = 8, .padding = 3});
  EXPECT_EQ(none.covered_texels, 0u);
  EXPECT_EQ(none.flat_triangles, 2u);
}

TEST(UvRaster, ChartsMayLieInAnySquareOfTheTexture) {
  const Vec2f away(3, -2);
  const std::vector<Vec2f> inner = scaled(kSquare, 0.5f, {0.25f, 0.25f});
  const std::vector<Vec2f> beside = scaled(inner, 1, away);
  EXPECT_EQ(squareOfMost(inner, kTwo), Vec2f(0, 0));
  EXPECT_EQ(squareOfMost(beside, kTwo), away);
  EXPECT_EQ(uvsInSquare(beside, away), inner);
  EXPECT_EQ(uvsInSquare(inner, Vec2f(0, 0)), inner);
  // The rim belongs to the square, and what is too far away to none.
  EXPECT_EQ(squareOfMost(kSquare), Vec2f(0, 0));
  EXPECT_EQ(squareOfMost(scaled(kSquare, 1, {1e6f, 0})), Vec2f(0, 0));
  EXPECT_EQ(squareOfMost({}), Vec2f(0, 0));
}

}  // namespace
}  // namespace derm::uv_raster_test
