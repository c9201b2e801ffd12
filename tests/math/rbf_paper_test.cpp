// Numbers of an independent double-precision prototype of Dutreve 2011, chapters 3 and 4, on heads
// given by formulas, so that anybody can compute them again.
#include <gtest/gtest.h>

#include "derm/math/rbf.h"

#include "math/analytic_heads.h"

namespace derm {
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

struct Row {
  Named kernel;
  std::array<double, 6> errors;
  double mean;
};

/// The first row is the best kernel's.
void expectTable(const HeadShape& from, const HeadShape& to, const std::vector<Row>& rows) {
  const std::vector<FaceExpression> expressions = faceExpressions();
  std::array<double, 6> best{};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.kernel.name);
    const RbfDesc desc{.kernel = row.kernel.kernel};
    EXPECT_LE(roundTripError(from, to, desc, {"neutral", {}}), 1e-9);
    double mean = 0;
    for (std::size_t e = 0; e < expressions.size(); ++e) {
      SCOPED_TRACE(expressions[e].name);
      const double error = roundTripError(from, to, desc, expressions[e]);
      mean += error / 6;
      if (row.errors[e] >= 0) {
        EXPECT_NEAR(error, row.errors[e], 2e-4);
      }
      if (&row == &rows[0]) best[e] = error;
      EXPECT_TRUE(&row == &rows[0] || error > best[e]);
    }
    EXPECT_NEAR(mean, row.mean, 2e-4);
  }
}

TEST(RbfPaper, Table46_BiharmonicIsBestBetweenHumans) {
  expectTable(kHumanA, kHumanB,
              {{kBiharmonic, {.0042, .0019, .0037, .0055, .0032, .0020}, .0034},
               {kGaussian, {.0074, .0027, .0086, .0096, .0036, .0034}, .0059},
               {kMultiquadric, {.0070, .0033, .0078, .0086, .0060, .0040}, .0061},
               {kThinPlate, {.0086, .0035, .0089, .0105, .0060, .0039}, .0069},
               {kTriharmonic, {.0119, .0061, .0136, .0214, .0119, .0059}, .0118}});
}

TEST(RbfPaper, Table47_BiharmonicIsBestFromCartoonToHuman) {
  expectTable(kCartoonC, kHumanB,
              {{kBiharmonic, {.0494, .0260, .0499, .0497, .0302, .0286}, .0390},
               {kThinPlate, {.1181, .0446, .1177, .0869, .0510, .0625}, .0801},
               {kMultiquadric, {.1269, .0487, .1305, .0772, .0533, .0720}, .0848},
               {kGaussian, {.1180, .0553, .1371, .1089, .0739, .0825}, .0959},
               {kTriharmonic, {.1626, .0624, .1724, .1112, .0695, .0845}, .1104}});
}

TEST(RbfPaper, BiharmonicIsBestOnTheOtherPairsToo) {
  constexpr std::array<double, 6> kMeanOnly{-1, -1, -1, -1, -1, -1};
  expectTable(kCartoonC, kHumanA,
              {{kBiharmonic, kMeanOnly, .0198},
               {kThinPlate, kMeanOnly, .0377},
               {kMultiquadric, kMeanOnly, .0453},
               {kGaussian, kMeanOnly, .0570},
               {kTriharmonic, kMeanOnly, .0602}});
  expectTable(kHumanA, kCartoonC,
              {{kBiharmonic, kMeanOnly, .0168},
               {kThinPlate, kMeanOnly, .0310},
               {kMultiquadric, kMeanOnly, .0330},
               {kGaussian, kMeanOnly, .0448},
               {kTriharmonic, kMeanOnly, .0482}});
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
}  // namespace derm
