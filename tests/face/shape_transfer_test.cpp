#include "derm/face/shape_transfer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "derm/cast/heads.h"
#include "derm/mesh/triangle_tree.h"

#include "face/face_fixtures.h"

namespace derm::shape_transfer_test {
namespace {

using testing_support::sameVertices;

/// Displacements of all vertices.
std::vector<Vec3f> dense(const MorphTarget& morph, std::size_t vertex_count) {
  std::vector<Vec3f> out(vertex_count, Vec3f::Zero());
  for (std::size_t i = 0; i < morph.vertices.size(); ++i)
    out[morph.vertices[i]] = morph.positions[i];
  return out;
}

double largestDifference(const std::vector<Vec3f>& a, const std::vector<Vec3f>& b) {
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    out = std::max(out, static_cast<double>((a[i] - b[i]).norm()));
  return out;
}

double diagonal(const TriMesh& mesh) {
  Eigen::AlignedBox3f box;
  for (const Vec3f& p : mesh.positions) box.extend(Eigen::Vector3f(p));
  return box.diagonal().norm();
}

template <class Move>
MorphTarget shapeOf(const TriMesh& mesh, const char* name, const Move& move) {
  MorphTarget out;
  out.name = name;
  for (std::uint32_t v = 0; v < mesh.vertexCount(); ++v)
    if (const Vec3f d = move(mesh.positions[v]); d.norm() > 0) {
      out.vertices.push_back(v);
      out.positions.push_back(d);
    }
  return out;
}

float bump(const Vec3f& p, const Vec3f& centre, float radius) {
  const float t = (p - centre).squaredNorm() / (radius * radius);
  return t < 1 ? (1 - t) * (1 - t) * (1 - t) : 0.0f;
}

/// Head A with a jaw that drops, corners of the mouth that rise, and one shape of nothing.
struct Donor {
  Character head;
  std::vector<MorphTarget> shapes;

