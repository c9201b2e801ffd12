// What the section correction does with input that makes no sense.
#include <cmath>
#include <limits>
#include <memory>

#include "derm/deform/basic_layers.h"
#include "derm/deform/stack.h"
#include "derm/volume/section_correction.h"
#include "derm/volume/volume_layer.h"

#include "volume/section_rig.h"

namespace derm::section_input_test {
namespace {

using namespace section_test;

/// A limb bent by 90 degrees, and one solve of it with inputs that a test may spoil.
struct Bench {
  explicit Bench(const Character& c) : section(c), bent(c.restPose()) {
    turn(bent, 1, 90, Vec3d::UnitY());
    posed = section.pose(bent);
  }

  struct Solved {
    std::vector<Vec3d> moves;
    std::vector<RegionOutcome> outcomes;
    std::vector<double> after_m3;
    SectionReport report;
    std::size_t fixed_notes = 0;

    double largest() const {
      double out = 0;
      for (const Vec3d& m : moves) out = std::max(out, m.norm());
      return out;
    }
    bool finite() const {
      for (const Vec3d& m : moves)
        if (!m.allFinite()) return false;
      return true;
    }
  };

  Solved solve(std::span<const float> mask, double target_factor) const {
    Diagnostics notes;
    const SectionBinding bound =
        SectionBinding::bind(section.surface, section.regions, section.rest, mask, {}, notes)
            .value();
    SectionBinding::Scratch scratch = bound.makeScratch();
    std::vector<double> targets(bound.restVolumes().begin(), bound.restVolumes().end());
    for (double& t : targets) t *= target_factor;
    const std::vector<double> activities(section.regions.jointCount(), 0.3);
    Solved out;
    out.moves.resize(section.surface.pointCount());
    out.outcomes.resize(targets.size());
    out.after_m3.resize(targets.size());
    out.report = bound.solve({.points = posed.linear,
                              .centres = posed.centres,
                              .anchors = posed.anchors,
                              .activities = activities,
                              .targets = targets},
                             scratch, out.moves, out.outcomes, out.after_m3);
    out.fixed_notes = notes.count("volume-region-fixed");
    return out;
  }

  Section section;
  Pose bent;
  Section::Posed posed;
};

Character limb() { return smoothLimb({}, 2.5); }

TEST(SectionInput, WhereNothingMayMoveNothingDoesAndItIsNoted) {
  const Bench b(limb());
  const std::vector<float> nowhere(b.section.surface.pointCount(), 0.0f);
  const Bench::Solved s = b.solve(nowhere, 1);
  EXPECT_EQ(s.fixed_notes, b.section.regions.regionCount());
  for (const RegionOutcome& o : s.outcomes) EXPECT_TRUE(o.idle);
  EXPECT_EQ(s.largest(), 0);
  EXPECT_GT(b.solve({}, 1).largest(), 1e-3);  // it would have moved
}

TEST(SectionInput, MasksOutOfRangeAreErrorsThatNameThePoint) {
  const Bench b(limb());
  for (const float wrong : {-0.1f, 1.5f, std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> mask(b.section.surface.pointCount(), 1.0f);
    mask[33] = wrong;
    Diagnostics notes;
    const auto bound =
        SectionBinding::bind(b.section.surface, b.section.regions, b.section.rest, mask, {}, notes);
    ASSERT_FALSE(bound.ok());
    EXPECT_EQ(bound.error().where.element, "mask");
    EXPECT_EQ(bound.error().where.index, 33u);
  }
}

TEST(SectionInput, WeightsThatAreNotFiniteAreAnErrorWhenTheStackIsBound) {
  Character c = limb();
  c.skin.influences[c.skin.offsets[33]].weight = std::numeric_limits<float>::quiet_NaN();
  Diagnostics notes;
  const std::vector<LayerFactory> layers = {skinningLayer({.method = SkinningMethod::Centre}),
                                            volumeLayer("volume", {})};
  const auto stack = Stack::bind(std::make_shared<const Character>(c), layers, notes);
  ASSERT_FALSE(stack.ok());
  EXPECT_NE(stack.error().text().find("33"), std::string::npos) << stack.error().text();
}

TEST(SectionInput, TargetsOfNothingOrLessAreClampedOrLeftAndSayWhich) {
  const Bench b(limb());
  const Bench::Solved nothing = b.solve({}, 0);
  for (const RegionOutcome& o : nothing.outcomes) EXPECT_TRUE(o.idle);
  EXPECT_EQ(nothing.largest(), 0);
  const Bench::Solved negative = b.solve({}, -1);
  for (const RegionOutcome& o : negative.outcomes) {
    EXPECT_TRUE(o.clamped);
    EXPECT_GT(o.target_m3, 0);
  }
  EXPECT_TRUE(negative.finite());
  EXPECT_LE(negative.report.largest_change, 0.5);
  for (const double v : negative.after_m3) EXPECT_GT(v, 0);
  const Bench::Solved unknown = b.solve({}, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(unknown.largest(), 0);
}

TEST(SectionInput, ARegionWithoutVolumeIsLeftAlone) {
  Character flat = limb();
  for (Vec3f& p : flat.mesh.positions) p.y() = 0;
  const Bench b(flat);
  const Bench::Solved s = b.solve({}, 1);
  for (const RegionOutcome& o : s.outcomes) EXPECT_TRUE(o.idle);
  EXPECT_EQ(s.largest(), 0);
}

TEST(SectionInput, ASelfCrossingRestMeshKeepsItsSignedVolume) {
  Character crossing = limb();
  for (Vec3f& p : crossing.mesh.positions)  // the far end is pulled back through the limb
    if (p.z() > 16) p.z() = 16 - 0.5f * (p.z() - 16);
  const Bench b(crossing);
  EXPECT_TRUE(std::isfinite(b.section.worstRegion(b.posed)));
  EXPECT_LE(b.section.worstRegion(b.posed), 1e-9);
  EXPECT_LE(b.posed.report.largest_change, 0.5);
}

TEST(SectionInput, FinsOnNonManifoldEdgesDoNotSpoilTheRest) {
  Character finned = limb();
  const auto tip = std::uint32_t(finned.mesh.positions.size());
  const Triangle beside = finned.mesh.triangles[finned.mesh.triangles.size() / 2];
  finned.mesh.positions.push_back(finned.mesh.positions[beside[0]] * 1.3f);
  finned.mesh.normals.push_back(finned.mesh.normals[beside[0]]);
  finned.mesh.triangles.push_back({beside[0], beside[1], tip});
  SkinBuilder builder(finned.skin.slots, tip + 1);
  Diagnostics notes;
  for (std::uint32_t v = 0; v <= tip; ++v) {
    const auto from = finned.skin[v == tip ? beside[0] : v];
    std::vector<Influence> row(from.begin(), from.end());
    builder.addVertex(row, 0, "limb", notes);
  }
  finned.skin = std::move(builder).finish();
  const Bench b(finned);
  EXPECT_LE(b.section.worstRegion(b.posed), 1e-9);
  EXPECT_LE(b.posed.report.largest_change, 0.1);
  for (const Vec3d& p : b.posed.corrected) EXPECT_TRUE(p.allFinite());
}

}  // namespace
}  // namespace derm::section_input_test
