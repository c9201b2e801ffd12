#include "derm/mesh/coarsening.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "derm/base/parallel.h"

namespace derm::coarsening_test {
namespace {

/// A wavy sheet of n by n squares with a hole of its own border in the middle.
TriMesh sheet(std::uint32_t n, bool hole) {
  TriMesh out;
  const auto at = [&](std::uint32_t i, std::uint32_t k) { return i * (n + 1) + k; };
  for (std::uint32_t i = 0; i <= n; ++i)
    for (std::uint32_t k = 0; k <= n; ++k) {
      const float x = static_cast<float>(i) / static_cast<float>(n),
                  y = static_cast<float>(k) / static_cast<float>(n);
      out.positions.push_back({x, y, 0.05f * std::sin(6 * x) * std::cos(5 * y)});
    }
  for (std::uint32_t i = 0; i < n; ++i)
    for (std::uint32_t k = 0; k < n; ++k) {
      if (hole && 2 * i > n - 6 && 2 * i < n + 6 && 3 * k > n && 3 * k < 2 * n) continue;
      out.triangles.push_back({at(i, k), at(i + 1, k), at(i + 1, k + 1)});
      out.triangles.push_back({at(i, k), at(i + 1, k + 1), at(i, k + 1)});
    }
  return out;
}

Coarsening coarse(const TriMesh& mesh, std::size_t triangles) {
  return *coarsened(mesh.positions, mesh.triangles, {.max_triangles = triangles});
}

/// How often each edge is used, directions apart.
std::map<std::pair<std::uint32_t, std::uint32_t>, int> edgesOf(
    std::span<const Triangle> triangles) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> out;
  for (const Triangle& t : triangles)
    for (std::size_t c = 0; c < 3; ++c) ++out[{t[c], t[(c + 1) % 3]}];
  return out;
}

template <class T>
std::vector<T> spread(const Coarsening& c, std::vector<T> values) {
  for (std::size_t i = 0; i < c.removed.size(); ++i) {
    T sum = 0;
    for (const Coarsening::Share& s : c.sharesOf(i)) sum += T(s.weight) * values[s.vertex];
    values[c.removed[i]] = sum;
  }
  return values;
}

TEST(Coarsening, KeepsVerticesBordersAndManifold) {
  const TriMesh mesh = sheet(80, true);
  const Coarsening c = coarse(mesh, 1500);
  EXPECT_LE(c.triangles.size(), 1500u);
  EXPECT_GT(c.triangles.size(), 1000u);
  EXPECT_EQ(c.kept.size() + c.removed.size(), mesh.vertexCount());
  EXPECT_TRUE(std::is_sorted(c.kept.begin(), c.kept.end()));
  const auto edges = edgesOf(c.triangles);
  std::size_t border = 0;
  for (const auto& [edge, count] : edges) {
    EXPECT_EQ(count, 1) << edge.first << " " << edge.second;
    border += edges.contains({edge.second, edge.first}) ? 0 : 1;
  }
  EXPECT_GT(border, 8u);
  // One sheet with one hole: 0 = V - E + F.
  std::set<std::uint32_t> used;
  for (const Triangle& t : c.triangles) used.insert(t.begin(), t.end());
  const long full_edges = static_cast<long>((edges.size() - border) / 2 + border);
  EXPECT_EQ(static_cast<long>(used.size()) - full_edges + static_cast<long>(c.triangles.size()), 0);
  for (const std::uint32_t t : c.triangle_source) EXPECT_LT(t, mesh.triangles.size());
}

TEST(Coarsening, StaysOnTheSurface) {
  const TriMesh mesh = sheet(80, false);
  const Coarsening c = coarse(mesh, 1500);
  std::vector<double> x, y, z;
  for (const Vec3f& p : mesh.positions) {
    x.push_back(static_cast<double>(p.x()));
    y.push_back(static_cast<double>(p.y()));
    z.push_back(static_cast<double>(p.z()));
  }
  const std::vector<double> back_x = spread(c, x), back_y = spread(c, y), back_z = spread(c, z);
  double along = 0, off = 0;
  for (std::size_t v = 0; v < x.size(); ++v) {
    along = std::max({along, std::abs(back_x[v] - x[v]), std::abs(back_y[v] - y[v])});
    off = std::max(off, std::abs(back_z[v] - z[v]));
  }
  RecordProperty("along", std::to_string(along));
  RecordProperty("off", std::to_string(off));
  EXPECT_LT(along, 4e-3);  // an edge of the coarse sheet is 0.04 long
  EXPECT_LT(off, 4e-3);    // a wave is 0.1 high
}

TEST(Coarsening, WhatIsConstantStaysSo) {
  const TriMesh mesh = sheet(40, true);
  const Coarsening c = coarse(mesh, 400);
  for (const double v : spread(c, std::vector<double>(mesh.vertexCount(), 3.0)))
    EXPECT_NEAR(v, 3.0, 1e-5);
}

TEST(Coarsening, NeverJoinsSheetsThatTouch) {
  // Two sheets a tenth of an edge apart, as lips are.
  TriMesh mesh = sheet(40, false);
  const std::size_t n = mesh.vertexCount(), m = mesh.triangles.size();
  for (std::size_t v = 0; v < n; ++v)
    mesh.positions.push_back(mesh.positions[v] + Vec3f(0, 0, 0.0025f));
  for (std::size_t t = 0; t < m; ++t) {
    Triangle c = mesh.triangles[t];
    for (std::uint32_t& v : c) v += static_cast<std::uint32_t>(n);
    mesh.triangles.push_back(c);
  }
  const Coarsening c = coarse(mesh, 600);
  for (std::size_t i = 0; i < c.removed.size(); ++i)
    for (const Coarsening::Share& s : c.sharesOf(i)) EXPECT_EQ(s.vertex < n, c.removed[i] < n);
  for (const Triangle& t : c.triangles)
    for (std::size_t k = 1; k < 3; ++k) EXPECT_EQ(c.kept[t[k]] < n, c.kept[t[0]] < n);
}

TEST(Coarsening, SameBytesForAnyThreadCount) {
  const TriMesh mesh = sheet(120, true);
  const auto run = [&](int threads) {
    const ThreadLimit limit(threads);
    return coarse(mesh, 2000);
  };
  const Coarsening one = run(1), two = run(2);
  EXPECT_EQ(one.kept, two.kept);
  EXPECT_EQ(one.triangles, two.triangles);
  EXPECT_EQ(one.removed, two.removed);
}

TEST(Coarsening, WrongNumbersAndCancelling) {
  const TriMesh mesh = sheet(20, false);
  EXPECT_EQ(coarsened(mesh.positions, mesh.triangles, {.max_triangles = 0}).error().where.element,
            "max_triangles");
  EXPECT_EQ(
      coarsened(mesh.positions, mesh.triangles, {.deviation_weight = -1}).error().where.element,
      "deviation_weight");
  EXPECT_EQ(coarsened(mesh.positions, mesh.triangles, {.max_triangles = 10},
                      [](double, std::string_view) { return false; })
                .error()
                .code,
            ErrorCode::Cancelled);
}

}  // namespace
}  // namespace derm::coarsening_test
