#include "derm/mesh/uv_raster.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "derm/base/assert.h"
#include "derm/mesh/triangle_tree.h"

namespace derm {
namespace {

/// A texel this far from all edges is inside a triangle beyond rounding.
constexpr float kWellInside = 1e-4f;

class Rasteriser {
 public:
  Rasteriser(std::span<const Vec2f> uvs, std::span<const Triangle> triangles,
             const UvRasterDesc& desc)
      : uvs_(uvs), triangles_(triangles) {
    out_.width = desc.width;
    out_.height = desc.height;
    const std::size_t texels = std::size_t(desc.width) * std::size_t(desc.height);
    out_.points.assign(texels, {.triangle = UvRaster::kNoTriangle});
    out_.rings.assign(texels, 0);
    well_inside_.assign(texels, false);
    overlapping_.assign(texels, false);
  }

  UvRaster run(int padding) {
    for (std::uint32_t t = 0; t < triangles_.size(); ++t) {
      for (const std::uint32_t v : triangles_[t])
        out_.outside_corners += !(uvs_[v].minCoeff() >= 0 && uvs_[v].maxCoeff() <= 1);
      draw(t);
    }
    for (std::size_t i = 0; i < out_.points.size(); ++i) out_.covered_texels += out_.hasSurface(i);
    const int rings = std::min<int>(padding, std::numeric_limits<std::uint16_t>::max());
    for (int ring = 1; ring <= rings; ++ring)
      if (!widen(static_cast<std::uint16_t>(ring))) break;
    return std::move(out_);
  }

 private:
  std::array<Vec2f, 3> cornersOf(std::uint32_t t) const {
    std::array<Vec2f, 3> p;
    for (std::size_t c = 0; c < 3; ++c)
      p[c] = uvs_[triangles_[t][c]].cwiseProduct(Vec2f(float(out_.width), float(out_.height)));
    return p;
  }
  void draw(std::uint32_t t);
  void cover(std::size_t at, std::uint32_t t, const Vec3f& share);
  bool widen(std::uint16_t ring);
  SurfacePoint nearestTo(int x, int y, std::uint32_t t, double& distance) const;

