#include "view/framing.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace derm::detail {
namespace {

constexpr float kPlateGap_px = 6;   ///< between a plate and what it keeps off
constexpr double kMaxInset = 0.45;  ///< of the picture, whatever a plate wants

using Polygon = std::vector<Vec2f>;

float cross(const Vec2f& a, const Vec2f& b) { return a.x() * b.y() - a.y() * b.x(); }

/// Convex hull by Andrew's monotone chain.
Polygon hullOf(std::vector<Vec2f> points) {
  const auto before = [](const Vec2f& a, const Vec2f& b) {
    return a.x() != b.x() ? a.x() < b.x() : a.y() < b.y();
  };
  std::sort(points.begin(), points.end(), before);
  Polygon hull;
  for (int pass = 0; pass < 2; ++pass) {
    const std::size_t start = hull.size();
    for (const Vec2f& p : points) {
      while (hull.size() >= start + 2 &&
             cross(Vec2f(hull.back() - hull[hull.size() - 2]), Vec2f(p - hull.back())) <= 0)
        hull.pop_back();
      hull.push_back(p);
    }
    if (!hull.empty()) hull.pop_back();
    std::reverse(points.begin(), points.end());
  }
  return hull;
}

/// Whether a line along an edge of the hull, or the box's own sides, part the two.
bool overlaps(const ClipRect& box, const Polygon& hull) {
  if (hull.empty()) return false;
  Vec2f low = hull.front(), high = hull.front();
  for (const Vec2f& p : hull) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  if (high.x() < box.left || low.x() > box.right || high.y() < box.top || low.y() > box.bottom)
    return false;
  const std::array<Vec2f, 4> corners = {Vec2f(box.left, box.top), Vec2f(box.right, box.top),
                                        Vec2f(box.left, box.bottom), Vec2f(box.right, box.bottom)};
  for (std::size_t i = 0; i < hull.size(); ++i) {
    const Vec2f edge = hull[(i + 1) % hull.size()] - hull[i];
    if (std::all_of(corners.begin(), corners.end(),
                    [&](const Vec2f& c) { return cross(edge, Vec2f(c - hull[i])) < 0; }))
      return false;
  }
  return true;
}

Camera cameraWith(const PictureInsets& free, std::span<const Vec3f> points, OrbitDesc orbit,
                  const PictureSize& size) {
  orbit.keep_free = free;
  return orbitCamera(points, orbit, double(size.width) / std::max(size.height, 1));
}

bool isCovered(const ClipRect& plate, const Camera& camera, std::span<const Vec3f> points,
               const PictureSize& size) {
  std::vector<Vec2f> seen;
  for (const Vec3f& p : points) {
    const Vec3d at = projectedPoint(camera, p.cast<double>(), size.width, size.height);
    if (at.z() > 0) seen.emplace_back(at.head<2>().cast<float>());
  }
  return overlaps(plate, hullOf(std::move(seen)));
}

/// The insets with the band of one more plate, along the upright or the level side next to it.
PictureInsets withBand(PictureInsets free, const ClipRect& plate, const PictureSize& size,
                       bool level) {
  const double w = std::max(size.width, 1), h = std::max(size.height, 1);
  const auto grow = [](double& inset, double wanted) {
    inset = std::max(inset, std::min(wanted, kMaxInset));
  };
  if (level) {
    const bool top = plate.top + plate.bottom < h;
    grow(top ? free.top : free.bottom, (top ? plate.bottom : h - plate.top) / h);
  } else {
    const bool left = plate.left + plate.right < w;
    grow(left ? free.left : free.right, (left ? plate.right : w - plate.left) / w);
  }
  return free;
}

}  // namespace

PictureInsets roomFor(std::span<const ClipRect> plates, std::span<const Vec3f> points,
                      const OrbitDesc& orbit, const PictureSize& size) {
  PictureInsets free = orbit.keep_free;
  const auto distance = [](const Camera& c) { return Vec3d(c.eye - c.target).norm(); };
  for (const ClipRect& p : plates) {
    const ClipRect plate = {p.left - kPlateGap_px, p.top - kPlateGap_px, p.right + kPlateGap_px,
                            p.bottom + kPlateGap_px};
    if (!isCovered(plate, cameraWith(free, points, orbit, size), points, size)) continue;
    const PictureInsets level = withBand(free, plate, size, true);
    const PictureInsets upright = withBand(free, plate, size, false);
    free = distance(cameraWith(level, points, orbit, size)) <=
                   distance(cameraWith(upright, points, orbit, size))
               ? level
               : upright;
  }
  return free;
}

}  // namespace derm::detail
