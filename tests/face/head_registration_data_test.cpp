#include <gtest/gtest.h>

#include "derm/face/head_registration.h"

#include "ict_heads.h"

/// Real heads of one linear model, all pairs: what docs/faces.md states.
namespace derm::head_registration_data_test {
namespace {

using namespace testing_support;

LandmarkErrors errorsOf(const IctHead& source, const IctHead& target, Rng& rng) {
  const Disguise disguise{randomRotation(rng)};
  const TriMesh mesh = disguised(target.mesh, disguise, rng);
  Diagnostics notes;
  const auto r = registerHeads(source.mesh, source.points, mesh, {}, notes);
  EXPECT_TRUE(r.ok()) << r.error().text();
  LandmarkErrors errors;
  if (!r.ok()) return {100, 100};
  EXPECT_EQ(r->verdict, RegistrationVerdict::Good);
  EXPECT_GT((r->map.targetFrame().axes.transpose() * disguise.rotation).trace(), 1 + 2 * 0.98);
  const double diagonal = disguise.scale * bounds(target.mesh.positions).diagonal();
  for (std::size_t k = 0; k < 68; ++k) {
    const Vec3d found =
        positionAt(r->landmarks[k].point, mesh.triangles, mesh.positions).cast<double>();
    const Vec3d truth = disguise(target.mesh.positions[target.landmarks[k]]);
    const double error = 100 * (found - truth).norm() / diagonal;
    errors.all += error / 68;
    if (k >= 17) errors.inner += error / 51;
  }
  return errors;
}

TEST(HeadRegistrationData, AllPairsOfRealHeads) {
  DERM_PACKED_DATA_OR_SKIP(folder, "faces-ict");
  std::vector<IctHead> heads;
  for (const char* name : {"generic", "id_A", "id_B", "id_C", "id_sample"})
    heads.push_back(ictHead(folder, name));
  Rng rng(1);
  LandmarkErrors mean;
  for (std::size_t a = 0; a < heads.size(); ++a)
    for (std::size_t b = 0; b < heads.size(); ++b) {
      if (a == b) continue;
      const LandmarkErrors errors = errorsOf(heads[a], heads[b], rng);
      EXPECT_LT(errors.all, 0.8) << a << " to " << b;
      EXPECT_LT(errors.inner, 0.7) << a << " to " << b;
      mean.inner += errors.inner / 20;
      mean.all += errors.all / 20;
    }
  RecordProperty("inner", std::to_string(mean.inner));
  RecordProperty("all", std::to_string(mean.all));
  EXPECT_LT(mean.inner, 0.33);
  EXPECT_LT(mean.all, 0.44);
}

TEST(HeadRegistrationData, DenseCorrespondenceOfTheNarrowFace) {
  DERM_PACKED_DATA_OR_SKIP(folder, "faces-ict");
  const IctHead source = ictHead(folder, "id_A");
  const IctHead target = ictHead(folder, "id_sample");
  Diagnostics notes;
  const auto r = registerHeads(source.mesh, source.points, target.mesh, {}, notes);
  ASSERT_TRUE(r.ok()) << r.error().text();
  const auto dense = denseCorrespondence(source.mesh, target.mesh, *r);
  ASSERT_TRUE(dense.ok()) << dense.error().text();
  ASSERT_TRUE(validate(*dense, source.mesh.triangles.size(), target.mesh.vertexCount()).ok());
  // The first 6706 vertices are the face without ears, jaw line and neck.
  constexpr std::size_t kNarrowFace = 6706;
  double sum = 0;
  for (std::size_t v = 0; v < kNarrowFace; ++v) {
    ASSERT_TRUE(dense->has(v)) << v;
    sum += (positionAt(dense->source_points[v], source.mesh.triangles, source.mesh.positions) -
            source.mesh.positions[v])
               .cast<double>()
               .norm();
  }
  EXPECT_LT(100 * sum / kNarrowFace / bounds(source.mesh.positions).diagonal(), 0.4);
}

}  // namespace
}  // namespace derm::head_registration_data_test
