#include "derm/mesh/butterfly.h"

#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

#include <gtest/gtest.h>

#include "derm/mesh/closedness.h"
#include "derm/mesh/local_refinement.h"
#include "derm/mesh/weld.h"

#include "support/compare.h"
#include "support/refined.h"
#include "support/shelf.h"

namespace derm::butterfly_test {
namespace {

using testing_support::refinedMesh;
using testing_support::refinedPositions;

using Height = std::function<double(double, double)>;

/// A regular triangle grid over [0, n]^2 in lattice coordinates, z = height(x, y).
TriMesh grid(int n, const Height& height) {
  TriMesh mesh;
  for (int j = 0; j <= n; ++j)
    for (int i = 0; i <= n; ++i)
      mesh.positions.push_back(Vec3f(float(i), float(j), float(height(i, j))));
  const auto at = [&](int i, int j) { return std::uint32_t(j * (n + 1) + i); };
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      mesh.triangles.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1)});
      mesh.triangles.push_back({at(i, j), at(i + 1, j + 1), at(i, j + 1)});
    }
  return mesh;
}

LocalRefinement refineAll(const TriMesh& mesh, std::uint8_t level) {
  const RefinableSurface surface(mesh.triangles, mesh.vertexCount(), weldMap(mesh.positions));
  const std::vector<std::uint8_t> levels(mesh.triangles.size(), level);
  return surface.refine(surface.balanced(levels));
}

TEST(Butterfly, RingWeightsAreThePublishedOnes) {
  EXPECT_EQ(butterflyRing(3), (std::vector<double>{5.0 / 12, -1.0 / 12, -1.0 / 12}));
  EXPECT_EQ(butterflyRing(4), (std::vector<double>{3.0 / 8, 0, -1.0 / 8, 0}));
  for (int k = 3; k <= 12; ++k) {
    const std::vector<double> s = butterflyRing(k);
    EXPECT_NEAR(std::accumulate(s.begin(), s.end(), 0.0), 0.25, 1e-15) << k;
    for (int j = 1; j < k; ++j)
      EXPECT_NEAR(s[j], s[k - j], 1e-15) << "mirror symmetric, valence " << k;
  }
  // At valence 6 the ring rule: 1/4 ahead, 1/8 beside, 0, -1/16... see Zorin 1996, eq. for K >= 5.
  const std::vector<double> six = butterflyRing(6);
  EXPECT_NEAR(six[0], 1.75 / 6, 1e-15);
  EXPECT_NEAR(six[1], 0.5 / 6, 1e-15);
  EXPECT_NEAR(six[2], -0.5 / 6, 1e-15);
  EXPECT_NEAR(six[3], -0.25 / 6, 1e-15);
}

TEST(Butterfly, ARegularMiddleHasTheEightPointMask) {
  const TriMesh flat = grid(6, [](double, double) { return 0; });
  const LocalRefinement fine = refineAll(flat, 1);
  for (std::size_t poke = 0; poke < flat.vertexCount(); ++poke) {
    TriMesh poked = flat;
    poked.positions[poke].z() = 16;
    const std::vector<Vec3f> out = refinedPositions(poked.positions, fine);
    for (std::size_t i = 0; i < fine.vertices.size(); ++i) {
      const Vec3f& a = flat.positions[fine.vertices[i].a];
      const Vec3f& b = flat.positions[fine.vertices[i].b];
      const Vec3f middle = (a + b) / 2;
      if ((middle.head<2>().array() < 2).any() || (middle.head<2>().array() > 4).any()) continue;
      // By its position in the edge's own lattice frame: ends 8, sides 2, wings -1, others 0.
      const Vec3f offset = 2 * (flat.positions[poke] - middle);
      const Vec3f edge = b - a;
      const auto is = [&](float x, float y) { return offset.x() == x && offset.y() == y; };
      float expected = 0;
      const std::array<std::array<float, 2>, 8> along_x = {
          {{1, 0}, {-1, 0}, {1, 2}, {-1, -2}, {3, 2}, {-1, 2}, {1, -2}, {-3, -2}}};
      const std::array<std::array<float, 2>, 8> along_xy = {
          {{1, 1}, {-1, -1}, {1, -1}, {-1, 1}, {3, 1}, {1, 3}, {-3, -1}, {-1, -3}}};
      for (std::size_t k = 0; k < 8; ++k) {
        const float weight = k < 2 ? 8 : k < 4 ? 2 : -1;
        const auto [x, y] = edge.y() == 0 || edge.x() == 0 ? along_x[k] : along_xy[k];
        if (edge.x() == 0 ? is(y, x) : is(x, y)) expected = weight;
      }
      ASSERT_EQ(out[flat.vertexCount() + i].z(), expected) << poke << " on " << i;
    }
  }
}

