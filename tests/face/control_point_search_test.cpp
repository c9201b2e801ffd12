#include "derm/face/control_point_search.h"

#include <gtest/gtest.h>

#include "derm/cast/cast.h"
#include "derm/face/face_slits.h"
#include "derm/face/open_jaw.h"
#include "derm/io/character_file.h"
#include "derm/mesh/measures.h"

#include "face_fixtures.h"
#include "rigged_head.h"
#include "support/unpacked.h"

namespace derm::control_point_search_test {
namespace {

ReferenceHead castHead(const std::string& name, int* made = nullptr) {
  return {name, [name, made] {
            if (made != nullptr) ++*made;
            return makeCastMember(name);
          }};
}

/// % of the head's diagonal.
double meanError(const TriMesh& head, const std::vector<LabelledPoint>& found,
                 const std::vector<LabelledPoint>& truth) {
  double sum = 0;
  for (const LabelledPoint& p : found)
    for (const LabelledPoint& q : truth)
      if (p.label == q.label)
        sum += double((positionAt(p.point, head.triangles, head.positions) -
                       positionAt(q.point, head.triangles, head.positions))
                          .norm());
  return 100 * sum / double(found.size()) / bounds(head.positions).diagonal();
}

/// [1] Largest distance of a lid's point from its margin's vertices, over the eye's width.
double farthestFromMargin(const TriMesh& head, const std::vector<LabelledPoint>& points) {
  Diagnostics notes;
  const FaceSlits slits = findFaceSlits(head, points, notes);
  double farthest = 0;
  const auto look = [&](const std::optional<FaceSlit>& slit, std::string_view label, bool upper) {
    EXPECT_TRUE(slit.has_value());
    if (!slit) return;
    for (const LabelledPoint& p : points) {
      if (p.label != label) continue;
      const Vec3f at = positionAt(p.point, head.triangles, head.positions);
      double nearest = 1;
      const std::vector<std::uint32_t>& chain = upper ? slit->upper : slit->lower;
      for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
        const Vec3f a = head.positions[chain[i]], b = head.positions[chain[i + 1]];
        const float t = std::clamp((at - a).dot(b - a) / (b - a).squaredNorm(), 0.0f, 1.0f);
        nearest = std::min(nearest, double((a + t * (b - a) - at).norm()) / slit->width_m);
      }
      farthest = std::max(farthest, nearest);
    }
  };
  look(slits.left_eye, "3.1", true);
  look(slits.left_eye, "3.3", false);
  look(slits.right_eye, "3.2", true);
  look(slits.right_eye, "3.4", false);
  return farthest;
}

/// [1] How far the lips' points lie off those known at most, over the mouth's width.
double farthestOfLips(const TriMesh& head, const std::vector<LabelledPoint>& found,
                      const std::vector<LabelledPoint>& truth) {
  double farthest = 0, width = 1;
  const auto at = [&](const std::vector<LabelledPoint>& points, std::string_view label) {
    for (const LabelledPoint& p : points)
      if (p.label == label) return positionAt(p.point, head.triangles, head.positions);
    ADD_FAILURE() << label;
    return Vec3f(0, 0, 0);
  };
  width = double((at(truth, "8.3") - at(truth, "8.4")).norm());
  for (const std::string_view label : {"8.1", "8.2", "8.3", "8.4"})
    farthest = std::max(farthest, double((at(found, label) - at(truth, label)).norm()) / width);
  return farthest;
}

TEST(ControlPointSearch, TakesTheFirstGoodReferenceAndPutsLidsOnTheirMargins) {
  const Character woman = makeCastMember("woman").value();
  int toons = 0;
  const std::array<ReferenceHead, 2> references = {castHead("man"), castHead("toon", &toons)};
  Diagnostics notes;
  const Result<FoundControlPoints> found =
      findControlPoints(woman.mesh, references, HeadPose::Unknown, notes);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->reference, "man");
  EXPECT_EQ(toons, 0);
  EXPECT_EQ(found->points.size(), 28u);
  EXPECT_GT(found->confidence, 0.5);
  EXPECT_LT(meanError(woman.mesh, found->points, woman.points), 0.5);
  EXPECT_LT(farthestFromMargin(woman.mesh, found->points), 0.002);
}

