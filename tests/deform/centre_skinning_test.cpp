#include <array>
#include <cmath>

#include "derm/base/parallel.h"
#include "derm/base/rng.h"
#include "derm/deform/basic_layers.h"
#include "derm/deform/pose_character.h"
#include "derm/deform/rotation_centres.h"
#include "derm/deform/skinning.h"
#include "derm/mesh/measures.h"

#include "deform/skinning_reference.h"
#include "support/allocations.h"
#include "support/compare.h"
#include "support/posed.h"
#include "support/shelf.h"
#include "volume/section_rig.h"

namespace derm::centre_skinning_test {
namespace {

using namespace section_test;
using testing_support::maxDistance;

Character bendyLimb() { return smoothLimb({.length = 30, .rings = 61, .joints = {0, 10, 20}}, 6); }

SkinningBinding bound(const Character& c, double alpha = 0.5) {
  Diagnostics notes;
  return SkinningBinding::bind(c.mesh, c.skeleton, c.skin,
                               {.method = SkinningMethod::Centre, .alpha = alpha}, notes)
      .value();
}

TriMesh skinned(const Character& c, std::span<const Affine3f> palette, double alpha = 0.5) {
  const SkinningBinding binding = bound(c, alpha);
  SkinningScratch scratch = binding.makeScratch();
  TriMesh out = c.mesh;
  binding.evaluate(palette, scratch, outputOf(out));
  return out;
}

Pose shakenPose(const Character& c, std::uint64_t seed, bool stretched) {
  Rng rng(seed);
  Pose pose = c.restPose();
  for (Transform& t : pose.local) {
    const Eigen::Vector3d axis(rng.uniform(-1, 1), rng.uniform(-1, 1), rng.uniform(0.1, 1));
    t.rotation = Quatd(Eigen::AngleAxisd(rng.uniform(-1.2, 1.2), axis.normalized())).cast<float>();
    if (stretched)
      t.scale =
          Vec3d(rng.uniform(0.7, 1.3), rng.uniform(0.7, 1.3), rng.uniform(0.7, 1.3)).cast<float>();
  }
  return pose;
}

TEST(CentreSkinning, IsNamedAndNeedsTheSkeleton) {
  EXPECT_EQ(name(SkinningMethod::Centre), "centre");
  EXPECT_EQ(parseSkinningMethod("centre").value(), SkinningMethod::Centre);
  const Character c = bendyLimb();
  Diagnostics notes;
  const auto bare =
      SkinningBinding::bind(surfaceOf(c.mesh), c.skin, {.method = SkinningMethod::Centre}, notes);
  ASSERT_FALSE(bare.ok());
  EXPECT_NE(bare.error().text().find("skeleton"), std::string::npos);
  for (const double alpha : {-0.1, 1.5, std::nan("")}) {
    const auto bad = SkinningBinding::bind(
        c.mesh, c.skeleton, c.skin, {.method = SkinningMethod::Centre, .alpha = alpha}, notes);
    ASSERT_FALSE(bad.ok());
    EXPECT_NE(bad.error().text().find("alpha"), std::string::npos);
  }
}

TEST(CentreSkinning, KernelsAgreeWithThePlainReference) {
  for (const bool stretched : {false, true}) {
    const Character c = bendyLimb();
    const std::vector<Vec3d> centres = rotationCentres(c.mesh.positions, c.mesh.triangles, c.skin);
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      const std::vector<Affine3d> palette = paletteOf(c, shakenPose(c, seed, stretched));
      SkinningReference reference(c.skin.slots, palette);
      reference.alignSigns(slotLinks(c.skeleton, c.skin));
      const TriMesh fast = skinned(c, narrow(palette));
      for (std::size_t v = 0; v < c.mesh.vertexCount(); ++v) {
        const SkinnedVertex rest{.position = c.mesh.positions[v].cast<double>(),
                                 .normal = c.mesh.normals[v].cast<double>()};
        const SkinnedVertex wanted = reference.centre(preciseRow(c.skin, v), rest, centres[v], 0.5);
        EXPECT_LT((fast.positions[v].cast<double>() - wanted.position).norm(), 5e-5) << v;
        EXPECT_LT((fast.normals[v].cast<double>() - wanted.normal).norm(), 1e-4) << v;
      }
    }
  }
}

TEST(CentreSkinning, AlphaOneIsDualQuaternionSkinning) {
  const Character c = bendyLimb();
  const Pose pose = shakenPose(c, 7, false);
  const TriMesh centre = skinned(c, narrow(paletteOf(c, pose)), 1.0);
  const TriMesh dual = testing_support::skinned(c, pose, SkinningMethod::DualQuaternion);
  EXPECT_LT(maxDistance(centre.positions, dual.positions), 2e-5);
}

TEST(CentreSkinning, CentresLieOnTheAxisOfALimbAndRigidVerticesAreTheirOwn) {
  const Character c = smoothLimb({}, 2.5);
  const std::vector<Vec3d> centres = rotationCentres(c.mesh.positions, c.mesh.triangles, c.skin);
  for (std::size_t v = 0; v < c.mesh.vertexCount(); ++v) {
    if (c.skin[v].size() == 1) {
      EXPECT_EQ(centres[v], Vec3d(c.mesh.positions[v].cast<double>()));
    } else {
      EXPECT_LT(centres[v].head<2>().norm(), 1e-5);
    }
  }
}

TEST(CentreSkinning, RestInRestOut) {
  for (const shelf::ShelfMesh& m : shelf::all()) {
    SCOPED_TRACE(m.name);
    const Character c = shelf::rigged(m);
    const std::vector<Affine3f> identity(c.skin.slots.size(), Affine3f::Identity());
    const TriMesh out = skinned(c, identity);
    float size = 0;  // rounding scales with this
    for (const Vec3f& p : c.mesh.positions) size = std::max(size, p.cwiseAbs().maxCoeff());
    EXPECT_LE(maxDistance(out.positions, c.mesh.positions), 1e-6 * double{size});
  }
}

TEST(CentreSkinning, MotionScaleAndMirrorOfThePoseCommuteWithIt) {
  const Character c = bendyLimb();
  const std::vector<Affine3d> palette = paletteOf(c, shakenPose(c, 11, true));
  const TriMesh plain = skinned(c, narrow(palette));
  for (const Affine3d& map : commutingMaps()) {
    std::vector<Affine3d> mapped;
    for (const Affine3d& m : palette) mapped.push_back(map * m);
    const TriMesh out = skinned(c, narrow(mapped));
    for (std::size_t v = 0; v < plain.vertexCount(); ++v)
      EXPECT_LT((out.positions[v].cast<double>() - map * plain.positions[v].cast<double>()).norm(),
                2e-4);
  }
}

TEST(CentreSkinning, ReorderedVerticesGiveReorderedResults) {
  const Character c = bendyLimb();
  Character turned = c;
  const auto n = std::uint32_t(c.mesh.vertexCount());
  const auto to = [n](std::uint32_t v) { return n - 1 - v; };
  std::vector<SkinSlot> slots = c.skin.slots;
  SkinBuilder builder(slots, n);
  Diagnostics notes;
  for (std::uint32_t v = 0; v < n; ++v) {
    turned.mesh.positions[v] = c.mesh.positions[to(v)];
    turned.mesh.normals[v] = c.mesh.normals[to(v)];
    std::vector<Influence> row(c.skin[to(v)].begin(), c.skin[to(v)].end());
    builder.addVertex(row, 0, "limb", notes);
  }
  turned.skin = std::move(builder).finish();
  for (Triangle& t : turned.mesh.triangles)
    for (std::uint32_t& corner : t) corner = to(corner);
  const std::vector<Affine3f> palette = narrow(paletteOf(c, shakenPose(c, 13, false)));
  const TriMesh a = skinned(c, palette), b = skinned(turned, palette);
  for (std::uint32_t v = 0; v < n; ++v)
    EXPECT_LT((a.positions[to(v)] - b.positions[v]).norm(), 1e-5f);
}

TEST(CentreSkinning, JointsTurnedInAllByMoreThanHalfACircleDoNotJump) {
  // 80, 160, 240 degrees against the root: neighbours stay below 180.
  const Character c = smoothLimb({.length = 40, .rings = 81, .joints = {0, 10, 20, 30}}, 9);
  const SkinningBinding binding = bound(c);
  SkinningScratch scratch = binding.makeScratch();
  TriMesh last, now = c.mesh;
  for (double degrees = 0; degrees <= 170; degrees += 0.5) {
    Pose pose = c.restPose();
    for (std::size_t j = 1; j < 4; ++j) turn(pose, j, degrees, Vec3d::UnitZ());
    const std::vector<Affine3f> palette = narrow(paletteOf(c, pose));
    binding.evaluate(palette, scratch, outputOf(now));
    if (degrees > 0) {
      // Three joints, half a degree each, one metre from the axis: 0.026 m.
      EXPECT_LT(maxDistance(last.positions, now.positions), 0.06) << degrees;
    }
    last = now;
  }
}

TEST(CentreSkinning, NothingIsEverNaN) {
  const Character c = bendyLimb();
  std::vector<std::vector<Affine3f>> palettes;
  const std::vector<Affine3f> identity(c.skin.slots.size(), Affine3f::Identity());
  palettes.push_back(identity);
  palettes.back()[1].linear().setZero();  // scale 0
  palettes.push_back(identity);
  palettes.back()[1](0, 0) = std::nanf("");
  palettes.push_back(identity);  // half a circle, exactly
  palettes.back()[1].linear() = Vec3f(-1, -1, 1).asDiagonal();
  palettes.push_back(identity);
  palettes.back()[2].linear() = Vec3f(-1, 1, 1).asDiagonal();  // a mirror beside none
  for (const auto& palette : palettes) {
    const TriMesh out = skinned(c, palette);
    for (const Vec3f& p : out.positions) EXPECT_TRUE(p.allFinite());
    for (const Vec3f& n : out.normals) EXPECT_NEAR(n.norm(), 1, 1e-4);
  }
}

TEST(CentreSkinning, SlotsOfSeveralSkinsAndMissingParentsFindTheSlotAboveThem) {
  Skeleton skeleton;
  for (int j = 0; j < 5; ++j) {
    Joint joint{.name = "j" + std::to_string(j)};
    if (j > 0) joint.parent = JointId(std::size_t(j - 1));
    skeleton.joints.push_back(joint);
  }
  Skin skin;  // joint 2 has no slot; joints 1 and 3 have two each
  for (const std::size_t joint : {1u, 3u, 4u, 1u, 3u}) skin.slots.push_back({JointId(joint)});
  const std::vector<SlotLink> links = slotLinks(skeleton, skin);
  ASSERT_EQ(links.size(), 5u);
  const auto parent = [&](std::uint32_t slot) {
    for (const SlotLink& l : links)
      if (l.slot == slot) return l.parent;
    return 99u;
  };
  EXPECT_EQ(parent(0), 0u);
  EXPECT_EQ(parent(3), 0u);  // another root: held against the first
  EXPECT_EQ(parent(1), 0u);
  EXPECT_EQ(parent(4), 3u);
  EXPECT_EQ(parent(2), 1u);
}

TEST(CentreSkinning, WorksInStackAndPoseCharacterAlikeAndAllocatesNothing) {
  const auto c = std::make_shared<const Character>(bendyLimb());
  const Pose pose = shakenPose(*c, 17, true);
  StackRunner runner(
      testing_support::stackOf(c, {skinningLayer({.method = SkinningMethod::Centre})}));
  runner.setPose(pose, 0);
  runner.evaluate();
  const std::size_t before = testing_support::allocationCount();
  const SkinFrame& frame = runner.evaluate();
  EXPECT_EQ(testing_support::allocationCount(), before);
  const TriMesh posed = poseCharacter(*c, pose, SkinningMethod::Centre).value();
  for (std::size_t v = 0; v < posed.vertexCount(); ++v)
    EXPECT_LT((posed.positions[v] - frame.positions()[v]).norm(), 1e-5f);
}

TEST(CentreSkinning, GivesTheSameBitsOnAnyNumberOfThreads) {
  const Character c = smoothLimb({.length = 30, .rings = 301, .joints = {0, 10, 20}}, 6);
  const std::vector<Affine3f> palette = narrow(paletteOf(c, shakenPose(c, 19, false)));
  TriMesh one, four;
  {
    const ThreadLimit limit(1);
    one = skinned(c, palette);
  }
  {
    const ThreadLimit limit(4);
    four = skinned(c, palette);
  }
  EXPECT_EQ(one.positions, four.positions);
  EXPECT_EQ(one.normals, four.normals);
}

}  // namespace
}  // namespace derm::centre_skinning_test
