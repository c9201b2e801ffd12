#include "deform/wrinkle_line.h"

#include <algorithm>
#include <limits>

namespace derm::detail {
namespace {

/// How near two crests may come, of the distance at which they would touch.
constexpr double kContactShare = 0.95;

}  // namespace

double SkinLine::measure(std::span<const Vec3f> positions,
                         std::span<double> segments) const noexcept {
  std::fill(segments.begin(), segments.end(), 0.0);
  std::size_t from = 0;
  Vec3d before = points_[0].at(positions).cast<double>();
  for (std::size_t i = 1; i < points_.size(); ++i) {
    if (points_[i].share.isZero()) continue;  // no skin: the way goes straight on
    const Vec3d now = points_[i].at(positions).cast<double>();
    const double step = (now - before).norm() / static_cast<double>(i - from);
    for (; from < i; ++from) segments[from / kSteps] += step;
    before = now;
  }
  double sum = 0;
  for (const double s : segments) sum += s;
  return sum;
}

/// Where normals of neighbouring control points converge, their heights end before they meet.
///
///    \  1 /     gap closes at rate c = N1.g - N2.g per height (each at least 0),
///     \ | /     so crests at gap / c would touch
///   N1 \|/ N2
///  ----P1-P2----
///
/// The rates c / gap are evened out with those of both neighbours, upwards only: normals of single
/// triangles do not cut single crests short, and none rises beyond its own limit.
void SkinLine::findLimits(std::span<const Vec3f> positions, std::span<const Vec3f> normals,
                          std::span<double> limits) const noexcept {
  const std::size_t count = limits.size();
  for (std::size_t i = 0; i < count; ++i) {
    limits[i] = 0;
    const RidingPoint& from = points_[i * kSteps];
    const RidingPoint& to = points_[(i + 1) * kSteps];
    if (from.share.isZero() || to.share.isZero()) continue;
    const Vec3f gap = to.at(positions) - from.at(positions);
    const float length = gap.norm();
    if (!(length > 0)) continue;
    const Vec3f n1 = from.at(normals), n2 = to.at(normals);
    const float closing = std::max(0.0f, n1.dot(gap) / (length * std::max(n1.norm(), 1e-6f))) +
                          std::max(0.0f, -n2.dot(gap) / (length * std::max(n2.norm(), 1e-6f)));
    limits[i] = static_cast<double>(closing / length);
  }
  double left = limits[0];
  for (std::size_t i = 0; i < count; ++i) {
    const double own = limits[i], right = limits[std::min(i + 1, count - 1)];
    const double rate = std::max(own, (left + 2 * own + right) / 4);
    left = own;
    limits[i] = rate > 1e-9 ? kContactShare / rate : std::numeric_limits<double>::infinity();
  }
}

}  // namespace derm::detail
