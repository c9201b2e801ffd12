// The tables of our own notes on joints: cylinders bent and twisted.
#include <cstdio>

#include "derm/mesh/measures.h"

#include "volume/section_rig.h"

namespace derm::section_paper_test {
namespace {

using namespace section_test;

struct Rings {
  double min = 1e9, max = 0;
};

/// Distance of each ring's vertices to the ring's own centroid, over the radius.
Rings ringsOf(const Limb& limb, std::span<const Vec3d> x) {
  Rings out;
  for (int r = 0; r < limb.rings; ++r) {
    const auto ring =
        x.subspan(std::size_t(r) * std::size_t(limb.sectors), std::size_t(limb.sectors));
    const Vec3d middle = centroid(ring);
    for (const Vec3d& p : ring) {
      out.min = std::min(out.min, (p - middle).norm() / limb.radius);
      out.max = std::max(out.max, (p - middle).norm() / limb.radius);
    }
  }
  return out;
}

struct Motion {
  const char* name;
  double degrees;
  Vec3d axis;
};
const Motion kMotions[] = {{"bend 90", 90, Vec3d::UnitY()},
                           {"bend 120", 120, Vec3d::UnitY()},
                           {"twist 170", 170, Vec3d::UnitZ()}};

double creases(const Section& s, std::span<const Vec3d> x) {
  return dihedralChange(s.surface.triangles, s.rest, x, [](auto, auto) { return true; });
}

TEST(SectionPaper, TableOfBasesOnTheCylinder) {
  const Limb limb;
  Section section(smoothLimb(limb, 2.5));
  // Computed apart, in double: ring min and change of volume in %, for LBS, DQS and alpha 0.5.
  const double kLinearRing[] = {0.707, 0.500, 0.087}, kLinearLoss[] = {-3.25, -4.88, -12.82};
  const double kDualLoss[] = {-0.05, -0.09, -0.28}, kBaseLoss[] = {-0.15, -0.37, -0.28};
  const double kLinearCreases[] = {4.1, 6.2, 5.5}, kBaseCreases[] = {2.6, 4.2, 27.5};
  for (std::size_t m = 0; m < 3; ++m) {
    SCOPED_TRACE(kMotions[m].name);
    Pose pose = section.character.restPose();
    turn(pose, 1, kMotions[m].degrees, kMotions[m].axis);
    const Section::Posed p = section.pose(pose);
    std::printf(
        "%-10s ring lbs %.3f dqs %.3f centre %.4f..%.4f  dV lbs %.2f dqs %.2f centre %.2f"
        "  dih lbs %.1f centre %.1f\n",
        kMotions[m].name, ringsOf(limb, p.linear).min, ringsOf(limb, p.dual).min,
        ringsOf(limb, p.base).min, ringsOf(limb, p.base).max, 100 * section.change(p.linear),
        100 * section.change(p.dual), 100 * section.change(p.base), creases(section, p.linear),
        creases(section, p.base));
    EXPECT_NEAR(ringsOf(limb, p.linear).min, kLinearRing[m], 1e-3);
    EXPECT_NEAR(ringsOf(limb, p.dual).min, 1, 1e-3);
    EXPECT_NEAR(ringsOf(limb, p.base).min, 1, 1e-3);
    EXPECT_NEAR(ringsOf(limb, p.base).max, 1, 1e-3);
    EXPECT_NEAR(100 * section.change(p.linear), kLinearLoss[m], 0.02);
    EXPECT_NEAR(100 * section.change(p.dual), kDualLoss[m], 0.02);
    EXPECT_NEAR(100 * section.change(p.base), kBaseLoss[m], 0.02);
    EXPECT_NEAR(creases(section, p.linear), kLinearCreases[m], 0.15);
    EXPECT_NEAR(creases(section, p.base), kBaseCreases[m], 0.3);
  }
}

TEST(SectionPaper, CylindersKeepVolumeAndRadius) {
  struct Case {
    double length, half_width;
  };
  for (const Case& c : {Case{20, 1}, Case{20, 2}, Case{20, 2.5}, Case{20, 5}, Case{6, 1},
                        Case{6, 2}, Case{30, 2.5}}) {
    const Limb limb{.length = c.length, .joints = {0, c.length / 2}};
    Section section(smoothLimb(limb, c.half_width), {.beta = 1}, {.tolerance = 1e-13});
    for (const Motion& m : kMotions) {
      SCOPED_TRACE(std::to_string(c.length) + " " + std::to_string(c.half_width) + " " + m.name);
      Pose pose = section.character.restPose();
      turn(pose, 1, m.degrees, m.axis);
      const Section::Posed p = section.pose(pose);
      EXPECT_LE(section.worstRegion(p), 1e-12);
      EXPECT_LE(std::abs(section.change(p.corrected)), 1e-12);
      EXPECT_LE(p.report.iterations, 12);
      const Rings rings = ringsOf(limb, p.corrected);
      std::printf(
          "H/R %2.0f half-width %.1f %-10s ring %.4f..%.4f move %.3f steps %d dih %.1f of "
          "lbs %.1f\n",
          c.length, c.half_width, m.name, rings.min, rings.max, p.report.largest_move_m,
          p.report.iterations, creases(section, p.corrected), creases(section, p.linear));
      EXPECT_GE(rings.min, 0.999);
      EXPECT_LE(rings.max, 1.05);
      if (m.axis == Vec3d::UnitY() && c.half_width >= 2) {
        EXPECT_LE(creases(section, p.corrected), creases(section, p.linear));
      }
    }
  }
}

TEST(SectionPaper, InverseSquareWeightsOfTheReportKeepVolumeAndRadius) {
  const Limb limb;
  Section section(limbCharacter(limb,
                                [&](const Vec3d& p, std::size_t j) {
                                  const double a = p.squaredNorm();
                                  const double b = (p - Vec3d(0, 0, limb.length)).squaredNorm();
                                  return j == 0 ? b / (a + b) : a / (a + b);
                                }),
                  {}, {.tolerance = 1e-13});
  for (const Motion& m : kMotions) {
    SCOPED_TRACE(m.name);
    Pose pose = section.character.restPose();
    turn(pose, 1, m.degrees, m.axis);
    const Section::Posed p = section.pose(pose);
    EXPECT_LE(section.worstRegion(p), 1e-12);
    EXPECT_GE(ringsOf(limb, p.corrected).min, 0.999);
    EXPECT_LE(ringsOf(limb, p.corrected).max, 1.05);
  }
}

TEST(SectionPaper, AnIdleJointOfALimbStaysIdle) {
  const Limb limb{.length = 30, .rings = 61, .joints = {0, 10, 20}};
  const Character smooth = smoothLimb(limb, 2.5);
  const Character wide = limbCharacter(limb, [](const Vec3d& p, std::size_t j) {
    const double from = 10 * double(j), z = std::clamp(p.z(), from, from + 10);
    // Of the distance to the bone's segment; the caps' middles lie on it.
    return 1 / std::pow(std::max(1e-2, (p - Vec3d(0, 0, z)).norm()), 4);
  });
  for (const bool is_smooth : {true, false}) {
    SCOPED_TRACE(is_smooth ? "smooth steps" : "inverse 4th power");
    Section section(is_smooth ? smooth : wide, {.beta = 1}, {.tolerance = 1e-13});
    ASSERT_EQ(section.regions.regionCount(), 2u);
    for (const double degrees : {90.0, 120.0}) {
      Pose pose = section.character.restPose();
      turn(pose, 1, degrees, Vec3d::UnitY());
      const Section::Posed p = section.pose(pose);
      double active = 0, idle = 0;
      for (std::size_t v = 0; v < p.base.size(); ++v) {
        const double move = (p.corrected[v] - p.base[v]).norm();
        double& max = section.rest[v].z() < 15 ? active : idle;
        max = std::max(max, move);
      }
      std::printf("%s %3.0f: active %.4f R, idle %.1e R\n", is_smooth ? "smooth" : "power 4",
                  degrees, active, idle);
      EXPECT_LE(section.worstRegion(p), 1e-12);
      // Poses are float: their rotations scale by 1e-7.
      EXPECT_LE(idle, is_smooth ? 1e-6 : 2e-3);
    }
  }
}

TEST(SectionPaper, RestInRestOut) {
  Section section(smoothLimb({}, 2.5), {}, {.tolerance = 1e-13});
  const Section::Posed p = section.pose(section.character.restPose());
  for (std::size_t v = 0; v < p.base.size(); ++v) EXPECT_EQ(p.corrected[v], p.base[v]);
  EXPECT_EQ(p.report.iterations, 0);
}

}  // namespace
}  // namespace derm::section_paper_test
