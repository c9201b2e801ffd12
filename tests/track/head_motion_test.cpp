#include "derm/track/head_motion.h"

#include <cmath>

#include <gtest/gtest.h>

#include "track/marked_film.h"

namespace derm::head_motion_test {
namespace {

using testing_support::MarkedFilm;
using testing_support::MarkedFilmDesc;

/// What a perfect tracker would give.
PointTracks exactTracks(const MarkedFilm& film, int step = 4) {
  PointTracks t;
  t.space = TrackSpace::Picture;
  t.labels = film.labels();
  t.neutral = film.truth(0).picture;
  for (int f = 0; f < film.desc().frames; f += step) {
    t.times_s.push_back(film.time(f));
    const MarkedFilm::Truth truth = film.truth(f);
    t.positions.insert(t.positions.end(), truth.picture.begin(), truth.picture.end());
  }
  return t;
}

HeadMotionDesc camera(const MarkedFilm& film) {
  HeadMotionDesc desc;
  desc.width_px = film.desc().width;
  desc.height_px = film.desc().height;
  desc.focal_px = film.desc().focal_px;
  return desc;
}

/// [cm] mean distance, across the face, of markers from where they are in the head's own frame.
double meanError(const MarkedFilm& film, const HeadMotion& motion, int step = 4) {
  double sum = 0;
  const std::size_t n = film.labels().size();
  for (std::size_t f = 0; f < motion.tracks.frames(); ++f) {
    const MarkedFilm::Truth truth = film.truth(static_cast<int>(f) * step);
    for (std::size_t i = 0; i < n; ++i)
      sum += 100 * (motion.on_face[f * n + i] - truth.face[i]).head<2>().norm();
  }
  return sum / static_cast<double>(motion.tracks.frames() * n);
}

TEST(HeadMotion, TheFirstFrameStaysAndTheHeadStartsAtRest) {
  const MarkedFilm film;
  Diagnostics notes;
  const PointTracks in = exactTracks(film);
  const auto motion = separateHead(in, film.face(), camera(film), notes);
  ASSERT_TRUE(motion.ok()) << motion.error().text();
  EXPECT_EQ(motion->method, HeadMethod::Pnp);
  ASSERT_TRUE(validate(motion->tracks, "tracks").ok());
  for (std::size_t i = 0; i < in.labels.size(); ++i)
    EXPECT_EQ(motion->tracks.positions[i], in.positions[i]);
  EXPECT_LT(motion->tracks.head[0].translation.norm(), 1e-6f);
  EXPECT_TRUE(notes.empty());
}

TEST(HeadMotion, ExactTracksGiveTheFaceToAFiftiethOfACentimetre) {
  const MarkedFilm film;
  Diagnostics notes;
  const auto motion = separateHead(exactTracks(film), film.face(), camera(film), notes);
  ASSERT_TRUE(motion.ok());
  EXPECT_LT(meanError(film, *motion), 0.02);
}

TEST(HeadMotion, AHeadThatOnlyTurnsLeavesNoMotionOfTheFace) {
  MarkedFilmDesc desc;
  desc.frames = 240;  // the head goes on as before, the expressions come later
  const MarkedFilm film(desc);
  PointTracks t = exactTracks(film, 1);
  t.times_s.resize(9);  // before the first expression
  t.positions.resize(9 * t.labels.size());
  Diagnostics notes;
  const auto motion = separateHead(t, film.face(), camera(film), notes);
  ASSERT_TRUE(motion.ok());
  for (std::size_t f = 0; f < t.frames(); ++f)
    for (std::size_t i = 0; i < t.labels.size(); ++i)
      EXPECT_LT((motion->tracks.frame(f)[i] - t.positions[i]).norm(), 0.05);
  EXPECT_GT(motion->tracks.head[8].translation.norm(),
            0.001f);  // [m] and that is what was taken out
}

TEST(HeadMotion, GuessedCameraIsNearAndDoesLittleHarm) {
  const MarkedFilm film;
  Diagnostics notes;
  HeadMotionDesc desc = camera(film);
  desc.focal_px = 0;
  const auto motion = separateHead(exactTracks(film), film.face(), desc, notes);
  ASSERT_TRUE(motion.ok());
  EXPECT_TRUE(motion->focal_guessed);
  EXPECT_NEAR(motion->focal_px, film.desc().focal_px, 0.15 * film.desc().focal_px);
  EXPECT_LT(meanError(film, *motion), 0.05);
}

TEST(HeadMotion, AnotherPersonsFaceWillDo) {
  const MarkedFilm film;
  const Character other = *makeSyntheticHead(syntheticHeadB());
  std::vector<Marker> face;
  for (const LabelledPoint& p : other.points)
    face.push_back(
        {p.label, positionAt(p.point, other.mesh.triangles, other.mesh.positions).cast<double>()});
  Diagnostics notes;
  const PointTracks in = exactTracks(film);
  const auto motion = separateHead(in, face, camera(film), notes);
  ASSERT_TRUE(motion.ok());
  EXPECT_EQ(motion->method, HeadMethod::Pnp);
  // Stable points stay, to what their motion in anger and surprise is.
  for (std::size_t i = 0; i < in.labels.size(); ++i)
    if (in.labels[i] == "3.7" || in.labels[i] == "3.12") {
      for (std::size_t f = 0; f < in.frames(); ++f)
        EXPECT_LT((motion->tracks.frame(f)[i] - in.positions[i]).norm(), 6.0);
    }
}

TEST(HeadMotion, OneStablePointThatIsWrongDoesNotTurnTheHead) {
  const MarkedFilm film;
  PointTracks in = exactTracks(film);
  Diagnostics notes;
  const auto right = separateHead(in, film.face(), camera(film), notes);
  const std::size_t n = in.labels.size();
  std::size_t tip = 0;
  while (in.labels[tip] != "3.8") ++tip;
  for (std::size_t f = 3; f < in.frames(); ++f) in.positions[f * n + tip] += Vec3d(25, -10, 0);
  const auto wrong = separateHead(in, film.face(), camera(film), notes);
  ASSERT_TRUE(right.ok() && wrong.ok());
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t f = 0; f < in.frames(); ++f)
    for (std::size_t i = 0; i < n; ++i)
      if (i != tip) sum += (wrong->tracks.frame(f)[i] - right->tracks.frame(f)[i]).norm(), ++count;
  EXPECT_LT(sum / static_cast<double>(count), 1.0);
}

TEST(HeadMotion, WithoutAFaceTheSimilarityIsTakenOutAndANoteSaysSo) {
  const MarkedFilm film;
  const PointTracks in = exactTracks(film);
  Diagnostics notes;
  const auto motion = separateHead(in, {}, camera(film), notes);
  ASSERT_TRUE(motion.ok());
  EXPECT_EQ(motion->method, HeadMethod::Similarity);
  EXPECT_EQ(notes.count("head-by-similarity"), 1u);
  double before = 0, after = 0;
  for (std::size_t i = 0; i < in.labels.size(); ++i) {
    if (in.labels[i] != "3.7" && in.labels[i] != "3.8") continue;
    for (std::size_t f = 0; f < in.frames(); ++f) {
      before += (in.frame(f)[i] - in.positions[i]).norm();
      after += (motion->tracks.frame(f)[i] - in.positions[i]).norm();
    }
  }
  EXPECT_LT(after, 0.25 * before);
}

TEST(HeadMotion, UnknownLabelsKeepTheirMotionAndBadNumbersAreNamed) {
  PointTracks t;
  t.space = TrackSpace::Picture;
  t.labels = {"dot1", "dot2"};
  t.neutral = {Vec3d(1, 2, 0), Vec3d(5, 6, 0)};
  t.times_s = {0, 1};
  t.positions = {Vec3d(1, 2, 0), Vec3d(5, 6, 0), Vec3d(2, 2, 0), Vec3d(6, 6, 0)};
  Diagnostics notes;
  HeadMotionDesc desc;
  desc.width_px = desc.height_px = 100;
  const auto motion = separateHead(t, {}, desc, notes);
  ASSERT_TRUE(motion.ok());
  EXPECT_EQ(motion->method, HeadMethod::None);
  EXPECT_EQ(motion->tracks.positions, t.positions);
  EXPECT_TRUE(motion->tracks.head.empty());
  EXPECT_EQ(notes.count("head-unknown"), 1u);
  desc.focal_px = -1;
  EXPECT_FALSE(separateHead(t, {}, desc, notes).ok());
  desc.focal_px = 0;
  desc.width_px = 0;
  EXPECT_FALSE(separateHead(t, {}, desc, notes).ok());
}

}  // namespace
}  // namespace derm::head_motion_test
