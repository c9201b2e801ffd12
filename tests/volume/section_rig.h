#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "derm/character/character.h"
#include "derm/deform/rotation_centres.h"
#include "derm/deform/twist_spread.h"
#include "derm/mesh/measures.h"
#include "derm/mesh/normals.h"
#include "derm/volume/region_volumes.h"
#include "derm/volume/section_correction.h"

#include "deform/skinning_reference.h"

/// Limbs to bend, and the section correction of a pose in double.
namespace derm::section_test {

inline constexpr double kDegree = std::numbers::pi / 180;

/// A closed cylinder along +z, joints on its axis; weight(z, joint) says who carries what.
struct Limb {
  double length = 20, radius = 1;
  int rings = 81, sectors = 24;
  std::vector<double> joints = {0, 10};
};

inline Character limbCharacter(const Limb& limb,
                               const std::function<double(const Vec3d&, std::size_t)>& weight) {
  Character c;
  c.name = "limb";
  for (int r = 0; r < limb.rings; ++r)
    for (int s = 0; s < limb.sectors; ++s) {
      const double around = 2 * std::numbers::pi * s / limb.sectors;
      c.mesh.positions.push_back(Vec3d(limb.radius * std::cos(around),
                                       limb.radius * std::sin(around),
                                       limb.length * r / (limb.rings - 1))
                                     .cast<float>());
    }
  const auto at = [&](int r, int s) { return std::uint32_t(r * limb.sectors + s % limb.sectors); };
  for (int r = 0; r + 1 < limb.rings; ++r)
    for (int s = 0; s < limb.sectors; ++s) {
      c.mesh.triangles.push_back({at(r, s), at(r, s + 1), at(r + 1, s + 1)});
      c.mesh.triangles.push_back({at(r, s), at(r + 1, s + 1), at(r + 1, s)});
    }
  const auto bottom = std::uint32_t(c.mesh.positions.size());
  c.mesh.positions.emplace_back(0.0f, 0.0f, 0.0f);
  c.mesh.positions.emplace_back(0.0f, 0.0f, float(limb.length));
  for (int s = 0; s < limb.sectors; ++s) {
    c.mesh.triangles.push_back({bottom, at(0, s + 1), at(0, s)});
    c.mesh.triangles.push_back({bottom + 1, at(limb.rings - 1, s), at(limb.rings - 1, s + 1)});
  }
  c.mesh.normals = areaWeightedNormals(c.mesh.positions, c.mesh.triangles);
  std::vector<SkinSlot> slots;
  for (std::size_t j = 0; j < limb.joints.size(); ++j) {
    Joint joint{.name = "j" + std::to_string(j)};
    if (j > 0) joint.parent = JointId(j - 1);
    joint.rest.translation =
        Vec3f(0, 0, float(limb.joints[j] - (j > 0 ? limb.joints[j - 1] : 0.0)));
    c.skeleton.joints.push_back(joint);
    SkinSlot slot{.joint = JointId(j)};
    slot.inverse_bind.translation() = Vec3f(0, 0, float(-limb.joints[j]));
    slots.push_back(slot);
  }
  SkinBuilder builder(slots, c.mesh.vertexCount());
  Diagnostics notes;
  std::vector<Influence> row;
  for (const Vec3f& p : c.mesh.positions) {
    row.clear();
    for (std::size_t j = 0; j < limb.joints.size(); ++j)
      if (const double w = weight(p.cast<double>(), j); w > 0)
        row.push_back({std::uint32_t(j), float(w)});
    builder.addVertex(row, 0, "limb", notes);
  }
  c.skin = std::move(builder).finish();
  addDefaultParts(c);
  return c;
}

inline double smoothstep(double t) {
  t = std::clamp(t, 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

/// Smooth steps of this half-width around every joint but the first.
inline Character smoothLimb(const Limb& limb, double half_width) {
  return limbCharacter(limb, [&](const Vec3d& p, std::size_t j) {
    const auto beyond = [&](std::size_t k) {
      if (k == 0) return 1.0;
      if (k >= limb.joints.size()) return 0.0;
      return smoothstep((p.z() - limb.joints[k] + half_width) / (2 * half_width));
    };
    return beyond(j) - beyond(j + 1);
  });
}

inline void turn(Pose& pose, std::size_t joint, double degrees, const Vec3d& axis) {
  pose.local[joint].rotation = Quatd(Eigen::AngleAxisd(degrees * kDegree, axis)).cast<float>();
}

/// A turn about a bone's axis at rest [rad].
inline Affine3d turnAbout(const TwistBone& bone, double angle) {
  Affine3d out = Affine3d::Identity();
  out.linear() = Eigen::AngleAxisd(angle, Eigen::Vector3d(bone.axis)).matrix();
  out.translation() = bone.origin - out.linear() * bone.origin;
  return out;
}

/// Most that an edge is longer than at rest.
inline double edgeStretch(std::span<const Triangle> triangles, std::span<const Vec3d> rest,
                          std::span<const Vec3d> posed) {
  double max = 0;
  for (const Triangle& t : triangles)
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t a = t[k], b = t[(k + 1) % 3];
      const double before = (rest[a] - rest[b]).norm();
      if (before > 0) max = std::max(max, (posed[a] - posed[b]).norm() / before);
    }
  return max;
}

/// A character made ready, and poses of it in double.
class Section {
 public:
  struct Posed {
    std::vector<Vec3d> linear, dual, base, centres, corrected;  ///< per point
    std::vector<Vec3d> anchors;
    std::vector<RegionOutcome> outcomes;
    std::vector<double> after_m3;
    SectionReport report;
  };

  explicit Section(const Character& c, const RegionsDesc& regions_desc = {},
                   const SectionDesc& desc = {.tolerance = 1e-12}, double alpha = 0.5,
                   TwistRule twist = TwistRule::None)
      : character(c),
        surface(makeMeasuredSurface(c.mesh.positions, c.mesh.triangles, "mesh", notes)),
        regions(VolumeRegions::bind(surface, c.mesh, c.skeleton, c.skin, regions_desc).value()),
        volumes(surface, regions),
        rest(surface.pointCount()),
        alpha_(alpha),
        centres_(rotationCentres(c.mesh.positions, c.mesh.triangles, c.skin)),
        links_(slotLinks(c.skeleton, c.skin)),
        twist_bones_(findTwistBones(c.skeleton, c.skin, twist)),
        twists_(twistShares(twist_bones_, c.skeleton, c.skin, c.mesh.positions)),
        binding_(makeBinding(desc)),
        scratch_(binding_.makeScratch()),
        activities_(c.skeleton, c.skin, regions) {}

  std::span<const double> restVolumes() const { return binding_.restVolumes(); }

  Posed pose(const Pose& p) {
    std::vector<Affine3d> model(character.skeleton.size());
    localToModel(character.skeleton, p.local, model);
    Posed out = skin(model);
    out.anchors.resize(regions.jointCount());
    regions.jointPositions(model, out.anchors);
    std::vector<Quatd> rotations(regions.jointCount());
    std::vector<double> activities(regions.jointCount());
    activities_.evaluate(model, rotations, activities);
    std::vector<Vec3d> moves(surface.pointCount());
    out.outcomes.resize(regions.regionCount());
    out.after_m3.resize(regions.regionCount());
    const std::vector<double> targets(restVolumes().begin(), restVolumes().end());
    out.report = binding_.solve({.points = out.base,
                                 .centres = out.centres,
                                 .anchors = out.anchors,
                                 .activities = activities,
                                 .targets = targets},
                                scratch_, moves, out.outcomes, out.after_m3);
    out.corrected = out.base;
    for (std::size_t i = 0; i < moves.size(); ++i) out.corrected[i] += moves[i];
    return out;
  }

  /// Largest relative error of a region, summed anew.
  double worstRegion(const Posed& p) const {
    const std::vector<double> now = volumes.volumes(p.corrected, p.anchors);
    double worst = 0;
    for (std::size_t l = 0; l < now.size(); ++l)
      worst = std::max(worst, std::abs(now[l] / restVolumes()[l] - 1));
    return worst;
  }
  /// Relative change of the whole volume.
  double change(std::span<const Vec3d> points) const {
    const auto whole = [&](std::span<const Vec3d> x) {
      return volume(x, std::span<const Triangle>(surface.triangles));
    };
    return whole(points) / whole(rest) - 1;
  }

  Character character;
  Diagnostics notes;
  MeasuredSurface surface;
  VolumeRegions regions;
  RegionVolumes volumes;
  std::vector<Vec3d> rest;

 private:
  SectionBinding makeBinding(const SectionDesc& desc) {
    measurePoints(surface, character.mesh.positions, Vec3d::Zero(), rest);
    return SectionBinding::bind(surface, regions, rest, {}, desc, notes).value();
  }

  Posed skin(std::span<const Affine3d> model) const {
    const Skin& s = character.skin;
    std::vector<Affine3d> palette;
    for (const SkinSlot& slot : s.slots)
      palette.push_back(model[slot.joint.index()] * slot.inverse_bind.cast<double>());
    const SkinningReference plain(s.slots, palette);
    std::vector<double> removed(palette.size()), angles;
    for (const TwistBone& bone : twist_bones_)
      angles.push_back(takeTwist(bone, std::span(palette), removed));
    SkinningReference reference(s.slots, palette);
    reference.alignSigns(links_);
    Posed out;
    for (auto* list : {&out.linear, &out.dual, &out.base, &out.centres})
      list->assign(surface.pointCount(), Vec3d::Zero());
    for (std::size_t v = 0; v < character.mesh.vertexCount(); ++v) {
      std::vector<PreciseInfluence> row = preciseRow(s, v);
      double sum = 0;
      for (const PreciseInfluence& i : row) sum += i.weight;
      for (PreciseInfluence& i : row) i.weight /= sum;
      const std::size_t p = surface.welded_of_vertex[v];
      SkinnedVertex vertex{.position = character.mesh.positions[v].cast<double>()};
      out.linear[p] = plain.skin(row, vertex, SkinningMethod::Linear).position;
      out.dual[p] = plain.skin(row, vertex, SkinningMethod::DualQuaternion).position;
      const Affine3d twist = twistAtRest(v, angles);
      const Vec3d centre = twist * centres_[v];
      vertex.position = twist * vertex.position;
      out.base[p] = reference.centre(row, vertex, centre, alpha_).position;
      vertex.position = centre;
      out.centres[p] = reference.centre(row, vertex, centre, alpha_).position;
    }
    for (auto* list : {&out.linear, &out.dual, &out.base, &out.centres})
      completeApexes(surface, *list);
    return out;
  }

  Affine3d twistAtRest(std::size_t vertex, std::span<const double> angles) const {
    const std::uint32_t b = twists_.bone[vertex];
    if (b == TwistShares::kNone) return Affine3d::Identity();
    return turnAbout(twist_bones_[b], angles[b] * double{twists_.share[vertex]});
  }

  double alpha_;
  std::vector<Vec3d> centres_;
  std::vector<SlotLink> links_;
  std::vector<TwistBone> twist_bones_;
  TwistShares twists_;
  SectionBinding binding_;
  SectionBinding::Scratch scratch_;
  JointActivities activities_;
};

/// 95th percentile of how much the angle between neighbouring triangles changed [deg]; `chosen`
/// says which edges count, by their ends.
inline double dihedralChange(std::span<const Triangle> triangles, std::span<const Vec3d> before,
                             std::span<const Vec3d> after,
                             const std::function<bool(std::uint32_t, std::uint32_t)>& chosen) {
  struct Side {
    std::uint32_t a, b, triangle;
    bool operator<(const Side& o) const { return std::tie(a, b) < std::tie(o.a, o.b); }
  };
  std::vector<Side> sides;
  for (std::uint32_t t = 0; t < triangles.size(); ++t)
    for (std::size_t k = 0; k < 3; ++k) {
      const auto [a, b] = std::minmax(triangles[t][k], triangles[t][(k + 1) % 3]);
      if (chosen(a, b)) sides.push_back({a, b, t});
    }
  std::stable_sort(sides.begin(), sides.end());
  const auto normal = [&](std::span<const Vec3d> x, std::uint32_t t) -> Vec3d {
    const Triangle& c = triangles[t];
    return Vec3d(x[c[1]] - x[c[0]]).cross(Vec3d(x[c[2]] - x[c[0]])).normalized();
  };
  const auto angle = [&](std::span<const Vec3d> x, const Side& l, const Side& r) {
    const Vec3d m = normal(x, l.triangle), n = normal(x, r.triangle);
    const Vec3d edge = (x[l.b] - x[l.a]).normalized();
    return std::atan2(edge.dot(m.cross(n)), m.dot(n));
  };
  std::vector<double> changes;
  for (std::size_t i = 0; i + 1 < sides.size(); ++i) {
    if (sides[i].a != sides[i + 1].a || sides[i].b != sides[i + 1].b) continue;
    const double turned =
        angle(after, sides[i], sides[i + 1]) - angle(before, sides[i], sides[i + 1]);
    changes.push_back(std::abs(std::remainder(turned, 2 * std::numbers::pi)) / kDegree);
  }
  if (changes.empty()) return 0;
  const auto at = changes.begin() + std::ptrdiff_t(0.95 * double(changes.size() - 1));
  std::nth_element(changes.begin(), at, changes.end());
  return *at;
}

/// Skinning matrices of a pose, one per slot.
inline std::vector<Affine3d> paletteOf(const Character& c, const Pose& pose) {
  std::vector<Affine3d> model(c.skeleton.size()), out;
  localToModel(c.skeleton, pose.local, model);
  for (const SkinSlot& s : c.skin.slots)
    out.push_back(model[s.joint.index()] * s.inverse_bind.cast<double>());
  return out;
}

inline std::vector<Affine3f> narrow(std::span<const Affine3d> palette) {
  std::vector<Affine3f> out;
  for (const Affine3d& m : palette) out.push_back(m.cast<float>());
  return out;
}

/// A rigid motion, twice the size, and a mirror: what skinning commutes with.
inline std::array<Affine3d, 3> commutingMaps() {
  Affine3d motion = Affine3d::Identity();
  motion.linear() = Eigen::AngleAxisd(2.5, Eigen::Vector3d(1, -2, 0.5).normalized()).matrix();
  motion.translation() = Vec3d(0.3, -0.4, 0.5);
  Affine3d twice = Affine3d::Identity();
  twice.linear() *= 2;
  Affine3d mirror = Affine3d::Identity();
  mirror.linear()(0, 0) = -1;
  return {motion, twice, mirror};
}

}  // namespace derm::section_test
