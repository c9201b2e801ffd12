#include "repro/bent_cylinder.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <utility>

#include "derm/mesh/measures.h"

namespace derm::detail::repro {
namespace {

/// The mesh as it stands: nothing welded, so that collapsed poles are open.
MeasuredSurface unwelded(const CylinderModel& model) {
  MeasuredSurface out;
  out.vertices_of_welded.offsets = {0};
  for (std::uint32_t v = 0; v < model.positions.size(); ++v) {
    out.welded_of_vertex.push_back(v);
    out.vertices_of_welded.indices.push_back(v);
    out.vertices_of_welded.offsets.push_back(v + 1);
  }
  out.triangles = model.triangles;
  for (std::uint32_t t = 0; t < model.triangles.size(); ++t) out.source_triangles.push_back(t);
  out.piece_count = 1;
  out.piece_of_point.assign(model.positions.size(), 0);
  out.piece_of_triangle.assign(model.triangles.size(), 0);
  out.piece_volumes = {volume(std::span<const Vec3d>(model.positions), model.triangles)};
  out.piece_areas = {area(std::span<const Vec3d>(model.positions), model.triangles)};
  return out;
}

}  // namespace

BentCylinder::BentCylinder(CylinderModel model, bool welded) : model_(std::move(model)) {
  TriMesh mesh;
  for (const Vec3d& p : model_.positions) mesh.positions.push_back(p.cast<float>());
  mesh.triangles = model_.triangles;
  Diagnostics notes;
  surface_ = std::make_shared<const MeasuredSurface>(
      welded ? makeMeasuredSurface(mesh.positions, mesh.triangles, "cylinder", notes)
             : unwelded(model_));
  regions_ = std::make_shared<const VolumeRegions>(
      VolumeRegions::bind(*surface_, mesh, {}, {}, {.kind = RegionKind::Whole}).value());
  volumes_ = std::make_shared<const RegionVolumes>(*surface_, *regions_);
  rest_.resize(surface_->pointCount());
  measurePoints(*surface_, model_.positions, Vec3d::Zero(), rest_);
  anchors_ = regions_->bindPositions();
  rest_m3_ = volumes_->volumes(rest_, anchors_);
}

std::vector<Vec3d> BentCylinder::bent(double degrees) const {
  const double t = degrees * std::numbers::pi / 180, half = kCylinderLength / 2;
  std::vector<Vec3d> vertices;
  for (std::size_t i = 0; i < model_.positions.size(); ++i) {
    const Vec3d& p = model_.positions[i];
    const double z = p.z() - half;
    const Vec3d turned(p.x() * std::cos(t) + z * std::sin(t), p.y(),
                       half - p.x() * std::sin(t) + z * std::cos(t));
    vertices.push_back(model_.weights[i][0] * p + model_.weights[i][1] * turned);
  }
  std::vector<Vec3d> points(surface_->pointCount());
  measurePoints(*surface_, vertices, Vec3d::Zero(), points);
  return points;
}

double BentCylinder::lossPercent(double degrees) const {
  return 100 * (1 - volumes_->volumes(bent(degrees), anchors_)[0] / rest_m3_[0]);
}

std::vector<double> BentCylinder::gamma(const CylinderMask& mask) const {
  std::vector<double> out(surface_->weldedCount(), 1.0);
  if (mask.a == 0) return out;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::array<double, 2>& w = model_.weights[surface_->vertices_of_welded[i][0]];
    out[i] = std::pow(1 - std::pow(std::max(w[0], w[1]), mask.a), mask.b);
  }
  return out;
}

CylinderCorrection BentCylinder::corrected(double degrees, const VolumeMethodDesc& desc,
                                           const CylinderMask& mask) const {
  Diagnostics notes;
  const VolumeMethodBinding binding =
      VolumeMethodBinding::bind(surface_, regions_, volumes_, gamma(mask), rest_m3_, desc, notes)
          .value();
  VolumeMethodBinding::Scratch scratch = binding.makeScratch();
  std::vector<Vec3d> points = bent(degrees);
  CylinderCorrection out;
  out.moved.resize(points.size());
  std::vector<RegionOutcome> outcomes(1);
  binding.solve(points, anchors_, rest_m3_, scratch, out.moved, outcomes);
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i] += out.moved[i];
    const double length = out.moved[i].norm(), z = rest_[i].z();
    out.largest_m = std::max(out.largest_m, length);
    if (std::abs(z - kCylinderLength / 2) < 2)
      out.near_elbow_m = std::max(out.near_elbow_m, length);
    if (z < 1 || z > kCylinderLength - 1) out.at_ends_m = std::max(out.at_ends_m, length);
  }
  out.error_percent = 100 * std::abs(volumes_->volumes(points, anchors_)[0] / rest_m3_[0] - 1);
  return out;
}

double BentCylinder::correctionsPerSecond(double degrees, const VolumeMethodDesc& desc) const {
  using Clock = std::chrono::steady_clock;
  Diagnostics notes;
  const VolumeMethodBinding binding =
      VolumeMethodBinding::bind(surface_, regions_, volumes_, gamma({}), rest_m3_, desc, notes)
          .value();
  VolumeMethodBinding::Scratch scratch = binding.makeScratch();
  const std::vector<Vec3d> points = bent(degrees);
  std::vector<Vec3d> moved(points.size());
  std::vector<RegionOutcome> outcomes(1);
  constexpr int kFrames = 50;
  double best_s = 1e9;
  for (int round = 0; round < 3; ++round) {
    const Clock::time_point start = Clock::now();
    for (int f = 0; f < kFrames; ++f)
      binding.solve(points, anchors_, rest_m3_, scratch, moved, outcomes);
    best_s = std::min(best_s, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return kFrames / std::max(best_s, 1e-9);
}

}  // namespace derm::detail::repro
