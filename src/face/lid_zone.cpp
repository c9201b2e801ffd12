#include "face/lid_zone.h"

#include <algorithm>
#include <cmath>

#include "face/smooth_step.h"

namespace derm::detail {

LidZone::LidZone(const HeadSurface& head, const FacePoints& points, FaceSide side,
                 const SlitContours& contours, const LidMeeting& blink, const FaceAxes& axes,
                 Lid lid, const Vec2d& reach_m)
    : axes_(eyeAxes(points, side, axes)), lid_(lid), reach_(reach_m) {
  upper_ = marginOf(head, contours.upper);
  lower_ = marginOf(head, contours.lower);
  if (upper_.points.size() < 3 || lower_.points.size() < 3) return;
  from_ = lid == Lid::Upper ? blink.upper : blink.lower;
  to_ = lid == Lid::Upper ? blink.lower : blink.upper;
  if (const std::optional<Vec3d> pivot = lidPivot(points, eyePoints(side).upper[0], axes))
    turn_ = turnAbout(*pivot, axes_.along, from_, to_);
  // Near the corners heights and ways are both next to nothing, and their ratio anything.
  constexpr double kCorner = 0.15;
  const double first = upper_.points.front().x(), last = upper_.points.back().x();
  first_ = std::max(first, lower_.points.front().x());
  last_ = std::min(last, lower_.points.back().x());
  for (const Margin* margin : {&upper_, &lower_})
    for (const Vec3d& p : margin->points)
      if (std::min(p.x() - first, last - p.x()) > kCorner * (last - first))
        largest_ = std::max(largest_, share(p.x()));
}

double LidZone::share(double along) const {
  const Vec2d upper = upper_.at(along), lower = lower_.at(along);
  const Vec2d& margin = lid_ == Lid::Upper ? upper : lower;
  const Vec3d p = along * axes_.along + margin.x() * axes_.height + margin.y() * axes_.depth;
  const Vec3d moved = to_ + turn_ * (p - from_);
  const double way = std::abs(axes_.height.dot(moved - p));
  return way > 0 ? std::max(0.0, upper.x() - lower.x()) / way : 0;
}

double LidZone::meanShare(double along, double half) const {
  constexpr int kSteps = 8;
  double sum = 0, total = 0;
  for (int k = -kSteps; k <= kSteps; ++k) {
    const double part = 1 - std::abs(k) / (kSteps + 1.0);
    const double x = along + half * k / kSteps;
    if (x > first_ && x < last_) sum += part * std::min(1.0, share(x) / largest_);
    total += part;
  }
  return sum / total;
}

double LidZone::weight(const Vec3d& p) const {
  if (largest_ <= 0) return 0;
  const Vec3d q = axes_.inFrame(p);
  const double beside = std::max({0.0, first_ - q.x(), q.x() - last_});
  const Vec2d margin = (lid_ == Lid::Upper ? upper_ : lower_).at(q.x());
  const Vec2d off = Vec2d(q.y(), q.z()) - margin;
  const double away = std::hypot(off.cwiseQuotient(reach_).norm(), beside / reach_.x());
  // A margin is an edge with a thickness, which goes as one.
  constexpr double kThickness = 0.2;
  // Below 1, so that closeLids() may add where it must.
  constexpr double kLargest = 0.95;
  if (away >= 1) return 0;
  // The height of an opening ends in steep corners, and so do the shares on its margin. The skin
  // around follows a stretch of the margin that grows with its distance: it must not be cut there.
  constexpr double kWidening = 1.5;
  const double half = kWidening * std::hypot(off.norm(), beside);
  // Beside the corners ways along the skin do not tell the lids apart: heights do.
  constexpr double kOther = 0.3;
  const double beyond =
      lid_ == Lid::Upper ? lower_.at(q.x()).x() - q.y() : q.y() - upper_.at(q.x()).x();
  const double own = 1 - smoothStep(0, kOther, beyond / reach_.x());
  return own * (1 - smoothStep(kThickness, 1, away)) * kLargest * meanShare(q.x(), half);
}

Vec2d LidZone::Margin::at(double along) const {
  const auto after = std::upper_bound(points.begin(), points.end(), along,
                                      [](double a, const Vec3d& p) { return a < p.x(); });
  if (after == points.begin()) return points.front().tail<2>();
  if (after == points.end()) return points.back().tail<2>();
  const Vec3d &a = *(after - 1), &b = *after;
  const double t = (along - a.x()) / (b.x() - a.x());
  return (1 - t) * a.tail<2>() + t * b.tail<2>();
}

LidZone::Margin LidZone::marginOf(const HeadSurface& head,
                                  std::span<const std::uint32_t> contour) const {
  Margin out;
  for (const std::uint32_t v : contour) out.points.push_back(axes_.inFrame(head.positions[v]));
  // A contour may turn back a little at its corners; over one position the last counts.
  std::stable_sort(out.points.begin(), out.points.end(),
                   [](const Vec3d& a, const Vec3d& b) { return a.x() < b.x(); });
  out.points.erase(std::unique(out.points.begin(), out.points.end(),
                               [](const Vec3d& a, const Vec3d& b) { return a.x() == b.x(); }),
                   out.points.end());
  return out;
}

}  // namespace derm::detail
