// Which flesh is proposed for bodies that nobody here made, and how it moves.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "derm/anim/retarget.h"
#include "derm/deform/basic_layers.h"
#include "derm/deform/flesh_auto.h"
#include "derm/deform/playback.h"
#include "derm/io/bvh.h"
#include "derm/io/character_file.h"

#include "support/unpacked.h"

namespace derm::flesh_proposal_data_test {
namespace {

std::vector<FleshProposal> proposalsFor(const std::filesystem::path& file) {
  Diagnostics notes;
  const Character character = loadCharacter(file, {}, notes).value();
  return proposeFlesh(character, notes).value();
}

std::vector<FleshProposal> only(const std::vector<FleshProposal>& all, FleshRegion region) {
  std::vector<FleshProposal> out;
  for (const FleshProposal& p : all)
    if (p.region == region) out.push_back(p);
  return out;
}

TEST(FleshProposalData, BreastsWhereThereAreAnyAndButtocksOnEveryBody) {
  DERM_PACKED_DATA_OR_SKIP(folder, "makehuman");
  for (const std::string body : {"A_caucasian_male_young", "B_african_female_young",
                                 "C_asian_male_old_heavy", "D_caucasian_female_young_heavy"}) {
    SCOPED_TRACE(body);
    const auto found = proposalsFor(folder / ("mh_" + body + "_rig163.glb"));
    const bool female = body.find("female") != std::string::npos;
    EXPECT_EQ(only(found, FleshRegion::Breast).size(), female ? 2u : 0u);
    EXPECT_EQ(only(found, FleshRegion::Buttock).size(), 2u);
    EXPECT_EQ(only(found, FleshRegion::Belly).size(), 1u);
    EXPECT_GE(only(found, FleshRegion::Limb).size(), 4u);
    // Calves are beside the thighs where they are not much thinner than those.
    const auto limbs = only(found, FleshRegion::Limb);
    const auto calves = std::count_if(limbs.begin(), limbs.end(), [](const FleshProposal& p) {
      return p.desc.name.starts_with("lowerleg");
    });
    if (!female) {
      EXPECT_EQ(calves, 2);
    }
    for (const FleshRegion region : {FleshRegion::Breast, FleshRegion::Buttock}) {
      const auto pair = only(found, region);
      if (pair.size() != 2) continue;
      // The bodies look along +Z and are symmetric.
      EXPECT_LT((*pair[0].desc.from + *pair[1].desc.from).x(), 0.01);
      EXPECT_NEAR(pair[0].desc.from->y(), pair[1].desc.from->y(), 0.01);
      EXPECT_NEAR(*pair[0].desc.frequency_hz, *pair[1].desc.frequency_hz, 0.5);
    }
  }
}

/// [m] every proposed element's elongation, sixty times a second.
std::vector<std::vector<Vec3d>> elongations(const std::shared_ptr<const Stack>& stack,
                                            const Clip& clip, double inner_rate_hz) {
  Playback playback =
      Playback::make(stack, &clip, {.end_s = clip.duration_s(), .inner_rate_hz = inner_rate_hz})
          .value();
  std::vector<std::vector<Vec3d>> out;
  for (const auto& layer : stack->layers())
    if (layer->type() == "flesh") out.emplace_back();
  for (int i = 0; i < static_cast<int>(60 * clip.duration_s()); ++i) {
    playback.frameAt(i / 60.0);
    std::size_t element = 0;
    for (const auto& layer : stack->layers())
      if (const auto* flesh = playback.find<FleshLayer>(layer->name())) {
        const FleshFrames frames = flesh->frames();
        out[element++].push_back(frames.swinging.translation() - frames.at_rest.translation());
      }
  }
  return out;
}

/// The flesh that is proposed, at 240 inner steps a second against 1,920: within 1 % of the
/// longest elongation wherever that is a millimetre of a grown-up or more.
void expectConverged(const std::shared_ptr<const Character>& c, const Clip& clip) {
  SCOPED_TRACE(c->name + " " + clip.name);
  Diagnostics notes;
  std::vector<LayerFactory> layers = {morphLayer(), skinningLayer({})};
  const std::vector<FleshProposal> found = proposeFlesh(*c, notes).value();
  for (const FleshProposal& p : found) layers.push_back(fleshLayer(p.desc));
  const auto stack = Stack::bind(c, layers, notes).value();
  const auto coarse = elongations(stack, clip, 240), fine = elongations(stack, clip, 1920);
  ASSERT_FALSE(fine.empty());
  for (std::size_t e = 0; e < fine.size(); ++e) {
    double longest = 0, error = 0;
    for (std::size_t i = 0; i < fine[e].size(); ++i) {
      longest = std::max(longest, fine[e][i].norm());
      error = std::max(error, (coarse[e][i] - fine[e][i]).norm());
    }
    if (longest > 1e-3) {
      EXPECT_LE(error, 0.01 * longest) << "element " << e;
    }
  }
}

TEST(FleshProposalData, TheInnerStepIsWithinAHundredthOfTheLimitOfSmallOnes) {
  DERM_DATA_OR_SKIP(characters, "gltf-characters");
  DERM_DATA_OR_SKIP(motions, "mocap-cmu-bvh");
  Diagnostics notes;
  const auto load = [&](const char* file) {
    return std::make_shared<const Character>(loadCharacter(characters / file, {}, notes).value());
  };
  // A recording whose right thigh turns over between two keys.
  const BvhMotion recording = loadBvh(motions / "05_06.bvh", {}, notes).value();
  for (const char* file : {"CesiumMan.glb", "RiggedFigure.glb"}) {
    const auto c = load(file);
    RetargetDesc how;
    how.start_s = motionStart(recording.clip, recording.skeleton);
    how.source_reference_time_s = 0.0f;
    expectConverged(c,
                    retarget(recording.clip, recording.skeleton, c->skeleton, how, notes).value());
  }
  // Flesh at its limit most of the time.
  const auto fox = load("Fox.glb");
  for (const Clip& clip : fox->clips) expectConverged(fox, clip);
  // A sword fighter's blows.
  const auto knight = load("KayKit_Knight.glb");
  for (const Clip& clip : knight->clips)
    if (clip.name.find("Attack") != std::string::npos) expectConverged(knight, clip);
}

}  // namespace
}  // namespace derm::flesh_proposal_data_test
