#include "deform/flesh_weights.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "derm/deform/props.h"
#include "derm/weights/character_weights.h"

#include "deform/flesh_rig.h"

namespace derm::flesh_weights_test {
namespace {

using namespace flesh_test;

detail::FleshWeights weightsOf(const Character& c, const FleshDesc& desc) {
  const BoundSurface surface(c.mesh, c.skin);
  return detail::fleshWeights(desc, c.skeleton, bindModelMatrices(c), surface).value();
}

std::string errorOf(const Character& c, const FleshDesc& desc) {
  const BoundSurface surface(c.mesh, c.skin);
  const auto made = detail::fleshWeights(desc, c.skeleton, bindModelMatrices(c), surface);
  return made ? "no error" : made.error().text();
}

TEST(FleshPaper, WyvillHasTheValuesOfTheSpecificationAndStaysZeroOutside) {
  const auto w = [](double y) { return detail::attenuation(FleshAttenuation::Wyvill, y); };
  EXPECT_EQ(w(0), 1);
  for (const double side : {-1.0, 1.0}) {
    EXPECT_NEAR(w(0.5 * side), 0.5, 1e-15);
    EXPECT_NEAR(w(side), 0, 1e-15);
    EXPECT_EQ(w(1.2 * side), 0);  // the bare polynomial: 0.0697
    EXPECT_EQ(w(2 * side), 0);    // the bare polynomial: -7
    EXPECT_NEAR((w(0.999999 * side) - w(side)) / 1e-6, 0, 1e-5);
  }
  double steepest = 0, steepest_at = 0;
  for (double y = 0; y < 1; y += 1e-4) {
    const double slope = (w(y) - w(y + 1e-6)) / 1e-6;
    EXPECT_GE(slope, 0);
    if (slope > steepest) steepest = slope, steepest_at = y;
  }
  EXPECT_NEAR(steepest, 1.5835, 1e-4);
  EXPECT_NEAR(steepest_at, 0.5035, 1e-3);
  EXPECT_NEAR(detail::attenuation(FleshAttenuation::Parabola, 0.5), 0.75, 1e-15);
  EXPECT_EQ(detail::attenuation(FleshAttenuation::Parabola, -1.5), 0);
  EXPECT_EQ(detail::attenuation(FleshAttenuation::None, -1.5), 1);
}

TEST(FleshWeights, AreShapeTimesAttenuationNormalised) {
  const Character c = limb({});
  FleshDesc desc = upperFlesh();
  desc.vertex_group = "front";
  for (const double radius : {0.0, 0.1}) {
    desc.bone_radius_m = radius;
    const detail::FleshWeights w = weightsOf(c, desc);
    EXPECT_EQ(*std::max_element(w.alpha.begin(), w.alpha.end()), 1.0f);
    for (std::size_t i = 0; i < w.vertices.size(); ++i) {
      const Vec3f& p = c.mesh.positions[w.vertices[i]];
      EXPECT_GT(p.z(), 0);
      // All lie at the same distance from the bone, so the attenuation is what is left.
      EXPECT_NEAR(w.alpha[i], detail::attenuation(FleshAttenuation::Wyvill, 1 - 2 * p.y()), 1e-5);
    }
    EXPECT_NEAR(w.safe_elongation_m, kRadius - radius, 1e-6);
  }
}

TEST(FleshWeights, LeaveOutWhatIsNearerThanTheBoneRadius) {
  Character c = limb({});
  for (Vec3f& p : c.mesh.positions)
    if (p.x() > 0.2f) p.x() = p.z() = 0.05f;
  FleshDesc desc = upperFlesh();
  desc.bone_radius_m = 0.1;
  const detail::FleshWeights w = weightsOf(c, desc);
  for (const std::uint32_t v : w.vertices) EXPECT_NE(c.mesh.positions[v].x(), 0.05f);
}

TEST(FleshWeights, AutoTakesTheSkinBetweenTheTwoFrames) {
  const Character c = limb({});
  const detail::FleshWeights upper = weightsOf(c, upperFlesh());
  const detail::FleshWeights lower = weightsOf(c, lowerFlesh());
  for (const std::uint32_t v : upper.vertices) EXPECT_LT(c.mesh.positions[v].y(), 1.0);
  for (const std::uint32_t v : lower.vertices) EXPECT_GT(c.mesh.positions[v].y(), 1.0);
  FleshDesc whole = upperFlesh();
  whole.ends = {JointId(2)};
  EXPECT_NEAR(detail::virtualBone(whole, bindModelMatrices(c)).length(), 2.0, 1e-6);
  EXPECT_GT(weightsOf(c, whole).vertices.size(), upper.vertices.size() + 100);
}

TEST(FleshWeights, TwistJointsBelongToTheElementAndLimbsDoNot) {
  Character c = limb({});
  const auto add = [&](const char* name, std::size_t parent, const Vec3f& at) {
    Joint joint{.name = name, .parent = JointId(parent)};
    joint.rest.translation = at;
    c.skeleton.joints.push_back(joint);
  };
  add("twist", 0, {0, 0.5f, 0.1f});
  add("arm", 0, {0.2f, 0.5f, 0});
  add("hand", 4, {1.5f, 0, 0});
  const std::vector<bool> mine =
      detail::jointsOfElement(upperFlesh(), c.skeleton, bindModelMatrices(c));
  EXPECT_EQ(mine, (std::vector<bool>{true, false, false, true, false, false}));
}

TEST(FleshWeights, EndInTheMiddleOfSeveralEnds) {
  Character c = limb({});
  Joint side{.name = "side", .parent = JointId(0)};
  side.rest.translation = Vec3f(1, 1, 0);
  c.skeleton.joints.push_back(side);
  FleshDesc desc = upperFlesh();
  desc.ends = {JointId(1), JointId(3)};
  const detail::VirtualBone bone = detail::virtualBone(desc, bindModelMatrices(c));
  EXPECT_NEAR((bone.to - Vec3d(0.5, 1, 0)).norm(), 0, 1e-6);
  EXPECT_NEAR(bone.along(bone.from), 1, 1e-12);  // y points to the dominant frame
  EXPECT_NEAR(bone.along(bone.to), -1, 1e-12);
}

TEST(FleshWeights, NeighboursJoinSmoothlyWithWyvillAndWithAKinkWithTheParabola) {
  const Character c = limb({}, 401, 8);
  const auto steepestAtTheElbow = [&](FleshAttenuation kind) {
    std::vector<float> alpha(c.mesh.vertexCount(), 0.0f);
    for (FleshDesc desc : {upperFlesh(), lowerFlesh()}) {
      desc.attenuation = kind;
      const detail::FleshWeights w = weightsOf(c, desc);
      for (std::size_t i = 0; i < w.vertices.size(); ++i) alpha[w.vertices[i]] += w.alpha[i];
    }
    double steepest = 0;  // of alpha along the limb, within 1 cm of the elbow
    for (std::size_t v = 8; v < alpha.size(); ++v) {
      const double y = c.mesh.positions[v].y();
      if (std::abs(y - 1) > 0.01) continue;
      steepest = std::max(steepest, std::abs(alpha[v] - alpha[v - 8]) / 0.005);
    }
    return steepest;
  };
  EXPECT_LT(steepestAtTheElbow(FleshAttenuation::Wyvill), 0.15);
  EXPECT_GT(steepestAtTheElbow(FleshAttenuation::Parabola), 1.0);
}

TEST(FleshWeights, SayWhatIsWrong) {
  const Character c = limb({});
  FleshDesc none = upperFlesh();
  none.bone_radius_m = 5;
  EXPECT_NE(errorOf(c, none).find("no vertex can move"), std::string::npos);
  FleshDesc point = upperFlesh();
  point.to = Vec3d(0, 0, 0);
  EXPECT_NE(errorOf(c, point).find("no length"), std::string::npos);
  FleshDesc group = upperFlesh();
  group.vertex_group = "frnt";
  EXPECT_NE(errorOf(c, group).find("did you mean \"front\""), std::string::npos);
  Character bare = c;
  bare.skin = {};
  EXPECT_NE(errorOf(bare, upperFlesh()).find("needs skin weights"), std::string::npos);
}

/// The limb with a square shield in front of it that follows its first bone alone.
Character withShield(Character c) {
  const auto first = static_cast<std::uint32_t>(c.mesh.vertexCount());
  const FleshDesc desc = upperFlesh();
  const Vec3f at = detail::virtualBone(desc, bindModelMatrices(c)).middle().cast<float>();
  std::uint32_t slot = 0;
  while (c.skin.slots[slot].joint != desc.dominant) ++slot;
  for (const Vec3f& p : {Vec3f(-1, -1, 0), Vec3f(1, -1, 0), Vec3f(1, 1, 0), Vec3f(-1, 1, 0)}) {
    c.mesh.positions.push_back(at + 0.1f * p + Vec3f(0.01f, 0.02f, 0.7f));
    if (!c.mesh.normals.empty()) c.mesh.normals.push_back(Vec3f::UnitZ());
    if (!c.mesh.uvs.empty()) c.mesh.uvs.push_back(Vec2f::Zero());
    c.skin.influences.push_back({slot, 1.0f});
    c.skin.offsets.push_back(c.skin.offsets.back() + 1);
  }
  c.mesh.triangles.push_back({first, first + 1, first + 2});
  c.mesh.triangles.push_back({first, first + 2, first + 3});
  c.parts.clear();
  c.instances.clear();
  addDefaultParts(c);
  return c;
}

TEST(FleshWeights, AShieldOnTheLimbKeepsStill) {
  const Character bare = limb({}), c = withShield(bare);
  const std::vector<std::uint8_t> props = propVertices(c, c.mesh, c.skin);
  ASSERT_EQ(props.size(), c.mesh.vertexCount());
  EXPECT_EQ(std::count(props.begin(), props.end(), 1), 4);
  EXPECT_TRUE(propVertices(bare, bare.mesh, bare.skin).empty());
  const BoundSurface surface(c.mesh, c.skin);
  const auto w =
      detail::fleshWeights(upperFlesh(), c.skeleton, bindModelMatrices(c), surface, props).value();
  const detail::FleshWeights alone = weightsOf(bare, upperFlesh());
  EXPECT_EQ(w.vertices, alone.vertices);
  EXPECT_EQ(w.alpha, alone.alpha);
  EXPECT_NE(weightsOf(c, upperFlesh()).vertices, alone.vertices);  // the shield is in reach
  // What is all of an element is its flesh, however it is skinned.
  std::vector<std::uint8_t> all(props.size(), 1);
  const auto none =
      detail::fleshWeights(upperFlesh(), c.skeleton, bindModelMatrices(c), surface, all).value();
  EXPECT_EQ(none.vertices, weightsOf(c, upperFlesh()).vertices);
}

TEST(Props, VerticesThatALayerAddedToARigidMeshAreItsOwn) {
  Character c = withShield(limb({}));
  const auto count = static_cast<std::uint32_t>(c.mesh.vertexCount());
  // The shield as a mesh of its own, with a slot of its own.
  const auto slot = static_cast<std::uint32_t>(c.skin.slots.size());
  c.skin.slots.push_back(c.skin.slots[0]);
  for (std::uint32_t v = count - 4; v < count; ++v)
    c.skin.influences[c.skin.offsets[v]].slot = slot;
  MeshInstance shield = c.instances.front();
  c.instances.front().vertex_count = count - 4;
  shield.rigid = true;
  shield.joint = c.skin.slots[slot].joint;
  shield.first_vertex = count - 4;
  shield.vertex_count = 4;
  c.instances.push_back(shield);
  Skin refined = c.skin;  // one vertex more of the limb, one of the shield
  for (const std::uint32_t of : {0u, count - 1}) {
    for (const Influence& i : c.skin[of]) refined.influences.push_back(i);
    refined.offsets.push_back(static_cast<std::uint32_t>(refined.influences.size()));
  }
  const std::vector<std::uint8_t> marks = rigidMeshVertices(c, refined);
  ASSERT_EQ(marks.size(), count + 2);
  EXPECT_EQ(std::count(marks.begin(), marks.end(), 1), 5);
  EXPECT_EQ(marks[count], 0);
  EXPECT_EQ(marks[count + 1], 1);
}

}  // namespace
}  // namespace derm::flesh_weights_test
