// Numbers of the volume report and the skinning report (docs/index.md): linear blend skinning of a
// cylinder, and the volume it loses.

#include <cmath>
#include <numbers>

#include "derm/anim/clip.h"
#include "derm/mesh/measures.h"

#include "deform/skinning_rig.h"

namespace derm::skinning_paper_test {
namespace {

using namespace skinning_test;

constexpr double kDegree = std::numbers::pi / 180;

Affine3d bendAboutY(double angle, const Vec3d& joint) {
  Affine3d m;
  m.linear() = Eigen::AngleAxisd(angle, Vec3d::UnitY()).toRotationMatrix();
  m.translation() = joint - m.linear() * joint;
  return m;
}

/// The chain of the skinning report: joints at 0, L/2, L along z, L = 2; joint 1 turns about +y by
/// 0, 30, 60, 90 degrees, a second apart.
struct Chain {
  Skeleton skeleton;
  Clip clip;
  std::vector<SkinSlot> slots;
};

Chain reportChain() {
  Chain out;
  for (int j = 0; j < 3; ++j) {
    Joint joint;
    joint.name = "j" + std::to_string(j);
    if (j > 0) joint.parent = JointId(static_cast<std::size_t>(j - 1));
    joint.rest.translation = Vec3f(0, 0, j > 0 ? 1.0f : 0.0f);
    out.skeleton.joints.push_back(joint);
    SkinSlot slot{.joint = JointId(static_cast<std::size_t>(j))};
    slot.inverse_bind.translation() = Vec3f(0, 0, -float(j));
    out.slots.push_back(slot);
  }
  Track turn{.channel = Channel::Rotation, .joint = JointId(1)};
  for (int key = 0; key < 4; ++key) {
    const Quatf q(Quatd(Eigen::AngleAxisd(30 * key * kDegree, Vec3d::UnitY())).cast<float>());
    turn.times_s.push_back(float(key));
    turn.values.insert(turn.values.end(), q.coeffs().data(), q.coeffs().data() + 4);
  }
  out.clip = {"bend", {turn}};
  return out;
}

std::vector<Affine3d> modelAt(const Chain& chain, float time_s) {
  Pose pose{restTransforms(chain.skeleton), {}};
  sampleClip(chain.clip, time_s, pose);
  std::vector<Affine3d> model(3);
  localToModel(chain.skeleton, pose.local, model);
  return model;
}

TEST(SkinningPaper, LbsE_ThirdJointMovesOnTheReportsCircle) {
  const Chain chain = reportChain();
  const Vec3d expected[4] = {{0, 0, 2}, {0.5, 0, 1.866025}, {0.866025, 0, 1.5}, {1, 0, 1}};
  for (int key = 0; key < 4; ++key)
    EXPECT_LT((modelAt(chain, float(key))[2].translation() - expected[key]).norm(), 1e-6) << key;
}

TEST(SkinningPaper, LbsE_PointsOfTheCylinderComeOutAsExpected) {
  const Chain chain = reportChain();
  Skin skin;
  skin.slots = chain.slots;
  skin.offsets = {0, 2, 3};
  skin.influences = {{0, 0.5f}, {1, 0.5f}, {1, 1.0f}};
  Surface rest;
  rest.positions = {{0.5f, 0, 1}, {0.5f, 0, 2}};
  const Vec3d middle[4] = {
      {0.5, 0, 1}, {0.466506, 0, 0.875}, {0.375, 0, 0.783494}, {0.25, 0, 0.75}};
  const Vec3d end[4] = {{0.5, 0, 2}, {0.933013, 0, 1.616025}, {1.116025, 0, 1.066987}, {1, 0, 0.5}};
  for (int key = 0; key < 4; ++key) {
    SCOPED_TRACE(key);
    std::vector<Affine3f> palette(3);
    skinningMatrices(skin, modelAt(chain, float(key)), palette);
    const Surface out = skinned(rest, skin, {}, palette);
    EXPECT_LT((out.positions[0].cast<double>() - middle[key]).norm(), 1e-6);
    EXPECT_LT((out.positions[1].cast<double>() - end[key]).norm(), 1e-6);
  }
}

TEST(SkinningPaper, LbsE_HalfwayBetweenKeysIsHalfTheAngle) {
  const Mat3d turn = modelAt(reportChain(), 0.5f)[1].linear();
  EXPECT_NEAR(std::atan2(turn(0, 2), turn(0, 0)) / kDegree, 15, 1e-5);
}

TEST(SkinningPaper, LbsE_CrossSectionShrinksByTheFormula) {
  // |w0 + w1 e^{it}| = sqrt(1 - 4 w0 w1 sin^2(t/2)), seen on a twist about z.
  Skin skin;
  skin.slots.resize(2);
  skin.slots[0].joint = JointId(0);
  skin.slots[1].joint = JointId(1);
  for (const double w : {0.1, 0.25, 0.5, 0.8})
    for (const double degrees : {30.0, 90.0, 150.0}) {
      const double t = degrees * kDegree;
      Affine3d twist = Affine3d::Identity();
      twist.linear() = Eigen::AngleAxisd(t, Vec3d::UnitZ()).toRotationMatrix();
      const std::vector<Affine3d> palette = {Affine3d::Identity(), twist};
      const PreciseInfluence row[2] = {{0, 1 - w}, {1, w}};
      const SkinnedVertex out = SkinningReference(skin.slots, palette)
                                    .skin(row, {.position = {1, 0, 0}}, SkinningMethod::Linear);
      const double s = std::sin(t / 2);
      EXPECT_NEAR(out.position.norm(), std::sqrt(1 - 4 * w * (1 - w) * s * s), 1e-14);
    }
}

/// Closed cylinder along z with linear weights, as the volume tables use it: rings at z = H k/N,
/// two cap centres.
struct Cylinder {
  std::vector<Vec3d> positions;
  std::vector<Triangle> triangles;
  std::vector<double> far_weights;  ///< of joint 1
};

constexpr double kLength = 20;

Cylinder linearCylinder(std::uint32_t intervals, std::uint32_t sectors) {
  Cylinder c;
  for (std::uint32_t k = 0; k <= intervals; ++k)
    for (std::uint32_t i = 0; i < sectors; ++i) {
      const double angle = 2 * std::numbers::pi * i / sectors;
      c.positions.emplace_back(std::cos(angle), std::sin(angle), kLength * k / intervals);
    }
  c.positions.emplace_back(0, 0, 0);
  c.positions.emplace_back(0, 0, kLength);
  for (const Vec3d& p : c.positions) c.far_weights.push_back(p.z() / kLength);
  const std::uint32_t top = intervals * sectors;
  const std::uint32_t bottom_centre = top + sectors;
  for (std::uint32_t i = 0; i < sectors; ++i) {
    const std::uint32_t next = (i + 1) % sectors;
    for (std::uint32_t k = 0; k < intervals; ++k) {
      const std::uint32_t a = k * sectors + i, b = k * sectors + next;
      c.triangles.push_back({a, b, b + sectors});
      c.triangles.push_back({a, b + sectors, a + sectors});
    }
    c.triangles.push_back({bottom_centre, next, i});
    c.triangles.push_back({bottom_centre + 1, top + i, top + next});
  }
  return c;
}

TEST(SkinningPaper, VolA2_LinearWeightsLoseVolumeByTheDiscreteFormula) {
  const std::vector<SkinSlot> slots = {{.joint = JointId(0)}, {.joint = JointId(1)}};
  for (const std::uint32_t intervals : {2u, 5u, 24u}) {
    const Cylinder c = linearCylinder(intervals, 25);
    const double before = volume(c.positions, c.triangles);
    for (const double degrees : {10.0, 30.0, 50.0, 70.0, 90.0, 135.0}) {
      const double t = degrees * kDegree;
      const std::vector<Affine3d> palette = {Affine3d::Identity(),
                                             bendAboutY(t, {0, 0, kLength / 2})};
      const SkinningReference reference(slots, palette);
      std::vector<Vec3d> bent;
      for (std::size_t v = 0; v < c.positions.size(); ++v) {
        const PreciseInfluence row[2] = {{0, 1 - c.far_weights[v]}, {1, c.far_weights[v]}};
        bent.push_back(
            reference.skin(row, {.position = c.positions[v]}, SkinningMethod::Linear).position);
      }
      const double s = std::sin(t / 2);
      const double n = intervals;
      EXPECT_NEAR(volume(bent, c.triangles) / before, 1 - s * s * (1.0 / 3 + 2 / (3 * n * n)),
                  1e-12)
          << intervals << " intervals, " << degrees << " degrees";
    }
  }
}

TEST(SkinningPaper, VolA2_FastKernelsLoseTheSameVolume) {
  const Cylinder c = linearCylinder(24, 25);
  SkinBuilder builder({{.joint = JointId(0)}, {.joint = JointId(1)}}, c.positions.size());
  Diagnostics notes;
  std::vector<Influence> row;
  Surface rest;
  for (std::size_t v = 0; v < c.positions.size(); ++v) {
    rest.positions.push_back(c.positions[v].cast<float>());
    const auto w = static_cast<float>(c.far_weights[v]);
    row = {{0, 1 - w}, {1, w}};
    builder.addVertex(row, 0, "cylinder", notes);
  }
  const Skin skin = std::move(builder).finish();
  const std::vector<Affine3f> palette = {
      Affine3f::Identity(), bendAboutY(90 * kDegree, {0, 0, kLength / 2}).cast<float>()};
  const Surface bent = skinned(rest, skin, {}, palette);
  // 0.83275463 at N = 24; float positions of size 20 carry 1e-6 of relative error.
  EXPECT_NEAR(volume(bent.positions, c.triangles) / volume(rest.positions, c.triangles), 0.83275463,
              2e-6);
}

}  // namespace
}  // namespace derm::skinning_paper_test
