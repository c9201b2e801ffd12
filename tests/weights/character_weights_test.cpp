#include "derm/weights/character_weights.h"

#include <cmath>

#include <gtest/gtest.h>

#include "derm/mesh/measures.h"

#include "support/shelf.h"
#include "weights/weights_rig.h"

namespace derm::character_weights_test {
namespace {

using namespace weights_rig;

Character withoutSkin(const Rig& rig) {
  Character c;
  c.name = "test";
  c.mesh = rig.mesh;
  c.skeleton = rig.skeleton;
  addDefaultParts(c);
  return c;
}

JointId addJoint(Character& c, const char* name, JointId parent, Vec3f offset = Vec3f::Zero()) {
  Joint joint{.name = name, .parent = parent};
  joint.rest.translation = offset;
  c.skeleton.joints.push_back(joint);
  return JointId(c.skeleton.size() - 1);
}

TEST(DefaultBones, AreTheJointsThatSkinGivesWeightTo) {
  Character c = shelf::rigged(shelf::all()[2]);
  addJoint(c, "camera", JointId());
  for (std::size_t v = 0; v < c.mesh.vertexCount(); ++v)  // nothing follows joint 0
    for (std::uint32_t i = c.skin.offsets[v]; i < c.skin.offsets[v + 1]; ++i)
      if (c.skin.influences[i].slot == 0) c.skin.influences[i].slot = 1;
  EXPECT_EQ(defaultBones(c), (std::vector{JointId(1), JointId(2)}));
}

TEST(DefaultBones, WithoutSkinAreTheLargestTreeBelowItsTop) {
  Character c;
  addJoint(c, "camera", JointId());
  const JointId root = addJoint(c, "root", JointId());
  const JointId armature = addJoint(c, "armature", root, {0, 1, 0});
  const JointId hips = addJoint(c, "hips", armature, {0, 1, 0});
  const JointId mesh_node = addJoint(c, "body", root);
  const JointId left = addJoint(c, "left", hips, {1, 0, 0});
  const JointId right = addJoint(c, "right", hips, {-1, 0, 0});
  c.instances.push_back({.name = "body", .joint = mesh_node, .rigid = true});
  EXPECT_EQ(defaultBones(c), (std::vector{hips, left, right}));
}

TEST(DefaultBones, AChainIsCutOnlyWhereJointsCoincide) {
  Character c;
  const JointId root = addJoint(c, "root", JointId());
  const JointId first = addJoint(c, "first", root);
  const JointId second = addJoint(c, "second", first, {0, 0, 1});
  const JointId third = addJoint(c, "third", second, {0, 0, 1});
  EXPECT_EQ(defaultBones(c), (std::vector{first, second, third}));
  EXPECT_TRUE(defaultBones(Character{}).empty());
}

TEST(CharacterWeights, BindMatricesAreThoseOfTheSkin) {
  Character c = shelf::rigged(shelf::all()[2]);
  c.skeleton.joints[1].rest.translation += Vec3f(0, 3, 0);  // rest and bind differ
  const std::vector<Affine3d> bind = bindModelMatrices(c);
  for (std::size_t j = 0; j < 3; ++j) {
    const Affine3d product = bind[j] * c.skin.slots[j].inverse_bind.cast<double>();
    EXPECT_TRUE(product.matrix().isApprox(Affine3d::Identity().matrix(), 1e-5));
  }
}

TEST(CharacterWeights, ABareMeshBesideASkeletonIsWeighted) {
  Character c = withoutSkin(twoBoneTube());
  const JointId node = addJoint(c, "mesh", JointId());
  c.instances[0].joint = node;
  c.instances[0].rigid = true;  // as a reader says of an unskinned mesh
  SkinBuilder builder({{node, Affine3f::Identity()}}, c.mesh.vertexCount());
  Diagnostics notes;
  std::vector<Influence> row;
  for (std::size_t v = 0; v < c.mesh.vertexCount(); ++v) {
    row = {{0, 1.0f}};
    builder.addVertex(row, 0, "", notes);
  }
  c.skin = std::move(builder).finish();
  const Result<Skin> skin = autoWeights(c, {}, {}, notes);
  ASSERT_TRUE(skin.ok()) << skin.error().text();
  EXPECT_TRUE(validate(*skin, c.mesh.vertexCount(), c.skeleton.size(), "").ok());
  EXPECT_GT(weight(*skin, 0, 0), 0.9f);
  EXPECT_EQ(skin->slots[0].joint, JointId(0));
}

/// A tube that is skinned, and a cube in its hand that is not.
Character withProp() {
  const Rig rig = twoBoneTube();
  Character c = withoutSkin(rig);
  const TriMesh cube = shelf::cube(0.2f);
  const auto shift = static_cast<std::uint32_t>(c.mesh.vertexCount());
  const auto triangles = static_cast<std::uint32_t>(c.mesh.triangles.size());
  for (const Vec3f& p : cube.positions) c.mesh.positions.push_back(p + Vec3f(1, 0, 4));
  for (const Triangle& t : cube.triangles)
    c.mesh.triangles.push_back({t[0] + shift, t[1] + shift, t[2] + shift});
  c.parts.push_back({.first_triangle = triangles,
                     .triangle_count = 12,
                     .first_vertex = shift,
                     .vertex_count = 8});
  c.instances.push_back({.name = "prop",
                         .joint = JointId(2),
                         .rigid = true,
                         .first_part = 1,
                         .part_count = 1,
                         .first_vertex = shift,
                         .vertex_count = 8});
  Diagnostics notes;
  const Result<Skin> skin = weigh(rig, {.method = WeightMethod::Linear}, notes);
  std::vector<SkinSlot> slots = skin->slots;
  slots.push_back({JointId(2), Affine3f::Identity()});
  SkinBuilder builder(slots, c.mesh.vertexCount());
  std::vector<Influence> row;
  for (std::size_t v = 0; v < c.mesh.vertexCount(); ++v) {
    row.clear();
    if (v < shift) {
      row.assign((*skin)[v].begin(), (*skin)[v].end());
    } else {
      row = {{3, 1.0f}};
    }
    builder.addVertex(row, 0, "", notes);
  }
  c.skin = std::move(builder).finish();
  return c;
}

TEST(CharacterWeights, RigidPropsKeepTheirJointAndBind) {
  const Character c = withProp();
  ASSERT_TRUE(validate(c).ok()) << validate(c).error().text();
  Diagnostics notes;
  const Result<Skin> skin = autoWeights(c, {}, {}, notes);
  ASSERT_TRUE(skin.ok()) << skin.error().text();
  ASSERT_TRUE(validate(*skin, c.mesh.vertexCount(), c.skeleton.size(), "").ok());
  const std::span<const Influence> prop = (*skin)[c.instances[1].first_vertex];
  ASSERT_EQ(prop.size(), 1u);
  EXPECT_EQ(skin->slots[prop[0].slot], c.skin.slots[3]);
  EXPECT_EQ(skin->slots.size(), 3u);  // two bones of the tube, one of the prop
}

TEST(CharacterWeights, MeshesBoundDifferentlyAreWeightedEachInItsOwnPose) {
  // The same tube twice, the second one 10 m aside with binds that say so.
  const Rig rig = twoBoneTube();
  Character c = withoutSkin(rig);
  const auto n = static_cast<std::uint32_t>(rig.mesh.vertexCount());
  const auto triangles = static_cast<std::uint32_t>(rig.mesh.triangles.size());
  const Vec3f aside(10, 0, 0);
  for (const Vec3f& p : rig.mesh.positions) c.mesh.positions.push_back(p + aside);
  for (const Triangle& t : rig.mesh.triangles)
    c.mesh.triangles.push_back({t[0] + n, t[1] + n, t[2] + n});
  c.parts.push_back({.first_triangle = triangles,
                     .triangle_count = triangles,
                     .first_vertex = n,
                     .vertex_count = n});
  c.instances.push_back(
      {.name = "second", .first_part = 1, .part_count = 1, .first_vertex = n, .vertex_count = n});
  Diagnostics notes;
  const Result<Skin> one = weigh(rig, {}, notes);
  std::vector<SkinSlot> slots = one->slots;
  for (const SkinSlot& s : one->slots) {
    slots.push_back(s);
    slots.back().inverse_bind = s.inverse_bind * Eigen::Translation3f(-10, 0, 0);
  }
  SkinBuilder builder(slots, 2 * n);
  std::vector<Influence> row;
  for (std::uint32_t v = 0; v < 2 * n; ++v) {
    row.assign((*one)[v % n].begin(), (*one)[v % n].end());
    if (v >= n)
      for (Influence& i : row) i.slot += 3;
    builder.addVertex(row, 0, "", notes);
  }
  c.skin = std::move(builder).finish();
  const Result<Skin> skin = autoWeights(c, {}, {}, notes);
  ASSERT_TRUE(skin.ok()) << skin.error().text();
  ASSERT_EQ(skin->slots.size(), 4u);
  for (std::uint32_t v = 0; v < n; ++v)
    for (std::uint32_t s = 0; s < 2; ++s) {
      EXPECT_NEAR(weight(*skin, v, s), weight(*one, v, s), 1e-5);
      EXPECT_NEAR(weight(*skin, v + n, s + 2), weight(*one, v, s), 1e-5);
    }
  EXPECT_NEAR(skin->slots[2].inverse_bind.translation().x(), -10, 1e-6);
  // They are as far apart for what they are, however small.
  scaleLengths(c, std::ldexp(1.0, -17));
  const Result<Skin> tiny = autoWeights(c, {}, {}, notes);
  ASSERT_TRUE(tiny.ok()) << tiny.error().text();
  EXPECT_EQ(tiny->slots.size(), 4u);
}

TEST(CharacterWeights, NotesNameVerticesOfTheWholeMesh) {
  Character c = withProp();
  std::swap(c.instances[0].rigid, c.instances[1].rigid);  // now the cube is to be weighted
  Diagnostics notes;
  ASSERT_TRUE(autoWeights(c, std::vector{JointId(0)}, {}, notes).ok());
  const std::uint32_t first = c.instances[1].first_vertex;
  for (const Diagnostics::Note& note : notes.notes()) {
    if (note.kind != "vertex-unseen") continue;
    for (const std::uint64_t v : note.first_indices) EXPECT_GE(v, first);
  }
  EXPECT_GT(notes.count("vertex-unseen"), 0u);
}

TEST(CharacterWeights, ACharacterWithoutJointsIsRefused) {
  Character c;
  c.name = "bare";
  c.mesh = shelf::cube();
  addDefaultParts(c);
  Diagnostics notes;
  const Result<Skin> skin = autoWeights(c, {}, {}, notes);
  ASSERT_FALSE(skin.ok());
  EXPECT_NE(skin.error().text().find("bare"), std::string::npos);
}

/// Two cubes, each a rigid mesh on its own node, the second node below the first.
Character robot() {
  Character c;
  c.name = "robot";
  JointId parent;
  for (std::uint32_t part = 0; part < 2; ++part) {
    const TriMesh cube = shelf::cube();
    const auto first = static_cast<std::uint32_t>(c.mesh.vertexCount());
    const auto triangles = static_cast<std::uint32_t>(c.mesh.triangles.size());
    for (const Vec3f& p : cube.positions)
      c.mesh.positions.push_back(p + Vec3f(0, 3.0f * float(part), 0));
    for (const Triangle& t : cube.triangles)
      c.mesh.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
    parent = addJoint(c, part == 0 ? "hull" : "arm", parent, {0, 3.0f * float(part), 0});
    c.parts.push_back({.first_triangle = triangles,
                       .triangle_count = 12,
                       .first_vertex = first,
                       .vertex_count = 8});
    c.instances.push_back({.name = part == 0 ? "hull" : "arm",
                           .joint = parent,
                           .rigid = true,
                           .first_part = part,
                           .part_count = 1,
                           .first_vertex = first,
                           .vertex_count = 8});
  }
  return c;
}

TEST(CharacterWeights, NodesOfMeshesAreNoSkeleton) {
  Character c = robot();
  EXPECT_FALSE(hasSkeleton(c));
  Diagnostics notes;
  const Result<Skin> skin = autoWeights(c, {}, {}, notes);
  ASSERT_FALSE(skin.ok());
  EXPECT_NE(skin.error().text().find("robot"), std::string::npos);
  // Nor is a scene's root above them.
  c.skeleton.joints.insert(c.skeleton.joints.begin(), Joint{.name = "root"});
  c.skeleton.joints[1].parent = JointId(0);
  c.skeleton.joints[2].parent = JointId(1);
  for (MeshInstance& m : c.instances) m.joint = JointId(m.joint.index() + 1);
  EXPECT_FALSE(hasSkeleton(c));
  addJoint(c, "tip", JointId(2), {0, 1, 0});
  EXPECT_TRUE(hasSkeleton(c));
}

TEST(CharacterWeights, RigidPartsThatBecomeSkinAreNamed) {
  Character c = robot();
  addJoint(c, "left", JointId(1), {1, 1, 0});
  addJoint(c, "right", JointId(1), {-1, 1, 0});
  Diagnostics notes;
  ASSERT_TRUE(autoWeights(c, std::vector{JointId(0), JointId(2), JointId(3)}, {}, notes).ok());
  EXPECT_EQ(notes.count("rigid-part-weighted"), 2u);
}

TEST(CharacterWeights, ASkeletonOfAnotherSizeIsWarnedOf) {
  const Rig rig = twoBoneTube();
  const auto warnings = [&](float factor) {
    TriMesh mesh = rig.mesh;
    for (Vec3f& p : mesh.positions) p *= factor;
    Diagnostics notes;
    checkSkeletonSize(mesh, rig.bones, rig.bind_model, "rig.glb", notes);
    return notes.count("skeleton-size");
  };
  for (const float alike : {1.0f, 2.0f, 0.5f}) EXPECT_EQ(warnings(alike), 0u) << alike;
  for (const float other : {0.01f, 0.1f, 10.0f, 100.0f}) EXPECT_EQ(warnings(other), 1u) << other;
  Diagnostics notes;  // neither has a size
  checkSkeletonSize(rig.mesh, std::span(rig.bones).first(1), rig.bind_model, "", notes);
  checkSkeletonSize({}, rig.bones, rig.bind_model, "", notes);
  EXPECT_TRUE(notes.empty());
}

}  // namespace
}  // namespace derm::character_weights_test
