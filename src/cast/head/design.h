#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "derm/math/vec.h"

namespace derm::detail::cast {

using Vec2d = Eigen::Vector2d;

/// How a head differs from the common model. All lengths in centimetres, y = 0 the line of the
/// eyes, z = 0 about the middle of the skull, +x the subject's left. Defaults are `woman`'s.

/// A change of one solid of the clay (head_clay.cpp has their names).
struct SolidChange {
  bool removed = false;
  Vec3d move = Vec3d::Zero();
  std::optional<Vec3d> move_end = {};  ///< of a cone's second end; as `move` if not given
  Vec3d scale = Vec3d::Ones();
  std::optional<double> blend = {};
};

/// Heights and widths of the whole head, linear between knots.
struct WarpKnot {
  double y, to_y, x_scale, z_scale;
};

struct EyeDesign {
  Vec3d centre = {3.12, 0.0, 6.10};
  double radius = 1.68;      ///< of the ball: 40 % over life, so that the corners still lie on it
  double half_width = 1.56;  ///< of the opening
  double upper = 0.68;       ///< how far the upper lid's margin is above the centre
  double lower = 0.48;
  double tilt = 0.10;          ///< how much higher the outer corner is
  double lid = 0.17;           ///< thickness
  double crease_depth = 0.10;  ///< of the fold above the lid
  double crease_height = 0.46;
  double orbit_above = 0.95;  ///< from the margin to the first ring
  double orbit_below = 0.98;
  double lash = 0.24;  ///< length
};

struct MouthDesign {
  double y = -6.45;
  double half_width = 2.38;
  double upper = 0.74;  ///< height of the lips' red
  double lower = 0.88;
  double upper_bulge = 0.17;
  double lower_bulge = 0.26;
  double corner = 0.15;  ///< how much higher the corners are
  double ring_above = 0.72;
  double ring_below = 1.02;
  double nose_base_y = -4.1;
};

struct EarDesign {
  double size = 1.0;
  double flare = 0.42;  ///< how far it stands off
  double y = -1.0;
  double z = -1.1;
};

struct BrowKnot {
  double x, y, half_thickness;
};

struct HairDesign {
  double thickness = 0.95;
  double parting = 0.55;  ///< [0,1] depth of a parting in the middle
  double softness = 0.6;  ///< half of the width over which it rises
  double fringe = 0.26;   ///< how ragged the front edge is
  /// (degrees from the front, y): below it there is skin.
  std::vector<std::pair<double, double>> line = {
      {0, 7.1},   {8, 6.8},   {18, 6.2},   {30, 5.3},   {42, 4.1},   {52, 2.6},
      {60, 0.6},  {68, -1.5}, {75, -2.6},  {80, -2.4},  {86, 0.3},   {92, 2.7},
      {104, 2.6}, {112, 1.5}, {118, -0.8}, {126, -3.4}, {150, -6.6}, {180, -7.0}};
};

/// Where things are painted.
struct FaceMarks {
  Vec3d cheek = {4.3, -3.0, 6.6};
  Vec3d nose = {0, -3.2, 11.2};
  Vec3d chin = {0, -9.2, 9.0};
  Vec3d wing_groove = {1.55, -3.5, 9.2};
  Vec3d nostril = {0.56, -3.88, 10.05};
  Vec3d nostril_size = {0.27, 0.22, 0.40};
  std::vector<BrowKnot> brow = {
      {1.25, 1.98, .21}, {2.2, 2.20, .25}, {3.5, 2.42, .22}, {4.5, 2.23, .15}, {5.15, 1.86, .08}};
  /// Inner end, highest point and outer end that the brow's control points lie at. (x, y)
  std::array<Vec2d, 3> brow_points = {Vec2d(1.30, 1.88), Vec2d(3.5, 2.32), Vec2d(5.1, 1.75)};
};

/// sRGB colours and strengths.
struct Palette {
  Vec3d skin = {.89, .70, .60};
  Vec3d brow = {.24, .15, .10};
  Vec3d lip = {.74, .42, .39};
  double lip_strength = .72;
  Vec3d iris = {.26, .42, .50};
  Vec3d iris_inner = {.50, .46, .32};
  double iris_angle = .475;  ///< [rad] from the pupil's middle to the limbus
  Vec3d hair = {.30, .19, .12};
  Vec3d hair_light = {.52, .36, .22};
  double blush = 1, mottle = 1, beard = 0, freckles = 0;
  double brow_strength = .92;
  double lower_lash = .35;
  Vec3d margin = {.80, .55, .50};
  Vec3d lid = {-.045, -.06, -.045};
};

struct HeadDesign {
  std::string name = "woman";
  std::vector<WarpKnot> warp;  ///< empty = as modelled
  std::map<std::string_view, SolidChange> solids;
  EyeDesign eye;
  MouthDesign mouth;
  EarDesign ear;
  HairDesign hair;
  FaceMarks marks;
  Palette palette;
  double jaw_end_y = -14.5;  ///< below it nothing follows the jaw
};

HeadDesign womanDesign();
HeadDesign manDesign();
HeadDesign toonDesign();

/// The joint of the lower jaw, (y, z).
inline constexpr double kJawY = -1.2, kJawZ = -0.3;

}  // namespace derm::detail::cast
