#pragma once

#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <span>
#include <vector>

#include "derm/cast/cylinder.h"
#include "derm/mesh/measured_surface.h"
#include "derm/volume/region_volumes.h"
#include "derm/volume/volume_methods.h"
#include "derm/volume/volume_regions.h"

/// Surfaces in double, ready for the volume methods.
namespace derm::volume_rig {

inline double radians(double degrees) { return degrees * std::numbers::pi / 180; }

struct Rig {
  std::shared_ptr<const MeasuredSurface> surface;
  std::shared_ptr<const VolumeRegions> regions;
  std::shared_ptr<const RegionVolumes> volumes;
  std::vector<Vec3d> rest;      ///< points
  std::vector<double> rest_m3;  ///< per region
  std::vector<Vec3d> rest_anchors;

  std::vector<Vec3d> points(std::span<const Vec3d> vertices) const {
    std::vector<Vec3d> out(surface->pointCount());
    measurePoints(*surface, vertices, Vec3d::Zero(), out);
    return out;
  }
  std::vector<double> volumesOf(std::span<const Vec3d> at, std::span<const Vec3d> anchors) const {
    return volumes->volumes(at, anchors);
  }
  std::vector<double> volumesOf(std::span<const Vec3d> at) const {
    return volumes->volumes(at, rest_anchors);
  }
};

inline Rig makeRig(std::span<const Vec3d> positions, std::span<const Triangle> triangles,
                   const RegionsDesc& desc, const Skeleton& skeleton = {}, const Skin& skin = {},
                   const std::vector<VertexGroup>& groups = {}) {
  TriMesh mesh;
  for (const Vec3d& p : positions) mesh.positions.push_back(p.cast<float>());
  mesh.triangles.assign(triangles.begin(), triangles.end());
  mesh.groups = groups;
  Diagnostics notes;
  Rig rig;
  rig.surface = std::make_shared<const MeasuredSurface>(
      makeMeasuredSurface(mesh.positions, mesh.triangles, "mesh", notes));
  rig.regions = std::make_shared<const VolumeRegions>(
      VolumeRegions::bind(*rig.surface, mesh, skeleton, skin, desc).value());
  rig.volumes = std::make_shared<const RegionVolumes>(*rig.surface, *rig.regions);
  rig.rest = rig.points(positions);
  rig.rest_anchors = rig.regions->bindPositions();
  rig.rest_m3 = rig.volumes->volumes(rig.rest, rig.rest_anchors);
  return rig;
}

/// (1 - w_max^a)^b per welded vertex of a cylinder; all ones for a = 0.
inline std::vector<double> cylinderGamma(const Rig& rig, const CylinderModel& model, double a,
                                         double b) {
  std::vector<double> out(rig.surface->weldedCount(), 1.0);
  if (a == 0) return out;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::array<double, 2>& w = model.weights[rig.surface->vertices_of_welded[i][0]];
    out[i] = std::pow(1 - std::pow(std::max(w[0], w[1]), a), b);
  }
  return out;
}

/// The reference cylinder bent about +y through its middle.
inline std::vector<Vec3d> bent(const CylinderModel& model, double degrees) {
  const double t = radians(degrees), half = kCylinderLength / 2;
  std::vector<Vec3d> out;
  for (std::size_t i = 0; i < model.positions.size(); ++i) {
    const Vec3d& p = model.positions[i];
    const double z = p.z() - half;
    const Vec3d turned(p.x() * std::cos(t) + z * std::sin(t), p.y(),
                       half - p.x() * std::sin(t) + z * std::cos(t));
    out.push_back(model.weights[i][0] * p + model.weights[i][1] * turned);
  }
  return out;
}

struct Solved {
  std::vector<Vec3d> u;
  std::vector<RegionOutcome> outcomes;
  std::vector<double> after_m3;
  int iterations = 0;

  double largest() const {
    double max = 0;
    for (const Vec3d& d : u) max = std::max(max, d.norm());
    return max;
  }
  double squares() const {
    double sum = 0;
    for (const Vec3d& d : u) sum += d.squaredNorm();
    return sum;
  }
};

inline Solved solve(const Rig& rig, std::span<const double> gamma, const VolumeMethodDesc& desc,
                    std::span<const Vec3d> points, std::span<const Vec3d> anchors,
                    std::span<const double> targets) {
  Diagnostics notes;
  const VolumeMethodBinding binding =
      VolumeMethodBinding::bind(rig.surface, rig.regions, rig.volumes, gamma, rig.rest_m3, desc,
                                notes)
          .value();
  VolumeMethodBinding::Scratch scratch = binding.makeScratch();
  Solved out;
  out.u.resize(points.size());
  out.outcomes.resize(targets.size());
  binding.solve(points, anchors, targets, scratch, out.u, out.outcomes);
  out.iterations = VolumeMethodBinding::iterations(scratch);
  std::vector<Vec3d> moved(points.begin(), points.end());
  for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += out.u[i];
  out.after_m3 = rig.volumes->volumes(moved, anchors);
  return out;
}

inline Solved solve(const Rig& rig, std::span<const double> gamma, const VolumeMethodDesc& desc,
                    std::span<const Vec3d> points) {
  return solve(rig, gamma, desc, points, rig.rest_anchors, rig.rest_m3);
}

/// |after / rest - 1| of the first region.
inline double errorOf(const Rig& rig, const Solved& s, std::size_t region = 0) {
  return std::abs(s.after_m3[region] / rig.rest_m3[region] - 1);
}

}  // namespace derm::volume_rig