TEST(ControlPointSearch, OfPoorFitsTheBestCounts) {
  const Character woman = makeCastMember("woman").value();
  const std::array<ReferenceHead, 2> references = {castHead("toon"), castHead("man")};
  Diagnostics notes;
  const Result<FoundControlPoints> found =
      findControlPoints(woman.mesh, references, HeadPose::Upright, notes);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->reference, "man");
  EXPECT_EQ(notes.count("doubtful-registration"), 0u) << "the toon's doubts are not the man's";
}

TEST(ControlPointSearch, AReferenceThatCannotBeMadeIsAnError) {
  const std::array<ReferenceHead, 1> references = {castHead("nobody")};
  Diagnostics notes;
  EXPECT_FALSE(findControlPoints(makeCastMember("head-a").value().mesh, references,
                                 HeadPose::Upright, notes));
}

/// A head that came with its mouth open: lips that are apart are not those of a mouth that is shut.
TEST(ControlPointSearch, AMouthThatIsOpenAtRest) {
  Character woman = makeCastMember("woman").value();
  const JawOpening jaw = jawOpening(woman);
  ASSERT_EQ(jaw.moves.size(), woman.mesh.vertexCount());
  const TriMesh shut = woman.mesh;
  for (const double share : {0.0, 0.4, 0.7, 1.0}) {
    SCOPED_TRACE(share);
    woman.mesh = withOpenJaw(shut, jaw, share);
    const std::array<ReferenceHead, 1> references = {castHead("man")};
    Diagnostics notes;
    const Result<FoundControlPoints> found =
        findControlPoints(woman.mesh, references, HeadPose::Unknown, notes);
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_EQ(notes.count("mouth-open"), share > 0 ? 1u : 0u);
    RecordProperty("mean_" + std::to_string(share),
                   std::to_string(meanError(woman.mesh, found->points, woman.points)));
    RecordProperty("lips_" + std::to_string(share),
                   std::to_string(farthestOfLips(woman.mesh, found->points, woman.points)));
    EXPECT_LT(meanError(woman.mesh, found->points, woman.points), 0.8);
    EXPECT_LT(farthestOfLips(woman.mesh, found->points, woman.points), 0.12);
    EXPECT_GT(found->confidence, 0.35);
    // A smile on top of it does not tear.
    Character rigged = woman;
    rigged.points = found->points;
    const FaceRig rig = addFaceRig(rigged, {}, notes).value();
    EXPECT_EQ(notes.count("face-lips-joined"), 0u);
    const double stretch = largestStretch(rigged.mesh, inExpression(rigged, rig, "joy", true));
    RecordProperty("stretch_" + std::to_string(share), std::to_string(stretch));
    EXPECT_LT(stretch, 8);
  }
}

/// What a vertex of the target is on the source does not depend on whose mouth is open.
TEST(ControlPointSearch, LipsOfAnOpenMouthCorrespond) {
  const Character man = makeCastMember("man").value();
  const Character woman = makeCastMember("woman").value();
  const TriMesh open = withOpenJaw(woman.mesh, jawOpening(woman), 0.7);
  RegistrationDesc desc;
  desc.source_jaw = [&] { return jawOpening(man); };
  Diagnostics notes;
  const Result<HeadRegistration> fit = registerHeads(man.mesh, man.points, open, desc, notes);
  ASSERT_TRUE(fit) << fit.error().text();
  EXPECT_GT(fit->jaw, 0.4);
  EXPECT_LT(fit->jaw, 1.2);
  ASSERT_EQ(fit->source_positions.size(), man.mesh.vertexCount());
  const Result<HeadCorrespondence> dense = denseCorrespondence(man.mesh, open, *fit);
  ASSERT_TRUE(dense) << dense.error().text();
  // Both have one topology of the cast: lips are the same rows of vertices.
  const FaceSlit mouth = *findFaceSlits(woman.mesh, woman.points, notes).mouth;
  const double middle = double(man.mesh.positions[jawOpening(man).mouth.upper.front()].y());
  std::size_t lips = 0, wrong = 0;
  for (const auto& [chain, sign] : {std::pair{&mouth.upper, 1.0}, {&mouth.lower, -1.0}})
    for (std::size_t i = chain->size() / 4; i < chain->size() * 3 / 4; ++i) {
      if (!dense->has((*chain)[i])) continue;
      ++lips;
      const SurfacePoint& at = dense->source_points[(*chain)[i]];
      const double height =
          double(positionAt(at, man.mesh.triangles, fit->source_positions).y()) - middle;
      wrong += sign * height < -0.002;
    }
  EXPECT_GT(lips, mouth.upper.size() / 2);
  EXPECT_LE(wrong, lips / 20);
  // Asked for only where a mouth may be open.
  int asked = 0;
  desc.source_jaw = [&] {
    ++asked;
    return JawOpening();
  };
  ASSERT_TRUE(registerHeads(man.mesh, man.points, woman.mesh, desc, notes));
  EXPECT_EQ(asked, 0);
}

