#include "face/depth_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace derm::detail {
namespace {

constexpr double kMargin = 0.04;
constexpr float kNothing = -std::numeric_limits<float>::infinity();

/// Keeps the largest depth of every pixel whose middle a triangle covers.
void drawTriangle(const std::array<Vec3d, 3>& p, Map& depth) {
  const auto twice = [](const Vec3d& a, const Vec3d& b, double x, double y) {
    return (b.x() - a.x()) * (y - a.y()) - (x - a.x()) * (b.y() - a.y());
  };
  const double area = twice(p[0], p[1], p[2].x(), p[2].y());
  if (!(area < 0)) return;  // y is down, so what faces the viewer turns clockwise
  const auto range = [&](int axis) {
    const auto [low, high] = std::minmax({p[0][axis], p[1][axis], p[2][axis]});
    return std::pair{int(std::clamp(std::floor(low), 0.0, double(depth.size - 1))),
                     int(std::clamp(std::ceil(high), 0.0, double(depth.size - 1)))};
  };
  const auto [x0, x1] = range(0);
  const auto [y0, y1] = range(1);
  for (int y = y0; y <= y1; ++y)
    for (int x = x0; x <= x1; ++x) {
      const double b = twice(p[2], p[0], x + 0.5, y + 0.5) / area;
      const double c = twice(p[0], p[1], x + 0.5, y + 0.5) / area;
      if (!(b >= 0 && c >= 0 && b + c <= 1)) continue;
      const double z = (1 - b - c) * p[0].z() + b * p[1].z() + c * p[2].z();
      depth.at(x, y) = std::max(depth.at(x, y), static_cast<float>(z));
    }
}

/// All that cannot be reached from the border without crossing the head.
std::vector<std::uint8_t> filledSilhouette(const Map& depth) {
  const int n = depth.size;
  std::vector<std::uint8_t> inside(depth.values.size(), 1);
  std::vector<std::size_t> open;
  const auto visit = [&](int x, int y) {
    const std::size_t i = depth.index(x, y);
    if (inside[i] == 0 || depth.values[i] != kNothing) return;
    inside[i] = 0;
    open.push_back(i);
  };
  for (int k = 0; k < n; ++k) {
    visit(k, 0);
    visit(k, n - 1);
    visit(0, k);
    visit(n - 1, k);
  }
  while (!open.empty()) {
    const int x = int(open.back() % std::size_t(n)), y = int(open.back() / std::size_t(n));
    open.pop_back();
    if (x > 0) visit(x - 1, y);
    if (x + 1 < n) visit(x + 1, y);
    if (y > 0) visit(x, y - 1);
    if (y + 1 < n) visit(x, y + 1);
  }
  return inside;
}

/// A membrane over the holes: every pixel becomes the mean of its neighbours.
void fillHoles(Map& depth, const std::vector<std::uint8_t>& inside) {
  std::vector<std::pair<int, int>> holes;
  for (int y = 1; y + 1 < depth.size; ++y)
    for (int x = 1; x + 1 < depth.size; ++x)
      if (inside[depth.index(x, y)] && depth.at(x, y) == kNothing) holes.emplace_back(x, y);
  if (holes.empty()) return;
  // Start from the nearest known value to the left, so that wide holes settle soon, too.
  for (const auto& [x, y] : holes) depth.at(x, y) = depth.at(x - 1, y);
  constexpr int kRounds = 200;
  constexpr float kOverRelaxation = 1.8f;
  for (int round = 0; round < kRounds; ++round)
    for (const auto& [x, y] : holes) {
      const float mean = 0.25f * (depth.at(x - 1, y) + depth.at(x + 1, y) + depth.at(x, y - 1) +
                                  depth.at(x, y + 1));
      depth.at(x, y) += kOverRelaxation * (mean - depth.at(x, y));
    }
}

/// Chamfer distance to the nearest pixel that is not inside, beyond the border too.
Map rimDistance(const std::vector<std::uint8_t>& inside, int size) {
  constexpr float kStraight = 1, kDiagonal = 1.4142135f;
  Map out(size, 0);
  const auto from = [&](int x, int y, float step) {
    return step + (x < 0 || y < 0 || x >= size || y >= size ? 0 : out.at(x, y));
  };
  for (int y = 0; y < size; ++y)
    for (int x = 0; x < size; ++x)
      if (inside[out.index(x, y)])
        out.at(x, y) = std::min({from(x - 1, y, kStraight), from(x, y - 1, kStraight),
                                 from(x - 1, y - 1, kDiagonal), from(x + 1, y - 1, kDiagonal)});
  for (int y = size - 1; y >= 0; --y)
    for (int x = size - 1; x >= 0; --x)
      out.at(x, y) = std::min({out.at(x, y), from(x + 1, y, kStraight), from(x, y + 1, kStraight),
                               from(x + 1, y + 1, kDiagonal), from(x - 1, y + 1, kDiagonal)});
  return out;
}

}  // namespace

double Map::sample(const Pixel& p) const {
  const double x = std::clamp(p.x() - 0.5, 0.0, double(size - 1));
  const double y = std::clamp(p.y() - 0.5, 0.0, double(size - 1));
  const int x0 = std::min(int(x), size - 2), y0 = std::min(int(y), size - 2);
  const double u = x - x0, v = y - y0;
  return (1 - v) * ((1 - u) * double(at(x0, y0)) + u * double(at(x0 + 1, y0))) +
         v * ((1 - u) * double(at(x0, y0 + 1)) + u * double(at(x0 + 1, y0 + 1)));
}