TEST(Butterfly, QuadraticsAndCubicsAreExactOnARegularGrid) {
  const auto quadratic = [](double x, double y) {
    return 0.3 * x * x - 0.2 * x * y + 0.15 * y * y - x + 2 * y - 3;
  };
  const auto cubic = [](double x, double y) {
    return 0.02 * x * x * x - 0.03 * x * x * y + 0.01 * y * y * y + 0.2 * x * y;
  };
  for (const Height& f : {Height(quadratic), Height(cubic)}) {
    const TriMesh mesh = grid(10, f);
    const std::vector<Vec3f> out = refinedPositions(mesh.positions, refineAll(mesh, 2));
    int tested = 0;
    for (std::size_t i = mesh.vertexCount(); i < out.size(); ++i) {
      if ((out[i].head<2>().array() < 3).any() || (out[i].head<2>().array() > 7).any()) continue;
      EXPECT_NEAR(out[i].z(), f(out[i].x(), out[i].y()), 2e-5);
      ++tested;
    }
    EXPECT_GT(tested, 100);
  }
}

/// A fan of k triangles in a fan of rings: the middle vertex has valence k, those round it 6.
TriMesh wheel(int k, int rings) {
  TriMesh mesh;
  mesh.positions.push_back(Vec3f::Zero());
  const auto spoke = [&](int sector) {
    const double turn = 2 * std::numbers::pi * sector / k;
    return Vec3f(float(std::cos(turn)), float(std::sin(turn)), 0);
  };
  for (int r = 1; r <= rings; ++r)
    for (int i = 0; i < k * r; ++i)
      mesh.positions.push_back(float(r - i % r) * spoke(i / r) + float(i % r) * spoke(i / r + 1));
  const auto at = [&](int r, int sector, int i) -> std::uint32_t {
    if (r == 0) return 0;
    return std::uint32_t(1 + k * r * (r - 1) / 2 + (sector * r + i) % (k * r));
  };
  for (int r = 0; r < rings; ++r)
    for (int s = 0; s < k; ++s)
      for (int i = 0; i <= r; ++i) {
        mesh.triangles.push_back({at(r, s, i), at(r + 1, s, i), at(r + 1, s, i + 1)});
        if (i < r) mesh.triangles.push_back({at(r, s, i), at(r + 1, s, i + 1), at(r, s, i + 1)});
      }
  return mesh;
}

TEST(Butterfly, ExtraordinaryVerticesOfValence3To10FollowTheirRing) {
  for (int k = 3; k <= 10; ++k) {
    SCOPED_TRACE(k);
    TriMesh mesh = wheel(k, 4);
    for (std::size_t v = 0; v < mesh.vertexCount(); ++v)
      mesh.positions[v].z() = float(std::sin(3.7 * double(v)));
    const LocalRefinement fine = refineAll(mesh, 1);
    const std::vector<Vec3f> out = refinedPositions(mesh.positions, fine);
    const std::vector<double> s = butterflyRing(k);
    int found = 0;
    for (std::size_t i = 0; i < fine.vertices.size(); ++i) {
      if (fine.vertices[i].a != 0 || k == 6) continue;
      const int far_end = int(fine.vertices[i].b) - 1;
      Vec3d expected = 0.75 * mesh.positions[0].cast<double>();
      for (int j = 0; j < k; ++j)
        expected +=
            s[std::size_t(j)] * mesh.positions[std::size_t(1 + (far_end + j) % k)].cast<double>();
      EXPECT_LT((out[mesh.vertexCount() + i].cast<double>() - expected).norm(), 2e-6);
      ++found;
    }
    EXPECT_EQ(found, k == 6 ? 0 : k);
  }
}

