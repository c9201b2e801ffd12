// The volume layer holds the shape that the character's morphs make of the rest surface.
#include <algorithm>
#include <cmath>
#include <memory>

#include <gtest/gtest.h>

#include "derm/base/parallel.h"
#include "derm/deform/basic_layers.h"
#include "derm/deform/morphs.h"
#include "derm/deform/refined_vertices.h"
#include "derm/volume/region_volumes.h"
#include "derm/volume/volume_layer.h"

#include "support/allocations.h"
#include "support/compare.h"
#include "support/posed.h"
#include "volume/section_rig.h"

namespace derm::volume_morphs_test {
namespace {

using namespace section_test;
using testing_support::maxDistance;
using testing_support::stackOf;

/// A limb of three bones with a muscle beside its first joint, and a shape that makes all of it
/// thicker.
Character muscularLimb() {
  Character c = smoothLimb({.length = 30, .rings = 61, .joints = {0, 10, 20}}, 2.5);
  MorphTarget muscle{.name = "muscle"}, fat{.name = "fat"};
  for (std::uint32_t v = 0; v < c.mesh.vertexCount(); ++v) {
    const Vec3f& p = c.mesh.positions[v];
    const Vec3f out(p.x(), p.y(), 0);
    fat.vertices.push_back(v);
    fat.positions.push_back(0.4f * out);
    const float along = 1 - std::abs(p.z() - 7) / 6;
    if (along <= 0 || p.x() <= 0) continue;
    muscle.vertices.push_back(v);
    muscle.positions.push_back(0.7f * along * p.x() * out);
  }
  c.morphs = {muscle, fat};
  c.instances[0].morph_count = 2;
  return c;
}

Pose bentPose(const Character& c, std::vector<float> weights, double degrees = 80) {
  Pose pose = c.restPose();
  for (std::size_t j = 1; j < pose.local.size(); ++j)
    turn(pose, j, j % 2 == 1 ? degrees : -0.6 * degrees, Vec3d::UnitY());
  pose.morph_weights = std::move(weights);
  return pose;
}

std::vector<Vec3f> morphedRest(const Character& c, const Pose& pose) {
  std::vector<Vec3f> out = c.mesh.positions;
  addMorphs(c.morphs, pose.morph_weights, {.positions = out, .normals = {}, .tangents = {}});
  return out;
}

Character withoutMorphs(Character c) {
  c.morphs.clear();
  c.instances[0].morph_count = 0;
  return c;
}

/// What comes out of layers in a pose.
std::vector<Vec3f> run(const Character& character, const Pose& pose,
                       const std::vector<LayerFactory>& layers) {
  StackRunner runner(stackOf(std::make_shared<const Character>(character), layers));
  runner.setPose(pose, 0);
  const auto positions = std::as_const(runner.evaluate()).positions();
  return {positions.begin(), positions.end()};
}

LayerFactory centre() { return skinningLayer({.method = SkinningMethod::Centre}); }

std::vector<Vec3f> held(const Character& c, const Pose& pose, const VolumeDesc& desc = {}) {
  return run(c, pose, {morphLayer(), centre(), volumeLayer("v", desc)});
}
std::vector<Vec3f> unheld(const Character& c, const Pose& pose) {
  return run(c, pose, {morphLayer(), centre()});
}

/// Volumes per region, measured anew from float positions.
class Meter {
 public:
  Meter(const Character& c, const RegionsDesc& desc)
      : skeleton_(c.skeleton),
        surface_(makeMeasuredSurface(c.mesh.positions, c.mesh.triangles, "limb", notes_)),
        regions_(VolumeRegions::bind(surface_, c.mesh, c.skeleton, c.skin, desc).value()),
        volumes_(surface_, regions_, RegionTables::Volumes) {}

  std::vector<double> atRest(std::span<const Vec3f> positions) const {
    return volumes_.volumes(pointsOf(positions), regions_.bindPositions());
  }
  std::vector<double> posed(std::span<const Vec3f> positions, const Pose& pose) const {
    std::vector<Affine3d> model(skeleton_.size());
    localToModel(skeleton_, pose.local, model);
    std::vector<Vec3d> anchors(regions_.jointCount());
    regions_.jointPositions(model, anchors);
    return volumes_.volumes(pointsOf(positions), anchors);
  }

