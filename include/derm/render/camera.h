#pragma once

#include <span>
#include <vector>

#include "derm/math/vec.h"
#include "derm/mesh/measures.h"

namespace derm {

/// A perspective camera in model space (+Y up, metres). Plain data.
struct Camera {
  Vec3d eye = Vec3d(0, 0, 5);
  Vec3d target = Vec3d::Zero();  ///< what is in the middle of the picture; not the eye itself
  double fov_y_rad = 0.5;        ///< [rad] whole vertical angle of view, (0, pi)
  double near_m = 0.01;          ///< [m] > 0
  double far_m = 100;            ///< [m] > near_m

  /// World to eye space (right-handed, looking along -z) with +Y as up; where the camera looks
  /// straight up or down, the picture's up is +Z or -Z.
  Mat4d view() const;
  /// OpenGL's clip space, z in [-1,1].
  Mat4d projection(double aspect) const;
};

/// Shares of a picture's width or height, [0,0.5) each, that what is looked at keeps out of.
struct PictureInsets {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

/// How an orbit camera looks at something.
struct OrbitDesc {
  double yaw_rad = 0.6;    ///< [rad] around +Y; 0 = from +Z, the character's front; + = to its left
  double pitch_rad = 0.2;  ///< [rad] above the horizon, [-pi/2, pi/2]
  double fov_y_rad = 0.5;  ///< [rad] about 29 degrees: a portrait lens, little distortion
  double margin = 0.08;    ///< [0,0.9] share of the picture left free around the bounds
  double zoom = 1.0;       ///< > 0; 2 = everything twice as large, around the middle of the picture
  PictureInsets keep_free;  ///< for labels and legends: the middle is that of what is left
};

/// Unit vector from what is looked at to the camera.
Vec3d directionToEye(const OrbitDesc& desc);

/// The camera nearest to the box from which all of it is seen, in the middle of the picture: exact
/// for the box, so as tight as the box is. An empty box, or one without size, is treated as a box
/// of 1 m or 1 mm around its middle. Requires aspect (width / height) > 0. For a film use the union
/// of the bounds of all frames, then the camera stands still.
Camera orbitCamera(const Bounds& bounds, const OrbitDesc& desc, double aspect);

/// The same for points instead of a box: tighter, since most figures do not fill their boxes.
/// Points that are not finite are passed over; none, or points without extent, count as such a box.
Camera orbitCamera(std::span<const Vec3f> points, const OrbitDesc& desc, double aspect);

/// A few of many points that stand for all of them before a camera: the farthest in each of 98
/// directions. Nothing sticks out of their hull by more than about 2 % of its size.
class FarthestPoints {
 public:
  FarthestPoints();
  void add(std::span<const Vec3f> points, const Vec3f& offset = Vec3f::Zero());
  /// One per direction, with repetitions; none where none was added.
  std::span<const Vec3f> points() const { return points_; }

 private:
  std::vector<Vec3f> directions_;
  std::vector<float> reach_;
  std::vector<Vec3f> points_;
};

/// The smallest box around both.
Bounds united(const Bounds& a, const Bounds& b);

/// Where a point falls in a picture: x, y [px] from its left top corner, z the distance along the
/// camera's view direction [m] (<= 0: behind it, x and y mean nothing).
Vec3d projectedPoint(const Camera& camera, const Vec3d& point, int width_px, int height_px);

}  // namespace derm
