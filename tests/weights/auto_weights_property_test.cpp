#include <array>
#include <numeric>

#include <gtest/gtest.h>

#include "derm/base/parallel.h"
#include "derm/base/rng.h"
#include "derm/mesh/measures.h"
#include "derm/mesh/weld.h"
#include "derm/weights/weight_smoothing.h"

#include "support/shelf.h"
#include "weights/weights_rig.h"

namespace derm::auto_weights_property_test {
namespace {

using namespace weights_rig;

Rig shelfRig(const shelf::ShelfMesh& m) {
  const Character c = shelf::rigged(m);
  Rig rig{.mesh = c.mesh, .skeleton = c.skeleton, .bind_model = restModelMatrices(c.skeleton)};
  for (std::size_t j = 0; j < c.skeleton.size(); ++j) rig.bones.emplace_back(j);
  return rig;
}

/// 200 joints, some without length, strewn about the mesh in one tree.
Rig crowdedRig(const shelf::ShelfMesh& m) {
  Rig rig;
  rig.mesh = m.mesh;
  const Bounds box = bounds(m.mesh.positions);
  const Vec3f size = box.size().cwiseMax(1e-6f);
  Rng rng(99);
  std::vector<JointPosition> joints;
  for (int j = 0; j < 200; ++j) {
    Vec3f p;
    for (int axis = 0; axis < 3; ++axis)
      p[axis] = box.centre()[axis] + size[axis] * float(rng.uniform(-0.6, 0.6));
    const int parent = j == 0 ? -1 : static_cast<int>(rng.below(static_cast<std::uint64_t>(j)));
    if (parent >= 0 && j % 7 == 0) p = joints[static_cast<std::size_t>(parent)].position;
    joints.push_back({parent, p});
  }
  addJoints(rig, joints);
  return rig;
}

void expectGoodRows(const Rig& rig, const AutoWeightsDesc& desc) {
  Diagnostics notes;
  const Result<Skin> skin = weigh(rig, desc, notes);
  ASSERT_TRUE(skin.ok()) << skin.error().text();
  const Result<void> good = validate(*skin, rig.mesh.vertexCount(), rig.skeleton.size(), "skin");
  ASSERT_TRUE(good.ok()) << good.error().text();
  // Vertices at one position follow the same bones.
  const std::vector<std::uint32_t> weld = weldMap(rig.mesh.positions);
  for (std::size_t v = 0; v < weld.size(); ++v)
    ASSERT_TRUE(std::ranges::equal((*skin)[v], (*skin)[weld[v]])) << v;
}

TEST(AutoWeightsProperty, EveryShelfMeshGetsWholeRowsFromEveryMethod) {
  for (const shelf::ShelfMesh& m : shelf::all())
    for (const WeightMethod method : kAllMethods)
      for (const DistanceTo to : {DistanceTo::Segments, DistanceTo::JointPoints}) {
        SCOPED_TRACE(m.name + ", " + std::string(nameOf(method)));
        expectGoodRows(shelfRig(m), {.method = method, .to = to});
        expectGoodRows(crowdedRig(m), {.method = method, .to = to, .smoothing_passes = 2});
        Rig one = shelfRig(m);
        one.bones = {JointId(1)};
        expectGoodRows(one, {.method = method, .to = to});
      }
}

TEST(AutoWeightsProperty, BonesAtOnePositionStillGiveWholeRows) {
  for (const WeightMethod method : kAllMethods) {
    Rig rig;
    rig.mesh = shelf::sphere(8, 12, 1);
    addJoints(rig, {{-1, {0, 0, 0}}, {0, {0, 0, 0}}, {1, {0, 0, 0}}, {0, {0, 0, 0}}});
    expectGoodRows(rig, {.method = method});
  }
}

TEST(AutoWeightsProperty, VerticesOnBonesAndCollapsedMeshesStillGiveWholeRows) {
  for (const WeightMethod method : kAllMethods) {
    Rig rig;
    rig.mesh.positions = {{0, 0, 0}, {0, 0, 1}, {0, 0, 2}, {0, 0, 4}};  // all on the bones
    rig.mesh.triangles = {{0, 1, 2}, {1, 2, 3}};
    addChain(rig, {0, 2, 4});
    expectGoodRows(rig, {.method = method});
    for (Vec3f& p : rig.mesh.positions) p = Vec3f(1, 1, 1);
    expectGoodRows(rig, {.method = method});
  }
}

/// The rig as `map` takes positions to others; a mirror flips the triangles.
template <class Map>
Rig transformed(const Rig& rig, const Map& map, bool mirrored) {
  Rig out = rig;
  for (Vec3f& p : out.mesh.positions) p = map(p.cast<double>().eval()).template cast<float>();
  if (mirrored)
    for (Triangle& t : out.mesh.triangles) std::swap(t[1], t[2]);
  for (Affine3d& m : out.bind_model) m.translation() = map(m.translation().eval());
  return out;
}

/// A rig without symmetry, so that nothing is equal by luck.
Rig crookedRig() {
  Rig rig = fork();
  for (Vec3f& p : rig.mesh.positions)
    p += Vec3f(0.03f * std::sin(3 * p.y()), 0.02f * std::cos(5 * p.x()), 0.04f * p.y());
  for (Affine3d& m : rig.bind_model)
    m.translation() += Vec3d(0.013, 0.017, 0.04 * m.translation().y());
  return rig;
}

TEST(AutoWeightsProperty, MovingTurningScalingAndMirroringChangeNothing) {
  const Rig rig = crookedRig();
  const Mat3d turn = Eigen::AngleAxisd(0.8, Vec3d(1, 2, -2) / 3).toRotationMatrix();
  for (const WeightMethod method : kAllMethods) {
    SCOPED_TRACE(nameOf(method));
    const AutoWeightsDesc desc = everything(method);
    Diagnostics notes;
    const Result<Skin> plain = weigh(rig, desc, notes);
    ASSERT_TRUE(plain.ok());
    const auto difference = [&](const Rig& other) {
      return largestDifference(*plain, *weigh(other, desc, notes));
    };
    using V = Vec3d;
    EXPECT_LT(difference(transformed(
                  rig, [](const V& p) { return V(p + V(3, -2, 5)); }, false)),
              1e-3);
    EXPECT_LT(difference(transformed(
                  rig, [&](const V& p) { return V(turn * p); }, false)),
              1e-3);
    EXPECT_LT(difference(transformed(
                  rig, [](const V& p) { return V(1e6 * p); }, false)),
              1e-5);
    EXPECT_LT(difference(transformed(
                  rig, [](const V& p) { return V(1e-6 * p); }, false)),
              1e-5);
    EXPECT_LT(difference(transformed(
                  rig, [](const V& p) { return V(-p.x(), p.y(), p.z()); }, true)),
              1e-5);
  }
}

TEST(AutoWeightsProperty, ReorderingVerticesReordersTheRows) {
  const Rig rig = crookedRig();
  std::vector<std::uint32_t> moved_to(rig.mesh.vertexCount());  // where each vertex goes
  std::iota(moved_to.begin(), moved_to.end(), 0u);
  Rng rng(17);
  for (std::size_t i = moved_to.size(); i > 1; --i)
    std::swap(moved_to[i - 1], moved_to[rng.below(i)]);
  Rig shuffled = rig;
  for (std::size_t v = 0; v < moved_to.size(); ++v)
    shuffled.mesh.positions[moved_to[v]] = rig.mesh.positions[v];
  for (Triangle& t : shuffled.mesh.triangles)
    for (std::uint32_t& v : t) v = moved_to[v];
  for (const WeightMethod method : kAllMethods) {
    SCOPED_TRACE(nameOf(method));
    Diagnostics notes;
    const Result<Skin> a = weigh(rig, everything(method), notes);
    const Result<Skin> b = weigh(shuffled, everything(method), notes);
    EXPECT_LT(largestDifference(*a, *b, [&](std::size_t v) { return moved_to[v]; }), 1e-5);
  }
}

TEST(AutoWeightsProperty, ASymmetricRigGetsSymmetricWeights) {
  const Rig rig = fork();  // ring k of one leg mirrors ring rings - 1 - k of the other
  const std::size_t sectors = 16, rings = (rig.mesh.vertexCount() - 2) / sectors;
  const auto mirror = [&](std::size_t v) {
    if (v >= rings * sectors) return 2 * rings * sectors + 1 - v;
    return (rings - 1 - v / sectors) * sectors + v % sectors;
  };
  for (std::size_t v = 0; v < rig.mesh.vertexCount(); ++v) {
    const Vec3f p = rig.mesh.positions[v], q = rig.mesh.positions[mirror(v)];
    ASSERT_LT((p - Vec3f(-q.x(), q.y(), q.z())).norm(), 1e-5f);
  }
  const std::uint32_t other[] = {0, 3, 4, 1, 2};
  for (const WeightMethod method :
       {WeightMethod::Heat, WeightMethod::InverseDistance, WeightMethod::Geodesic}) {
    SCOPED_TRACE(nameOf(method));
    Diagnostics notes;
    const Result<Skin> skin = weigh(rig, everything(method), notes);
    for (std::size_t v = 0; v < rig.mesh.vertexCount(); ++v)
      for (std::uint32_t s = 0; s < 5; ++s)
        ASSERT_NEAR(weight(*skin, v, s), weight(*skin, mirror(v), other[s]), 1e-4) << v;
  }
}

TEST(AutoWeightsProperty, TheMiddleOfABoneBelongsToIt) {
  const Rig rig = twoBoneTube();
  for (const WeightMethod method : kAllMethods) {
    SCOPED_TRACE(nameOf(method));
    Diagnostics notes;
    const Result<Skin> skin = weigh(rig, {.method = method}, notes);
    for (std::size_t v = 0; v < rig.mesh.vertexCount(); ++v) {
      const float z = rig.mesh.positions[v].z();
      if (std::abs(z - 2) < 0.5f) continue;
      EXPECT_GT(weight(*skin, v, z < 2 ? 0 : 1), 0.5f) << z;
    }
  }
}

TEST(AutoWeightsProperty, HeatAndGeodesicDoNotLeakBetweenParallelFingers) {
  const Rig rig = fork();
  const auto worstLeak = [&](WeightMethod method) {
    Diagnostics notes;
    const Result<Skin> skin = weigh(rig, everything(method), notes);
    float worst = 0;
    for (std::size_t v = 0; v < rig.mesh.vertexCount(); ++v) {
      const Vec3f p = rig.mesh.positions[v];
      if (p.y() < 1.5f) continue;  // well up the fingers
      worst = std::max(worst, p.x() < 0 ? weight(*skin, v, 3) + weight(*skin, v, 4)
                                        : weight(*skin, v, 1) + weight(*skin, v, 2));
    }
    return worst;
  };
  EXPECT_LT(worstLeak(WeightMethod::Heat), 1e-4f);
  EXPECT_LT(worstLeak(WeightMethod::Geodesic), 0.01f);
  EXPECT_GT(worstLeak(WeightMethod::InverseDistance), 0.05f);  // through the air
}

TEST(AutoWeightsProperty, SeparatePiecesFollowTheBonesInsideThem) {
  // A thin arm hangs close beside a thick trunk: the trunk's side is nearer to the arm's bone.
  Rig rig;
  rig.mesh = closedCylinder(evenHeights(21, 4.0), 24, 1.0);
  const TriMesh arm = closedCylinder(evenHeights(21, 3.0), 12, 0.1);
  const auto shift = static_cast<std::uint32_t>(rig.mesh.vertexCount());
  for (const Vec3f& p : arm.positions) rig.mesh.positions.push_back(p + Vec3f(1.15f, 0, 0.5f));
  for (const Triangle& t : arm.triangles)
    rig.mesh.triangles.push_back({t[0] + shift, t[1] + shift, t[2] + shift});
  addJoints(rig,
            {{-1, {0, 0, 0.2f}}, {0, {0, 0, 3.6f}}, {1, {1.15f, 0, 3.4f}}, {2, {1.15f, 0, 0.6f}}});
  for (const WeightMethod method : {WeightMethod::Heat, WeightMethod::Geodesic}) {
    Diagnostics notes;
    const Result<Skin> skin = weigh(rig, everything(method), notes);
    for (std::size_t v = 0; v < rig.mesh.vertexCount(); ++v) {
      const float arm_share = weight(*skin, v, 2) + weight(*skin, v, 3);
      if (v < shift) {
        EXPECT_LT(arm_share, 0.01f);
      } else if (rig.mesh.positions[v].z() < 2.5f) {  // above, the shoulder's bone reaches in
        EXPECT_GT(arm_share, 0.99f);
      }
    }
  }
}

/// Adds a tube without caps around the axis of a rig, its rims slanting by `slant`; inside out
/// where asked.
void addSleeve(Rig& rig, double from, double to, double radius, double slant, bool inside_out) {
  const int sectors = 24, rings = 25;
  TriMesh tube = closedCylinder(evenHeights(rings, 1.0), sectors, radius);
  tube.positions.resize(std::size_t{rings} * sectors);  // without the caps' centres
  const auto shift = static_cast<std::uint32_t>(rig.mesh.vertexCount());
  for (Vec3f p : tube.positions) {
    p.z() = float(from + (to - from) * double{p.z()} + slant * double{p.x()});
    rig.mesh.positions.push_back(p);
  }
  for (const Triangle& t : tube.triangles) {
    if (*std::max_element(t.begin(), t.end()) >= tube.positions.size()) continue;
    rig.mesh.triangles.push_back(
        {t[0] + shift, t[inside_out ? 2 : 1] + shift, t[inside_out ? 1 : 2] + shift});
  }
}

TEST(AutoWeightsProperty, ClothesFollowTheBodyUpToTheirHems) {
  // Straight and slanting hems, bones that are mostly outside of the sleeve; a radius or more away
  // from the joints, as heat ends at a hem and goes on in the body.
  for (const auto& [from, to, slant] : {std::array{1.0, 3.0, 0.0}, std::array{0.7, 3.3, 0.6},
                                        std::array{0.9, 3.6, -0.5}, std::array{0.4, 2.0, 0.0}})
    for (const bool inside_out : {false, true}) {
      SCOPED_TRACE(testing::Message() << from << " to " << to << (inside_out ? ", turned" : ""));
      Rig rig;
      rig.mesh = closedCylinder(evenHeights(81, 4.0), 24, 0.3);
      addChain(rig, {0, 1.5f, 2.5f, 4});
      const std::size_t body = rig.mesh.vertexCount();
      addSleeve(rig, from, to, 0.36, slant, inside_out);
      for (const auto& [method, max] :
           {std::pair{WeightMethod::Heat, 0.15f}, {WeightMethod::Geodesic, 0.05f}}) {
        Diagnostics notes;
        const Result<Skin> skin = weigh(rig, everything(method), notes);
        ASSERT_TRUE(skin.ok());
        float worst = 0;
        const std::size_t first_hem = body + 24, last_hem = rig.mesh.vertexCount() - 24;
        for (std::size_t v = body; v < rig.mesh.vertexCount(); ++v) {
          if (v >= first_hem && v < last_hem) continue;
          const auto height = [&](std::size_t i) { return rig.mesh.positions[i].z(); };
          std::size_t under = 0;  // on the body, at the same height
          for (std::size_t b = 0; b + 2 < body; ++b)
            if (std::abs(height(b) - height(v)) < std::abs(height(under) - height(v))) under = b;
          for (std::uint32_t s = 0; s < skin->slots.size(); ++s)
            worst = std::max(worst, std::abs(weight(*skin, v, s) - weight(*skin, under, s)));
        }
        EXPECT_LT(worst, max) << nameOf(method);
        EXPECT_EQ(notes.count("vertex-unseen"), 0u);
      }
    }
}

TEST(AutoWeightsProperty, AnOpenPieceDoesNotFollowTheArmBesideIt) {
  Rig rig;
  const TriMesh arm = closedCylinder(evenHeights(21, 3.0), 12, 0.1);
  addSleeve(rig, 0.0, 4.0, 1.0, 0.0, false);  // a shirt on a trunk's bone
  const auto shift = static_cast<std::uint32_t>(rig.mesh.vertexCount());
  for (const Vec3f& p : arm.positions) rig.mesh.positions.push_back(p + Vec3f(1.15f, 0, 0.5f));
  for (const Triangle& t : arm.triangles)
    rig.mesh.triangles.push_back({t[0] + shift, t[1] + shift, t[2] + shift});
  addJoints(rig,
            {{-1, {0, 0, 0.2f}}, {0, {0, 0, 3.6f}}, {-1, {1.15f, 0, 3.4f}}, {2, {1.15f, 0, 0.6f}}});
  for (const WeightMethod method : {WeightMethod::Heat, WeightMethod::Geodesic}) {
    Diagnostics notes;
    const Result<Skin> skin = weigh(rig, everything(method), notes);
    for (std::size_t v = 0; v < shift; ++v)
      EXPECT_LT(weight(*skin, v, 2) + weight(*skin, v, 3), 0.01f) << v;
  }
}

TEST(AutoWeightsProperty, HeatIsSmoothOnAFineTube) {
  const Rig rig = twoBoneTube(81, 24);
  Diagnostics notes;
  const Result<Skin> skin = weigh(rig, {}, notes);
  const double edge = 4.0 / 80;
  double steepest = 0;
  for (const Triangle& t : rig.mesh.triangles)
    for (int c = 0; c < 3; ++c) {
      const double step = std::abs(weight(*skin, t[c], 0) - weight(*skin, t[(c + 1) % 3], 0));
      steepest = std::max(steepest, step);
    }
  // The slope of the exact solution on an endless tube of radius r is sqrt(c) / (2 r) at the joint.
  const double expected = edge * std::sqrt(AutoWeightsDesc{}.heat_transfer) / (2 * 0.5);
  EXPECT_LT(steepest, 1.1 * expected);
  EXPECT_GT(steepest, 0.7 * expected);
}

TEST(AutoWeightsProperty, HeatDoesNotDependOnTheResolution) {
  const Rig coarse = twoBoneTube(21, 16), fine = twoBoneTube(81, 32);
  Diagnostics notes;
  const Result<Skin> a = weigh(coarse, {}, notes), b = weigh(fine, {}, notes);
  for (std::size_t ring = 0; ring < 21; ++ring)
    EXPECT_NEAR(weight(*a, ring * 16, 0), weight(*b, ring * 4 * 32, 0), 0.03f) << ring;
}

TEST(AutoWeightsProperty, ThreadsDoNotChangeABit) {
  const Rig rig = crookedRig();
  for (const WeightMethod method : kAllMethods) {
    AutoWeightsDesc desc{.method = method, .smoothing_passes = 1};
    Diagnostics notes;
    const Result<Skin> many = weigh(rig, desc, notes);
    const ThreadLimit one(1);
    const Result<Skin> single = weigh(rig, desc, notes);
    EXPECT_EQ(*many, *single) << nameOf(method);
  }
}

TEST(WeightSmoothing, KeepsTheSumSharesSeamsAndLeavesConstantsAlone) {
  for (const shelf::ShelfMesh& m : shelf::all()) {
    SCOPED_TRACE(m.name);
    const Character c = shelf::rigged(m);
    const Result<Skin> soft = smoothedWeights(c.skin, c.mesh, {.passes = 3, .amount = 0.7f});
    ASSERT_TRUE(soft.ok());
    EXPECT_TRUE(validate(*soft, c.mesh.vertexCount(), c.skeleton.size(), "").ok());
    Rig rig = shelfRig(m);
    rig.bones = {JointId(0)};
    Diagnostics notes;
    const Result<Skin> constant = weigh(rig, {.method = WeightMethod::Nearest}, notes);
    ASSERT_TRUE(constant.ok());
    EXPECT_EQ(*smoothedWeights(*constant, c.mesh, {.passes = 3}), *constant);
  }
}

TEST(WeightSmoothing, IsTheMeanOfTheNeighboursAndChecksItsInput) {
  TriMesh m;
  m.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  m.triangles = {{0, 1, 2}};
  Skin skin;
  skin.slots = {{JointId(0)}, {JointId(1)}};
  skin.offsets = {0, 1, 2, 3};
  skin.influences = {{0, 1.0f}, {1, 1.0f}, {1, 1.0f}};
  const Result<Skin> soft = smoothedWeights(skin, m, {.passes = 1, .amount = 0.4f});
  ASSERT_TRUE(soft.ok());
  EXPECT_FLOAT_EQ(weight(*soft, 0, 0), 0.6f);
  EXPECT_FLOAT_EQ(weight(*soft, 1, 0), 0.2f);
  EXPECT_EQ(*smoothedWeights(skin, m, {.passes = 0}), skin);
  EXPECT_EQ(smoothedWeights(skin, m, {.passes = -1}).error().where.element, "passes");
  EXPECT_EQ(smoothedWeights(skin, m, {.amount = 1.5f}).error().where.element, "amount");
  m.positions.push_back({2, 2, 2});
  EXPECT_FALSE(smoothedWeights(skin, m, {}).ok());
}

}  // namespace
}  // namespace derm::auto_weights_property_test
