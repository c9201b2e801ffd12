#include "derm/face/shape_motion.h"

#include <gtest/gtest.h>

#include "derm/cast/cast.h"
#include "derm/face/arkit_shapes.h"
#include "derm/face/expression_names.h"
#include "derm/face/head_shapes.h"

#include "face/played_face.h"
#include "rigged_head.h"

namespace derm::shape_motion_test {
namespace {

using namespace testing_support;

using Values = std::vector<std::pair<std::string_view, float>>;

/// A frame for each of these.
ShapeTracks tracksOf(const std::vector<Values>& frames) {
  ShapeTracks out;
  for (const FaceShape& shape : faceShapes()) out.names.emplace_back(shape.name);
  for (const Values& frame : frames) {
    out.times_s.push_back(double(out.frames()) / 30);
    const std::size_t first = out.values.size();
    out.values.resize(first + out.names.size(), 0.0f);
    for (const auto& [name, value] : frame)
      out.values[first + static_cast<std::size_t>(findFaceShape(name) - faceShapes().data())] =
          value;
  }
  return out;
}

struct Rigged {
  Character head;
  FaceRig rig;
};
Rigged rigged(const char* name) {
  Rigged out{makeCastMember(name).value(), {}};
  Diagnostics notes;
  FaceRigDesc desc;
  desc.clips = false;
  out.rig = addFaceRig(out.head, desc, notes).value();
  return out;
}

TEST(ShapeMotion, ValuesThatAreNoCoefficientsAreNamed) {
  ShapeTracks tracks;
  tracks.names = {"jawOpen", "earWiggle"};
  tracks.times_s = {0, 1, 2, 3, 4};
  tracks.lines = {2, 3, 5, 6, 7};
  const auto played = [&](std::vector<float> jaw) {
    tracks.values.clear();
    for (const float value : jaw) tracks.values.insert(tracks.values.end(), {value, 50});
    Diagnostics notes;
    const Result<ShapeTracks> found = arkitTracks(tracks, notes, "take.csv");
    if (!found) return found.error().text();
    for (const Diagnostics::Note& note : notes.notes())
      if (note.kind == "shape-values-clamped") return note.text();
    return std::string("nothing");
  };
  EXPECT_EQ(played({0, 1.0005f, 1, -0.0005f, .5f}), "nothing");
  EXPECT_EQ(played({0, 1, 1.25f, -.25f, 5}),
            "take.csv: \"jawOpen\" in line 5 is 1.25; values outside 0 to 1 are clamped (3 times)");
  EXPECT_EQ(played({0, 1, 80, 0, 0}),
            "take.csv:5: column \"jawOpen\": 80 is no coefficient: these go from 0 to 1; are they "
            "percent?");
  EXPECT_EQ(played({2, 3, 3, 2, 0}),
            "take.csv:6: column \"jawOpen\": 2 is no coefficient: these go from 0 to 1; are they "
            "percent?");
  EXPECT_EQ(played({0, 0, 0, 0, -20}),
            "take.csv:7: column \"jawOpen\": -20 is no coefficient: these go from 0 to 1");
  tracks.lines.clear();
  EXPECT_EQ(played({0, 1, 80, 0, 0}),
            "take.csv: shape \"jawOpen\"[2]: 80 is no coefficient: these go from 0 to 1; are they "
            "percent?");
}

TEST(ShapeMotion, NamesOfOthersBecomeArkits) {
  ShapeTracks tracks;
  tracks.names = {"EyeBlinkLeft", "jawOpen", "browInnerUp_L", "browInnerUp_R", "earWiggle"};
  tracks.times_s = {0, 1};
  tracks.values = {.5f, 0, 1, .5f, 1, 1.5f, -1, 0, 0, 0};
  Diagnostics notes;
  const Result<ShapeTracks> found = arkitTracks(tracks, notes);
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_EQ(found->names.size(), 52u);
  EXPECT_EQ(found->names[0], faceShapes()[0].name);
  const auto at = [&](std::size_t frame, std::string_view name) {
    return found->frame(frame)[static_cast<std::size_t>(findFaceShape(name) - faceShapes().data())];
  };
  EXPECT_EQ(at(0, "eyeBlinkLeft"), .5f);
  EXPECT_EQ(at(1, "eyeBlinkLeft"), 1.f);
  EXPECT_EQ(at(1, "jawOpen"), 0.f);
  EXPECT_EQ(at(0, "browInnerUp"), .75f);
  EXPECT_EQ(notes.count("shape-unknown"), 1u);
  EXPECT_EQ(notes.count("shape-values-clamped"), 2u);
  tracks.names = {"a", "b", "c", "d", "e"};
  EXPECT_FALSE(arkitTracks(tracks, notes).ok());
}

TEST(ShapeMotion, ShapesAreFoundBehindPrefixesAndDoNotMoveTwice) {
  Character head = makeCastMember("head-a").value();
  ASSERT_TRUE(head.morphs.empty());
  ASSERT_EQ(head.instances.size(), 1u);
  for (const char* name : {"blendShape1.browInnerUp", "browInnerUp.L", "Grin"}) {
    MorphTarget& morph = head.morphs.emplace_back();
    morph.name = name;
    morph.vertices = {0};
    morph.positions = {Vec3f(0, 0.01f, 0)};
  }
  head.instances[0].morph_count = 3;
  ASSERT_TRUE(validate(head));
  EXPECT_EQ(arkitShapeCount(head), 1u);
  Diagnostics notes;
  const Clip clip = morphShapeClip(head, tracksOf({{{"browInnerUp", .5f}}}), {}, notes).value();
  ASSERT_EQ(clip.tracks.size(), 1u);
  EXPECT_EQ(clip.tracks[0].values, (std::vector<float>{.5f, 0, 0}));
}

TEST(ShapeMotion, ABlinkShutsTheEyeWhateverElseItDoes) {
  const Rigged face = rigged("head-a");
  Diagnostics notes;
  const ShapeMotion motion = ShapeMotion::bind(face.head, face.rig, notes).value();
  const ShapeTracks tracks =
      tracksOf({{{"eyeBlinkLeft", 1}},
                {{"eyeBlinkLeft", 1}, {"eyeWideLeft", 1}},
                {{"eyeBlinkLeft", 1}, {"eyeLookDownLeft", 1}},
                {{"eyeBlinkLeft", 1}, {"eyeSquintLeft", 1}},
                {{"eyeBlinkLeft", 1}, {"eyeLookUpLeft", 1}, {"browOuterUpLeft", 1}}});
  const PointTracks points = shapePoints(motion, tracks);
  ASSERT_TRUE(validate(points, "points").ok());
  for (std::size_t f = 0; f < tracks.frames(); ++f)
    EXPECT_LT((points.frame(f)[columnOf("3.1")] - points.frame(f)[columnOf("3.3")]).norm(), 1e-9)
        << f;
}

TEST(ShapeMotion, LidsNeverCross) {
  const Rigged face = rigged("woman");
  Diagnostics notes;
  const ShapeMotion motion = ShapeMotion::bind(face.head, face.rig, notes).value();
  const ShapeTracks tracks = tracksOf(
      {{{"eyeSquintLeft", 1}, {"cheekSquintLeft", 1}, {"eyeLookDownLeft", 1}, {"browDownLeft", 1}},
       {{"eyeBlinkLeft", .8f}, {"eyeSquintLeft", 1}, {"eyeLookDownLeft", 1}}});
  const PointTracks points = shapePoints(motion, tracks);
  for (std::size_t f = 0; f < tracks.frames(); ++f)
    EXPECT_GE((points.frame(f)[columnOf("3.1")] - points.frame(f)[columnOf("3.3")]).y(), -1e-9);
}

TEST(ShapeMotion, LipsMeetAndDoNotCross) {
  const ShapeTracks tracks = tracksOf({{{"mouthPressLeft", 1}, {"mouthPressRight", 1}},
                                       {{"mouthRollLower", 1}, {"mouthRollUpper", 1}},
                                       {{"jawOpen", .3f}, {"mouthClose", .6f}},
                                       {{"mouthShrugLower", 1}, {"mouthPressLeft", 1}},
                                       {{"mouthClose", 1}}});
  for (const char* name : {"woman", "toon", "head-b"}) {
    SCOPED_TRACE(name);
    const Rigged face = rigged(name);
    Diagnostics notes;
    const FaceSlits slits = findFaceSlits(face.head.mesh, face.head.points, notes);
    ASSERT_TRUE(slits.mouth);
    const MarginCrossing mouth(*slits.mouth, face.head.mesh.positions);
    const Clip clip = rigShapeClip(face.head, face.rig, tracks, {}, notes).value();
    const PlayedFace played(face.head, slits);
    Character shaped = makeCastMember(name).value();
    setShapes(shaped, arkitShapes(shaped, notes).value(), notes);
    const Clip weights = morphShapeClip(shaped, tracks, {}, notes).value();
    ASSERT_TRUE(validate(weights, clipTargets(shaped), "").ok());
    const PlayedFace morphed(shaped, slits);
    for (std::size_t f = 0; f < tracks.frames(); ++f) {
      EXPECT_LT(mouth(played.at(clip, tracks.times_s[f])), 0.01 * slits.mouth->width_m) << f;
      EXPECT_LT(mouth(morphed.at(weights, tracks.times_s[f])), 0.01 * slits.mouth->width_m) << f;
    }
  }
}

TEST(ShapeMotion, HeadAndEyesTurnOnTheirJoints) {
  Rigged face = rigged("head-a");
  // Eyes on joints, as engines' characters have them.
  face.head.skeleton.joints.push_back({"mixamorig:LeftEye", face.rig.head, Transform{}});
  ShapeTracks tracks = tracksOf({{}, {{"eyeLookOutLeft", 1}}});
  tracks.head = {Quatd::Identity(), Quatd(Eigen::AngleAxisd(0.4, Eigen::Vector3d::UnitY()))};
  Diagnostics notes;
  const Clip clip = rigShapeClip(face.head, face.rig, tracks, {}, notes).value();
  ASSERT_TRUE(validate(clip, clipTargets(face.head), "").ok());
  const Pose pose = poseAt(face.head, clip, tracks.times_s[1]);
  std::vector<Affine3d> model(face.head.skeleton.size());
  localToModel(face.head.skeleton, pose.local, model);
  const Vec3d nose = model[face.rig.head.index()].linear() * Vec3d::UnitZ();
  EXPECT_NEAR(std::atan2(nose.x(), nose.z()), 0.4, 1e-6);  // to the subject's left
  const Vec3d gaze = model.back().linear() * Vec3d::UnitZ();
  EXPECT_NEAR(std::atan2(gaze.x(), gaze.z()), 0.4 + 30 * 3.14159265 / 180, 1e-5);
  const Clip still = rigShapeClip(face.head, face.rig, tracks, {.turn_head = false}, notes).value();
  EXPECT_EQ(still.tracks.size() + 1, clip.tracks.size());
}

TEST(ShapeMotion, EyesWithoutShapesTurnOnTheirJoints) {
  Character head = makeCastMember("head-a").value();
  MorphTarget& jaw = head.morphs.emplace_back();
  jaw.name = "jawOpen";
  jaw.vertices = {0};
  jaw.positions = {Vec3f(0, -0.01f, 0)};
  head.instances[0].morph_count = 1;
  head.skeleton.joints.push_back({"LeftEye", JointId(), Transform{}});
  ASSERT_TRUE(validate(head));
  const ShapeTracks tracks = tracksOf({{{"jawOpen", .5f}, {"eyeLookOutLeft", 1}}});
  Diagnostics notes;
  const Clip clip = morphShapeClip(head, tracks, {}, notes).value();
  ASSERT_TRUE(validate(clip, clipTargets(head), "").ok());
  ASSERT_EQ(clip.tracks.size(), 2u);
  EXPECT_EQ(clip.tracks[1].channel, Channel::Rotation);
  // Half of 30 degrees about the up axis.
  EXPECT_NEAR(clip.tracks[1].values[1], 0.258819f, 1e-5f);
  EXPECT_EQ(notes.count("shape-not-on-head"), 0u);
  head.morphs[0].name = "eyeLookUpLeft";
  EXPECT_EQ(morphShapeClip(head, tracks, {}, notes)->tracks.size(), 1u) << "it has shapes for that";
  // And its head, whatever the rig calls it.
  ShapeTracks nodding = tracks;
  nodding.head = {Quatd(Eigen::AngleAxisd(0.2, Eigen::Vector3d::UnitX()))};
  for (const char* name : {"CC_Base_Head", "Bip01 Head", "head_jnt", "Forehead"}) {
    head.skeleton.joints[0].name = name;
    EXPECT_EQ(morphShapeClip(head, nodding, {}, notes)->tracks.size(),
              std::string_view(name) == "Forehead" ? 1u : 2u)
        << name;
  }
}

TEST(ShapeMotion, SaysWhatAHeadCannotDo) {
  Diagnostics notes;
  const Character bare = makeCastMember("head-a").value();
  EXPECT_EQ(arkitShapeCount(bare), 0u);
  const ShapeTracks tracks = tracksOf({{{"jawOpen", 1}, {"tongueOut", 1}}});
  EXPECT_FALSE(morphShapeClip(bare, tracks, {}, notes).ok());
  Character shaped = bare;
  const std::vector<MorphTarget> shapes = arkitShapes(bare, notes).value();
  setShapes(shaped, std::span(shapes).first(51), notes);
  EXPECT_EQ(arkitShapeCount(shaped), 51u);
  ASSERT_TRUE(morphShapeClip(shaped, tracks, {}, notes).ok());
  EXPECT_EQ(notes.count("shape-not-on-head"), 1u);
}

}  // namespace
}  // namespace derm::shape_motion_test
