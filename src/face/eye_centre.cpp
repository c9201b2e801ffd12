#include "face/eye_centre.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Geometry>

#include "derm/math/decompositions.h"

#include "face/slit_sides.h"

namespace derm::detail {

std::optional<Vec3d> eyeCentre(const FacePoints& points, FaceSide side, const FaceAxes& axes) {
  const SlitPoints eye = eyePoints(side);
  const Vec3d &outer = points.at(eye.corners[0]), &inner = points.at(eye.corners[1]);
  const Vec3d &upper = points.at(eye.upper[0]), &lower = points.at(eye.lower[0]);
  // |c - p|^2 is the same for all four: three equations for c, about the outer corner.
  Eigen::Matrix3d rows;
  rows << (inner - outer).transpose(), (upper - outer).transpose(), (lower - outer).transpose();
  const Vec3d half_squares = 0.5 * rows.rowwise().squaredNorm();
  const std::optional<Eigen::MatrixXd> way = solveGeneral(rows, half_squares, 1e-4);
  if (!way) return {};
  const Vec3d centre = outer + Vec3d(*way);
  const double radius = (centre - outer).norm(), width = (outer - inner).norm();
  const double behind = axes.forward.dot(0.5 * (upper + lower) - centre);
  if (!(radius > 0.45 * width && radius < 1.2 * width && behind > 0.3 * radius)) return {};
  return centre;
}

std::optional<Vec3d> lidPivot(const FacePoints& points, std::string_view lid,
                              const FaceAxes& axes) {
  const FaceSide side = eyeOfLid(lid);
  if (side == FaceSide::Middle) return {};
  const std::optional<Vec3d> centre = eyeCentre(points, side, axes);
  if (!centre) return {};
  // In widths of the eye, behind the deeper corner: what lies behind the pivot goes up as the lid
  // goes down.
  constexpr double kToLine = 0.5, kBehind = 0.12;
  const SlitPoints eye = eyePoints(side);
  const Vec3d &outer = points.at(eye.corners[0]), &inner = points.at(eye.corners[1]);
  const Vec3d along = (inner - outer).normalized();
  const Vec3d middle = 0.5 * (points.at(eye.upper[0]) + points.at(eye.lower[0]));
  const Vec3d foot = outer + along.dot(middle - outer) * along;
  const double way = axes.forward.dot(foot - *centre);
  const double free =
      std::min(axes.forward.dot(outer - *centre), axes.forward.dot(inner - *centre)) -
      kBehind * (inner - outer).norm();
  const double share = way > 0 ? std::clamp(free / way, 0.0, kToLine) : kToLine;
  return *centre + share * (foot - *centre);
}

EyeAxes eyeAxes(const FacePoints& points, FaceSide side, const FaceAxes& axes) {
  const SlitPoints eye = eyePoints(side);
  Vec3d way = points.at(eye.corners[1]) - points.at(eye.corners[0]);
  way -= axes.forward.dot(way) * axes.forward;
  Vec3d height = axes.forward.cross(way);
  if (height.dot(axes.up) < 0) height = -height;
  height = height.norm() > 0 ? Vec3d(height.normalized()) : axes.up;
  return {height.cross(axes.forward), height, axes.forward};
}

FaceSide eyeOfLid(std::string_view number) {
  if (number == "3.1" || number == "3.3") return FaceSide::Left;
  return number == "3.2" || number == "3.4" ? FaceSide::Right : FaceSide::Middle;
}

Quatd turnAbout(const Vec3d& centre, const Vec3d& axis, const Vec3d& from, const Vec3d& to) {
  const auto across = [&](const Vec3d& p) {
    return Vec3d(p - centre - axis.dot(p - centre) * axis);
  };
  const Vec3d a = across(from), b = across(to);
  return Quatd(Eigen::AngleAxisd(std::atan2(axis.dot(a.cross(b)), a.dot(b)), axis));
}

}  // namespace derm::detail