 private:
  std::vector<Vec3d> pointsOf(std::span<const Vec3f> positions) const {
    std::vector<Vec3d> points(surface_.pointCount());
    measurePoints(surface_, positions, Vec3d::Zero(), points);
    return points;
  }
  Diagnostics notes_;
  Skeleton skeleton_;
  MeasuredSurface surface_;
  VolumeRegions regions_;
  RegionVolumes volumes_;
};

constexpr VolumeMethod kExactMethods[] = {VolumeMethod::Section, VolumeMethod::AxesExact,
                                          VolumeMethod::Gradient, VolumeMethod::Normal,
                                          VolumeMethod::Laplacian};
constexpr RegionKind kKinds[] = {RegionKind::Whole, RegionKind::Components, RegionKind::Joints};

TEST(VolumeMorphs, EveryMethodHoldsEveryRegionOfTheMorphedShape) {
  const Character c = muscularLimb();
  const Pose pose = bentPose(c, {1, 0.5f});
  for (const RegionKind kind : kKinds) {
    const Meter meter(c, {.kind = kind});
    const std::vector<double> wanted = meter.atRest(morphedRest(c, pose));
    const std::vector<double> plain = meter.atRest(c.mesh.positions);
    EXPECT_GT(wanted[0] / plain[0], 1.3);
    for (const VolumeMethod method : kExactMethods) {
      SCOPED_TRACE(int(kind) * 10 + int(method));
      const VolumeDesc desc{.method = {.method = method}, .regions = {.kind = kind}};
      const std::vector<double> now = meter.posed(held(c, pose, desc), pose);
      for (std::size_t l = 0; l < now.size(); ++l) EXPECT_NEAR(now[l] / wanted[l], 1, 1e-6) << l;
    }
  }
}

TEST(VolumeMorphs, AMorphedLimbIsHeldAsOneMadeInThatShape) {
  const Character c = muscularLimb();
  const Pose pose = bentPose(c, {0, 1});
  Character made = withoutMorphs(c);
  made.mesh.positions = morphedRest(c, pose);
  Pose unmorphed = pose;
  unmorphed.morph_weights.clear();
  const double move = maxDistance(unheld(c, pose), held(c, pose));
  const double move_made = maxDistance(unheld(made, unmorphed), held(made, unmorphed));
  EXPECT_GT(move, 1e-3);
  EXPECT_NEAR(move / move_made, 1, 0.25);  // centres of rotation are those of the bound shape
}

TEST(VolumeMorphs, WeightZeroGivesTheBitsOfACharacterWithoutMorphs) {
  const Character c = muscularLimb();
  const Character bare = withoutMorphs(c);
  for (const VolumeMethod method : kExactMethods) {
    const VolumeDesc desc{.method = {.method = method}};
    EXPECT_EQ(held(c, bentPose(c, {0, 0}), desc), held(bare, bentPose(bare, {}), desc));
  }
}

TEST(VolumeMorphs, WithoutABendNothingMoves) {
  const Character c = muscularLimb();
  for (const std::vector<float>& weights :
       {std::vector<float>{1, 0}, {0, 1}, {-0.8f, -0.3f}, {2, 4}})
    for (const VolumeMethod method : kExactMethods) {
      SCOPED_TRACE(int(method));
      const Pose pose = bentPose(c, weights, 0);
      EXPECT_EQ(held(c, pose, {.method = method}), unheld(c, pose));
    }
}

TEST(VolumeMorphs, NegativeAndOverdrivenWeightsAreHeldToo) {
  const Character c = muscularLimb();
  const Meter meter(c, {});
  for (const std::vector<float>& weights : {std::vector<float>{-1, -0.8f}, {3, 0}, {0, 4}, {2, 3}})
    for (const VolumeMethod method : {VolumeMethod::Section, VolumeMethod::Normal}) {
      SCOPED_TRACE(testing::Message() << int(method) << " " << weights[0] << " " << weights[1]);
      const Pose pose = bentPose(c, weights, 50);
      const std::vector<double> wanted = meter.atRest(morphedRest(c, pose));
      const std::vector<double> now = meter.posed(held(c, pose, {.method = method}), pose);
      for (std::size_t l = 0; l < now.size(); ++l) EXPECT_NEAR(now[l] / wanted[l], 1, 1e-6);
    }
}

TEST(VolumeMorphs, AShapeWithoutVolumeIsLeftAlone) {
  const Character c = muscularLimb();
  const Pose pose = bentPose(c, {0, -2.5f});  // every radius is 0
  for (const VolumeMethod method : kExactMethods)
    for (const Vec3f& p : held(c, pose, {.method = method})) EXPECT_TRUE(p.allFinite());
}

TEST(VolumeMorphs, MotionAndScaleOfTheWholeCommuteWithIt) {
  const Character c = muscularLimb();
  const Pose pose = bentPose(c, {1, 1});
  Transform motion{.translation = Vec3f(3, -2, 5)};
  motion.rotation = Quatf(Eigen::AngleAxisf(2.2f, Eigen::Vector3f(1, 2, -1).normalized()));
  const Transform scales[] = {{.scale = Vec3f::Constant(2)}, {.scale = Vec3f::Constant(0.01f)}};
  for (const VolumeMethod method : {VolumeMethod::Section, VolumeMethod::Normal}) {
    const std::vector<Vec3f> plain = held(c, pose, {.method = method});
    for (const Transform& t : {motion, scales[0], scales[1]}) {
      Pose moved = pose;  // the first joint lies in the origin
      moved.local[0] = t;
      const std::vector<Vec3f> now = held(c, moved, {.method = method});
      const double size = double{t.scale.maxCoeff()};
      for (std::size_t v = 0; v < now.size(); ++v)
        EXPECT_LT((now[v] - t.matrix() * plain[v]).norm(), 1e-4 * size + 4e-6);
    }
  }
}

TEST(VolumeMorphs, SwellComesOnTop) {
  Character c = muscularLimb();
  VertexGroup group{.name = "all"};
  for (std::uint32_t v = 0; v < c.mesh.vertexCount(); ++v) {
    group.vertices.push_back(v);
    group.strengths.push_back(1);
  }
  c.mesh.groups.push_back(group);
  const Pose pose = bentPose(c, {0, 1});
  const VolumeDesc desc{.regions = {.kind = RegionKind::Whole},
                        .swell = {{.group = "all", .joint = "j1", .to_deg = 80, .percent = 10}}};
  const Meter meter(c, desc.regions);
  const double wanted =
      meter.atRest(morphedRest(c, pose))[0] + 0.1 * meter.atRest(c.mesh.positions)[0];
  EXPECT_NEAR(meter.posed(held(c, pose, desc), pose)[0] / wanted, 1, 1e-6);
}

TEST(VolumeMorphs, OnlyMorphsThatAreInTheSurfaceCount) {
  const Character c = muscularLimb();
  const Pose pose = bentPose(c, {1, 1});
  const LayerFactory volume = volumeLayer("v", {});
  const std::vector<Vec3f> without = run(c, pose, {centre(), volume});
  EXPECT_EQ(without, held(c, bentPose(c, {0, 0})));  // no layer has added them
  std::vector<Vec3f> later = without;
  addMorphs(c.morphs, pose.morph_weights, {.positions = later, .normals = {}, .tangents = {}});
  EXPECT_EQ(run(c, pose, {centre(), volume, morphLayer()}), later);
  // Added to the posed skin they are no part of the shape at rest, which is what skinning is given.
  const Pose rest = bentPose(c, {1, 1}, 0);
  EXPECT_LT(maxDistance(run(c, rest, {morphLayer(), centre(), volume}),
                        run(c, rest, {morphLayer(), centre()})),
            1e-5);
  EXPECT_GT(maxDistance(run(c, rest, {centre(), morphLayer(), volume}),
                        run(c, rest, {centre(), morphLayer()})),
            1e-3);
}

TEST(VolumeMorphs, AllThreadCountsGiveTheSameBitsAndNothingIsAllocated) {
  const auto c = std::make_shared<const Character>(muscularLimb());
  for (const VolumeMethod method : kExactMethods) {
    std::vector<std::vector<Vec3f>> results;
    for (const int threads : {1, 2, 8}) {
      const ThreadLimit limit(threads);
      results.push_back(held(*c, bentPose(*c, {1, 0.5f}), {.method = method}));
    }
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0], results[2]);
    const ThreadLimit limit(1);
    StackRunner runner(stackOf(c, {morphLayer(), centre(), volumeLayer("v", {.method = method})}));
    runner.setPose(bentPose(*c, {1, 0.5f}), 0);
    runner.evaluate();
    const std::size_t before = testing_support::allocationCount();
    runner.evaluate();
    EXPECT_EQ(testing_support::allocationCount(), before);
  }
}

