#include "derm/face/rig_transfer.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "derm/cast/heads.h"
#include "derm/face/face_slits.h"
#include "derm/mesh/triangle_tree.h"

#include "face/face_fixtures.h"

namespace derm::rig_transfer_test {
namespace {

Character riggedHead(const SyntheticHeadDesc& desc) {
  Character head = *makeSyntheticHead(desc);
  Diagnostics notes;
  EXPECT_TRUE(addFaceRig(head, {}, notes).ok());
  return head;
}

/// Weights by joint name.
std::map<std::string, double> rowOf(const Character& c, std::size_t v) {
  std::map<std::string, double> out;
  for (const Influence& i : c.skin[v])
    out[c.skeleton[c.skin.slots[i.slot].joint].name] += static_cast<double>(i.weight);
  return out;
}

/// Mean over the vertices of the sum of |difference|.
double meanDifference(const Character& a, const Character& b) {
  double sum = 0;
  for (std::size_t v = 0; v < a.mesh.vertexCount(); ++v) {
    std::map<std::string, double> d = rowOf(a, v);
    for (const auto& [name, weight] : rowOf(b, v)) d[name] -= weight;
    for (const auto& [name, weight] : d) sum += std::abs(weight);
  }
  return sum / static_cast<double>(a.mesh.vertexCount());
}

/// By nearest points, the target shifted first: a registration that is off.
HeadCorrespondence nearest(const Character& source, const Character& target, const Vec3d& shift) {
  HeadCorrespondence out;
  const TriangleTree tree(source.mesh.positions, source.mesh.triangles);
  for (const Vec3f& p : target.mesh.positions) {
    const auto found = nearestSurfacePoint(tree, p.cast<double>() + shift, 0.03);
    const bool face = p.z() > 0.0f && found.has_value();
    out.source_points.push_back(
        face ? *found : SurfacePoint{HeadCorrespondence::kNoTriangle, Vec3f::UnitX()});
    out.confidence.push_back(face ? 1.0f : 0.0f);
  }
  return out;
}

TEST(RigTransfer, OntoTheSameHeadWeightsStayAsTheyAre) {
  const Character source = riggedHead(syntheticHeadA());
  Character target = *makeSyntheticHead(syntheticHeadA());
  Diagnostics notes;
  const Result<FaceRig> rig =
      transferFaceRig(source, target, testing_support::sameVertices(source.mesh), {}, notes);
  ASSERT_TRUE(rig.ok()) << rig.error().text();
  EXPECT_TRUE(validate(target).ok());
  EXPECT_LT(meanDifference(source, target), 1e-3);
  EXPECT_EQ(target.clips.size(), source.clips.size());
}

TEST(RigTransfer, AnotherMeshOfTheSameHeadGetsNearlyTheSameWeights) {
  SyntheticHeadDesc other = syntheticHeadA();
  other.mesh = SyntheticHeadDesc::Mesh::LatLong;
  const Character source = riggedHead(syntheticHeadA());
  const Character own = riggedHead(other);
  Character target = *makeSyntheticHead(other);
  Diagnostics notes;
  ASSERT_TRUE(
      transferFaceRig(source, target, nearest(source, target, Vec3d::Zero()), {}, notes).ok());
  for (std::size_t v = 0; v < target.mesh.vertexCount(); ++v)
    ASSERT_FALSE(target.skin[v].empty());  // none unassigned
  const double difference = meanDifference(own, target);
  RecordProperty("difference", std::to_string(difference));
  EXPECT_LT(difference, 0.03);
}

/// Share of the upper margin's vertices that follow points of the lower lip most.
double wrongLip(const Character& c) {
  Diagnostics notes;
  const FaceSlits slits = findFaceSlits(c.mesh, c.points, notes);
  int wrong = 0, all = 0;
  for (const auto& [chain, other] : {std::pair{&slits.mouth->upper, &slits.mouth->lower},
                                     {&slits.mouth->lower, &slits.mouth->upper}}) {
    const bool upper = chain == &slits.mouth->upper;
    for (std::size_t i = chain->size() / 5; i < chain->size() * 4 / 5; ++i, ++all) {
      double mine = 0, others = 0;
      for (const auto& [name, weight] : rowOf(c, (*chain)[i])) {
        const bool of_upper = name.starts_with("fp_8_1_") || name.starts_with("fp_8_5_") ||
                              name.starts_with("fp_8_6_");
        const bool of_lower = name.starts_with("fp_8_2_") || name.starts_with("fp_8_7_") ||
                              name.starts_with("fp_8_8_");
        (upper == of_upper ? mine : others) += of_upper || of_lower ? weight : 0;
      }
      wrong += others > mine ? 1 : 0;
    }
    (void)other;
  }
  return static_cast<double>(wrong) / all;
}

TEST(RigTransfer, LipsKeepToTheirOwnSideWhereARegistrationIsOff) {
  const Character source = riggedHead(syntheticHeadA());
  for (const double shift : {0.0, 0.0025, -0.0025}) {
    Character plain = *makeSyntheticHead(syntheticHeadB()), apart = plain, own = plain;
    // Head B's mouth lies 0.8 cm lower than head A's.
    const HeadCorrespondence off = nearest(source, plain, Vec3d(0, 0.008 + shift, -0.007));
    Diagnostics notes;
    ASSERT_TRUE(transferFaceRig(source, plain, off, {.separate_sides = false}, notes).ok());
    ASSERT_TRUE(transferFaceRig(source, apart, off, {.own_lips = false}, notes).ok());
    ASSERT_TRUE(transferFaceRig(source, own, off, {}, notes).ok());
    RecordProperty("plain" + std::to_string(shift), std::to_string(wrongLip(plain)));
    RecordProperty("apart" + std::to_string(shift), std::to_string(wrongLip(apart)));
    EXPECT_LE(wrongLip(apart), 0.5 * wrongLip(plain));
    EXPECT_EQ(wrongLip(own), 0);
  }
}

TEST(RigTransfer, MotionsAreScaledByTheFacesUnits) {
  const Character source = riggedHead(syntheticHeadA());
  SyntheticHeadDesc big = syntheticHeadA();
  Character target = *makeSyntheticHead(big);
  scaleLengths(target, 3);
  Diagnostics notes;
  ASSERT_TRUE(
      transferFaceRig(source, target, testing_support::sameVertices(source.mesh), {}, notes).ok());
  ASSERT_EQ(target.clips.size(), source.clips.size());
  const JointId chin = source.skeleton.find(controlJointName("2.1"));
  const auto farthest = [&](const Character& c, const char* clip) {
    const JointId joint = c.skeleton.find(controlJointName("2.1"));
    float out = 0;
    for (const Track& t : c.clips[*c.findClip(clip)].tracks) {
      if (t.channel != Channel::Translation || t.joint != joint) continue;
      for (std::size_t k = 0; k + 2 < t.values.size(); k += 3)
        out = std::max(out, (Vec3f(t.values[k], t.values[k + 1], t.values[k + 2]) -
                             c.skeleton[joint].rest.translation)
                                .norm());
    }
    return out;
  };
  ASSERT_TRUE(chin.valid());
  EXPECT_GT(farthest(source, "surprise"), 0.005f);
  EXPECT_NEAR(farthest(target, "surprise"), 3 * farthest(source, "surprise"), 1e-4);
}

TEST(RigTransfer, SaysWhatIsWrong) {
  const Character source = riggedHead(syntheticHeadA());
  Character bare = *makeSyntheticHead(syntheticHeadA());
  const HeadCorrespondence same = testing_support::sameVertices(bare.mesh);
  Diagnostics notes;
  Character target = bare;
  EXPECT_NE(transferFaceRig(bare, target, same, {}, notes).error().text().find("no face rig"),
            std::string::npos);
  target = bare;
  target.points.clear();
  EXPECT_FALSE(transferFaceRig(source, target, same, {}, notes).ok());
  target = bare;
  EXPECT_NE(transferFaceRig(source, target, same, {.max_influences = 1}, notes)
                .error()
                .text()
                .find("max_influences"),
            std::string::npos);
}

TEST(RigTransfer, WhatFailsOrIsCancelledLeavesTheTargetAsItWas) {
  const Character source = riggedHead(syntheticHeadA());
  const Character bare = *makeSyntheticHead(syntheticHeadA());
  const HeadCorrespondence same = testing_support::sameVertices(bare.mesh);
  HeadCorrespondence none = same;
  for (SurfacePoint& p : none.source_points) p.triangle = HeadCorrespondence::kNoTriangle;
  Diagnostics notes;
  Character target = bare;
  const auto expectBare = [&] {
    EXPECT_EQ(target.skeleton.size(), bare.skeleton.size());
    EXPECT_EQ(target.skin.slots.size(), bare.skin.slots.size());
    EXPECT_FALSE(findFaceRig(target).has_value());
  };
  const Result<FaceRig> nothing = transferFaceRig(source, target, none, {}, notes);
  ASSERT_FALSE(nothing.ok());
  EXPECT_NE(nothing.error().text().find("no vertex of the target"), std::string::npos);
  expectBare();
  const Result<FaceRig> cancelled = transferFaceRig(source, target, same, {}, notes,
                                                    [](double, std::string_view) { return false; });
  ASSERT_FALSE(cancelled.ok());
  EXPECT_EQ(cancelled.error().code, ErrorCode::Cancelled);
  expectBare();
}

}  // namespace
}  // namespace derm::rig_transfer_test