  explicit Donor(const SyntheticHeadDesc& desc = syntheticHeadA())
      : head(*makeSyntheticHead(desc)) {
    const float mouth = 0.01f * static_cast<float>(desc.shape.mouth_y);
    const Vec3f chin(0, 0.01f * static_cast<float>(desc.shape.chin_y), 0.08f);
    shapes.push_back(shapeOf(head.mesh, "jawOpen", [&](const Vec3f& p) -> Vec3f {
      if (p.y() > mouth) return Vec3f::Zero();
      return Vec3f(0, -0.02f, -0.004f) * bump(p, chin, 0.07f);
    }));
    shapes.push_back(shapeOf(head.mesh, "mouthSmileLeft", [&](const Vec3f& p) -> Vec3f {
      return Vec3f(0.006f, 0.008f, 0) * bump(p, Vec3f(0.026f, mouth, 0.09f), 0.03f);
    }));
    shapes.push_back({.name = "tongueOut"});
  }
};

TEST(ShapeTransfer, OntoTheDonorItselfShapesStayAsTheyAre) {
  const Donor donor;
  const TriMesh& mesh = donor.head.mesh;
  Diagnostics notes;
  for (const ShapeTransferMethod method :
       {ShapeTransferMethod::DeformationTransfer, ShapeTransferMethod::ScaledDisplacement}) {
    const Result<std::vector<MorphTarget>> out =
        transferShapes({mesh, donor.head.points}, donor.shapes, {mesh, donor.head.points},
                       sameVertices(mesh), {.method = method}, notes);
    ASSERT_TRUE(out.ok()) << out.error().text();
    ASSERT_EQ(out->size(), donor.shapes.size());
    for (std::size_t i = 0; i < out->size(); ++i) {
      EXPECT_EQ((*out)[i].name, donor.shapes[i].name);
      EXPECT_LE(largestDifference(dense((*out)[i], mesh.vertexCount()),
                                  dense(donor.shapes[i], mesh.vertexCount())),
                1.1e-6 * diagonal(mesh))
          << donor.shapes[i].name;
      EXPECT_TRUE(validate((*out)[i], mesh.vertexCount(), "").ok());
    }
    EXPECT_TRUE(out->back().vertices.empty());
  }
}

TEST(ShapeTransfer, PosesScalesAndUnitsOfTheTargetDoNotMatter) {
  const Donor donor;
  const TriMesh& mesh = donor.head.mesh;
  const Mat3f turn = Eigen::AngleAxisf(1.1f, Eigen::Vector3f(1, 2, -0.5f).normalized()).matrix();
  const float scale = 100;
  TriMesh moved = mesh;
  for (Vec3f& p : moved.positions) p = scale * (turn * p) + Vec3f(3, -2, 7);
  Diagnostics notes;
  const auto out = transferShapes({mesh, donor.head.points}, donor.shapes,
                                  {moved, donor.head.points}, sameVertices(mesh), {}, notes);
  ASSERT_TRUE(out.ok()) << out.error().text();
  for (std::size_t i = 0; i < out->size(); ++i) {
    std::vector<Vec3f> expected = dense(donor.shapes[i], mesh.vertexCount());
    for (Vec3f& d : expected) d = scale * (turn * d);
    // Floats of positions a thousand times as large as the displacements' error.
    EXPECT_LE(largestDifference(dense((*out)[i], mesh.vertexCount()), expected),
              2e-5 * diagonal(moved));
  }
}

TEST(ShapeTransfer, TheOrderOfVerticesAndTrianglesDoesNotMatter) {
  const Donor donor;
  const TriMesh& mesh = donor.head.mesh;
  const std::size_t n = mesh.vertexCount();
  TriMesh shuffled;
  shuffled.positions.resize(n);
  const auto to = [n](std::size_t v) { return static_cast<std::uint32_t>((v * 4003 + 17) % n); };
  ASSERT_EQ(std::gcd(n, std::size_t{4003}), 1u);
  for (std::size_t v = 0; v < n; ++v) shuffled.positions[to(v)] = mesh.positions[v];
  std::vector<SurfacePoint> corners = testing_support::cornersOf(mesh);
  HeadCorrespondence back;
  back.source_points.resize(n);
  back.confidence.assign(n, 1);
  for (std::size_t v = 0; v < n; ++v) back.source_points[to(v)] = corners[v];
  for (std::size_t t = mesh.triangles.size(); t-- > 0;)
    shuffled.triangles.push_back(
        {to(mesh.triangles[t][1]), to(mesh.triangles[t][2]), to(mesh.triangles[t][0])});
  std::vector<LabelledPoint> points = donor.head.points;
  for (LabelledPoint& p : points) {
    const Vec3f b = p.point.barycentric;
    p.point.triangle = static_cast<std::uint32_t>(mesh.triangles.size() - 1 - p.point.triangle);
    p.point.barycentric = Vec3f(b[1], b[2], b[0]);
  }
  Diagnostics notes;
  const auto out =
      transferShapes({mesh, donor.head.points}, donor.shapes, {shuffled, points}, back, {}, notes);
  ASSERT_TRUE(out.ok()) << out.error().text();
  for (std::size_t i = 0; i < out->size(); ++i) {
    const std::vector<Vec3f> found = dense((*out)[i], n);
    const std::vector<Vec3f> expected = dense(donor.shapes[i], n);
    double largest = 0;
    for (std::size_t v = 0; v < n; ++v)
      largest = std::max(largest, static_cast<double>((found[to(v)] - expected[v]).norm()));
    EXPECT_LE(largest, 1.1e-6 * diagonal(mesh));
  }
}

/// Head B's skin where it has a counterpart on head A, by nearest points after scaling: crude, but
/// another mesh.
HeadCorrespondence crude(const TriMesh& source, const TriMesh& target) {
  HeadCorrespondence out;
  const TriangleTree tree(source.positions, source.triangles);
  for (const Vec3f& p : target.positions) {
    const auto nearest = nearestSurfacePoint(tree, p.cast<double>(), 0.03);
    const bool face = p.z() > 0.02f && nearest.has_value();
    out.source_points.push_back(
        face ? *nearest : SurfacePoint{HeadCorrespondence::kNoTriangle, Vec3f::UnitX()});
    out.confidence.push_back(face ? 1.0f : 0.0f);
  }
  return out;
}

TEST(ShapeTransfer, JawOpenPartsTheLipsOfAnotherHead) {
  const Donor donor;
  const Result<Character> target = makeSyntheticHead(syntheticHeadB());
  ASSERT_TRUE(target.ok());
  Diagnostics notes;
  const auto out = transferShapes({donor.head.mesh, donor.head.points}, donor.shapes,
                                  {target->mesh, target->points},
                                  crude(donor.head.mesh, target->mesh), {}, notes);
  ASSERT_TRUE(out.ok()) << out.error().text();
  const std::vector<Vec3f> jaw = dense(out->front(), target->mesh.vertexCount());
  const FaceSlits slits = findFaceSlits(target->mesh, target->points, notes);
  ASSERT_TRUE(slits.mouth.has_value());
  const auto middle = [](const std::vector<std::uint32_t>& chain, double share) {
    return chain[static_cast<std::size_t>(share * static_cast<double>(chain.size() - 1))];
  };
  // No vertex of the upper lip follows the lower one, though a correspondence by nearness takes one
  // for the other.
  for (const double share : {0.3, 0.4, 0.5, 0.6, 0.7}) {
    EXPECT_LT(jaw[middle(slits.mouth->lower, share)].y(), -0.006f) << share;
    EXPECT_GT(jaw[middle(slits.mouth->upper, share)].y(), -0.002f) << share;
  }
}

TEST(ShapeTransfer, FadesSmoothlyWhereTheDonorEnds) {
  const Donor donor;
  const TriMesh& mesh = donor.head.mesh;
  HeadCorrespondence upper = sameVertices(mesh);
  // The chin has no counterpart.
  for (std::size_t v = 0; v < mesh.vertexCount(); ++v)
    if (mesh.positions[v].y() < -0.075f)
      upper.source_points[v].triangle = HeadCorrespondence::kNoTriangle;
  Diagnostics notes;
  const auto out = transferShapes({mesh, donor.head.points}, donor.shapes,
                                  {mesh, donor.head.points}, upper, {}, notes);
  ASSERT_TRUE(out.ok()) << out.error().text();
  const std::vector<Vec3f> jaw = dense(out->front(), mesh.vertexCount());
  const std::vector<Vec3f> whole = dense(donor.shapes.front(), mesh.vertexCount());
  float largest_step = 0, largest_before = 0, farthest = 0;
  for (const Triangle& t : mesh.triangles)
    for (std::size_t c = 0; c < 3; ++c) {
      largest_step = std::max(largest_step, (jaw[t[c]] - jaw[t[(c + 1) % 3]]).norm());
      largest_before = std::max(largest_before, (whole[t[c]] - whole[t[(c + 1) % 3]]).norm());
    }
  for (std::size_t v = 0; v < mesh.vertexCount(); ++v)
    if (mesh.positions[v].z() < -0.05f) farthest = std::max(farthest, jaw[v].norm());
  EXPECT_LT(largest_step, 1.5f * largest_before);  // no tear
  EXPECT_LT(farthest, 0.1f * 0.02f);
}

TEST(ShapeTransfer, LeavesOutWhatDoesNotMove) {
  const Donor donor;
  const TriMesh& mesh = donor.head.mesh;
  Diagnostics notes;
  const auto out = transferShapes({mesh, donor.head.points}, donor.shapes,
                                  {mesh, donor.head.points}, sameVertices(mesh), {}, notes);
  ASSERT_TRUE(out.ok());
  EXPECT_LT((*out)[1].vertices.size(), mesh.vertexCount() / 4);
}

TEST(ShapeTransfer, SaysWhatIsWrong) {
  const Donor donor;
  const TriMesh& mesh = donor.head.mesh;
  const ShapeHead head{mesh, donor.head.points};
  Diagnostics notes;
  const auto fails = [&](const HeadCorrespondence& c, const ShapeTransferDesc& desc) {
    const auto out = transferShapes(head, donor.shapes, head, c, desc, notes);
    return out.ok() ? std::string() : out.error().text();
  };
  const HeadCorrespondence good = sameVertices(mesh);
  EXPECT_NE(fails(good, {.gradient_length = 0}).find("gradient_length"), std::string::npos);
  EXPECT_NE(fails(good, {.fade_length = 11}).find("fade_length"), std::string::npos);
  EXPECT_NE(fails(good, {.shut_below = -1}).find("shut_below"), std::string::npos);
  HeadCorrespondence few = good;
  few.source_points.pop_back();
  EXPECT_NE(fails(few, {}).find("points, but the target head has"), std::string::npos);
  HeadCorrespondence none = good;
  for (SurfacePoint& p : none.source_points) p.triangle = HeadCorrespondence::kNoTriangle;
  EXPECT_NE(fails(none, {}).find("no vertex of the target has a counterpart"), std::string::npos);
  int calls = 0;
  const auto cancelled = transferShapes(head, donor.shapes, head, good, {}, notes,
                                        [&](double, std::string_view) { return ++calls < 2; });
  ASSERT_FALSE(cancelled.ok());
  EXPECT_EQ(cancelled.error().code, ErrorCode::Cancelled);
}

TEST(ShapeTransfer, WithoutControlPointsAWordIsSaid) {
  const Donor donor;
  Diagnostics notes;
  const auto out = transferShapes({donor.head.mesh}, donor.shapes, {donor.head.mesh},
                                  sameVertices(donor.head.mesh), {}, notes);
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(notes.count("shapes-no-openings"), 1u);
}

}  // namespace
}  // namespace derm::shape_transfer_test
