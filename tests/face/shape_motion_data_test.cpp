#include <gtest/gtest.h>

#include "derm/cast/cast.h"
#include "derm/face/arkit_shapes.h"
#include "derm/face/control_points.h"
#include "derm/face/expression_names.h"
#include "derm/face/head_shapes.h"
#include "derm/face/shape_motion.h"
#include "derm/io/character_file.h"
#include "derm/io/shape_tracks_file.h"

#include "face/face_fixtures.h"
#include "face/played_face.h"
#include "support/unpacked.h"

/// A recording of 134 s of a face that does all it can, on every head there is.
namespace derm::shape_motion_data_test {
namespace {

using namespace testing_support;

struct Played {
  double lids = 0;    ///< worst crossing seen from the front, of the opening at rest
  double aslant = 0;  ///< the same, seen along the skin around the eye
  double lips = 0;    ///< worst crossing, of the mouth's width
  double shut = 1;    ///< least share of the eyes' opening that is left at the lids' points
  double jitter = 0;  ///< over that of the sum of shapes
};

ShapeTracks recording(const std::filesystem::path& folder) {
  Diagnostics notes;
  Result<ShapeTracks> tracks = loadShapeTracks(folder / "alex_rom_3.csv", notes);
  EXPECT_TRUE(tracks.ok());
  return arkitTracks(*tracks, notes).value();
}

std::vector<Vec3d> controlPointsAt(const Character& head, const std::vector<Vec3f>& at) {
  std::vector<Vec3d> out;
  for (const LabelledPoint& p : head.points)
    out.push_back(positionAt(p.point, head.mesh.triangles, at).cast<double>());
  return out;
}

std::size_t pointNamed(const Character& head, std::string_view number) {
  return static_cast<std::size_t>(std::find_if(head.points.begin(), head.points.end(),
                                               [&](const LabelledPoint& p) {
                                                 return findFaceFeature(p.label)->number == number;
                                               }) -
                                  head.points.begin());
}

/// Plays the clip; `sum` gives where the control points would be without anything held back.
template <class Sum>
Played play(const Character& head, const Clip& clip, const ShapeTracks& tracks, const Sum& sum) {
  Diagnostics notes;
  EXPECT_TRUE(validate(clip, clipTargets(head), "clip").ok());  // numbers are finite
  const FaceSlits slits = findFaceSlits(head.mesh, head.points, notes);
  EXPECT_TRUE(slits.mouth);
  const PlayedFace face(head, slits);
  struct Eye {
    MarginCrossing front, aslant;
    double opening_m;  // at rest
  };
  std::vector<Eye> eyes;
  for (const std::optional<FaceSlit>& eye : {slits.left_eye, slits.right_eye})
    if (eye)
      eyes.push_back({MarginCrossing(seenFromFront(*eye), head.mesh.positions),
                      MarginCrossing(*eye, head.mesh.positions), eye->opening_m});
  const MarginCrossing mouth(*slits.mouth, head.mesh.positions);
  const auto opening = [&](const std::vector<Vec3d>& at, const char* upper, const char* lower) {
    return at[pointNamed(head, upper)].y() - at[pointNamed(head, lower)].y();
  };
  Played out;
  Jitter played, source;
  const std::vector<Vec3d> rest = controlPointsAt(head, head.mesh.positions);
  for (std::size_t f = 0; f < tracks.frames(); ++f) {
    const std::vector<Vec3f> at = face.at(clip, tracks.times_s[f]);
    EXPECT_TRUE(std::all_of(face.watched().begin(), face.watched().end(), [&](std::uint32_t v) {
      return at[v].allFinite();
    })) << f;
    const std::vector<Vec3d> points = controlPointsAt(head, at);
    double lids = 0;
    for (const Eye& eye : eyes) {
      lids = std::max(lids, eye.front(at) / eye.opening_m);
      out.aslant = std::max(out.aslant, eye.aslant(at) / eye.opening_m);
    }
    for (const auto& [upper, lower] : {std::pair{"3.1", "3.3"}, {"3.2", "3.4"}}) {
      const double left = opening(points, upper, lower) / opening(rest, upper, lower);
      lids = std::max(lids, -left);
      out.shut = std::min(out.shut, left);
    }
    const double lips = mouth(at) / slits.mouth->width_m;
    out.lids = std::max(out.lids, lids);
    out.lips = std::max(out.lips, lips);
    played.add(points);
    source.add(sum(f));
  }
  out.jitter = played.energy() / source.energy();
  return out;
}

Played playOnRig(Character head, const ShapeTracks& tracks) {
  Diagnostics notes;
  std::optional<FaceRig> rig = findFaceRig(head);
  if (!rig) {
    FaceRigDesc desc;
    desc.clips = false;
    Result<FaceRig> made = addFaceRig(head, desc, notes);
    EXPECT_TRUE(made.ok()) << made.error().text();
    rig = *made;
  }
  const Result<Clip> clip = rigShapeClip(head, *rig, tracks, {}, notes);
  EXPECT_TRUE(clip.ok()) << clip.error().text();
  const ShapeMotion motion = ShapeMotion::bind(head, *rig, notes).value();
  std::vector<Vec3d> moves(ShapeMotion::kPoints);
  return play(head, *clip, tracks, [&](std::size_t f) {
    motion.evaluateSum(tracks.frame(f), moves);
    return moves;
  });
}

Played playOnMorphs(const Character& head, const ShapeTracks& tracks) {
  Diagnostics notes;
  const Result<Clip> clip = morphShapeClip(head, tracks, {}, notes);
  EXPECT_TRUE(clip.ok()) << clip.error().text();
  const FaceSlits none;
  const PlayedFace face(head, none);
  // The same clip with the weights as they came.
  Clip raw = *clip;
  for (Track& track : raw.tracks) {
    if (track.channel != Channel::MorphWeights) continue;
    for (std::size_t f = 0; f < tracks.frames(); ++f)
      for (std::uint32_t m = 0; m < track.morph_count; ++m) {
        const std::string& name = head.morphs[track.first_morph + m].name;
        const FaceShape* shape = findFaceShape(name);
        if (shape == nullptr) shape = findFaceShape(name.substr(0, name.size() - 2));
        if (shape != nullptr)
          track.values[f * track.morph_count + m] =
              tracks.frame(f)[static_cast<std::size_t>(shape - faceShapes().data())];
      }
  }
  return play(head, *clip, tracks, [&](std::size_t f) {
    return controlPointsAt(head, face.at(raw, tracks.times_s[f]));
  });
}

/// A blink and nothing else.
ShapeTracks blinkAlone() {
  ShapeTracks out;
  out.times_s = {0};
  for (const FaceShape& shape : faceShapes()) {
    out.names.emplace_back(shape.name);
    out.values.push_back(shape.name.starts_with("eyeBlink") ? 1.0f : 0.0f);
  }
  return out;
}

/// `lids`: how far they may cross, of the opening; lips meet and do not cross.
void expectGood(const std::string& by, const Played& p, double lids = 0.001) {
  ::testing::Test::RecordProperty(by + "_lids", std::to_string(p.lids));
  ::testing::Test::RecordProperty(by + "_lips", std::to_string(p.lips));
  ::testing::Test::RecordProperty(by + "_jitter", std::to_string(p.jitter));
  ::testing::Test::RecordProperty(by + "_lids_aslant", std::to_string(p.aslant));
  EXPECT_LE(p.lids, lids) << by;
  EXPECT_LE(p.aslant, 0.06) << by;
  EXPECT_LE(p.lips, 0.0015) << by;
  EXPECT_LE(p.jitter, 1.1) << by;
  EXPECT_LT(p.shut, 0.35) << by;  // blinks arrive
}

class ShapeMotionOnCast : public ::testing::TestWithParam<const char*> {};

TEST_P(ShapeMotionOnCast, ARecordingPlaysByTheRigAndByShapes) {
  DERM_DATA_OR_SKIP(folder, "face-motion-arkit");
  const ShapeTracks tracks = recording(folder);
  Character head = *makeCastMember(GetParam());
  expectGood("rig", playOnRig(head, tracks));
  EXPECT_LE(playOnRig(head, blinkAlone()).lids, 0.001);
  Diagnostics notes;
  setShapes(head, *arkitShapes(head, notes), notes);
  expectGood("shapes", playOnMorphs(head, tracks));
}

INSTANTIATE_TEST_SUITE_P(Heads, ShapeMotionOnCast,
                         ::testing::Values("head-a", "head-b", "head-c", "woman", "man", "toon"));

/// A person of faces-ict, in metres, with the model's shapes and 28 control points.
Character person(const std::filesystem::path& folder, const std::string& name) {
  Diagnostics notes;
  Character head = loadCharacter(folder / "ict_generic_55morphs.glb", {}, notes).value();
  head.mesh.positions = ictPositions((folder / (name + "_neutral.obj")).string());
  scaleLengths(head, 0.01);
  head.points =
      placePoints(controlPositions(folder / "landmarks68.txt", head.mesh), head.mesh, 1, notes)
          .value();
  return head;
}

class ShapeMotionOnPeople : public ::testing::TestWithParam<const char*> {};

TEST_P(ShapeMotionOnPeople, ARecordingPlaysByTheRigAndByShapes) {
  DERM_DATA_OR_SKIP(motion, "face-motion-arkit");
  DERM_PACKED_DATA_OR_SKIP(folder, "faces-ict");
  const ShapeTracks tracks = recording(motion);
  Diagnostics notes;
  const Character head = person(folder, GetParam());
  expectGood("shapes", playOnMorphs(head, tracks));
  const Character bare = frozen(head, head.mesh);
  expectGood("rig", playOnRig(bare, tracks), 0.005);
  EXPECT_LE(playOnRig(bare, blinkAlone()).lids, 0.001);
}

INSTANTIATE_TEST_SUITE_P(Heads, ShapeMotionOnPeople,
                         ::testing::Values("generic", "id_A", "id_B", "id_C", "id_sample"));

}  // namespace
}  // namespace derm::shape_motion_data_test
