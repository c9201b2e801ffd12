#include "derm/anim/skin.h"

#include <limits>

#include <gtest/gtest.h>

#include "support/shelf.h"

namespace derm::skin_test {
namespace {

Skin built(std::vector<std::vector<Influence>> rows, Diagnostics& notes) {
  SkinBuilder builder({{JointId(0)}, {JointId(1)}, {JointId(2)}}, rows.size());
  for (std::vector<Influence>& row : rows) builder.addVertex(row, 2, "skin", notes);
  return std::move(builder).finish();
}

TEST(SkinBuilder, MakesRowsSortedNormalisedAndUnique) {
  Diagnostics notes;
  const Skin s = built({{{0, 0.2f}, {1, 0.6f}, {0, 0.2f}}, {{1, 0.5f}, {0, 0.5f}}}, notes);
  EXPECT_EQ(s[0][0], (Influence{1, 0.6f}));
  EXPECT_EQ(s[0][1], (Influence{0, 0.4f}));
  EXPECT_EQ(s[1][0].slot, 0u);  // ties by slot
  EXPECT_TRUE(notes.empty());
  EXPECT_TRUE(validate(s, 2, 3, "f").ok());
  EXPECT_EQ(s.maxInfluences(), 2u);
}

TEST(SkinBuilder, RepairsBadRowsAndSaysSo) {
  Diagnostics notes;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Skin s = built({{}, {{0, 0.0f}}, {{0, nan}, {1, -1.0f}}, {{0, 2.0f}, {1, 2.0f}}}, notes);
  for (int v = 0; v < 3; ++v) EXPECT_EQ(s[v][0], (Influence{2, 1.0f}));
  EXPECT_EQ(s[3][0].weight, 0.5f);
  EXPECT_EQ(notes.count("vertex-without-weights"), 3u);
  EXPECT_EQ(notes.count("weight-not-usable"), 2u);
  EXPECT_EQ(notes.count("weights-not-normalised"), 1u);
  EXPECT_TRUE(validate(s, 4, 3, "f").ok());
}

TEST(Skin, PruningKeepsTheLargestAndRenormalises) {
  Diagnostics notes;
  const Skin s = built({{{0, 0.5f}, {1, 0.3f}, {2, 0.2f}}, {{1, 1.0f}}}, notes);
  const Skin two = pruned(s, 2);
  EXPECT_FLOAT_EQ(two[0][0].weight, 0.625f);
  EXPECT_EQ(two.maxInfluences(), 2u);
  EXPECT_EQ(pruned(s, 8), s);
  EXPECT_EQ(pruned(s, 8, 0.9f)[0].size(), 1u);
  EXPECT_TRUE(validate(two, 2, 3, "f").ok());
}

TEST(Skin, ValidateCatchesEachBrokenRule) {
  Diagnostics notes;
  const Skin good = built({{{0, 0.7f}, {1, 0.3f}}}, notes);
  EXPECT_FALSE(validate(good, 2, 3, "f").ok());
  EXPECT_FALSE(validate(good, 1, 2, "f").ok());
  Skin s = good;
  s.influences[0].slot = 9;
  EXPECT_NE(validate(s, 1, 3, "f").error().text().find("slot 9 of 3"), std::string::npos);
  s = good;
  std::swap(s.influences[0], s.influences[1]);
  EXPECT_NE(validate(s, 1, 3, "f").error().text().find("sorted"), std::string::npos);
  s = good;
  s.influences[0].weight = 0.9f;
  EXPECT_NE(validate(s, 1, 3, "f").error().text().find("sum to 1"), std::string::npos);
  s = good;
  s.offsets = {0, 0};
  EXPECT_FALSE(validate(s, 1, 3, "f").ok());
}

TEST(Skin, InTheBindPoseEveryMatrixIsTheIdentity) {
  for (const shelf::ShelfMesh& m : shelf::all()) {
    SCOPED_TRACE(m.name);
    const Character c = shelf::rigged(m);
    std::vector<Affine3d> model(c.skeleton.size());
    localToModel(c.skeleton, c.bindPose().local, model);
    std::vector<Affine3f> palette(c.skin.slots.size());
    skinningMatrices(c.skin, model, palette);
    for (const Affine3f& p : palette)
      EXPECT_LT((p.linear() - Mat3f::Identity()).cwiseAbs().maxCoeff(), 2e-6f);
  }
}

}  // namespace
}  // namespace derm::skin_test
