#include "derm/volume/volume_mask.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "derm/mesh/measures.h"
#include "derm/volume/volume_swell.h"

#include "support/posed.h"
#include "support/shelf.h"

namespace derm::volume_mask_test {
namespace {

/// A rigged tube of three joints, with two groups.
struct Limb {
  Character character;
  std::shared_ptr<const MeasuredSurface> surface;

  Limb() : character(*testing_support::riggedTube(24, 12)) {
    VertexGroup muscle{.name = "biceps"}, caps{.name = "caps"};
    for (std::uint32_t v = 0; v < character.mesh.vertexCount(); ++v) {
      if (v >= 60 && v < 120) {
        muscle.vertices.push_back(v);
        muscle.strengths.push_back(v < 80 ? 0.5f : 1.0f);
      }
      if (v < 12) {
        caps.vertices.push_back(v);
        caps.strengths.push_back(1.0f);
      }
    }
    character.mesh.groups = {muscle, caps};
    Diagnostics notes;
    surface = std::make_shared<const MeasuredSurface>(
        makeMeasuredSurface(character.mesh.positions, character.mesh.triangles, "tube", notes));
  }
  Result<std::vector<double>> gamma(const VolumeMaskDesc& desc) const {
    Diagnostics notes;
    return volumeGamma(*surface, character.mesh, character.skeleton, character.skin, desc, notes);
  }
  /// Gamma at the welded vertex of a vertex.
  double at(const std::vector<double>& gamma, std::size_t vertex) const {
    return gamma[surface->welded_of_vertex[vertex]];
  }
};

TEST(VolumeMask, WordsAreReadAndWritten) {
  for (const std::string text :
       {"weights", "smooth-weights", "distance", "between", "everywhere", "group:belly",
        "distance * group:belly", "weights * between * group:a b"}) {
    const auto terms = parseMask(text);
    ASSERT_TRUE(terms.ok()) << text;
    EXPECT_EQ(maskText(*terms), text);
  }
  EXPECT_EQ(parseMask("  distance*group: belly ")->size(), 2u);
  EXPECT_EQ((*parseMask("distance*group: belly"))[1].group, "belly");
  EXPECT_EQ(parseGroupName("group:caps"), "caps");
  EXPECT_EQ(parseGroupName("caps"), "caps");
}

TEST(VolumeMask, UnknownWordsNameTheNearest) {
  const auto bad = parseMask("wieghts");
  ASSERT_FALSE(bad.ok());
  EXPECT_NE(bad.error().message.find("weights"), std::string::npos);
  EXPECT_FALSE(parseMask("").ok());
  EXPECT_FALSE(parseMask("weights *").ok());
  EXPECT_FALSE(parseMask("group:").ok());
}

TEST(VolumeMask, WeightsGiveThePrintedFormulaNamedByWhatItDoes) {
  const Limb limb;
  VolumeMaskDesc desc{.a = 4, .b = 3};
  const std::vector<double> gamma = limb.gamma(desc).value();
  desc.terms = {{MaskRule::SmoothWeights, {}}};
  const std::vector<double> smooth = limb.gamma(desc).value();
  for (std::size_t v = 0; v < limb.character.mesh.vertexCount(); ++v) {
    double largest = 0, squares = 0;
    for (const Influence& i : limb.character.skin[v]) {
      largest = std::max<double>(largest, i.weight);
      squares += double(i.weight) * i.weight;
    }
    EXPECT_NEAR(limb.at(gamma, v), std::pow(1 - std::pow(std::min(largest, 1.0), 4), 3), 1e-12);
    EXPECT_NEAR(limb.at(smooth, v), 1 - std::min(squares, 1.0), 1e-12);
  }
}

TEST(VolumeMask, BetweenIsZeroAtJointsAndOneAtTheMiddleOfABone) {
  const Limb limb;
  const std::vector<double> gamma = limb.gamma({.terms = {{MaskRule::Between, {}}}}).value();
  EXPECT_GT(*std::max_element(gamma.begin(), gamma.end()), 0.9);
  EXPECT_LT(*std::min_element(gamma.begin(), gamma.end()), 0.1);
  for (const double g : gamma) EXPECT_TRUE(g >= 0 && g <= 1);
}

TEST(VolumeMask, DistanceGrowsAwayFromTheBone) {
  Limb limb;
  // Push one side out: it is farther from the bone than the other.
  for (Vec3f& p : limb.character.mesh.positions)
    if (p.x() > 0) p.x() *= 2;
  const std::vector<double> gamma = limb.gamma({.terms = {{MaskRule::Distance, {}}}}).value();
  double out = 0, in = 0;
  for (std::size_t v = 0; v < limb.character.mesh.vertexCount(); ++v)
    (limb.character.mesh.positions[v].x() > 0.7f ? out : in) =
        std::max(limb.character.mesh.positions[v].x() > 0.7f ? out : in, limb.at(gamma, v));
  EXPECT_NEAR(out, 1, 1e-9);
  EXPECT_LT(in, out);
}

TEST(VolumeMask, GroupsMultiplyAndFixedOnesStay) {
  const Limb limb;
  const VolumeMaskDesc desc{.terms = {{MaskRule::Everywhere, {}}, {MaskRule::Group, "biceps"}},
                            .fixed_group = ""};
  const std::vector<double> gamma = limb.gamma(desc).value();
  EXPECT_EQ(limb.at(gamma, 70), 0.5);
  EXPECT_EQ(limb.at(gamma, 90), 1.0);
  EXPECT_EQ(limb.at(gamma, 5), 0.0);
  const std::vector<double> fixed =
      limb.gamma({.terms = {{MaskRule::Everywhere, {}}}, .fixed_group = "caps"}).value();
  EXPECT_EQ(limb.at(fixed, 5), 0.0);
  EXPECT_EQ(limb.at(fixed, 50), 1.0);
}

TEST(VolumeMask, MistakesAreErrors) {
  const Limb limb;
  const auto group = limb.gamma({.terms = {{MaskRule::Group, "bicep"}}});
  ASSERT_FALSE(group.ok());
  EXPECT_NE(group.error().message.find("biceps"), std::string::npos);
  EXPECT_FALSE(limb.gamma({.fixed_group = "nobody"}).ok());
  EXPECT_EQ(limb.gamma({.a = 0}).error().where.element, "a");
  EXPECT_EQ(limb.gamma({.b = -1}).error().where.element, "b");
  // The biceps outside the biceps: nothing is left.
  const auto none = limb.gamma({.terms = {{MaskRule::Group, "caps"}}, .fixed_group = "caps"});
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("no vertex may move"), std::string::npos);
}

TEST(VolumeMask, WeightsThatAreNotFiniteAreAnErrorThatNamesTheVertex) {
  Limb limb;
  Skin& skin = limb.character.skin;
  skin.influences[skin.offsets[33]].weight = std::numeric_limits<float>::quiet_NaN();
  const auto gamma = limb.gamma({});
  ASSERT_FALSE(gamma.ok());
  EXPECT_EQ(gamma.error().where.element, "weights");
  EXPECT_EQ(gamma.error().where.index, 33u);
}

TEST(VolumeMask, AMeshWithoutASkinMovesEverywhere) {
  const Limb limb;
  Diagnostics notes;
  const auto gamma = volumeGamma(*limb.surface, limb.character.mesh, {}, {}, {}, notes);
  ASSERT_TRUE(gamma.ok());
  for (const double g : *gamma) EXPECT_EQ(g, 1.0);
  EXPECT_EQ(notes.count("volume-mask-no-skin"), 1u);
}

struct Muscle {
  Limb limb;
  VolumeRegions regions;
  std::string joint;

