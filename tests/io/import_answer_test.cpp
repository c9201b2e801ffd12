#include "io/import_answer.h"

#include <gtest/gtest.h>

#include "derm/base/rng.h"

namespace derm::detail {
namespace {

/// A character with something in every list that an answer has.
Character sample() {
  Character c;
  c.name = "strip";
  c.mesh.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  c.mesh.normals.assign(3, Vec3f(0, 0, 1));
  c.mesh.uvs.assign(3, Vec2f(0.5f, 0.25f));
  c.mesh.colours.assign(3, Vec4f(1, 0.5f, 0, 1));
  c.mesh.triangles = {{0, 1, 2}};
  c.skeleton.joints = {{"root", JointId(), {}}, {"tip", JointId(0), {}}};
  c.skeleton.joints[1].rest.translation = Vec3f(0, 1, 0);
  SkinBuilder skin({{JointId(0)}, {JointId(1)}}, 3);
  Diagnostics notes;
  for (int v = 0; v < 3; ++v) {
    std::vector<Influence> row = {{0, 0.75f}, {1, 0.25f}};
    skin.addVertex(row, 0, "", notes);
  }
  c.skin = std::move(skin).finish();
  c.morphs = {{.name = "swell", .vertices = {1}, .positions = {Vec3f(0, 0, 1)}}};
  Track track;
  track.channel = Channel::Translation;
  track.joint = JointId(1);
  track.times_s = {0, 1};
  track.values = {0, 1, 0, 0, 2, 0};
  c.clips = {{"bend", {track}}};
  c.materials = {{.name = "skin", .base_colour_image = 0}};
  c.images = {{.name = "a", .mime_type = "image/png", .bytes = {1, 2, 3}}};
  addDefaultParts(c);
  c.instances[0].joint = JointId(0);
  c.import = {.format = "FBX", .declared_unit = "cm", .metres_per_unit = 0.01, .up_axis = "+Z"};
  return c;
}

TEST(ImportAnswer, ACharacterAndItsNotesComeBack) {
  const Character before = sample();
  ASSERT_TRUE(validate(before).ok());
  Diagnostics given, got;
  for (std::uint64_t i = 0; i < 20; ++i) given.warn("odd", "mesh", "odd vertex", 3 * i);
  const Result<Character> after = decodeAnswer(encodeAnswer(before, given), "a.fbx", 1000, got);
  ASSERT_TRUE(after.ok()) << after.error().text();
  EXPECT_TRUE(sameContent(before, *after));
  EXPECT_EQ(after->import, before.import);
  ASSERT_EQ(got.notes().size(), 1u);
  EXPECT_EQ(got.notes()[0].text(), given.notes()[0].text());
}

TEST(ImportAnswer, AnErrorComesBack) {
  Diagnostics notes;
  const Error error{
      ErrorCode::BadData, "no such vertex", {.file = "a.fbx", .element = "m", .index = 7}};
  const Result<Character> back = decodeAnswer(encodeAnswer(error, {}), "a.fbx", 1, notes);
  ASSERT_FALSE(back.ok());
  EXPECT_EQ(back.error().text(), error.text());
}

TEST(ImportAnswer, NoBytesAtAllHurtTheReader) {
  const std::vector<std::uint8_t> whole = encodeAnswer(sample(), {});
  Diagnostics notes;
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(decodeAnswer(std::span(whole).first(length), "a.fbx", 10, notes).ok()) << length;
  Rng rng(7);
  for (int i = 0; i < 4000; ++i) {
    std::vector<std::uint8_t> changed = whole;
    for (int k = 0; k < 3; ++k)
      changed[8 + rng.below(changed.size() - 8)] = static_cast<std::uint8_t>(rng.below(4) * 85);
    const Result<Character> c = decodeAnswer(changed, "a.fbx", 10, notes);
    if (c.ok()) {
      EXPECT_TRUE(validate(*c).ok());
    }
  }
}

}  // namespace
}  // namespace derm::detail
