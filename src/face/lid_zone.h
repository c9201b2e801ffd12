#pragma once

#include <span>
#include <vector>

#include "derm/face/face_points.h"

#include "face/eye_centre.h"
#include "face/lid_closing.h"
#include "face/slit_sides.h"

namespace derm::detail {

using Vec2d = Eigen::Vector2d;

/// The zone of an upper or lower lid: it goes along the lid's margin instead of sitting about one
/// point.
///
///         .---u---.        On the margin the weight is the height of the opening there over the
///       .'    |    '.      way that the lid's own motion would go: what it takes to shut the eye
///     <-------------->     along its whole length. Away from it it falls off with the
///       '.    |    .'      distance from the margin, also beside the corners.
///         '---l---'
///
/// The motion that shuts is a turn about the eye's centre, where it has one, else straight.
class LidZone {
 public:
  enum class Lid { Upper, Lower };
  /// `reach_m` (up, forward) says how far it goes. Without contours it is empty.
  LidZone(const HeadSurface& head, const FacePoints& points, FaceSide side,
          const SlitContours& contours, const LidMeeting& blink, const FaceAxes& axes, Lid lid,
          const Vec2d& reach_m);

  /// [0,1]
  double weight(const Vec3d& p) const;

 private:
  /// A margin over the way along the eye: height and depth, by straight lines between.
  struct Margin {
    std::vector<Vec3d> points;  ///< (along, height, depth), along increasing
    Vec2d at(double along) const;
  };
  /// Share of the lid's own motion that shuts the eye there.
  double share(double along) const;
  /// [0,1] Over the largest, its mean from along - half to along + half, the middle counting most.
  double meanShare(double along, double half) const;
  Margin marginOf(const HeadSurface& head, std::span<const std::uint32_t> contour) const;

  EyeAxes axes_;
  Margin upper_, lower_;
  Lid lid_;
  Vec2d reach_;
  double first_ = 0, last_ = 0;  ///< [m] along the eye, where both margins begin and end
  Vec3d from_, to_;              ///< [m] the margin at the lid's point, and where a blink brings it
  Quatd turn_ = Quatd::Identity();
  double largest_ = 0;  ///< of the weight before it is scaled to at most 1; 0 = no zone
};

}  // namespace derm::detail
