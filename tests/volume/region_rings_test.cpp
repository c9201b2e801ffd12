// The one-pass sums of the volume methods against the plain ones of RegionVolumes, on
// every instruction set this CPU has.

#include "volume/region_rings.h"

#include "derm/base/rng.h"

#include "support/simd_targets.h"
#include "volume/section_rig.h"
#include "volume/volume_line.h"

namespace derm::region_rings_test {
namespace {

using namespace section_test;
using testing_support::onEveryTarget;

/// Limbs with several regions, wide enough for three to meet, closed and open; shaken so that
/// nothing is symmetric.
struct Scene {
  Section section;
  std::vector<Vec3d> points, anchors;
  std::vector<double> gamma;

  static RegionsDesc desc(RegionKind kind) {
    return {.kind = kind,
            .beta = 1,
            .min_area_share = 0,
            .min_limb_ratio = 0,
            .min_volume_share = 0,
            .min_points = 0};
  }
  explicit Scene(RegionKind kind, double half_width)
      : section(smoothLimb({.length = 30, .rings = 41, .sectors = 9, .joints = {0, 8, 14, 20}},
                           half_width),
                desc(kind)),
        points(section.rest),
        anchors(section.regions.bindPositions()) {
    Rng rng(3);
    const auto some = [&](double size) {
      return Vec3d(rng.uniform(-size, size), rng.uniform(-size, size), rng.uniform(-size, size));
    };
    for (Vec3d& p : points) p += some(0.2);
    completeApexes(section.surface, points);
    for (Vec3d& f : anchors) f += some(0.5);
    for (std::size_t i = 0; i < section.surface.weldedCount(); ++i)
      gamma.push_back(i % 5 == 0 ? 0.0 : rng.uniform());
  }
};

TEST(RegionRings, VolumesGradientsAndFieldsAreThePlainOnes) {
  onEveryTarget([] {
    for (const RegionKind kind : {RegionKind::Joints, RegionKind::Whole})
      for (const double half_width : {2.0, 6.0}) {
        SCOPED_TRACE(half_width);
        const Scene s(kind, half_width);
        const detail::RegionRings rings(s.section.surface, s.section.regions);
        ASSERT_EQ(rings.oddEntryCount() + rings.evenPoints().size(), rings.entryCount());
        EXPECT_GT(rings.evenPoints().size(), 0u);
        detail::RegionRings::Sums sums = rings.makeSums();
        std::vector<Vec3d> gradients(rings.entryCount()), field(rings.entryCount());
        std::vector<double> volumes(rings.regionCount());
        rings.measure(s.points, s.anchors, s.gamma, sums, gradients, field, volumes);
        const std::vector<double> plain = s.section.volumes.volumes(s.points, s.anchors);
        for (std::size_t l = 0; l < plain.size(); ++l) EXPECT_NEAR(volumes[l] / plain[l], 1, 1e-13);
        std::vector<Vec3d> wanted(s.section.volumes.entryCount());
        s.section.volumes.gradients(s.points, s.anchors, wanted);
        for (std::size_t i = 0; i < s.points.size(); ++i) {
          const auto rows = rings.regionsOf(i), plain_rows = s.section.volumes.regionsOf(i);
          ASSERT_TRUE(std::equal(rows.begin(), rows.end(), plain_rows.begin(), plain_rows.end()));
          for (std::size_t k = 0; k < rows.size(); ++k) {
            const std::size_t e = rings.firstEntry(i) + k;
            EXPECT_LT((gradients[e] - wanted[s.section.volumes.firstEntry(i) + k]).norm(), 1e-12);
            if (!rings.odd(i)) {
              EXPECT_LT((field[e] - s.gamma[i] * gradients[e]).norm(), 1e-14);
            }
          }
        }
        // Gradients of odd points alone are the same ones, and so are volumes without fields.
        std::vector<Vec3d> some(rings.oddEntryCount());
        std::vector<double> again(volumes.size());
        rings.measure(s.points, s.anchors, {}, sums, some, {}, again);
        EXPECT_EQ(again, volumes);
        for (std::size_t e = 0; e < some.size(); ++e) EXPECT_EQ(some[e], gradients[e]);
      }
  });
}

TEST(RegionRings, SquaresOfTheFieldAreThoseOfItsEntries) {
  onEveryTarget([] {
    const Scene s(RegionKind::Joints, 2.0);
    const detail::RegionRings rings(s.section.surface, s.section.regions);
    detail::RegionRings::Sums sums = rings.makeSums();
    std::vector<Vec3d> gradients(rings.entryCount()), field(rings.entryCount());
    std::vector<double> volumes(rings.regionCount());
    rings.measure(s.points, s.anchors, s.gamma, sums, gradients, field, volumes);
    for (std::size_t r = 0; r < rings.runs().size(); ++r) {
      Vec3d wanted = Vec3d::Zero();
      for (std::uint32_t n = rings.runs()[r].begin; n < rings.runs()[r].end; ++n) {
        const std::size_t e = rings.oddEntryCount() + n;
        wanted += gradients[e].cwiseProduct(field[e]);
      }
      for (int a = 0; a < 3; ++a) EXPECT_NEAR(sums.runs[r].squares[a], wanted[a], 1e-12);
    }
  });
}

TEST(VolumeLine, ChangesAreThoseOfVolumesMeasuredAnew) {
  onEveryTarget([] {
    for (const RegionKind kind : {RegionKind::Joints, RegionKind::Whole}) {
      const Scene s(kind, 4.0);
      const MeasuredSurface& surface = s.section.surface;
      const auto fields =
          std::make_shared<const detail::VolumeFields>(surface, s.section.regions, s.gamma);
      const std::size_t regions = s.section.regions.regionCount();
      detail::VolumeFields::Sums sums = fields->makeSums();
      std::vector<Vec3d> gradients(fields->rings().entryCount()), field(gradients.size());
      std::vector<double> volumes(regions), change(regions), lambda(regions);
      fields->measure(s.points, s.anchors, sums, gradients, field, volumes);
      fields->oddAlongGradient(gradients, field);
      detail::RegionMatrix slopes(regions), at(regions), renewed(regions);
      fields->measuredMatrix(gradients, field, sums, slopes);
      const detail::VolumeLine line(fields, surface, s.section.regions);
      ASSERT_EQ(line.independent(), regions == 1);
      detail::VolumeLine::Scratch scratch = line.makeScratch();
      std::vector<Vec3d> moved(s.points.size()), u(s.points.size());
      scratch.moved = moved;
      line.begin(s.points, s.anchors, field, slopes, scratch);
      const auto changeAt = [&](std::span<const double> to) {
        fields->combine(to, field, u);
        for (std::size_t i = 0; i < u.size(); ++i) u[i] += s.points[i];
        std::vector<double> out = s.section.volumes.volumes(u, s.anchors);
        for (std::size_t l = 0; l < regions; ++l) out[l] -= volumes[l];
        return out;
      };
      for (std::size_t l = 0; l < regions; ++l) lambda[l] = 0.2 - 0.11 * double(l);
      line.evaluate(s.points, s.anchors, field, lambda, true, scratch, change, renewed);
      const std::vector<double> wanted = changeAt(lambda);
      const double step = 1e-6;
      for (std::size_t k = 0; k < regions; ++k) EXPECT_NEAR(change[k], wanted[k], 1e-11);
      for (std::size_t l = 0; l < regions; ++l) {
        std::vector<double> up = lambda, down = lambda;
        up[l] += step;
        down[l] -= step;
        const std::vector<double> high = changeAt(up), low = changeAt(down);
        for (std::size_t k = 0; k < regions; ++k)
          EXPECT_NEAR(renewed(k, l), (high[k] - low[k]) / (2 * step), 1e-5);
      }
      if (line.independent()) continue;
      std::fill(lambda.begin(), lambda.end(), 0.0);
      line.begin(s.points, s.anchors, field, slopes, scratch);
      line.evaluate(s.points, s.anchors, field, lambda, false, scratch, change, at);
      line.evaluate(s.points, s.anchors, field, lambda, true, scratch, change, renewed);
      for (std::size_t k = 0; k < regions; ++k)
        for (std::size_t l = 0; l < regions; ++l) {
          EXPECT_NEAR(at(k, l), slopes(k, l), 1e-9);  // no sums needed at the start
          EXPECT_NEAR(renewed(k, l), slopes(k, l), 1e-9);
        }
    }
  });
}

}  // namespace
}  // namespace derm::region_rings_test
