#include "derm/io/bvh.h"

#include <cmath>
#include <filesystem>
#include <numbers>
#include <string>

#include <gtest/gtest.h>

#include "derm/io/name_table.h"

#include "support/compare.h"

namespace derm::bvh_test {
namespace {

constexpr std::string_view kHierarchy =
    "HIERARCHY\nROOT Hips\n{\n\tOFFSET 0 1 0\n"
    "\tCHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation\n"
    "\tJOINT Left Knee\n\t{\n\t\tOFFSET 0 -0.5 .25\n\t\tCHANNELS 3 Xrotation Yrotation Zrotation\n"
    "\t\tEnd Site\n\t\t{\n\t\t\tOFFSET 0 -0.5 0\n\t\t}\n\t}\n}\n";
constexpr std::string_view kMotion =
    "MOTION\nFrames: 2\nFrame Time: .0083333\n"
    "1 2 3 10 20 30 40 50 60\n0 0 0 0 0 0 0 0 0\n";

std::string whole() { return std::string(kHierarchy) + std::string(kMotion); }

Result<BvhMotion> parse(std::string_view text) {
  Diagnostics notes;
  return parseBvh(text, "walk.bvh", {}, notes);
}

std::string errorOf(std::string_view text) {
  const Result<BvhMotion> motion = parse(text);
  return motion.ok() ? "no error" : motion.error().text();
}

Quatd rotation(double degrees, int axis) {
  return Quatd(Eigen::AngleAxisd(degrees * std::numbers::pi / 180, Eigen::Vector3d::Unit(axis)));
}

Quatd key(const Track& t, std::size_t k) {
  return Quatf(t.values[4 * k + 3], t.values[4 * k], t.values[4 * k + 1], t.values[4 * k + 2])
      .cast<double>();
}

TEST(BvhReader, ReadsHierarchyAndMotion) {
  const Result<BvhMotion> m = parse(whole());
  ASSERT_TRUE(m.ok()) << m.error().text();
  ASSERT_EQ(m->skeleton.size(), 3u);
  EXPECT_EQ(m->skeleton.joints[1].name, "Left Knee");
  EXPECT_EQ(m->skeleton.joints[1].rest.translation, Vec3f(0, -0.5f, 0.25f));
  EXPECT_EQ(m->skeleton.joints[2].name, "Left Knee_end");
  EXPECT_EQ(m->skeleton.joints[2].parent, JointId(1));
  EXPECT_EQ(m->frame_count, 2u);
  EXPECT_FLOAT_EQ(m->frame_time_s, 0.0083333f);
  EXPECT_EQ(m->clip.name, "walk");
  ASSERT_EQ(m->clip.tracks.size(), 3u);
  EXPECT_EQ(m->clip.tracks[0].values, (std::vector<float>{1, 2, 3, 0, 0, 0}));
  EXPECT_FLOAT_EQ(m->clip.tracks[0].times_s[1], 0.0083333f);
}

TEST(BvhReader, ComposesRotationsInTheOrderOfTheChannels) {
  const Result<BvhMotion> m = parse(whole());
  ASSERT_TRUE(m.ok());
  const Quatd zyx = rotation(10, 2) * rotation(20, 1) * rotation(30, 0);
  const Quatd xyz = rotation(40, 0) * rotation(50, 1) * rotation(60, 2);
  EXPECT_LT(key(m->clip.tracks[1], 0).angularDistance(zyx), 1e-6);
  EXPECT_LT(key(m->clip.tracks[2], 0).angularDistance(xyz), 1e-6);
}

TEST(BvhReader, TakesAnyChannelsOnAnyJoint) {
  const Result<BvhMotion> m = parse(
      "hierarchy ROOT a{OFFSET 1 2 3 CHANNELS 2 yrotation Zposition JOINT b{OFFSET 4 5 6\r\n"
      "CHANNELS 0 JOINT c{ OFFSET 0 0 0 CHANNELS 1 XPOSITION }}}\r\nROOT d\r\n{\r\n}\r\n"
      "MOTION\r\nFrame Time: 0.5\r\nFrames: 1\r\n\r\n90 7 8\r\n");
  ASSERT_TRUE(m.ok()) << m.error().text();
  ASSERT_EQ(m->skeleton.size(), 4u);
  EXPECT_FALSE(m->skeleton.joints[3].parent.valid());
  ASSERT_EQ(m->clip.tracks.size(), 3u);
  EXPECT_EQ(m->clip.tracks[0].channel, Channel::Rotation);
  EXPECT_EQ(m->clip.tracks[1].values, (std::vector<float>{1, 2, 7}));  // OFFSET where no channel is
  EXPECT_EQ(m->clip.tracks[2].joint, JointId(2));
}

TEST(BvhReader, NeighbouringKeysNeverJumpInSign) {
  std::string text =
      "HIERARCHY\nROOT a\n{\nCHANNELS 1 Yrotation\n}\nMOTION\nFrames: 100\nFrame Time: 0.01\n";
  for (int i = 0; i < 100; ++i) text += std::to_string(i * 20 - 700) + "\n";
  const Result<BvhMotion> m = parse(text);
  ASSERT_TRUE(m.ok());
  for (std::size_t k = 1; k < 100; ++k)
    EXPECT_GT(key(m->clip.tracks[0], k - 1).dot(key(m->clip.tracks[0], k)), 0.9);
}

TEST(BvhReader, ErrorsNameLineFrameAndCounts) {
  const std::string h(kHierarchy);
  EXPECT_EQ(errorOf(h + "MOTION\nFrames: 2\nFrame Time: 0.1\n1 2 3 4 5 6 7 8 9\n1 2 3 4 5 6 7\n"),
            "walk.bvh:20: MOTION[1]: 7 values, but the hierarchy needs 9 (2 joints)");
  EXPECT_EQ(errorOf(h + "MOTION\nFrames: 1\nFrame Time: 0.1\n1 2 3 4 5 6 7 8 9 10 11\n"),
            "walk.bvh:19: MOTION[0]: 11 values, but the hierarchy needs 9 (2 joints)");
  EXPECT_EQ(errorOf(h + "MOTION\nFrames: 1\nFrame Time: 0.1\n1 2 3 nan 5 6 7 8 9\n"),
            "walk.bvh:19: MOTION[0]: value 3: \"nan\" is not a finite number");
  EXPECT_EQ(errorOf(h + "MOTION\nFrames: 1\nFrame Time: 0.1\n1 2 3 x 5 6 7 8 9\n"),
            "walk.bvh:19: MOTION[0]: value 3: \"x\" is not a number");
  EXPECT_EQ(errorOf(h + "MOTION\nFrames: 3\nFrame Time: 0.1\n"),
            "walk.bvh:18: MOTION: 0 frames, but \"Frames:\" says 3");
  EXPECT_EQ(errorOf(h + "MOTION\nFrames: -3\n"),
            "walk.bvh:17: MOTION: Frames: \"-3\" is not a count");
  EXPECT_EQ(errorOf(h + "MOTION\nFrames: 1\nFrame Time: x\n"),
            "walk.bvh:18: MOTION: Frame Time: \"x\" is not a time in seconds");
  EXPECT_EQ(errorOf(h + "MOTION\nFrames: 1\n"),
            "walk.bvh:17: MOTION: the file ends before \"Frame Time:\"");
  EXPECT_EQ(errorOf(h + "MOTION\nhello\n"),
            "walk.bvh:17: MOTION: \"hello\" where \"Frames:\" and \"Frame Time:\" are expected");
  EXPECT_EQ(errorOf(h), "walk.bvh:15: HIERARCHY: the file ends before MOTION");
  EXPECT_EQ(errorOf(""), "walk.bvh: HIERARCHY: a BVH file begins with \"HIERARCHY\"");
  EXPECT_EQ(errorOf("HIERARCHY\nROOT a\n{\nJOINT b\n{\n"),
            "walk.bvh:5: HIERARCHY: the file ends inside joint \"b\"");
  EXPECT_EQ(errorOf("HIERARCHY\nMOTION\n"), "walk.bvh:2: HIERARCHY: no ROOT");
  EXPECT_EQ(errorOf("HIERARCHY\nROOT\n{\n"), "walk.bvh:2: HIERARCHY: ROOT without a name");
  EXPECT_EQ(errorOf("HIERARCHY\nJOINT a\n{\n"), "walk.bvh:2: HIERARCHY: JOINT outside of any ROOT");
  EXPECT_EQ(errorOf("HIERARCHY\nROOT a\n{\nROOT b\n{\n"),
            "walk.bvh:4: HIERARCHY: ROOT inside a joint");
  EXPECT_EQ(errorOf("HIERARCHY\n}\n"), "walk.bvh:2: HIERARCHY: \"}\" without a joint");
  EXPECT_EQ(errorOf("HIERARCHY\nOFFSET 1 2 3\n"),
            "walk.bvh:2: HIERARCHY: \"OFFSET\" where ROOT or MOTION is expected");
  EXPECT_EQ(errorOf("HIERARCHY\nROOT a\n{\nOFFSET 1 2 x\n"),
            "walk.bvh:4: HIERARCHY: OFFSET of joint \"a\": \"x\" is not a finite number");
  EXPECT_EQ(errorOf("HIERARCHY\nROOT a\n{\nCHANNELS 2 Xrotation Wrotation\n"),
            "walk.bvh:4: HIERARCHY: CHANNELS of joint \"a\": \"Wrotation\" is not a channel (1 of "
            "2 read)");
  EXPECT_EQ(errorOf("HIERARCHY\nROOT a\n{\nCHANNELS x\n"),
            "walk.bvh:4: HIERARCHY: CHANNELS of joint \"a\": \"x\" is not a count");
  EXPECT_EQ(errorOf("HIERARCHY\nROOT a\n{\nCHANNELS 0\nCHANNELS 0\n"),
            "walk.bvh:5: HIERARCHY: CHANNELS of joint \"a\" are given twice");
  EXPECT_EQ(errorOf("HIERARCHY\nROOT a\n{\nEnd of it\n{\n"),
            "walk.bvh:4: HIERARCHY: \"End\" without \"Site\"");
  EXPECT_EQ(errorOf("HIERARCHY\nROOT a\n[\n"),
            "walk.bvh:3: HIERARCHY: \"{\" expected after joint \"a\"");
  EXPECT_EQ(
      errorOf("HIERARCHY\nROOT a\n{\nTURN 1\n"),
      "walk.bvh:4: HIERARCHY: \"TURN\" where OFFSET, CHANNELS, JOINT, End Site or } is expected");
}

TEST(BvhReader, NotesFrameCountsAndTimesThatMakeNoSense) {
  Diagnostics notes;
  const Result<BvhMotion> m =
      parseBvh(std::string(kHierarchy) +
                   "MOTION\nFrames: 5\nFrame Time: 0\n1 2 3 4 5 6 7 8 9\n1 2 3 4 5 6 7 8 9\n",
               "walk.bvh", {}, notes);
  ASSERT_TRUE(m.ok());
  EXPECT_EQ(m->frame_count, 2u);
  EXPECT_FLOAT_EQ(m->frame_time_s, 1.0f / 30);
  EXPECT_EQ(notes.count("frame-count-differs"), 1u);
  EXPECT_EQ(notes.count("frame-time-unusable"), 1u);
  EXPECT_EQ(notes.count("unit-assumed"), 1u);
}

TEST(BvhReader, ScalesLengthsByTheUnitGiven) {
  Diagnostics notes;
  const Result<BvhMotion> m = parseBvh(whole(), "walk.bvh", {.metres_per_unit = 0.5}, notes);
  ASSERT_TRUE(m.ok());
  EXPECT_EQ(m->skeleton.joints[0].rest.translation, Vec3f(0, 0.5f, 0));
  EXPECT_EQ(m->clip.tracks[0].values[1], 1.0f);
  const Character c = characterOf(*m, {.metres_per_unit = 0.5});
  EXPECT_TRUE(validate(c).ok());
  EXPECT_EQ(c.mesh.vertexCount(), 0u);
  EXPECT_EQ(c.clips.size(), 1u);
}

TEST(BvhReader, NestingAsDeepAsTheFileIsLongIsFine) {
  std::string text = "HIERARCHY\nROOT r\n{\nCHANNELS 1 Xrotation\n";
  const int depth = 100000;
  for (int i = 0; i < depth; ++i) text += "JOINT j\n{\n";
  for (int i = 0; i <= depth; ++i) text += "}\n";
  text += "MOTION\nFrames: 1\nFrame Time: 0.1\n5\n";
  const Result<BvhMotion> m = parse(text);
  ASSERT_TRUE(m.ok()) << m.error().text();
  EXPECT_EQ(m->skeleton.size(), 100001u);
}

TEST(BvhReader, HostileCountsCostNothing) {
  const std::string h(kHierarchy);
  EXPECT_TRUE(
      parse(h + "MOTION\nFrames: 9000000000000000000\nFrame Time: 0.1\n1 2 3 4 5 6 7 8 9\n").ok());
  EXPECT_FALSE(parse("HIERARCHY\nROOT a\n{\nCHANNELS 999999999999 Xrotation\n}\n").ok());
  std::string many = "HIERARCHY\n";
  for (int i = 0; i < 262145; ++i) many += "ROOT a{}\n";
  EXPECT_EQ(errorOf(many), "walk.bvh:262146: HIERARCHY: more than 262144 joints");
  EXPECT_EQ(errorOf("HIERARCHY\nROOT " + std::string(300, 'x') + "\n{\n"),
            "walk.bvh:2: HIERARCHY: joint name \"" + std::string(40, 'x') +
                "...\" has more than 255 bytes");
}

TEST(BvhReader, EveryTruncationIsAMotionOrAnError) {
  const std::string text = whole();
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const Result<BvhMotion> m = parse(std::string_view(text).substr(0, length));
    if (!m.ok()) {
      EXPECT_TRUE(m.error().text().starts_with("walk.bvh:"));
    }
  }
}

TEST(BvhData, AllClipsHaveTheirFrames) {
  DERM_DATA_OR_SKIP(folder, "mocap-cmu-bvh");
  const std::pair<const char*, std::size_t> clips[] = {{"02_01.bvh", 344},
                                                       {"09_01.bvh", 149},
                                                       {"13_11.bvh", 416},
                                                       {"02_05.bvh", 1855},
                                                       {"05_06.bvh", 886}};
  for (const auto& [file, frames] : clips) {
    SCOPED_TRACE(file);
    Diagnostics notes;
    const Result<BvhMotion> m = loadBvh(folder / file, {}, notes);
    ASSERT_TRUE(m.ok()) << m.error().text();
    EXPECT_EQ(m->frame_count, frames);
    EXPECT_EQ(notes.count("frame-count-differs"), 0u);
    EXPECT_EQ(m->skeleton.size(), 38u);  // 31 joints, 7 end sites
    EXPECT_NEAR(m->clip.duration_s(), 0.0083333 * double(frames - 1), 1e-4);
  }
}

TEST(NameTable, ReadsBothFormsAndComments) {
  const Result<NamePairs> t = parseNameTable(
      "# source = target\n\nLeftHandIndex1 = LeftHandFinger1\nHips\tpelvis # the root\r\n"
      "Upper Arm = arm #2\n",
      "names.txt");
  ASSERT_TRUE(t.ok()) << t.error().text();
  const NamePairs wanted = {
      {"LeftHandIndex1", "LeftHandFinger1"}, {"Hips", "pelvis"}, {"Upper Arm", "arm"}};
  EXPECT_EQ(*t, wanted);
}

TEST(NameTable, ErrorsNameTheLine) {
  const auto errorIn = [](std::string_view text) {
    const Result<NamePairs> t = parseNameTable(text, "names.txt");
    return t.ok() ? std::string("no error") : t.error().text();
  };
  EXPECT_EQ(errorIn("a = b\nc\n"), "names.txt:2: \"c\" is not \"source = target\"");
  EXPECT_EQ(errorIn("a b c\n"), "names.txt:1: \"a b c\" is not \"source = target\"");
  EXPECT_EQ(errorIn("= b\n"), "names.txt:1: \"= b\" is not \"source = target\"");
  EXPECT_EQ(errorIn("a = b\na = c\n"), "names.txt:2: source \"a\" was given before");
  EXPECT_EQ(errorIn("a = b\nc = b\n"), "names.txt:2: target \"b\" was given before");
}

}  // namespace
}  // namespace derm::bvh_test
