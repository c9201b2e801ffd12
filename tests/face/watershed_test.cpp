#include "face/watershed.h"

#include <cmath>

#include <gtest/gtest.h>

#include "face/depth_map.h"

namespace derm::detail::depth::watershed_test {
namespace {

/// A picture that is all head.
DepthMap fullPicture(int size) {
  DepthMap out;
  out.depth = Map(size, 0);
  out.inside.assign(out.depth.values.size(), 1);
  out.rim_distance = Map(size, 100);
  return out;
}

template <class Function>
Map mapOf(int size, const Function& f) {
  Map out(size, 0);
  for (int y = 0; y < size; ++y)
    for (int x = 0; x < size; ++x) out.at(x, y) = static_cast<float>(f(x + 0.5, y + 0.5));
  return out;
}

/// Two bowls, the right one shallower.
double twoBowls(double x, double y) {
  const double left = std::hypot(x - 20.3, y - 30.7), right = std::hypot(x - 44.1, y - 31.2);
  return std::min(left * left, right * right + 40);
}

TEST(Watershed, FindsBasinsAndTheirFeet) {
  const DepthMap head = fullPicture(64);
  const Basins basins = floodedBasins(mapOf(64, twoBowls), head, {});
  ASSERT_EQ(basins.seeds.size(), 2u);
  EXPECT_LT((basins.seeds[0].position - Pixel(20.3, 30.7)).norm(), 1e-3);
  EXPECT_LT((basins.seeds[1].position - Pixel(44.1, 31.2)).norm(), 1e-3);
  for (const Seed& seed : basins.seeds) EXPECT_EQ(basins.at(seed.position), seed.basin);
  // The border is where both have the same value.
  EXPECT_EQ(basins.at({5, 5}), basins.seeds[0].basin);
  EXPECT_EQ(basins.at({31, 31}), basins.seeds[0].basin);
  EXPECT_EQ(basins.at({35, 31}), basins.seeds[1].basin);
  EXPECT_EQ(basins.at({63.9, 63.9}), basins.seeds[1].basin);
  EXPECT_EQ(basins.at({-1, 5}), Basins::kNone);
  EXPECT_EQ(basins.at({5, 64}), Basins::kNone);
}

TEST(Watershed, ShallowBasinsJoinTheDeeperOne) {
  const DepthMap head = fullPicture(64);
  const Basins basins = floodedBasins(mapOf(64, twoBowls), head, {.merge_depth = 0.5});
  ASSERT_EQ(basins.seeds.size(), 1u);
  EXPECT_LT((basins.seeds[0].position - Pixel(20.3, 30.7)).norm(), 1e-3);
  EXPECT_EQ(basins.at({60, 31}), basins.seeds[0].basin);
}

TEST(Watershed, NoSeedsNearTheRimNorNearEachOther) {
  DepthMap head = fullPicture(64);
  EXPECT_EQ(floodedBasins(mapOf(64, twoBowls), head, {.min_spacing_px = 30}).seeds.size(), 1u);
  for (int y = 0; y < 64; ++y)
    for (int x = 40; x < 64; ++x) {
      head.inside[head.depth.index(x, y)] = x < 50;
      head.rim_distance.at(x, y) = static_cast<float>(std::max(50 - x, 0));
    }
  const Basins basins = floodedBasins(mapOf(64, twoBowls), head, {});
  EXPECT_EQ(basins.seeds.size(), 1u);
  EXPECT_EQ(basins.at({55, 30}), Basins::kNone);
  EXPECT_NE(basins.at({45, 30}), Basins::kNone);
}

TEST(Watershed, FlatAndNoisyMapsAreFloodedToo) {
  const DepthMap head = fullPicture(33);
  EXPECT_EQ(floodedBasins(Map(33, 1), head, {}).seeds.size(), 1u);
  const Basins chequered = floodedBasins(
      mapOf(33, [](double x, double y) { return (int(x) % 2 == 0 && int(y) % 2 == 0) ? -1 : 1; }),
      head, {.merge_depth = 0, .min_spacing_px = 0});
  EXPECT_EQ(chequered.seeds.size(), 17u * 17u);
  for (const std::uint32_t basin : chequered.basin_of_pixel) EXPECT_NE(basin, Basins::kNone);
}

TEST(DepthDescriptors, LaplacianOfAParaboloidIsItsBend) {
  const Map bend =
      laplacian(mapOf(64, [](double x, double y) { return 0.5 * x * x - 2 * y * y; }), 4);
  EXPECT_NEAR(bend.at(32, 32), 1 - 4, 1e-3);
}

TEST(DepthDescriptors, SymmetryIsZeroOnTheAxis) {
  const Map depth = mapOf(65, [](double x, double y) {
    return 3 * std::cos(0.2 * (x - 32.5)) + std::cos(0.3 * (y - 32.5));
  });
  const Map absolute = symmetry(depth, 8, true);
  EXPECT_NEAR(absolute.at(32, 32), 0, 1e-3);
  EXPECT_GT(absolute.at(28, 32), 1);
  EXPECT_GT(absolute.at(32, 28), 1);
  // As printed it is a slope: also 0 where there is none of it on average.
  const Map ramp = symmetry(mapOf(65, [](double x, double y) { return 2 * x + y; }), 3, false);
  EXPECT_NEAR(ramp.at(32, 32), 7 * 2 * (1 + 2 + 3) * (2 + 1), 1e-2);
}

TEST(DepthDescriptors, BlurKeepsTheMeanAndSpreadsAPeak) {
  Map peak(65, 0);
  peak.at(32, 32) = 1;
  const Map blur = blurred(peak, 3);
  double sum = 0, squares = 0;
  for (int y = 0; y < 65; ++y)
    for (int x = 0; x < 65; ++x) {
      sum += double(blur.at(x, y));
      squares += double(blur.at(x, y)) * (x - 32) * (x - 32);
    }
  EXPECT_NEAR(sum, 1, 1e-5);
  EXPECT_NEAR(squares, 9, 0.1);
  EXPECT_EQ(blurred(peak, 0).values, peak.values);
}

/// Upper half of a unit sphere as rings of triangles, without its cap if asked.
TriMesh dome(bool with_cap) {
  constexpr std::uint32_t kRings = 24, kAround = 48;
  TriMesh mesh;
  for (std::uint32_t r = 0; r <= kRings; ++r)
    for (std::uint32_t k = 0; k < kAround; ++k) {
      const double polar = 1.5707963 * (1 - double(r) / kRings), turn = 6.2831853 * k / kAround;
      mesh.positions.emplace_back(float(std::sin(polar) * std::cos(turn)),
                                  float(std::sin(polar) * std::sin(turn)), float(std::cos(polar)));
    }
  for (std::uint32_t r = 0; r < kRings - (with_cap ? 0 : 2); ++r)
    for (std::uint32_t k = 0; k < kAround; ++k) {
      const std::uint32_t a = r * kAround + k, b = r * kAround + (k + 1) % kAround;
      mesh.triangles.push_back({a, b, b + kAround});
      mesh.triangles.push_back({a, b + kAround, a + kAround});
    }
  return mesh;
}

TEST(DepthMaps, ADomeIsDrawnToScaleWithItsHoleFilled) {
  for (const bool with_cap : {true, false}) {
    const TriMesh mesh = dome(with_cap);
    const Result<DepthMap> map = drawDepth(mesh, 200);
    ASSERT_TRUE(map.ok());
    EXPECT_NEAR(map->pixels_per_metre, 92, 1e-4);  // 4 % margin on both sides of 2 m
    EXPECT_LT((map->low - Pixel(8, 8)).norm(), 1e-4);
    EXPECT_LT((map->high - Pixel(192, 192)).norm(), 1e-4);
    EXPECT_LT((map->pixelOf(Vec3d(0, 1, 0)) - Pixel(100, 8)).norm(), 1e-4);
    EXPECT_TRUE(map->contains({100, 100}));
    EXPECT_FALSE(map->contains({10, 10}));
    EXPECT_NEAR(map->depth.sample({100, 100}) / 92, with_cap ? 1 : 0.99, 0.01);
    EXPECT_NEAR(map->depth.sample({100 + 46, 100}) / 92, std::sqrt(0.75), 0.01);
    EXPECT_NEAR(map->depth.at(3, 3), 0, 2);
    EXPECT_NEAR(map->rim_distance.at(100, 50), 42, 5);
    EXPECT_EQ(map->rim_distance.at(3, 3), 0);
    const TriangleTree tree(std::span<const Vec3f>(mesh.positions), mesh.triangles);
    const Vec3f under =
        positionAt(pointUnder({130, 70}, *map, tree), mesh.triangles, mesh.positions);
    EXPECT_NEAR(under.x(), 30 / 92.0f, 1e-4);
    EXPECT_NEAR(under.y(), 30 / 92.0f, 1e-4);
    // In the hole and beside the head: the nearest.
    EXPECT_GT(positionAt(pointUnder({100, 100}, *map, tree), mesh.triangles, mesh.positions).z(),
              0.98f);
    EXPECT_NEAR(positionAt(pointUnder({199, 100}, *map, tree), mesh.triangles, mesh.positions).x(),
                1, 0.02);
  }
}

TEST(DepthMaps, WhatLooksAwayIsNotDrawn) {
  TriMesh mesh = dome(true);
  for (Triangle& t : mesh.triangles) std::swap(t[0], t[1]);
  const Result<DepthMap> map = drawDepth(mesh, 100);
  ASSERT_FALSE(map.ok());
  EXPECT_NE(map.error().text().find("nothing is to be seen from the front"), std::string::npos);
  EXPECT_FALSE(drawDepth({}, 100).ok());
}

}  // namespace
}  // namespace derm::detail::depth::watershed_test
