#include "derm/volume/region_volumes.h"

#include <cmath>

#include "derm/base/rng.h"
#include "derm/mesh/measures.h"

#include "support/shelf.h"
#include "volume/section_rig.h"

namespace derm::region_volumes_test {
namespace {

using namespace section_test;

Limb threeJoints() { return {.length = 30, .rings = 61, .joints = {0, 10, 20}}; }

/// Points and anchors moved away from rest, so that nothing is symmetric.
struct Shaken {
  std::vector<Vec3d> points, anchors;
};

Shaken shaken(const Section& s, std::uint64_t seed) {
  Rng rng(seed);
  const auto some = [&](double size) {
    return Vec3d(rng.uniform(-size, size), rng.uniform(-size, size), rng.uniform(-size, size));
  };
  Shaken out{s.rest, s.regions.bindPositions()};
  for (Vec3d& p : out.points) p += some(0.2);
  for (Vec3d& f : out.anchors) f += some(0.5);
  return out;
}

double sum(std::span<const double> values) {
  double out = 0;
  for (const double v : values) out += v;
  return out;
}

TEST(RegionVolumes, SumToTheWholeWhateverThePoseAndTheAnchors) {
  Section s(smoothLimb(threeJoints(), 4), {.beta = 1});
  ASSERT_EQ(s.regions.regionCount(), 2u);
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const Shaken x = shaken(s, seed);
    const std::vector<double> each = s.volumes.volumes(x.points, x.anchors);
    const double whole = volume(std::span<const Vec3d>(x.points), s.surface.triangles);
    EXPECT_NEAR(sum(each) / whole, 1, 1e-13);
  }
}

TEST(RegionVolumes, DoNotChangeWhenSurfaceAndAnchorsMoveRigidly) {
  Section s(smoothLimb(threeJoints(), 4), {.beta = 1});
  const Shaken x = shaken(s, 4);
  const std::vector<double> before = s.volumes.volumes(x.points, x.anchors);
  Affine3d motion = Affine3d::Identity();
  motion.linear() = Eigen::AngleAxisd(1.1, Eigen::Vector3d(1, 2, 3).normalized()).matrix();
  motion.translation() = Vec3d(5, -3, 8);
  Shaken moved = x;
  for (Vec3d& p : moved.points) p = motion * p;
  for (Vec3d& f : moved.anchors) f = motion * f;
  const std::vector<double> after = s.volumes.volumes(moved.points, moved.anchors);
  for (std::size_t l = 0; l < before.size(); ++l) EXPECT_NEAR(after[l] / before[l], 1, 1e-12);
}

TEST(RegionVolumes, GradientsAreThoseOfFiniteDifferences) {
  Section s(smoothLimb({.length = 30, .rings = 21, .sectors = 9, .joints = {0, 10, 20}}, 6),
            {.beta = 1, .min_area_share = 0, .min_limb_ratio = 0, .min_points = 0});
  ASSERT_GE(s.regions.regionCount(), 2u);
  const Shaken x = shaken(s, 5);
  std::vector<Vec3d> gradients(s.volumes.entryCount());
  s.volumes.gradients(x.points, x.anchors, gradients);
  const double step = 1e-6;
  for (std::size_t v = 0; v < s.rest.size(); v += 7)
    for (int axis = 0; axis < 3; ++axis) {
      Shaken up = x, down = x;
      up.points[v][axis] += step;
      down.points[v][axis] -= step;
      const std::vector<double> high = s.volumes.volumes(up.points, up.anchors);
      const std::vector<double> low = s.volumes.volumes(down.points, down.anchors);
      std::vector<double> wanted(high.size());
      for (std::size_t l = 0; l < high.size(); ++l) wanted[l] = (high[l] - low[l]) / (2 * step);
      const auto regions = s.volumes.regionsOf(v);
      for (std::size_t k = 0; k < regions.size(); ++k) {
        EXPECT_NEAR(gradients[s.volumes.firstEntry(v) + k][axis], wanted[regions[k]], 1e-6);
        wanted[regions[k]] = 0;
      }
      for (const double rest : wanted) EXPECT_NEAR(rest, 0, 1e-6);  // no row is missing
    }
}

TEST(RegionVolumes, WallsAreAntisymmetric) {
  const Vec3d a(1, 2, 3), b(-1, 0.5, 2), fa(0.1, 0.2, 0.3), fb(1, -1, 0.4);
  EXPECT_NEAR(prismWall(a, b, fa, fb), -prismWall(b, a, fb, fa), 1e-15);
}

TEST(VolumeRegions, SharesSumToOneAndSayWhoBendsWhat) {
  Section s(smoothLimb(threeJoints(), 2.5), {.beta = 0.3});
  ASSERT_EQ(s.regions.regionCount(), 2u);
  EXPECT_EQ(s.regions.regions[0].name, "j1");
  EXPECT_EQ(s.regions.regions[1].name, "j2");
  for (std::size_t v = 0; v < s.rest.size(); ++v) {
    EXPECT_NEAR(sum(s.regions.membership.sharesOf(v)), 1, 1e-14);
    EXPECT_NEAR(sum(s.regions.concern.sharesOf(v)), 1, 1e-14);
    const double z = s.rest[v].z();
    if (z < 12 || z > 18) {
      EXPECT_EQ(s.regions.joints[s.regions.anchor[v]].joint, JointId(z < 12 ? 1u : 2u)) << z;
    }
    EXPECT_EQ(s.regions.bending[v] > 0, std::abs(z - 10) < 2.5 || std::abs(z - 20) < 2.5) << z;
  }
}

TEST(VolumeRegions, MergeWhereTheirBorderBends) {
  // Zones of half-width 9 around joints 10 apart overlap in the middle.
  const Character c = smoothLimb(threeJoints(), 9);
  EXPECT_EQ(Section(c, {.beta = 0.3}).regions.regionCount(), 1u);
  EXPECT_EQ(Section(c, {.beta = 1}).regions.regionCount(), 2u);
}

TEST(VolumeRegions, TinyRegionsJoinANeighbour) {
  const Character c = smoothLimb({.length = 30, .rings = 61, .joints = {0, 10, 29.5}}, 0.4);
  const RegionsDesc all{.beta = 1, .min_area_share = 0, .min_limb_ratio = 0, .min_points = 0};
  RegionsDesc volume_only = all;
  volume_only.min_volume_share = 0.5;
  EXPECT_EQ(Section(c, volume_only).regions.regionCount(), 1u);
  RegionsDesc few_points = all;
  few_points.min_volume_share = 0;
  few_points.min_points = 10000;
  EXPECT_EQ(Section(c, few_points).regions.regionCount(), 1u);
}

TEST(VolumeRegions, EachPieceIsCutAsItIsAlone) {
  const Limb with_a_stub{.length = 30, .rings = 61, .joints = {0, 10, 20, 29.5}};
  for (const double half_width : {0.4, 2.5, 9.0}) {
    const Character one = smoothLimb(with_a_stub, half_width);
    Character two = one;
    const auto count = static_cast<std::uint32_t>(one.mesh.vertexCount());
    for (const Vec3f& p : one.mesh.positions) two.mesh.positions.push_back(p + Vec3f(4, 0, 0));
    for (const Vec3f& n : one.mesh.normals) two.mesh.normals.push_back(n);
    for (const Triangle& t : one.mesh.triangles)
      two.mesh.triangles.push_back({t[0] + count, t[1] + count, t[2] + count});
    for (const Influence& i : one.skin.influences) two.skin.influences.push_back(i);
    for (std::uint32_t v = 1; v <= count; ++v)
      two.skin.offsets.push_back(one.skin.offsets.back() + one.skin.offsets[v]);
    two.parts.clear();
    two.instances.clear();
    addDefaultParts(two);
    for (const double beta : {0.3, 1.0}) {
      const std::vector<VolumeRegion> alone = Section(one, {.beta = beta}).regions.regions;
      const std::vector<VolumeRegion> both = Section(two, {.beta = beta}).regions.regions;
      ASSERT_EQ(both.size(), 2 * alone.size()) << half_width << ", " << beta;
      for (std::size_t l = 0; l < both.size(); ++l) {
        EXPECT_EQ(both[l].piece, l / alone.size());
        EXPECT_EQ(both[l].joint, alone[l % alone.size()].joint);
      }
    }
  }
}

TEST(VolumeRegions, LooseVerticesAddOneRegionHoweverManyTheyAre) {
  const Character skin = smoothLimb(threeJoints(), 4);
  Character loose = skin;
  for (std::uint32_t v = 0; v < 5000; ++v) {
    loose.mesh.positions.push_back(Vec3f(3, 0.001f * static_cast<float>(v), 0));
    loose.mesh.normals.push_back(Vec3f::UnitX());
    loose.skin.influences.push_back({v % 3, 1.0f});
    loose.skin.offsets.push_back(loose.skin.offsets.back() + 1);
  }
  loose.parts.clear();
  loose.instances.clear();
  addDefaultParts(loose);
  for (const RegionKind kind : {RegionKind::Joints, RegionKind::Components}) {
    const std::size_t alone = Section(skin, {.kind = kind}).regions.regionCount();
    EXPECT_EQ(Section(loose, {.kind = kind}).regions.regionCount(), alone + 1);
  }
}

TEST(VolumeRegions, ArePiecesGroupsOrTheWholeWhenAsked) {
  Character c = smoothLimb({}, 2.5);
  VertexGroup upper{.name = "upper"};
  for (std::uint32_t v = 0; v < c.mesh.vertexCount(); ++v)
    if (c.mesh.positions[v].z() > 10) {
      upper.vertices.push_back(v);
      upper.strengths.push_back(1);
    }
  c.mesh.groups.push_back(upper);
  EXPECT_EQ(Section(c, {.kind = RegionKind::Whole}).regions.regionCount(), 1u);
  EXPECT_EQ(Section(c, {.kind = RegionKind::Components}).regions.regionCount(), 1u);
  RegionsDesc groups{.kind = RegionKind::Groups};
  groups.groups = {"upper"};
  Section s(c, groups);
  ASSERT_EQ(s.regions.regionCount(), 2u);
  EXPECT_EQ(s.regions.regions[0].name, "upper");
  EXPECT_EQ(s.regions.regions[1].name, "rest");
  EXPECT_NEAR(s.restVolumes()[0] / s.restVolumes()[1], 1, 0.03);
}

TEST(VolumeRegions, TellWhatIsWrongWithTheirDescription) {
  const Character c = smoothLimb({}, 2.5);
  Diagnostics notes;
  const MeasuredSurface surface =
      makeMeasuredSurface(c.mesh.positions, c.mesh.triangles, "mesh", notes);
  const auto message = [&](const RegionsDesc& desc) {
    const auto made = VolumeRegions::bind(surface, c.mesh, c.skeleton, c.skin, desc);
    return made ? std::string() : made.error().text();
  };
  EXPECT_NE(message({.beta = 1.5}).find("beta"), std::string::npos);
  EXPECT_NE(message({.beta = std::nan("")}).find("beta"), std::string::npos);
  EXPECT_NE(message({.kind = RegionKind::Groups}).find("no vertex group"), std::string::npos);
  RegionsDesc unknown{.kind = RegionKind::Groups};
  unknown.groups = {"biceps"};
  EXPECT_NE(message(unknown).find("biceps"), std::string::npos);
}

TEST(VolumeRegions, TakeAnyMeshOfTheShelf) {
  for (const shelf::ShelfMesh& m : shelf::all()) {
    SCOPED_TRACE(m.name);
    const Character c = shelf::rigged(m);
    Diagnostics notes;
    const MeasuredSurface surface =
        makeMeasuredSurface(c.mesh.positions, c.mesh.triangles, "mesh", notes);
    for (const RegionKind kind : {RegionKind::Whole, RegionKind::Components, RegionKind::Joints}) {
      const auto regions =
          VolumeRegions::bind(surface, c.mesh, c.skeleton, c.skin, {.kind = kind}).value();
      EXPECT_EQ(regions.membership.rowCount(), surface.pointCount());
      const RegionVolumes volumes(surface, regions);
      std::vector<Vec3d> rest(surface.pointCount());
      measurePoints(surface, c.mesh.positions, Vec3d::Zero(), rest);
      const std::vector<double> each = volumes.volumes(rest, regions.bindPositions());
      const double whole = volume(std::span<const Vec3d>(rest), surface.triangles);
      EXPECT_NEAR(sum(each), whole, 1e-11 * std::abs(whole) + 1e-300);
    }
  }
}

}  // namespace
}  // namespace derm::region_volumes_test
