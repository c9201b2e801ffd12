#include "derm/implicit/build_potential.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "derm/implicit/polygonise.h"
#include "derm/implicit/shape_targets.h"

namespace derm::build_potential_test {
namespace {

TEST(BuildPotential, GivesDistancesOfSlopeOneWhateverTheFieldsSlope) {
  /// A ball's distance times a factor.
  class Steep final : public Target {
   public:
    explicit Steep(float factor) : factor_(factor) {}
    void sample(const SampleBatch& at, std::span<float> g) const noexcept override {
      ball_.sample(at, g);
      for (float& v : g) v *= factor_;
    }
    double slope() const override { return 0; }
    Box3d bounds() const override { return ball_.bounds(); }

   private:
    SphereTarget ball_{Vec3d(0.1, 0.2, 0.3), 0.5};
    float factor_;
  };
  for (const float factor : {0.01f, 1.0f, 300.0f}) {
    SCOPED_TRACE(factor);
    const Result<Potential> p = buildPotential(Steep(factor), {.voxel_m = 0.04});
    ASSERT_TRUE(p.ok()) << p.error().text();
    for (int i = 0; i < 200; ++i) {
      const double a = 0.7 * i, b = 0.13 * i, r = 0.5 + 0.05 * std::sin(i);
      const Vec3d at = Vec3d(0.1, 0.2, 0.3) +
                       r * Vec3d(std::cos(a) * std::cos(b), std::sin(b), std::sin(a) * std::cos(b));
      EXPECT_NEAR(p->valueAt(at), 0.5 - r, 0.15 * 0.04);
    }
  }
}

TEST(BuildPotential, LeavesOutSpaceWithoutSurface) {
  const SphereTarget small(Vec3d::Zero(), 0.5), large(Vec3d::Zero(), 1.0);
  const Result<Potential> a = buildPotential(small, {.voxel_m = 0.01}),
                          b = buildPotential(large, {.voxel_m = 0.01});
  ASSERT_TRUE(a.ok() && b.ok());
  const double ratio =
      static_cast<double>(b->grid.activeCount()) / static_cast<double>(a->grid.activeCount());
  EXPECT_NEAR(ratio, 4.0, 0.2);  // surface, not volume
  // 4 pi r^2 / h^2 x 5 layers
  EXPECT_NEAR(static_cast<double>(a->grid.activeCount()), 4 * M_PI * 2500 * 5, 4 * M_PI * 2500);
}

TEST(BuildPotential, SaysWhatIsWrongBeforeTakingMemory) {
  const SphereTarget ball(Vec3d::Zero(), 0.5);
  const auto message = [](const Target& target, const PotentialDesc& desc) {
    const Result<Potential> p = buildPotential(target, desc);
    return p.ok() ? std::string("ok") : p.error().text();
  };
  EXPECT_NE(message(ball, {.voxel_m = 0}).find("voxel size"), std::string::npos);
  EXPECT_NE(message(ball, {.voxel_m = std::nan("")}).find("voxel size"), std::string::npos);
  EXPECT_NE(message(ball, {.voxel_m = 0.0005, .max_memory = 100 << 20}).find("100 MB"),
            std::string::npos);
  EXPECT_NE(message(ball, {.voxel_m = 0.1, .band_width = 1}).find("2 to 6"), std::string::npos);
  EXPECT_NE(message(BlobTarget({}), {.voxel_m = 0.1}).find("empty"), std::string::npos);
  EXPECT_NE(message(SphereTarget(Vec3d(1e9, 0, 0), 1), {.voxel_m = 0.1}).find("beyond"),
            std::string::npos);
  EXPECT_NE(message(SphereTarget(Vec3d(0.05, 0.05, 0.05), 0.01), {.voxel_m = 0.1}).find("slips"),
            std::string::npos);
}

TEST(BuildPotential, MeasuresTheSixAndTheTwoBlobs) {
  const Result<Potential> six = buildPotential(sixBlobs(), {.voxel_m = 0.05}),
                          two = buildPotential(twoBlobs(), {.voxel_m = 0.05});
  ASSERT_TRUE(six.ok() && two.ok());
  EXPECT_EQ(measured(polygonised(*six)).euler_number, 2);
  EXPECT_EQ(measured(polygonised(*six)).pieces.size(), 1u);
  EXPECT_EQ(measured(polygonised(*two)).euler_number, 4);
  EXPECT_EQ(measured(polygonised(*two)).pieces.size(), 2u);
}

}  // namespace
}  // namespace derm::build_potential_test
