// Meshes made of closed pieces that overlap: what one hides of another must not count.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include <gtest/gtest.h>

#include "derm/base/rng.h"
#include "derm/implicit/active_skin.h"
#include "derm/implicit/build_potential.h"
#include "derm/implicit/polygonise.h"
#include "derm/implicit/potential_target.h"
#include "derm/implicit/shape_targets.h"
#include "derm/implicit/skin_report.h"

namespace derm::mesh_union_test {
namespace {

constexpr double kVoxel = 0.02;

struct Box {
  Vec3d middle, half;
  /// Positive inside.
  double depth(const Vec3d& p) const {
    const Vec3d q = Vec3d((p - middle).cwiseAbs() - half);
    return -(q.cwiseMax(0.0).norm() + std::min(q.maxCoeff(), 0.0));
  }
};

void add(const Box& box, TriMesh& mesh) {
  const auto first = static_cast<std::uint32_t>(mesh.positions.size());
  for (int i = 0; i < 8; ++i)
    mesh.positions.push_back(
        Vec3d(box.middle +
              box.half.cwiseProduct(Vec3d(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1)))
            .cast<float>());
  constexpr std::uint32_t kFaces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                          {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  for (const auto& f : kFaces) {
    mesh.triangles.push_back({first + f[0], first + f[1], first + f[2]});
    mesh.triangles.push_back({first + f[0], first + f[2], first + f[3]});
  }
}

TriMesh meshOf(const std::vector<Box>& boxes) {
  TriMesh mesh;
  for (const Box& box : boxes) add(box, mesh);
  return mesh;
}

const Box kBar{Vec3d::Zero(), Vec3d(0.61, 0.15, 0.15)};
const Box kPost{Vec3d(0.013, 0.02, 0.005), Vec3d(0.15, 0.63, 0.13)};
const Box kBeam{Vec3d(0.01, -0.01, 0.02), Vec3d(0.14, 0.13, 0.57)};

Potential potentialOf(const TriMesh& mesh, double voxel = kVoxel) {
  Diagnostics notes;
  Result<Potential> p = buildMeshPotential(mesh, {.voxel_m = voxel}, notes);
  EXPECT_TRUE(p.ok()) << p.error().text();
  return *std::move(p);
}

/// Largest difference, in voxels, between a potential and the union of boxes at random points
/// within the band.
double worstError(const Potential& p, const std::vector<Box>& boxes) {
  Rng rng(5);
  double worst = 0;
  const double w = p.voxel_m * double{p.grid.width()};
  for (int i = 0; i < 200000; ++i) {
    const Vec3d at(rng.uniform(-0.75, 0.75), rng.uniform(-0.75, 0.75), rng.uniform(-0.75, 0.75));
    double depth = -1e9;
    for (const Box& box : boxes) depth = std::max(depth, box.depth(at));
    worst = std::max(worst, std::abs(p.valueAt(at) - std::clamp(depth, -w, w)));
  }
  return worst / p.voxel_m;
}

bool sameBits(const Potential& a, const Potential& b) {
  if (a.grid.blockCount() != b.grid.blockCount()) return false;
  for (std::size_t i = 0; i < a.grid.blockCount(); ++i) {
    const std::uint32_t sa = a.grid.order()[i], sb = b.grid.order()[i];
    if (!(a.grid.coord(sa) == b.grid.coord(sb)) ||
        std::memcmp(a.grid.values(sa), b.grid.values(sb), BandGrid::kNodes * sizeof(float)) != 0)
      return false;
  }
  return true;
}

TEST(MeshUnion, ACrossAndAStarAreTheUnionOfTheirBars) {
  for (const std::vector<Box>& boxes : {std::vector<Box>{kBar, kPost}, {kBar, kPost, kBeam}}) {
    const Potential p = potentialOf(meshOf(boxes));
    // Trilinear values round edges off by less than half a voxel.
    EXPECT_LT(worstError(p, boxes), 0.5);
    const SurfaceMeasures m = measured(polygonised(p));
    EXPECT_EQ(m.euler_number, 2);
    EXPECT_EQ(m.pieces.size(), 1u);
    EXPECT_TRUE(p.contactAt(Vec3d::Zero()).inside);
  }
}

TEST(MeshUnion, OrderAndFacingOfThePiecesDoNotMatter) {
  const Potential p = potentialOf(meshOf({kBar, kPost, kBeam}));
  EXPECT_TRUE(sameBits(p, potentialOf(meshOf({kBeam, kBar, kPost}))));
  TriMesh turned = meshOf({kBar, kPost, kBeam});
  for (std::size_t t = 12; t < 24; ++t) std::swap(turned.triangles[t][1], turned.triangles[t][2]);
  Diagnostics notes;
  const Result<Potential> q = buildMeshPotential(turned, {.voxel_m = kVoxel}, notes);
  ASSERT_TRUE(q.ok());
  EXPECT_EQ(notes.count("mesh-inside-out"), 1u);
  EXPECT_LT(worstError(*q, {kBar, kPost, kBeam}), 0.5);
}

TEST(MeshUnion, AHiddenPieceIsAsIfItWereNotThere) {
  const Box hidden{Vec3d(0.1, 0, 0), Vec3d(0.05, 0.05, 0.05)};
  EXPECT_TRUE(sameBits(potentialOf(meshOf({kBar, hidden})), potentialOf(meshOf({kBar}))));
}

TEST(MeshUnion, PiecesApartAreMeasuredTogether) {
  const Box far{Vec3d(0, 0.5, 0), Vec3d(0.1, 0.1, 0.1)};
  const Potential p = potentialOf(meshOf({kBar, far}));
  EXPECT_LT(worstError(p, {kBar, far}), 0.5);
  EXPECT_EQ(measured(polygonised(p)).pieces.size(), 2u);
}

TEST(MeshUnion, AnOpenLimbMayEndInAClosedTrunk) {
  TriMesh mesh = meshOf({kPost});
  TriMesh limb = meshOf({{Vec3d(0.3, 0, 0), Vec3d(0.3, 0.09, 0.09)}});
  limb.triangles.erase(limb.triangles.begin(), limb.triangles.begin() + 2);  // its end in the trunk
  for (const Triangle& t : limb.triangles) mesh.triangles.push_back({t[0] + 8, t[1] + 8, t[2] + 8});
  mesh.positions.insert(mesh.positions.end(), limb.positions.begin(), limb.positions.end());
  Diagnostics notes;
  const Result<Potential> p = buildMeshPotential(mesh, {.voxel_m = kVoxel}, notes);
  ASSERT_TRUE(p.ok()) << p.error().text();
  EXPECT_EQ(notes.count("mesh-not-closed"), 1u);
  const SurfaceMeasures m = measured(polygonised(*p));
  EXPECT_EQ(m.euler_number, 2);
  EXPECT_EQ(m.pieces.size(), 1u);
  EXPECT_TRUE(p->contactAt(Vec3d(0.5, 0, 0)).inside);
  EXPECT_TRUE(p->contactAt(Vec3d(0.17, 0, 0)).inside);  // at the trunk's wall, in the limb
  EXPECT_FALSE(p->contactAt(Vec3d(0.3, 0.2, 0)).inside);
}

TEST(MeshUnion, MemoryIsCountedForAllPieces) {
  Diagnostics notes;
  const Result<Potential> p = buildMeshPotential(meshOf({kBar, kPost, kBeam}),
                                                 {.voxel_m = 0.002, .max_memory = 8 << 20}, notes);
  ASSERT_FALSE(p.ok());
  EXPECT_NE(p.error().text().find("8 MB"), std::string::npos) << p.error().text();
}

TEST(MeshUnion, ASkinArrivesAtACrossAndLeavesOne) {
  const Potential bar = potentialOf(meshOf({kBar}), 0.04);
  const auto cross = std::make_shared<const Potential>(potentialOf(meshOf({kBar, kPost}), 0.04));
  EXPECT_GT(unreachedShare(bar, *cross, 1), 0.3);
  ActiveSkin skin =
      ActiveSkin::make(bar, {.attraction = 12, .tension = 0.002, .max_move = 0.1}).value();
  ASSERT_TRUE(skin.advance(PotentialTarget(cross), 2.0).ok());
  EXPECT_LT(unreachedShare(skin.potential(), *cross, 1), 0.02);
  EXPECT_EQ(measured(polygonised(skin.potential())).euler_number, 2);
  ActiveSkin back =
      ActiveSkin::make(*cross, {.attraction = 12, .tension = 0.002, .max_move = 0.1}).value();
  const auto start = std::make_shared<const Potential>(bar);
  ASSERT_TRUE(back.advance(PotentialTarget(start), 2.0).ok());
  EXPECT_LT(unreachedShare(back.potential(), bar, 1), 0.02);
  EXPECT_EQ(measured(polygonised(back.potential())).euler_number, 2);
}

}  // namespace
}  // namespace derm::mesh_union_test
