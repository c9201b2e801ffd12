// The section correction's inner loops against plain ones, on every instruction set this CPU has.

#include "volume/section_kernels.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "derm/base/rng.h"

#include "support/simd_targets.h"

namespace derm::detail::section_kernels_test {
namespace {

using derm::testing_support::onEveryTarget;

/// Points about a metre from the origin and each other: a determinant is a sum of six products.
constexpr double kTolerance = 1e-14;

struct Scene {
  std::vector<SectionRow> rows;
  std::vector<float> ways;
  std::vector<Triangle> triangles;
  std::vector<Vec3d> anchors;

  explicit Scene(std::size_t triangle_count) {
    Rng rng(11);
    const auto number = [&] { return rng.uniform(-1.0, 1.0); };
    for (std::size_t i = 0; i < 50; ++i) {
      rows.push_back({{number(), number(), number()}, number()});
      for (int k = 0; k < 3; ++k) ways.push_back(static_cast<float>(number()));
    }
    ways.push_back(std::nanf(""));  // is read, but must not count
    for (std::size_t t = 0; t < triangle_count; ++t) {
      const auto corner = [&] { return static_cast<std::uint32_t>(rng.below(50)); };
      triangles.push_back({corner(), corner(), corner()});
    }
    if (triangle_count > 0) triangles.back()[0] = 49;  // the row before the spare float
    anchors = {Vec3d(number(), number(), number()), Vec3d(number(), number(), number())};
  }
  SectionPoints points() { return {rows.data(), ways.data()}; }
  Vec3d at(std::uint32_t row) const { return {rows[row].x[0], rows[row].x[1], rows[row].x[2]}; }
  Vec3d motion(std::uint32_t row) const {
    const float* const w = ways.data() + 3 * row;
    return rows[row].h * Vec3d(w[1], w[2], w[0]);
  }
  SectionTetrahedron plain(const Triangle& t, const Vec3d& anchor) const {
    const Vec3d a = at(t[0]) - anchor, b = at(t[1]) - anchor, c = at(t[2]) - anchor;
    return {a.dot(b.cross(c)) / 6,
            {motion(t[0]).dot(b.cross(c)) / 6, motion(t[1]).dot(c.cross(a)) / 6,
             motion(t[2]).dot(a.cross(b)) / 6}};
  }
};

TEST(SectionKernels, TetrahedraAddUpToVolumesAndSlopes) {
  onEveryTarget([] {
    for (const std::size_t n : {0, 1, 2, 3, 7, 200}) {
      SCOPED_TRACE(n);
      Scene scene(n);
      double volume = 0, slope = 0;
      for (const Triangle& t : scene.triangles) {
        const SectionTetrahedron one = scene.plain(t, scene.anchors[0]);
        volume += one.volume;
        slope += one.slopes[0] + one.slopes[1] + one.slopes[2];
      }
      const double tolerance = kTolerance * static_cast<double>(n + 1);
      const SectionSum sum = sumTetrahedra(scene.triangles, scene.points(), scene.anchors[0]);
      EXPECT_NEAR(sum.volume, volume, tolerance);
      EXPECT_NEAR(sum.slope, slope, tolerance);
      EXPECT_NEAR(sumVolumes(scene.triangles, scene.points(), scene.anchors[0]), volume, tolerance);
    }
  });
}

TEST(SectionKernels, EachTetrahedronIsMeasuredOnItsOwnAnchor) {
  onEveryTarget([] {
    Scene scene(37);
    std::vector<SectionShared> shared;
    for (std::size_t t = 0; t < scene.triangles.size(); ++t)
      shared.push_back({scene.triangles[t], static_cast<std::uint32_t>(t / 3 % 2)});
    std::vector<SectionTetrahedron> out(shared.size());
    measureTetrahedra(shared, scene.points(), scene.anchors, out);
    for (std::size_t t = 0; t < shared.size(); ++t) {
      const SectionTetrahedron one =
          scene.plain(shared[t].corners, scene.anchors[shared[t].anchor]);
      EXPECT_NEAR(out[t].volume, one.volume, kTolerance);
      for (int k = 0; k < 3; ++k) EXPECT_NEAR(out[t].slopes[k], one.slopes[k], kTolerance);
    }
    measureTetrahedra({}, scene.points(), scene.anchors, out);
  });
}

TEST(SectionKernels, AreasAreThoseOfTheTriangles) {
  onEveryTarget([] {
    for (const std::size_t n : {0, 1, 4, 5, 6, 7, 31}) {
      SCOPED_TRACE(n);
      const Scene scene(n);
      std::vector<float> areas(n + 1, -1.0f);
      measureAreas(scene.triangles, scene.rows.data(), areas);
      for (std::size_t t = 0; t < n; ++t) {
        const Triangle& c = scene.triangles[t];
        const Vec3d u = scene.at(c[1]) - scene.at(c[0]), v = scene.at(c[2]) - scene.at(c[0]);
        EXPECT_NEAR(areas[t], 0.5 * u.cross(v).norm(), 2e-7);
      }
      EXPECT_EQ(areas[n], -1.0f);
    }
  });
}

TEST(SectionKernels, NeedsAreSpreadByTheInverseHyperbolicSine) {
  onEveryTarget([] {
    const std::vector<double> eta = {0, -0.0, 1e-300, -1e-12, 1e-4, 0.02, -0.3, 40};
    std::vector<double> s(8), slopes(8);
    spreadNeeds(0.03, eta, s, slopes);
    for (std::size_t i = 0; i < eta.size(); ++i) {
      EXPECT_NEAR(s[i], 0.03 * std::asinh(eta[i] / 0.03), 2e-17 + 1e-15 * std::abs(s[i]));
      EXPECT_NEAR(slopes[i], 1 / std::hypot(1, eta[i] / 0.03), 1e-15);
    }
    EXPECT_EQ(s[0], 0);  // nothing needed, nothing moved, to the bit
    EXPECT_EQ(s[1], 0);
  });
}

TEST(SectionKernels, RowsMoveAlongTheirWays) {
  onEveryTarget([] {
    Scene scene(0);
    const Scene before = scene;
    std::vector<double> now(7, 0.25);
    const std::vector<double> s = {0.25, 0, 0.5, -1, 2, 0.1, 0.2}, h = {1, 2, 3, 4, 5, 6, 7};
    moveRows(scene.points(), 43, s, h, now.data());
    EXPECT_EQ(now, s);
    for (std::uint32_t i = 0; i < 7; ++i) {
      const float* const w = before.ways.data() + 3 * (43 + i);
      const Vec3d there = before.at(43 + i) + (s[i] - 0.25) * Vec3d(w[1], w[2], w[0]);
      EXPECT_LT((scene.at(43 + i) - there).norm(), 1e-15);
      EXPECT_EQ(scene.rows[43 + i].h, h[i]);
    }
    EXPECT_EQ(scene.at(43), before.at(43));
    EXPECT_EQ(scene.at(42), before.at(42));
  });
}

}  // namespace
}  // namespace derm::detail::section_kernels_test
