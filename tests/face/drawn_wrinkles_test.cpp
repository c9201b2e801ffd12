// Normal maps that are made without photos: lines by rule, and sculpts.
#include "derm/face/drawn_wrinkles.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "derm/base/parallel.h"
#include "derm/cast/cast.h"
#include "derm/face/face_points.h"
#include "derm/face/sculpt_map.h"
#include "derm/mesh/normals.h"

namespace derm {
namespace {

const Character& woman() {
  static const Character head = makeCastMember("woman").value();
  return head;
}

FloatImage drawn(std::string_view sets,
                 const DrawnWrinklesDesc& desc = {.width = 256, .height = 256}) {
  Diagnostics notes;
  return drawWrinkles(woman().mesh, woman().points, sets, desc, notes).value();
}

/// [deg] from flat.
double tiltAt(const FloatImage& normals, std::size_t i) {
  return std::acos(std::clamp(static_cast<double>(normals.values[3 * i + 2]), -1.0, 1.0)) * 57.3;
}

double largestTilt(const FloatImage& normals) {
  double out = 0;
  for (std::size_t i = 0; 3 * i < normals.values.size(); ++i)
    out = std::max(out, tiltAt(normals, i));
  return out;
}

TEST(DrawnWrinkles, AreSteepOnALittleOfTheSkinAndFlatElsewhere) {
  for (const std::string_view set : drawnWrinkleNames()) {
    const FloatImage map = drawn(set);
    EXPECT_GT(largestTilt(map), 8) << set;
    EXPECT_LT(largestTilt(map), 70) << set;
    std::size_t tilted = 0;
    for (std::size_t i = 0; 3 * i < map.values.size(); ++i)
      tilted += tiltAt(map, i) > 0.5 ? 1u : 0u;
    EXPECT_LT(tilted, map.values.size() / 3 / 10) << set;
  }
}

/// Heads of several textures have theirs side by side, and textures repeat.
TEST(DrawnWrinkles, AreTheSameInAnotherSquareOfTheTexture) {
  TriMesh beside = woman().mesh;
  for (Vec2f& uv : beside.uvs) uv += Vec2f(3, -2);
  Diagnostics notes;
  const DrawnWrinklesDesc desc{.width = 256, .height = 256};
  const FloatImage map = drawWrinkles(beside, woman().points, "smile", desc, notes).value();
  const FloatImage as_it_was = drawn("smile");
  double off = 0;
  for (std::size_t i = 0; i < map.values.size(); ++i)
    off += std::abs(static_cast<double>(map.values[i] - as_it_was.values[i]));
  EXPECT_LT(off / static_cast<double>(map.values.size()), 1e-3);  // uvs are rounded farther out
  for (Vec2f& uv : beside.uvs) uv = Vec2f(0.5f, 0.5f);
  const Result<FloatImage> nothing = drawWrinkles(beside, woman().points, "smile", desc, notes);
  ASSERT_FALSE(nothing);
  EXPECT_NE(nothing.error().message.find("cover nothing"), std::string::npos);
}

TEST(DrawnWrinkles, LieWhereTheirNamesSay) {
  // On the texture of the cast the face stands upright: rows go down from the crown.
  const auto rowOf = [](const FloatImage& map) {
    double sum = 0, count = 0;
    for (int y = 0; y < map.height; ++y)
      for (int x = 0; x < map.width; ++x)
        if (tiltAt(map, static_cast<std::size_t>(y * map.width + x)) > 2) {
          sum += y;
          count += 1;
        }
    return sum / count;
  };
  const double forehead = rowOf(drawn("forehead")), frown = rowOf(drawn("frown")),
               smile = rowOf(drawn("smile"));
  EXPECT_LT(forehead, frown);
  EXPECT_LT(frown, smile);
}

TEST(DrawnWrinkles, SetsAddUpAndDepthScales) {
  const FloatImage both = drawn("forehead+smile"), one = drawn("forehead");
  std::size_t differ = 0;
  for (std::size_t i = 0; i < both.values.size(); ++i)
    differ += std::abs(both.values[i] - one.values[i]) > 1e-3f ? 1u : 0u;
  EXPECT_GT(differ, 50u);
  DrawnWrinklesDesc deep{.width = 256, .height = 256, .depth = 2};
  EXPECT_GT(largestTilt(drawn("forehead", deep)), 1.3 * largestTilt(one));
}

TEST(DrawnWrinkles, SameBitsForAnyNumberOfThreads) {
  const FloatImage one = [] {
    const ThreadLimit single(1);
    return drawn("frown");
  }();
  EXPECT_EQ(one, drawn("frown"));
}

TEST(DrawnWrinkles, BadInputIsNamed) {
  Diagnostics notes;
  const auto textOf = [&](const TriMesh& mesh, std::string_view sets,
                          const DrawnWrinklesDesc& desc) {
    const auto map = drawWrinkles(mesh, woman().points, sets, desc, notes);
    return map.ok() ? std::string() : map.error().text();
  };
  const std::string unknown = textOf(woman().mesh, "forehaed", {});
  EXPECT_NE(unknown.find("did you mean \"forehead\""), std::string::npos) << unknown;
  EXPECT_FALSE(textOf(woman().mesh, "", {}).empty());
  EXPECT_FALSE(textOf(woman().mesh, "frown", {.width = 8}).empty());
  EXPECT_FALSE(textOf(woman().mesh, "frown", {.depth = 0}).empty());
  EXPECT_FALSE(textOf(woman().mesh, "frown", {.padding = -1}).empty());
  TriMesh bare = woman().mesh;
  bare.uvs.clear();
  const std::string no_uvs = textOf(bare, "frown", {});
  EXPECT_NE(no_uvs.find("unwrap"), std::string::npos) << no_uvs;
  EXPECT_FALSE(drawWrinkles(woman().mesh, {}, "frown", {}, notes).ok());
}

/// A square of 1 m with one texel chart, and the same finely divided with a wave on it.
TriMesh plate(int n, double depth) {
  TriMesh out;
  for (int y = 0; y <= n; ++y)
    for (int x = 0; x <= n; ++x) {
      const double u = static_cast<double>(x) / n, v = static_cast<double>(y) / n;
      out.positions.emplace_back(static_cast<float>(u), static_cast<float>(1 - v),
                                 static_cast<float>(depth * std::sin(12 * u)));
      out.uvs.emplace_back(static_cast<float>(u), static_cast<float>(v));
    }
  const auto at = [&](int x, int y) { return static_cast<std::uint32_t>(y * (n + 1) + x); };
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      out.triangles.push_back({at(x, y), at(x, y + 1), at(x + 1, y + 1)});
      out.triangles.push_back({at(x, y), at(x + 1, y + 1), at(x + 1, y)});
    }
  out.normals = areaWeightedNormals(out.positions, out.triangles);
  return out;
}

TEST(SculptMap, HasTheSculptsSlopes) {
  Diagnostics notes;
  const TriMesh low = plate(2, 0), high = plate(200, 0.01);
  const FloatImage map =
      sculptNormals(low, {}, high, {.width = 64, .height = 64, .reach_m = 0.05}, notes).value();
  for (int x = 4; x < 60; ++x) {
    const double u = (x + 0.5) / 64, slope = 0.12 * std::cos(12 * u);
    const double expected = -slope / std::sqrt(1 + slope * slope);
    EXPECT_NEAR(static_cast<double>(map.at(x, 32, 0)), expected, 0.01) << x;
    EXPECT_NEAR(static_cast<double>(map.at(x, 32, 1)), 0, 0.01) << x;
  }
}

TEST(SculptMap, WhatLiesElsewhereIsRefused) {
  Diagnostics notes;
  const TriMesh low = plate(2, 0);
  TriMesh high = plate(20, 0.01);
  for (Vec3f& p : high.positions) p *= 100;
  high.positions[0] = high.positions[1];
  for (Vec3f& p : high.positions) p.z() += 10;
  const auto far = sculptNormals(low, {}, high, {.width = 32, .height = 32}, notes);
  ASSERT_FALSE(far.ok());
  EXPECT_NE(far.error().text().find("nowhere near"), std::string::npos) << far.error().text();
  EXPECT_FALSE(sculptNormals(low, {}, {}, {}, notes).ok());
  TriMesh bare = low;
  bare.uvs.clear();
  EXPECT_FALSE(sculptNormals(bare, {}, low, {}, notes).ok());
}

}  // namespace
}  // namespace derm
