#include "derm/deform/basic_layers.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "derm/deform/pose_character.h"
#include "derm/deform/stack.h"

#include "support/compare.h"
#include "support/posed.h"

namespace derm::basic_layers_test {
namespace {

using testing_support::maxDistance;
using testing_support::poseAt;
using testing_support::skinned;
using testing_support::stackOf;

Character withMorph(Character c) {
  MorphTarget bulge{.name = "bulge"};
  for (std::uint32_t v = 0; v < c.mesh.vertexCount(); v += 3) {
    bulge.vertices.push_back(v);
    bulge.positions.push_back(0.1f * c.mesh.normals[v]);
  }
  c.morphs.push_back(std::move(bulge));
  c.instances.front().morph_count = 1;
  return c;
}

TEST(BasicLayers, WithoutFurtherLayersTheStackIsExactlySkinning) {
  for (const shelf::ShelfMesh& m : shelf::all()) {
    if (m.mesh.positions.empty()) continue;
    SCOPED_TRACE(m.name);
    const auto character = std::make_shared<const Character>(shelf::rigged(m));
    for (const SkinningMethod method :
         {SkinningMethod::Rigid, SkinningMethod::Linear, SkinningMethod::DualQuaternion}) {
      StackRunner runner(stackOf(character, {morphLayer(), skinningLayer({.method = method})}));
      for (const Clip& clip : character->clips)
        for (const double t : {0.0, 0.3, 1.0}) {
          const Pose pose = poseAt(*character, clip, t);
          runner.setPose(pose, t);
          const SkinFrame& frame = runner.evaluate();
          const TriMesh want = skinned(*character, pose, method);
          EXPECT_TRUE(std::ranges::equal(frame.positions(), want.positions));
          EXPECT_TRUE(std::ranges::equal(frame.normals(), want.normals));
        }
    }
  }
}

TEST(BasicLayers, MorphsComeBeforeSkinning) {
  const auto character =
      std::make_shared<const Character>(withMorph(*testing_support::riggedTube()));
  StackRunner runner(stackOf(character, {morphLayer(), skinningLayer({})}));
  Pose pose = poseAt(*character, character->clips[0], 0.8);
  pose.morph_weights = {0.5f};
  runner.setPose(pose, 0);
  EXPECT_TRUE(std::ranges::equal(
      runner.evaluate().positions(),
      poseCharacter(*character, pose, SkinningMethod::Linear).value().positions));
  Character morphed = *character;
  const MorphTarget& bulge = character->morphs[0];
  for (std::size_t i = 0; i < bulge.vertices.size(); ++i)
    morphed.mesh.positions[bulge.vertices[i]] += 0.5f * bulge.positions[i];
  const TriMesh want = skinned(morphed, pose, SkinningMethod::Linear);
  EXPECT_LT(maxDistance(runner.evaluate().positions(), want.positions), 1e-6f);
  EXPECT_GT(
      maxDistance(want.positions, skinned(*character, pose, SkinningMethod::Linear).positions),
      0.04f);
}

TEST(BasicLayers, MorphsThatAreBackAtZeroLeaveNoTrace) {
  const auto character =
      std::make_shared<const Character>(withMorph(*testing_support::riggedTube()));
  StackRunner runner(stackOf(character, {morphLayer(), skinningLayer({})}));
  Pose pose = poseAt(*character, character->clips[0], 0.8);
  pose.morph_weights = {0.5f};
  runner.setPose(pose, 0);
  runner.evaluate();
  pose.morph_weights = {0.0f};
  runner.setPose(pose, 0);
  const TriMesh want = skinned(*character, pose, SkinningMethod::Linear);
  EXPECT_TRUE(std::ranges::equal(runner.evaluate().positions(), want.positions));
}

TEST(BasicLayers, ACharacterWithoutASkinPassesThrough) {
  Character bare;
  bare.name = "bare";
  bare.mesh = shelf::sphere(8, 12, 1);
  addDefaultParts(bare);
  StackRunner runner(
      stackOf(std::make_shared<const Character>(bare), {morphLayer(), skinningLayer({})}));
  const SkinFrame& frame = runner.evaluate();
  EXPECT_TRUE(std::ranges::equal(frame.positions(), bare.mesh.positions));
  EXPECT_TRUE(std::ranges::equal(frame.normals(), bare.mesh.normals));
}

TEST(BasicLayers, TheyHaveFixedNames) {
  const auto stack = stackOf(testing_support::riggedTube(), {morphLayer(), skinningLayer({})});
  ASSERT_EQ(stack->layers().size(), 2u);
  EXPECT_EQ(stack->layers()[0]->name(), "morphs");
  EXPECT_EQ(stack->layers()[1]->name(), "skinning");
  EXPECT_FALSE(stack->stateful());
}

}  // namespace
}  // namespace derm::basic_layers_test
