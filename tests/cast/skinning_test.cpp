// What skinning promises, held on every member of the cast and every method.
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "derm/base/rng.h"
#include "derm/cast/cast.h"
#include "derm/deform/pose_character.h"
#include "derm/mesh/measures.h"

#include "support/compare.h"

namespace derm::skinning_test {
namespace {

using testing_support::kFloatEps;
using testing_support::largestCoordinate;
using testing_support::maxDistance;

constexpr SkinningMethod kMethods[] = {SkinningMethod::Rigid, SkinningMethod::Linear,
                                       SkinningMethod::DualQuaternion};
/// Rounding of a chain of a few matrix products and a blend, in units of the largest coordinate.
constexpr float kRounding = 64 * kFloatEps;

class CastSkinning : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { character_ = *makeCastMember(GetParam()); }

  /// The last third of the last clip: bent, twisted or in flight.
  Pose someWay(const Character& c) const {
    Pose pose = c.restPose();
    const Clip& clip = c.clips.back();
    sampleClip(clip, 0.62f * clip.duration_s(), pose);
    return pose;
  }
  static std::vector<Vec3f> posed(const Character& c, const Pose& pose, SkinningMethod method) {
    return poseCharacter(c, pose, method)->positions;
  }

  Character character_;
};

TEST_P(CastSkinning, TheBindPoseGivesTheRestMeshBack) {
  for (const SkinningMethod method : kMethods)
    EXPECT_LT(
        maxDistance(posed(character_, character_.bindPose(), method), character_.mesh.positions),
        kRounding * largestCoordinate(character_.mesh.positions));
}

TEST_P(CastSkinning, RigidMotionOfTheRootsMovesTheSkinRigidly) {
  const Quatf turn(Eigen::AngleAxisf(0.8f, Vec3f(1, 2, -1).normalized()));
  const Vec3f shift(0.4f, -1.1f, 2.0f);
  const Pose before = someWay(character_);
  Pose after = before;
  for (std::size_t j = 0; j < after.local.size(); ++j) {
    if (character_.skeleton.joints[j].parent.valid()) continue;
    after.local[j].rotation = turn * after.local[j].rotation;
    after.local[j].translation = turn * after.local[j].translation + shift;
  }
  for (const SkinningMethod method : kMethods) {
    std::vector<Vec3f> moved = posed(character_, before, method);
    for (Vec3f& p : moved) p = turn * p + shift;
    EXPECT_LT(maxDistance(posed(character_, after, method), moved),
              kRounding * (largestCoordinate(moved) + 1));
  }
}

TEST_P(CastSkinning, UniformScaleOfEverythingScalesTheSkin) {
  Character large = character_;
  scaleLengths(large, 8.0);  // a power of two: scaling itself rounds nothing
  for (const SkinningMethod method : kMethods) {
    std::vector<Vec3f> scaled = posed(character_, someWay(character_), method);
    for (Vec3f& p : scaled) p *= 8;
    EXPECT_LT(maxDistance(posed(large, someWay(large), method), scaled),
              kRounding * largestCoordinate(scaled));
  }
}

TEST_P(CastSkinning, AMirroredCharacterMovesAsTheMirrorImage) {
  const auto mirrored = [](const Vec3f& v) { return Vec3f(-v.x(), v.y(), v.z()); };
  const auto mirroredTurn = [](const Quatf& q) { return Quatf(q.w(), q.x(), -q.y(), -q.z()); };
  Character image = character_;
  for (Vec3f& p : image.mesh.positions) p = mirrored(p);
  for (Vec3f& n : image.mesh.normals) n = mirrored(n);
  for (Joint& j : image.skeleton.joints) {
    j.rest.translation = mirrored(j.rest.translation);
    j.rest.rotation = mirroredTurn(j.rest.rotation);
  }
  Mat3f flip = Mat3f::Identity();
  flip(0, 0) = -1;
  for (SkinSlot& s : image.skin.slots) {
    s.inverse_bind.linear() = flip * s.inverse_bind.linear() * flip;
    s.inverse_bind.translation() = flip * s.inverse_bind.translation();
  }
  const Pose pose = someWay(character_);
  Pose image_pose = pose;
  for (Transform& t : image_pose.local) {
    t.translation = mirrored(t.translation);
    t.rotation = mirroredTurn(t.rotation);
  }
  for (const SkinningMethod method : kMethods) {
    std::vector<Vec3f> expected = posed(character_, pose, method);
    for (Vec3f& p : expected) p = mirrored(p);
    EXPECT_LT(maxDistance(posed(image, image_pose, method), expected),
              kRounding * largestCoordinate(expected));
  }
}

TEST_P(CastSkinning, ReorderingVerticesReordersTheResultExactly) {
  const std::size_t n = character_.mesh.vertexCount();
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  Rng rng(7);
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  Character shuffled;
  shuffled.name = "shuffled";
  shuffled.skeleton = character_.skeleton;
  Diagnostics notes;
  shuffled.skin.slots = character_.skin.slots;
  shuffled.skin.offsets.push_back(0);
  for (const std::uint32_t v : order) {
    shuffled.mesh.positions.push_back(character_.mesh.positions[v]);
    for (const Influence& i : character_.skin[v]) shuffled.skin.influences.push_back(i);
    shuffled.skin.offsets.push_back(static_cast<std::uint32_t>(shuffled.skin.influences.size()));
  }
  addDefaultParts(shuffled);
  const Pose pose = someWay(character_);
  for (const SkinningMethod method : kMethods) {
    const std::vector<Vec3f> plain = posed(character_, pose, method);
    const std::vector<Vec3f> mixed = posed(shuffled, pose, method);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(mixed[i], plain[order[i]]);
  }
}

TEST_P(CastSkinning, WeightsSumToOne) {
  for (std::size_t v = 0; v < character_.mesh.vertexCount(); ++v) {
    double sum = 0;
    for (const Influence& i : character_.skin[v]) sum += i.weight;
    ASSERT_NEAR(sum, 1.0, 4 * kFloatEps);
  }
}

INSTANTIATE_TEST_SUITE_P(Members, CastSkinning,
                         ::testing::Values("cylinder", "cylinder-m625", "cylinder-m258", "arm",
                                           "mushroom", "wrist", "trousers", "cat"),
                         [](const auto& member) {
                           std::string name = member.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace derm::skinning_test
