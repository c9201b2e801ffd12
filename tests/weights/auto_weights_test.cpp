#include "derm/weights/auto_weights.h"

#include <limits>

#include <gtest/gtest.h>

#include "derm/mesh/adjacency.h"
#include "derm/mesh/weld.h"

#include "support/shelf.h"
#include "weights/weights_rig.h"

namespace derm::auto_weights_test {
namespace {

using namespace weights_rig;

TEST(AutoWeights, EveryParameterOutOfRangeIsNamed) {
  const auto element = [](auto change) {
    AutoWeightsDesc desc;
    change(desc);
    const Result<void> r = validate(desc);
    EXPECT_FALSE(r.ok());
    if (r.ok()) return std::string();
    EXPECT_EQ(r.error().code, ErrorCode::BadArgument);
    return r.error().where.element;
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(element([](auto& d) { d.method = static_cast<WeightMethod>(99); }), "method");
  EXPECT_EQ(element([](auto& d) { d.to = static_cast<DistanceTo>(99); }), "to");
  EXPECT_EQ(element([](auto& d) { d.exponent = 0; }), "exponent");
  EXPECT_EQ(element([](auto& d) { d.exponent = 33; }), "exponent");
  EXPECT_EQ(element([&](auto& d) { d.exponent = nan; }), "exponent");
  EXPECT_EQ(element([](auto& d) { d.heat_transfer = 0; }), "heat_transfer");
  EXPECT_EQ(element([&](auto& d) { d.heat_transfer = nan; }), "heat_transfer");
  EXPECT_EQ(element([](auto& d) { d.blend_length = 1.1f; }), "blend_length");
  EXPECT_EQ(element([](auto& d) { d.max_influences = 0; }), "max_influences");
  EXPECT_EQ(element([](auto& d) { d.smallest = -0.1f; }), "smallest");
  EXPECT_EQ(element([](auto& d) { d.smoothing_passes = -1; }), "smoothing_passes");
  EXPECT_EQ(element([](auto& d) { d.smoothing_amount = 2; }), "smoothing_amount");
  EXPECT_TRUE(validate(AutoWeightsDesc{}).ok());
}

TEST(AutoWeights, MethodsAreFoundByName) {
  for (const WeightMethod m : kAllMethods) {
    const Result<WeightMethod> found = weightMethodNamed(nameOf(m));
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(*found, m);
  }
  const Result<WeightMethod> wrong = weightMethodNamed("heet");
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message.find("heat"), std::string::npos);
}

TEST(AutoWeights, BadBonesAreRefusedWithTheirIndex) {
  const Rig rig = twoBoneTube(5, 6);
  Diagnostics notes;
  const auto run = [&](std::vector<JointId> bones, std::vector<Affine3d> model) {
    return autoWeights(rig.mesh, rig.skeleton, bones, model, {}, notes);
  };
  EXPECT_FALSE(run({}, rig.bind_model).ok());
  EXPECT_EQ(run({JointId(0), JointId(7)}, rig.bind_model).error().where.index, 1u);
  EXPECT_EQ(run({JointId(0), JointId()}, rig.bind_model).error().where.index, 1u);
  EXPECT_EQ(run({JointId(0), JointId(1), JointId(0)}, rig.bind_model).error().where.index, 2u);
  EXPECT_EQ(run(rig.bones, {}).error().where.element, "bind_model");
  std::vector<Affine3d> broken = rig.bind_model;
  broken[1].translation().x() = std::numeric_limits<double>::infinity();
  EXPECT_EQ(run(rig.bones, broken).error().where.index, 1u);
  Rig nan = rig;
  nan.mesh.positions[3].y() = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(weigh(nan, {}, notes).ok());
}

TEST(AutoWeights, ABoneWithoutInverseIsLeftOutWithANote) {
  Rig rig = twoBoneTube(5, 6);
  rig.bind_model[1].linear().setZero();
  Diagnostics notes;
  const Result<Skin> skin = weigh(rig, {}, notes);
  ASSERT_TRUE(skin.ok());
  EXPECT_EQ(skin->slots.size(), 2u);
  EXPECT_EQ(notes.count("bone-not-invertible"), 1u);
  for (Affine3d& m : rig.bind_model) m.linear().setZero();
  EXPECT_FALSE(weigh(rig, {}, notes).ok());
}

TEST(AutoWeights, SlotsAreTheBonesWithTheirInverseBinds) {
  Rig rig = twoBoneTube(5, 6);
  rig.bind_model[1].linear() = Eigen::AngleAxisd(0.4, Vec3d(1, 2, 2) / 3).toRotationMatrix();
  Diagnostics notes;
  const Result<Skin> skin = weigh(rig, {}, notes);
  ASSERT_TRUE(skin.ok());
  for (std::size_t s = 0; s < 3; ++s) {
    EXPECT_EQ(skin->slots[s].joint, rig.bones[s]);
    const Affine3d product = rig.bind_model[s] * skin->slots[s].inverse_bind.cast<double>();
    EXPECT_TRUE(product.matrix().isApprox(Affine3d::Identity().matrix(), 1e-6));
  }
}

TEST(AutoWeights, ProgressIsToldAndCanCancel) {
  const Rig rig = fork();
  Diagnostics notes;
  for (const WeightMethod method : kAllMethods) {
    double last = -1;
    const Progress watch = [&](double fraction, std::string_view stage) {
      EXPECT_GE(fraction, last);
      EXPECT_LE(fraction, 1.0);
      EXPECT_FALSE(stage.empty());
      last = fraction;
      return true;
    };
    AutoWeightsDesc desc{.method = method};
    ASSERT_TRUE(
        autoWeights(rig.mesh, rig.skeleton, rig.bones, rig.bind_model, desc, notes, watch).ok());
    EXPECT_EQ(last, 1.0);
    for (int allowed = 0; allowed < 3; ++allowed) {
      int left = allowed;
      const Progress stop = [&](double, std::string_view) { return left-- > 0; };
      const Result<Skin> r =
          autoWeights(rig.mesh, rig.skeleton, rig.bones, rig.bind_model, desc, notes, stop);
      if (left >= -1 && r.ok()) continue;  // the last report comes when all is done
      EXPECT_EQ(r.error().code, ErrorCode::Cancelled);
    }
  }
}

TEST(AutoWeights, AnEmptyMeshGivesAnEmptySkin) {
  Rig rig = twoBoneTube(5, 6);
  rig.mesh = {};
  for (const WeightMethod method : kAllMethods) {
    Diagnostics notes;
    const Result<Skin> skin = weigh(rig, {.method = method}, notes);
    ASSERT_TRUE(skin.ok());
    EXPECT_TRUE(validate(*skin, 0, 3, "").ok());
  }
}

/// Six large plates around the origin, each beyond the others' corners, joined into one piece: no
/// corner sees the inside.
TriMesh hiddenInside() {
  TriMesh m;
  for (int axis = 0; axis < 3; ++axis)
    for (const float side : {-1.0f, 1.0f}) {
      const auto base = static_cast<std::uint32_t>(m.positions.size());
      for (const auto& [u, v] : {std::pair{-3, -3}, {3, -3}, {3, 3}, {-3, 3}}) {
        Vec3f p = Vec3f::Zero();
        p[axis] = side;
        p[(axis + 1) % 3] = float(u);
        p[(axis + 2) % 3] = float(v);
        m.positions.push_back(p);
      }
      m.triangles.push_back({base, base + 1, base + 2});
      m.triangles.push_back({base, base + 2, base + 3});
      if (base > 0) m.triangles.push_back({base - 4, base, base + 1});
    }
  return m;
}

TEST(AutoWeights, AVertexThatNoBoneSeesSaysSoAndFollowsTheNearest) {
  Rig rig;
  rig.mesh = hiddenInside();
  addJoints(rig, {{-1, {-0.9f, 0.01f, 0.02f}}, {-1, {0.9f, 0.01f, 0.02f}}});
  for (const WeightMethod method : {WeightMethod::Heat, WeightMethod::Geodesic}) {
    Diagnostics notes;
    // As stiff as can be, so that what each vertex follows shows.
    const Result<Skin> skin =
        weigh(rig, {.method = method, .exponent = 32, .heat_transfer = 1000}, notes);
    ASSERT_TRUE(skin.ok());
    ASSERT_EQ(notes.count("vertex-unseen"), rig.mesh.vertexCount());
    EXPECT_EQ(notes.notes()[0].first_indices.front(), 0u);
    for (std::size_t v = 0; v < rig.mesh.vertexCount(); ++v) {
      const std::uint32_t nearest = rig.mesh.positions[v].x() < 0 ? 0 : 1;
      EXPECT_EQ((*skin)[v][0].slot, nearest) << v;
    }
  }
}

TEST(AutoWeights, VerticesThatSeeTheirBoneAreNotNoted) {
  for (const WeightMethod method : {WeightMethod::Heat, WeightMethod::Geodesic}) {
    Diagnostics notes;
    ASSERT_TRUE(weigh(fork(), {.method = method}, notes).ok());
    EXPECT_EQ(notes.count("vertex-unseen"), 0u);
  }
}

TEST(AutoWeights, TheFarSideOfAPieceOutsideItsBonesIsUnseen) {
  // Bones outside a ball: its far side sees none of them.
  Rig rig;
  rig.mesh = shelf::sphere(16, 24, 1.0f);
  addJoints(rig, {{-1, {-0.5f, 0, 2}}, {-1, {0.5f, 0, 2}}});
  Diagnostics notes;
  const Result<Skin> skin = weigh(rig, everything(WeightMethod::Heat), notes);
  ASSERT_TRUE(skin.ok());
  EXPECT_GT(notes.count("vertex-unseen"), 100u);
  EXPECT_LT(notes.count("vertex-unseen"), rig.mesh.vertexCount() - 50);
  for (std::size_t v = 0; v < rig.mesh.vertexCount(); ++v) {
    const float x = rig.mesh.positions[v].x();
    if (std::abs(x) < 0.1f) continue;
    EXPECT_GT(weight(*skin, v, x < 0 ? 0 : 1), 0.5f) << v;
  }
}

TEST(AutoWeights, LooseVerticesAndUnusedBonesAreNoted) {
  Rig rig = twoBoneTube(9, 8);
  rig.mesh.positions.push_back({0, 5, 1});
  const std::size_t loose = rig.mesh.vertexCount() - 1;
  for (const WeightMethod method : {WeightMethod::Heat, WeightMethod::Geodesic}) {
    Diagnostics notes;
    const Result<Skin> skin = weigh(rig, {.method = method}, notes);
    ASSERT_TRUE(skin.ok());
    EXPECT_EQ(notes.count("vertex-loose"), 1u);
    EXPECT_EQ(notes.count("bone-unused"), 1u);  // the end joint
    EXPECT_EQ(notes.count("bone-without-length"), 1u);
    EXPECT_EQ(weight(*skin, loose, 0), 1.0f);
  }
}

TEST(AutoWeights, PruningKeepsTheLimitAndTheSum) {
  const Rig rig = fork();
  for (const WeightMethod method : kAllMethods)
    for (const std::size_t max : {std::size_t{1}, std::size_t{2}, std::size_t{4}}) {
      Diagnostics notes;
      const Result<Skin> skin =
          weigh(rig, {.method = method, .max_influences = max, .smallest = 0.02f}, notes);
      ASSERT_TRUE(skin.ok());
      EXPECT_LE(skin->maxInfluences(), max);
      for (const Influence& i : skin->influences) EXPECT_GE(i.weight, 0.02f);
      EXPECT_TRUE(validate(*skin, rig.mesh.vertexCount(), rig.skeleton.size(), "").ok());
    }
}

TEST(AutoWeights, AWeightFallsToZeroBeforeItIsDropped) {
  constexpr int kSectors = 8;
  const TriMesh mesh = closedCylinder(evenHeights(201, 4.0), kSectors, 0.5);
  std::vector<SkinSlot> slots;
  std::vector<BoneSegment> bones;
  for (std::uint32_t b = 0; b < 4; ++b) {
    slots.push_back({JointId(b)});
    bones.push_back({.slot = b, .from = {0, 0, double(b)}, .to = {0, 0, double(b) + 1}});
  }
  Diagnostics notes;
  const Result<Skin> skin = autoWeights(
      mesh, slots, bones, {.method = WeightMethod::InverseDistance, .max_influences = 2}, notes);
  ASSERT_TRUE(skin.ok());
  EXPECT_LE(skin->maxInfluences(), 2u);
  // In the middle of a bone the two beside it change places.
  float step = 0;
  for (std::size_t ring = 0; ring < 200; ++ring) {
    float sum = 0;
    for (std::uint32_t b = 0; b < 4; ++b)
      sum += std::abs(weight(*skin, ring * kSectors, b) - weight(*skin, (ring + 1) * kSectors, b));
    step = std::max(step, sum);
  }
  EXPECT_LT(step, 0.12f);  // cut off, it was 0.4
}

TEST(AutoWeights, SmoothingSoftensRigidWeights) {
  const Rig rig = twoBoneTube();
  Diagnostics notes;
  const auto largestJump = [&](const Skin& skin) {
    float jump = 0;
    for (const Triangle& t : rig.mesh.triangles)
      jump = std::max(jump, std::abs(weight(skin, t[0], 0) - weight(skin, t[1], 0)));
    return jump;
  };
  const Result<Skin> rigid = weigh(rig, {.method = WeightMethod::Nearest}, notes);
  const Result<Skin> soft =
      weigh(rig, {.method = WeightMethod::Nearest, .smoothing_passes = 10}, notes);
  EXPECT_EQ(largestJump(*rigid), 1.0f);
  EXPECT_LT(largestJump(*soft), 0.35f);
}

TEST(AutoWeights, HigherHeatTransferAndExponentAreStiffer) {
  const Rig rig = twoBoneTube();
  Diagnostics notes;
  const auto blended = [&](AutoWeightsDesc desc) {
    desc.smallest = 0;
    const Result<Skin> skin = weigh(rig, desc, notes);
    double sum = 0;
    for (std::size_t v = 0; v < skin->vertexCount(); ++v)
      sum += weight(*skin, v, 0) * weight(*skin, v, 1);
    return sum;
  };
  EXPECT_LT(blended({.heat_transfer = 10}), 0.7 * blended({.heat_transfer = 1}));
  for (const WeightMethod m : {WeightMethod::InverseDistance, WeightMethod::Geodesic})
    EXPECT_LT(blended({.method = m, .exponent = 8}), 0.8 * blended({.method = m, .exponent = 4}));
}

TEST(AutoWeights, OwnSegmentsAreCheckedAndUsed) {
  const TriMesh mesh = closedCylinder(evenHeights(9, 4.0), 8, 0.5);
  const std::vector<SkinSlot> slots = {{JointId(0)}, {JointId(1)}};
  std::vector<BoneSegment> bones = {{.slot = 0, .from = {0, 0, 0}, .to = {0, 0, 1}},
                                    {.slot = 1, .from = {0, 0, 3}, .to = {0, 0, 4}},
                                    {.slot = 1, .from = {0, 0, 1.5}, .to = {0, 0, 3}}};
  Diagnostics notes;
  const Result<Skin> skin = autoWeights(mesh, slots, bones, {}, notes);
  ASSERT_TRUE(skin.ok());
  EXPECT_GT(weight(*skin, 0, 0), 0.9f);
  EXPECT_GT(weight(*skin, 4 * 8, 1), 0.5f);  // z = 2: nearest to the third segment
  bones[1].slot = 2;
  EXPECT_EQ(autoWeights(mesh, slots, bones, {}, notes).error().where.index, 1u);
  bones[1].slot = 1;
  bones[2].to.x() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(autoWeights(mesh, slots, bones, {}, notes).error().where.index, 2u);
  EXPECT_FALSE(autoWeights(mesh, slots, {}, {}, notes).ok());
}

}  // namespace
}  // namespace derm::auto_weights_test
