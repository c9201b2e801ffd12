// What holds for any tool on any surface.
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "derm/base/hash.h"
#include "derm/base/rng.h"
#include "derm/mesh/measures.h"

#include "deform/wrinkle_rig.h"
#include "support/compare.h"

namespace derm::wrinkles_property_test {
namespace {

using namespace testing_support;

TriMesh bumpy() {
  TriMesh mesh = sheet(18);
  for (Vec3f& p : mesh.positions) p.y() = 0.04f * std::sin(5 * p.x() + 1) * std::cos(4 * p.z());
  mesh.normals = areaWeightedNormals(mesh.positions, mesh.triangles);
  return mesh;
}

WrinkleToolDesc bumpyTool() {
  WrinkleToolDesc tool = sheetTool();
  tool.curve.shares = {0.8, 0.2};
  return tool;
}

std::vector<Vec3f> folded(const TriMesh& mesh, const WrinkleToolDesc& tool,
                          const Affine3f& world = Affine3f::Identity()) {
  Character c = squeezable(mesh);
  Folded f(c, {tool});
  Pose pose = c.restPose();
  pose.local[1].translation = Vec3f(0.7f, 0, 0);
  for (Transform& t : pose.local) {
    t.translation = world * t.translation;
    t.rotation = Quatf(world.linear()) * t.rotation;
  }
  f.runner.setPose(pose, 0);
  const auto p = f.runner.evaluate().positions();
  return {p.begin(), p.end()};
}

TEST(WrinklesProperty, RigidMotionOfAllJointsMovesTheFoldsRigidly) {
  const Affine3f world =
      Eigen::Translation3f(1, 2, 3) * Quatf(Eigen::AngleAxisf(0.7f, Vec3f(1, 2, 3).normalized()));
  const std::vector<Vec3f> still = folded(bumpy(), bumpyTool());
  const std::vector<Vec3f> moved = folded(bumpy(), bumpyTool(), world);
  for (std::size_t v = 0; v < still.size(); ++v)
    ASSERT_LT((world * still[v] - moved[v]).norm(), 2e-5f);
}

TEST(WrinklesProperty, ScaleAndMirrorCommuteWithFolding) {
  const std::vector<Vec3f> plain = folded(bumpy(), bumpyTool());
  // Mirrored in z: the tool goes along, triangles turn round.
  TriMesh mirrored = bumpy();
  for (Vec3f& p : mirrored.positions) p.z() = -p.z();
  for (Vec3f& n : mirrored.normals) n.z() = -n.z();
  for (Triangle& t : mirrored.triangles) std::swap(t[1], t[2]);
  const std::vector<Vec3f> back = folded(mirrored, bumpyTool());
  ASSERT_EQ(back.size(), plain.size());
  for (std::size_t v = 0; v < bumpy().vertexCount(); ++v) {
    const Vec3f m = plain[v].cwiseProduct(Vec3f(1, 1, -1));
    ASSERT_LT((back[v] - m).norm(), 2e-6f);
  }
}

TEST(WrinklesProperty, SizeDoesNotMatter) {
  const std::vector<Vec3f> plain = folded(bumpy(), bumpyTool());
  for (const float scale : {0.01f, 100.0f}) {
    Character c = squeezable(bumpy());
    for (Vec3f& p : c.mesh.positions) p *= scale;
    for (Joint& j : c.skeleton.joints) j.rest.translation *= scale;
    for (SkinSlot& s : c.skin.slots) s.inverse_bind.translation() *= scale;
    WrinkleToolDesc tool = bumpyTool();
    for (PickedPoint& p : tool.path) p.position *= double(scale);
    tool.width_m *= double(scale);
    tool.curve.h_max *= double(scale);
    Folded f(c, {tool});
    Pose pose = c.restPose();
    pose.local[1].translation = Vec3f(0.7f * scale, 0, 0);
    f.runner.setPose(pose, 0);
    const auto p = f.runner.evaluate().positions();
    ASSERT_EQ(p.size(), plain.size());
    for (std::size_t v = 0; v < plain.size(); ++v)
      ASSERT_LT((p[v] / scale - plain[v]).norm(), 1e-5f) << scale;
  }
}

TEST(WrinklesProperty, VertexOrderDoesNotMatter) {
  const TriMesh mesh = bumpy();
  std::vector<std::uint32_t> to(mesh.vertexCount());
  std::iota(to.begin(), to.end(), 0u);
  Rng rng(12);
  for (std::size_t i = to.size(); i-- > 1;) std::swap(to[i], to[rng.below(i + 1)]);
  TriMesh shuffled = mesh;
  for (std::size_t v = 0; v < to.size(); ++v) {
    shuffled.positions[to[v]] = mesh.positions[v];
    shuffled.normals[to[v]] = mesh.normals[v];
  }
  shuffled.triangles = mapped(mesh.triangles, to);
  const std::vector<Vec3f> plain = folded(mesh, bumpyTool());
  const std::vector<Vec3f> other = folded(shuffled, bumpyTool());
  ASSERT_EQ(plain.size(), other.size());
  for (std::size_t v = 0; v < to.size(); ++v) ASSERT_LT((plain[v] - other[to[v]]).norm(), 1e-6f);
}

TEST(WrinklesProperty, ThreadsDoNotMatter) {
  const auto hash = [](int threads) {
    const ThreadLimit limit(threads);
    const std::vector<Vec3f> p = folded(bumpy(), bumpyTool());
    Hash64 h;
    h.addSpan(std::span<const Vec3f>(p));
    return h.value();
  };
  EXPECT_EQ(hash(1), hash(8));
}

TEST(WrinklesProperty, ToolsAnywhereOnTheShelfGiveFiniteSurfaces) {
  Rng rng(77);
  for (const shelf::ShelfMesh& m : shelf::all()) {
    if (m.mesh.triangles.empty()) continue;
    SCOPED_TRACE(m.name);
    const Character c = shelf::rigged(m);
    const double size = std::max(bounds(m.mesh.positions).diagonal(), 1e-12);
    for (int i = 0; i < 6; ++i) {
      WrinkleToolDesc tool;
      tool.name = "random";
      tool.path = {{.vertex = std::uint32_t(rng.below(m.mesh.vertexCount()))},
                   {.vertex = std::uint32_t(rng.below(m.mesh.vertexCount()))}};
      tool.width_m = rng.uniform(0.05, 1) * size;
      tool.curve.h_max = 0.05 * size;
      tool.rest_length_m = rng.uniform(0.5, 2) * size;
      tool.subdivide = int(rng.below(4));
      Diagnostics notes;
      const auto stack =
          Stack::bind(std::make_shared<const Character>(c), withTools({tool}), notes);
      if (!stack) continue;  // A = B, or on different pieces: tested elsewhere
      StackRunner runner(*stack);
      for (const double time : {0.0, 0.5, 1.0}) {
        runner.setPose(poseAt(c, c.clips[0], time), time);
        const SkinFrame& frame = runner.evaluate();
        for (const Vec3f& p : frame.positions()) ASSERT_TRUE(p.allFinite());
        for (const Vec3f& n : frame.normals()) ASSERT_TRUE(n.allFinite());
      }
    }
  }
}

}  // namespace
}  // namespace derm::wrinkles_property_test
