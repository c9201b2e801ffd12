// Real bodies in artists' poses: what is left of skin inside skin.
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "derm/anim/body_joints.h"
#include "derm/anim/retarget.h"
#include "derm/contact/contact_layer.h"
#include "derm/contact/limb_clearance.h"
#include "derm/deform/basic_layers.h"
#include "derm/deform/stack.h"
#include "derm/io/bvh.h"
#include "derm/io/character_file.h"
#include "derm/mesh/winding_columns.h"
#include "derm/volume/volume_layer.h"

#include "support/compare.h"
#include "support/unpacked.h"

namespace derm {
namespace {

/// [cm^2] of triangles just before which the surface goes around more often than at rest.
class InsideArea {
 public:
  explicit InsideArea(const TriMesh& mesh)
      : mesh_(mesh), columns_(mesh.triangles.size()), rest_(windings(mesh.positions)) {}
  double operator()(std::span<const Vec3f> positions) {
    const std::vector<std::int32_t> now = windings(positions);
    double area = 0;
    for (std::size_t t = 0; t < now.size(); ++t)
      if (now[t] >= 1 && rest_[t] < 1) area += double{areaVector(t, positions).norm()} / 2;
    return 1e4 * area;
  }

 private:
  Vec3f areaVector(std::size_t t, std::span<const Vec3f> x) const {
    const Triangle& c = mesh_.triangles[t];
    return Vec3f(x[c[1]] - x[c[0]]).cross(Vec3f(x[c[2]] - x[c[0]]));
  }
  std::vector<std::int32_t> windings(std::span<const Vec3f> x) {
    columns_.clear();
    for (std::size_t t = 0; t < mesh_.triangles.size(); ++t) {
      const Triangle& c = mesh_.triangles[t];
      columns_.add((x[c[0]] + x[c[1]] + x[c[2]]) / 3 + 2e-4f * areaVector(t, x).normalized());
    }
    const auto out = columns_.evaluate(x, mesh_.triangles);
    return {out.begin(), out.end()};
  }