  std::span<const Vec2f> uvs_;
  std::span<const Triangle> triangles_;
  UvRaster out_;
  std::vector<bool> well_inside_;
  std::vector<bool> overlapping_;
};

void Rasteriser::draw(std::uint32_t t) {
  const std::array<Vec2f, 3> p = cornersOf(t);
  const auto twice = [](const Vec2f& a, const Vec2f& b) { return a.x() * b.y() - a.y() * b.x(); };
  const float area = twice(p[1] - p[0], p[2] - p[0]);
  if (!(std::abs(area) > 1e-12f)) {
    ++out_.flat_triangles;
    return;
  }
  // Clamped as floats: far outside the square they do not fit into an int.
  const auto range = [](float low, float high, int size) {
    return std::pair{int(std::clamp(std::floor(low), 0.0f, float(size - 1))),
                     int(std::clamp(std::ceil(high), 0.0f, float(size - 1)))};
  };
  const auto [x0, x1] = range(std::min({p[0].x(), p[1].x(), p[2].x()}),
                              std::max({p[0].x(), p[1].x(), p[2].x()}), out_.width);
  const auto [y0, y1] = range(std::min({p[0].y(), p[1].y(), p[2].y()}),
                              std::max({p[0].y(), p[1].y(), p[2].y()}), out_.height);
  for (int y = y0; y <= y1; ++y)
    for (int x = x0; x <= x1; ++x) {
      const Vec2f q(float(x) + 0.5f, float(y) + 0.5f);
      const float b = twice(q - p[0], p[2] - p[0]) / area;
      const float c = twice(p[1] - p[0], q - p[0]) / area;
      if (!(b >= 0 && c >= 0 && b + c <= 1)) continue;  // nor what is too large for floats
      cover(out_.texel(x, y), t, Vec3f(1 - b - c, b, c));
    }
}

void Rasteriser::cover(std::size_t at, std::uint32_t t, const Vec3f& share) {
  const bool well_inside = share.minCoeff() > kWellInside;
  if (well_inside && well_inside_[at]) {
    if (!out_.first_overlap) out_.first_overlap = {out_.points[at].triangle, t};
    out_.overlapping_texels += !overlapping_[at];
    overlapping_[at] = true;
  }
  if (well_inside) well_inside_[at] = true;
  out_.points[at] = {t, share};
}

/// The point of a triangle that is nearest to the middle of a texel, in the texture.
SurfacePoint Rasteriser::nearestTo(int x, int y, std::uint32_t t, double& distance) const {
  const std::array<Vec2f, 3> p = cornersOf(t);
  const auto flat = [](const Vec2f& v) { return Vec3d(v.x(), v.y(), 0); };
  const Vec3d q(x + 0.5, y + 0.5, 0);
  const Vec3d share = closestOnTriangle(q, flat(p[0]), flat(p[1]), flat(p[2]));
  distance =
      (share[0] * flat(p[0]) + share[1] * flat(p[1]) + share[2] * flat(p[2]) - q).squaredNorm();
  return {t, share.cast<float>()};
}

/// One ring more; false where there is no texel left to fill.
bool Rasteriser::widen(std::uint16_t ring) {
  std::vector<std::pair<std::size_t, SurfacePoint>> found;
  for (int y = 0; y < out_.height; ++y)
    for (int x = 0; x < out_.width; ++x) {
      const std::size_t at = out_.texel(x, y);
      if (out_.hasSurface(at)) continue;
      double best = std::numeric_limits<double>::infinity();
      SurfacePoint point{.triangle = UvRaster::kNoTriangle};
      for (int j = std::max(y - 1, 0); j <= std::min(y + 1, out_.height - 1); ++j)
        for (int i = std::max(x - 1, 0); i <= std::min(x + 1, out_.width - 1); ++i) {
          const std::uint32_t t = out_.points[out_.texel(i, j)].triangle;
          if (t == UvRaster::kNoTriangle || t == point.triangle) continue;
          double distance = 0;
          const SurfacePoint near = nearestTo(x, y, t, distance);
          if (distance >= best) continue;
          best = distance;
          point = near;
        }
      if (point.triangle != UvRaster::kNoTriangle) found.emplace_back(at, point);
    }
  for (const auto& [at, point] : found) {
    out_.points[at] = point;
    out_.rings[at] = ring;
  }
  return !found.empty();
}

}  // namespace

UvRaster rasteriseUvs(std::span<const Vec2f> uvs, std::span<const Triangle> triangles,
                      const UvRasterDesc& desc) {
  DERM_REQUIRE(desc.width >= 1 && desc.height >= 1 && desc.padding >= 0);
  return Rasteriser(uvs, triangles, desc).run(desc.padding);
}

Vec2f squareOfMost(std::span<const Vec2f> places) {
  constexpr float kFarthest = 1000;  // beyond it floats have no room for a texture's detail
  std::map<std::array<float, 2>, std::size_t> votes;
  for (const Vec2f& uv : places) {
    if (uv.minCoeff() >= 0 && uv.maxCoeff() <= 1)
      ++votes[{0, 0}];
    else if (uv.cwiseAbs().maxCoeff() < kFarthest)
      ++votes[{std::floor(uv.x()), std::floor(uv.y())}];
  }
  const auto most = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == votes.end()) return Vec2f::Zero();
  return {most->first[0], most->first[1]};
}

Vec2f squareOfMost(std::span<const Vec2f> uvs, std::span<const Triangle> triangles) {
  std::vector<Vec2f> middles;
  middles.reserve(triangles.size());
  for (const Triangle& t : triangles) middles.push_back((uvs[t[0]] + uvs[t[1]] + uvs[t[2]]) / 3);
  return squareOfMost(middles);
}

std::vector<Vec2f> uvsInSquare(std::span<const Vec2f> uvs, const Vec2f& square) {
  std::vector<Vec2f> out(uvs.begin(), uvs.end());
  if (!square.isZero())
    for (Vec2f& uv : out) uv -= square;
  return out;
}

}  // namespace derm
