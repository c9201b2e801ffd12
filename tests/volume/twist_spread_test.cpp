// Hands whose twist is spread along the forearm.
#include "derm/deform/twist_spread.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "derm/base/parallel.h"
#include "derm/base/rng.h"
#include "derm/cast/cast.h"
#include "derm/deform/basic_layers.h"
#include "derm/deform/skinning.h"
#include "derm/volume/volume_layer.h"

#include "support/allocations.h"
#include "support/compare.h"
#include "support/posed.h"
#include "volume/section_rig.h"

namespace derm::twist_spread_test {
namespace {

using namespace section_test;
using testing_support::maxDistance;

const Character& arm() {
  static const Character made = makeCastMember("arm").value();
  return made;
}

std::size_t jointOf(const char* name) { return arm().skeleton.named(name).value().index(); }

SkinningBinding bound(const Character& c, TwistRule rule) {
  Diagnostics notes;
  return SkinningBinding::bind(c.mesh, c.skeleton, c.skin,
                               {.method = SkinningMethod::Centre, .twist_spread = rule}, notes)
      .value();
}

TriMesh skinned(const Character& c, std::span<const Affine3f> palette,
                TwistRule rule = TwistRule::Forearms) {
  const SkinningBinding binding = bound(c, rule);
  SkinningScratch scratch = binding.makeScratch();
  TriMesh out = c.mesh;
  binding.evaluate(palette, scratch, outputOf(out));
  return out;
}

/// The arm's joints turned at random, the fingers' too.
Pose shakenPose(std::uint64_t seed, double max_rad, bool stretched) {
  Rng rng(seed);
  Pose pose = arm().restPose();
  for (Transform& t : pose.local) {
    const Eigen::Vector3d axis(rng.uniform(-1, 1), rng.uniform(-1, 1), rng.uniform(-1, 1));
    const double angle = rng.uniform(-max_rad, max_rad);
    t.rotation = (t.rotation.cast<double>() * Quatd(Eigen::AngleAxisd(angle, axis.normalized())))
                     .normalized()
                     .cast<float>();
    if (stretched)
      t.scale =
          Vec3d(rng.uniform(0.8, 1.2), rng.uniform(0.8, 1.2), rng.uniform(0.8, 1.2)).cast<float>();
  }
  return pose;
}

Pose twisted(const char* joint, double degrees) {
  Pose pose = arm().restPose();
  turn(pose, jointOf(joint), degrees, Vec3d::UnitX());
  return pose;
}

TEST(TwistSpread, ForearmsAreFoundByName) {
  const auto bones = findTwistBones(arm().skeleton, arm().skin, TwistRule::Forearms);
  ASSERT_EQ(bones.size(), 1u);
  EXPECT_EQ(bones[0].start.index(), jointOf("forearm"));
  EXPECT_EQ(bones[0].end.index(), jointOf("hand"));
  EXPECT_NEAR(bones[0].length_m, 0.562 - 0.285, 1e-6);
  for (const TwistBone::Member& m : bones[0].members) {
    const std::string& name = arm().skeleton[arm().skin.slots[m.slot].joint].name;
    EXPECT_EQ(m.on_axis, name == "hand" || name == "forearm_twist") << name;
    EXPECT_EQ(m.first, name == "forearm_twist") << name;
  }
  EXPECT_TRUE(findTwistBones(arm().skeleton, arm().skin, TwistRule::None).empty());
  EXPECT_EQ(bound(arm(), TwistRule::Forearms).twistBones().size(), 1u);
}

TEST(TwistSpread, ForearmsWithoutNamesAreFoundByTheirFingers) {
  Character nameless = arm();
  for (std::size_t j = 0; j < nameless.skeleton.size(); ++j)
    nameless.skeleton.joints[j].name = "joint" + std::to_string(j);
  const auto bones = findTwistBones(nameless.skeleton, nameless.skin, TwistRule::Forearms);
  ASSERT_EQ(bones.size(), 1u);
  EXPECT_EQ(bones[0].start.index(), jointOf("forearm_twist"));
  EXPECT_EQ(bones[0].end.index(), jointOf("hand"));
}

TEST(TwistSpread, WhatHasNoHandHasNoForearm) {
  for (const char* name : {"cat", "trousers", "cylinder", "mushroom"}) {
    const Character c = makeCastMember(name).value();
    EXPECT_TRUE(findTwistBones(c.skeleton, c.skin, TwistRule::Forearms).empty()) << name;
  }
}

TEST(TwistSpread, KernelsAgreeWithThePlainReference) {
  const Character& c = arm();
  const auto bones = findTwistBones(c.skeleton, c.skin, TwistRule::Forearms);
  const TwistShares shares = twistShares(bones, c.skeleton, c.skin, c.mesh.positions);
  const std::vector<Vec3d> centres = rotationCentres(c.mesh.positions, c.mesh.triangles, c.skin);
  for (const bool stretched : {false, true})
    for (const std::uint64_t seed : {1u, 2u}) {
      std::vector<Affine3d> palette = paletteOf(c, shakenPose(seed, 1.2, stretched));
      const TriMesh fast = skinned(c, narrow(palette));
      std::vector<double> removed(palette.size());
      const double angle = takeTwist(bones[0], std::span(palette), removed);
      EXPECT_GT(std::abs(angle), 0.01);
      SkinningReference reference(c.skin.slots, palette);
      reference.alignSigns(slotLinks(c.skeleton, c.skin));
      double off = 0, normals_off = 0;
      for (std::size_t v = 0; v < c.mesh.vertexCount(); ++v) {
        const Affine3d twist = turnAbout(bones[0], angle * double{shares.share[v]});
        const SkinnedVertex rest{
            .position = twist * c.mesh.positions[v].cast<double>(),
            .normal = twist.linear() * Vec3d(c.mesh.normals[v].cast<double>())};
        const SkinnedVertex wanted =
            reference.centre(preciseRow(c.skin, v), rest, twist * centres[v], 0.5);
        off = std::max(off, (fast.positions[v].cast<double>() - wanted.position).norm());
        normals_off =
            std::max(normals_off, (fast.normals[v].cast<double>() - wanted.normal).norm());
      }
      EXPECT_LT(off, 2e-6);
      EXPECT_LT(normals_off, 1e-4);
    }
}

TEST(TwistSpread, NothingMovesInTheBindPose) {
  const std::vector<Affine3f> identity(arm().skin.slots.size(), Affine3f::Identity());
  EXPECT_LT(maxDistance(skinned(arm(), identity).positions, arm().mesh.positions), 2e-7);
}

TEST(TwistSpread, BendsWithoutTwistAreAsWithoutIt) {
  Pose pose = arm().restPose();
  turn(pose, jointOf("hand"), 50, Vec3d::UnitZ());
  turn(pose, jointOf("forearm"), -70, Vec3d::UnitY());
  const std::vector<Affine3f> palette = narrow(paletteOf(arm(), pose));
  EXPECT_LT(maxDistance(skinned(arm(), palette).positions,
                        skinned(arm(), palette, TwistRule::None).positions),
            1e-6);
}

TEST(TwistSpread, WhatHangsOnTheHandMovesAsBefore) {
  const Character& c = arm();
  const auto bones = findTwistBones(c.skeleton, c.skin, TwistRule::Forearms);
  const TwistShares shares = twistShares(bones, c.skeleton, c.skin, c.mesh.positions);
  const std::vector<Affine3f> palette = narrow(paletteOf(c, shakenPose(5, 1.0, false)));
  const TriMesh with = skinned(c, palette), without = skinned(c, palette, TwistRule::None);
  std::size_t whole = 0, none = 0;
  double moved = 0;
  for (std::size_t v = 0; v < c.mesh.vertexCount(); ++v) {
    const double apart = (with.positions[v] - without.positions[v]).cast<double>().norm();
    bool below_hand = true, above = true;
    for (const Influence& i : c.skin[v]) {
      below_hand &= isBelow(c.skeleton, c.skin.slots[i.slot].joint, bones[0].end);
      above &= !isBelow(c.skeleton, c.skin.slots[i.slot].joint, bones[0].start);
    }
    if (below_hand || above) {
      EXPECT_LT(apart, 2e-6) << v;
    } else {
      moved = std::max(moved, apart);
    }
    whole += below_hand;
    none += above;
  }
  EXPECT_GT(whole, 100u);
  EXPECT_GT(none, 100u);
  EXPECT_GT(moved, 1e-3);
}

TEST(TwistSpread, TwistsOfTheWristStretchNoEdgeMuch) {
  Section plain(arm()), spread(arm(), {}, {.tolerance = 1e-12}, 0.5, TwistRule::Forearms);
  struct Case {
    const char* joint;
    double min_before, max;  ///< of edges
  };
  for (const Case& k : {Case{"hand", 4.5, 1.6}, Case{"forearm_twist", 1.4, 1.4}}) {
    const Section::Posed before = plain.pose(twisted(k.joint, 170));
    const Section::Posed after = spread.pose(twisted(k.joint, 170));
    const double worst = edgeStretch(plain.surface.triangles, plain.rest, before.corrected);
    const double now = edgeStretch(spread.surface.triangles, spread.rest, after.corrected);
    std::printf("%s twisted by 170: edges %.2f -> %.2f\n", k.joint, worst, now);
    EXPECT_GE(worst, k.min_before) << k.joint;
    EXPECT_LE(now, k.max) << k.joint;
    EXPECT_LE(spread.worstRegion(after), 1e-12);
  }
}

TEST(TwistSpread, IsContinuousBelowHalfATurnAlsoWhereTheWristBends) {
  const SkinningBinding binding = bound(arm(), TwistRule::Forearms);
  SkinningScratch scratch = binding.makeScratch();
  TriMesh last, now = arm().mesh;
  double max = 0;
  for (double degrees = -179; degrees <= 179; degrees += 0.5) {
    Pose pose = twisted("forearm_twist", degrees);
    const Eigen::AngleAxisd bend(40 * kDegree, Eigen::Vector3d::UnitZ());
    const Eigen::AngleAxisd own(0.5 * degrees * kDegree, Eigen::Vector3d::UnitX());
    pose.local[jointOf("hand")].rotation = Quatd(bend * own).cast<float>();
    binding.evaluate(narrow(paletteOf(arm(), pose)), scratch, outputOf(now));
    if (degrees > -179) max = std::max<double>(max, maxDistance(last.positions, now.positions));
    last = now;
  }
  // Three quarters of a degree in all, fingers up to 0.2 m from the axis: 2.6 mm.
  EXPECT_LT(max, 4e-3);
  EXPECT_GT(max, 1e-4);
}

TEST(TwistSpread, MotionScaleAndMirrorOfThePoseCommuteWithIt) {
  const std::vector<Affine3d> palette = paletteOf(arm(), shakenPose(11, 1.2, true));
  const TriMesh plain = skinned(arm(), narrow(palette));
  for (const Affine3d& map : commutingMaps()) {
    std::vector<Affine3d> mapped;
    for (const Affine3d& m : palette) mapped.push_back(map * m);
    const TriMesh out = skinned(arm(), narrow(mapped));
    double off = 0;
    for (std::size_t v = 0; v < plain.vertexCount(); ++v)
      off = std::max(
          off, (out.positions[v].cast<double>() - map * plain.positions[v].cast<double>()).norm());
    EXPECT_LT(off, 5e-6);
  }
}

TEST(TwistSpread, ALargerCharacterIsTwistedAlike) {
  Character large = arm();
  scaleLengths(large, 100.0);
  Pose pose = shakenPose(12, 1.0, false), large_pose = pose;
  for (Transform& t : large_pose.local) t.translation *= 100.0f;
  const TriMesh a = skinned(arm(), narrow(paletteOf(arm(), pose)));
  const TriMesh b = skinned(large, narrow(paletteOf(large, large_pose)));
  double off = 0;
  for (std::size_t v = 0; v < a.vertexCount(); ++v)
    off = std::max(off, (b.positions[v] / 100.0f - a.positions[v]).cast<double>().norm());
  EXPECT_LT(off, 5e-6);
}

TEST(TwistSpread, ReorderedVerticesGiveReorderedResults) {
  const Character& c = arm();
  Character turned = c;
  const auto n = std::uint32_t(c.mesh.vertexCount());
  SkinBuilder builder(c.skin.slots, n);
  Diagnostics notes;
  for (std::uint32_t v = 0; v < n; ++v) {
    turned.mesh.positions[v] = c.mesh.positions[n - 1 - v];
    turned.mesh.normals[v] = c.mesh.normals[n - 1 - v];
    std::vector<Influence> row(c.skin[n - 1 - v].begin(), c.skin[n - 1 - v].end());
    builder.addVertex(row, 0, "arm", notes);
  }
  turned.skin = std::move(builder).finish();
  for (Triangle& t : turned.mesh.triangles)
    for (std::uint32_t& corner : t) corner = n - 1 - corner;
  const std::vector<Affine3f> palette = narrow(paletteOf(c, shakenPose(13, 1.2, false)));
  const TriMesh a = skinned(c, palette), b = skinned(turned, palette);
  double off = 0;
  for (std::uint32_t v = 0; v < n; ++v)
    off = std::max(off, (a.positions[n - 1 - v] - b.positions[v]).cast<double>().norm());
  EXPECT_LT(off, 2e-6);
}

TEST(TwistSpread, GivesTheSameBitsOnAnyNumberOfThreads) {
  const std::vector<Affine3f> palette = narrow(paletteOf(arm(), shakenPose(19, 1.2, false)));
  const auto on = [&](int threads) {
    const ThreadLimit limit(threads);
    return skinned(arm(), palette);
  };
  const TriMesh one = on(1), four = on(4);
  EXPECT_EQ(one.positions, four.positions);
  EXPECT_EQ(one.normals, four.normals);
}

TEST(TwistSpread, NothingIsEverNaN) {
  const std::vector<Affine3f> identity(arm().skin.slots.size(), Affine3f::Identity());
  const auto slot = [&](const char* name) {
    std::size_t s = 0;
    while (arm().skin.slots[s].joint.index() != jointOf(name)) ++s;
    return s;
  };
  std::vector<std::vector<Affine3f>> palettes(5, identity);
  palettes[0][slot("hand")].linear().setZero();
  palettes[1][slot("hand")](0, 0) = std::nanf("");
  palettes[2][slot("forearm_twist")](1, 3) = INFINITY;
  palettes[3][slot("hand")].linear() = Vec3f(-1, -1, 1).asDiagonal();  // swung by half a circle
  palettes[4][slot("hand")].linear() = Vec3f(1, -1, -1).asDiagonal();  // twisted by half a circle
  for (const auto& palette : palettes) {
    const TriMesh out = skinned(arm(), palette);
    for (const Vec3f& p : out.positions) ASSERT_TRUE(p.allFinite());
    for (const Vec3f& n : out.normals) ASSERT_NEAR(n.norm(), 1, 1e-4);
  }
}

TEST(TwistSpread, TheVolumeLayerUsesTheSameCentresAndStaysExact) {
  const auto c = std::make_shared<const Character>(arm());
  const std::vector<LayerFactory> layers = {skinningLayer({.method = SkinningMethod::Centre}),
                                            volumeLayer("volume", {})};
  StackRunner runner(testing_support::stackOf(c, layers));
  runner.setPose(twisted("hand", 170), 0);
  runner.evaluate();
  const std::size_t before = testing_support::allocationCount();
  runner.evaluate();
  EXPECT_EQ(testing_support::allocationCount(), before);
  const VolumeReport report = runner.find<VolumeLayer>("volume")->report();
  EXPECT_LE(report.largestError(), 2e-7);
  std::printf("hand twisted by 170: radii change by %.4f\n", report.largest_change);
  EXPECT_LE(report.largest_change, 0.05);
}

}  // namespace
}  // namespace derm::twist_spread_test
