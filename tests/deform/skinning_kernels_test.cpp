// The fast kernels against the plain double reference, on every instruction set this CPU has.

#include "deform/skinning_rig.h"
#include "support/simd_targets.h"

namespace derm::skinning_kernels_test {
namespace {

using namespace skinning_test;
using testing_support::onEveryTarget;

/// Rounding of up to 12 float terms of size 4 (coordinates up to 1.7, stretched by up to 1.6, and
/// shifts up to 1.7): 4 * 12 * 6e-8. Measured: up to 9e-7.
constexpr double kPositionTolerance = 3e-6;
/// Directions blended from opposite turns become short, which makes their rounding count more.
/// Measured: up to 7e-6.
constexpr double kDirectionTolerance = 2e-5;

void expectNear(const Differences& d) {
  EXPECT_LT(d.position, kPositionTolerance);
  EXPECT_LT(d.normal, kDirectionTolerance);
  EXPECT_LT(d.tangent, kDirectionTolerance);
  EXPECT_EQ(d.flipped_w, 0u);
}

TEST(SkinningKernels, EveryTargetAgreesWithTheReferenceForAnyNumberOfVerticesAndInfluences) {
  onEveryTarget([] {
    Rng rng(7);
    for (const std::size_t vertices : {0, 1, 7, 8, 9, 15, 16, 17, 200})
      for (const std::size_t max_influences : {1, 2, 4, 5, 8, 12})
        for (const Motion motion : {Motion::Rigid, Motion::UniformScale, Motion::Stretch}) {
          SCOPED_TRACE(testing::Message() << vertices << " vertices, up to " << max_influences
                                          << " influences, motion " << static_cast<int>(motion));
          const Surface rest = randomSurface(rng, vertices);
          const Skin skin = randomSkin(rng, vertices, 20, max_influences);
          const std::vector<Affine3f> palette = randomPalette(rng, 20, motion);
          const SkinningReference reference = referenceOf(skin, palette);
          for (const SkinningMethod method : kAllMethods) {
            SCOPED_TRACE(name(method));
            const Surface got = skinned(rest, skin, {.method = method}, palette);
            Differences d;
            for (std::size_t v = 0; v < vertices; ++v)
              d.take(reference.skin(preciseRow(skin, v), vertexOf(rest, v), method),
                     vertexOf(got, v));
            expectNear(d);
          }
        }
  });
}

TEST(SkinningKernels, EveryTargetAgreesWithTheReferenceOnMirrorsWherePossible) {
  // One influence each: what a blend of mirrored and plain joints gives is not near anything.
  onEveryTarget([] {
    Rng rng(8);
    const Surface rest = randomSurface(rng, 100);
    const Skin skin = randomSkin(rng, 100, 8, 1);
    const std::vector<Affine3f> palette = randomPalette(rng, 8, Motion::Mirror);
    const SkinningReference reference = referenceOf(skin, palette);
    for (const SkinningMethod method : kAllMethods) {
      const Surface got = skinned(rest, skin, {.method = method}, palette);
      Differences d;
      for (std::size_t v = 0; v < 100; ++v)
        d.take(reference.skin(preciseRow(skin, v), vertexOf(rest, v), method), vertexOf(got, v));
      expectNear(d);
    }
  });
}

TEST(SkinningKernels, EveryTargetMixesByShareAsTheReferenceDoes) {
  onEveryTarget([] {
    Rng rng(9);
    for (const Motion motion : {Motion::Rigid, Motion::Stretch}) {
      const Surface rest = randomSurface(rng, 300);
      const Skin skin = randomSkin(rng, 300, 12, 4);
      const std::vector<Affine3f> palette = randomPalette(rng, 12, motion);
      const SkinningReference reference = referenceOf(skin, palette);
      SkinningDesc desc;
      for (int v = 0; v < 300; ++v)
        desc.dual_quaternion_share.push_back(static_cast<float>(rng.uniform()));
      const Surface got = skinned(rest, skin, desc, palette);
      Differences d;
      for (std::size_t v = 0; v < 300; ++v)
        d.take(reference.mix(preciseRow(skin, v), vertexOf(rest, v), desc.dual_quaternion_share[v]),
               vertexOf(got, v));
      expectNear(d);
    }
  });
}

TEST(SkinningKernels, MoreInfluencesThanARegisterHasLanesWork) {
  onEveryTarget([] {
    Rng rng(10);
    const Surface rest = randomSurface(rng, 40);
    const Skin skin = randomSkin(rng, 40, 200, 90);
    const std::vector<Affine3f> palette = randomPalette(rng, 200, Motion::Rigid);
    const SkinningReference reference = referenceOf(skin, palette);
    for (const SkinningMethod method : {SkinningMethod::Linear, SkinningMethod::DualQuaternion}) {
      const Surface got = skinned(rest, skin, {.method = method}, palette);
      double largest = 0;
      for (std::size_t v = 0; v < 40; ++v) {
        const Vec3d wanted =
            reference.skin(preciseRow(skin, v), vertexOf(rest, v), method).position;
        largest = std::max(largest, (wanted - got.positions[v].cast<double>()).norm());
      }
      // 90 random rotations nearly cancel; the dual quaternion sum is about 0.3 long.
      EXPECT_LT(largest, 5 * kPositionTolerance);
    }
  });
}

TEST(SkinningKernels, StreamsThatAreNotAskedForDoNotChangeTheOthers) {
  onEveryTarget([] {
    Rng rng(11);
    const Surface rest = randomSurface(rng, 100);
    const Skin skin = randomSkin(rng, 100, 8, 4);
    const std::vector<Affine3f> palette = randomPalette(rng, 8, Motion::Stretch);
    for (const SkinningMethod method : kAllMethods) {
      const Surface all = skinned(rest, skin, {.method = method}, palette);
      const SkinningBinding binding = bound(rest.streams(), skin, {.method = method});
      SkinningScratch scratch = binding.makeScratch();
      Surface some = emptySurface(100);
      binding.evaluate(palette, scratch, {some.positions, {}, {}});
      EXPECT_EQ(some.positions, all.positions);
      binding.evaluate(palette, scratch, {some.positions, some.normals, {}});
      EXPECT_EQ(some.normals, all.normals);
      binding.evaluate(palette, scratch, {some.positions, {}, some.tangents});
      EXPECT_EQ(some.tangents, all.tangents);
      EXPECT_EQ(some.positions, all.positions);
    }
  });
}

TEST(SkinningKernels, AnotherSurfaceIsSkinnedAsIfItHadBeenBound) {
  onEveryTarget([] {
    Rng rng(12);
    for (const std::size_t vertices : {1, 5, 8, 9, 17, 300}) {
      const Surface rest = randomSurface(rng, vertices);
      const Surface morphed = randomSurface(rng, vertices);
      const Skin skin = randomSkin(rng, vertices, 8, 4);
      const std::vector<Affine3f> palette = randomPalette(rng, 8, Motion::Rigid);
      for (const SkinningMethod method : kAllMethods) {
        const SkinningBinding binding = bound(rest.streams(), skin, {.method = method});
        SkinningScratch scratch = binding.makeScratch();
        Surface got = emptySurface(vertices);
        binding.evaluate(palette, morphed.streams(), scratch, got.output());
        EXPECT_EQ(got, skinned(morphed, skin, {.method = method}, palette));
      }
    }
  });
}

}  // namespace
}  // namespace derm::skinning_kernels_test
