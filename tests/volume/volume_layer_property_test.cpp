// What must hold for the volume layer on any input.
#include <cmath>
#include <cstdio>
#include <memory>

#include "derm/base/parallel.h"
#include "derm/base/rng.h"
#include "derm/deform/basic_layers.h"
#include "derm/volume/region_volumes.h"
#include "derm/volume/volume_layer.h"

#include "support/allocations.h"
#include "support/compare.h"
#include "support/posed.h"
#include "support/shelf.h"
#include "volume/section_rig.h"

namespace derm::volume_layer_property_test {
namespace {

using namespace section_test;
using testing_support::maxDistance;
using testing_support::stackOf;

Character bendyLimb() {
  return smoothLimb({.length = 30, .rings = 61, .joints = {0, 10, 20}}, 2.5);
}

Pose bentPose(const Character& c, double degrees = 80) {
  Pose pose = c.restPose();
  for (std::size_t j = 1; j < pose.local.size(); ++j)
    turn(pose, j, j % 2 == 1 ? degrees : -0.6 * degrees, Vec3d::UnitY());
  return pose;
}

/// Skinning and the layer, and what came out.
struct Worked {
  std::vector<Vec3f> positions, skinned;
  VolumeReport report;
};

Worked work(const Character& character, const Pose& pose, const VolumeDesc& desc = {},
            SkinningMethod method = SkinningMethod::Centre) {
  const auto c = std::make_shared<const Character>(character);
  StackRunner plain(stackOf(c, {skinningLayer({.method = method})}));
  plain.setPose(pose, 0);
  const auto skinned = plain.evaluate().positions();
  StackRunner runner(stackOf(c, {skinningLayer({.method = method}), volumeLayer("v", desc)}));
  runner.setPose(pose, 0);
  const auto positions = std::as_const(runner.evaluate()).positions();
  return {{positions.begin(), positions.end()},
          {skinned.begin(), skinned.end()},
          runner.find<VolumeLayer>("v")->report()};
}

TEST(VolumeLayer, GivesEveryRegionItsVolumeBackInFloat) {
  const Character c = bendyLimb();
  for (const SkinningMethod method :
       {SkinningMethod::Centre, SkinningMethod::Linear, SkinningMethod::DualQuaternion}) {
    const Worked w = work(c, bentPose(c), {}, method);
    EXPECT_LE(w.report.largestError(), 2e-7);
    EXPECT_GT(maxDistance(w.positions, w.skinned), 1e-3);
    Section s(c);
    std::vector<Vec3d> points(s.surface.pointCount()), anchors(s.regions.jointCount());
    measurePoints(s.surface, w.positions, Vec3d::Zero(), points);
    std::vector<Affine3d> model(c.skeleton.size());
    localToModel(c.skeleton, bentPose(c).local, model);
    s.regions.jointPositions(model, anchors);
    const std::vector<double> now = s.volumes.volumes(points, anchors);
    for (std::size_t l = 0; l < now.size(); ++l) EXPECT_NEAR(now[l] / s.restVolumes()[l], 1, 1e-6);
  }
}

TEST(VolumeLayer, LeavesRestUntouchedToTheBit) {
  for (const shelf::ShelfMesh& m : shelf::all()) {
    SCOPED_TRACE(m.name);
    const Character c = shelf::rigged(m);
    const Worked w = work(c, c.bindPose());
    EXPECT_EQ(w.positions, w.skinned);
  }
}

TEST(VolumeLayer, TakesAnyMeshOfTheShelfInAnyPoseWithoutNaN) {
  for (const shelf::ShelfMesh& m : shelf::all()) {
    SCOPED_TRACE(m.name);
    const Character c = shelf::rigged(m);
    for (const Clip& clip : c.clips)
      for (const double t : {0.25, 0.5, 1.0}) {
        const Worked w = work(c, testing_support::poseAt(c, clip, t * double{clip.duration_s()}));
        for (const Vec3f& p : w.positions) EXPECT_TRUE(p.allFinite());
        EXPECT_LE(w.report.largest_change, 0.5);
        for (std::size_t l = 0; l < w.report.regions.size(); ++l) {
          const RegionOutcome& r = w.report.regions[l];
          if (r.idle) continue;
          EXPECT_LE(std::abs(w.report.after_m3[l] - r.target_m3),
                    std::abs(r.before_m3 - r.target_m3) + 1e-12);  // never a worse frame
        }
      }
  }
}

TEST(VolumeLayer, MotionScaleAndMirrorOfThePoseCommuteWithIt) {
  const Character c = bendyLimb();
  Character wrapped = c;  // a joint above all, to move, turn and scale the whole
  for (Joint& j : wrapped.skeleton.joints)
    j.parent = JointId(j.parent.valid() ? j.parent.index() + 1 : 0);
  wrapped.skeleton.joints.insert(wrapped.skeleton.joints.begin(), Joint{.name = "all"});
  for (SkinSlot& s : wrapped.skin.slots) s.joint = JointId(s.joint.index() + 1);
  for (MeshInstance& i : wrapped.instances) i.joint = JointId();
  const Pose pose = bentPose(c);
  const Worked plain = work(c, pose);
  const auto all = [&](const Transform& t) {
    Pose out;
    out.local.push_back(t);
    out.local.insert(out.local.end(), pose.local.begin(), pose.local.end());
    return out;
  };
  Transform motion{.translation = Vec3f(3, -2, 5)};
  motion.rotation = Quatf(Eigen::AngleAxisf(2.2f, Eigen::Vector3f(1, 2, -1).normalized()));
  const Transform twice{.scale = Vec3f::Constant(2)}, small{.scale = Vec3f::Constant(0.01f)};
  const Transform mirror{.scale = Vec3f(-1, 1, 1)};
  for (const Transform& t : {motion, twice, small, mirror}) {
    const Worked w = work(wrapped, all(t));
    const double size = double{t.scale.cwiseAbs().maxCoeff()};
    for (std::size_t v = 0; v < plain.positions.size(); ++v)
      EXPECT_LT((w.positions[v] - t.matrix() * plain.positions[v]).norm(), 1e-4 * size + 4e-6);
  }
}

/// The same with other numbers of vertices: `old_of` is a permutation.
Character reordered(const Character& c, std::span<const std::uint32_t> old_of) {
  Character out = c;
  std::vector<std::uint32_t> new_of(old_of.size());
  SkinBuilder builder(c.skin.slots, old_of.size());
  Diagnostics notes;
  for (std::uint32_t v = 0; v < old_of.size(); ++v) {
    new_of[old_of[v]] = v;
    out.mesh.positions[v] = c.mesh.positions[old_of[v]];
    out.mesh.normals[v] = c.mesh.normals[old_of[v]];
    std::vector<Influence> row(c.skin[old_of[v]].begin(), c.skin[old_of[v]].end());
    builder.addVertex(row, 0, "limb", notes);
  }
  out.skin = std::move(builder).finish();
  for (Triangle& t : out.mesh.triangles)
    for (std::uint32_t& corner : t) corner = new_of[corner];
  return out;
}

TEST(VolumeLayer, ReorderedVerticesGiveReorderedResults) {
  const Character c = bendyLimb();
  const auto n = std::uint32_t(c.mesh.vertexCount());
  std::vector<std::uint32_t> old_of;
  for (std::uint32_t v = 0; v < n; ++v) old_of.push_back(n - 1 - v);
  const Worked a = work(c, bentPose(c)), b = work(reordered(c, old_of), bentPose(c));
  for (std::uint32_t v = 0; v < n; ++v)
    EXPECT_LT((a.positions[old_of[v]] - b.positions[v]).norm(), 1e-5f);
}

TEST(VolumeLayer, VerticesAndTrianglesInNoOrderGiveTheSameOnAnyNumberOfThreads) {
  // Enough for neighbours more than 16 bits apart, and for triangles that no two threads may add.
  const Character c = smoothLimb({.length = 30, .rings = 1601, .joints = {0, 10, 20}}, 5);
  const auto n = std::uint32_t(c.mesh.vertexCount());
  Rng rng(7);
  std::vector<std::uint32_t> old_of(n);
  for (std::uint32_t v = 0; v < n; ++v) old_of[v] = v;
  for (std::size_t v = n; v-- > 1;) std::swap(old_of[v], old_of[rng.below(v + 1)]);
  Character mixed = reordered(c, old_of);
  std::vector<Triangle>& triangles = mixed.mesh.triangles;
  for (std::size_t t = triangles.size(); t-- > 1;)
    std::swap(triangles[t], triangles[rng.below(t + 1)]);
  const Worked a = work(c, bentPose(c));
  std::vector<Vec3f> one;
  for (const int threads : {1, 4}) {
    const ThreadLimit limit(threads);
    const Worked b = work(mixed, bentPose(c));
    for (std::uint32_t v = 0; v < n; ++v)
      ASSERT_LT((a.positions[old_of[v]] - b.positions[v]).norm(), 2e-5f);
    if (threads == 1) one = b.positions;
    EXPECT_EQ(one, b.positions);
  }
}

TEST(VolumeLayer, GivesTheSameBitsOnAnyNumberOfThreadsAndAllocatesNothing) {
  const Character c = smoothLimb({.length = 30, .rings = 401, .joints = {0, 10, 20}}, 4);
  for (const VolumePreset preset :
       {VolumePreset::Default, VolumePreset::Local, VolumePreset::Rubber, VolumePreset::Fidelity,
        VolumePreset::Muscle, VolumePreset::ExactAxes}) {
    SCOPED_TRACE(int(preset));
    const VolumeDesc desc = volumePreset(preset);
    std::vector<Vec3f> one, four;
    {
      const ThreadLimit limit(1);
      one = work(c, bentPose(c), desc).positions;
    }
    {
      const ThreadLimit limit(4);
      four = work(c, bentPose(c), desc).positions;
    }
    EXPECT_EQ(one, four);
    StackRunner runner(
        stackOf(std::make_shared<const Character>(c), {skinningLayer({}), volumeLayer("v", desc)}));
    const ThreadLimit limit(1);
    runner.setPose(bentPose(c), 0);
    runner.evaluate();
    const std::size_t before = testing_support::allocationCount();
    runner.evaluate();
    EXPECT_EQ(testing_support::allocationCount(), before);
  }
}

TEST(VolumeLayer, TheSectionCorrectionKeepsLessThan200BytesPerVertex) {
  const auto c = std::make_shared<const Character>(smoothLimb(
      {.length = 30, .rings = 400, .sectors = 50, .joints = {0, 4, 8, 12, 16, 20, 24}}, 3));
  const LayerFactory skinning = skinningLayer({.method = SkinningMethod::Centre});
  const auto held = [&](std::vector<LayerFactory> layers) {
    const std::size_t before = testing_support::bytesHeld();
    const StackRunner runner(stackOf(c, std::move(layers)));
    return double(testing_support::bytesHeld() - before);
  };
  held({skinning});  // what is made once and stays
  const double with = held({skinning, volumeLayer("v", {.regions = {.beta = 1}})});
  const double per_vertex = (with - held({skinning})) / double(c->mesh.vertexCount());
  std::printf("%.1f bytes per vertex\n", per_vertex);
  EXPECT_LE(per_vertex, 200);
}

TEST(VolumeLayer, AnIdleLimbIsNotTouched) {
  const Character c = bendyLimb();
  Pose pose = c.restPose();
  turn(pose, 1, 100, Vec3d::UnitY());
  const Worked w = work(c, pose);
  double active = 0, idle = 0;
  for (std::size_t v = 0; v < w.positions.size(); ++v) {
    double& max = c.mesh.positions[v].z() < 15 ? active : idle;
    max = std::max(max, (w.positions[v] - w.skinned[v]).cast<double>().norm());
  }
  EXPECT_GT(active, 1e-2);
  EXPECT_LE(idle, 0.01 * active);
}

TEST(VolumeLayer, KeepsFixedVerticesWhereTheyAre) {
  Character c = bendyLimb();
  VertexGroup caps{.name = "caps"};
  for (std::uint32_t v = 0; v < c.mesh.vertexCount(); ++v)
    if (c.mesh.positions[v].x() > 0) {
      caps.vertices.push_back(v);
      caps.strengths.push_back(1);
    }
  c.mesh.groups.push_back(caps);
  const Worked w = work(c, bentPose(c), {.mask = {.terms = {}, .fixed_group = "caps"}});
  for (const std::uint32_t v : caps.vertices) EXPECT_EQ(w.positions[v], w.skinned[v]);
  EXPECT_LE(w.report.largestError(), 2e-7);
}

TEST(VolumeLayer, ClampsWhatIsAskedTooMuchAndSaysSo) {
  const Character c = bendyLimb();
  Pose pose = c.restPose();
  turn(pose, 1, 150, Vec3d::UnitY());
  const Worked w = work(c, pose, {.section = {.max_change = 0.01}}, SkinningMethod::Linear);
  ASSERT_FALSE(w.report.regions.empty());
  EXPECT_TRUE(w.report.regions[0].clamped);
  EXPECT_NEAR(w.report.after_m3[0] - w.report.regions[0].before_m3,
              0.01 * std::abs(w.report.regions[0].target_m3), 0.1);
}

TEST(VolumeLayer, ShapePresetBoundsRadiiAndReportsWhatIsMissing) {
  const Character c = bendyLimb();
  Pose pose = c.restPose();
  turn(pose, 1, 170, Vec3d::UnitZ());
  const Worked w = work(c, pose, volumePreset(VolumePreset::Shape), SkinningMethod::Linear);
  EXPECT_LE(w.report.largest_change, 0.15 + 1e-9);
  EXPECT_TRUE(w.report.regions[0].short_of_target);
}

TEST(VolumeLayer, EveryPresetBindsAndKeepsVolume) {
  const Character c = bendyLimb();
  for (const VolumePreset preset :
       {VolumePreset::Default, VolumePreset::Local, VolumePreset::Tube, VolumePreset::Shape,
        VolumePreset::Rubber, VolumePreset::Fidelity, VolumePreset::Flesh, VolumePreset::Muscle,
        VolumePreset::ExactAxes}) {
    SCOPED_TRACE(int(preset));
    const Worked w = work(c, bentPose(c, 60), volumePreset(preset));
    EXPECT_LE(w.report.largestError(), 1e-6);
    EXPECT_FALSE(w.report.regions.empty());
    for (const Vec3f& p : w.positions) EXPECT_TRUE(p.allFinite());
  }
}

TEST(VolumeLayer, TellsWhatIsWrongWithItsParameters) {
  const auto c = std::make_shared<const Character>(bendyLimb());
  const auto message = [&](const VolumeDesc& desc) {
    Diagnostics notes;
    const std::vector<LayerFactory> layers = {skinningLayer({}), volumeLayer("v", desc)};
    const auto stack = Stack::bind(c, layers, notes);
    return stack ? std::string() : stack.error().text();
  };
  EXPECT_NE(message({.section = {.epsilon = 0}}).find("epsilon"), std::string::npos);
  EXPECT_NE(message({.section = {.sigma = -1}}).find("sigma"), std::string::npos);
  EXPECT_NE(message({.section = {.max_change = 1}}).find("max_change"), std::string::npos);
  EXPECT_NE(message({.mask = {.fixed_group = "nobody"}}).find("nobody"), std::string::npos);
  VolumeDesc group;
  group.mask.terms = {{.rule = MaskRule::Group, .group = "nothing"}};
  EXPECT_NE(message(group).find("nothing"), std::string::npos);
}

TEST(VolumeLayer, PassesACharacterWithoutASkinThrough) {
  Character c;
  c.mesh = shelf::cube();
  addDefaultParts(c);
  Diagnostics notes;
  const std::vector<LayerFactory> layers = {volumeLayer("v", {})};
  StackRunner runner(Stack::bind(std::make_shared<const Character>(c), layers, notes).value());
  EXPECT_EQ(notes.count("volume-no-skin"), 1u);
  EXPECT_EQ(runner.evaluate().vertexCount(), c.mesh.vertexCount());
}

/// Skin of its first joint's far side, as the group "biceps".
Character muscledLimb() {
  Character c = bendyLimb();
  VertexGroup biceps{.name = "biceps"};
  for (std::uint32_t v = 0; v < c.mesh.vertexCount(); ++v)
    if (const Vec3f p = c.mesh.positions[v]; p.x() > 0.3f && p.z() > 3 && p.z() < 8) {
      biceps.vertices.push_back(v);
      biceps.strengths.push_back(1);
    }
  c.mesh.groups.push_back(biceps);
  return c;
}

TEST(VolumeLayer, WorksOnPointsAsOnVertices) {
  // With a muscle, even one that does not swell, it goes over points in double.
  const Character c = muscledLimb();
  VolumeDesc desc;
  desc.swell = {{.group = "biceps", .joint = "j1", .from_deg = 0, .to_deg = 90, .percent = 0}};
  EXPECT_EQ(work(c, bentPose(c)).positions, work(c, bentPose(c), desc).positions);
}

TEST(VolumeLayer, MuscleSwellsByTheStatedAmount) {
  const Character c = muscledLimb();
  VolumeDesc desc;
  desc.swell = {{.group = "biceps", .joint = "j1", .from_deg = 0, .to_deg = 90, .percent = 20}};
  Pose pose = c.restPose();
  turn(pose, 1, 90, Vec3d::UnitY());
  const Worked plain = work(c, pose), swollen = work(c, pose, desc);
  double more = 0;
  for (std::size_t l = 0; l < plain.report.after_m3.size(); ++l)
    more += swollen.report.after_m3[l] - plain.report.after_m3[l];
  EXPECT_GT(more, 0);
  EXPECT_LE(swollen.report.largestError(), 2e-7);
}

}  // namespace
}  // namespace derm::volume_layer_property_test
