#include <array>
#include <cmath>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "derm/face/face_retarget.h"
#include "derm/io/character_file.h"

#include "face/face_fixtures.h"
#include "support/unpacked.h"

/// The 55 expressions of faces-ict between all pairs of its five heads. Its model adds the same
/// displacements to every head: a reference, not the truth.
namespace derm::face_retarget_data_test {
namespace {

namespace fs = std::filesystem;

/// One of the model's heads at rest: its control points; the same and the inner lips.
struct Person {
  std::string name;
  NeutralFace face;
  NeutralFace with_lips;
};

class FaceRetargetData : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing_support::unpackedFolder("faces-ict");
    if (folder_.empty()) GTEST_SKIP() << "test data \"faces-ict\" is not here";
    Diagnostics notes;
    Result<Character> model = loadCharacter(folder_ / "ict_generic_55morphs.glb", {}, notes);
    ASSERT_TRUE(model.ok()) << model.error().text();
    model_ = *std::move(model);
    ASSERT_EQ(model_.morphs.size(), 55u);
    points_ = testing_support::ictPoints((folder_ / "landmarks68.txt").string(), model_.mesh);
    // The inner margins of the lips: landmarks 60 to 67.
    const std::vector<SurfacePoint> corners = testing_support::cornersOf(model_.mesh);
    std::ifstream landmarks(folder_ / "landmarks68.txt");
    const std::array inner = {"2.5", "2.7", "2.2", "2.6", "2.4", "2.8", "2.3", "2.9"};
    for (std::string line; std::getline(landmarks, line);) {
      std::istringstream words(line);
      std::size_t landmark = 0, vertex = 0;
      if (words >> landmark >> vertex && landmark >= 60)
        inner_lips_.push_back({inner.at(landmark - 60), corners[vertex]});
    }
    ASSERT_EQ(inner_lips_.size(), inner.size());
    for (const char* name : {"generic", "id_A", "id_B", "id_C", "id_sample"}) {
      TriMesh mesh = model_.mesh;
      mesh.positions =
          testing_support::ictPositions((folder_ / (std::string(name) + "_neutral.obj")).string());
      Person person{name, {}, {}};
      const auto add = [&mesh](std::span<const LabelledPoint> points, NeutralFace& face) {
        for (const LabelledPoint& p : points) {
          face.labels.push_back(p.label);
          face.positions.push_back(
              positionAt(p.point, mesh.triangles, mesh.positions).cast<double>());
        }
      };
      add(points_, person.face);
      person.with_lips = person.face;
      add(inner_lips_, person.with_lips);
      people_.push_back(std::move(person));
    }
  }

  /// What a shape does to the points.
  std::vector<Vec3d> motionOf(const MorphTarget& shape,
                              std::span<const LabelledPoint> points) const {
    std::vector<Vec3f> moves(model_.mesh.vertexCount(), Vec3f::Zero());
    for (std::size_t i = 0; i < shape.vertices.size(); ++i)
      moves[shape.vertices[i]] = shape.positions[i];
    std::vector<Vec3d> out;
    for (const LabelledPoint& p : points)
      out.push_back(valueAt<Vec3f>(p.point, model_.mesh.triangles, moves).cast<double>());
    return out;
  }

  std::size_t at(std::string_view label) const {
    return static_cast<std::size_t>(
        std::find_if(points_.begin(), points_.end(),
                     [&](const LabelledPoint& p) { return p.label == label; }) -
        points_.begin());
  }

  const MorphTarget& shape(std::string_view name) const {
    return *std::find_if(model_.morphs.begin(), model_.morphs.end(),
                         [&](const MorphTarget& m) { return m.name == name; });
  }

  struct Shares {
    double amplitude = 0, direction = 0, both = 0;
    std::size_t count = 0;
  };
  /// Of the points that move by a millimetre or more, over all pairs and shapes.
  Shares goodShares(double amplitude) const {
    Shares out;
    for (const Person& from : people_)
      for (const Person& to : people_) {
        if (&from == &to) continue;
        Diagnostics notes;
        const Result<FaceRetargeter> retargeter =
            FaceRetargeter::bind(from.face, to.face, {.amplitude = amplitude}, notes);
        EXPECT_TRUE(retargeter) << retargeter.error().text();
        std::vector<Vec3d> got(to.face.positions.size());
        for (const MorphTarget& shape : model_.morphs) {
          const std::vector<Vec3d> moves = motionOf(shape, points_);
          std::vector<Vec3d> source = from.face.positions;
          for (std::size_t i = 0; i < moves.size(); ++i) source[i] += moves[i];
          retargeter->map(source, got);
          for (std::size_t i = 0; i < moves.size(); ++i) {
            const double length = moves[i].norm();
            if (length < 0.1) continue;  // the model is in centimetres
            const Vec3d moved = got[i] - to.face.positions[i];
            const double ratio = moved.norm() / length;
            const double cosine = moved.dot(moves[i]) / std::max(1e-12, moved.norm() * length);
            const bool fits = ratio >= 0.8 && ratio <= 1.25, straight = cosine >= 0.9;
            ++out.count;
            out.amplitude += fits;
            out.direction += straight;
            out.both += fits && straight;
          }
        }
      }
    out.amplitude /= double(out.count);
    out.direction /= double(out.count);
    out.both /= double(out.count);
    return out;
  }

