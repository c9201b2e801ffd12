#include "cast/planar_pose.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace derm::detail::cast {
namespace {

constexpr double kDegrees = 180.0 / std::numbers::pi;

/// Angle about x from +y. [degrees]
double heading(const Vec3d& v) { return std::atan2(v.z(), v.y()) * kDegrees; }
double planarLength(const Vec3d& v) { return std::hypot(v.y(), v.z()); }

/// x up to `limit - width`, then ever more slowly towards the limit.
double eased(double x, double limit, double width) {
  if (width <= 0) return std::min(x, limit);
  const double start = limit - width;
  return x <= start ? x : limit - width * std::exp(-(x - start) / width);
}

double wrapped(double degrees) { return degrees - 360.0 * std::round(degrees / 360.0); }

}  // namespace

Vec3d pitched(const Vec3d& v, double degrees) {
  const double c = std::cos(degrees / kDegrees), s = std::sin(degrees / kDegrees);
  return Vec3d(v.x(), c * v.y() - s * v.z(), s * v.y() + c * v.z());
}

PlanarPose::PlanarPose(const Rig& rig) : rig_(&rig), pitch_(rig.skeleton().size(), 0.0) {}

Vec3d PlanarPose::where(JointId joint) const {
  const JointId parent = rig_->skeleton()[joint].parent;
  if (!parent.valid()) return rig_->position(joint) + move;
  return where(parent) +
         pitched(rig_->position(joint) - rig_->position(parent), worldPitch(parent));
}

double PlanarPose::worldPitch(JointId joint) const {
  double sum = 0;
  for (; joint.valid(); joint = rig_->skeleton()[joint].parent) sum += pitch_[joint.index()];
  return sum;
}

void PlanarPose::pitchInWorld(std::string_view joint, double degrees) {
  pitch(joint) = 0;
  pitch(joint) = wrapped(degrees - worldPitch(joint));
}

void PlanarPose::reach(std::string_view upper, std::string_view lower, std::string_view end,
                       const Vec3d& target, double ease) {
  const Vec3d thigh = rig_->position(lower) - rig_->position(upper);
  const Vec3d shin = rig_->position(end) - rig_->position(lower);
  const double a = planarLength(thigh), b = planarLength(shin);
  const Vec3d way = target - where(upper);
  const double shortest = std::abs(a - b) * 1.02 + 1e-6, longest = (a + b) * 0.998;
  const double width = ease * (a + b);
  const double d = -eased(-eased(planarLength(way), longest, width), -shortest, width);
  const double corner = std::acos(std::clamp((a * a + d * d - b * b) / (2 * a * d), -1.0, 1.0));
  // The knee is on the side of the line hip - ankle that it is on at rest.
  const double side = wrapped(heading(thigh) - heading(Vec3d(thigh + shin))) > 0 ? 1.0 : -1.0;
  const double thigh_heading = heading(way) + side * corner * kDegrees;
  pitchInWorld(upper, thigh_heading - heading(thigh));
  const Vec3d knee = where(upper) + pitched(thigh, worldPitch(upper));
  const Vec3d ankle = where(upper) + pitched(Vec3d(0, d, 0), heading(way));
  pitchInWorld(lower, heading(Vec3d(ankle - knee)) - heading(shin));
}

void PlanarPose::addKeys(double time_s, ClipSketch& clip) const {
  for (std::size_t j = 0; j < pitch_.size(); ++j) {
    const JointId joint(j);
    if (!rig_->skeleton()[joint].parent.valid())
      clip.translation(joint, time_s, rig_->position(joint) + move);
    else
      clip.rotation(joint, time_s, aboutX(pitch_[j]));
  }
}

}  // namespace derm::detail::cast
