// Every member stays watertight when it is cut finer in places, with folds and without.
#include <cstdio>

#include <gtest/gtest.h>

#include "derm/base/rng.h"
#include "derm/cast/cast.h"
#include "derm/deform/basic_layers.h"
#include "derm/deform/stack.h"
#include "derm/deform/wrinkle_proposal.h"
#include "derm/mesh/adjacency.h"
#include "derm/mesh/closedness.h"
#include "derm/mesh/local_refinement.h"
#include "derm/mesh/weld.h"

#include "support/posed.h"
#include "support/refined.h"

namespace derm::refinement_test {
namespace {

std::vector<Triangle> welded(std::span<const Triangle> triangles,
                             std::span<const Vec3f> positions) {
  return mapped(triangles, weldMap(positions));
}

TEST(CastRefinement, EveryMemberStaysClosedAtMixedLevels) {
  for (const CastMember& member : castMembers()) {
    const std::string name(member.name);
    SCOPED_TRACE(name);
    const Character c = makeCastMember(name).value();
    if (!checkClosed(welded(c.mesh.triangles, c.mesh.positions)).closed()) continue;  // parted lips
    const RefinableSurface surface(c.mesh.triangles, c.mesh.vertexCount(),
                                   weldMap(c.mesh.positions));
    Rng rng(5);
    std::vector<std::uint8_t> levels(c.mesh.triangles.size(), 0);
    for (std::uint8_t& level : levels)
      if (rng.uniform() < 0.03) level = std::uint8_t(1 + rng.below(3));
    const LocalRefinement fine = surface.refine(surface.balanced(levels));
    const TriMesh out = testing_support::refinedMesh(c.mesh, fine);
    EXPECT_TRUE(checkClosed(welded(out.triangles, out.positions)).closed());
    EXPECT_GT(out.triangles.size(), c.mesh.triangles.size());
  }
}

TEST(CastRefinement, EveryMemberStaysClosedUnderProposedFolds) {
  for (const CastMember& member : castMembers()) {
    const std::string name(member.name);
    const auto c = std::make_shared<const Character>(makeCastMember(name).value());
    if (!checkClosed(welded(c->mesh.triangles, c->mesh.positions)).closed()) continue;  // heads
    for (const Clip& clip : c->clips) {
      SCOPED_TRACE(name + " " + clip.name);
      const auto found = proposeWrinkles(*c, clip, {.min_squeeze = 0.15, .samples_per_s = 10});
      ASSERT_TRUE(found);
      WrinklesDesc desc;
      for (const WrinkleProposal& p : *found) desc.tools.push_back(p.tool);
      if (desc.tools.empty()) continue;
      Diagnostics notes;
      const auto stack = Stack::bind(
          c, std::vector<LayerFactory>{morphLayer(), skinningLayer({}), wrinklesLayer(desc)},
          notes);
      ASSERT_TRUE(stack) << stack.error().text();
      for (const Topology topology : {Topology::Constant, Topology::Adaptive}) {
        StackRunner runner(*stack, topology);
        for (const double share : {0.0, 0.3, 0.6}) {
          runner.setPose(testing_support::poseAt(*c, clip, share * clip.duration_s()), 0);
          const SkinFrame& frame = runner.evaluate();
          EXPECT_TRUE(checkClosed(welded(frame.triangles(), frame.positions())).closed());
          for (const Vec3f& n : frame.normals()) ASSERT_NEAR(n.norm(), 1, 1e-3);
        }
      }
    }
  }
}

TEST(CastRefinement, FoldsOfTheWristNeitherPopNorSwim) {
  const auto c = std::make_shared<const Character>(makeCastMember("wrist").value());
  WrinkleToolDesc tool;
  tool.path = {{.vertex = std::nullopt, .position = Vec3d(0.080, 0.027, 0)},
               {.vertex = std::nullopt, .position = Vec3d(0.124, 0.019, 0)}};
  tool.width_m = 0.045;
  tool.curve.points = 13;
  tool.curve.h_max = 0.004;
  Diagnostics notes;
  const auto stack = Stack::bind(c,
                                 std::vector<LayerFactory>{morphLayer(), skinningLayer({}),
                                                           wrinklesLayer({.tools = {tool}})},
                                 notes)
                         .value();
  const auto plain_stack = testing_support::stackOf(c, {morphLayer(), skinningLayer({})});
  StackRunner runner(stack, Topology::Adaptive), plain(plain_stack);
  std::vector<float> before(c->mesh.vertexCount(), 0.0f);
  float fastest = 0, highest = 0, sideways = 0;
  std::size_t changes = 0;
  std::uint64_t topology = 0;
  for (int i = 0; i <= 4 * 240; ++i) {
    const Pose pose = testing_support::poseAt(*c, c->clips[0], i / 240.0);
    runner.setPose(pose, 0);
    plain.setPose(pose, 0);
    const SkinFrame& frame = runner.evaluate();
    const SkinFrame& flat = plain.evaluate();
    changes += topology != 0 && topology != frame.topology();
    topology = frame.topology();
    for (std::size_t v = 0; v < before.size(); ++v) {
      const Vec3f rise = frame.positions()[v] - flat.positions()[v];
      const float height = rise.dot(flat.normals()[v]);
      sideways = std::max(sideways, (rise - height * flat.normals()[v]).norm());
      fastest = std::max(fastest, std::abs(height - before[v]));
      highest = std::max(highest, height);
      before[v] = height;
    }
  }
  std::printf("highest %.2f mm, fastest %.2f mm in 1/240 s, %zu changes of topology\n",
              double(1000 * highest), double(1000 * fastest), changes);
  EXPECT_GT(highest, 0.003f);
  EXPECT_LT(fastest, 0.001f) << "a bump starts as a square root, but does not jump";
  EXPECT_LT(sideways, 1e-6f) << "folds stay on their piece of skin";
  EXPECT_GE(changes, 2u);
  EXPECT_LE(changes, 6u) << "no flicker";
}

}  // namespace
}  // namespace derm::refinement_test