  fs::path folder_;
  Character model_;
  std::vector<LabelledPoint> points_, inner_lips_;
  std::vector<Person> people_;
};

TEST_F(FaceRetargetData, MotionsKeepTheirLengthAndDirection) {
  for (const double amplitude : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    const Shares shares = goodShares(amplitude);
    std::printf("amplitude %.2f: length %.2f %%, direction %.2f %%, both %.2f %% of %zu points\n",
                amplitude, 100 * shares.amplitude, 100 * shares.direction, 100 * shares.both,
                shares.count);
    if (amplitude == FaceRetargetDesc{}.amplitude) {
      EXPECT_GE(shares.both, 0.95);
    }
  }
}

TEST_F(FaceRetargetData, EyesThatCloseClose) {
  for (const auto& [name, upper, lower] :
       {std::tuple{"eyeBlink_L", "3.1", "3.3"}, std::tuple{"eyeBlink_R", "3.2", "3.4"}})
    for (const Person& from : people_)
      for (const Person& to : people_) {
        Diagnostics notes;
        const FaceRetargeter retargeter =
            FaceRetargeter::bind(from.face, to.face, {}, notes).value();
        const std::vector<Vec3d> moves = motionOf(shape(name), points_);
        std::vector<Vec3d> source = from.face.positions, got(source.size());
        for (std::size_t i = 0; i < moves.size(); ++i) source[i] += moves[i];
        const std::size_t a = at(upper), b = at(lower);
        // The model's blink does not fit every head: what is left, as a share, stays what it is.
        const auto open = [&](const std::vector<Vec3d>& now, const NeutralFace& face) {
          const Vec3d rest = face.positions[a] - face.positions[b];
          return (now[a] - now[b]).dot(rest) / rest.squaredNorm();
        };
        retargeter.map(source, got);
        EXPECT_NEAR(open(got, to.face), std::max(0.0, open(source, from.face)), 0.08)
            << from.name << " " << to.name;
        // Shut to the end, exactly.
        source[a] = source[b];
        retargeter.map(source, got);
        EXPECT_LE((got[a] - got[b]).norm(), 1e-9);
      }
}

TEST_F(FaceRetargetData, LipsThatMeetMeet) {
  std::vector<LabelledPoint> points = points_;
  points.insert(points.end(), inner_lips_.begin(), inner_lips_.end());
  // Every shape, and the two that are made for each other.
  std::vector<std::vector<Vec3d>> motions;
  for (const MorphTarget& one : model_.morphs) motions.push_back(motionOf(one, points));
  motions.push_back(motionOf(shape("jawOpen"), points));
  const std::vector<Vec3d> close = motionOf(shape("mouthClose"), points);
  for (std::size_t i = 0; i < close.size(); ++i) motions.back()[i] += close[i];

  std::size_t met = 0;
  double widest = 0;
  for (const Person& from : people_)
    for (const Person& to : people_) {
      Diagnostics notes;
      const FaceRetargeter retargeter =
          FaceRetargeter::bind(from.with_lips, to.with_lips, {}, notes).value();
      std::vector<Vec3d> got(points.size());
      for (const std::vector<Vec3d>& moves : motions) {
        std::vector<Vec3d> source = from.with_lips.positions;
        for (std::size_t i = 0; i < moves.size(); ++i) source[i] += moves[i];
        retargeter.map(source, got);
        const std::size_t lips = points_.size();
        for (const auto& [upper, lower] : {std::pair{2, 6}, {1, 7}, {3, 5}}) {
          const std::size_t a = lips + std::size_t(upper), b = lips + std::size_t(lower);
          const auto open = [&](const std::vector<Vec3d>& now, const NeutralFace& face) {
            return (now[a] - now[b]).dot((face.positions[a] - face.positions[b]).normalized());
          };
          EXPECT_GE(open(got, to.with_lips), -1e-9);
          // The model lets lips pass through each other; here they meet.
          if (open(source, from.with_lips) > 0) continue;
          ++met;
          widest = std::max(widest, open(got, to.with_lips));
        }
      }
    }
  std::printf("%zu times lips met; widest gap left %.3f mm\n", met, 10 * widest);
  EXPECT_GT(met, 100u);
  EXPECT_LE(widest, 1e-9);
}

}  // namespace
}  // namespace derm::face_retarget_data_test
