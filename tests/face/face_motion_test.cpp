#include "derm/face/face_motion.h"

#include <gtest/gtest.h>

#include "derm/face/face_retarget.h"

#include "face/rigged_head.h"
#include "support/allocations.h"

namespace derm::face_motion_test {
namespace {

std::size_t at(const PointTracks& tracks, std::string_view label) {
  return static_cast<std::size_t>(std::find(tracks.labels.begin(), tracks.labels.end(), label) -
                                  tracks.labels.begin());
}

struct Rigged {
  Character head = headCalled('a');
  FaceRig rig;

  Rigged() {
    Diagnostics notes;
    rig = addFaceRig(head, {}, notes).value();
  }
  const Clip& clip(std::string_view name) const { return head.clips[head.findClip(name).value()]; }
};

TEST(FaceMotion, OfAClipIsWhereItsPointsGoOnTheSkin) {
  const Rigged r;
  const Result<PointTracks> tracks = faceMotion(r.head, r.clip("joy"), 30);
  ASSERT_TRUE(tracks) << tracks.error().text();
  EXPECT_EQ(tracks->labels.size(), 28u);
  EXPECT_TRUE(tracks->head.empty());
  EXPECT_NEAR(tracks->times_s.back(), double(r.clip("joy").duration_s()), 1e-6);
  const FacePoints points = pointsOf(r.head);
  const auto moves =
      slidLips(slidLids(expressionDisplacements("joy", points).value(), points), points);
  const std::size_t full = 15;  // 0.5 s: held
  for (const PointDisplacement& d : moves) {
    const std::size_t i = at(*tracks, d.point);
    EXPECT_LE((tracks->frame(full)[i] - tracks->neutral[i] - d.displacement_m).norm(), 1e-6);
    EXPECT_LE((tracks->frame(0)[i] - tracks->neutral[i]).norm(), 1e-6);
  }
}

TEST(FaceMotion, GoesBackIntoAClipThatDoesTheSame) {
  const Rigged r;
  for (const char* name : {"blink", "surprise"}) {
    const PointTracks tracks = faceMotion(r.head, r.clip(name)).value();
    const Result<Clip> clip = faceClip(r.head, r.rig, tracks, "again");
    ASSERT_TRUE(clip) << clip.error().text();
    ASSERT_TRUE(validate(*clip, clipTargets(r.head), "again"));
    const PointTracks again = faceMotion(r.head, *clip).value();
    ASSERT_EQ(again.frames(), tracks.frames());
    for (std::size_t i = 0; i < tracks.positions.size(); ++i)
      EXPECT_LE((again.positions[i] - tracks.positions[i]).norm(), 1e-6);
  }
}

TEST(FaceMotion, AFrameOfABorrowedFaceAllocatesNothing) {
  const Rigged r;
  const FacePoser poser = FacePoser::make(r.head, r.rig).value();
  const FacePoints points = pointsOf(r.head);
  NeutralFace face;
  for (const std::string_view number : controlPointNumbers()) {
    face.labels.emplace_back(number);
    face.positions.push_back(points.at(number));
  }
  Diagnostics notes;
  const FaceRetargeter retargeter = FaceRetargeter::bind(face, face, {}, notes).value();
  std::vector<Vec3d> moved = face.positions, out(face.positions.size());
  const auto joy = expressionDisplacements("joy", points).value();
  for (const PointDisplacement& d : joy) moved[columnOf(d.point)] += d.displacement_m;
  Pose pose = r.head.bindPose();
  const std::size_t before = testing_support::allocationCount();
  retargeter.map(moved, out);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] -= face.positions[i];
  poser.pose(std::span<const Vec3d>(out), pose);
  EXPECT_EQ(testing_support::allocationCount(), before);
  Pose wanted = r.head.bindPose();
  poser.pose(joy, wanted);
  for (const JointId joint : r.rig.joints)
    EXPECT_LE(
        (pose.local[joint.index()].translation - wanted.local[joint.index()].translation).norm(),
        1e-6f);
}

TEST(FaceMotion, TheHeadsTurnIsApartAndComesBack) {
  Rigged r;
  PointTracks tracks = faceMotion(r.head, r.clip("joy"), 10).value();
  for (std::size_t f = 0; f < tracks.frames(); ++f) {
    Transform nod;
    nod.rotation = Quatf(Eigen::AngleAxisf(0.1f * float(f), Vec3f(1, 0.3f, 0).normalized()));
    nod.translation = Vec3f(0.01f * float(f), 0, 0.02f);
    tracks.head.push_back(nod);
  }
  const Clip clip = faceClip(r.head, r.rig, tracks, "nod").value();
  const PointTracks again = faceMotion(r.head, clip, 10).value();
  ASSERT_EQ(again.head.size(), tracks.frames());
  for (std::size_t f = 0; f < tracks.frames(); ++f) {
    EXPECT_LE((again.head[f].matrixd().matrix() - tracks.head[f].matrixd().matrix()).norm(), 1e-5);
    for (std::size_t i = 0; i < tracks.labels.size(); ++i)
      EXPECT_LE((again.frame(f)[i] - tracks.frame(f)[i]).norm(), 2e-6);
  }

  // The same with the head's motion in the positions: the fit takes it out again.
  PointTracks together = tracks;
  for (std::size_t f = 0; f < tracks.frames(); ++f)
    for (std::size_t i = 0; i < tracks.labels.size(); ++i)
      together.positions[f * tracks.labels.size() + i] =
          tracks.head[f].matrixd() * tracks.frame(f)[i];
  together.head.clear();
  const Result<PointTracks> apart = withHeadApart(together);
  ASSERT_TRUE(apart) << apart.error().text();
  for (std::size_t f = 0; f < tracks.frames(); ++f) {
    EXPECT_LE((apart->head[f].matrixd().matrix() - tracks.head[f].matrixd().matrix()).norm(), 1e-4);
    for (std::size_t i = 0; i < tracks.labels.size(); ++i)
      EXPECT_LE((apart->frame(f)[i] - tracks.frame(f)[i]).norm(), 1e-5);
  }
}

TEST(FaceMotion, MorphTargetsMovePointsToo) {
  Character head = headCalled('a');
  const auto label = std::find_if(head.points.begin(), head.points.end(),
                                  [](const LabelledPoint& p) { return p.label == "8.1"; });
  ASSERT_NE(label, head.points.end());
  Triangle corners = head.mesh.triangles[label->point.triangle];
  std::sort(corners.begin(), corners.end());
  MorphTarget up{
      "up", 0, {corners.begin(), corners.end()}, std::vector<Vec3f>(3, Vec3f(0, 0.01f, 0))};
  head.morphs.push_back(up);
  for (MeshInstance& m : head.instances) m.morph_count = 1;
  Clip clip{"up", {}};
  Track track;
  track.channel = Channel::MorphWeights;
  track.morph_count = 1;
  track.times_s = {0, 1};
  track.values = {0, 1};
  clip.tracks.push_back(track);
  const PointTracks tracks = faceMotion(head, clip, 2).value();
  const std::size_t i = at(tracks, "8.1");
  EXPECT_LE((tracks.frame(1)[i] - tracks.neutral[i] - Vec3d(0, 0.005, 0)).norm(), 1e-7);
  EXPECT_LE((tracks.frame(2)[i] - tracks.neutral[i] - Vec3d(0, 0.01, 0)).norm(), 1e-7);
}

TEST(FaceMotion, BadInputIsSaid) {
  const Rigged r;
  Character blank = r.head;
  blank.points.clear();
  EXPECT_FALSE(faceMotion(blank, r.clip("joy")));
  EXPECT_FALSE(faceMotion(r.head, r.clip("joy"), 0));
  EXPECT_FALSE(faceMotion(r.head, r.clip("joy"), 1e9));
  PointTracks tracks = faceMotion(r.head, r.clip("joy"), 10).value();
  PointTracks few = tracks;
  few.labels[at(few, "3.7")] = "a";
  few.labels[at(few, "3.8")] = "b";
  few.labels[at(few, "9.1")] = "c";
  few.labels[at(few, "9.2")] = "d";
  few.labels[at(few, "9.3")] = "e";
  EXPECT_FALSE(withHeadApart(few));
  PointTracks apart = tracks;
  apart.head.resize(apart.frames());
  EXPECT_FALSE(withHeadApart(apart));
}

}  // namespace
}  // namespace derm::face_motion_test
