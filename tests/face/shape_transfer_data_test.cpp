#include <chrono>
#include <cmath>

#include <gtest/gtest.h>

#include "derm/face/shape_transfer.h"
#include "derm/io/character_file.h"
#include "derm/mesh/triangle_tree.h"

#include "face/face_fixtures.h"
#include "support/unpacked.h"

/// Shapes of the generic head of faces-ict on its four people, whose vertices correspond.
namespace derm::shape_transfer_data_test {
namespace {

namespace fs = std::filesystem;

class ShapeTransferData : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    folder_ = testing_support::unpackedFolder("faces-ict");
    if (folder_.empty()) GTEST_SKIP() << "test data \"faces-ict\" is not here";
    Diagnostics notes;
    Result<Character> donor = loadCharacter(folder_ / "ict_generic_55morphs.glb", {}, notes);
    ASSERT_TRUE(donor.ok()) << donor.error().text();
    donor_ = *std::move(donor);
    donor_points_ = pointsOf(donor_.mesh);
  }

  std::vector<LabelledPoint> pointsOf(const TriMesh& mesh) const {
    return testing_support::ictPoints((folder_ / "landmarks68.txt").string(), mesh);
  }
  TriMesh person(const std::string& name) const {
    TriMesh mesh = donor_.mesh;
    mesh.positions = testing_support::ictPositions((folder_ / (name + "_neutral.obj")).string());
    return mesh;
  }

  fs::path folder_;
  Character donor_;
  std::vector<LabelledPoint> donor_points_;
};

/// Largest distance of an upper margin's vertices to the lower margin, over the opening at rest.
double gapLeft(const FaceSlit& slit, const TriMesh& mesh, const MorphTarget& shape) {
  std::vector<Vec3f> at = mesh.positions;
  for (std::size_t i = 0; i < shape.vertices.size(); ++i)
    at[shape.vertices[i]] += shape.positions[i];
  double largest = 0;
  for (const std::uint32_t u : slit.upper) {
    const Vec3d p = at[u].cast<double>();
    double nearest = INFINITY;
    for (std::size_t i = 0; i + 1 < slit.lower.size(); ++i) {
      const Vec3d a = at[slit.lower[i]].cast<double>(), b = at[slit.lower[i + 1]].cast<double>();
      nearest = std::min(nearest, (a + closestOnSegment(p, a, b) * (b - a) - p).norm());
    }
    largest = std::max(largest, nearest);
  }
  return largest / slit.opening_m;
}

TEST_P(ShapeTransferData, ABlinkShutsTheEyesAndShapesStayNearTheModelsOwn) {
  const TriMesh mesh = person(GetParam());
  ASSERT_EQ(mesh.positions.size(), donor_.mesh.vertexCount());
  const std::vector<LabelledPoint> points = pointsOf(mesh);
  Diagnostics notes;
  const auto start = std::chrono::steady_clock::now();
  const auto out = transferShapes({donor_.mesh, donor_points_}, donor_.morphs, {mesh, points},
                                  testing_support::sameVertices(mesh), {}, notes);
  RecordProperty(
      "seconds",
      std::to_string(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()));
  ASSERT_TRUE(out.ok()) << out.error().text();
  const FaceSlits slits = findFaceSlits(mesh, points, notes);
  ASSERT_TRUE(slits.left_eye && slits.right_eye);
  double moved = 0, off = 0;
  for (std::size_t k = 0; k < out->size(); ++k) {
    const MorphTarget& shape = (*out)[k];
    if (shape.name.starts_with("eyeBlink")) {
      const FaceSlit& eye = shape.name.ends_with("L") ? *slits.left_eye : *slits.right_eye;
      EXPECT_LE(gapLeft(eye, mesh, shape), 0.005) << shape.name;
    }
    // The model gives every person the same displacements: a reference, not the truth.
    std::vector<Vec3f> difference(mesh.vertexCount(), Vec3f::Zero());
    for (std::size_t i = 0; i < shape.vertices.size(); ++i)
      difference[shape.vertices[i]] = shape.positions[i];
    const MorphTarget& own = donor_.morphs[k];
    for (std::size_t i = 0; i < own.vertices.size(); ++i) {
      difference[own.vertices[i]] -= own.positions[i];
      moved += static_cast<double>(own.positions[i].norm());
    }
    for (const Vec3f& d : difference) off += static_cast<double>(d.norm());
  }
  RecordProperty("off", std::to_string(off / moved));
  EXPECT_LT(off / moved, 0.11);  // measured 0.05 to 0.09
}

INSTANTIATE_TEST_SUITE_P(People, ShapeTransferData,
                         ::testing::Values("id_A", "id_B", "id_C", "id_sample"));

class ShapeTransferSelf : public ShapeTransferData {};

TEST_P(ShapeTransferSelf, OntoTheDonorItselfShapesStayAsTheyAre) {
  Diagnostics notes;
  const auto out =
      transferShapes({donor_.mesh, donor_points_}, donor_.morphs, {donor_.mesh, donor_points_},
                     testing_support::sameVertices(donor_.mesh), {.shut_below = 0}, notes);
  ASSERT_TRUE(out.ok()) << out.error().text();
  for (std::size_t k = 0; k < out->size(); ++k) {
    const MorphTarget& shape = (*out)[k];
    if (shape.name == "mouthClose") continue;  // its lips overlap: they are made to meet
    std::vector<Vec3f> difference(donor_.mesh.vertexCount(), Vec3f::Zero());
    for (std::size_t i = 0; i < shape.vertices.size(); ++i)
      difference[shape.vertices[i]] = shape.positions[i];
    for (std::size_t i = 0; i < donor_.morphs[k].vertices.size(); ++i)
      difference[donor_.morphs[k].vertices[i]] -= donor_.morphs[k].positions[i];
    float largest = 0;
    for (const Vec3f& d : difference) largest = std::max(largest, d.norm());
    EXPECT_LE(largest, 1.2e-6f * 47.52f) << shape.name;  // of the head's diagonal
  }
}

INSTANTIATE_TEST_SUITE_P(Generic, ShapeTransferSelf, ::testing::Values("generic"));

}  // namespace
}  // namespace derm::shape_transfer_data_test
