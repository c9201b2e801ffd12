#include "derm/face/face_retarget.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "math/analytic_heads.h"

namespace derm::face_retarget_test {
namespace {

using namespace testing_support;

NeutralFace neutralOf(const HeadShape& head) {
  const ControlPoints points = controlPoints(head);
  return {TrackSpace::Model, points.labels, points.positions};
}

FaceRetargeter bound(const NeutralFace& from, const NeutralFace& to,
                     const FaceRetargetDesc& desc = {}) {
  Diagnostics notes;
  Result<FaceRetargeter> out = FaceRetargeter::bind(from, to, desc, notes);
  EXPECT_TRUE(out) << out.error().text();
  return *std::move(out);
}

std::vector<Vec3d> mapped(const FaceRetargeter& retargeter, const std::vector<Vec3d>& source) {
  std::vector<Vec3d> out(retargeter.neutral().size());
  retargeter.map(source, out);
  return out;
}

double farthest(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b) {
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i) out = std::max(out, (a[i] - b[i]).norm());
  return out;
}

std::vector<Vec3d> surprised(const HeadShape& head) {
  return withExpression(head, faceExpressions()[3]);
}

constexpr std::array kAmplitudes = {0.0, 0.5, 1.0};

TEST(FaceRetarget, AFaceToItselfIsTheIdentity) {
  for (const double amplitude : kAmplitudes)
    EXPECT_LE(
        farthest(mapped(bound(neutralOf(kHumanA), neutralOf(kHumanA), {.amplitude = amplitude}),
                        surprised(kHumanA)),
                 surprised(kHumanA)),
        1e-9);
}

TEST(FaceRetarget, AtRestStaysAtRestExactly) {
  for (const double amplitude : kAmplitudes) {
    const FaceRetargeter r =
        bound(neutralOf(kHumanA), neutralOf(kCartoonC), {.amplitude = amplitude});
    EXPECT_EQ(mapped(r, neutralOf(kHumanA).positions), neutralOf(kCartoonC).positions);
  }
}

/// Turned, a thousand times smaller, elsewhere.
std::vector<Vec3d> elsewhere(std::vector<Vec3d> points, const Mat3d& turn) {
  for (Vec3d& p : points) p = 0.001 * (turn * p) + Vec3d(7, -3, 2);
  return points;
}

TEST(FaceRetarget, WhereAndHowLargeTheSourceIsDoesNotMatter) {
  // Beyond 40 degrees, where a face is not taken to look along +z.
  const Mat3d turn = Eigen::AngleAxisd(1.1, Vec3d(1, 2, -0.5).normalized()).toRotationMatrix();
  const NeutralFace from = neutralOf(kHumanA), to = neutralOf(kCartoonC);
  NeutralFace moved = from;
  moved.positions = elsewhere(from.positions, turn);
  const std::vector<Vec3d> plain = mapped(bound(from, to, {.amplitude = 0}), surprised(kHumanA));
  const std::vector<Vec3d> other =
      mapped(bound(moved, to, {.amplitude = 0}), elsewhere(surprised(kHumanA), turn));
  EXPECT_LE(farthest(plain, other), 1e-8);
}

TEST(FaceRetarget, AMirroredPairMovesAsTheMirrorImage) {
  const auto mirrored = [](const NeutralFace& face, const std::vector<Vec3d>& points) {
    std::vector<Vec3d> out(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::string other = mirroredLabel(face.labels[i]);
      const auto at = static_cast<std::size_t>(
          std::find(face.labels.begin(), face.labels.end(), other) - face.labels.begin());
      out[at] = Vec3d(-points[i].x(), points[i].y(), points[i].z());
    }
    return out;
  };
  const NeutralFace from = neutralOf(kHumanA), to = neutralOf(kCartoonC);
  std::vector<Vec3d> smirk = from.positions;
  smirk[controlPoints(kHumanA).at("8.3")] += Vec3d(0.6, 0.9, 0.1);
  smirk[controlPoints(kHumanA).at("4.2")] += Vec3d(0.1, 0.5, 0);
  for (const double amplitude : kAmplitudes) {
    const FaceRetargeter r = bound(from, to, {.amplitude = amplitude});
    EXPECT_LE(farthest(mirrored(to, mapped(r, smirk)), mapped(r, mirrored(from, smirk))), 1e-9);
  }
}

TEST(FaceRetarget, LabelsMayComeInAnyOrderAndByNameOrNumber) {
  const NeutralFace from = neutralOf(kHumanA), to = neutralOf(kHumanB);
  const std::vector<Vec3d> plain = mapped(bound(from, to), surprised(kHumanA));
  NeutralFace shuffled = from;
  std::reverse(shuffled.labels.begin(), shuffled.labels.end());
  std::reverse(shuffled.positions.begin(), shuffled.positions.end());
  for (std::string& label : shuffled.labels) label = std::string(findFaceFeature(label)->name);
  shuffled.labels.emplace_back("somebody's marker");
  shuffled.positions.emplace_back(1, 2, 3);
  std::vector<Vec3d> frame = surprised(kHumanA);
  std::reverse(frame.begin(), frame.end());
  frame.emplace_back(5, 5, 5);
  EXPECT_LE(farthest(plain, mapped(bound(shuffled, to), frame)), 1e-9);
}

TEST(FaceRetarget, PointsThatTheSourceLacksStay) {
  NeutralFace from = neutralOf(kHumanA);
  std::vector<Vec3d> frame = surprised(kHumanA);
  from.labels.resize(10);
  from.positions.resize(10);
  frame.resize(10);
  Diagnostics notes;
  const Result<FaceRetargeter> r = FaceRetargeter::bind(from, neutralOf(kHumanB), {}, notes);
  ASSERT_TRUE(r) << r.error().text();
  EXPECT_EQ(r->sharedCount(), 10u);
  EXPECT_EQ(notes.count("retarget-points"), 1u);
  EXPECT_EQ(notes.count("retarget-units"), 1u);
  const std::vector<Vec3d> out = mapped(*r, frame);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Vec3d& rest = neutralOf(kHumanB).positions[i];
    EXPECT_TRUE(i < 10 || out[i] == rest);
    EXPECT_TRUE(out[i].allFinite());
  }
}

