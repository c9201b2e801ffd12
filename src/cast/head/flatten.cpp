#include "cast/head/flatten.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <Eigen/SparseCore>
#include <Eigen/SparseLU>

#include "derm/base/assert.h"

namespace derm::detail::cast {
namespace {

struct Weight {
  std::uint32_t from, to;
  double value;
};

std::vector<Weight> meanValueWeights(const std::vector<Triangle>& triangles,
                                     const std::vector<Vec3d>& p) {
  std::vector<Weight> weights;
  for (const Triangle& t : triangles)
    for (std::size_t i = 0; i < 3; ++i) {
      const std::uint32_t a = t[i], b = t[(i + 1) % 3], c = t[(i + 2) % 3];
      const Vec3d to_b = p[b] - p[a], to_c = p[c] - p[a];
      const double length_b = to_b.norm(), length_c = to_c.norm();
      const double cosine = std::clamp(to_b.dot(to_c) / (length_b * length_c), -1.0, 1.0);
      const double half_tangent = std::sqrt((1 - cosine) / (1 + cosine + 1e-12));
      weights.push_back({a, b, half_tangent / length_b});
      weights.push_back({a, c, half_tangent / length_c});
    }
  return weights;
}

double signedArea(const Triangle& t, const std::vector<Vec2d>& uvs) {
  const Vec2d ab = uvs[t[1]] - uvs[t[0]], ac = uvs[t[2]] - uvs[t[0]];
  return (ab.x() * ac.y() - ac.x() * ab.y()) / 2;
}

}  // namespace

std::map<std::uint32_t, std::uint32_t> rimOf(const std::vector<Triangle>& triangles) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (const Triangle& t : triangles)
    for (std::size_t i = 0; i < 3; ++i) edges.emplace(t[i], t[(i + 1) % 3]);
  std::map<std::uint32_t, std::uint32_t> rim;
  for (const auto& [a, b] : edges)
    if (!edges.count({b, a})) rim[a] = b;
  return rim;
}

void flatten(const std::vector<Triangle>& triangles, const std::vector<Vec3d>& positions,
             const std::vector<bool>& fixed, int rounds, std::vector<Vec2d>& uvs) {
  std::set<std::uint32_t> used;
  for (const Triangle& t : triangles) used.insert(t.begin(), t.end());
  std::vector<int> row(positions.size(), -1);
  std::vector<std::uint32_t> free;
  for (const std::uint32_t v : used)
    if (!fixed[v]) {
      row[v] = static_cast<int>(free.size());
      free.push_back(v);
    }
  const auto n = static_cast<Eigen::Index>(free.size());
  std::vector<Weight> weights = meanValueWeights(triangles, positions);
  std::vector<Vec2d> best;
  for (int round = 0; round < rounds; ++round) {
    std::vector<Eigen::Triplet<double>> entries;
    Eigen::MatrixX2d right = Eigen::MatrixX2d::Zero(n, 2);
    for (const Weight& w : weights) {
      const int i = row[w.from];
      if (i < 0) continue;
      entries.emplace_back(i, i, w.value);
      if (row[w.to] >= 0)
        entries.emplace_back(i, row[w.to], -w.value);
      else
        right.row(i) += w.value * uvs[w.to].transpose();
    }
    Eigen::SparseMatrix<double> matrix(n, n);
    matrix.setFromTriplets(entries.begin(), entries.end());
    Eigen::SparseLU<Eigen::SparseMatrix<double>> solver(matrix);
    DERM_REQUIRE(solver.info() == Eigen::Success);  // a connected disc with a fixed border
    const Eigen::MatrixX2d solved = solver.solve(right);
    for (std::size_t k = 0; k < free.size(); ++k)
      uvs[free[k]] = solved.row(static_cast<Eigen::Index>(k)).transpose();

    bool turned = false;
    std::vector<double> stretch(positions.size(), 0), share(positions.size(), 1e-12);
    for (const Triangle& t : triangles) {
      const double flat = signedArea(t, uvs);
      turned = turned || flat <= 0;
      const double area =
          (positions[t[1]] - positions[t[0]]).cross(positions[t[2]] - positions[t[0]]).norm() / 2;
      const double sigma = std::sqrt(area / std::max(std::abs(flat), 1e-12));
      for (const std::uint32_t v : t) {
        stretch[v] += area * sigma;
        share[v] += area;
      }
    }
    if (!turned) best = uvs;
    std::vector<double> sorted;
    for (const std::uint32_t v : used) sorted.push_back(stretch[v] /= share[v]);
    std::nth_element(sorted.begin(),
                     sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
    const double median = sorted[sorted.size() / 2];
    for (Weight& w : weights) w.value /= std::pow(std::clamp(stretch[w.to] / median, .2, 5.0), .6);
  }
  if (!best.empty())
    for (const std::uint32_t v : free) uvs[v] = best[v];
}

}  // namespace derm::detail::cast
