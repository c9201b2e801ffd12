#include "face/lid_zone.h"

#include <algorithm>
#include <cmath>

#include "face/eye_centre.h"

namespace derm::detail {

LidZone::LidZone(const HeadSurface& head, const FacePoints& points, const SlitPoints& eye,
                 const SlitContours& contours, const FaceAxes& axes, Lid lid, const Vec2d& reach_m)
    : lid_(lid), reach_(reach_m) {
  // Heights are measured the way that a blink goes, seen from the front: what lies on one such line
  // meets.
  const Vec3d way = points.at(eye.upper[0]) - points.at(eye.lower[0]);
  depth_ = axes.forward;
  const Vec3d seen = way - depth_.dot(way) * depth_;
  height_ = seen.norm() > 0 ? Vec3d(seen.normalized()) : axes.up;
  along_ = height_.cross(depth_).normalized();
  upper_ = marginOf(head, contours.upper);
  lower_ = marginOf(head, contours.lower);
  if (upper_.points.size() < 3 || lower_.points.size() < 3) return;
  from_ = points.at(lid == Lid::Upper ? eye.upper[0] : eye.lower[0]);
  to_ = points.at(lid == Lid::Upper ? eye.lower[0] : eye.upper[0]);
  if (const std::optional<Vec3d> pivot = lidPivot(points, eye.upper[0], axes))
    turn_ = turnAbout(*pivot, from_, to_);
  double most = 0;
  for (const Margin* margin : {&upper_, &lower_})
    for (const Vec3d& p : margin->points) most = std::max(most, share(p.x()));
  largest_ = most;
}

double LidZone::share(double along) const {
  const Vec2d upper = upper_.at(along), lower = lower_.at(along);
  const Vec2d& margin = lid_ == Lid::Upper ? upper : lower;
  const Vec3d p = along * along_ + margin.x() * height_ + margin.y() * depth_;
  const Vec3d moved = to_ + turn_ * (p - from_);
  const double way = std::abs(height_.dot(moved - p));
  return way > 0 ? std::max(0.0, upper.x() - lower.x()) / way : 0;
}

double LidZone::weight(const Vec3d& p) const {
  if (largest_ <= 0) return 0;
  const Vec3d q = inFrame(p);
  const double first = std::max(upper_.points.front().x(), lower_.points.front().x());
  const double last = std::min(upper_.points.back().x(), lower_.points.back().x());
  if (q.x() <= first || q.x() >= last) return 0;
  const Vec2d margin = (lid_ == Lid::Upper ? upper_ : lower_).at(q.x());
  const Vec2d off = (Vec2d(q.y(), q.z()) - margin).cwiseQuotient(reach_);
  // A margin is an edge with a thickness; beyond it the skin is stretched evenly.
  constexpr double kThickness = 0.1;
  const double near = std::clamp((1 - off.norm()) / (1 - kThickness), 0.0, 1.0);
  return near * std::min(1.0, share(q.x()) / largest_);
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
  for (const std::uint32_t v : contour) out.points.push_back(inFrame(head.positions[v]));
  // A contour may turn back a little at its corners; over one place the last counts.
  std::stable_sort(out.points.begin(), out.points.end(),
                   [](const Vec3d& a, const Vec3d& b) { return a.x() < b.x(); });
  out.points.erase(std::unique(out.points.begin(), out.points.end(),
                               [](const Vec3d& a, const Vec3d& b) { return a.x() == b.x(); }),
                   out.points.end());
  return out;
}

Vec3d LidZone::inFrame(const Vec3d& p) const {
  return {along_.dot(p), height_.dot(p), depth_.dot(p)};
}

}  // namespace derm::detail
