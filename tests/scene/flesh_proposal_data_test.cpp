// Which flesh is proposed for bodies that nobody here made.
#include <gtest/gtest.h>

#include "derm/deform/flesh_auto.h"
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

}  // namespace
}  // namespace derm::flesh_proposal_data_test
