// Numbers of an independent double-precision prototype of Dutreve 2011, chapters 3 and 4, on heads
// given by formulas, so that anybody can compute them again.
#include <gtest/gtest.h>

#include "derm/math/rbf.h"

#include "math/round_trip_tables.h"

namespace derm::rbf_paper_test {
namespace {

using namespace testing_support;

struct Named {
  const char* name;
  RbfKernel kernel;
};
constexpr Named kBiharmonic{"R", RbfKernel::Biharmonic}, kThinPlate{"TPS", RbfKernel::ThinPlate},
    kTriharmonic{"R3", RbfKernel::Triharmonic}, kMultiquadric{"MQ", RbfKernel::Multiquadric},
    kGaussian{"G", RbfKernel::Gaussian};

RbfMap33 between(const HeadShape& from, const HeadShape& to, const RbfDesc& desc) {
  Diagnostics notes;
  auto map =
      RbfMap33::bind(controlPoints(from).positions, controlPoints(to).positions, desc, notes);
  EXPECT_TRUE(map.ok());
  EXPECT_TRUE(notes.empty());
  return *std::move(map);
}

TEST(RbfPaper, HeadsAreThoseOfThePrototype) {
  const auto point = [](const HeadShape& h, const char* label) {
    const ControlPoints all = controlPoints(h);
    return all.positions[all.at(label)];
  };
  EXPECT_EQ(controlPoints(kHumanA).labels.size(), 28u);
  EXPECT_LT((point(kHumanA, "9.3") - Vec3d(0, -1.8, 11.791922)).norm(), 1e-6);
  EXPECT_LT((point(kHumanB, "9.3") - Vec3d(0, -2.4, 13.201557)).norm(), 1e-6);
  EXPECT_LT((point(kCartoonC, "9.3") - Vec3d(0, -2.1, 9.912973)).norm(), 1e-6);
  EXPECT_LT((point(kHumanA, "3.1") - Vec3d(3.2, 1.75, 7.701443)).norm(), 1e-6);
  EXPECT_LT((point(kHumanB, "3.1") - Vec3d(2.9, 2.05, 8.236857)).norm(), 1e-6);
}

TEST(RbfPaper, FiveKernelsCarryAPointFromHeadToHead) {
  const std::vector<std::pair<Named, Vec3d>> expected{
      {kBiharmonic, {.906407, 2.045253, 10.841975}},
      {kThinPlate, {.909034, 2.111757, 10.872062}},
      {kTriharmonic, {.910136, 2.265650, 10.875321}},
      {kMultiquadric, {.909268, 2.090035, 10.889696}},
      {kGaussian, {.907668, 2.016814, 10.880083}}};
  for (const auto& [kernel, at] : expected) {
    const RbfMap33 map = between(kHumanA, kHumanB, {.kernel = kernel.kernel});
    EXPECT_LT((map.evaluate({1, 2, 10}) - at).norm(), 1e-5) << kernel.name;
  }
}

/// Dutreve 2011, eq. 4.1, over the source's diagonal: there and back again.
double roundTripError(const HeadShape& from, const HeadShape& to, const RbfDesc& desc,
                      const FaceExpression& expression) {
  const RbfMap33 there = between(from, to, desc), back = between(to, from, desc);
  double sum = 0;
  for (const Vec3d& p : withExpression(from, expression))
    sum += (back.evaluate(there.evaluate(p)) - p).norm();
  return sum / from.diagonal;
}

FaceExpression expressionNumber(std::size_t i) {
  return i == 0 ? FaceExpression{"neutral", {}} : faceExpressions()[i - 1];
}

TEST(RbfPaper, Tables46And47_BiharmonicIsBestOnAllPairs) {
  expectRoundTrips([](const RoundTripTable& table, RbfKernel kernel, std::size_t expression) {
    return roundTripError(table.head(table.from), table.head(table.to), {.kernel = kernel},
                          expressionNumber(expression));
  });
}

TEST(RbfPaper, WithoutTheAffinePartTriharmonicIsBetter) {
  const auto mean = [](RbfKernel kernel) {
    double sum = 0;
    for (const FaceExpression& e : faceExpressions())
      sum += roundTripError(kHumanA, kHumanB, {.kernel = kernel, .affine = false}, e) / 6;
    return sum;
  };
  EXPECT_NEAR(mean(RbfKernel::Triharmonic), .065, 5e-4);
  EXPECT_NEAR(mean(RbfKernel::Biharmonic), .124, 5e-4);
}

TEST(RbfPaper, AClosedEyeStaysClosed) {
  for (const auto& [from, to] : {std::pair{kHumanA, kCartoonC},
                                 {kHumanB, kCartoonC},
                                 {kHumanA, kHumanB},
                                 {kCartoonC, kHumanA}}) {
    const ControlPoints points = controlPoints(from), targets = controlPoints(to);
    const RbfMap33 map = between(from, to, {});
    // The upper lid comes down onto the lower one, which stays where it is.
    const Vec3d lid = map.evaluate(points.positions[points.at("3.3")]);
    EXPECT_LE((lid - targets.positions[targets.at("3.3")]).norm(), 1e-9);
  }
}

}  // namespace
}  // namespace derm::rbf_paper_test
