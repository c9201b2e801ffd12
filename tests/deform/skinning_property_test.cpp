// What must hold for any mesh and any pose.

#include <algorithm>
#include <numeric>

#include "derm/mesh/measures.h"

#include "deform/skinning_rig.h"
#include "support/compare.h"
#include "support/shelf.h"

namespace derm::skinning_property_test {
namespace {

using namespace skinning_test;
using testing_support::kFloatEps;
using testing_support::largestCoordinate;
using testing_support::maxDistance;

/// A shelf mesh in the middle of a clip, ready to be skinned.
struct Posed {
  Character character;
  std::vector<Affine3f> palette;
  Surface rest;
  double size = 0;  ///< [m] bounding diagonal

  std::size_t vertices() const { return rest.positions.size(); }
};

std::vector<Affine3f> paletteOf(const Character& c, const Pose& pose) {
  std::vector<Affine3d> model(c.skeleton.size());
  localToModel(c.skeleton, pose.local, model);
  std::vector<Affine3f> palette(c.skin.slots.size());
  skinningMatrices(c.skin, model, palette);
  return palette;
}

template <class Body>
void onTheShelf(const Body& body) {
  for (const shelf::ShelfMesh& mesh : shelf::all()) {
    Posed p;
    p.character = shelf::rigged(mesh);
    p.rest.positions = p.character.mesh.positions;
    p.rest.normals = p.character.mesh.normals;
    p.rest.tangents = std::vector<Vec4f>(p.vertices(), Vec4f(1, 0, 0, 1));
    p.size = bounds(p.rest.positions).diagonal();
    for (const Clip& clip : p.character.clips) {
      Pose pose = p.character.restPose();
      sampleClip(clip, 0.8f, pose);
      p.palette = paletteOf(p.character, pose);
      for (const SkinningMethod method : kAllMethods) {
        SCOPED_TRACE(mesh.name + ", " + clip.name + ", " + std::string(name(method)));
        body(p, SkinningDesc{.method = method});
      }
    }
  }
}

/// Rounding: matrices are floats, so an entry's last bit times the largest coordinate, some dozens
/// of times; for dual quaternions also the last bit of the shifts.
double tolerance(const Posed& p, std::span<const Affine3f> palette) {
  double largest = largestCoordinate(p.rest.positions);
  for (const Affine3f& m : palette)
    largest = std::max<double>(largest, m.translation().cwiseAbs().maxCoeff());
  return 64 * kFloatEps * largest;
}

/// palette[s] = g * palette[s]
std::vector<Affine3f> after(const Affine3d& g, std::span<const Affine3f> palette) {
  std::vector<Affine3f> out;
  for (const Affine3f& m : palette) out.push_back((g * m.cast<double>()).cast<float>());
  return out;
}

/// Moving all matrices by g must move the skin by g: positions, normals and tangents.
void expectFollows(const Posed& p, const SkinningDesc& desc, const Affine3d& g) {
  const Surface before = skinned(p.rest, p.character.skin, desc, p.palette);
  const std::vector<Affine3f> moved = after(g, p.palette);
  const Surface got = skinned(p.rest, p.character.skin, desc, moved);
  const double scale = std::cbrt(std::abs(g.linear().determinant()));
  const Mat3d turn = g.linear() / scale;
  const double near = tolerance(p, moved) + scale * tolerance(p, p.palette);
  for (std::size_t v = 0; v < p.vertices(); ++v) {
    const Vec3d wanted = g * before.positions[v].cast<double>();
    ASSERT_LT((wanted - got.positions[v].cast<double>()).norm(), near) << v;
    const Vec3d normal = turn * before.normals[v].cast<double>();
    ASSERT_LT((normal - got.normals[v].cast<double>()).norm(), 2e-5) << v;
    const Vec3d tangent = turn * Vec3f(before.tangents[v].head<3>()).cast<double>();
    ASSERT_LT((tangent - Vec3f(got.tangents[v].head<3>()).cast<double>()).norm(), 2e-5) << v;
    ASSERT_EQ(got.tangents[v].w() * before.tangents[v].w(), turn.determinant() < 0 ? -1 : 1) << v;
  }
}

Affine3d rigidMotion(double size) {
  Affine3d g;
  g.linear() = Eigen::AngleAxisd(2.2, Vec3d(1, -0.4, 0.3).normalized()).toRotationMatrix();
  g.translation() = size * Vec3d(0.5, -1, 0.25);
  return g;
}

TEST(SkinningProperty, BindPoseGivesTheRestMeshBack) {
  onTheShelf([](const Posed& p, const SkinningDesc& desc) {
    const std::vector<Affine3f> palette = paletteOf(p.character, p.character.bindPose());
    const Surface got = skinned(p.rest, p.character.skin, desc, palette);
    EXPECT_LE(maxDistance(got.positions, p.rest.positions), tolerance(p, palette));
    EXPECT_LT(maxDistance(got.normals, p.rest.normals), 1e-5f);
  });
}

TEST(SkinningProperty, RigidMotionOfAllJointsMovesTheSkinRigidly) {
  onTheShelf([](const Posed& p, const SkinningDesc& desc) {
    expectFollows(p, desc, rigidMotion(p.size));
  });
}

TEST(SkinningProperty, UniformScaleOfAllJointsScalesTheSkin) {
  onTheShelf([](const Posed& p, const SkinningDesc& desc) {
    for (const double scale : {0.01, 0.7, 3.0, 250.0}) {
      Affine3d g = rigidMotion(p.size);
      g.linear() *= scale;
      expectFollows(p, desc, g);
    }
  });
}

TEST(SkinningProperty, MirrorOfAllJointsMirrorsTheSkin) {
  onTheShelf([](const Posed& p, const SkinningDesc& desc) {
    Affine3d g = rigidMotion(p.size);
    g.linear() = g.linear() * Vec3d(-1, 1, 1).asDiagonal();
    expectFollows(p, desc, g);
  });
}

TEST(SkinningProperty, ResultDoesNotDependOnWhereTheRestMeshLies) {
  onTheShelf([](const Posed& p, const SkinningDesc& desc) {
    // Mesh and binds moved alike: the matrices that bring the mesh to the same pose.
    const Affine3d g = rigidMotion(3 * p.size);
    const Affine3d back = g.inverse();
    Surface rest = p.rest;
    Skin skin = p.character.skin;
    std::vector<Affine3f> palette;
    for (Vec3f& x : rest.positions) x = (g * x.cast<double>()).cast<float>();
    for (Vec3f& n : rest.normals) n = (g.linear() * n.cast<double>()).cast<float>();
    for (SkinSlot& slot : skin.slots)
      slot.inverse_bind = (slot.inverse_bind.cast<double>() * back).cast<float>();
    for (const Affine3f& m : p.palette) palette.push_back((m.cast<double>() * back).cast<float>());
    const Surface here = skinned(p.rest, p.character.skin, desc, p.palette);
    const Surface there = skinned(rest, skin, desc, palette);
    Posed moved = p;
    moved.rest = rest;
    EXPECT_LE(maxDistance(here.positions, there.positions),
              4 * (tolerance(p, p.palette) + tolerance(moved, palette)));
    EXPECT_LT(maxDistance(here.normals, there.normals), 5e-5f);
  });
}

TEST(SkinningProperty, ReorderingVerticesReordersTheResultExactly) {
  onTheShelf([](const Posed& p, const SkinningDesc& desc) {
    std::vector<std::uint32_t> order(p.vertices());
    std::iota(order.begin(), order.end(), 0u);
    Rng rng(3);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    Surface rest;
    Skin skin;
    skin.slots = p.character.skin.slots;
    skin.offsets = {0};
    for (const std::uint32_t v : order) {
      rest.positions.push_back(p.rest.positions[v]);
      rest.normals.push_back(p.rest.normals[v]);
      rest.tangents.push_back(p.rest.tangents[v]);
      const auto row = p.character.skin[v];
      skin.influences.insert(skin.influences.end(), row.begin(), row.end());
      skin.offsets.push_back(static_cast<std::uint32_t>(skin.influences.size()));
    }
    const Surface plain = skinned(p.rest, p.character.skin, desc, p.palette);
    const Surface shuffled = skinned(rest, skin, desc, p.palette);
    for (std::size_t i = 0; i < order.size(); ++i) {
      ASSERT_EQ(shuffled.positions[i], plain.positions[order[i]]);
      ASSERT_EQ(shuffled.normals[i], plain.normals[order[i]]);
      ASSERT_EQ(shuffled.tangents[i], plain.tangents[order[i]]);
    }
  });
}

TEST(SkinningProperty, VertexIsTheSameAloneAndInACrowd) {
  Rng rng(6);
  const Surface rest = randomSurface(rng, 64);
  const Skin skin = randomSkin(rng, 64, 30, 6);
  for (const Motion motion : {Motion::Rigid, Motion::Stretch, Motion::Mirror}) {
    const std::vector<Affine3f> palette = randomPalette(rng, 30, motion);
    for (const SkinningMethod method : kAllMethods) {
      const Surface crowd = skinned(rest, skin, {.method = method}, palette);
      for (std::size_t v = 0; v < 64; ++v) {
        Surface alone{{rest.positions[v]}, {rest.normals[v]}, {rest.tangents[v]}};
        Skin row;
        row.slots = skin.slots;
        row.offsets = {0, static_cast<std::uint32_t>(skin[v].size())};
        row.influences.assign(skin[v].begin(), skin[v].end());
        alone = skinned(alone, row, {.method = method}, palette);
        ASSERT_EQ(alone.positions[0], crowd.positions[v]);
        ASSERT_EQ(alone.normals[0], crowd.normals[v]);
        ASSERT_EQ(alone.tangents[0], crowd.tangents[v]);
      }
    }
  }
}

/// Rings of radius 1 about +z at z = 0..1; joint 1 takes over linearly.
struct Tube {
  Surface rest;
  Skin skin;
};

Tube tubeOfTwoJoints() {
  Tube out;
  std::vector<SkinSlot> slots = {{.joint = JointId(0)}, {.joint = JointId(1)}};
  slots[1].inverse_bind.translation() = Vec3f(0, 0, -0.5f);
  SkinBuilder builder(slots, 0);
  Diagnostics notes;
  std::vector<Influence> row;
  for (int ring = 0; ring <= 20; ++ring)
    for (int k = 0; k < 16; ++k) {
      const double angle = 2 * std::numbers::pi * k / 16;
      out.rest.positions.emplace_back(float(std::cos(angle)), float(std::sin(angle)), ring / 20.0f);
      row = {{0, 1 - ring / 20.0f}, {1, ring / 20.0f}};
      builder.addVertex(row, 0, "tube", notes);
    }
  out.skin = std::move(builder).finish();
  return out;
}

TEST(SkinningProperty, DualQuaternionTwistKeepsTheRadiusWhereLinearCollapses) {
  const Tube tube = tubeOfTwoJoints();
  for (const double degrees : {30.0, 90.0, 170.0, 180.0, 190.0, 270.0}) {
    SCOPED_TRACE(degrees);
    std::vector<Affine3f> palette(2, Affine3f::Identity());
    palette[1].linear() = Eigen::AngleAxisd(degrees * std::numbers::pi / 180, Vec3d::UnitZ())
                              .toRotationMatrix()
                              .cast<float>();
    const Surface dual =
        skinned(tube.rest, tube.skin, {.method = SkinningMethod::DualQuaternion}, palette);
    for (const Vec3f& p : dual.positions) EXPECT_NEAR(p.head<2>().norm(), 1, 1e-6);
    if (degrees != 180.0) continue;
    const Surface linear = skinned(tube.rest, tube.skin, {}, palette);
    float smallest = 1;
    for (const Vec3f& p : linear.positions) smallest = std::min(smallest, p.head<2>().norm());
    EXPECT_LT(smallest, 1e-6f) << "the candy wrapper of linear skinning";
  }
}

TEST(SkinningProperty, DualQuaternionBendKeepsTheDistanceToTheJoint) {
  const Tube tube = tubeOfTwoJoints();
  const Vec3d joint(0, 0, 0.5);
  for (const double degrees : {45.0, 90.0, 135.0, 180.0}) {
    SCOPED_TRACE(degrees);
    Affine3d bend = Affine3d::Identity();
    bend.linear() =
        Eigen::AngleAxisd(degrees * std::numbers::pi / 180, Vec3d::UnitY()).toRotationMatrix();
    bend.translation() = joint - bend.linear() * joint;
    const std::vector<Affine3f> palette = {Affine3f::Identity(), bend.cast<float>()};
    const Surface dual =
        skinned(tube.rest, tube.skin, {.method = SkinningMethod::DualQuaternion}, palette);
    for (std::size_t v = 0; v < tube.rest.positions.size(); ++v)
      EXPECT_NEAR((dual.positions[v].cast<double>() - joint).norm(),
                  (tube.rest.positions[v].cast<double>() - joint).norm(), 2e-6);
  }
}

TEST(SkinningProperty, DualQuaternionTwistOfASwellingJointSwellsEvenlyFarFromTheOrigin) {
  // Joint 1 turns by half a turn and grows to twice the thickness. Blended about the axis, the
  // middle ring is 1.5 thick wherever the model's origin is.
  const Tube tube = tubeOfTwoJoints();
  for (const Vec3d& shift : {Vec3d(0, 0, 0), Vec3d(30, -20, 10)}) {
    Surface rest = tube.rest;
    Skin skin = tube.skin;
    for (Vec3f& p : rest.positions) p += shift.cast<float>();
    for (SkinSlot& s : skin.slots) s.inverse_bind.translation() -= shift.cast<float>();
    Affine3d twist = Affine3d::Identity();
    twist.linear() = Eigen::AngleAxisd(std::numbers::pi, Vec3d::UnitZ()).toRotationMatrix() *
                     Vec3d(2, 2, 1).asDiagonal();
    twist.translation() = shift - twist.linear() * shift;
    const std::vector<Affine3f> palette = {Affine3f::Identity(), twist.cast<float>()};
    const Surface dual = skinned(rest, skin, {.method = SkinningMethod::DualQuaternion}, palette);
    for (std::size_t v = 0; v < dual.positions.size(); ++v) {
      const double along = tube.rest.positions[v].z();
      const Vec3d p = dual.positions[v].cast<double>() - shift;
      EXPECT_NEAR(p.head<2>().norm(), 1 + along, 2e-4) << v;
      EXPECT_NEAR(p.z(), along, 2e-4) << v;
    }
  }
}

TEST(SkinningProperty, MovingAllJointsAlikeMovesEveryVertexAlike) {
  // Weights are a partition of unity: no vertex lags behind.
  onTheShelf([](const Posed& p, const SkinningDesc& desc) {
    Affine3f shift = Affine3f::Identity();
    shift.translation() = static_cast<float>(p.size) * Vec3f(3, -2, 1);
    const std::vector<Affine3f> palette(p.palette.size(), shift);
    const Surface got = skinned(p.rest, p.character.skin, desc, palette);
    for (std::size_t v = 0; v < p.vertices(); ++v)
      ASSERT_LE((got.positions[v] - p.rest.positions[v] - shift.translation()).norm(),
                tolerance(p, palette))
          << v;
  });
}

}  // namespace
}  // namespace derm::skinning_property_test