/// Points of scanned heads from a painted one: what "the eye's outer corner" means differs too.
TEST(ControlPointSearchData, ScannedHeadsGetTheirPoints) {
  DERM_PACKED_DATA_OR_SKIP(folder, "faces-ict");
  Diagnostics notes;
  TriMesh head =
      loadCharacter(folder / "ict_generic_55morphs.glb", {.metres_per_unit = 0.01}, notes)
          .value()
          .mesh;
  head.normals.clear();
  for (const std::string name : {"generic", "id_A", "id_sample"}) {
    SCOPED_TRACE(name);
    head.positions = testing_support::ictPositions((folder / (name + "_neutral.obj")).string());
    const std::array<ReferenceHead, 1> references = {castHead("man")};
    const Result<FoundControlPoints> found =
        findControlPoints(head, references, HeadPose::Unknown, notes);
    ASSERT_TRUE(found) << found.error().text();
    const std::vector<LabelledPoint> truth =
        testing_support::ictPoints((folder / "landmarks68.txt").string(), head);
    EXPECT_LT(meanError(head, found->points, truth), 1.4);
    EXPECT_LT(farthestFromMargin(head, found->points), 0.002);
    EXPECT_LT(farthestOfLips(head, found->points, truth), 0.12);
  }
}

/// The same people with their jaws dropped by the model's own shape.
TEST(ControlPointSearchData, ScannedHeadsWithOpenMouthsGetTheirPoints) {
  DERM_PACKED_DATA_OR_SKIP(folder, "faces-ict");
  Diagnostics notes;
  const Character model =
      loadCharacter(folder / "ict_generic_55morphs.glb", {.metres_per_unit = 0.01}, notes).value();
  const auto drop = std::find_if(model.morphs.begin(), model.morphs.end(),
                                 [](const MorphTarget& m) { return m.name == "jawOpen"; });
  ASSERT_NE(drop, model.morphs.end());
  for (const auto& [name, share] :
       {std::pair{"generic", 0.3}, {"generic", 1.0}, {"id_B", 0.6}, {"id_C", 1.0}}) {
    SCOPED_TRACE(std::string(name) + " " + std::to_string(share));
    TriMesh head = model.mesh;
    head.normals.clear();
    head.positions =
        testing_support::ictPositions((folder / (std::string(name) + "_neutral.obj")).string());
    // The file's unit is the model's: both come in centimetres here.
    const double unit = bounds(head.positions).diagonal() / bounds(model.mesh.positions).diagonal();
    for (std::size_t i = 0; i < drop->vertices.size(); ++i)
      head.positions[drop->vertices[i]] +=
          static_cast<float>(share * (unit > 10 ? 100 : 1)) * drop->positions[i];
    const std::array<ReferenceHead, 1> references = {castHead("man")};
    Diagnostics own;
    const Result<FoundControlPoints> found =
        findControlPoints(head, references, HeadPose::Unknown, own);
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_EQ(own.count("mouth-open"), 1u);
    const std::vector<LabelledPoint> truth =
        testing_support::ictPoints((folder / "landmarks68.txt").string(), head);
    const std::string key = std::string(name) + "_" + std::to_string(share);
    RecordProperty("mean_" + key, std::to_string(meanError(head, found->points, truth)));
    RecordProperty("lips_" + key, std::to_string(farthestOfLips(head, found->points, truth)));
    EXPECT_LT(meanError(head, found->points, truth), 1.7);
    EXPECT_LT(farthestOfLips(head, found->points, truth), 0.22);
  }
}

}  // namespace
}  // namespace derm::control_point_search_test