TEST(Butterfly, ExtraordinaryVerticesStaySmoothUnderRefinement) {
  // A paraboloid around the vertex: its refinements must approach one tangent plane, so the height
  // over the radius must vanish towards the vertex.
  for (int k = 3; k <= 10; ++k) {
    TriMesh mesh = wheel(k, 4);
    for (Vec3f& p : mesh.positions) p.z() = 0.2f * p.head<2>().squaredNorm();
    double steepest_before = 1e9;
    for (const std::uint8_t level : {1, 2, 3, 4}) {
      const LocalRefinement fine = refineAll(mesh, level);
      const std::vector<Vec3f> out = refinedPositions(mesh.positions, fine);
      double steepest = 0;
      for (std::size_t i = 0; i < fine.vertices.size(); ++i) {
        const bool first_ring = fine.vertices[i].a == 0 && i + mesh.vertexCount() < out.size();
        const Vec3f& p = out[mesh.vertexCount() + i];
        if (first_ring && p.head<2>().norm() < 1.3f * std::ldexp(1.0f, -int(level)))
          steepest = std::max(steepest, double(std::abs(p.z()) / p.head<2>().norm()));
      }
      EXPECT_GT(steepest, 0);
      EXPECT_LT(steepest, 0.8 * steepest_before) << "valence " << k << ", level " << int(level);
      steepest_before = steepest;
    }
  }
}

TEST(Butterfly, BordersFollowTheFourPointRuleAndOnlyTheBorder) {
  const auto cubic = [](double x, double) { return 0.02 * x * x * x - 0.3 * x * x + x; };
  TriMesh mesh = grid(10, cubic);
  for (std::size_t v = 11; v < mesh.vertexCount(); ++v)
    mesh.positions[v].z() += 3;  // all but y = 0
  const LocalRefinement fine = refineAll(mesh, 1);
  const std::vector<Vec3f> out = refinedPositions(mesh.positions, fine);
  int on_border = 0;
  for (std::size_t i = mesh.vertexCount(); i < out.size(); ++i) {
    if (out[i].y() != 0 || out[i].x() < 1 || out[i].x() > 9) continue;
    EXPECT_NEAR(out[i].z(), cubic(out[i].x(), 0), 1e-5);
    ++on_border;
  }
  EXPECT_EQ(on_border, 8);
}

TEST(Butterfly, NextToABorderLinearSurfacesAreExact) {
  const auto linear = [](double x, double y) { return 0.5 * x - 0.25 * y + 1; };
  for (const TriMesh& mesh : {grid(3, linear), grid(1, linear), grid(2, linear)}) {
    const std::vector<Vec3f> out = refinedPositions(mesh.positions, refineAll(mesh, 3));
    for (const Vec3f& p : out) EXPECT_NEAR(p.z(), linear(p.x(), p.y()), 1e-5);
  }
}

TEST(Butterfly, ACreaseIsABorderForBothItsSides) {
  // A roof: flat on both sides of the ridge y = 2. Without the crease the ridge would be rounded.
  const TriMesh roof = grid(4, [](double, double y) { return 2 - std::abs(y - 2); });
  std::vector<std::array<std::uint32_t, 2>> ridge;
  for (std::uint32_t i = 0; i < 4; ++i) ridge.push_back({10 + i, 11 + i});
  const std::vector<std::uint8_t> levels(roof.triangles.size(), 2);
  const RefinableSurface creased(roof.triangles, roof.vertexCount(), {}, ridge);
  for (const Vec3f& p : refinedPositions(roof.positions, creased.refine(levels)))
    EXPECT_NEAR(p.z(), 2 - std::abs(p.y() - 2), 1e-5);
  const RefinableSurface smooth(roof.triangles, roof.vertexCount());
  float rounded = 0;
  for (const Vec3f& p : refinedPositions(roof.positions, smooth.refine(levels)))
    rounded = std::max(rounded, p.z() - (2 - std::abs(p.y() - 2)));
  EXPECT_GT(rounded, 0.02f);
}

