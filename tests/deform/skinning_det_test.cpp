#include "derm/base/hash.h"
#include "derm/base/parallel.h"

#include "deform/skinning_rig.h"
#include "support/allocations.h"

namespace derm::skinning_det_test {
namespace {

using namespace skinning_test;

std::uint64_t hashOf(const Surface& surface) {
  Hash64 hash;
  hash.addSpan(std::span(surface.positions));
  hash.addSpan(std::span(surface.normals));
  hash.addSpan(std::span(surface.tangents));
  return hash.value();
}

/// One of each method, and a mix.
std::vector<SkinningDesc> allDescs(std::size_t vertices) {
  std::vector<SkinningDesc> out;
  for (const SkinningMethod method : kAllMethods) out.push_back({.method = method});
  SkinningDesc mixed;
  for (std::size_t v = 0; v < vertices; ++v)
    mixed.dual_quaternion_share.push_back(static_cast<float>(v % 5) / 4);
  out.push_back(mixed);
  return out;
}

TEST(SkinningDet, SameBitsWithOneTwoAndEightThreads) {
  constexpr std::size_t kVertices = 30000;  // some fifteen tiles
  Rng rng(1);
  const Surface rest = randomSurface(rng, kVertices);
  const Skin skin = randomSkin(rng, kVertices, 60, 6);
  for (const Motion motion : {Motion::Rigid, Motion::Stretch})
    for (const SkinningDesc& desc : allDescs(kVertices)) {
      SCOPED_TRACE(name(desc.method));
      const std::vector<Affine3f> palette = randomPalette(rng, 60, motion);
      std::vector<std::uint64_t> hashes;
      for (const int threads : {1, 2, 8}) {
        const ThreadLimit limit(threads);
        hashes.push_back(hashOf(skinned(rest, skin, desc, palette)));
      }
      EXPECT_EQ(hashes[0], hashes[1]);
      EXPECT_EQ(hashes[0], hashes[2]);
    }
}

TEST(SkinningDet, SameBitsOnASecondCallAndWithAUsedScratch) {
  Rng rng(2);
  const Surface rest = randomSurface(rng, 3000);
  const Skin skin = randomSkin(rng, 3000, 20, 4);
  const std::vector<Affine3f> stretched = randomPalette(rng, 20, Motion::Stretch);
  const std::vector<Affine3f> rigid = randomPalette(rng, 20, Motion::Rigid);
  for (const SkinningDesc& desc : allDescs(3000)) {
    const SkinningBinding binding = bound(rest.streams(), skin, desc);
    SkinningScratch scratch = binding.makeScratch();
    Surface first = emptySurface(3000), again = emptySurface(3000), between = emptySurface(3000);
    binding.evaluate(rigid, scratch, first.output());
    binding.evaluate(stretched, scratch, between.output());
    binding.evaluate(rigid, scratch, again.output());
    EXPECT_EQ(hashOf(first), hashOf(again));
    EXPECT_NE(hashOf(first), hashOf(between));
  }
}

TEST(SkinningDet, EvaluateAllocatesNothing) {
  Rng rng(3);
  const Surface rest = randomSurface(rng, 5000);
  const Skin skin = randomSkin(rng, 5000, 20, 4);
  for (const Motion motion : {Motion::Rigid, Motion::Stretch, Motion::Mirror}) {
    const std::vector<Affine3f> palette = randomPalette(rng, 20, motion);
    for (const SkinningDesc& desc : allDescs(5000)) {
      const SkinningBinding binding = bound(rest.streams(), skin, desc);
      SkinningScratch scratch = binding.makeScratch();
      Surface out = emptySurface(5000);
      for (const int threads : {1, 2}) {
        const ThreadLimit limit(threads);
        binding.evaluate(palette, scratch, out.output());  // threads may start here
        const std::size_t before = testing_support::allocationCount();
        binding.evaluate(palette, scratch, out.output());
        binding.evaluate(palette, rest.streams(), scratch, out.output());
        EXPECT_EQ(testing_support::allocationCount(), before);
      }
    }
  }
}

}  // namespace
}  // namespace derm::skinning_det_test
