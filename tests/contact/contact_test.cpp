#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "derm/base/parallel.h"
#include "derm/contact/contact_layer.h"
#include "derm/deform/held_vertices.h"
#include "derm/mesh/winding_columns.h"

#include "contact/two_balls.h"
#include "deform/flesh_rig.h"
#include "support/allocations.h"
#include "support/compare.h"

namespace derm {
namespace {

using namespace contact_test;

std::vector<Vec3f> evaluated(StackRunner& runner, const Pose& pose) {
  runner.setPose(pose, 0);
  const SkinFrame& frame = runner.evaluate();
  return {frame.positions().begin(), frame.positions().end()};
}

std::vector<Vec3f> contactOf(const Character& character, const Pose& pose) {
  Diagnostics notes;
  const auto c = std::make_shared<const Character>(character);
  StackRunner runner(contactStack(c, notes));
  return evaluated(runner, pose);
}

/// How many vertices of either ball are inside the skin.
int insideCount(const Character& c, std::span<const Vec3f> positions) {
  WindingColumns columns(positions.size());
  const std::vector<Vec3f> normals = areaWeightedNormals(positions, c.mesh.triangles);
  for (std::size_t v = 0; v < positions.size(); ++v) columns.add(positions[v] + 1e-4f * normals[v]);
  const auto winding = columns.evaluate(positions, c.mesh.triangles);
  return static_cast<int>(
      std::count_if(winding.begin(), winding.end(), [](int w) { return w > 0; }));
}

TEST(Contact, RestAndFramesWithoutContactKeepEveryBit) {
  const Character c = balls();
  EXPECT_EQ(contactOf(c, c.restPose()), c.mesh.positions);
  const Pose near = pressed(c, 2.05 * kRadius);
  Diagnostics notes;
  const auto shared = std::make_shared<const Character>(c);
  StackRunner plain(Stack::bind(shared, std::vector{skinningLayer({})}, notes).value());
  EXPECT_EQ(contactOf(c, near), evaluated(plain, near));
}

TEST(Contact, TwoBallsPressedTogetherGiveWayToEachOther) {
  const Character c = balls();
  Diagnostics notes;
  const auto shared = std::make_shared<const Character>(c);
  StackRunner plain(Stack::bind(shared, std::vector{skinningLayer({})}, notes).value());
  StackRunner runner(contactStack(shared, notes));
  const Pose pose = pressed(c, 2 * kRadius - 0.02);
  const std::vector<Vec3f> before = evaluated(plain, pose), after = evaluated(runner, pose);
  const int inside_before = insideCount(c, before), inside_after = insideCount(c, after);
  EXPECT_GT(inside_before, 40);
  EXPECT_LE(inside_after, inside_before / 5);
  const ContactReport& report = runner.find<ContactLayer>("contact")->report();
  EXPECT_GT(report.contacts, 40u);
  EXPECT_GT(report.moved, report.contacts);
  EXPECT_LE(report.largest_move_m, 1.2 * 0.35 * 2 * kRadius);
  // Both alike: the mirror image of one is the other.
  const auto half = static_cast<float>(kRadius - 0.01);
  double left = 0, right = 0;
  for (std::size_t v = 0; v < after.size(); ++v) {
    const double move = double{(after[v] - before[v]).norm()};
    double& side = v < after.size() / 2 ? left : right;
    side = std::max(side, move);
    if (v < after.size() / 2) {
      EXPECT_LT(after[v].x(), half + 2e-3f);
    }
  }
  EXPECT_NEAR(left, right, 0.15 * left);
  const std::span<const float> held = std::as_const(runner.evaluate()).channel(kHeldChannel);
  ASSERT_EQ(held.size(), after.size());
  for (std::size_t v = 0; v < after.size(); ++v) {
    EXPECT_GE(held[v], 0);
    EXPECT_LE(held[v], 1);
    if ((after[v] - before[v]).norm() > 6e-3f) {
      EXPECT_GT(held[v], 0.5f) << v;
    }
  }
}

/// The second ball, made smaller and moved along x.
void changeSecondBall(Character& c, float scale, float move) {
  const Vec3f middle(static_cast<float>(kApart), 0, 0);
  for (std::size_t v = c.mesh.vertexCount() / 2; v < c.mesh.vertexCount(); ++v) {
    Vec3f& p = c.mesh.positions[v];
    p = middle + scale * (p - middle) + Vec3f(move, 0, 0);
  }
  c.mesh.normals = areaWeightedNormals(c.mesh.positions, c.mesh.triangles);
}

TEST(Contact, TheThickerSkinGivesWayMore) {
  Character c = balls();
  changeSecondBall(c, 0.3f, 0);
  Diagnostics notes;
  const auto shared = std::make_shared<const Character>(c);
  StackRunner plain(Stack::bind(shared, std::vector{skinningLayer({})}, notes).value());
  const Pose pose = pressed(c, 1.3 * kRadius - 0.008);
  const std::vector<Vec3f> before = evaluated(plain, pose), after = contactOf(c, pose);
  float thick = 0, thin = 0;
  for (std::size_t v = 0; v < after.size(); ++v) {
    float& most = v < after.size() / 2 ? thick : thin;
    most = std::max(most, (after[v] - before[v]).norm());
  }
  EXPECT_GT(thin, 1e-3f);
  EXPECT_GT(thick, 1.3f * thin);  // about alike where both take half
}

TEST(Contact, PiecesThatLieInEachOtherAtRestDoNotMeet) {
  Character c = balls();
  changeSecondBall(c, 1, -0.25f);  // an arm put into a trunk
  Diagnostics notes;
  const auto shared = std::make_shared<const Character>(c);
  StackRunner plain(Stack::bind(shared, std::vector{skinningLayer({})}, notes).value());
  for (const double apart : {kApart - 0.05, kApart + 0.03}) {
    const Pose pose = pressed(c, apart);
    EXPECT_EQ(contactOf(c, pose), evaluated(plain, pose)) << apart;
  }
}

// A grid as fine as the skin over all between them would have 10^12 nodes.
TEST(Contact, SmallPiecesFarFromEachOtherFitIntoMemory) {
  Character c = balls();
  const Vec3f away(30, 40, 20);
  for (std::size_t v = c.mesh.positions.size() / 2; v < c.mesh.positions.size(); ++v)
    c.mesh.positions[v] += away;
  c.skeleton.joints[2].rest.translation += away;
  c.skin.slots[1].inverse_bind.translation() -= away;
  Diagnostics notes;
  StackRunner runner(contactStack(std::make_shared<const Character>(c), notes));
  EXPECT_EQ(evaluated(runner, c.restPose()), c.mesh.positions);
  for (const Vec3f& p : evaluated(runner, pressed(c, 2 * kRadius - 0.02)))
    EXPECT_TRUE(p.allFinite());
}

TEST(Contact, WhatACharacterCarriesIsNoSkin) {
  Character c = balls();
  const std::uint32_t vertices = c.parts[0].vertex_count / 2;
  const std::uint32_t triangles = c.parts[0].triangle_count / 2;
  c.parts[0].vertex_count = c.instances[0].vertex_count = vertices;
  c.parts[0].triangle_count = triangles;
  c.parts.push_back({.name = "shield",
                     .first_triangle = triangles,
                     .triangle_count = triangles,
                     .first_vertex = vertices,
                     .vertex_count = vertices});
  c.instances.push_back({.name = "shield",
                         .joint = JointId(2),
                         .rigid = true,
                         .first_part = 1,
                         .part_count = 1,
                         .first_vertex = vertices,
                         .vertex_count = vertices});
  Diagnostics notes;
  const auto shared = std::make_shared<const Character>(c);
  StackRunner plain(Stack::bind(shared, std::vector{skinningLayer({})}, notes).value());
  StackRunner runner(contactStack(shared, notes));
  const Pose pose = pressed(c, 2 * kRadius - 0.02);
  EXPECT_EQ(evaluated(runner, pose), evaluated(plain, pose));
}

TEST(Contact, MovingScalingMirroringAndReorderingGoThroughIt) {
  const Character c = balls();
  const Pose pose = pressed(c, 2 * kRadius - 0.015);
  const std::vector<Vec3f> plain = contactOf(c, pose);
  const auto farthest = [](std::span<const Vec3f> a, const auto& b) {
    float most = 0;
    for (std::size_t v = 0; v < a.size(); ++v) most = std::max(most, (a[v] - b(v)).norm());
    return most;
  };
  Pose moved = pose;
  moved.local[0].rotation = Quatf(Eigen::AngleAxisf(0.7f, Eigen::Vector3f(1, 2, 3).normalized()));
  moved.local[0].translation = Vec3f(0.3f, -0.2f, 0.5f);
  EXPECT_LT(farthest(contactOf(c, moved),
                     [&](std::size_t v) -> Vec3f {
                       return moved.local[0].rotation * plain[v] + moved.local[0].translation;
                     }),
            2e-5f);
  Pose scaled = pose;
  scaled.local[0].scale = Vec3f(3, 3, 3);
  EXPECT_LT(farthest(contactOf(c, scaled), [&](std::size_t v) -> Vec3f { return 3 * plain[v]; }),
            6e-5f);

  std::vector<std::uint32_t> order(c.mesh.vertexCount());
  std::iota(order.begin(), order.end(), 0u);
  std::reverse(order.begin(), order.end());
  const Character reordered = balls(order);
  EXPECT_LT(
      farthest(contactOf(reordered, pose), [&](std::size_t v) -> Vec3f { return plain[order[v]]; }),
      2e-5f);

  // z against -z: the balls have a vertex at the mirror image of each.
  Character mirrored = c;
  for (Vec3f& p : mirrored.mesh.positions) p.z() = -p.z();
  for (Triangle& t : mirrored.mesh.triangles) std::swap(t[1], t[2]);
  mirrored.mesh.normals = areaWeightedNormals(mirrored.mesh.positions, mirrored.mesh.triangles);
  Pose mirrored_pose = pose;
  mirrored_pose.local[2].translation.z() *= -1;
  EXPECT_LT(farthest(contactOf(mirrored, mirrored_pose),
                     [&](std::size_t v) -> Vec3f {
                       return {plain[v].x(), plain[v].y(), -plain[v].z()};
                     }),
            2e-5f);
}

TEST(Contact, TheSizeOfACharacterDoesNotMatter) {
  const Character c = balls();
  const Pose pose = pressed(c, 2 * kRadius - 0.015);
  const std::vector<Vec3f> plain = contactOf(c, pose);
  for (const int exponent : {-17, 10}) {  // some micrometres, and half a kilometre
    const float size = std::ldexp(1.0f, exponent);
    Character sized = c;
    scaleLengths(sized, double{size});
    Pose sized_pose = pose;
    for (Transform& local : sized_pose.local) local.translation *= size;
    const std::vector<Vec3f> out = contactOf(sized, sized_pose);
    float most = 0;
    for (std::size_t v = 0; v < out.size(); ++v)
      most = std::max(most, (out[v] / size - plain[v]).norm());
    EXPECT_LT(most, 2e-5f) << exponent;
  }
}

TEST(Contact, TheSameBitsForAnyNumberOfThreadsAndNothingAllocated) {
  const auto c = std::make_shared<const Character>(balls());
  Diagnostics notes;
  StackRunner runner(contactStack(c, notes));
  const Pose pose = pressed(*c, 2 * kRadius - 0.02), other = pressed(*c, 2 * kRadius - 0.03);
  const std::vector<Vec3f> first = evaluated(runner, pose);
  evaluated(runner, other);
  {
    const ThreadLimit one(1);
    EXPECT_EQ(evaluated(runner, pose), first);
  }
  runner.setPose(other, 0);
  const std::size_t before = testing_support::allocationCount();
  runner.evaluate();
  EXPECT_EQ(testing_support::allocationCount(), before);
}

TEST(Contact, OpenMeshesAndThingsWithoutSkinPassWithAWord) {
  const auto limb = flesh_test::sharedLimb({});  // a tube without lids
  Diagnostics notes;
  StackRunner runner(contactStack(limb, notes));
  Pose pose = limb->restPose();
  EXPECT_EQ(evaluated(runner, pose), limb->mesh.positions);
  pose.local[1].rotation = Quatf(Eigen::AngleAxisf(2.6f, Eigen::Vector3f::UnitX()));
  for (const Vec3f& p : evaluated(runner, pose)) EXPECT_TRUE(p.allFinite());

  Character bare = balls();
  bare.skin = {};
  Diagnostics said;
  const auto shared = std::make_shared<const Character>(bare);
  const std::vector<LayerFactory> layers = {skinningLayer({}), contactLayer("contact", {})};
  ASSERT_TRUE(Stack::bind(shared, layers, said).ok());
  EXPECT_TRUE(std::any_of(said.notes().begin(), said.notes().end(),
                          [](const auto& n) { return n.kind == "contact-no-skin"; }));
}

TEST(Contact, NothingThatIsNotFiniteGetsOut) {
  const auto c = std::make_shared<const Character>(balls());
  Diagnostics notes;
  StackRunner runner(contactStack(c, notes));
  Pose pose = pressed(*c, 0.15);
  pose.local[1].translation.x() = std::numeric_limits<float>::quiet_NaN();
  for (const Vec3f& p : evaluated(runner, pose)) EXPECT_TRUE(p.allFinite());
  pose = pressed(*c, 0);  // one in the other
  for (const Vec3f& p : evaluated(runner, pose)) EXPECT_TRUE(p.allFinite());
}

TEST(Contact, AnEditOfItsNumbersIsAsBindingItAnew) {
  const auto c = std::make_shared<const Character>(balls());
  const Pose pose = pressed(*c, 2 * kRadius - 0.02);
  Diagnostics notes;
  std::shared_ptr<const Stack> stack = contactStack(c, notes);
  std::vector<Vec3f> before;
  for (const ContactDesc& desc :
       {ContactDesc{.max_move = 0.05}, ContactDesc{.max_move = 0.05, .passes = 1},
        ContactDesc{.gap_m = 0.004, .passes = 1}, ContactDesc{.gap_m = 0.16}, ContactDesc{}}) {
    stack =
        stack->rebind(std::array{skinningLayer({}), contactLayer("contact", desc)}, notes).value();
    StackRunner edited(stack), fresh(contactStack(c, notes, desc));
    const std::vector<Vec3f> now = evaluated(edited, pose);
    EXPECT_EQ(now, evaluated(fresh, pose));
    EXPECT_NE(now, before) << "it matters";
    before = now;
  }
  EXPECT_FALSE(
      stack->rebind(std::array{skinningLayer({}), contactLayer("contact", {.passes = 9})}, notes)
          .ok());
}

TEST(Contact, SaysWhatIsWrongWithItsNumbers) {
  const auto c = std::make_shared<const Character>(balls());
  const auto fails = [&](const ContactDesc& desc) {
    Diagnostics notes;
    const std::vector<LayerFactory> layers = {skinningLayer({}), contactLayer("contact", desc)};
    return !Stack::bind(c, layers, notes).ok();
  };
  EXPECT_TRUE(fails({.gap_m = -1.0}));
  EXPECT_TRUE(fails({.max_move = 0}));
  EXPECT_TRUE(fails({.passes = 0}));
  EXPECT_FALSE(fails({.gap_m = 0.001, .max_move = 0.2, .passes = 1}));
}

}  // namespace
}  // namespace derm
