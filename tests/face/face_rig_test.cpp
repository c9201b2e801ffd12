#include "derm/face/face_rig.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <gtest/gtest.h>

#include "derm/deform/pose_character.h"
#include "derm/io/character_file.h"
#include "derm/mesh/measures.h"

#include "rigged_head.h"
#include "support/compare.h"
#include "support/test_folder.h"

namespace derm::face_rig_test {
namespace {

using testing_support::maxDistance;
using testing_support::skinned;

struct Rigged {
  Character head;
  FaceRig rig;
};

Rigged rigged(char letter, const FaceRigDesc& desc = {}) {
  Rigged out{headCalled(letter), {}};
  Diagnostics notes;
  out.rig = addFaceRig(out.head, desc, notes).value();
  EXPECT_TRUE(notes.empty());
  return out;
}

TEST(FaceRig, AHeadBecomesAnOrdinarySkinnedCharacter) {
  const Rigged r = rigged('a');
  ASSERT_TRUE(validate(r.head));
  EXPECT_EQ(r.head.skeleton.size(), 29u);
  EXPECT_EQ(r.head.skeleton[r.rig.head].name, "head");
  EXPECT_TRUE(r.head.skeleton.find("fp_8_1_upper_lip_middle").valid());
  EXPECT_LE(r.head.skin.maxInfluences(), 4u);
  EXPECT_EQ(r.head.clips.size(), expressionNames().size());
  EXPECT_EQ(r.head.points.size(), 28u);
  const std::vector<Vec3f> rest =
      skinned(r.head, r.head.restPose(), SkinningMethod::Linear).positions;
  EXPECT_LT(maxDistance(rest, r.head.mesh.positions), 1e-7);
  EXPECT_TRUE(rigged('a', {.clips = false}).head.clips.empty());
}

TEST(FaceRig, ControlPointsGoExactlyWhereAnExpressionWantsThem) {
  for (const char letter : {'a', 'b', 'c'}) {
    const Rigged r = rigged(letter);
    const FacePoints points = pointsOf(r.head);
    for (const std::string_view name : expressionNames()) {
      SCOPED_TRACE(std::string(1, letter) + " " + std::string(name));
      const std::vector<Vec3f> posed = inExpression(r.head, r.rig, name);
      std::vector<PointDisplacement> moves = expressionDisplacements(name, points).value();
      for (const std::string_view number : controlPointNumbers()) {
        Vec3d wanted = points.at(number);
        for (const PointDisplacement& d : moves)
          if (d.point == number) wanted += d.displacement_m;
        const Vec3f at = positionAt(*r.head.findPoint(number), r.head.mesh.triangles, posed);
        // A head of 0.34 m in float, a few roundings each.
        EXPECT_LT((at.cast<double>() - wanted).norm(), 2e-7) << number;
      }
    }
  }
}

TEST(FaceRig, ABlinkLeavesNothingOfTheOpening) {
  for (const char letter : {'a', 'b', 'c'}) {
    const Rigged r = rigged(letter);
    const std::vector<Vec3f> posed = inExpression(r.head, r.rig, "blink");
    const auto at = [&](std::string_view n) {
      return positionAt(*r.head.findPoint(n), r.head.mesh.triangles, posed);
    };
    const double opening = measureFaceUnits(pointsOf(r.head)).lid_opening_m;
    EXPECT_LT((at("3.1") - at("3.3")).norm(), 0.005 * opening);
    EXPECT_LT((at("3.2") - at("3.4")).norm(), 0.005 * opening);
  }
}

TEST(FaceRig, AnOpenJawPartsTheLips) {
  for (const char letter : {'a', 'b', 'c'}) {
    const Rigged r = rigged(letter);
    const std::vector<Vec3f> posed = inExpression(r.head, r.rig, "jawOpen");
    const FacePoints points = pointsOf(r.head);
    const double middle = points.at("8.3").y(), half = 0.4 * points.at("8.3").x();
    // The rims of the slit about its middle.
    double lowest_upper = 1, highest_lower = -1;
    for (std::size_t v = 0; v < posed.size(); ++v) {
      const Vec3d p = r.head.mesh.positions[v].cast<double>();
      if (p.z() < 0 || std::abs(p.x()) > half) continue;
      if (p.y() > middle && p.y() < points.at("8.1").y())
        lowest_upper = std::min(lowest_upper, double(posed[v].y()));
      if (p.y() < middle && p.y() > points.at("8.2").y())
        highest_lower = std::max(highest_lower, double(posed[v].y()));
    }
    EXPECT_GT(lowest_upper - highest_lower, 0.3 * measureFaceUnits(points).mouth_nose_m) << letter;
  }
}

TEST(FaceRig, ClipsReachTheExpressionAndComeBack) {
  const Rigged r = rigged('a');
  for (const Clip& clip : r.head.clips) {
    SCOPED_TRACE(clip.name);
    const double middle = clip.name == "blink" ? 0.12 : 0.7;
    const Pose pose = testing_support::poseAt(r.head, clip, middle);
    if (clip.name != "anger") {  // whose lips stop where they touch
      EXPECT_LT(maxDistance(skinned(r.head, pose, SkinningMethod::Linear).positions,
                            inExpression(r.head, r.rig, clip.name, true)),
                2e-7);
    }
    const Pose end = testing_support::poseAt(r.head, clip, double(clip.duration_s()));
    EXPECT_LT(
        maxDistance(skinned(r.head, end, SkinningMethod::Linear).positions, r.head.mesh.positions),
        1e-7);
  }
}

/// The head on a neck: weights go over from a root to the head between two heights.
Character headWithNeck() {
  Character c = headCalled('a');
  c.skeleton.joints = {{"root", JointId(), {}}, {"neck", JointId(0), {}}, {"Head", JointId(1), {}}};
  c.skeleton.joints[1].rest.translation = Vec3f(0, -0.12f, 0);
  c.skeleton.joints[2].rest.translation = Vec3f(0, 0.06f, 0.01f);
  c.skeleton.joints[2].rest.rotation = Quatf(Eigen::AngleAxisf(0.4f, Vec3f::UnitX()));
  const std::vector<Affine3d> model = restModelMatrices(c.skeleton);
  std::vector<SkinSlot> slots;
  for (std::size_t j = 0; j < 3; ++j)
    slots.push_back({JointId(j), model[j].inverse().cast<float>()});
  SkinBuilder builder(slots, c.mesh.vertexCount());
  Diagnostics notes;
  for (const Vec3f& p : c.mesh.positions) {
    const float neck = std::clamp((-0.06f - p.y()) / 0.04f, 0.0f, 1.0f);
    std::vector<Influence> row = {{1, neck}, {2, 1 - neck}};
    std::erase_if(row, [](const Influence& i) { return i.weight <= 0; });
    builder.addVertex(row, 0, "test", notes);
  }
  c.skin = std::move(builder).finish();
  return c;
}

TEST(FaceRig, ABodyPosesAsBeforeWhileTheFaceRests) {
  Character before = headWithNeck();
  ASSERT_TRUE(validate(before));
  Character after = before;
  Diagnostics notes;
  const Result<FaceRig> rig = addFaceRig(after, {}, notes);
  ASSERT_TRUE(rig) << rig.error().text();
  ASSERT_TRUE(validate(after));
  EXPECT_EQ(after.skeleton[rig->head].name, "Head");
  Pose pose = before.restPose(), posed_after = after.restPose();
  for (std::size_t j = 1; j < 3; ++j) {
    pose.local[j].rotation = Quatf(Eigen::AngleAxisf(0.5f, Vec3f(1, 2, 3).normalized()));
    posed_after.local[j] = pose.local[j];
  }
  EXPECT_LT(maxDistance(skinned(before, pose, SkinningMethod::Linear).positions,
                        skinned(after, posed_after, SkinningMethod::Linear).positions),
            1e-6);
  // Vertices that no zone reaches keep their rows to the bit.
  std::size_t kept = 0;
  for (std::size_t v = 0; v < after.skin.vertexCount(); ++v)
    kept += std::equal(after.skin[v].begin(), after.skin[v].end(), before.skin[v].begin(),
                       before.skin[v].end());
  EXPECT_GT(kept, after.skin.vertexCount() / 2);
  // And the face obeys, whatever way the head is turned: expressions are the head's own.
  const std::vector<Vec3f> smile = inExpression(after, *rig, "joy");
  const FacePoints points = pointsOf(after);
  const Vec3f corner = positionAt(*after.findPoint("8.3"), after.mesh.triangles, smile);
  const FaceUnits units = measureFaceUnits(points);
  EXPECT_NEAR(corner.y() - points.at("8.3").y(), 0.35 * units.mouth_nose_m, 1e-6);
}

TEST(FaceRig, TheHeadAskedForNeedsNoWeightsOfItsOwn) {
  Character body = headWithNeck();
  body.skin.slots.erase(body.skin.slots.begin());  // the root's, which no vertex follows
  for (Influence& i : body.skin.influences) --i.slot;
  ASSERT_TRUE(validate(body));
  Diagnostics notes;
  const Result<FaceRig> rig = addFaceRig(body, {.head_joint = "root"}, notes);
  ASSERT_TRUE(rig) << rig.error().text();
  EXPECT_TRUE(validate(body));
  EXPECT_EQ(body.skeleton[rig->head].name, "root");
}

/// Game characters have bones in their faces: each of them carries a part of the control points.
TEST(FaceRig, BonesOfAFaceAreNotItsHead) {
  Character body = headWithNeck();
  for (const char* name : {"brow", "cheek", "jaw"}) {
    body.skeleton.joints.push_back({name, JointId(2), {}});
    body.skin.slots.push_back({JointId(body.skeleton.size() - 1), body.skin.slots[2].inverse_bind});
  }
  for (std::size_t v = 0; v < body.skin.vertexCount(); ++v)
    for (std::uint32_t i = body.skin.offsets[v]; i < body.skin.offsets[v + 1]; ++i)
      if (std::uint32_t& slot = body.skin.influences[i].slot; slot == 2)
        slot = static_cast<std::uint32_t>(3 + v % 3);
  const Result<void> good = validate(body);
  ASSERT_TRUE(good) << good.error().text();
  Diagnostics notes;
  const Result<FaceRig> rig = addFaceRig(body, {}, notes);
  ASSERT_TRUE(rig) << rig.error().text();
  EXPECT_TRUE(validate(body));
  EXPECT_EQ(body.skeleton[rig->head].name, "Head");
  EXPECT_EQ(notes.count("face-joints-below"), 1u);
}

/// The head as a part that hangs on a bone, beside a body with weights.
Character headOnABone() {
  Character c = headCalled('a');
  const auto vertex = static_cast<std::uint32_t>(c.mesh.vertexCount());
  const auto triangle = static_cast<std::uint32_t>(c.mesh.triangles.size());
  for (const Vec3f& p : {Vec3f(0, -0.5f, 0), Vec3f(0.1f, -0.5f, 0), Vec3f(0, -0.4f, 0)})
    c.mesh.positions.push_back(p);
  const std::size_t count = c.mesh.positions.size();
  if (!c.mesh.normals.empty()) c.mesh.normals.resize(count, Vec3f(0, 0, 1));
  if (!c.mesh.tangents.empty()) c.mesh.tangents.resize(count, Vec4f(1, 0, 0, 1));
  if (!c.mesh.uvs.empty()) c.mesh.uvs.resize(count, Vec2f(0, 0));
  if (!c.mesh.colours.empty()) c.mesh.colours.resize(count, Vec4f(1, 1, 1, 1));
  c.mesh.triangles.push_back({vertex, vertex + 1, vertex + 2});
  c.instances[0].rigid = true;
  c.instances[0].joint = JointId(1);
  MeshInstance body;
  body.name = "body";
  body.first_part = static_cast<std::uint32_t>(c.parts.size());
  body.part_count = 1;
  body.first_vertex = vertex;
  body.vertex_count = 3;
  body.first_morph = static_cast<std::uint32_t>(c.morphs.size());
  c.instances.push_back(body);
  MeshPart part;
  part.name = "body";
  part.first_triangle = triangle;
  part.triangle_count = 1;
  part.first_vertex = vertex;
  part.vertex_count = 3;
  c.parts.push_back(part);
  c.skeleton.joints = {{"root", JointId(), {}}, {"Head", JointId(0), {}}};
  const std::vector<SkinSlot> slots = {{JointId(0), Affine3f::Identity()},
                                       {JointId(1), Affine3f::Identity()}};
  SkinBuilder builder(slots, c.mesh.vertexCount());
  builder.addRigidVertices(vertex, 1);
  builder.addRigidVertices(3, 0);
  c.skin = std::move(builder).finish();
  return c;
}

TEST(FaceRig, AHeadThatHangsOnABoneGetsAFace) {
  Character head = headOnABone();
  const Result<void> good = validate(head);
  ASSERT_TRUE(good) << good.error().text();
  Diagnostics notes;
  const Result<FaceRig> rig = addFaceRig(head, {}, notes);
  ASSERT_TRUE(rig) << rig.error().text();
  EXPECT_TRUE(validate(head));
  EXPECT_EQ(head.skeleton[rig->head].name, "Head");
  EXPECT_FALSE(head.instances[0].rigid);
  const FacePoints points = pointsOf(head);
  const std::vector<Vec3f> smile = inExpression(head, *rig, "joy");
  const Vec3f corner = positionAt(*head.findPoint("8.3"), head.mesh.triangles, smile);
  EXPECT_NEAR(corner.y() - points.at("8.3").y(), 0.35 * measureFaceUnits(points).mouth_nose_m,
              1e-6);
}

TEST(FaceRig, WhatIsWrongIsSaid) {
  Diagnostics notes;
  Character head = headCalled('a');
  const Character copy = head;
  head.points.pop_back();
  const Result<FaceRig> missing = addFaceRig(head, {}, notes);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("1 control point is missing"), std::string::npos);
  head = copy;
  ASSERT_TRUE(addFaceRig(head, {}, notes));
  EXPECT_FALSE(addFaceRig(head, {}, notes)) << "twice";
  Character body = headWithNeck();
  EXPECT_FALSE(addFaceRig(body, {.head_joint = "Haed"}, notes));
  EXPECT_FALSE(addFaceRig(body, {.weights = {.max_influences = 0}}, notes));
  EXPECT_TRUE(addFaceRig(body, {.head_joint = "Head"}, notes));
}

using FaceRigFile = testing_support::FolderTest;

TEST_F(FaceRigFile, SurvivesAGlb) {
  const Rigged r = rigged('c');
  Diagnostics notes;
  ASSERT_TRUE(saveCharacter(r.head, folder_ / "rigged.glb", notes));
  const Result<Character> again = loadCharacter(folder_ / "rigged.glb", {}, notes);
  ASSERT_TRUE(again) << again.error().text();
  const std::optional<FaceRig> rig = findFaceRig(*again);
  ASSERT_TRUE(rig);
  EXPECT_EQ(again->skeleton[rig->head].name, "head");
  EXPECT_EQ(again->points.size(), 28u);
  for (const std::string_view n : controlPointNumbers())
    EXPECT_EQ(again->findPoint(n)->triangle, r.head.findPoint(n)->triangle);
  ASSERT_EQ(again->clips.size(), r.head.clips.size());
  for (const std::string_view name : {"surprise", "blink"})
    EXPECT_LT(maxDistance(inExpression(*again, *rig, name), inExpression(r.head, r.rig, name)),
              1e-6);
}

/// Where lips go sideways they stay on the arch that they lie on at rest.
TEST(FaceRig, CornersDrawnOutwardsGoBackAsWell) {
  const FacePoints points = pointsOf(headCalled('a'));
  const double depth = 0.5 * (points.at("8.1") + points.at("8.2")).z() -
                       0.5 * (points.at("8.3") + points.at("8.4")).z();
  const double half = 0.5 * (points.at("8.3") - points.at("8.4")).x();
  ASSERT_GT(depth, 0);
  const std::vector<PointDisplacement> moves = {{"8.3", Vec3d(0.1 * half, 0.002, 0)},
                                                {"8.4", Vec3d(0.1 * half, 0, 0)},
                                                {"8.1", Vec3d(0, 0.003, 0.001)},
                                                {"5.1", Vec3d(0.01, 0, 0)}};
  const std::vector<PointDisplacement> slid = slidLips(moves, points);
  ASSERT_EQ(slid.size(), moves.size());
  for (std::size_t i = 0; i < moves.size(); ++i) {
    EXPECT_EQ(slid[i].point, moves[i].point);
    EXPECT_NEAR(slid[i].displacement_m.x(), moves[i].displacement_m.x(), 1e-12);
    EXPECT_NEAR(slid[i].displacement_m.y(), moves[i].displacement_m.y(), 1e-12);
  }
  EXPECT_NEAR(slid[0].displacement_m.z(), -(1.1 * 1.1 - 1) * depth, 1e-6);
  EXPECT_NEAR(slid[1].displacement_m.z(), (1 - 0.9 * 0.9) * depth, 1e-6);
  EXPECT_NEAR(slid[2].displacement_m.z(), 0.001, 1e-6);
  EXPECT_EQ(slid[3].displacement_m, moves[3].displacement_m);
}

TEST(FaceRig, PartsThatClipsMoveGoOnMoving) {
  Character head = makeSyntheticHead(syntheticHeadA()).value();
  // The face on one node, and a hat on another below it, which a clip lifts.
  head.skeleton.joints = {{.name = "face", .parent = {}, .rest = {}},
                          {.name = "hat", .parent = JointId(0), .rest = {}}};
  head.joint_source.clear();
  const auto first = static_cast<std::uint32_t>(head.mesh.vertexCount());
  for (const Vec3f& p : {Vec3f(-0.1f, 0.3f, 0), Vec3f(0.1f, 0.3f, 0), Vec3f(0, 0.4f, 0)}) {
    head.mesh.positions.push_back(p);
    if (!head.mesh.normals.empty()) head.mesh.normals.push_back(Vec3f::UnitZ());
    if (!head.mesh.uvs.empty()) head.mesh.uvs.push_back(Vec2f::Zero());
    if (!head.mesh.tangents.empty()) head.mesh.tangents.push_back({1, 0, 0, 1});
  }
  head.mesh.triangles.push_back({first, first + 1, first + 2});
  SkinBuilder skin({{.joint = JointId(0)}, {.joint = JointId(1)}}, first + 3);
  skin.addRigidVertices(first, 0);
  skin.addRigidVertices(3, 1);
  head.skin = std::move(skin).finish();
  head.parts.clear();
  head.instances.clear();
  addDefaultParts(head);
  MeshInstance& face = head.instances.front();
  face.rigid = true;
  face.joint = JointId(0);
  face.vertex_count = first;
  MeshInstance hat = face;
  hat.joint = JointId(1);
  hat.first_vertex = first;
  hat.vertex_count = 3;
  hat.first_part = 1;
  head.instances.push_back(hat);
  head.parts.front().vertex_count = first;
  head.parts.front().triangle_count -= 1;
  MeshPart own = head.parts.front();
  own.first_vertex = first;
  own.vertex_count = 3;
  own.first_triangle = static_cast<std::uint32_t>(head.mesh.triangles.size() - 1);
  own.triangle_count = 1;
  head.parts.push_back(own);
  head.clips.push_back({"lift",
                        {{.channel = Channel::Translation,
                          .joint = JointId(1),
                          .times_s = {0, 1},
                          .values = {0, 0, 0, 0, 0.2f, 0}}}});
  Diagnostics notes;
  ASSERT_TRUE(addFaceRig(head, {}, notes));
  Pose pose = head.restPose();
  sampleClip(head.clips.front(), 1, pose);
  const TriMesh posed = poseCharacter(head, pose, SkinningMethod::Linear).value();
  EXPECT_NEAR(posed.positions[first + 2].y(), 0.6f, 1e-5f);
  EXPECT_NEAR(posed.positions[0].y(), head.mesh.positions[0].y(), 1e-5f);
}

/// A head that is rolled or turned away smiles along its own face.
TEST(FaceRig, AHeadThatIsRolledMovesAlongItsOwnFace) {
  const Rigged upright = rigged('a');
  const double diagonal = bounds(upright.head.mesh.positions).diagonal();
  for (const auto& [roll, yaw] : {std::pair{30.0, 0.0}, {0.0, 30.0}, {-25.0, 20.0}, {170.0, 0.0}}) {
    SCOPED_TRACE(std::to_string(roll) + " " + std::to_string(yaw));
    const Eigen::Matrix3f turn = (Eigen::AngleAxisd(yaw * M_PI / 180, Vec3d::UnitY()) *
                                  Eigen::AngleAxisd(roll * M_PI / 180, Vec3d::UnitZ()))
                                     .toRotationMatrix()
                                     .cast<float>();
    Rigged turned{headCalled('a'), {}};
    for (Vec3f& p : turned.head.mesh.positions) p = turn * p;
    turned.head.mesh.normals.clear();
    Diagnostics notes;
    turned.rig = addFaceRig(turned.head, {}, notes).value();
    for (const std::string_view name : {"joy", "jawOpen", "blink"}) {
      const std::vector<Vec3f> a = inExpression(upright.head, upright.rig, name);
      const std::vector<Vec3f> b = inExpression(turned.head, turned.rig, name);
      double off = 0;
      for (std::size_t v = 0; v < a.size(); ++v)
        off = std::max(off, static_cast<double>((turn * a[v] - b[v]).norm()));
      // Upside down its chin recedes: up is what the points say.
      EXPECT_LT(off, (std::abs(roll) > 90 ? 2e-2 : 3e-3) * diagonal) << name;
    }
  }
}

/// A lip's point that was found inside the mouth follows its joint by next to nothing; taking it
/// where it is wanted would throw the face away.
TEST(FaceRig, APointThatHardlyFollowsItsJointStaysBehind) {
  Rigged r = rigged('a');
  const JointId lip = r.rig.joints[columnOf("8.1")];
  std::uint32_t head = 0;
  while (r.head.skin.slots[head].joint != r.rig.head) ++head;
  SkinBuilder builder(r.head.skin.slots, r.head.mesh.vertexCount());
  Diagnostics notes;
  for (std::size_t v = 0; v < r.head.mesh.vertexCount(); ++v) {
    std::vector<Influence> row(r.head.skin[v].begin(), r.head.skin[v].end());
    for (std::size_t i = 0; i < row.size(); ++i)
      if (r.head.skin.slots[row[i].slot].joint == lip) {
        const float left = 0.9999f * row[i].weight;
        row[i].weight -= left;
        row.push_back({head, left});
        break;
      }
    builder.addVertex(row, head, "test", notes);
  }
  r.head.skin = std::move(builder).finish();
  const FacePoints points = pointsOf(r.head);
  const double width = (points.at("8.3") - points.at("8.4")).norm();
  for (const std::string_view name : {"joy", "surprise", "jawOpen"})
    for (const JointMove& move : FacePoser::make(r.head, r.rig)
                                     .value()
                                     .jointMoves(expressionDisplacements(name, points).value()))
      EXPECT_LT(move.translation_m.norm(), 2 * width) << name;
}

}  // namespace
}  // namespace derm::face_rig_test