TEST(FaceRetarget, BadInputIsSaid) {
  const NeutralFace from = neutralOf(kHumanA), to = neutralOf(kHumanB);
  const auto errorOf = [&](const NeutralFace& a, const NeutralFace& b,
                           const FaceRetargetDesc& desc = {}) {
    Diagnostics notes;
    const Result<FaceRetargeter> r = FaceRetargeter::bind(a, b, desc, notes);
    return r ? "no error" : r.error().text();
  };
  NeutralFace few = from;
  few.labels = {"8.1", "upper_lip", "nose_tip", "mine"};
  few.positions.resize(4);
  EXPECT_EQ(errorOf(few, to),
            "points: source and target share 2 labels, but four are needed: 9.3, 8.1");
  NeutralFace strange = few;
  strange.labels = {"a", "b", "c", "d"};
  EXPECT_EQ(errorOf(strange, to), "points: source and target share 0 labels, but four are needed");
  NeutralFace twice = few;
  twice.labels = {"8.1", "upper_lip_middle", "9.3", "2.1"};
  EXPECT_EQ(errorOf(twice, to), "the source has the point \"8.1\" twice");
  EXPECT_EQ(errorOf(from, to, {.amplitude = 1.5}), "amplitude: must be from 0 to 1");
  EXPECT_EQ(errorOf(from, to, {.amplitude = std::nan("")}), "amplitude: must be from 0 to 1");
  EXPECT_EQ(errorOf(from, to, {.depth_smoothing = 0}), "depth_smoothing: must be above 0");
  NeutralFace picture = to;
  picture.space = TrackSpace::Picture;
  EXPECT_EQ(errorOf(from, picture), "target: a picture cannot be a target");
  NeutralFace broken = from;
  broken.positions[3].x() = std::nan("");
  EXPECT_NE(errorOf(broken, to), "no error");
}

TEST(FaceRetarget, FourPointsInARowAreEnoughForSomething) {
  NeutralFace from{
      TrackSpace::Model, {"a", "b", "c", "d"}, {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}}};
  NeutralFace to = from;
  for (Vec3d& p : to.positions) p *= 2;
  const FaceRetargeter r = bound(from, to);
  std::vector<Vec3d> frame = from.positions;
  for (Vec3d& p : frame) p.y() += 1;
  const std::vector<Vec3d> out = mapped(r, frame);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR((out[i] - to.positions[i]).norm(), 2, 1e-9);
}

TEST(FaceRetarget, HeadsTurnAlikeAndGoInProportion) {
  const NeutralFace from = neutralOf(kHumanA);
  NeutralFace to = from;
  for (Vec3d& p : to.positions) p = 3 * p + Vec3d(1, 2, 3);
  const FaceRetargeter r = bound(from, to);
  Transform nod;
  nod.rotation = Quatf(Eigen::AngleAxisf(0.4f, Vec3f::UnitX()));
  nod.translation = Vec3f(0.1f, -2, 0.5f);
  const Transform out = r.mapHead(nod);
  // What it does to a point of the face: three times as far.
  for (std::size_t i = 0; i < from.positions.size(); ++i) {
    const Vec3d wanted = 3 * (nod.matrixd() * from.positions[i]) + Vec3d(1, 2, 3);
    EXPECT_LE((out.matrixd() * to.positions[i] - wanted).norm(), 1e-4);
  }
  EXPECT_LE((r.mapHead({}).matrixd().matrix() - Affine3d::Identity().matrix()).norm(), 1e-6);
}

}  // namespace
}  // namespace derm::face_retarget_test
