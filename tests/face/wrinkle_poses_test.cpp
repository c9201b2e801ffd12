#include "derm/face/wrinkle_poses.h"

#include <cmath>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

#include "derm/base/rng.h"

namespace derm::wrinkle_poses_test {
namespace {

FaceWeights weightsOf(const std::vector<std::vector<FaceWeights::Share>>& rows) {
  FaceWeights out;
  out.offsets.push_back(0);
  for (const auto& row : rows) {
    out.shares.insert(out.shares.end(), row.begin(), row.end());
    out.offsets.push_back(static_cast<std::uint32_t>(out.shares.size()));
  }
  return out;
}

/// One point that a pose moves from the origin to (2, 0, 0).
WrinklePoses onePoint() {
  WrinklePosesDesc desc;
  desc.neutral = {Vec3d::Zero()};
  desc.poses = {{.name = "pose", .points = {Vec3d(2, 0, 0)}}};
  return *WrinklePoses::bind(desc, weightsOf({{{0, 1.0}}}));
}

TEST(WrinklePoses, AlphaIsTheWayToThePose) {
  const WrinklePoses poses = onePoint();
  for (const auto& [at, expected] :
       {std::pair{Vec3f(1, 0, 0), 0.5f},
        {Vec3f(0.5f, 0, 0), 0.25f},
        {Vec3f(2, 0, 0), 1.0f},
        {Vec3f(3, 0, 0), 1.0f},
        {Vec3f(-1, 0, 0), 0.0f},
        {Vec3f(1, 5, 0), 0.5f},
        {Vec3f(std::numeric_limits<float>::quiet_NaN(), 0, 0), 0.0f}}) {
    float alpha = -1;
    poses.alphas(std::span(&at, 1), std::span(&alpha, 1));
    EXPECT_EQ(alpha, expected) << at.transpose();
  }
}

TEST(WrinklePoses, ThetaIsTheThesiss) {
  const ModulationCurve theta;
  for (const auto& [x, expected] :
       {std::pair{0.0f, 0.0}, {0.25f, 0.021447}, {0.5f, 0.25}, {0.75f, 0.728553}, {1.0f, 1.0}}) {
    EXPECT_NEAR(static_cast<double>(theta(x)), expected, 1e-6);
    const double printed = (std::cos(std::numbers::pi * (1 + static_cast<double>(x))) + 1) / 2;
    EXPECT_NEAR(static_cast<double>(theta(x)), printed * printed, 1e-6) << "eq. 5.12";
  }
  EXPECT_EQ(theta(-1), 0.0f);
  EXPECT_EQ(theta(7), 1.0f);
}

TEST(WrinklePoses, CurvesOfTheUsersOwn) {
  const ModulationCurve curve{{Vec2f(0.2f, 0), Vec2f(0.4f, 1), Vec2f(1, 0.5f)}};
  EXPECT_EQ(curve(0.1f), 0.0f);
  EXPECT_NEAR(curve(0.3f), 0.5f, 1e-6f);
  EXPECT_NEAR(curve(0.7f), 0.75f, 1e-6f);
  EXPECT_EQ(curve(1), 0.5f);
}

TEST(WrinklePoses, BetaIsWeightedOrClamped) {
  WrinklePosesDesc desc;
  desc.neutral.assign(3, Vec3d::Zero());
  desc.neutral[1].y() = 1;
  desc.neutral[2].y() = 2;
  desc.poses = {{.name = "pose", .points = desc.neutral}};
  for (Vec3d& p : desc.poses[0].points) p.x() = 1;
  const FaceWeights weights =
      weightsOf({{{0, 0.2}, {1, 0.3}, {2, 0.5}}, {{FaceWeights::kHead, 1.0}}});
  const std::vector<float> alpha = {0.25f, 0.5f, 1};
  std::vector<float> beta(2, -1.0f);
  WrinklePoses::bind(desc, weights)->betas(alpha, beta);
  EXPECT_NEAR(beta[0], 0.579289f, 1e-6f);
  EXPECT_EQ(beta[1], 0.0f) << "what follows the head alone has no wrinkles";
  desc.influence = WrinkleInfluence::Printed;
  WrinklePoses::bind(desc, weights)->betas(alpha, beta);
  EXPECT_EQ(beta[0], 1.0f) << "1.271447 as printed";
}

TEST(WrinklePoses, BetaStaysInRangeWhateverThePose) {
  Rng rng(3);
  WrinklePosesDesc desc;
  for (int j = 0; j < 28; ++j)
    desc.neutral.emplace_back(rng.uniform(-1, 1), rng.uniform(-1, 1), rng.uniform(-1, 1));
  for (int k = 0; k < 6; ++k) {
    ReferencePose pose{.name = "pose" + std::to_string(k), .points = desc.neutral};
    for (Vec3d& p : pose.points) p += 0.1 * Vec3d(rng.uniform(), rng.uniform(), rng.uniform());
    desc.poses.push_back(pose);
  }
  std::vector<std::vector<FaceWeights::Share>> rows;
  for (int v = 0; v < 200; ++v) {
    const auto count = static_cast<std::uint32_t>(rng.below(9));
    std::vector<FaceWeights::Share> row;
    for (std::uint32_t i = 0; i < count; ++i) row.push_back({i * 3, 1.0 / count});
    if (count == 0) row.push_back({FaceWeights::kHead, 1.0});
    rows.push_back(row);
  }
  for (const WrinkleInfluence influence : {WrinkleInfluence::Weighted, WrinkleInfluence::Printed}) {
    desc.influence = influence;
    const auto poses = WrinklePoses::bind(desc, weightsOf(rows));
    ASSERT_TRUE(poses.ok());
    std::vector<float> beta(200 * 6), alpha(28 * 6);
    for (int trial = 0; trial < 20; ++trial) {
      std::vector<Vec3f> points;
      for (const Vec3d& p : desc.neutral)
        points.push_back(
            (p + 0.2 * Vec3d(rng.uniform(-1, 1), rng.uniform(-1, 1), rng.uniform(-1, 1)))
                .cast<float>());
      poses->evaluate(points, beta);
      for (const float b : beta) EXPECT_TRUE(b >= 0 && b <= 1);
      // The plain sum, vertex by vertex.
      poses->alphas(points, alpha);
      for (std::size_t v = 0; v < 200; ++v)
        for (std::size_t k = 0; k < 6; ++k) {
          double sum = 0;
          for (const FaceWeights::Share& s : rows[v])
            if (s.point != FaceWeights::kHead)
              sum += (influence == WrinkleInfluence::Weighted ? s.weight : 1.0) *
                     static_cast<double>(ModulationCurve()(alpha[k * 28 + s.point]));
          EXPECT_NEAR(beta[k * 200 + v], std::min(1.0, sum), 1e-6);
        }
    }
    std::vector<Vec3f> rest;
    for (const Vec3d& p : desc.neutral) rest.push_back(p.cast<float>());
    poses->evaluate(rest, beta);
    for (const float b : beta) EXPECT_EQ(b, 0.0f) << "nothing shows at rest";
  }
}

TEST(WrinklePoses, GroupsShareTheMeanOfThoseThatMove) {
  WrinklePosesDesc desc;
  desc.neutral = {Vec3d(0, 0, 0), Vec3d(1, 0, 0), Vec3d(2, 0, 0), Vec3d(3, 0, 0)};
  desc.poses = {{.name = "brow", .points = desc.neutral}};
  desc.poses[0].points[0].y() = desc.poses[0].points[1].y() = desc.poses[0].points[3].y() = 1;
  desc.groups = {{.name = "left", .points = {0, 1, 2}}};
  const auto poses = WrinklePoses::bind(desc, weightsOf({{{0, 1.0}}}));
  ASSERT_TRUE(poses.ok());
  std::vector<Vec3f> points;
  for (const Vec3d& p : desc.neutral) points.push_back(p.cast<float>());
  points[0].y() = 1;
  std::vector<float> alpha(4);
  poses->alphas(points, alpha);
  EXPECT_EQ(alpha, (std::vector<float>{0.5f, 0.5f, 0.5f, 0})) << "point 2 rests in this pose";
}

TEST(WrinklePoses, OneBrowAloneWrinklesOnlyAboveIt) {
  WrinklePosesDesc desc;
  desc.neutral = {Vec3d(-1, 0, 0), Vec3d(1, 0, 0)};
  desc.poses = {{.name = "compress", .points = {Vec3d(-1, -1, 0), Vec3d(1, -1, 0)}},
                {.name = "stretch", .points = {Vec3d(-1, 1, 0), Vec3d(1, 1, 0)}}};
  const auto poses = WrinklePoses::bind(desc, weightsOf({{{0, 1.0}}, {{1, 1.0}}}));
  ASSERT_TRUE(poses.ok());
  std::vector<float> beta(4);
  poses->evaluate(std::vector<Vec3f>{Vec3f(-1, 0, 0), Vec3f(1, 1, 0)}, beta);
  EXPECT_EQ(beta, (std::vector<float>{0, 0, 0, 1}));
}

TEST(WrinklePoses, BadInputIsNamed) {
  WrinklePosesDesc good;
  good.neutral = {Vec3d(0, 0, 0), Vec3d(1, 0, 0)};
  good.poses = {{.name = "smile", .points = {Vec3d(0, 1, 0), Vec3d(1, 0, 0)}}};
  const FaceWeights weights = weightsOf({{{0, 1.0}}});
  ASSERT_TRUE(WrinklePoses::bind(good, weights).ok());
  const auto fails = [&](auto edit, const char* word) {
    WrinklePosesDesc desc = good;
    edit(desc);
    const auto r = WrinklePoses::bind(desc, weights);
    ASSERT_FALSE(r.ok()) << word;
    EXPECT_NE(r.error().text().find(word), std::string::npos) << r.error().text();
  };
  fails([](auto& d) { d.poses[0].points = d.neutral; }, "smile: equals the pose at rest");
  fails([](auto& d) { d.poses[0].points.pop_back(); }, "smile: has 1 points");
  fails([](auto& d) { d.poses[0].points[0].x() = NAN; }, "smile");
  fails([](auto& d) { d.poses.clear(); }, "reference poses");
  fails([](auto& d) { d.neutral.clear(); }, "control points");
  fails([](auto& d) { d.groups = {{"brow", {0, 5}}}; }, "brow");
  fails([](auto& d) { d.groups = {{"brow", {0}}, {"lid", {0}}}; }, "lid");
  fails([](auto& d) { d.poses[0].curve.keys = {Vec2f(0, 0)}; }, "curve");
  fails([](auto& d) { d.poses[0].curve.keys = {Vec2f(1, 0), Vec2f(0, 1)}; }, "increasing");
  fails(
      [](auto& d) {
        d.neutral.pop_back();
        d.poses[0].points.pop_back();
        d.neutral[0].x() = NAN;
      },
      "neutral");
  EXPECT_FALSE(WrinklePoses::bind(good, weightsOf({{{7, 1.0}}})).ok());
}

}  // namespace
}  // namespace derm::wrinkle_poses_test
