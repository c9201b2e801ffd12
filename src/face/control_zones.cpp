#include "derm/face/control_zones.h"

#include <algorithm>
#include <cmath>

namespace derm {
namespace {

/// Lengths of a face that zones are made from. [m]
struct Lengths {
  double mouth_width, nose_width, lip_to_nose, lip_to_chin, brow_gap;
};

/// Lengths of one side. [m]
struct SideLengths {
  double brow, eye_width, lid_opening;
  double cheek_to_nose;  ///< sideways
  double cheek_to_lid;   ///< upwards
};

class ZoneRules {
 public:
  ZoneRules(const FacePoints& points, bool with_jaw)
      : points_(points), axes_(faceAxes(points)), with_jaw_(with_jaw) {
    all_ = {between("8.3", "8.4"), between("9.1", "9.2"), between("8.1", "9.3"),
            between("8.2", "2.1"), between("4.1", "4.2")};
    left_ = sideLengths({"4.1", "4.5", "3.7", "3.11", "3.1", "3.3", "5.1", "9.1"});
    right_ = sideLengths({"4.2", "4.6", "3.12", "3.8", "3.2", "3.4", "5.2", "9.2"});
  }

  Vec3d radii(const FaceFeature& feature) const {
    const bool right = feature.side == FaceSide::Right;
    const SideLengths& side = right ? right_ : left_;
    const std::string_view n = right ? feature.mirror : feature.number;
    const double mw = all_.mouth_width, nw = all_.nose_width;
    if (n == "4.1")
      return {std::max(side.brow / 2.5, .55 * all_.brow_gap), side.brow / 2, side.brow / 2};
    if (n == "4.3") return Vec3d::Constant(side.brow / 2);
    if (n == "4.5") return Vec3d::Constant(side.brow / 2.5);
    if (n == "3.1") return {side.eye_width / 1.5, side.lid_opening, side.eye_width / 1.5};
    if (n == "3.3") return {side.eye_width / 1.5, .8 * side.lid_opening, side.eye_width / 1.5};
    if (n == "3.7" || n == "3.11")
      return {side.eye_width / 4, .75 * side.lid_opening, side.eye_width / 4};
    if (n == "5.1")
      return .9 * Vec3d(side.cheek_to_nose, side.cheek_to_lid,
                        std::max(side.cheek_to_nose, side.cheek_to_lid));
    if (n == "9.1") return {.4 * nw, .4 * nw, .5 * nw};
    if (n == "9.3") return Vec3d::Constant(.5 * nw);
    if (n == "8.1") return {mw / 3, .8 * all_.lip_to_nose, mw / 3};
    if (n == "8.2") return {mw / 2.5, all_.lip_to_chin / 1.5, mw / 2.5};
    if (n == "8.3") return {mw / 3.5, mw / 4, mw / 3};
    if (n == "8.5") return {mw / 4, .7 * all_.lip_to_nose, mw / 4};
    if (n == "8.7") return {mw / 4, all_.lip_to_chin / 1.8, mw / 4};
    if (!with_jaw_) return {mw / 1.6, .9 * all_.lip_to_chin, mw / 1.6};  // 2.1
    const double face = between("3.7", "3.12");
    return {.55 * face, 1.2 * all_.lip_to_chin, .8 * face};
  }

 private:
  struct SideNames {
    std::string_view inner_brow, outer_brow, outer_corner, inner_corner, upper_lid, lower_lid,
        cheek, nostril;
  };

  double between(std::string_view a, std::string_view b) const {
    return (points_.at(a) - points_.at(b)).norm();
  }

  SideLengths sideLengths(const SideNames& n) const {
    return {between(n.inner_brow, n.outer_brow), between(n.outer_corner, n.inner_corner),
            between(n.upper_lid, n.lower_lid),
            std::abs(axes_.left.dot(points_.at(n.cheek) - points_.at(n.nostril))),
            std::abs(axes_.up.dot(points_.at(n.cheek) - points_.at(n.lower_lid)))};
  }

  const FacePoints& points_;
  FaceAxes axes_;
  bool with_jaw_;
  Lengths all_{};
  SideLengths left_{}, right_{};
};

}  // namespace

std::vector<ControlZone> controlZones(const FacePoints& points, bool with_jaw) {
  const ZoneRules rules(points, with_jaw);
  // Points that share a height or a side leave a zone without extent; then it reaches its point
  // only.
  const double least = 1e-6 * (points.at("8.3") - points.at("8.4")).norm();
  std::vector<ControlZone> out;
  for (const std::string_view number : controlPointNumbers())
    out.push_back({number, points.at(number),
                   rules.radii(*findFaceFeature(number)).cwiseMax(Vec3d::Constant(least))});
  return out;
}

}  // namespace derm
