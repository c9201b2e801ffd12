// Motions of other files, taken by joint names: the recipe's keys "motion" and "motion_map".
#include "derm/scene/motion.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "derm/cast/cast.h"
#include "derm/deform/pose_character.h"
#include "derm/io/character_file.h"
#include "derm/scene/scene.h"

#include "support/compare.h"
#include "support/test_folder.h"
#include "support/unpacked.h"

namespace derm::motion_test {
namespace {

using testing_support::maxDistance;

class Motion : public testing_support::FolderTest {
 protected:
  static const std::shared_ptr<const Character>& arm() {
    static const auto made = std::make_shared<const Character>(makeCastMember("arm").value());
    return made;
  }
  void write(const std::string& file, const std::string& text) const {
    std::ofstream(folder_ / file) << text;
  }
  /// The recipe's text, kept in the folder, at work on the arm.
  Result<Scene> opened(const std::string& text, Diagnostics& notes) const {
    write("r.toml", text);
    DERM_TRY(const Recipe recipe, loadRecipe(folder_ / "r.toml"));
    return openScene(recipe, {.character = arm()}, notes);
  }
  std::string errorOf(const std::string& text) const {
    Diagnostics notes;
    const Result<Scene> scene = opened(text, notes);
    return scene.ok() ? "no error" : scene.error().text();
  }
};

std::set<std::size_t> movedJoints(const Clip& clip) {
  std::set<std::size_t> out;
  for (const Track& t : clip.tracks) out.insert(t.joint.index());
  return out;
}

TEST_F(Motion, IsTheLastClipAndTheDefault) {
  Diagnostics notes;
  Result<Scene> taken = opened("motion = \"cast:arm\"", notes);
  ASSERT_TRUE(taken.ok()) << taken.error().text();
  EXPECT_EQ(taken->character()->clips.size(), arm()->clips.size() + 1);
  EXPECT_EQ(taken->clip(), &taken->character()->clips.back());
  // Its own motion, taken from itself, is the motion it has.
  Result<Scene> own = opened("", notes);
  ASSERT_TRUE(own.ok());
  ASSERT_EQ(own->frameTimes().size(), taken->frameTimes().size());
  for (std::size_t i = 0; i < own->frameTimes().size(); i += 10) {
    const SkinFrame& a = own->frame(i);
    const SkinFrame& b = taken->frame(i);
    EXPECT_LT(maxDistance(a.positions(), b.positions()), 1e-4) << i;  // [m]; keys at 60 Hz
  }
}

TEST_F(Motion, IsOneClipAmongOthersWhereAClipIsNamed) {
  Diagnostics notes;
  const Result<Scene> scene = opened("motion = \"cast:arm\"\nclip = 0", notes);
  ASSERT_TRUE(scene.ok()) << scene.error().text();
  EXPECT_EQ(scene->clip(), &scene->character()->clips.front());
}

TEST_F(Motion, TakesNamesFromATableBesideTheRecipe) {
  write("names.txt", "upper_arm = upper_arm\nforearm = forearm\nhand = hand\n");
  Diagnostics notes;
  const Result<Scene> all = opened("motion = \"cast:arm\"", notes);
  const Result<Scene> some = opened("motion = \"cast:arm\"\nmotion_map = \"names.txt\"", notes);
  ASSERT_TRUE(all.ok());
  ASSERT_TRUE(some.ok()) << some.error().text();
  EXPECT_EQ(movedJoints(*some->clip()).size(), 3u);
  EXPECT_GT(movedJoints(*all->clip()).size(), 3u);
}

TEST_F(Motion, ErrorsNameTheLineOrTheFile) {
  const std::string r = (folder_ / "r.toml").string();
  EXPECT_NE(errorOf("fps = 30\nmotion = \"none.bvh\"").find(r + ":2:10"), std::string::npos)
      << errorOf("fps = 30\nmotion = \"none.bvh\"");
  EXPECT_NE(errorOf("motion = \"none.bvh\"").find("none.bvh"), std::string::npos);
  EXPECT_NE(errorOf("motion_map = \"names.txt\"").find("for a motion"), std::string::npos);
  write("broken.bvh", "HIERARCHY\nROOT");
  EXPECT_NE(errorOf("motion = \"broken.bvh\"").find("broken.bvh"), std::string::npos);
  write("still.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  const std::string still = errorOf("motion = \"still.obj\"");
  EXPECT_NE(still.find("still.obj"), std::string::npos) << still;
  EXPECT_NE(still.find("no clip to take a motion from"), std::string::npos) << still;
  write("names.txt", "upper_arm = uper_arm\nforearm = forearm\nhand = hand\n");
  const std::string unknown = errorOf("motion = \"cast:arm\"\nmotion_map = \"names.txt\"");
  EXPECT_NE(unknown.find("upper_arm"), std::string::npos) << unknown;
}

TEST_F(Motion, CharactersSavedInMidAnimationMoveAsTheyDoOtherwise) {
  const Character cat = makeCastMember("cat").value();
  Character leaping = cat;
  Pose pose = cat.restPose();
  sampleClip(cat.clips.at(1), 1.0f, pose);
  for (std::size_t j = 0; j < pose.local.size(); ++j)
    leaping.skeleton.joints[j].rest = pose.local[j];
  Diagnostics notes;
  ASSERT_TRUE(saveCharacter(cat, folder_ / "cat.glb", notes));
  ASSERT_TRUE(saveCharacter(leaping, folder_ / "leaping.glb", notes));
  const auto loaded = [&](const char* file) {
    return std::make_shared<const Character>(loadCharacter(folder_ / file, {}, notes).value());
  };
  const auto clean = loaded("cat.glb"), posed = loaded("leaping.glb");
  // The bind pose stands as it does in the clean file, not as the leap's.
  EXPECT_LT(maxDistance(clean->mesh.positions, posed->mesh.positions), 1e-5);
  const auto taken = [&](const std::shared_ptr<const Character>& onto, const std::string& keys) {
    write("r.toml", keys);
    const Recipe recipe = loadRecipe(folder_ / "r.toml").value();
    return openScene(recipe, {.character = onto}, notes).value();
  };
  for (const char* ground : {"", "\nground = true"}) {
    Scene wanted = taken(clean, std::string("motion = \"cast:cat\"") + ground);
    Scene onto_posed = taken(posed, std::string("motion = \"cast:cat\"") + ground);
    Scene from_posed = taken(clean, std::string("motion = \"leaping.glb\"") + ground);
    ASSERT_EQ(wanted.frameTimes().size(), onto_posed.frameTimes().size());
    ASSERT_EQ(wanted.frameTimes().size(), from_posed.frameTimes().size());
    for (std::size_t i = 0; i < wanted.frameTimes().size(); i += 5) {
      const auto frame = wanted.frame(i).positions();
      EXPECT_LT(maxDistance(frame, onto_posed.frame(i).positions()), 1e-4) << ground << i;  // [m]
      EXPECT_LT(maxDistance(frame, from_posed.frame(i).positions()), 1e-4) << ground << i;
    }
  }
}

/// A person of 1 m from the hips to the ground, in the way of MotionBuilder, walking on the spot.
std::string personBvh() {
  const auto joint = [](const std::string& name, const std::string& offset,
                        const std::string& inside) {
    return "JOINT " + name + " { OFFSET " + offset + " CHANNELS 3 Zrotation Xrotation Yrotation " +
           inside + " }\n";
  };
  const std::string end = "End Site { OFFSET 0 -0.05 0.1 }";
  std::string text =
      "HIERARCHY\nROOT Hips { OFFSET 0 0 0 CHANNELS 6 Xposition Yposition Zposition "
      "Zrotation Xrotation Yrotation\n";
  text += joint("Spine", "0 0.5 0",
                joint("Head", "0 0.2 0", end) +
                    joint("LeftArm", "0.2 0 0",
                          joint("LeftForeArm", "0.3 0 0", joint("LeftHand", "0.25 0 0", end))) +
                    joint("RightArm", "-0.2 0 0",
                          joint("RightForeArm", "-0.3 0 0", joint("RightHand", "-0.25 0 0", end))));
  for (const auto& [side, x] : {std::pair("Left", "0.1"), std::pair("Right", "-0.1")})
    text += joint(side + std::string("UpLeg"), std::string(x) + " 0 0",
                  joint(side + std::string("Leg"), "0 -0.5 0",
                        joint(side + std::string("Foot"), "0 -0.45 0", end)));
  text += "}\nMOTION\nFrames: 3\nFrame Time: 0.1\n";
  for (const char* swing : {"0", "20", "-20"}) {
    text += "0 1 0 0 0 0";
    for (int j = 0; j < 14; ++j) text += std::string(" 0 ") + (j == 8 ? swing : "0") + " 0";
    text += "\n";
  }
  return text;
}

TEST_F(Motion, OfAPersonIsRefusedByTheCat) {
  write("walk.bvh", personBvh());
  Character cat = makeCastMember("cat").value();
  const std::size_t clips = cat.clips.size();
  Diagnostics notes;
  const Result<void> added = addMotion("walk.bvh", "", folder_, cat, notes);
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().code, ErrorCode::BadData);
  EXPECT_NE(added.error().text().find("walk.bvh"), std::string::npos) << added.error().text();
  EXPECT_NE(added.error().text().find("stands on four legs"), std::string::npos);
  EXPECT_EQ(cat.clips.size(), clips);
}

/// The cat hangs on a root on the floor, as many rigs do.
TEST_F(Motion, OfARigWithARootOnTheFloorStandsOnTheGround) {
  Character cat = makeCastMember("cat").value();
  Diagnostics notes;
  ASSERT_TRUE(addMotion("cast:cat", "", folder_, cat, notes, {.ground = true}).ok());
  EXPECT_EQ(notes.count("no-ground"), 0u);
}

TEST_F(Motion, NotesSayWhichJointsItMoves) {
  Diagnostics notes;
  ASSERT_TRUE(opened("motion = \"cast:arm\"", notes).ok());
  EXPECT_EQ(notes.count("joints-matched"), 1u);
  const Result<MotionMatch> match = matchMotion("cast:arm", "", folder_, *arm(), notes);
  ASSERT_TRUE(match.ok());
  EXPECT_TRUE(match->source_left.empty()) << match->text();
}

double lowestOf(const Character& c, const Clip& clip, float time_s) {
  Pose pose = c.restPose();
  sampleClip(clip, time_s, pose);
  const Result<TriMesh> posed = poseCharacter(c, pose, SkinningMethod::Linear);
  EXPECT_TRUE(posed.ok());
  double low = 1e9;
  for (const Vec3f& p : posed->positions) low = std::min(low, double(p.y()));
  return low;
}

TEST_F(Motion, OnTheGroundNoLimbSinksOrFloats) {
  Character cat = makeCastMember("cat").value();
  Diagnostics notes;
  ASSERT_TRUE(addMotion("cast:cat", "", folder_, cat, notes).ok());
  Clip sunk = cat.clips.back();
  const auto track = std::find_if(sunk.tracks.begin(), sunk.tracks.end(),
                                  [](const Track& t) { return t.channel == Channel::Translation; });
  ASSERT_NE(track, sunk.tracks.end());
  // A wave of 10 cm, as proportions that do not fit make it; in the last keys the source leaps.
  const std::size_t keys = track->times_s.size();
  RetargetOutcome outcome{.carrier = track->joint, .clearance_m = std::vector<float>(keys, 0.0f)};
  for (std::size_t k = 0; k < keys; ++k)
    track->values[3 * k + 1] += 0.1f * std::sin(0.3f * static_cast<float>(k));
  outcome.clearance_m.back() = 0.25f;
  const double floor = BodyFloor(cat).lowestIn(cat.restPose());
  groundMotion(cat, outcome, sunk);
  for (std::size_t k = 0; k + 1 < keys; k += 7)
    EXPECT_NEAR(lowestOf(cat, sunk, track->times_s[k]), floor, 0.002) << k;
  EXPECT_NEAR(lowestOf(cat, sunk, track->times_s.back()), floor + 0.25, 0.02);
  // The same as a recipe's key.
  EXPECT_NE(errorOf("ground = true").find("none is named"), std::string::npos);
  EXPECT_EQ(errorOf("motion = \"cast:arm\"\nground = true"), "no error");
}

TEST_F(Motion, RecordingsOnRealBodiesStandOnTheFloor) {
  DERM_PACKED_DATA_OR_SKIP(bodies, "makehuman");
  DERM_DATA_OR_SKIP(motions, "mocap-cmu-bvh");
  Diagnostics notes;
  const Result<Character> body =
      loadCharacter(bodies / "mh_A_caucasian_male_young_cmurig31.glb", {}, notes);
  ASSERT_TRUE(body.ok()) << body.error().text();
  const double floor = BodyFloor(*body).lowestIn(body->restPose());
  for (const char* motion : {"02_01.bvh", "05_06.bvh"}) {
    double sunk = 0, grounded = 0;
    for (const bool ground : {false, true}) {
      Character c = *body;
      ASSERT_TRUE(
          addMotion((motions / motion).string(), "", {}, c, notes, {.ground = ground}).ok());
      const Clip& clip = c.clips.back();
      double& worst = ground ? grounded : sunk;
      for (int i = 0; i <= 20; ++i)
        worst = std::max(worst,
                         floor - lowestOf(c, clip, clip.duration_s() * static_cast<float>(i) / 20));
    }
    std::printf("%s: sinks by %.1f cm, on the ground by %.1f mm\n", motion, 100 * sunk,
                1000 * grounded);
    EXPECT_LT(grounded, 0.006) << motion;  // [m]
  }
}

/// [m/s] how fast what stands slides, on average: of each foot while the recording's own stands,
/// the points within 6 mm of its lowest.
double slideOfStances(const Character& c, const Clip& clip, const std::vector<Stance>& stances) {
  const BodyFloor outline(c);
  const double floor = outline.lowestIn(c.restPose());
  const auto at = [&](std::size_t key) {
    Pose pose = c.restPose();
    sampleClip(clip, static_cast<float>(key) / 60, pose);
    return outline.outlineIn(pose);
  };
  double way = 0;
  std::size_t steps = 0;
  for (const Stance& s : stances) {
    const std::vector<std::size_t> points = outline.outlineOf(s.joint);
    std::vector<Vec3f> before = at(s.first);
    for (std::size_t k = s.first; k < s.last; ++k) {
      const std::vector<Vec3f> now = at(k + 1);
      double low = 1e9;
      for (const std::size_t i : points) low = std::min(low, static_cast<double>(before[i].y()));
      Vec3d sum = Vec3d::Zero();
      std::size_t count = 0;
      for (const std::size_t i : points)
        if (static_cast<double>(before[i].y()) < low + 0.006) {
          sum += (now[i] - before[i]).cast<double>();
          ++count;
        }
      if (low < floor + 0.03) {
        sum.y() = 0;
        way += sum.norm() / static_cast<double>(count);
        ++steps;
      }
      before = now;
    }
  }
  return 60 * way / static_cast<double>(std::max<std::size_t>(steps, 1));
}

TEST_F(Motion, FeetThatStandDoNotSlide) {
  DERM_PACKED_DATA_OR_SKIP(bodies, "makehuman");
  DERM_DATA_OR_SKIP(motions, "mocap-cmu-bvh");
  for (const char* name :
       {"mh_A_caucasian_male_young_cmurig31.glb", "mh_B_african_female_young_rig163.glb"}) {
    Diagnostics notes;
    const Result<Character> body = loadCharacter(bodies / name, {}, notes);
    ASSERT_TRUE(body.ok()) << body.error().text();
    // Bars [m/s] by how often two feet stand at once, which one body cannot both please.
    for (const auto& [motion, bar] : {std::pair("02_01.bvh", 0.10),
                                      {"09_01.bvh", 0.06},
                                      {"13_11.bvh", 0.05},
                                      {"05_06.bvh", 0.08}}) {
      const Result<Character> mover = loadCharacter(motions / motion, {}, notes);
      ASSERT_TRUE(mover.ok()) << mover.error().text();
      RetargetOutcome outcome;
      const Clip& recorded = mover->clips.front();
      RetargetDesc desc;
      desc.start_s = motionStart(recorded, mover->skeleton);
      desc.source_reference_time_s = 0.0f;
      Result<Clip> clip =
          retarget(recorded, mover->skeleton, body->skeleton, desc, notes, &outcome);
      ASSERT_TRUE(clip.ok()) << clip.error().text();
      EXPECT_GE(outcome.stances.size(), 3u) << motion;
      groundMotion(*body, outcome, *clip);
      const double slide = slideOfStances(*body, *clip, outcome.stances);
      std::printf("%s, %s: what stands slides by %.1f cm a second\n", name, motion, 100 * slide);
      EXPECT_LT(slide, bar) << name << ", " << motion;
    }
  }
}

}  // namespace
}  // namespace derm::motion_test
