#include "derm/deform/flesh_contact.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "deform/flesh_rig.h"
#include "support/compare.h"

namespace derm::flesh_contact_test {
namespace {

using namespace flesh_test;
using testing_support::maxDistance;

std::vector<PosedContact> posed(const std::vector<ContactShape>& shapes,
                                std::span<const Affine3d> bind, std::span<const Affine3d> model) {
  std::vector<PosedContact> out(shapes.size());
  ContactBinding(shapes, bind).pose(model, out);
  return out;
}

TEST(FleshContact, MeasuresSpheresCapsulesAndPlanes) {
  const std::vector<ContactShape> shapes = {
      {.from = Vec3d(1, 0, 0), .radius_m = 0.5},
      {.kind = ContactShape::Kind::Capsule,
       .from = Vec3d(0, 0, 0),
       .to = Vec3d(0, 2, 0),
       .radius_m = 0.25},
      {.kind = ContactShape::Kind::Plane, .from = Vec3d(0, 3, 0), .normal = Vec3d(0, 2, 0)}};
  const std::vector<PosedContact> at = posed(shapes, {}, {});
  EXPECT_NEAR(distanceTo(at[0], {3, 0, 0}).distance, 1.5, 1e-6);
  EXPECT_NEAR(distanceTo(at[0], {1.25f, 0, 0}).distance, -0.25, 1e-6);
  EXPECT_NEAR(distanceTo(at[1], {1, 1, 0}).distance, 0.75, 1e-6);
  EXPECT_NEAR(distanceTo(at[1], {0, 3, 0}).distance, 0.75, 1e-6);
  EXPECT_NEAR(distanceTo(at[2], {7, 2, 0}).distance, -1, 1e-6);
  EXPECT_NEAR((distanceTo(at[2], {7, 2, 0}).away - Vec3f(0, 1, 0)).norm(), 0, 1e-6);
}

TEST(FleshContact, ShapesFollowTheirJoints) {
  const Character c = limb({});
  const std::vector<Affine3d> bind = restModelMatrices(c.skeleton);
  std::vector<Affine3d> model = bind;
  model[1] = Affine3d(Eigen::Translation3d(4, 0, 0) *
                      Eigen::AngleAxisd(std::numbers::pi / 2, Eigen::Vector3d::UnitZ()) *
                      Eigen::UniformScaling<double>(2));
  const ContactShape shape{.kind = ContactShape::Kind::Capsule,
                           .joint = JointId(1),
                           .to_joint = JointId(2),
                           .from = Vec3d(0.5, 1, 0),
                           .to = Vec3d(0, 2, 0),
                           .radius_m = 0.1};
  const PosedContact at = posed({shape}, bind, model)[0];
  EXPECT_NEAR((at.from - Vec3f(4, 1, 0)).norm(), 0, 1e-5);
  EXPECT_NEAR((at.from + at.along - Vec3f(0, 2, 0)).norm(), 0, 1e-5);
  EXPECT_NEAR(at.radius, 0.2, 1e-6);
}

TEST(FleshContact, ThePushSetsInSmoothlyAndIsAlwaysEnough) {
  for (const float margin : {0.01f, 0.5f}) {
    float last = contactPush(2 * margin, margin), last_slope = 0;
    EXPECT_EQ(last, 0);
    const float step = margin / 500;
    for (float d = 2 * margin; d > -3 * margin; d -= step) {
      const float push = contactPush(d, margin);
      EXPECT_GE(push + d, -1e-6f * margin);  // outside afterwards
      const float slope = (push - last) / step;
      EXPECT_LT(std::abs(slope - last_slope), 0.02f);
      last = push;
      last_slope = slope;
    }
  }
  EXPECT_EQ(contactPush(0.1f, 0), 0);
  EXPECT_EQ(contactPush(-0.1f, 0), 0.1f);
}

/// The limb's upper flesh with a ball beside it that comes nearer and goes again.
struct Touched {
  std::shared_ptr<const Character> character;
  FleshDesc desc = upperFlesh();
  Touched() {
    Character c = limb({});
    Joint ball{.name = "ball"};
    ball.rest.translation = Vec3f(2, 0.5f, 0);
    c.skeleton.joints.push_back(ball);
    character = std::make_shared<const Character>(std::move(c));
    desc.contact = {{.joint = JointId(3), .from = Vec3d(2, 0.5, 0), .radius_m = 0.25}};
    desc.contact_margin_m = 0.01;
  }
  std::vector<Vec3f> at(StackRunner& runner, double x) const {
    Pose pose = character->restPose();
    pose.local[3].translation.x() = static_cast<float>(x);
    runner.setPose(pose, 0);
    const SkinFrame& frame = runner.evaluate();
    return {frame.positions().begin(), frame.positions().end()};
  }
};

TEST(FleshContact, KeepsFleshOutOfABallWithoutPopping) {
  const Touched rig;
  StackRunner runner(fleshStack(rig.character, {rig.desc}));
  runner.reset();
  std::vector<Vec3f> last = rig.at(runner, 0.9);
  EXPECT_EQ(maxDistance(last, rig.character->mesh.positions), 0);
  double deepest = 0, furthest_step = 0;
  constexpr double kStep = 0.0005;
  for (double x = 0.7; x > 0.45; x -= kStep) {
    const std::vector<Vec3f> now = rig.at(runner, x);
    for (std::size_t v = 0; v < now.size(); ++v) {
      const double y = now[v].y();
      // Where flesh is free to move (alpha of 0.2 and more); further out the push fades.
      const double inside = 0.25 - (now[v] - Vec3f(static_cast<float>(x), 0.5f, 0)).norm();
      if (y > 0.25 && y < 0.75) deepest = std::max(deepest, inside);
    }
    if (x < 0.69) furthest_step = std::max<double>(furthest_step, maxDistance(now, last));
    last = now;
  }
  EXPECT_LT(deepest, 1e-5);
  EXPECT_GT(maxDistance(last, rig.character->mesh.positions), 0.05);  // it was pushed
  EXPECT_LT(furthest_step, 4 * kStep);                                // and followed the ball
}

TEST(FleshContact, DoesNotPushFleshThroughTheBone) {
  const Touched rig;
  StackRunner runner(fleshStack(rig.character, {rig.desc}));
  runner.reset();
  for (double x = 0.5; x > -0.8; x -= 0.01) {
    const std::vector<Vec3f> now = rig.at(runner, x);
    for (std::size_t v = 0; v < now.size(); ++v) {
      const Vec3f moved = now[v] - rig.character->mesh.positions[v];
      ASSERT_LE(moved.norm(), 0.9 * kRadius * 1.00001);
    }
  }
}

TEST(FleshContact, LiesOnAPlaneOfTheWorld) {
  const auto still = sharedLimb({{.name = "still"}});
  FleshDesc desc = upperFlesh();
  desc.gravity = 1;
  desc.gravity_direction = Vec3d(0, 0, -1);
  desc.frequency_hz = 1.5;
  desc.contact = {
      {.kind = ContactShape::Kind::Plane, .from = Vec3d(0, 0, -0.31), .normal = Vec3d(0, 0, 1)}};
  StackRunner runner(fleshStack(still, {desc}));
  runner.reset();
  float lowest = 0;
  for (const Vec3f& p : runner.evaluate().positions()) lowest = std::min(lowest, p.z());
  EXPECT_GT(lowest, -0.3101f);  // 0.11 m lower without it; at the faded border a hair
  EXPECT_LT(lowest, -0.305f);
}

TEST(FleshContact, BadShapesAreNamed) {
  const std::vector<ContactShape> good = {{}, {.radius_m = 0}};
  EXPECT_EQ(validate(good, 0).error().where.index, 1u);
  const std::vector<ContactShape> joint = {{.joint = JointId(3)}};
  EXPECT_FALSE(validate(joint, 3));
  const std::vector<ContactShape> flat = {
      {.kind = ContactShape::Kind::Plane, .normal = Vec3d::Zero()}};
  EXPECT_FALSE(validate(flat, 0));
}

}  // namespace
}  // namespace derm::flesh_contact_test
