#include "render/light_rig.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace derm::detail {
namespace {

/// How far around the stage things still get into the depth range of a light.
constexpr double kDepthReach = 4.0;
/// [rad] half the angle under which the key light is seen: a soft box of a metre at two and a half.
constexpr double kKeyHalfAngle = 0.16;

/// Direction from an angle around +Y (0 = +Z) and a height above the horizon.
Vec3d direction(double yaw, double pitch) {
  return Vec3d(std::sin(yaw) * std::cos(pitch), std::sin(pitch), std::cos(yaw) * std::cos(pitch));
}

/// World to light space: a parallel view along the light onto a ball around the stage.
struct LightView {
  Vec3d right, up, to_light;
  Mat4d clip;
};

LightView parallelView(const Vec3d& to_light, const Vec3d& centre, double radius) {
  LightView out;
  out.to_light = to_light;
  Vec3d right = Vec3d(Vec3d::UnitY()).cross(to_light);
  if (right.norm() < 1e-6) right = Vec3d::UnitX();
  out.right = right.normalized();
  out.up = to_light.cross(out.right);
  out.clip = Mat4d::Identity();
  const double depth = kDepthReach * radius;
  const Vec3d rows[] = {Vec3d(out.right / radius), Vec3d(out.up / radius),
                        Vec3d(-to_light / depth)};
  for (int i = 0; i < 3; ++i) {
    out.clip.block<1, 3>(i, 0) = rows[i].transpose();
    out.clip(i, 3) = -rows[i].dot(centre);
  }
  return out;
}

/// Along a light onto the plane of this height. Requires light from above.
Mat4d ontoFloor(const Vec3d& to_light, double height) {
  Mat4d out = Mat4d::Identity();
  out(0, 1) = -to_light.x() / to_light.y();
  out(2, 1) = -to_light.z() / to_light.y();
  out(0, 3) = height * to_light.x() / to_light.y();
  out(2, 3) = height * to_light.z() / to_light.y();
  out(1, 1) = 0;
  out(1, 3) = height;
  return out;
}

/// Clip space to a texture's [0,1].
Mat4d textureFromClip() {
  Mat4d out = Mat4d::Identity();
  for (int i = 0; i < 3; ++i) out(i, i) = out(i, 3) = 0.5;
  return out;
}

/// Evenly spread over the hemisphere and a little below the horizon (Fibonacci's spiral).
Vec3d skyDirection(int index, int count) {
  constexpr double kLowest = -0.12;
  const double y = 1.0 - (1.0 - kLowest) * (index + 0.5) / count;
  const double around = index * std::numbers::pi * (3.0 - std::sqrt(5.0));
  const double across = std::sqrt(std::max(0.0, 1.0 - y * y));
  return Vec3d(across * std::sin(around), y, across * std::cos(around));
}

Vec4f withW(const Vec3d& v, double w) {
  return Vec4f(float(v.x()), float(v.y()), float(v.z()), float(w));
}

struct Stage {
  Vec3d centre;
  double radius;
  Bounds box;
};

Stage stageOf(const DrawList& list) {
  Stage out;
  out.box = list.stageBounds();
  out.centre = out.box.centre().cast<double>();
  // A little more than the ball around the box, so that filters find room at the map's edge.
  out.radius = std::max(0.5 * out.box.diagonal() * 1.08, 1e-4);
  return out;
}

void setLights(FrameUniforms& f, double yaw, const LightView& key) {
  f.key_direction = withW(key.to_light, 0);
  f.key_right = withW(key.right, 0);
  f.key_up = withW(key.up, 0);
  f.key_colour = Vec4f(1.58f, 1.51f, 1.42f, 0);
  f.fill_direction = withW(direction(yaw + 0.95, 0.25), 0);
  f.fill_colour = Vec4f(0.20f, 0.23f, 0.29f, 0);
  f.rim_direction = withW(direction(yaw + 2.55, 0.55), 0);
  f.rim_colour = Vec4f(0.72f, 0.74f, 0.80f, 0);
  f.sky_colour = Vec4f(0.42f, 0.44f, 0.47f, 0);
  f.bounce_colour = Vec4f(0.24f, 0.23f, 0.215f, 0);
}

void setSky(LightRig& rig, const Stage& stage, double yaw, int directions) {
  const int rows = (directions + kSkyTilesPerRow - 1) / kSkyTilesPerRow;
  const Eigen::AngleAxisd turn(yaw, Eigen::Vector3d::UnitY());
  for (int i = 0; i < directions; ++i) {
    const Vec3d to_light = turn * skyDirection(i, directions);
    const LightView view = parallelView(to_light, stage.centre, stage.radius);
    const auto k = static_cast<std::size_t>(i);
    rig.sky_clip.push_back(view.clip.cast<float>());
    rig.sky.matrix[k] = Mat4d(textureFromClip() * view.clip).cast<float>();
    // More light from above than from the horizon, as under a studio ceiling.
    rig.sky.direction[k] = withW(to_light, 0.45 + 0.55 * std::max(0.0, to_light.y()));
  }
  rig.frame.sky_shadow = Vec4f(float(directions), float(2 * stage.radius / kSkyTile_px),
                               1.0f / float(kSkyTilesPerRow), 1.0f / float(rows));
}

}  // namespace

LightRig makeLightRig(const DrawList& list, const Camera& camera, const LightRigDesc& desc) {
  LightRig rig;
  FrameUniforms& f = rig.frame;
  const Stage stage = stageOf(list);
  const double aspect = double(desc.width) / desc.height;
  const Vec3d backward = camera.eye - camera.target;
  const double yaw = std::atan2(backward.x(), backward.z());

  f.view = camera.view().cast<float>();
  f.projection = camera.projection(aspect).cast<float>();
  f.eye = withW(camera.eye, 1);
  const double tan_y = std::tan(0.5 * camera.fov_y_rad);
  f.picture = Vec4f(float(desc.width), float(desc.height), float(tan_y * aspect), float(tan_y));

  const LightView key = parallelView(direction(yaw - 0.72, 0.88), stage.centre, stage.radius);
  rig.key_clip = key.clip.cast<float>();
  f.key_matrix = Mat4d(textureFromClip() * key.clip).cast<float>();
  f.key_shadow = Vec4f(float(2 * stage.radius), float(2 * stage.radius / desc.shadow_map_px),
                       float(std::tan(kKeyHalfAngle)), float(2 * kDepthReach * stage.radius));
  setLights(f, yaw, key);
  setSky(rig, stage, yaw, desc.sky_directions);

  const double lowest = stage.box.empty() ? 0.0 : double(stage.box.low.y());
  const double height = list.ground.height_m ? double(*list.ground.height_m) : lowest;
  rig.ground_visible = list.ground.on && !stage.box.empty() && camera.eye.y() > height;
  const Mat4d floor = ontoFloor(key.to_light, height);
  rig.flat_clip = Mat4d(camera.projection(aspect) * camera.view() * floor).cast<float>();
  f.ground = Vec4f(float(height), float(1.3 * stage.radius), float(2.8 * stage.radius),
                   std::clamp(list.ground.strength, 0.0f, 1.0f));
  f.stage = withW(stage.centre, stage.radius);
  f.background_top = linearColour(list.background.top);
  f.background_bottom = linearColour(list.background.bottom);
  f.background_extra = Vec4f(std::clamp(list.background.glow, 0.0f, 1.0f),
                             list.background.clear ? 1.0f : 0.0f, 0, 0);
  return rig;
}

}  // namespace derm::detail