TEST(VolumeMorphs, FramesKeepTheMorphedRestOnlyWhereALayerReadsIt) {
  const auto c = std::make_shared<const Character>(muscularLimb());
  const Pose pose = bentPose(*c, {1, 0.5f});
  StackRunner with(stackOf(c, {morphLayer(), centre(), volumeLayer("v", {})}));
  with.setPose(pose, 0);
  const auto kept = with.evaluate().shapedRest();
  EXPECT_EQ(std::vector<Vec3f>(kept.begin(), kept.end()), morphedRest(*c, pose));
  with.setPose(bentPose(*c, {0, 0}), 0);
  EXPECT_TRUE(with.evaluate().shapedRest().empty());
  StackRunner without(stackOf(c, {morphLayer(), centre()}));
  without.setPose(pose, 0);
  EXPECT_TRUE(without.evaluate().shapedRest().empty());
}

/// Every triangle cut into four.
BoundSurface refined(const Character& c) {
  TriMesh fine = c.mesh;
  fine.triangles.clear();
  fine.normals.clear();
  std::vector<std::uint32_t> from;
  for (std::uint32_t t = 0; t < c.mesh.triangles.size(); ++t) {
    const Triangle& k = c.mesh.triangles[t];
    const auto first = static_cast<std::uint32_t>(fine.positions.size());
    for (std::size_t i = 0; i < 3; ++i)
      fine.positions.push_back(
          Vec3f(0.5f * (c.mesh.positions[k[i]] + c.mesh.positions[k[(i + 1) % 3]])));
    for (const Triangle& part :
         {Triangle{k[0], first, first + 2}, Triangle{k[1], first + 1, first},
          Triangle{k[2], first + 2, first + 1}, Triangle{first, first + 1, first + 2}}) {
      fine.triangles.push_back(part);
      from.push_back(t);
    }
  }
  return BoundSurface(std::move(fine), {}, std::move(from));
}

TEST(VolumeMorphs, VerticesThatALayerAddedFollowTheTriangleTheyWereCutFrom) {
  const Character c = muscularLimb();
  const Pose pose = bentPose(c, {1, 0.5f});
  const BoundSurface fine = refined(c);
  Character shaped = c;
  shaped.mesh.positions = morphedRest(c, pose);
  const BoundSurface wanted = refined(shaped);
  const RefinedVertices rest(c.mesh, c.mesh.vertexCount(), fine);
  std::vector<Vec3f> space(rest.spaceCount());
  const auto now = rest.positions(shaped.mesh.positions, space);
  ASSERT_EQ(now.size(), wanted.rest.positions.size());
  EXPECT_LT(maxDistance(std::vector<Vec3f>(now.begin(), now.end()), wanted.rest.positions), 1e-5);
  const RefinedVertices same(c.mesh, c.mesh.vertexCount(), BoundSurface(c.mesh, c.skin));
  EXPECT_EQ(same.spaceCount(), 0u);
  EXPECT_EQ(same.positions(shaped.mesh.positions, {}).data(), shaped.mesh.positions.data());
}

}  // namespace
}  // namespace derm::volume_morphs_test
