#include "derm/deform/wrinkles.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "derm/mesh/closedness.h"
#include "derm/mesh/weld.h"

#include "deform/wrinkle_rig.h"
#include "support/allocations.h"
#include "support/compare.h"

namespace derm::wrinkles_test {
namespace {

using namespace testing_support;

TEST(Wrinkles, FalloffsRunFromOneInTheMiddleToZeroAtTheSides) {
  for (const FoldFalloff f : {FoldFalloff::Linear, FoldFalloff::Wyvill}) {
    EXPECT_EQ(foldFalloff(f, 0), 1);
    EXPECT_NEAR(foldFalloff(f, 1), 0, 1e-15);
    EXPECT_EQ(foldFalloff(f, 1.2), 0) << "the polynomial is not 0 there";
    EXPECT_NEAR(foldFalloff(f, -0.5), 0.5, 1e-15);
  }
  EXPECT_EQ(foldFalloff(FoldFalloff::None, 0.99), 1);
  EXPECT_EQ(foldFalloff(FoldFalloff::None, 1.01), 0);
}

TEST(Wrinkles, IdleToolsHandTheSurfaceOnBitForBitAndUncut) {
  Folded f(squeezable(sheet(16)), {sheetTool()}, Topology::Adaptive);
  const SkinFrame& frame = f.at(0);
  EXPECT_EQ(frame.vertexCount(), f.baseCount());
  EXPECT_TRUE(std::ranges::equal(frame.triangles(), f.character->mesh.triangles));
  EXPECT_NE(frame.topology(), 0u);
  for (std::size_t v = 0; v < f.baseCount(); ++v) {
    ASSERT_EQ(frame.positions()[v], f.plain_frame->positions()[v]);
    ASSERT_EQ(frame.normals()[v], f.plain_frame->normals()[v]);
  }
}

TEST(Wrinkles, IdleToolsOfTheConstantTopologyLeaveEveryPointOnItsTriangle) {
  Folded f(squeezable(sheet(16)), {sheetTool()});
  const SkinFrame& frame = f.at(0);
  EXPECT_GT(frame.vertexCount(), f.baseCount());
  EXPECT_EQ(frame.topology(), 0u);
  for (std::size_t v = 0; v < f.baseCount(); ++v)
    ASSERT_EQ(frame.positions()[v], f.plain_frame->positions()[v]);
  for (const Vec3f& p : frame.positions()) EXPECT_EQ(p.y(), 0);
  EXPECT_LT(maxDistance(frame.positions(), f.stack->output().rest.positions), 1e-6f);
}

/// Added vertices have the falloff where they lie, not the mean of the coarse ones.
TEST(Wrinkles, TheMaskIsTheFalloffAcrossTheFolds) {
  for (const Topology topology : {Topology::Constant, Topology::Adaptive}) {
    Folded f(squeezable(sheet(16)), {sheetTool()}, topology);
    f.runner.keepChannels({"folds"});
    for (const double time_s : {0.0, 0.4}) {
      const SkinFrame& frame = f.at(time_s);
      const std::span<const float> mask = frame.channel("folds");
      const std::vector<Vec3f>& rest = f.stack->output().rest.positions;
      ASSERT_EQ(mask.size(), frame.vertexCount());
      for (std::size_t v = 0; v < mask.size(); ++v) {
        const double x = static_cast<double>(rest[v].x()), z = static_cast<double>(rest[v].z());
        // The curve runs between the vertices nearest to what was picked, its ends left out.
        const bool beside = x < 0.125 + 1e-4 || x > 0.875 - 1e-4;
        const double want = beside ? 0.0 : foldFalloff(FoldFalloff::Wyvill, z / 0.25);
        ASSERT_NEAR(mask[v], want, 1e-4) << v << " at " << rest[v].transpose();
      }
    }
  }
}

TEST(Wrinkles, HeightsOnTheMeshAreThoseOfTheCurve) {
  WrinkleToolDesc tool = sheetTool();
  tool.subdivide = 0;  // 40 rows: 32 vertices over the curve's 8 segments
  Folded f(squeezable(sheet(40)), {tool});
  const SkinFrame& frame = f.at(0.4);
  const FoldCurve curve = FoldCurve::make(tool.curve).value();
  FoldCurve::Scratch scratch = curve.makeScratch();
  std::vector<double> heights(curve.pointCount());
  curve.evaluate(0.8 * 0.8, 0.8, scratch, heights);
  for (int j = 0; j <= 40; ++j)
    for (int i = 0; i <= 40; ++i) {
      const double x = (i / 40.0 - 0.1) / 0.8, z = (j / 40.0 - 0.5) / 0.25;
      double expected = 0;
      if (x > 0 && x < 1 && std::abs(z) < 1) {
        const double at = x * 8;
        const auto left = std::min(std::size_t(at), std::size_t(7));
        expected = foldFalloff(FoldFalloff::Wyvill, z) *
                   (heights[left] + (at - double(left)) * (heights[left + 1] - heights[left]));
      }
      EXPECT_NEAR(frame.positions()[std::size_t(j * 41 + i)].y(), expected, 2e-6) << i << ' ' << j;
    }
  EXPECT_NEAR(f.layer().tool(0).length_m, 0.64, 1e-6);
  EXPECT_NEAR(f.layer().tool(0).rest_length_m, 0.8, 1e-6);
}

TEST(Wrinkles, FoldsOnTheMeshKeepTheLengthOfTheSkin) {
  // Along the middle of the folded sheet, as finely as it is cut.
  WrinkleToolDesc tool = sheetTool();
  tool.falloff = FoldFalloff::None;
  tool.subdivide = 0;
  Folded f(squeezable(sheet(40)), {tool});
  const SkinFrame& frame = f.at(0.3);
  double length = 0;
  for (std::size_t i = 4; i < 36; ++i)
    length += double((frame.positions()[20 * 41 + i + 1] - frame.positions()[20 * 41 + i]).norm());
  EXPECT_NEAR(length, 0.8, 1e-5);
}

TEST(Wrinkles, VerticesOutsideTheRectangleNeverMove) {
  Folded f(squeezable(sheet(20)), {sheetTool()});
  for (const double time : {0.1, 0.5, 1.0}) {
    const SkinFrame& frame = f.at(time);
    std::size_t moved = 0;
    for (std::size_t v = 0; v < f.baseCount(); ++v) {
      const Vec3f& rest = f.character->mesh.positions[v];
      const bool inside = rest.x() > 0.1f && rest.x() < 0.9f && std::abs(rest.z()) < 0.25f;
      const bool moves = frame.positions()[v] != f.plain_frame->positions()[v];
      EXPECT_TRUE(inside || !moves) << v;
      moved += moves;
    }
    EXPECT_GT(moved, 10u);
  }
}

TEST(Wrinkles, ElevationsOfOverlappingToolsAddUp) {
  WrinkleToolDesc tool = sheetTool();
  tool.subdivide = 0;
  Folded one(squeezable(sheet(20)), {tool});
  WrinkleToolDesc other = tool;
  other.name = "across";
  other.path = {pick(0.3, 0, 0), pick(0.8, 0, 0)};
  other.curve.h_max = 0.02;
  Folded two(squeezable(sheet(20)), {other});
  Folded both(squeezable(sheet(20)), {tool, other});
  const auto a = one.at(0.5).positions();
  const auto b = two.at(0.5).positions();
  const auto sum = both.at(0.5).positions();
  for (std::size_t v = 0; v < one.baseCount(); ++v)
    EXPECT_NEAR(sum[v].y(), a[v].y() + b[v].y(), 1e-6);
}

TEST(Wrinkles, TrianglesAreCutAsFineAsTheFinestToolOverThemAsks) {
  WrinkleToolDesc coarse = sheetTool(), fine = sheetTool();
  coarse.subdivide = 1;
  fine.name = "fine";
  fine.path = {pick(0.4, 0, 0), pick(0.9, 0, 0)};
  fine.curve.points = 41;
  fine.width_m = 0.3;
  Folded c(squeezable(sheet(8)), {coarse}), f(squeezable(sheet(8)), {fine}),
      both(squeezable(sheet(8)), {coarse, fine});
  const auto count = [](const Folded& x) { return x.stack->output().rest.triangles.size(); };
  EXPECT_GT(count(both), std::max(count(c), count(f)));
  EXPECT_LT(count(both), count(c) + count(f)) << "not cut twice";
}

TEST(Wrinkles, WhatTurnsAwayOrHangsElsewhereIsNotFolded) {
  // A closed box of a sheet: the far side faces away. A second sheet below faces the same way but
  // is another piece.
  TriMesh mesh = sheet(16);
  const std::size_t top = mesh.vertexCount();
  for (const float y : {-0.1f, -0.3f}) {
    const TriMesh below = sheet(16);
    const auto first = std::uint32_t(mesh.vertexCount());
    for (const Vec3f& p : below.positions) mesh.positions.push_back(p + Vec3f(0, y, 0));
    for (Triangle t : below.triangles) {
      if (y == -0.1f) std::swap(t[1], t[2]);
      mesh.triangles.push_back({first + t[0], first + t[1], first + t[2]});
    }
    mesh.normals.insert(mesh.normals.end(), below.vertexCount(), Vec3f(0, y == -0.1f ? -1 : 1, 0));
  }
  Folded f(squeezable(mesh), {sheetTool()});
  const SkinFrame& frame = f.at(0.5);
  for (std::size_t v = top; v < f.baseCount(); ++v)
    EXPECT_EQ(frame.positions()[v], f.plain_frame->positions()[v]);
}

TEST(Wrinkles, OnlyFoldingGroupsOfToolsAreCutAndTheChangeIsAnnounced) {
  WrinkleToolDesc left = sheetTool(), right = sheetTool();
  left.name = "left";
  left.path = {pick(0.05, 0, -0.3), pick(0.3, 0, -0.3)};
  left.width_m = 0.15;
  right.name = "right";
  right.path = {pick(0.6, 0, 0.3), pick(0.95, 0, 0.3)};
  right.width_m = 0.15;
  right.rest_length_m = 0.25;  // idle until the sheet has shrunk to 5/7
  Folded f(squeezable(sheet(24)), {left, right}, Topology::Adaptive);
  const std::size_t finest = f.stack->output().rest.triangles.size();
  std::set<std::uint64_t> topologies;
  std::vector<std::size_t> counts;
  for (const double time : {0.0, 0.2, 0.3, 0.9}) {
    const SkinFrame& frame = f.at(time);
    topologies.insert(frame.topology());
    counts.push_back(frame.triangles().size());
    EXPECT_EQ(
        frame.sourceTriangles().empty() ? frame.triangles().size() : frame.sourceTriangles().size(),
        frame.triangles().size());
    for (const Triangle& t : frame.triangles())
      for (const std::uint32_t v : t) ASSERT_LT(v, frame.vertexCount());
    for (const Vec3f& p : frame.positions()) ASSERT_TRUE(p.allFinite() && p.norm() < 2);
  }
  EXPECT_EQ(topologies.size(), 3u) << "uncut, left cut, both cut";
  EXPECT_EQ(counts[0], f.character->mesh.triangles.size());
  EXPECT_EQ(counts[1], counts[2]);
  EXPECT_LT(counts[1], finest);
  EXPECT_EQ(counts[3], finest);
  EXPECT_EQ(f.at(0).topology(), *topologies.begin()) << "back at rest, back to the uncut triangles";
}

TEST(Wrinkles, AdaptiveAndConstantTopologyGiveTheSamePoints) {
  Folded adaptive(squeezable(sheet(16)), {sheetTool()}, Topology::Adaptive);
  Folded constant(squeezable(sheet(16)), {sheetTool()});
  for (const double time : {0.01, 0.2, 0.7}) {
    const SkinFrame& a = adaptive.at(time);
    const SkinFrame& c = constant.at(time);
    ASSERT_EQ(a.vertexCount(), c.vertexCount());
    for (std::size_t v = 0; v < a.vertexCount(); ++v) {
      ASSERT_EQ(a.positions()[v], c.positions()[v]);
      ASSERT_EQ(a.normals()[v], c.normals()[v]);
    }
  }
}

TEST(Wrinkles, NothingPopsWhenCuttingSwitchesOn) {
  // On a round surface cutting alone would move points by the sagitta of its triangles (3 mm here).
  TriMesh arch = sheet(10);
  for (std::size_t v = 0; v < arch.vertexCount(); ++v) {
    Vec3f& p = arch.positions[v];
    const float turn = p.z() * 2;
    p = Vec3f(p.x(), 0.5f * std::cos(turn) - 0.5f, 0.5f * std::sin(turn));
    arch.normals[v] = Vec3f(0, std::cos(turn), std::sin(turn));
  }
  WrinkleToolDesc tool = sheetTool();
  tool.curve.h_max = 0.02;
  Folded f(squeezable(arch), {tool});
  const SkinFrame& still = f.at(0);
  const std::vector<Vec3f> before(still.positions().begin(), still.positions().end());
  const std::vector<Vec3f> normals(still.normals().begin(), still.normals().end());
  const double squeeze = 1e-6;  // of the length
  const SkinFrame& frame = f.at(2 * squeeze);
  EXPECT_GT(f.layer().tool(0).fold.spare, 0);
  const float rise = float(foldHeight(0.8 * squeeze, 0.1));
  EXPECT_LT(maxDistance(frame.positions(), before), 1.2f * rise + 1e-5f);
  EXPECT_LT(maxDistance(frame.normals(), normals), 0.05f);
  float smoothed = 0;  // fully squeezed the surface is a smooth one
  const SkinFrame& folded = f.at(0.2);
  for (std::size_t v = f.baseCount(); v < folded.vertexCount(); ++v)
    smoothed =
        std::max(smoothed, (folded.positions()[v] - before[v]).cwiseAbs().tail<2>().maxCoeff());
  EXPECT_GT(smoothed, 1e-3f);
}

TEST(Wrinkles, NormalsAreThoseOfTheFoldedSurface) {
  Folded f(squeezable(sheet(20)), {sheetTool()});
  const SkinFrame& frame = f.at(0.4);
  const std::vector<Vec3f> area = areaWeightedNormals(frame.positions(), frame.triangles());
  float steepest = 0;
  for (std::size_t v = 0; v < frame.vertexCount(); ++v) {
    EXPECT_NEAR(frame.normals()[v].norm(), 1, 1e-5);
    EXPECT_LT((frame.normals()[v] - area[v]).norm(), 1e-3f) << v;
    steepest = std::max(steepest, 1 - area[v].y());
  }
  EXPECT_GT(steepest, 0.1f);
}

TEST(Wrinkles, RoundFoldsRunStraightOverCoarseTriangles) {
  // A dome of triangles as long as the bumps: crests run along z, so normals hardly lean that way.
  constexpr float kRadius = 1.2f;
  TriMesh dome = sheet(9);
  for (std::size_t v = 0; v < dome.vertexCount(); ++v) {
    Vec3f& p = dome.positions[v];
    if (std::abs(p.x() - 0.5f) < 0.45f && std::abs(p.z()) < 0.45f) {  // no two triangles alike
      p.x() += 0.02f * std::sin(12.9f * float(v));
      p.z() += 0.02f * std::sin(78.2f * float(v));
    }
    const float x = p.x() - 0.5f;
    p.y() = std::sqrt(kRadius * kRadius - x * x - p.z() * p.z());
    dome.normals[v] = Vec3f(x, p.y(), p.z()) / kRadius;
  }
  WrinkleToolDesc tool = sheetTool();
  const double high = std::sqrt(double(kRadius * kRadius) - 0.16);
  tool.path = {pick(0.1, high, 0), pick(0.9, high, 0)};
  tool.falloff = FoldFalloff::None;
  tool.curve.spacing = 0;
  tool.curve.propagation = FoldPropagation::Simultaneous;
  tool.curve.profile = FoldProfile::Round;
  Folded folded(squeezable(dome), {tool});
  const SkinFrame& frame = folded.at(0.3);
  double lean = 0;
  for (std::size_t v = folded.baseCount(); v < frame.vertexCount(); ++v) {
    const Vec3f& p = frame.positions()[v];
    if (std::abs(p.z()) > 0.08f || p.x() < 0.2f || p.x() > 0.6f) continue;
    lean = std::max(lean, double(std::abs(frame.normals()[v].z() - p.z() / kRadius)));
  }
  std::printf("normals lean along the crests by up to %.3f\n", lean);
  EXPECT_LT(lean, 0.05);  // 0.064 where folds were placed on flat triangles
}

TEST(Wrinkles, HardEdgesAndSeamsStayTogetherUnderFolds) {
  // Split every vertex of the sheet's middle row: one side has other texture coordinates.
  TriMesh mesh = sheet(16);
  for (const Vec3f& p : mesh.positions)
    mesh.uvs.push_back(Vec2f(p.x() + (p.z() > 0 ? 10 : 0), p.z()));
  std::vector<std::uint32_t> twin(mesh.vertexCount());
  for (std::uint32_t v = 0; v < twin.size(); ++v) {
    twin[v] = v;
    if (mesh.positions[v].z() != 0) continue;
    twin[v] = std::uint32_t(mesh.vertexCount());
    mesh.positions.push_back(mesh.positions[v]);
    mesh.normals.push_back(mesh.normals[v]);
    mesh.uvs.push_back(Vec2f(mesh.positions[v].x() + 10, 0));
  }
  for (Triangle& t : mesh.triangles) {
    float z = 0;
    for (const std::uint32_t v : t) z += mesh.positions[v].z();
    if (z > 0)
      for (std::uint32_t& v : t) v = twin[v];
  }
  Folded f(squeezable(mesh), {sheetTool()});
  Folded whole(squeezable(sheet(16)), {sheetTool()});
  const SkinFrame& frame = f.at(0.5);
  const auto border = [](const SkinFrame& x) {
    return checkClosed(mapped(x.triangles(), weldMap(x.positions()))).boundary_edges;
  };
  EXPECT_EQ(border(frame), border(whole.at(0.5)));
  const TriMesh& fine = f.stack->output().rest;
  for (const Triangle& t : fine.triangles)
    for (const std::uint32_t v : t)
      EXPECT_EQ(fine.uvs[v].x() > 5, fine.uvs[t[0]].x() > 5) << "no triangle crosses the seam";
}

TEST(Wrinkles, TheRestLengthCanBeSetWithoutAnyCompression) {
  WrinkleToolDesc tool = sheetTool();
  tool.rest_length_m = 0.9;
  Folded f(squeezable(sheet(20)), {tool});
  EXPECT_GT(f.at(0).positions()[10 * 21 + 10].norm(), 0.5f);
  EXPECT_NEAR(f.layer().tool(0).fold.spare, 0.1, 1e-6);
  EXPECT_GT(f.layer().tool(0).highest_m, 0.02);
}

TEST(Wrinkles, TheRestLengthCanChangeOverTime) {
  WrinkleToolDesc tool = sheetTool();
  tool.rest_length_keys = {{0.0, 0.8}, {0.5, 1.0}, {1.0, 0.9}};
  Folded f(squeezable(sheet(20)), {tool});
  for (const auto& [time, length] : {std::pair(0.0, 0.8), std::pair(0.25, 0.9), std::pair(0.5, 1.0),
                                     std::pair(0.75, 0.95), std::pair(1.0, 0.9)}) {
    f.at(time);
    EXPECT_NEAR(f.layer().tool(0).rest_length_m, length, 1e-12) << time;
  }
  const auto refused = [&](std::vector<WrinkleLengthKey> keys) {
    tool.rest_length_keys = std::move(keys);
    return !f.change({tool}).ok();
  };
  EXPECT_TRUE(refused({{0.0, 0.8}, {0.0, 0.9}}));
  EXPECT_TRUE(refused({{0.0, 0.8}, {1.0, 0.0}}));
  EXPECT_TRUE(refused({{0.0, std::numeric_limits<double>::quiet_NaN()}}));
  EXPECT_FALSE(refused({{0.0, 0.7}}));
  f.at(0.3);
  EXPECT_EQ(f.layer().tool(0).rest_length_m, 0.7) << "one key holds for all times";
}

TEST(Wrinkles, AToolCanBeDrawnInAPoseOfAClip) {
  WrinkleToolDesc tool = sheetTool();
  tool.path = {pick(0.075, 0, 0), pick(0.675, 0, 0)};  // where 0.1 and 0.9 are at 0.5 s
  tool.defined_at = WrinklePose{"squeeze", 0.5};
  Folded f(squeezable(sheet(20)), {tool});
  f.at(0.5);
  EXPECT_NEAR(f.layer().tool(0).rest_length_m, 0.6, 1e-6);
  EXPECT_NEAR(f.layer().tool(0).fold.spare, 0, 1e-6);
  f.at(1);
  EXPECT_NEAR(f.layer().tool(0).fold.spare, 0.2, 1e-6);
}

TEST(Wrinkles, ChangingAToolWhilePlayingIsAsBindingItAnew) {
  WrinkleToolDesc changed = sheetTool();
  changed.falloff = FoldFalloff::Linear;
  changed.curve.propagation = FoldPropagation::FromA;
  changed.curve.h_max = 0.03;
  changed.curve.spacing = 0;
  changed.rest_length_m = 0.85;
  Folded f(squeezable(sheet(16)), {sheetTool()}), fresh(squeezable(sheet(16)), {changed});
  f.at(0.3);
  ASSERT_TRUE(f.change({changed}));
  const SkinFrame& a = f.at(0.4);
  const SkinFrame& b = fresh.at(0.4);
  ASSERT_EQ(a.vertexCount(), b.vertexCount());
  for (std::size_t v = 0; v < a.vertexCount(); ++v) ASSERT_EQ(a.positions()[v], b.positions()[v]);
  WrinkleToolDesc wider = changed;
  wider.width_m = 0.3;
  EXPECT_TRUE(f.change({wider})) << "other triangles: bound anew";
  ASSERT_TRUE(f.change({changed}));
  WrinkleToolDesc wrong = changed;
  wrong.curve.h_max = 0;
  EXPECT_FALSE(f.change({wrong}));
  EXPECT_EQ(f.at(0.4).positions()[200], b.positions()[200]) << "a refused change changes nothing";
}

/// Two runs of the same tools, one bound at once and one that came to them by edits.
void expectSame(Folded& edited, Folded& fresh) {
  const BoundSurface& a = edited.stack->output();
  const BoundSurface& b = fresh.stack->output();
  EXPECT_EQ(a.rest, b.rest);
  EXPECT_EQ(a.skin, b.skin);
  EXPECT_EQ(a.source_triangles, b.source_triangles);
  for (const double t : {0.2, 1.0}) {
    const SkinFrame& x = edited.at(t);
    const SkinFrame& y = fresh.at(t);
    ASSERT_EQ(x.vertexCount(), y.vertexCount());
    EXPECT_TRUE(std::equal(x.positions().begin(), x.positions().end(), y.positions().begin()));
    EXPECT_TRUE(std::equal(x.normals().begin(), x.normals().end(), y.normals().begin()));
  }
}

TEST(Wrinkles, ToolsThatAreMovedWidenedOrJoinedByOthersAreAsThoseBoundAnew) {
  TriMesh mesh = sheet(16);
  mesh.groups.push_back(
      {.name = "some", .vertices = {3, 40, 41, 100}, .strengths = {1, 0, 1, 0.5f}});
  std::vector<WrinkleToolDesc> tools = {sheetTool()};
  Folded edited(squeezable(mesh), tools);
  const auto expectLikeFresh = [&](const char* what) {
    SCOPED_TRACE(what);
    ASSERT_TRUE(edited.change(tools));
    Folded fresh(squeezable(mesh), tools);
    expectSame(edited, fresh);
  };
  tools[0].width_m = 0.3;
  expectLikeFresh("width");
  tools[0].curve.points = 17;
  expectLikeFresh("points");
  tools[0].subdivide = 1;
  expectLikeFresh("subdivide");
  tools[0].path = {pick(0.2, 0, 0.1), pick(0.5, 0, 0.2), pick(0.8, 0, 0.1)};
  expectLikeFresh("a path over the surface");
  tools.push_back(sheetTool());
  tools[1].name = "others";
  tools[1].path = {pick(0.2, 0, -0.4), pick(0.8, 0, -0.4)};
  tools[1].width_m = 0.1;
  expectLikeFresh("a second tool, apart");
  tools[1].width_m = 0.8;
  expectLikeFresh("one that overlaps");
  tools[1].defined_at = WrinklePose{"squeeze", 0.5};
  expectLikeFresh("drawn in another pose");
  tools[0].defined_at = tools[1].defined_at;
  expectLikeFresh("both in that");
  std::swap(tools[0], tools[1]);
  expectLikeFresh("in another order");
  tools.pop_back();
  expectLikeFresh("alone again");
  tools[0].path = {pick(0.1, 0, 0), pick(0.1, 0, 0)};
  EXPECT_FALSE(edited.change(tools)) << "A = B";
}

TEST(Wrinkles, ACurvedPathFoldsAtRightAnglesToItself) {
  // A quarter circle of radius 0.3 about (0.5, 0, -0.3). Without fall-off elevation depends on
  // the angle alone: at one angle, points inside and outside agree.
  WrinkleToolDesc tool = sheetTool();
  tool.path.clear();
  for (const double degrees : {45.0, 60.0, 75.0, 90.0, 105.0, 120.0, 135.0})
    tool.path.push_back(pick(0.5 + 0.3 * std::cos(degrees * M_PI / 180), 0,
                             -0.3 + 0.3 * std::sin(degrees * M_PI / 180)));
  tool.width_m = 0.16;
  tool.falloff = FoldFalloff::None;
  tool.rest_length_m = 0.6;
  Folded f(squeezable(sheet(60)), {tool});
  const SkinFrame& frame = f.at(0);
  EXPECT_NEAR(f.layer().tool(0).length_m, 0.3 * M_PI / 2, 0.01);
  double sum_in = 0, sum_out = 0, difference = 0;
  std::size_t count = 0;
  const auto height = [&](double radius, double angle) {
    double best = 1, h = 0;
    const double x = 0.5 + radius * std::cos(angle), z = -0.3 + radius * std::sin(angle);
    for (const Vec3f& p : frame.positions()) {
      const double d = std::hypot(double(p.x()) - x, double(p.z()) - z);
      if (d < best) {
        best = d;
        h = double(p.y());
      }
    }
    return h;
  };
  for (double angle = 50 * M_PI / 180; angle < 130 * M_PI / 180; angle += 0.02) {
    const double in = height(0.27, angle), out = height(0.33, angle);
    sum_in += in;
    sum_out += out;
    difference += std::abs(in - out);
    ++count;
  }
  EXPECT_GT(sum_in / double(count), 0.01);
  EXPECT_NEAR(sum_in / sum_out, 1, 0.15);  // the picked points are snapped to a grid of 17 mm
  EXPECT_LT(difference / (sum_in + sum_out), 0.12);
}

TEST(Wrinkles, CrestsStopAtEachOtherInATroughAndThisIsReported) {
  // Inside of a half pipe of radius 0.2: normals meet on its axis, so no fold may reach it.
  TriMesh pipe = sheet(40);
  for (std::size_t v = 0; v < pipe.vertexCount(); ++v) {
    Vec3f& p = pipe.positions[v];
    const float turn = (p.x() - 0.5f) * 3;
    pipe.normals[v] = Vec3f(-std::sin(turn), std::cos(turn), 0);
    p = Vec3f(0.5f + 0.2f * std::sin(turn), 0.2f - 0.2f * std::cos(turn), p.z());
  }
  WrinkleToolDesc tool = sheetTool();
  tool.path = {pick(pipe.positions[20 * 41 + 8].x(), pipe.positions[20 * 41 + 8].y(), 0),
               pick(pipe.positions[20 * 41 + 32].x(), pipe.positions[20 * 41 + 32].y(), 0)};
  tool.curve.points = 5;
  tool.curve.spacing = 0;
  tool.curve.h_max = 1;
  tool.rest_length_m = 1.5;
  Folded f(squeezable(pipe), {tool});
  f.at(0);
  const WrinkleToolState& state = f.layer().tool(0);
  EXPECT_GT(state.held_back, 0u);
  EXPECT_GT(state.held_back_m, 0.1);
  EXPECT_LE(state.highest_m, 0.2);
  EXPECT_GT(state.highest_m, 0.15);
  Diagnostics notes;
  f.runner.report(notes);
  ASSERT_EQ(notes.count("wrinkles-contact"), 1u);
  for (const auto& note : notes.notes())
    EXPECT_TRUE(note.kind != "wrinkles-contact" || note.severity == Severity::Warning)
        << "and loudly, since much is missing";
}

TEST(Wrinkles, LengthIsThatOfTheSkinAndNotOfTheWayThroughTheAir) {
  // A strip that half closes like a book: its ends come nearer, its skin is as long as before.
  Character c = squeezable(sheet(40));
  MorphTarget closed{.name = "closed"};
  for (std::uint32_t v = 0; v < c.mesh.vertexCount(); ++v) {
    const Vec3f& p = c.mesh.positions[v];
    const float side = p.x() < 0.5f ? -1.0f : 1.0f, out = std::abs(p.x() - 0.5f);
    closed.vertices.push_back(v);
    closed.positions.push_back(Vec3f(0.5f + side * 0.6f * out, 0.8f * out, p.z()) - p);
  }
  c.morphs.push_back(closed);
  c.instances[0].morph_count = 1;
  Folded f(c, {sheetTool()});
  Pose pose = f.character->restPose();
  pose.morph_weights.assign(1, 1.0f);
  f.runner.setPose(pose, 0);
  f.runner.evaluate();
  const WrinkleToolState& state = f.layer().tool(0);
  EXPECT_NEAR(state.length_m, 0.8, 1e-5) << "the ends are 0.48 apart";
  EXPECT_LT(std::abs(state.fold.spare), 1e-5);
}

TEST(Wrinkles, RoundFoldsOnTheMeshKeepTheLengthOfTheSkin) {
  WrinkleToolDesc tool = sheetTool();
  tool.curve.profile = FoldProfile::Round;
  tool.falloff = FoldFalloff::None;
  tool.subdivide = 0;
  Folded f(squeezable(sheet(320)), {tool});  // the mesh is straight between its vertices
  const SkinFrame& frame = f.at(0.3);
  double length = 0;
  for (std::size_t i = 160 * 321 + 32; i < 160 * 321 + 288; ++i)
    length += double((frame.positions()[i + 1] - frame.positions()[i]).norm());
  EXPECT_NEAR(length, 0.8, 2e-4);
}

TEST(Wrinkles, EvaluatingAllocatesNothing) {
  for (const Topology topology : {Topology::Constant, Topology::Adaptive}) {
    Folded f(squeezable(sheet(16)), {sheetTool()}, topology);
    f.at(0.5);
    f.at(0);
    const Pose rest = f.character->restPose();
    Pose squeezed = rest;
    squeezed.local[1].translation = Vec3f(0.6f, 0, 0);
    const std::size_t before = allocationCount();
    for (int i = 0; i < 4; ++i) {
      f.runner.setPose(i % 2 == 0 ? squeezed : rest, 0);
      f.runner.evaluate();
    }
    EXPECT_EQ(allocationCount(), before);
  }
}

}  // namespace
}  // namespace derm::wrinkles_test
