// A limb of three bones, one joint bent, one idle: one multiplier per region, not one for all.
#include <cstdio>

#include <gtest/gtest.h>

#include "volume/volume_rig.h"

namespace derm::volume_local_paper_test {
namespace {

using volume_rig::makeRig;
using volume_rig::radians;
using volume_rig::Rig;
using volume_rig::solve;
using volume_rig::Solved;

/// R = 1, joints at z = 0, 10, 20, 30, 61 rings x 24 and two cap centres.
struct Limb {
  std::vector<Vec3d> positions;
  std::vector<Triangle> triangles;
  std::vector<std::array<double, 3>> weights;
  Skeleton skeleton;
  Skin skin;
  Rig rig;
};

void addTube(Limb& out) {
  constexpr std::uint32_t kRings = 61, kSectors = 24;
  for (std::uint32_t k = 0; k < kRings; ++k)
    for (std::uint32_t i = 0; i < kSectors; ++i) {
      const double angle = 2 * std::numbers::pi * i / kSectors;
      out.positions.emplace_back(std::cos(angle), std::sin(angle), 0.5 * k);
    }
  out.positions.emplace_back(0, 0, 0);
  out.positions.emplace_back(0, 0, 30);
  const std::uint32_t bottom = kRings * kSectors, top = bottom + 1;
  for (std::uint32_t k = 0; k + 1 < kRings; ++k)
    for (std::uint32_t i = 0; i < kSectors; ++i) {
      const std::uint32_t a = k * kSectors + i, b = k * kSectors + (i + 1) % kSectors;
      out.triangles.push_back({a, b, b + kSectors});
      out.triangles.push_back({a, b + kSectors, a + kSectors});
    }
  for (std::uint32_t i = 0; i < kSectors; ++i) {
    const std::uint32_t next = (i + 1) % kSectors, last = (kRings - 1) * kSectors;
    out.triangles.push_back({bottom, next, i});
    out.triangles.push_back({top, last + i, last + next});
  }
}

/// Inverse 4th power of the distance to each bone's segment, or smoothstep of half-width 2.5.
std::array<double, 3> weightsAt(const Vec3d& p, bool smoothstep) {
  if (smoothstep) {
    const auto step = [&](double z0) {
      const double t = std::clamp((p.z() - z0) / 5 + 0.5, 0.0, 1.0);
      return t * t * (3 - 2 * t);
    };
    const double s1 = step(10), s2 = step(20);
    return {1 - s1, s1 - s2, s2};
  }
  std::array<double, 3> w{};
  double sum = 0;
  for (int j = 0; j < 3; ++j) {
    const double z = std::clamp(p.z(), 10.0 * j, 10.0 * (j + 1));
    const double d2 = (p - Vec3d(0, 0, z)).squaredNorm() + 1e-12;
    w[std::size_t(j)] = 1 / (d2 * d2);
    sum += w[std::size_t(j)];
  }
  for (double& v : w) v /= sum;
  return w;
}

Limb limb(bool smoothstep, RegionKind kind) {
  Limb out;
  addTube(out);
  for (int j = 0; j < 3; ++j) {
    Joint joint{.name = "bone" + std::to_string(j)};
    if (j > 0) {
      joint.parent = JointId(std::size_t(j - 1));
      joint.rest.translation = Vec3f(0, 0, 10);
    }
    out.skeleton.joints.push_back(joint);
  }
  std::vector<SkinSlot> slots(3);
  for (std::size_t j = 0; j < 3; ++j) {
    slots[j].joint = JointId(j);
    slots[j].inverse_bind.translation() = Vec3f(0, 0, -10 * float(j));
  }
  SkinBuilder builder(slots, out.positions.size());
  Diagnostics notes;
  for (const Vec3d& p : out.positions) {
    out.weights.push_back(weightsAt(p, smoothstep));
    std::vector<Influence> row;
    for (std::uint32_t j = 0; j < 3; ++j)
      if (out.weights.back()[j] > 0) row.push_back({j, float(out.weights.back()[j])});
    builder.addVertex(row, 0, "limb", notes);
  }
  out.skin = std::move(builder).finish();
  out.rig =
      makeRig(out.positions, out.triangles, {.kind = kind, .beta = 1.0}, out.skeleton, out.skin);
  return out;
}

struct Posed {
  std::vector<Vec3d> points, anchors;
};

Posed pose(const Limb& limb, double first_deg, double second_deg) {
  const auto about = [](double degrees, double z) {
    Affine3d m = Affine3d::Identity();
    m.translate(Vec3d(0, 0, z));
    m.rotate(Eigen::AngleAxisd(radians(degrees), Eigen::Vector3d::UnitY()));
    m.translate(Vec3d(0, 0, -z));
    return m;
  };
  std::array<Affine3d, 3> skinning = {Affine3d::Identity(), about(first_deg, 10), {}};
  skinning[2] = skinning[1] * about(second_deg, 20);
  std::vector<Vec3d> vertices;
  for (std::size_t i = 0; i < limb.positions.size(); ++i) {
    Vec3d p = Vec3d::Zero();
    for (std::size_t j = 0; j < 3; ++j) p += limb.weights[i][j] * (skinning[j] * limb.positions[i]);
    vertices.push_back(p);
  }
  std::vector<Affine3d> model;
  for (std::size_t j = 0; j < 3; ++j) {
    Affine3d bind = Affine3d::Identity();
    bind.translate(Vec3d(0, 0, 10.0 * double(j)));
    model.push_back(skinning[j] * bind);
  }
  Posed out{limb.rig.points(vertices), std::vector<Vec3d>(limb.rig.regions->jointCount())};
  limb.rig.regions->jointPositions(model, out.anchors);
  return out;
}

std::vector<double> gammaOf(const Limb& limb) {
  std::vector<double> out;
  for (std::size_t i = 0; i < limb.rig.surface->weldedCount(); ++i) {
    const auto& w = limb.weights[limb.rig.surface->vertices_of_welded[i][0]];
    out.push_back(std::pow(1 - std::pow(std::max({w[0], w[1], w[2]}), 15), 8));
  }
  return out;
}

double largestNear(const Limb& limb, const Solved& s, double z) {
  double max = 0;
  for (std::size_t i = 0; i < limb.rig.surface->weldedCount(); ++i)
    if (std::abs(limb.rig.rest[i].z() - z) < 5) max = std::max(max, s.u[i].norm());
  return max;
}

TEST(VolumeLocalPaper, A10_EachJointKeepsItsVolumeAndTheIdleOneStays) {
  const Limb limb3 = limb(false, RegionKind::Joints);
  ASSERT_EQ(limb3.rig.regions->regionCount(), 2u);
  const Posed at = pose(limb3, 90, 0);
  const std::vector<double> before = limb3.rig.volumesOf(at.points, at.anchors);
  std::printf("regions lose %.3f %% / %.3f %%\n", 100 * (1 - before[0] / limb3.rig.rest_m3[0]),
              100 * (1 - before[1] / limb3.rig.rest_m3[1]));
  for (const VolumeMethodDesc& desc :
       {VolumeMethodDesc{.method = VolumeMethod::Gradient},
        VolumeMethodDesc{.method = VolumeMethod::Normal},
        VolumeMethodDesc{.method = VolumeMethod::AxesExact},
        VolumeMethodDesc{.method = VolumeMethod::Laplacian},
        VolumeMethodDesc{.method = VolumeMethod::Gradient, .solve = VolumeSolve::Minimiser},
        VolumeMethodDesc{.method = VolumeMethod::Laplacian, .solve = VolumeSolve::Minimiser}}) {
    const Solved s =
        solve(limb3.rig, gammaOf(limb3), desc, at.points, at.anchors, limb3.rig.rest_m3);
    const double active = largestNear(limb3, s, 10), idle = largestNear(limb3, s, 20);
    std::printf(
        "method %d: errors %.1e %.1e, |u| at the bent joint %.4f R, at the idle one %.5f R, "
        "%d steps\n",
        int(desc.method), volume_rig::errorOf(limb3.rig, s, 0),
        volume_rig::errorOf(limb3.rig, s, 1), active, idle, s.iterations);
    EXPECT_LE(volume_rig::errorOf(limb3.rig, s, 0), 1e-12);
    EXPECT_LE(volume_rig::errorOf(limb3.rig, s, 1), 1e-12);
    EXPECT_LE(idle, 2e-3);
    EXPECT_LE(idle, 0.02 * active);
    const double total = s.after_m3[0] + s.after_m3[1];
    EXPECT_NEAR(total / (limb3.rig.rest_m3[0] + limb3.rig.rest_m3[1]), 1, 1e-12);
  }
}

TEST(VolumeLocalPaper, A10_OneMultiplierForAllBulgesAtTheIdleJoint) {
  const Limb whole = limb(false, RegionKind::Whole);
  const Posed at = pose(whole, 90, 0);
  const Solved s = solve(whole.rig, gammaOf(whole),
                         {.method = VolumeMethod::Gradient, .solve = VolumeSolve::Linearised},
                         at.points, at.anchors, whole.rig.rest_m3);
  std::printf("one multiplier: |u| %.3f R at the bent joint, %.3f R at the idle one\n",
              largestNear(whole, s, 10), largestNear(whole, s, 20));
  EXPECT_NEAR(largestNear(whole, s, 10), 0.107, 0.003);
  EXPECT_NEAR(largestNear(whole, s, 20), 0.090, 0.003);
}

TEST(VolumeLocalPaper, A10_TwoBentJointsAndSmoothWeights) {
  const Limb limb3 = limb(false, RegionKind::Joints);
  const Posed both = pose(limb3, 90, 60);
  const Solved s = solve(limb3.rig, gammaOf(limb3), {.method = VolumeMethod::Gradient}, both.points,
                         both.anchors, limb3.rig.rest_m3);
  for (std::size_t l = 0; l < 2; ++l) EXPECT_LE(volume_rig::errorOf(limb3.rig, s, l), 1e-12);

  const Limb smooth = limb(true, RegionKind::Joints);
  const Posed one = pose(smooth, 90, 0);
  const Solved t = solve(smooth.rig, gammaOf(smooth), {.method = VolumeMethod::Gradient},
                         one.points, one.anchors, smooth.rig.rest_m3);
  for (std::size_t l = 0; l < 2; ++l) EXPECT_LE(volume_rig::errorOf(smooth.rig, t, l), 1e-12);
  std::printf("smoothstep weights: idle joint moves %.1e R\n", largestNear(smooth, t, 20));
  EXPECT_LE(largestNear(smooth, t, 20), 1e-6);
}

}  // namespace
}  // namespace derm::volume_local_paper_test
