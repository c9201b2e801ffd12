#include "derm/face/face_mix.h"

#include <gtest/gtest.h>

#include "derm/face/expressions.h"
#include "derm/face/face_motion.h"
#include "derm/face/face_regions.h"

#include "face/rigged_head.h"

namespace derm::face_mix_test {
namespace {

/// A face that goes from rest to an expression in a second, and back in the next.
PointTracks inAndOut(const Character& head, std::string_view expression, double strength = 1) {
  const FacePoints points = pointsOf(head);
  const NeutralFace face = neutralFace(points);
  PointTracks out;
  out.labels = face.labels;
  out.neutral = face.positions;
  out.times_s = {0, 1, 2};
  for (const double share : {0.0, 1.0, 0.0}) {
    std::vector<Vec3d> frame = face.positions;
    const auto moves = expressionDisplacements(expression, points, share * strength).value();
    for (const PointDisplacement& d : moves)
      for (std::size_t i = 0; i < frame.size(); ++i)
        if (face.labels[i] == d.point) frame[i] += d.displacement_m;
    out.positions.insert(out.positions.end(), frame.begin(), frame.end());
  }
  return out;
}

PointTracks played(std::span<const FaceSource> sources, const Character& target,
                   const FaceRetargetDesc& desc = {}) {
  Diagnostics notes;
  const Result<PointTracks> out = retargetFace(sources, neutralFace(pointsOf(target)), desc, notes);
  EXPECT_TRUE(out) << out.error().text();
  EXPECT_TRUE(validate(*out, "out"));
  return *out;
}

TEST(FaceMix, PointsOutsideTheRegionDoNotMoveAtAll) {
  const Character a = headCalled('a'), c = headCalled('c');
  for (const std::string_view region : faceRegionNames()) {
    const std::vector<FaceSource> sources = {{"a",
                                              inAndOut(a, region == "jaw" ? "surprise" : "disgust"),
                                              std::string(region),
                                              {{"mouth", 1.3}},
                                              0}};
    const PointTracks out = played(sources, c);
    const std::vector<double> weights = faceRegionWeights(region, out.labels).value();
    bool moved = false;
    for (std::size_t i = 0; i < out.labels.size(); ++i) {
      if (weights[i] == 0) {
        EXPECT_EQ(out.frame(1)[i], out.neutral[i]) << region << " " << out.labels[i];
      }
      moved = moved || out.frame(1)[i] != out.neutral[i];
    }
    EXPECT_TRUE(moved) << region;
  }
}

TEST(FaceMix, TwoSourcesHaveTheirRegionsAndNothingIsMixedInThem) {
  const Character a = headCalled('a'), b = headCalled('b'), c = headCalled('c');
  const std::vector<FaceSource> both = {{"a", inAndOut(a, "surprise"), "brows,eyes", {}, 0},
                                        {"b", inAndOut(b, "joy"), "mouth,jaw", {}, 0}};
  const PointTracks mixed = played(both, c);
  const PointTracks first = played(std::span(both).first(1), c),
                    second = played(std::span(both).last(1), c);
  for (std::size_t i = 0; i < mixed.labels.size(); ++i) {
    const char group = mixed.labels[i][0];
    if (group == '4' || group == '3') {
      EXPECT_EQ(mixed.frame(1)[i], first.frame(1)[i]);
    }
    if (group == '8' || group == '2') {
      EXPECT_EQ(mixed.frame(1)[i], second.frame(1)[i]);
    }
  }
}

TEST(FaceMix, ALaterSourceHasItsRegionsOfAWholeFace) {
  const Character a = headCalled('a');
  const std::vector<FaceSource> sources = {{"joy", inAndOut(a, "joy"), "", {}, 0},
                                           {"blink", inAndOut(a, "blink"), "eyes", {}, 0}};
  const PointTracks out = played(sources, a);
  const auto at = [&](std::string_view label) {
    return out.frame(1)[static_cast<std::size_t>(
        std::find(out.labels.begin(), out.labels.end(), label) - out.labels.begin())];
  };
  EXPECT_LE((at("3.1") - at("3.3")).norm(), 1e-9);  // shut, though joy lifts the lower lid
  EXPECT_LE((at("3.2") - at("3.4")).norm(), 1e-9);
  const PointTracks joy = played(std::span(sources).first(1), a);
  for (std::size_t i = 0; i < out.labels.size(); ++i)
    if (out.labels[i][0] != '3') {
      EXPECT_EQ(out.frame(1)[i], joy.frame(1)[i]);
    }
}

TEST(FaceMix, GainsAndOffsets) {
  const Character a = headCalled('a');
  const PointTracks plain =
      played(std::vector<FaceSource>{{"a", inAndOut(a, "joy"), "", {}, 0}}, a);
  const PointTracks louder = played(
      std::vector<FaceSource>{{"a", inAndOut(a, "joy"), "", {{"mouth", 1.5}, {"eyes", 0}}, 0.25}},
      a);
  EXPECT_EQ(louder.times_s, (std::vector<double>{0.25, 1.25, 2.25}));
  for (std::size_t i = 0; i < plain.labels.size(); ++i) {
    const Vec3d moved = plain.frame(1)[i] - plain.neutral[i];
    const Vec3d more = louder.frame(1)[i] - louder.neutral[i];
    const double gain = plain.labels[i][0] == '8' ? 1.5 : plain.labels[i][0] == '3' ? 0 : -1;
    if (gain >= 0) {
      EXPECT_LE((more - gain * moved).norm(), 1e-12) << plain.labels[i];
    }
  }
  // Clips start at 0: what is earlier moves the others.
  const std::vector<FaceSource> two = {{"a", inAndOut(a, "joy"), "mouth", {}, 0},
                                       {"b", inAndOut(a, "blink"), "eyes", {}, -0.5}};
  const PointTracks shifted = played(two, a);
  EXPECT_EQ(shifted.times_s, (std::vector<double>{0, 0.5, 1, 1.5, 2, 2.5}));
  // Between its frames a source goes straight: at 1.0 the mouth is half way.
  const std::size_t corner = static_cast<std::size_t>(
      std::find(shifted.labels.begin(), shifted.labels.end(), "8.3") - shifted.labels.begin());
  EXPECT_GT((shifted.frame(2)[corner] - shifted.neutral[corner]).norm(), 0);
}

TEST(FaceMix, BadInputIsSaidWithTheSource) {
  const Character a = headCalled('a');
  const auto errorOf = [&](const FaceSource& source) {
    Diagnostics notes;
    const Result<PointTracks> out =
        retargetFace(std::span(&source, 1), neutralFace(pointsOf(a)), {}, notes);
    return out ? "no error" : out.error().text();
  };
  const PointTracks joy = inAndOut(a, "joy");
  EXPECT_NE(errorOf({"joy.csv", joy, "moth", {}, 0}).find("joy.csv: \"moth\" is no region"),
            std::string::npos);
  EXPECT_EQ(errorOf({"joy.csv", joy, "", {{"mouth", -1}}, 0}),
            "joy.csv: gain: must be from 0 to 10");
  EXPECT_EQ(errorOf({"joy.csv", joy, "", {{"mouth", 1e30}}, 0}),
            "joy.csv: gain: must be from 0 to 10");
  EXPECT_EQ(errorOf({"joy.csv", joy, "", {}, 1e30}), "joy.csv: offset: must be within 24 h");
  PointTracks far = joy;
  far.positions[far.labels.size() + 2] *= 1e15;
  const std::string point = errorOf({"joy.csv", far, "", {}, 0});
  EXPECT_TRUE(point.starts_with("joy.csv: frames[1]: \"" + far.labels[2] + "\" is ")) << point;
  EXPECT_NE(point.find("times the size of the face away"), std::string::npos) << point;
  far = joy;
  far.head.assign(far.frames(), {});
  far.head[0].translation.x() = 1e20f;
  EXPECT_TRUE(errorOf({"joy.csv", far, "", {}, 0}).starts_with("joy.csv: frames[0]: the head is "));
  EXPECT_EQ(errorOf({"joy.csv", joy, "", {}, std::nan("")}),
            "joy.csv: offset: must be within 24 h");
  Diagnostics notes;
  EXPECT_FALSE(retargetFace({}, neutralFace(pointsOf(a)), {}, notes));
}

/// Where the skin is when the tracks' second frame is posed.
std::vector<Vec3f> posed(const Character& rigged, const FaceRig& rig, const PointTracks& tracks) {
  const Clip clip = faceClip(rigged, rig, tracks, "mixed").value();
  Pose pose = rigged.restPose();
  sampleClip(clip, 1, pose);
  return testing_support::skinned(rigged, pose, SkinningMethod::Linear).positions;
}

TEST(FaceMix, TheBorderOfTwoSourcesShowsNoSeam) {
  Character a = headCalled('a');
  Diagnostics notes;
  const FaceRig rig = addFaceRig(a, {}, notes).value();
  const std::vector<FaceSource> sources = {
      {"brows", inAndOut(a, "surprise"), "brows,eyes", {}, 0},
      {"mouth", inAndOut(a, "joy"), "cheeks,nose,mouth,jaw", {}, 0}};
  const std::vector<Vec3f> mixed = posed(a, rig, played(sources, a));
  // Second differences of the displacement over vertices: what umbrella smoothing would move them.
  const std::size_t count = a.mesh.vertexCount();
  std::vector<Vec3d> sum(count, Vec3d::Zero());
  std::vector<int> neighbours(count, 0);
  const auto moveOf = [&](std::size_t v) {
    return Vec3d((mixed[v] - a.mesh.positions[v]).cast<double>());
  };
  for (const Triangle& t : a.mesh.triangles)
    for (std::size_t k = 0; k < 3; ++k) {
      sum[t[k]] += moveOf(t[(k + 1) % 3]) + moveOf(t[(k + 2) % 3]);
      neighbours[t[k]] += 2;
    }
  const FacePoints points = pointsOf(a);
  const double lids = 0.5 * (points.at("3.3").y() + points.at("3.4").y());
  const double nose = points.at("9.3").y();
  double across = 0, inside = 0;
  for (std::size_t v = 0; v < count; ++v) {
    if (neighbours[v] == 0) continue;
    const double second = (sum[v] / neighbours[v] - moveOf(v)).norm();
    const double y = double(a.mesh.positions[v].y());
    // Between lower lids and nose tip the one region ends and the other starts.
    (y < lids && y > nose ? across : inside) =
        std::max(y < lids && y > nose ? across : inside, second);
  }
  EXPECT_GT(across, 0);
  EXPECT_LE(across, 2 * inside);
  std::printf("second difference across the border %.3g, inside %.3g mm\n", 1000 * across,
              1000 * inside);
}

}  // namespace
}  // namespace derm::face_mix_test