TEST(Butterfly, ASphereRefinedTwiceComesAsNearAsAFourthOrderScheme) {
  // In regular regions the scheme reproduces cubics, so the error falls with the fourth power of
  // the edge length; around the poles of this sphere (valence = sectors) it falls with the second.
  // We hold the mean to 2^3 at least per halving, and the largest to 2^2, poles left out.
  double mean_before = 0, largest_before = 0;
  for (const int n : {8, 16, 32}) {
    const TriMesh ball = shelf::sphere(n, 2 * n, 1);
    const std::vector<Vec3f> out = refinedPositions(ball.positions, refineAll(ball, 2));
    double sum = 0, largest = 0;
    std::size_t count = 0;
    for (std::size_t i = ball.vertexCount(); i < out.size(); ++i) {
      if (std::abs(out[i].normalized().y()) > 0.7f || std::abs(out[i].normalized().z()) > 0.7f)
        continue;
      const double error = std::abs(double(out[i].norm()) - 1);
      sum += error;
      largest = std::max(largest, error);
      ++count;
    }
    ASSERT_GT(count, 50u);
    const double mean = sum / double(count);
    std::printf("%3d rings: mean error %.3g, largest %.3g\n", n, mean, largest);
    if (mean_before > 0) {
      EXPECT_GT(mean_before / mean, 8);
      EXPECT_GT(largest_before / largest, 4);
    }
    mean_before = mean;
    largest_before = largest;
  }
}

TEST(Butterfly, TheFastKernelAgreesWithPlainSums) {
  TriMesh ball = shelf::sphere(9, 14, 2);
  for (std::size_t v = 0; v < ball.vertexCount(); ++v)
    ball.positions[v] *= float(1 + 0.2 * std::sin(double(v)));
  const LocalRefinement fine = refineAll(ball, 3);
  const ButterflyStencils& s = fine.stencils;
  for (const float smoothing : {0.0f, 0.3f, 1.0f}) {
    std::vector<Vec3f> slots(s.slotCount() + 1, Vec3f::Zero());
    s.gather(ball.positions, slots);
    s.evaluate(smoothing, slots);
    std::vector<Vec3d> plain;
    for (const std::uint32_t v : s.sources()) plain.push_back(ball.positions[v].cast<double>());
    for (const ButterflyStencils::Level& level : s.levels()) {
      for (std::uint32_t i = 0; i < level.regular_count; ++i) {
        const auto& r = s.regular()[level.first_regular + i];
        plain.push_back(0.5 * (plain[r.a] + plain[r.b]) +
                        smoothing * (0.125 * (plain[r.c] + plain[r.d]) -
                                     0.0625 * (plain[r.e] + plain[r.f] + plain[r.g] + plain[r.h])));
      }
      for (std::uint32_t i = 0; i < level.general_count; ++i) {
        const auto& g = s.general()[level.first_general + i];
        Vec3d sum = 0.5 * (plain[g.a] + plain[g.b]);
        double weights = 0;
        for (const StencilEntry& e : s.entries().subspan(g.first, g.count)) {
          sum += double(smoothing) * double(e.weight) * plain[e.slot];
          weights += double(e.weight);
        }
        EXPECT_NEAR(weights, 0, 1e-6);
        plain.push_back(sum);
      }
    }
    ASSERT_EQ(plain.size() + 1, slots.size());
    for (std::size_t i = 0; i < plain.size(); ++i)
      EXPECT_LT((slots[i].cast<double>() - plain[i]).norm(), 16 * testing_support::kFloatEps * 3);
  }
}

TEST(Butterfly, WithoutSmoothingEveryPointStaysOnTheTriangles) {
  const TriMesh ball = shelf::sphere(6, 9, 1);
  const LocalRefinement fine = refineAll(ball, 2);
  const std::vector<Vec3f> out = refinedPositions(ball.positions, fine, 0);
  for (std::size_t i = 0; i < fine.vertices.size(); ++i)
    EXPECT_EQ(out[ball.vertexCount() + i],
              Vec3f((out[fine.vertices[i].a] + out[fine.vertices[i].b]) / 2));
}

}  // namespace
}  // namespace derm::butterfly_test