  Muscle()
      : regions(VolumeRegions::bind(*limb.surface, limb.character.mesh, limb.character.skeleton,
                                    limb.character.skin, {.kind = RegionKind::Whole})
                    .value()),
        joint(limb.character.skeleton.joints.back().name) {}
  Result<VolumeSwell> bind(const SwellDesc& desc) const {
    return VolumeSwell::bind(limb.surface, regions, limb.character.mesh, limb.character.skeleton,
                             std::array<SwellDesc, 1>{desc});
  }
  std::vector<Transform> bentBy(double degrees) const {
    std::vector<Transform> local = restTransforms(limb.character.skeleton);
    Transform& t = local.back();
    t.rotation =
        (t.rotation.cast<double>() *
         Quatd(Eigen::AngleAxisd(degrees * std::numbers::pi / 180, Eigen::Vector3d::UnitX())))
            .cast<float>();
    return local;
  }
};

TEST(VolumeSwell, GrowsLinearlyBetweenItsAngles) {
  const Muscle m;
  const VolumeSwell swell =
      m.bind({.group = "biceps", .joint = m.joint, .from_deg = 20, .to_deg = 120, .percent = 12})
          .value();
  const double full = 0.12 * swell.groupVolume(0);
  EXPECT_GT(std::abs(full), 0);
  EXPECT_EQ(swell.growth(0, m.bentBy(0)), 0);
  EXPECT_NEAR(swell.growth(0, m.bentBy(20)), 0, 1e-6 * std::abs(full));
  EXPECT_NEAR(swell.growth(0, m.bentBy(70)) / full, 0.5, 1e-6);
  EXPECT_NEAR(swell.growth(0, m.bentBy(-70)) / full, 0.5, 1e-6);
  EXPECT_EQ(swell.growth(0, m.bentBy(150)), full);
}

TEST(VolumeSwell, MovesTheGroupAloneByTheStatedVolume) {
  const Muscle m;
  const VolumeSwell swell =
      m.bind({.group = "biceps", .joint = m.joint, .to_deg = 90, .percent = 15}).value();
  VolumeSwell::Scratch scratch = swell.makeScratch();
  std::vector<Vec3d> points(m.limb.surface->pointCount());
  measurePoints(*m.limb.surface, m.limb.character.mesh.positions, Vec3d::Zero(), points);
  const std::vector<Vec3d> before = points;
  std::vector<double> targets = {10.0};
  swell.apply(m.bentBy(90), scratch, points, targets);
  const double grown = swell.growth(0, m.bentBy(90));
  EXPECT_NEAR(targets[0], 10 + grown, 1e-12);
  const double change =
      volume(points, m.limb.surface->triangles) - volume(before, m.limb.surface->triangles);
  EXPECT_NEAR(change / grown, 1, 1e-11);
  for (std::size_t v = 0; v < m.limb.character.mesh.vertexCount(); ++v) {
    const std::uint32_t welded = m.limb.surface->welded_of_vertex[v];
    EXPECT_EQ(points[welded] != before[welded], v >= 60 && v < 120) << v;
  }
}

TEST(VolumeSwell, MistakesAreErrorsThatNameTheSwell) {
  const Muscle m;
  EXPECT_NE(m.bind({.group = "bicep", .joint = m.joint}).error().message.find("biceps"),
            std::string::npos);
  EXPECT_FALSE(m.bind({.group = "biceps", .joint = "nowhere"}).ok());
  EXPECT_FALSE(m.bind({.group = "biceps", .joint = m.joint, .from_deg = 30, .to_deg = 30}).ok());
  const auto gone = m.bind({.group = "biceps", .joint = m.joint, .percent = -100});
  ASSERT_FALSE(gone.ok());
  EXPECT_EQ(gone.error().where.element, "swell");
}

}  // namespace
}  // namespace derm::volume_mask_test
