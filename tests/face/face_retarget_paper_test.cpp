// Dutreve 2011, chapter 4: expressions there and back again between heads given by formulas, with
// the numbers of an independent double-precision prototype.
#include <gtest/gtest.h>

#include "derm/face/face_retarget.h"

#include "math/round_trip_tables.h"

namespace derm::face_retarget_paper_test {
namespace {

using namespace testing_support;

NeutralFace neutralOf(const HeadShape& head) {
  const ControlPoints points = controlPoints(head);
  return {TrackSpace::Model, points.labels, points.positions};
}

FaceRetargeter between(const HeadShape& from, const HeadShape& to, RbfKernel kernel,
                       double amplitude = 0) {
  Diagnostics notes;
  Result<FaceRetargeter> out = FaceRetargeter::bind(
      neutralOf(from), neutralOf(to), {.kernel = kernel, .amplitude = amplitude}, notes);
  EXPECT_TRUE(out) << out.error().text();
  EXPECT_TRUE(notes.empty());
  return *std::move(out);
}

std::vector<Vec3d> mapped(const FaceRetargeter& retargeter, const std::vector<Vec3d>& source) {
  std::vector<Vec3d> out(retargeter.neutral().size());
  retargeter.map(source, out);
  return out;
}

/// Eq. 4.1 over the source's diagonal.
double roundTrip(const HeadShape& from, const HeadShape& to, RbfKernel kernel,
                 const FaceExpression& expression) {
  const std::vector<Vec3d> start = withExpression(from, expression);
  const std::vector<Vec3d> back =
      mapped(between(to, from, kernel), mapped(between(from, to, kernel), start));
  double sum = 0;
  for (std::size_t i = 0; i < start.size(); ++i) sum += (back[i] - start[i]).norm();
  return sum / from.diagonal;
}

TEST(FaceRetargetPaper, Tables46And47_BiharmonicIsBestOnAllPairs) {
  expectRoundTrips([](const RoundTripTable& table, RbfKernel kernel, std::size_t expression) {
    return roundTrip(
        table.head(table.from), table.head(table.to), kernel,
        expression == 0 ? FaceExpression{"neutral", {}} : faceExpressions()[expression - 1]);
  });
}

/// A blink of the source's left eye; `closed` 1 = the lids' points meet half way.
std::vector<Vec3d> blinking(const HeadShape& head, double closed) {
  ControlPoints points = controlPoints(head);
  Vec3d &upper = points.positions[points.at("3.1")], &lower = points.positions[points.at("3.3")];
  const Vec3d gap = upper - lower;
  upper -= 0.5 * closed * gap;
  lower += 0.5 * closed * gap;
  return points.positions;
}

TEST(FaceRetargetPaper, ABlinkShutsTheEyeWhateverTheAmplitude) {
  const std::array heads = {kHumanA, kHumanB, kCartoonC};
  for (const HeadShape& from : heads)
    for (const HeadShape& to : heads)
      for (const double amplitude : {0.0, 0.3, 0.5, 1.0})
        for (const RbfKernel kernel : {RbfKernel::Biharmonic, RbfKernel::Triharmonic}) {
          const FaceRetargeter retargeter = between(from, to, kernel, amplitude);
          const ControlPoints points = controlPoints(to);
          const std::size_t upper = points.at("3.1"), lower = points.at("3.3");
          const std::vector<Vec3d> shut = mapped(retargeter, blinking(from, 1));
          EXPECT_LE((shut[upper] - shut[lower]).norm(), 1e-9);
          // On the way there it closes evenly, and too much does not pass through.
          const Vec3d rest = points.positions[upper] - points.positions[lower];
          double last = 1;
          for (int step = 1; step <= 12; ++step) {
            const std::vector<Vec3d> now = mapped(retargeter, blinking(from, 0.1 * step));
            const double open = (now[upper] - now[lower]).dot(rest) / rest.squaredNorm();
            EXPECT_LE(open, last + 1e-9);
            EXPECT_GE(open, -1e-9);
            last = open;
          }
        }
}

/// Length of all motions over what the faces' units make of the source's.
double amplitudeOf(const HeadShape& from, const HeadShape& to, double amplitude) {
  const FaceRetargeter retargeter = between(from, to, RbfKernel::Biharmonic, amplitude);
  double ratio = 0;
  for (const FaceExpression& expression : faceExpressions()) {
    const std::vector<Vec3d> got = mapped(retargeter, withExpression(from, expression));
    const std::vector<Vec3d> wanted = withExpression(to, expression);
    const std::vector<Vec3d> rest = controlPoints(to).positions;
    double moved = 0, reference = 0;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      moved += (got[i] - rest[i]).norm();
      reference += (wanted[i] - rest[i]).norm();
    }
    ratio += moved / reference / 6;
  }
  return ratio;
}

TEST(FaceRetargetPaper, AmplitudesAreThoseOfThePrototypeAndTheBlendBringsThemToOne) {
  struct Pair {
    HeadShape from, to;
    double by_map;
  };
  for (const Pair& p : {Pair{kHumanA, kHumanB, .90}, Pair{kHumanB, kHumanA, 1.14},
                        Pair{kHumanA, kCartoonC, 1.10}, Pair{kCartoonC, kHumanA, .98},
                        Pair{kHumanB, kCartoonC, 1.31}, Pair{kCartoonC, kHumanB, .91}}) {
    EXPECT_NEAR(amplitudeOf(p.from, p.to, 0), p.by_map, 0.006);
    EXPECT_NEAR(amplitudeOf(p.from, p.to, 1), 1, 0.02);
    EXPECT_LT(std::abs(amplitudeOf(p.from, p.to, 0.5) - 1), 0.6 * std::abs(p.by_map - 1) + 0.02);
  }
}

TEST(FaceRetargetPaper, APictureMovesAFaceAndExpressionsGiveItsDepth) {
  // Seen from straight before; y of a picture goes down, pixels are 0.1 cm.
  const auto seen = [](std::vector<Vec3d> points) {
    for (Vec3d& p : points) p = Vec3d(320 + 10 * p.x(), 240 - 10 * p.y(), 0);
    return points;
  };
  const auto errorOf = [&](const HeadShape& head, FaceDepth depth, bool flat) {
    const NeutralFace face = neutralOf(head);
    NeutralFace picture{TrackSpace::Picture, face.labels, seen(face.positions)};
    Diagnostics notes;
    const Result<FaceRetargeter> retargeter =
        FaceRetargeter::bind(picture, face, {.amplitude = 0, .depth = depth}, notes);
    EXPECT_TRUE(retargeter) << retargeter.error().text();
    const std::vector<Vec3d> rest = mapped(*retargeter, picture.positions);
    double sum = 0;
    for (std::size_t i = 0; i < rest.size(); ++i)
      EXPECT_LE((rest[i] - face.positions[i]).norm(), 1e-9);
    for (const FaceExpression& expression : faceExpressions()) {
      const std::vector<Vec3d> truth = withExpression(head, expression);
      const std::vector<Vec3d> got = mapped(*retargeter, seen(truth));
      for (std::size_t i = 0; i < got.size(); ++i) {
        const Vec3d off = got[i] - truth[i];
        sum += flat ? off.head<2>().norm() : off.norm();
      }
    }
    return 100 * sum / 28 / 6 / head.diagonal;
  };
  for (const HeadShape& head : {kHumanA, kHumanB, kCartoonC}) {
    const double by_map = errorOf(head, FaceDepth::Map, false);
    const double by_expressions = errorOf(head, FaceDepth::Expressions, false);
    std::printf("depth: map %.3f (plane %.3f), expressions %.3f %%\n", by_map,
                errorOf(head, FaceDepth::Map, true), by_expressions);
    EXPECT_LT(by_map, 0.36);
    EXPECT_LT(by_expressions, 0.6 * by_map);
  }
}

}  // namespace
}  // namespace derm::face_retarget_paper_test