  const TriMesh& mesh_;
  WindingColumns columns_;
  std::vector<std::int32_t> rest_;
};

int turned(const TriMesh& mesh, std::span<const Vec3f> a, std::span<const Vec3f> b) {
  int count = 0;
  for (const Triangle& t : mesh.triangles) {
    const auto area = [&](std::span<const Vec3f> x) {
      return Vec3f(Vec3f(x[t[1]] - x[t[0]]).cross(Vec3f(x[t[2]] - x[t[0]])));
    };
    count += area(a).dot(area(b)) < 0;
  }
  return count;
}

/// Edges with more than 150 degrees between the normals beside them.
int folded(const TriMesh& mesh, std::span<const Vec3f> x) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Vec3f> first;
  int count = 0;
  for (const Triangle& t : mesh.triangles) {
    const Vec3f n = Vec3f(x[t[1]] - x[t[0]]).cross(Vec3f(x[t[2]] - x[t[0]])).normalized();
    for (std::size_t k = 0; k < 3; ++k) {
      const auto [at, is_new] = first.emplace(std::minmax(t[k], t[(k + 1) % 3]), n);
      count += !is_new && at->second.dot(n) < -0.8660254f;
    }
  }
  return count;
}

class ContactData : public testing::TestWithParam<const char*> {};

TEST_P(ContactData, LittleIsLeftOfSkinInsideSkinAndVolumeStaysExact) {
  DERM_PACKED_DATA_OR_SKIP(bodies, "makehuman");
  Diagnostics notes;
  const auto c =
      std::make_shared<const Character>(loadCharacter(bodies / GetParam(), {}, notes).value());
  StackRunner linear(Stack::bind(c, std::vector{skinningLayer({})}, notes).value());
  std::vector<LayerFactory> layers = {skinningLayer({.method = SkinningMethod::Centre})};
  StackRunner without(Stack::bind(c, layers, notes).value());
  layers.push_back(contactLayer("contact", {}));
  StackRunner with(Stack::bind(c, layers, notes).value());
  layers.push_back(volumeLayer("volume", {}));
  StackRunner exact(Stack::bind(c, layers, notes).value());
  with.evaluate();
  EXPECT_EQ(with.find<ContactLayer>("contact")->report().moved, 0u);

  InsideArea area(c->mesh);
  double before = 0, after = 0, after_volume = 0;
  int new_turned = 0, frames = 0, folded_linear = 0, folded_all = 0;
  for (const Clip& clip : c->clips) {
    double clip_before = 0, clip_after = 0;
    for (const double t : {0.4, 0.7, 1.0}) {
      Pose pose = c->restPose();
      sampleClip(clip, static_cast<float>(t), pose);
      for (StackRunner* runner : {&linear, &without, &with, &exact}) runner->setPose(pose, t);
      const auto x = std::as_const(without.evaluate()).positions();
      const auto y = std::as_const(with.evaluate()).positions();
      const auto z = std::as_const(exact.evaluate()).positions();
      EXPECT_LE(exact.find<VolumeLayer>("volume")->report().largestError(), 1e-6) << clip.name;
      after_volume += area(z);
      folded_linear += folded(c->mesh, std::as_const(linear.evaluate()).positions());
      folded_all += folded(c->mesh, z);
      clip_before += area(x);
      clip_after += area(y);
      new_turned += turned(c->mesh, x, y);
      ++frames;
    }
    std::printf("%-10s inside %.1f -> %.1f cm2 a frame\n", clip.name.c_str(), clip_before / 3,
                clip_after / 3);
    EXPECT_LE(clip_after, 1.001 * clip_before) << clip.name;
    before += clip_before;
    after += clip_after;
  }
  std::printf("inside %.3f of what it was, %.3f after volume; folded %d, linear %d\n",
              after / before, after_volume / before, folded_all, folded_linear);
  EXPECT_LE(after, 0.30 * before);
  // Volume does not push back in what contact has freed, nor fold what it has opened.
  EXPECT_LE(after_volume, 0.45 * before);
  EXPECT_LE(folded_all, folded_linear);
  EXPECT_EQ(new_turned, 0) << frames << " frames";
}

// Arms sunk deep into a heavy trunk: nothing turns over, no fold is added, and every region has its
// volume although all of its skin may be in contact.
TEST(ContactRecordings, DeepContactTurnsNoTriangleAndVolumeStaysExact) {
  DERM_PACKED_DATA_OR_SKIP(bodies, "makehuman");
  DERM_DATA_OR_SKIP(recordings, "mocap-cmu-bvh");
  Diagnostics notes;
  const auto c = std::make_shared<const Character>(
      loadCharacter(bodies / "mh_D_caucasian_female_young_heavy_rig163.glb", {}, notes).value());
  std::vector<LayerFactory> layers = {skinningLayer({.method = SkinningMethod::Centre})};
  StackRunner without(Stack::bind(c, layers, notes).value());
  layers.push_back(contactLayer("contact", {}));
  StackRunner with(Stack::bind(c, layers, notes).value());
  layers.push_back(volumeLayer("volume", {}));
  StackRunner exact(Stack::bind(c, layers, notes).value());
  InsideArea area(c->mesh);
  for (const char* name : {"02_01.bvh", "05_06.bvh"}) {
    const BvhMotion motion = loadBvh(recordings / name, {}, notes).value();
    RetargetDesc how;
    how.start_s = motionStart(motion.clip, motion.skeleton);
    how.source_reference_time_s = 0.0f;
    const Clip clip = retarget(motion.clip, motion.skeleton, c->skeleton, how, notes).value();
    double before = 0, after = 0;
    for (const double share : {1.0 / 6, 0.5, 5.0 / 6}) {
      const double t = share * double{clip.duration_s()};
      Pose pose = c->restPose();
      sampleClip(clip, static_cast<float>(t), pose);
      for (StackRunner* runner : {&without, &with, &exact}) runner->setPose(pose, t);
      const auto x = std::as_const(without.evaluate()).positions();
      const auto y = std::as_const(with.evaluate()).positions();
      exact.evaluate();
      EXPECT_LE(exact.find<VolumeLayer>("volume")->report().largestError(), 1e-6) << name << t;
      EXPECT_EQ(turned(c->mesh, x, y), 0) << name << t;
      EXPECT_LE(folded(c->mesh, y), folded(c->mesh, x)) << name << t;
      before += area(x);
      after += area(y);
    }
    EXPECT_LE(after, 0.4 * before) << name;
  }
}

// The walk of a slim actor on a heavy body: the pose is put right before any skin is.
TEST(ContactRecordings, ArmsAreTurnedOutOfAHeavyBody) {
  DERM_PACKED_DATA_OR_SKIP(bodies, "makehuman");
  DERM_DATA_OR_SKIP(recordings, "mocap-cmu-bvh");
  Diagnostics notes;
  const auto c = std::make_shared<const Character>(
      loadCharacter(bodies / "mh_D_caucasian_female_young_heavy_rig163.glb", {}, notes).value());
  const BvhMotion motion = loadBvh(recordings / "02_01.bvh", {}, notes).value();
  RetargetDesc how;
  how.start_s = motionStart(motion.clip, motion.skeleton);
  how.source_reference_time_s = 0.0f;
  const Clip before = retarget(motion.clip, motion.skeleton, c->skeleton, how, notes).value();
  Clip after = before;
  const std::vector<JointId> arms = upperArms(c->skeleton);
  ASSERT_EQ(arms.size(), 2u);
  const LimbClearanceReport report = clearLimbs(*c, arms, {}, after, notes).value();
  EXPECT_GT(report.turned, report.instants / 2);
  EXPECT_LT(report.largest_turn_rad, 0.6);
  InsideArea area(c->mesh);
  StackRunner runner(Stack::bind(c, std::vector{skinningLayer({})}, notes).value());
  const auto inside = [&](const Clip& clip) {
    double sum = 0;
    for (const double share : {0.0, 0.25, 0.5, 0.75}) {
      const double t = share * double{clip.duration_s()};
      Pose pose = c->restPose();
      sampleClip(clip, static_cast<float>(t), pose);
      runner.setPose(pose, t);
      sum += area(std::as_const(runner.evaluate()).positions());
    }
    return sum;
  };
  const double was = inside(before), is = inside(after);
  std::printf("inside %.0f -> %.0f cm2, turned by up to %.1f degrees\n", was, is,
              report.largest_turn_rad * 57.29578);
  EXPECT_LT(is, 0.4 * was);
}

INSTANTIATE_TEST_SUITE_P(Bodies, ContactData,
                         testing::Values("mh_A_caucasian_male_young_rig163.glb",
                                         "mh_B_african_female_young_rig163.glb",
                                         "mh_C_asian_male_old_heavy_rig163.glb",
                                         "mh_D_caucasian_female_young_heavy_rig163.glb"),
                         [](const auto& body) { return std::string(body.param).substr(3, 1); });

}  // namespace
}  // namespace derm
