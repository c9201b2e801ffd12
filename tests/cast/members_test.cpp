#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "derm/cast/cast.h"
#include "derm/mesh/closedness.h"
#include "derm/mesh/measures.h"

namespace derm::members_test {
namespace {

struct Expected {
  std::string name;
  std::size_t triangles, tolerance;    // tolerance in triangles
  double low_diagonal, high_diagonal;  // [m]
  std::vector<std::string> joints, clips, groups;
};

std::vector<Expected> sculptedMembers() {
  return {
      {"arm",
       4200,
       0,
       0.7,
       0.9,
       {"upper_arm", "forearm", "forearm_twist", "hand", "thumb_3", "little_1"},
       {"flex", "twist", "wave"},
       {"biceps", "forearm", "caps"}},
      {"mushroom", 5600, 0, 0.4, 0.6, {"foot", "cap"}, {"hop"}, {"cap", "foot"}},
      {"wrist", 2480, 248, 0.2, 0.3, {"forearm", "hand", "thumb"}, {"flex"}, {"crease"}},
      {"trousers",
       6362,
       636,
       0.9,
       1.3,
       {"pelvis", "thigh_left", "shin_right"},
       {"bend", "walk"},
       {"knee_left", "knee_right", "waist"}},
      {"cat",
       2574,
       257,
       0.7,
       1.0,
       {"root",          "pelvis",
        "spine_1",       "spine_2",
        "spine_3",       "spine_4",
        "spine_5",       "neck_1",
        "neck_2",        "head",
        "jaw",           "ear_left",
        "tail_1",        "tail_6",
        "shoulder_left", "upper_arm_right",
        "forearm_left",  "paw_front_right",
        "thigh_left",    "shin_right",
        "foot_left",     "paw_back_right"},
       {"run", "jump", "idle"},
       {"belly", "haunches", "neck"}},
  };
}

class SculptedMember : public testing::TestWithParam<Expected> {};
INSTANTIATE_TEST_SUITE_P(Cast, SculptedMember, testing::ValuesIn(sculptedMembers()),
                         [](const auto& member) { return member.param.name; });

TEST_P(SculptedMember, IsAClosedBodyWithTheJointsClipsAndGroupsItPromises) {
  const Expected& want = GetParam();
  const Result<Character> made = makeCastMember(want.name);
  ASSERT_TRUE(made.ok());
  const Character& c = made.value();
  const Result<void> valid = validate(c);
  EXPECT_TRUE(valid.ok()) << valid.error().text();
  EXPECT_EQ(c.name, want.name);

  const std::size_t triangles = c.mesh.triangles.size();
  EXPECT_GE(triangles, want.triangles - want.tolerance);
  EXPECT_LE(triangles, want.triangles + want.tolerance);
  EXPECT_TRUE(checkClosed(c.mesh.triangles).closed());
  // Closed and of one piece without handles: V - E + F = 2, with E = 3 F / 2.
  EXPECT_EQ(c.mesh.vertexCount() * 2, triangles + 4);
  EXPECT_GT(volume(c.mesh.positions, c.mesh.triangles), 0.0);
  EXPECT_EQ(c.mesh.normals.size(), c.mesh.vertexCount());
  EXPECT_EQ(c.mesh.colours.size(), c.mesh.vertexCount());
  const double diagonal = bounds(c.mesh.positions).diagonal();
  EXPECT_GT(diagonal, want.low_diagonal);
  EXPECT_LT(diagonal, want.high_diagonal);

  for (const std::string& joint : want.joints) EXPECT_TRUE(c.skeleton.find(joint).valid()) << joint;
  for (const std::string& clip : want.clips) {
    ASSERT_TRUE(c.findClip(clip).ok()) << clip;
    EXPECT_GT(c.clips[c.findClip(clip).value()].duration_s(), 0.4f);
  }
  for (const std::string& name : want.groups) {
    const VertexGroup* group = c.mesh.findGroup(name);
    ASSERT_NE(group, nullptr) << name;
    EXPECT_GT(group->vertices.size(), 20u) << name;
    EXPECT_LT(group->vertices.size(), c.mesh.vertexCount()) << name;
  }
  for (const MeshPart& part : c.parts) EXPECT_GT(part.triangle_count, 0u) << part.name;
  for (const Material& m : c.materials) EXPECT_EQ(m.metallic, 0.0f) << m.name;
}

TEST(Cast, ListsEveryMemberOnceWithADescription) {
  std::set<std::string> names;
  for (const CastMember& m : castMembers()) {
    EXPECT_TRUE(names.insert(std::string(m.name)).second) << m.name;
    EXPECT_GT(m.description.size(), 10u) << m.name;
  }
  for (const char* name : {"cylinder", "cylinder-m625", "cylinder-m258", "arm", "mushroom", "wrist",
                           "trousers", "cat"})
    EXPECT_TRUE(names.count(name)) << name;
}

TEST(Cast, AnUnknownNameIsAnErrorThatNamesTheNearestMember) {
  const Result<Character> made = makeCastMember("catt");
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::BadArgument);
  EXPECT_NE(made.error().text().find("\"cat\""), std::string::npos) << made.error().text();
  EXPECT_FALSE(makeCastMember("").ok());
}

TEST(Cast, CylindersAreValidCharacters) {
  for (const char* name : {"cylinder", "cylinder-m627", "cylinder-m625", "cylinder-m258"}) {
    SCOPED_TRACE(name);
    const Character c = makeCastMember(name).value();
    EXPECT_TRUE(validate(c).ok());
    EXPECT_EQ(c.clipNames(), (std::vector<std::string>{"bend", "twist"}));
    EXPECT_NE(c.mesh.findGroup("caps"), nullptr);
  }
}

TEST(Cat, EarsEndInAPoint) {
  const Character cat = makeCastMember("cat").value();
  const auto onEar = [](const Vec3f& p) { return p.x() > 0 && p.z() > 0.18f && p.z() < 0.27f; };
  float top = 0;
  for (const Vec3f& p : cat.mesh.positions)
    if (onEar(p)) top = std::max(top, p.y());
  std::vector<Vec3f> tip;
  for (const Vec3f& p : cat.mesh.positions)
    if (onEar(p) && p.y() > top - 0.005f) tip.push_back(p);
  const Vec3f width = bounds(tip).size();
  EXPECT_LT(width.x(), 0.010f);  // 14 mm looked cut off
  EXPECT_LT(width.z(), 0.010f);
}

}  // namespace
}  // namespace derm::members_test
