#include "derm/cast/cylinder.h"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "derm/cast/cast.h"
#include "derm/mesh/adjacency.h"
#include "derm/mesh/closedness.h"
#include "derm/mesh/measures.h"
#include "derm/mesh/weld.h"

namespace derm::cylinder_test {
namespace {

std::vector<Vec3d> bent(const CylinderModel& model, double degrees) {
  const double t = degrees * std::numbers::pi / 180.0;
  const double middle = 0.5 * kCylinderLength;
  std::vector<Vec3d> out;
  for (std::size_t v = 0; v < model.positions.size(); ++v) {
    const Vec3d& p = model.positions[v];
    const double z = p.z() - middle;
    const Vec3d turned(p.x() * std::cos(t) + z * std::sin(t), p.y(),
                       -p.x() * std::sin(t) + z * std::cos(t) + middle);
    out.push_back(model.weights[v][0] * p + model.weights[v][1] * turned);
  }
  return out;
}

double lossPercent(CylinderKind kind, double degrees) {
  const CylinderModel model = makeCylinderModel(kind);
  const double before = volume(model.positions, model.triangles);
  return 100.0 * (1.0 - volume(bent(model, degrees), model.triangles) / before);
}

TEST(CylinderPaper, M627HasTheStatedCountsAndVolume) {
  const CylinderModel model = makeCylinderModel(CylinderKind::M627);
  EXPECT_EQ(model.positions.size(), 627u);
  EXPECT_EQ(model.triangles.size(), 1250u);
  EXPECT_TRUE(checkClosed(model.triangles).closed());
  EXPECT_NEAR(volume(model.positions, model.triangles), 62.172471791213695, 1e-12);
  EXPECT_EQ(model.positions[625], Vec3d(0, 0, 0));
  EXPECT_EQ(model.positions[626], Vec3d(0, 0, 20));
}

TEST(CylinderPaper, M258HasTheStatedCounts) {
  const CylinderModel model = makeCylinderModel(CylinderKind::M258);
  EXPECT_EQ(model.positions.size(), 258u);
  EXPECT_EQ(model.triangles.size(), 512u);
  EXPECT_TRUE(checkClosed(model.triangles).closed());
}

TEST(CylinderPaper, M625IsClosedOnlyAfterWelding) {
  const CylinderModel model = makeCylinderModel(CylinderKind::M625);
  EXPECT_EQ(model.positions.size(), 625u);
  EXPECT_EQ(model.triangles.size(), 1200u);
  EXPECT_FALSE(checkClosed(model.triangles).closed());
  const Character c = makeCastMember("cylinder-m625").value();
  const std::vector<std::uint32_t> map = weldMap(c.mesh.positions);
  EXPECT_EQ(weldedCount(map), 625u - 48u);
  EXPECT_TRUE(checkClosed(mapped(c.mesh.triangles, map)).closed());
}

TEST(CylinderPaper, Table41VolumeLossBeforeCorrection) {
  const double angles[] = {10, 30, 50, 70, 90};
  const double m625[] = {0.17072, 1.5055, 4.0141, 7.3939, 11.237};
  const double m627[] = {0.17036, 1.5024, 4.0057, 7.3785, 11.214};
  for (int i = 0; i < 5; ++i) {
    SCOPED_TRACE(angles[i]);
    EXPECT_NEAR(lossPercent(CylinderKind::M625, angles[i]), m625[i], 1e-3);
    EXPECT_NEAR(lossPercent(CylinderKind::M627, angles[i]), m627[i], 1e-3);
  }
}

TEST(CylinderPaper, M258LosesWhatTable42Says) {
  EXPECT_NEAR(lossPercent(CylinderKind::M258, 10), 0.1733, 1e-3);
  EXPECT_NEAR(lossPercent(CylinderKind::M258, 90), 11.4061, 1e-3);
}

TEST(CylinderPaper, TheCharacterIsTheModelInFloat) {
  for (const auto& [name, kind] :
       {std::pair{"cylinder", CylinderKind::M627}, std::pair{"cylinder-m627", CylinderKind::M627},
        std::pair{"cylinder-m625", CylinderKind::M625},
        std::pair{"cylinder-m258", CylinderKind::M258}}) {
    SCOPED_TRACE(name);
    const CylinderModel model = makeCylinderModel(kind);
    const Character c = makeCastMember(name).value();
    ASSERT_EQ(c.mesh.vertexCount(), model.positions.size());
    EXPECT_EQ(c.mesh.triangles, model.triangles);
    for (std::size_t v = 0; v < model.positions.size(); ++v) {
      EXPECT_EQ(c.mesh.positions[v], model.positions[v].cast<float>());
      for (const Influence& i : c.skin[v]) {
        ASSERT_LT(i.slot, 2u);
        EXPECT_NEAR(i.weight, model.weights[v][i.slot], 1e-7);
      }
    }
  }
}

TEST(CylinderPaper, BendClipTurnsTheMiddleJointThirtyDegreesEachSecond) {
  const Character c = makeCastMember("cylinder").value();
  const Clip& bend = c.clips[c.findClip("bend").value()];
  Pose pose = c.restPose();
  sampleClip(bend, 3.0f, pose);
  std::vector<Affine3d> model(c.skeleton.size());
  localToModel(c.skeleton, pose.local, model);
  EXPECT_LT((model[2].translation() - Vec3d(10, 0, 10)).norm(), 1e-5);
  EXPECT_FLOAT_EQ(bend.duration_s(), 6.0f);
}

}  // namespace
}  // namespace derm::cylinder_test
