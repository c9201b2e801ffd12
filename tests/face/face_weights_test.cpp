#include "derm/face/face_weights.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "derm/face/face_slits.h"

#include "rigged_head.h"

namespace derm::face_weights_test {
namespace {

FaceWeights weightsOf(const Character& head, const FaceWeightsDesc& desc = {},
                      Diagnostics* notes = nullptr) {
  Diagnostics unused;
  return faceWeights(head.mesh, pointsOf(head), desc, notes != nullptr ? *notes : unused).value();
}

TEST(FaceWeights, RowsAreSharesOfOneWithFourInfluences) {
  for (const char letter : {'a', 'b', 'c'})
    for (const ZoneBlend blend :
         {ZoneBlend::Normalised, ZoneBlend::Residual, ZoneBlend::Interpolating}) {
      SCOPED_TRACE(letter);
      const Character head = headCalled(letter);
      const FaceWeights w = weightsOf(head, {.blend = blend});
      ASSERT_EQ(w.vertexCount(), head.mesh.vertexCount());
      std::size_t of_head_alone = 0;
      for (std::size_t v = 0; v < w.vertexCount(); ++v) {
        double sum = 0, last = 1;
        for (const FaceWeights::Share& s : w[v]) {
          EXPECT_TRUE(s.weight > 0 && s.weight <= last);
          last = s.weight;
          sum += s.weight;
        }
        EXPECT_NEAR(sum, 1, 1e-12);
        EXPECT_LE(w[v].size(), 4u);
        if (w[v].size() == 1 && w[v][0].point == FaceWeights::kHead) {
          ++of_head_alone;
          EXPECT_EQ(w[v][0].weight, 1);
        }
        // Nothing of the back of the head is in a zone.
        if (head.mesh.positions[v].z() < -0.02f) {
          EXPECT_EQ(w.weight(v, FaceWeights::kHead), 1);
        }
      }
      EXPECT_GT(of_head_alone, w.vertexCount() / 2);
    }
}

TEST(FaceWeights, AlsoWithMoreInfluences) {
  const FaceWeights w = weightsOf(headCalled('a'), {.max_influences = 8});
  std::size_t most = 0;
  for (std::size_t v = 0; v < w.vertexCount(); ++v) most = std::max(most, w[v].size());
  EXPECT_GT(most, 4u);
  EXPECT_LE(most, 8u);
}

/// Share of a lip's vertices that follow a point of the other lip most.
double wrongShare(const Character& head, const FaceWeights& w, bool upper) {
  const FacePoints points = pointsOf(head);
  const Vec3d corner = points.at("8.3");
  const double middle = corner.y(), half = 0.85 * corner.x();
  const double end = points.at(upper ? "8.1" : "8.2").y();
  const std::set<std::string_view> others =
      upper ? std::set<std::string_view>{"8.2", "8.7", "8.8", "2.1"}
            : std::set<std::string_view>{"8.1", "8.5", "8.6"};
  double all = 0, wrong = 0;
  for (std::size_t v = 0; v < w.vertexCount(); ++v) {
    const Vec3d p = head.mesh.positions[v].cast<double>();
    if (p.z() < 0 || std::abs(p.x()) > half) continue;
    if ((p.y() - middle) * (p.y() - end) >= 0) continue;
    ++all;
    const std::uint32_t first = w[v].front().point;
    wrong += first < 28 && others.contains(controlPointNumbers()[first]);
  }
  EXPECT_GT(all, 20);
  return wrong / all;
}

TEST(FaceWeights, NoLipFollowsTheOther) {
  for (const char letter : {'a', 'b', 'c'}) {
    SCOPED_TRACE(letter);
    const Character head = headCalled(letter);
    const FaceWeights w = weightsOf(head);
    EXPECT_EQ(wrongShare(head, w, true), 0);
    EXPECT_EQ(wrongShare(head, w, false), 0);
  }
  // Ellipsoids alone reach across the mouth.
  const FaceWeightsDesc across{.blend = ZoneBlend::Residual,
                               .lids_along_margins = false,
                               .lips_around_slit = false,
                               .with_jaw = false,
                               .smooth = false,
                               .separate_sides = false};
  const Character head = headCalled('b');
  EXPECT_GT(wrongShare(head, weightsOf(head, across), true), 0.05);
}

/// Next to a corner the lips part with the root of the way, and there they follow it alike.
TEST(FaceWeights, LipsAgreeAtTheCornersAndPartRoundly) {
  const Character head = headCalled('a');
  const FaceWeights w = weightsOf(head);
  Diagnostics notes;
  const FaceSlit mouth = findFaceSlits(head.mesh, pointsOf(head), notes).mouth.value();
  const auto lower = [&](std::uint32_t v) {
    return w.weight(v, columnOf("8.7")) + w.weight(v, columnOf("8.2")) +
           w.weight(v, columnOf("8.8"));
  };
  // All of the lower chain's last tenth follows its own lip by more than a V would have it.
  const double half = 0.5 * mouth.width_m;
  std::size_t seen = 0;
  for (const std::uint32_t v : mouth.lower) {
    const double x = std::abs(double(head.mesh.positions[v].x())) / half;
    if (x < 0.6 || x > 0.95) continue;
    ++seen;
    EXPECT_GT(lower(v), 0.3 * std::sqrt(1 - x)) << x;
  }
  EXPECT_GT(seen, 1u);
  // The corner itself has as much of the one lip as of the other.
  const std::uint32_t corner = mouth.upper.back();
  EXPECT_NEAR(w.weight(corner, columnOf("8.5")), w.weight(corner, columnOf("8.7")), 0.15);
  EXPECT_GT(w.weight(corner, columnOf("8.3")), 0.5);
}

TEST(FaceWeights, AHeadWithoutASlitIsTold) {
  SyntheticHeadDesc desc = syntheticHeadA();
  desc.mouth_slit = false;
  Diagnostics notes;
  const Character head = makeSyntheticHead(desc).value();
  EXPECT_FALSE(weightsOf(head, {}, &notes).lips_part);
  EXPECT_EQ(notes.count("face-lips-joined"), 1u);
  Diagnostics none;
  EXPECT_TRUE(weightsOf(headCalled('a'), {}, &none).lips_part);
  EXPECT_TRUE(none.empty());
}

TEST(FaceWeights, BothSidesAreMirrorImages) {
  const Character head = headCalled('a');
  const FaceWeights w = weightsOf(head);
  const std::vector<Vec3f>& p = head.mesh.positions;
  std::size_t pairs = 0;
  for (std::size_t v = 0; v < p.size(); v += 7) {
    if (p[v].z() < 0.02f || p[v].x() <= 0) continue;
    const Vec3f other(-p[v].x(), p[v].y(), p[v].z());
    for (std::size_t u = 0; u < p.size(); ++u) {
      if ((p[u] - other).norm() > 1e-6f) continue;
      ++pairs;
      for (const FaceWeights::Share& s : w[v]) {
        const std::uint32_t mirror =
            s.point == FaceWeights::kHead
                ? s.point
                : columnOf(findFaceFeature(controlPointNumbers()[s.point])->mirror);
        EXPECT_NEAR(w.weight(u, mirror), s.weight, 0.05) << v;
      }
    }
  }
  EXPECT_GT(pairs, 50u);
}

TEST(FaceWeights, ScaleAndPlaceDoNotMatter) {
  Character head = headCalled('c');
  const FaceWeights before = weightsOf(head);
  for (Vec3f& p : head.mesh.positions) p = 64.0f * p;  // exact in float
  const FaceWeights after = weightsOf(head);
  ASSERT_EQ(before.offsets, after.offsets);
  for (std::size_t i = 0; i < before.shares.size(); ++i) {
    EXPECT_EQ(before.shares[i].point, after.shares[i].point);
    EXPECT_NEAR(before.shares[i].weight, after.shares[i].weight, 1e-9);
  }
}

/// Adds a piece to a head: vertices and triangles of its own.
void addPiece(TriMesh& mesh, const std::vector<Vec3f>& positions,
              const std::vector<Triangle>& triangles) {
  const auto first = static_cast<std::uint32_t>(mesh.vertexCount());
  mesh.positions.insert(mesh.positions.end(), positions.begin(), positions.end());
  for (const Triangle& t : triangles)
    mesh.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
  mesh.normals.clear();
  mesh.uvs.clear();
  mesh.colours.clear();
  mesh.tangents.clear();
}

TEST(FaceWeights, LashesFollowTheLidTeethTheChinAndEyeballsTheHead) {
  TriMesh mesh = headCalled('a').mesh;
  const FacePoints points = pointsOf(headCalled('a'));
  const std::size_t skin = mesh.vertexCount();
  const Vec3f lid = points.at("3.1").cast<float>();
  const float cm = 0.01f;
  addPiece(mesh,
           {lid + cm * Vec3f(-.3f, 0, .05f), lid + cm * Vec3f(.3f, 0, .05f),
            lid + cm * Vec3f(0, .05f, .3f)},
           {{0, 1, 2}});
  const Vec3f mouth = 0.5f * (points.at("8.3") + points.at("8.4")).cast<float>();
  addPiece(mesh,
           {mouth + cm * Vec3f(-1, -.6f, -1), mouth + cm * Vec3f(1, -.6f, -1),
            mouth + cm * Vec3f(0, -.2f, -.8f)},
           {{0, 1, 2}});
  const Vec3f eye = 0.5f * (points.at("3.1") + points.at("3.3")).cast<float>();
  const Vec3f ball = eye - cm * Vec3f(0, 0, 1.2f);
  const float r = 1.1f * cm;
  addPiece(
      mesh,
      {ball + Vec3f(r, 0, 0), ball - Vec3f(r, 0, 0), ball + Vec3f(0, r, 0), ball - Vec3f(0, r, 0),
       ball + Vec3f(0, 0, r), ball - Vec3f(0, 0, r)},
      {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4}, {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}});
  Diagnostics notes;
  const FaceWeights w = faceWeights(mesh, points, {}, notes).value();
  for (std::size_t v = skin; v < skin + 3; ++v) EXPECT_GT(w.weight(v, columnOf("3.1")), 0.5);
  for (std::size_t v = skin + 3; v < skin + 6; ++v) EXPECT_EQ(w.weight(v, columnOf("2.1")), 1);
  for (std::size_t v = skin + 6; v < skin + 12; ++v) EXPECT_EQ(w.weight(v, FaceWeights::kHead), 1);
}

TEST(FaceWeights, ZonesCanBeScaled) {
  const Character head = headCalled('a');
  const FaceWeights wide = weightsOf(head, {.zone_scales = {{"nose_tip", Vec3d(1.5, 1.5, 1.5)}}});
  const FaceWeights plain = weightsOf(head);
  const auto followers = [](const FaceWeights& w) {
    std::size_t count = 0;
    for (std::size_t v = 0; v < w.vertexCount(); ++v) count += w.weight(v, columnOf("9.3")) > 0;
    return count;
  };
  EXPECT_GT(followers(wide), followers(plain));
}

TEST(FaceWeights, WhatIsWrongIsNamed) {
  const Character head = headCalled('a');
  Diagnostics notes;
  const auto errorOf = [&](const FaceWeightsDesc& desc) {
    const Result<FaceWeights> made = faceWeights(head.mesh, pointsOf(head), desc, notes);
    return made ? std::string("no error") : made.error().text();
  };
  EXPECT_NE(errorOf({.zone_scales = {{"nose", Vec3d::Ones()}}}).find("nose_tip"),
            std::string::npos);
  EXPECT_NE(errorOf({.zone_scales = {{"2.10", Vec3d::Ones()}}}).find("none of the 28"),
            std::string::npos);
  EXPECT_NE(errorOf({.zone_scales = {{"9.3", Vec3d(1, 0, 1)}}}).find("zone of 9.3"),
            std::string::npos);
  EXPECT_NE(errorOf({.max_influences = 1}).find("max_influences"), std::string::npos);
  EXPECT_FALSE(faceWeights(head.mesh, FacePoints(), {}, notes));
  EXPECT_FALSE(faceWeights(TriMesh(), pointsOf(head), {}, notes));
}

}  // namespace
}  // namespace derm::face_weights_test
