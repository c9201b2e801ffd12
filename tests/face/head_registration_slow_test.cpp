#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "derm/cast/heads.h"
#include "derm/face/head_registration.h"

#include "ict_heads.h"

/// Heads that are a formula, other people than those the method was made with; and what is no face.
namespace derm::head_registration_slow_test {
namespace {

using namespace testing_support;

Character madeHead(SyntheticHeadDesc desc) {
  desc.asymmetry_cm = 0.03;
  Result<Character> made = makeSyntheticHead(desc);
  EXPECT_TRUE(made.ok()) << made.error().text();
  return *std::move(made);
}

/// Mean over the points, % of the target's diagonal; the target pitched by 0.2 rad.
double meanError(const Character& source, const Character& target) {
  Rng rng(3);
  const Disguise disguise{Eigen::AngleAxisd(0.2, Eigen::Vector3d::UnitX()).toRotationMatrix()};
  const TriMesh mesh = disguised(target.mesh, disguise, rng);
  RegistrationDesc desc;
  desc.pose = HeadPose::Upright;
  Diagnostics notes;
  const auto r = registerHeads(source.mesh, source.points, mesh, desc, notes);
  EXPECT_TRUE(r.ok()) << r.error().text();
  if (!r.ok()) return 100;
  double sum = 0;
  for (const LandmarkMatch& m : r->landmarks)
    for (const LabelledPoint& p : target.points)
      if (p.label == m.label)
        sum += (positionAt(m.point, mesh.triangles, mesh.positions).cast<double>() -
                disguise(positionAt(p.point, target.mesh.triangles, target.mesh.positions)))
                   .norm();
  return 100 * sum / static_cast<double>(r->landmarks.size()) /
         (disguise.scale * bounds(target.mesh.positions).diagonal());
}

TEST(HeadRegistrationSlow, SixPairsOfFormulaHeads) {
  const std::vector<Character> heads = {madeHead(syntheticHeadA()), madeHead(syntheticHeadB()),
                                        madeHead(syntheticHeadC())};
  double sum = 0;
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b)
      if (a != b) {
        const double error = meanError(heads[a], heads[b]);
        RecordProperty(std::string("pair") + std::to_string(10 * a + b), std::to_string(error));
        EXPECT_LT(error, a < 2 && b < 2 ? 0.9 : 4.0) << a << " to " << b;
        sum += error;
      }
  EXPECT_LT(sum / 6, 1.5);
}

/// A hundred random morphologies, by seeds that chose nothing: every number of a human's shape
/// within 15 %, and the other one's mesh of another kind. In four parts, for queues of tests.
class RandomMorphologies : public ::testing::TestWithParam<int> {};

TEST_P(RandomMorphologies, AreFound) {
  Rng rng(20261118 + static_cast<std::uint64_t>(GetParam()));
  constexpr int kPairs = 25;
  double sum = 0, worst = 0;
  for (int pair = 0; pair < kPairs;) {
    SyntheticHeadDesc from = pair % 2 == 0 ? syntheticHeadA() : syntheticHeadB();
    SyntheticHeadDesc to = from;
    from.shape = variedHead(from.shape, 0.15, rng);
    to.shape = variedHead(to.shape, 0.15, rng);
    from.mesh = SyntheticHeadDesc::Mesh::Octahedron;
    to.mesh = SyntheticHeadDesc::Mesh::LatLong;
    if (!makeSyntheticHead(from).ok() || !makeSyntheticHead(to).ok()) continue;
    const double error = meanError(madeHead(from), madeHead(to));
    sum += error;
    worst = std::max(worst, error);
    ++pair;
  }
  RecordProperty("mean", std::to_string(sum / kPairs));
  RecordProperty("worst", std::to_string(worst));
  EXPECT_LT(sum / kPairs, 1.8);
  // A wrong pose is off by a third of the head.
  EXPECT_LT(worst, 10);
}
INSTANTIATE_TEST_SUITE_P(Hundred, RandomMorphologies, ::testing::Range(0, 4));

/// A sphere's points moved by a rule.
template <class Shape>
TriMesh ball(const Shape& shape) {
  TriMesh mesh;
  constexpr std::uint32_t kRows = 60, kColumns = 120;
  for (std::uint32_t i = 0; i <= kRows; ++i)
    for (std::uint32_t k = 0; k < kColumns; ++k) {
      const double a = 3.14159265358979 * i / kRows, b = 2 * 3.14159265358979 * k / kColumns;
      const Vec3d u(std::sin(a) * std::cos(b), std::cos(a), std::sin(a) * std::sin(b));
      mesh.positions.push_back(shape(u).template cast<float>());
    }
  const auto at = [&](std::uint32_t i, std::uint32_t k) { return i * kColumns + k % kColumns; };
  for (std::uint32_t i = 0; i < kRows; ++i)
    for (std::uint32_t k = 0; k < kColumns; ++k) {
      mesh.triangles.push_back({at(i, k), at(i, k + 1), at(i + 1, k)});
      mesh.triangles.push_back({at(i, k + 1), at(i + 1, k + 1), at(i + 1, k)});
    }
  return mesh;
}

TEST(HeadRegistrationSlow, ShapesWithoutAFaceAreRefused) {
  DERM_PACKED_DATA_OR_SKIP(folder, "faces-ict");
  const IctHead source = ictHead(folder, "generic");
  TriMesh back = source.mesh;
  std::erase_if(back.triangles, [&](const Triangle& t) {
    for (const std::uint32_t v : t)
      if (back.positions[v].z() > 1) return true;
    return false;
  });
  const std::vector<std::pair<std::string, TriMesh>> shapes = {
      {"sphere", ball([](const Vec3d& u) -> Vec3d { return u; })},
      {"ellipsoid", ball([](const Vec3d& u) -> Vec3d {
         return {7.5 * u[0], 11 * u[1], 9 * u[2]};
       })},
      {"box", ball([](const Vec3d& u) -> Vec3d { return u / u.cwiseAbs().maxCoeff(); })},
      {"bumpy ball", ball([](const Vec3d& u) -> Vec3d {
         return u *
                (9 + 0.6 * std::sin(8 * u[0]) * std::sin(7 * u[1] + 1) * std::sin(7 * u[2] + 2));
       })},
      {"back of a head", back}};
  for (const auto& [name, shape] : shapes) {
    Diagnostics notes;
    const auto r = registerHeads(source.mesh, source.points, shape, {}, notes);
    ASSERT_FALSE(r.ok()) << name << " accepted with a misfit of " << r->residual;
    EXPECT_NE(r.error().message.find("cannot find a face"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace derm::head_registration_slow_test
