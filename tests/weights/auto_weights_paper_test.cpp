#include <gtest/gtest.h>

#include "derm/mesh/measures.h"

#include "weights/weights_rig.h"

/// The weights of the volume report and the skinning report (docs/index.md), obtained from
/// autoWeights.
namespace derm::auto_weights_paper_test {
namespace {

using namespace weights_rig;

constexpr double kHeight = 20;

/// Volume of a cylinder bent by t about +y through its middle, relative to the straight one; the
/// second slot turns.
double bentVolumeRatio(const TriMesh& mesh, const Skin& skin, double height, double t) {
  std::vector<Vec3d> straight, bent;
  for (std::size_t v = 0; v < mesh.vertexCount(); ++v) {
    const Vec3d p = mesh.positions[v].cast<double>() - Vec3d(0, 0, height / 2);
    const double w = weight(skin, v, 1);
    const Vec3d turned(p.x() * std::cos(t) + p.z() * std::sin(t), p.y(),
                       -p.x() * std::sin(t) + p.z() * std::cos(t));
    straight.push_back(p);
    bent.push_back((1 - w) * p + w * turned);
  }
  return volume(bent, mesh.triangles) / volume(straight, mesh.triangles);
}

/// M625: a 25 x 25 grid whose end rings are collapsed to the end points.
TriMesh m625() {
  std::vector<double> heights = {0};
  for (int k = 1; k <= 23; ++k) heights.push_back(kHeight * (k - 1) / 22);
  heights.push_back(kHeight);
  TriMesh m = closedCylinder(heights, 25, 1.0);
  for (std::size_t i = 0; i < 25; ++i) {
    m.positions[i] = Vec3f(0, 0, 0);
    m.positions[24 * 25 + i] = Vec3f(0, 0, float(kHeight));
  }
  m.positions.resize(625);
  std::erase_if(m.triangles, [](const Triangle& t) { return t[0] >= 625; });
  return m;
}

TEST(AutoWeightsPaper, InverseSquareToTheEndJointsIsTheReportsFormula) {
  Rig rig;
  rig.mesh = closedCylinder(evenHeights(25, kHeight), 25, 1.0);
  addChain(rig, {0, 10, 20});
  rig.bones = {JointId(0), JointId(2)};
  AutoWeightsDesc desc = everything(WeightMethod::InverseDistance);
  desc.to = DistanceTo::JointPoints;
  desc.exponent = 2;
  Diagnostics notes;
  const Result<Skin> skin = weigh(rig, desc, notes);
  ASSERT_TRUE(skin.ok());
  for (std::size_t v = 0; v < rig.mesh.vertexCount(); ++v) {
    const Vec3d p = rig.mesh.positions[v].cast<double>();
    const double d0 = p.squaredNorm(), d2 = (p - Vec3d(0, 0, kHeight)).squaredNorm();
    EXPECT_NEAR(weight(*skin, v, 0), d2 / (d0 + d2), 1e-7);
    EXPECT_NEAR(weight(*skin, v, 1), d0 / (d0 + d2), 1e-7);
  }
}

TEST(AutoWeightsPaper, Table41_VolumeLossOfTheBentCylinder) {
  Rig rig;
  rig.mesh = m625();
  addChain(rig, {0, 10, 20});
  rig.bones = {JointId(0), JointId(2)};
  AutoWeightsDesc desc = everything(WeightMethod::InverseDistance);
  desc.to = DistanceTo::JointPoints;
  desc.exponent = 2;
  Diagnostics notes;
  const Result<Skin> skin = weigh(rig, desc, notes);
  ASSERT_TRUE(skin.ok());
  const std::pair<double, double> expected[] = {
      {10, 0.17072}, {30, 1.5055}, {50, 4.0141}, {70, 7.3939}, {90, 11.237}};
  for (const auto& [degrees, loss] : expected) {
    const double ratio =
        bentVolumeRatio(rig.mesh, *skin, kHeight, degrees * std::numbers::pi / 180);
    EXPECT_NEAR(100 * (1 - ratio), loss, 6e-5 * loss) << degrees;  // printed to five figures
  }
}

TEST(AutoWeightsPaper, InverseFourthPowerOfTheDistanceToSegments) {
  Rig rig;
  rig.mesh = closedCylinder(evenHeights(61, 30.0), 24, 1.0);
  addChain(rig, {0, 10, 20, 30});
  const AutoWeightsDesc desc = everything(WeightMethod::InverseDistance);
  ASSERT_EQ(desc.exponent, 4.0f);
  Diagnostics notes;
  const Result<Skin> skin = weigh(rig, desc, notes);
  ASSERT_TRUE(skin.ok());
  for (std::size_t v = 0; v < 61 * 24; ++v) {
    const Vec3d p = rig.mesh.positions[v].cast<double>();
    double share[3], sum = 0;
    for (int b = 0; b < 3; ++b) {
      const double z = std::clamp(p.z(), 10.0 * b, 10.0 * (b + 1));
      share[b] = std::pow((p - Vec3d(0, 0, z)).norm(), -4);
      sum += share[b];
    }
    for (std::uint32_t b = 0; b < 3; ++b) EXPECT_NEAR(weight(*skin, v, b), share[b] / sum, 1e-6);
    EXPECT_EQ(weight(*skin, v, 3), 0.0f) << "the end joint moves nothing of its own";
  }
}

TEST(AutoWeightsPaper, RigidWeightsSwitchAtTheMiddleJoint) {
  for (const int rings : {3, 5, 10, 25}) {
    Rig rig;
    rig.mesh = closedCylinder(evenHeights(rings, 2.0), 12, 0.5);
    addChain(rig, {0, 1, 2});
    Diagnostics notes;
    const Result<Skin> skin = weigh(rig, {.method = WeightMethod::Nearest}, notes);
    ASSERT_TRUE(skin.ok());
    for (std::size_t v = 0; v < rig.mesh.vertexCount(); ++v)
      EXPECT_EQ(weight(*skin, v, rig.mesh.positions[v].z() < 1 ? 0 : 1), 1.0f);
  }
}

TEST(AutoWeightsPaper, LinearWeightsAreOneMinusZOverL) {
  Rig rig;
  rig.mesh = closedCylinder(evenHeights(25, 2.0), 12, 0.5);
  addChain(rig, {0, 1, 2});
  for (const bool with_end_joint : {true, false}) {
    rig.bones.resize(with_end_joint ? 3 : 2);
    Diagnostics notes;
    const Result<Skin> skin = weigh(rig, everything(WeightMethod::Linear), notes);
    ASSERT_TRUE(skin.ok());
    for (std::size_t v = 0; v < rig.mesh.vertexCount(); ++v) {
      const double z = rig.mesh.positions[v].z();
      EXPECT_NEAR(weight(*skin, v, 0), 1 - z / 2, 1e-6);
      EXPECT_NEAR(weight(*skin, v, 1), z / 2, 1e-6);
    }
    // V/V0 = 1 - sin^2(t/2) (1/3 + 2/(3 n^2)): exact for 24-gons; weights are floats.
    for (const double t : {0.3, 1.0, std::numbers::pi / 2}) {
      const double s = std::sin(t / 2);
      const double exact = 1 - s * s * (1.0 / 3 + 2.0 / (3 * 24 * 24));
      EXPECT_NEAR(bentVolumeRatio(rig.mesh, *skin, 2, t), exact, 1e-6);
    }
  }
}

TEST(AutoWeightsPaper, HeatOnATubeFollowsTheExactSolution) {
  // On an endless tube of radius r with c = 1, w'' = (w - p) / r^2 with p = 1 before the joint and
  // 0 after: w = 1 - exp(x / r) / 2 before it, exp(-x / r) / 2 after it.
  Rig rig;
  rig.mesh = closedCylinder(evenHeights(161, 8.0), 32, 0.5);
  addChain(rig, {0, 4, 8});
  Diagnostics notes;
  AutoWeightsDesc desc = everything(WeightMethod::Heat);
  desc.heat_transfer = 1;
  const Result<Skin> skin = weigh(rig, desc, notes);
  ASSERT_TRUE(skin.ok());
  for (std::size_t ring = 0; ring < 161; ++ring) {
    const double x = (rig.mesh.positions[ring * 32].z() - 4) / 0.5;
    const double exact = x < 0 ? 1 - std::exp(x) / 2 : std::exp(-x) / 2;
    EXPECT_NEAR(weight(*skin, ring * 32, 0), exact, 0.01) << x;
  }
}

}  // namespace
}  // namespace derm::auto_weights_paper_test
