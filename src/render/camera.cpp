#include "derm/render/camera.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

#include "derm/base/assert.h"

namespace derm {
namespace {

/// Rows: the picture's right, up and backward directions.
Mat3d viewAxes(const Vec3d& backward) {
  Vec3d right = Vec3d(Vec3d::UnitY()).cross(backward);
  if (right.norm() < 1e-9)  // looking straight up or down
    right = Vec3d::UnitX();
  right.normalize();
  Mat3d axes;
  axes.row(0) = right;
  axes.row(1) = backward.cross(right);
  axes.row(2) = backward;
  return axes;
}

/// What the points may fill along one axis of the picture: tangents of the angles to its ends.
struct Opening {
  double low;
  double high;
};

Opening openingOf(double tan, double free_low, double free_high, double share) {
  const double middle = free_low - free_high;
  const double half = (1 - free_low - free_high) * share;
  return {tan * (middle - half), tan * (middle + half)};
}

/// How far to move sideways (axis 0) or up (1) so that the picture has as much room on one side of
/// the corners as on the other: their middle is seen at the tangent `aimed_at`. More shift makes
/// one side wider and the other narrower, so halving the interval finds it.
double centringShift(std::span<const Vec3d> corners, int axis, double distance, double aimed_at) {
  double low = 1e300, high = -1e300;
  for (const Vec3d& p : corners) {
    low = std::min(low, p[axis]);
    high = std::max(high, p[axis]);
  }
  low -= std::abs(aimed_at) * 2 * distance;
  high += std::abs(aimed_at) * 2 * distance;
  for (int step = 0; step < 60; ++step) {
    const double middle = 0.5 * (low + high);
    double min = 1e300, max = -1e300;
    for (const Vec3d& p : corners) {
      const double seen = (p[axis] - middle) / (distance - p.z());
      min = std::min(min, seen);
      max = std::max(max, seen);
    }
    (min + max > 2 * aimed_at ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

constexpr double kMinSize_m = 1e-6;

/// Bounds that a camera can stand before.
Bounds usable(const Bounds& bounds) {
  Bounds out = bounds;
  const bool finite = bounds.low.allFinite() && bounds.high.allFinite();
  if (bounds.empty() || !finite) {
    out.low = Vec3f::Constant(-0.5f);
    out.high = Vec3f::Constant(0.5f);
  } else if (bounds.diagonal() < kMinSize_m) {
    out.low -= Vec3f::Constant(5e-4f);
    out.high += Vec3f::Constant(5e-4f);
  }
  return out;
}

/// The camera nearest to the points from which all are seen; `box` is around them.
Camera cameraBefore(std::span<const Vec3f> points, const Bounds& box, const OrbitDesc& desc,
                    double aspect) {
  DERM_REQUIRE(aspect > 0 && desc.zoom > 0);
  const Vec3d backward = directionToEye(desc);
  const Mat3d axes = viewAxes(backward);
  const double share = 1.0 - std::clamp(desc.margin, 0.0, 0.9);
  const double tan_y = std::tan(0.5 * desc.fov_y_rad);
  const PictureInsets& free = desc.keep_free;
  DERM_REQUIRE(free.left + free.right < 1 && free.bottom + free.top < 1);
  const Opening across = openingOf(tan_y * aspect, free.left, free.right, share);
  const Opening upright = openingOf(tan_y, free.bottom, free.top, share);

  // A point (x, y, z) in camera axes is inside while (d - z) low <= x - cx <= (d - z) high: for
  // each side of the picture one linear inequality in the shift c and the distance d, so the
  // extremes decide.
  const Vec3d centre = box.centre().cast<double>();
  std::vector<Vec3d> seen;
  double right = -1e300, left = 1e300, top = -1e300, bottom = 1e300, front = -1e300;
  for (const Vec3f& point : points) {
    const Vec3d p = seen.emplace_back(axes * (point.cast<double>() - centre));
    right = std::max(right, p.x() + p.z() * across.high);
    left = std::min(left, p.x() + p.z() * across.low);
    top = std::max(top, p.y() + p.z() * upright.high);
    bottom = std::min(bottom, p.y() + p.z() * upright.low);
    front = std::max(front, p.z());
  }
  const double distance = std::max((right - left) / (across.high - across.low),
                                   (top - bottom) / (upright.high - upright.low));
  // A zoomed picture shows less of the same view: its middle lies nearer to the axis.
  const auto middle = [&](const Opening& o) { return 0.5 * (o.low + o.high) / desc.zoom; };
  const Vec3d shift(centringShift(seen, 0, distance, middle(across)),
                    centringShift(seen, 1, distance, middle(upright)), 0);
  const double reach = box.diagonal();

  Camera out;
  out.fov_y_rad = 2 * std::atan(std::tan(0.5 * desc.fov_y_rad) / desc.zoom);
  out.target = centre + Vec3d(axes.transpose() * shift);
  out.eye = out.target + backward * distance;
  // Room before and behind the points for what moves or grows out of them.
  out.near_m = std::max(distance - front - 0.5 * reach, 0.02 * distance);
  out.far_m = distance + 12 * reach;
  return out;
}

}  // namespace

Vec3d directionToEye(const OrbitDesc& desc) {
  return Vec3d(std::sin(desc.yaw_rad) * std::cos(desc.pitch_rad), std::sin(desc.pitch_rad),
               std::cos(desc.yaw_rad) * std::cos(desc.pitch_rad));
}

Mat4d Camera::view() const {
  Vec3d backward = eye - target;
  backward = backward.norm() > 0 ? Vec3d(backward.normalized()) : Vec3d(Vec3d::UnitZ());
  const Mat3d axes = viewAxes(backward);
  Mat4d out = Mat4d::Identity();
  out.topLeftCorner<3, 3>() = axes;
  out.topRightCorner<3, 1>() = -(axes * eye);
  return out;
}

Mat4d Camera::projection(double aspect) const {
  const double f = 1.0 / std::tan(0.5 * fov_y_rad);
  Mat4d out = Mat4d::Zero();
  out(0, 0) = f / aspect;
  out(1, 1) = f;
  out(2, 2) = -(far_m + near_m) / (far_m - near_m);
  out(2, 3) = -2 * far_m * near_m / (far_m - near_m);
  out(3, 2) = -1;
  return out;
}

Camera orbitCamera(const Bounds& bounds, const OrbitDesc& desc, double aspect) {
  const Bounds box = usable(bounds);
  std::array<Vec3f, 8> corners;
  for (std::size_t i = 0; i < 8; ++i)
    corners[i] = Vec3f((i & 1) ? box.high.x() : box.low.x(), (i & 2) ? box.high.y() : box.low.y(),
                       (i & 4) ? box.high.z() : box.low.z());
  return cameraBefore(corners, box, desc, aspect);
}

Camera orbitCamera(std::span<const Vec3f> points, const OrbitDesc& desc, double aspect) {
  std::vector<Vec3f> finite;
  std::copy_if(points.begin(), points.end(), std::back_inserter(finite),
               [](const Vec3f& p) { return p.allFinite(); });
  const Bounds box = bounds(finite);
  if (box.empty() || box.diagonal() < kMinSize_m) return orbitCamera(box, desc, aspect);
  return cameraBefore(finite, box, desc, aspect);
}

FarthestPoints::FarthestPoints() {
  for (int x = -2; x <= 2; ++x)
    for (int y = -2; y <= 2; ++y)
      for (int z = -2; z <= 2; ++z)
        if (std::max({std::abs(x), std::abs(y), std::abs(z)}) == 2)
          directions_.emplace_back(static_cast<float>(x), static_cast<float>(y),
                                   static_cast<float>(z));
}

void FarthestPoints::add(std::span<const Vec3f> points, const Vec3f& offset) {
  if (points.empty()) return;
  if (points_.empty()) {
    points_.assign(directions_.size(), points.front() + offset);
    reach_.assign(directions_.size(), -std::numeric_limits<float>::infinity());
  }
  for (std::size_t d = 0; d < directions_.size(); ++d)
    for (const Vec3f& p : points) {
      const Vec3f at = p + offset;
      const float reach = directions_[d].dot(at);
      if (!(reach > reach_[d])) continue;
      reach_[d] = reach;
      points_[d] = at;
    }
}

Bounds united(const Bounds& a, const Bounds& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  Bounds out;
  out.low = a.low.cwiseMin(b.low);
  out.high = a.high.cwiseMax(b.high);
  return out;
}

Vec3d projectedPoint(const Camera& camera, const Vec3d& point, int width_px, int height_px) {
  DERM_REQUIRE(width_px > 0 && height_px > 0);
  using Vec4 = Eigen::Matrix<double, 4, 1, Eigen::DontAlign>;
  const Vec4 clip = camera.projection(double(width_px) / height_px) * camera.view() *
                    Vec4(point.x(), point.y(), point.z(), 1.0);
  const double w = clip.w();
  if (!(w > 0)) return Vec3d(0, 0, w);
  return Vec3d((clip.x() / w * 0.5 + 0.5) * width_px, (0.5 - clip.y() / w * 0.5) * height_px, w);
}

}  // namespace derm