bool DepthMap::contains(const Pixel& p) const {
  if (!(p.x() >= 0 && p.y() >= 0 && p.x() < size() && p.y() < size())) return false;
  return inside[depth.index(int(p.x()), int(p.y()))] != 0;
}

Vec3d DepthMap::positionAt(const Pixel& p) const {
  return origin + Vec3d(p.x(), -p.y(), depth.sample(p)) / pixels_per_metre;
}

Result<DepthMap> drawDepth(const TriMesh& head, int size_px) {
  Eigen::AlignedBox3d bounds;
  for (const Triangle& t : head.triangles)
    for (const std::uint32_t v : t)
      bounds.extend(Eigen::Vector3d(head.positions[v].cast<double>()));
  const double extent = bounds.isEmpty() ? 0 : std::max(bounds.sizes().x(), bounds.sizes().y());
  const auto nothing = [] {
    return Error{ErrorCode::BadData,
                 "nothing is to be seen from the front (+Z, with +Y up)",
                 {.element = "head"}};
  };
  if (!(extent > 0)) return nothing();

  DepthMap out;
  out.pixels_per_metre = (1 - 2 * kMargin) * size_px / extent;
  const double half = 0.5 * size_px / out.pixels_per_metre;
  out.origin = Vec3d(bounds.center().x() - half, bounds.center().y() + half, bounds.min().z());
  out.low = out.pixelOf(Vec3d(bounds.min().x(), bounds.max().y(), 0));
  out.high = out.pixelOf(Vec3d(bounds.max().x(), bounds.min().y(), 0));
  out.depth = Map(size_px, kNothing);
  for (const Triangle& t : head.triangles) {
    std::array<Vec3d, 3> p;
    for (std::size_t c = 0; c < 3; ++c) {
      const Vec3d at = head.positions[t[c]].cast<double>();
      const Pixel pixel = out.pixelOf(at);
      p[c] = {pixel.x(), pixel.y(), (at.z() - out.origin.z()) * out.pixels_per_metre};
    }
    drawTriangle(p, out.depth);
  }
  float farthest = std::numeric_limits<float>::infinity();
  for (const float z : out.depth.values)
    if (z != kNothing) farthest = std::min(farthest, z);
  if (!std::isfinite(farthest)) return nothing();
  out.inside = filledSilhouette(out.depth);
  fillHoles(out.depth, out.inside);
  for (float& z : out.depth.values)
    if (z == kNothing) z = farthest;
  out.rim_distance = rimDistance(out.inside, size_px);
  return out;
}

SurfacePoint pointUnder(const Pixel& p, const DepthMap& map, const TriangleTree& triangles) {
  const Vec3d at = map.positionAt(p);
  const double pixel = 1 / map.pixels_per_metre;
  const double front = map.origin.z() + 4 * map.size() * pixel;
  if (const auto hit =
          triangles.firstHit(Vec3d(at.x(), at.y(), front), at - Vec3d(0, 0, 8 * pixel)))
    return {hit->triangle, hit->barycentric.cast<float>()};
  const auto nearest = triangles.closestPoint(at);
  return {nearest->triangle, nearest->barycentric.cast<float>()};
}

Map blurred(const Map& map, double sigma_px) {
  if (!(sigma_px > 0)) return map;
  const int reach = int(std::ceil(3.5 * sigma_px));
  std::vector<float> weights(std::size_t(reach) + 1);
  double sum = 0;
  for (int k = -reach; k <= reach; ++k) sum += std::exp(-0.5 * k * k / (sigma_px * sigma_px));
  for (int k = 0; k <= reach; ++k)
    weights[std::size_t(k)] =
        static_cast<float>(std::exp(-0.5 * k * k / (sigma_px * sigma_px)) / sum);

  // Both passes add whole rows, which compilers turn into vector instructions.
  const int n = map.size;
  Map across(n, 0), out(n, 0);
  std::vector<float> row(std::size_t(n + 2 * reach));
  for (int y = 0; y < n; ++y) {
    const float* from = map.values.data() + map.index(0, y);
    std::fill(row.begin(), row.begin() + reach, from[0]);
    std::copy(from, from + n, row.begin() + reach);
    std::fill(row.begin() + reach + n, row.end(), from[n - 1]);
    float* to = across.values.data() + across.index(0, y);
    for (int k = -reach; k <= reach; ++k) {
      const float w = weights[std::size_t(std::abs(k))];
      const float* shifted = row.data() + reach + k;
      for (int x = 0; x < n; ++x) to[x] += w * shifted[x];
    }
  }
  for (int y = 0; y < n; ++y) {
    float* to = out.values.data() + out.index(0, y);
    for (int k = -reach; k <= reach; ++k) {
      const float w = weights[std::size_t(std::abs(k))];
      const float* from = across.values.data() + across.index(0, std::clamp(y + k, 0, n - 1));
      for (int x = 0; x < n; ++x) to[x] += w * from[x];
    }
  }
  return out;
}

}  // namespace derm::detail
