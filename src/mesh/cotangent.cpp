#include "derm/mesh/cotangent.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace derm {
namespace {

/// Share of the mean edge length by which two sides must together exceed the third.
constexpr double kMollify = 1e-5;

bool degenerate(const Triangle& t) { return t[0] == t[1] || t[1] == t[2] || t[2] == t[0]; }

/// Lengths of the sides across the corners.
std::array<double, 3> sides(std::span<const Vec3d> positions, const Triangle& t) {
  std::array<double, 3> out;
  for (int c = 0; c < 3; ++c)
    out[c] = (positions[t[(c + 1) % 3]] - positions[t[(c + 2) % 3]]).norm();
  return out;
}

/// How far a triangle is from having `margin` to spare in each triangle inequality.
double missing(const std::array<double, 3>& l, double margin) {
  const double sum = l[0] + l[1] + l[2];
  double max = 0;
  for (int c = 0; c < 3; ++c) max = std::max(max, 2 * l[c] - sum + margin);
  return max;
}

/// Heron's formula in Kahan's stable order; the lengths obey the triangle inequality.
double areaOfSides(std::array<double, 3> l) {
  std::sort(l.begin(), l.end());
  const double product = (l[2] + (l[1] + l[0])) * (l[0] - (l[2] - l[1])) * (l[0] + (l[2] - l[1])) *
                         (l[2] + (l[1] - l[0]));
  return 0.25 * std::sqrt(std::max(product, 0.0));
}

}  // namespace

CotangentWeights cotangentWeights(std::span<const Vec3d> positions,
                                  std::span<const Triangle> triangles) {
  CotangentWeights out;
  out.areas.assign(positions.size(), 0.0);
  double length = 0;
  std::size_t used = 0;
  for (const Triangle& t : triangles) {
    if (degenerate(t)) continue;
    for (const double l : sides(positions, t)) length += l;
    used += 3;
  }
  if (used == 0) return out;
  const double mean = length / static_cast<double>(used);
  // All vertices at one position: any positive length gives a usable (equilateral) answer.
  const double margin = kMollify * (mean > 0 ? mean : 1.0);
  out.edges.reserve(used);
  for (const Triangle& t : triangles) {
    if (degenerate(t)) continue;
    std::array<double, 3> l = sides(positions, t);
    // Longer by the same amount each: the sum of two then gains on the third.
    const double add = missing(l, margin);
    for (double& side : l) side += add;
    const double area = areaOfSides(l);
    for (int c = 0; c < 3; ++c) {
      const double across = l[c], left = l[(c + 1) % 3], right = l[(c + 2) % 3];
      const double cotangent = (left * left + right * right - across * across) / (4 * area);
      const std::uint32_t a = t[(c + 1) % 3], b = t[(c + 2) % 3];
      out.edges.push_back({std::min(a, b), std::max(a, b), cotangent / 2});
      out.areas[t[c]] += area / 3;
    }
  }
  std::stable_sort(out.edges.begin(), out.edges.end(),
                   [](const CotangentWeights::Edge& x, const CotangentWeights::Edge& y) {
                     return x.a != y.a ? x.a < y.a : x.b < y.b;
                   });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < out.edges.size(); ++i) {
    if (kept > 0 && out.edges[kept - 1].a == out.edges[i].a &&
        out.edges[kept - 1].b == out.edges[i].b)
      out.edges[kept - 1].weight += out.edges[i].weight;
    else
      out.edges[kept++] = out.edges[i];
  }
  out.edges.resize(kept);
  for (CotangentWeights::Edge& e : out.edges)
    e.weight = std::max(e.weight, CotangentWeights::kMinCotangent);
  return out;
}

}  // namespace derm
