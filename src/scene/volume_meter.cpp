#include "scene/volume_meter.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "derm/deform/morphs.h"
#include "derm/mesh/measures.h"

namespace derm::detail {
namespace {

/// The region with the largest share in a triangle's corners.
std::uint32_t mainRegion(const Triangle& t, const VolumeRegions& regions) {
  std::vector<std::pair<std::uint32_t, double>> sums;
  for (const std::uint32_t corner : t) {
    const std::span<const std::uint32_t> columns = regions.membership.columnsOf(corner);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const auto at = std::find_if(sums.begin(), sums.end(),
                                   [&](const auto& s) { return s.first == columns[k]; });
      if (at == sums.end())
        sums.emplace_back(columns[k], regions.membership.sharesOf(corner)[k]);
      else
        at->second += regions.membership.sharesOf(corner)[k];
    }
  }
  std::pair<std::uint32_t, double> best{0, -1};
  for (const auto& s : sums)
    if (s.second > best.second || (s.second == best.second && s.first < best.first)) best = s;
  return best.first;
}

void widen(SurfaceMeasure& measure, double stretch) {
  measure.min_stretch = std::min(measure.min_stretch, stretch);
  measure.max_stretch = std::max(measure.max_stretch, stretch);
}

}  // namespace

VolumeMeter::VolumeMeter(const Character& character, const BoundSurface& bound,
                         MeasuredSurface surface, VolumeRegions regions)
    : character_(&character),
      morphed_rest_(character.mesh, character.mesh.vertexCount(), bound),
      surface_(std::move(surface)),
      regions_(std::move(regions)),
      volumes_(surface_, regions_, RegionTables::Volumes),
      points_(surface_.pointCount()),
      anchors_(regions_.jointCount()),
      parts_(regions_.regionCount()) {}

Result<VolumeMeter> VolumeMeter::make(const Character& character, const BoundSurface& bound,
                                      const RegionsDesc& desc) {
  const TriMesh& rest = bound.rest;
  Diagnostics said_already;  // by the layer
  MeasuredSurface surface =
      makeMeasuredSurface(rest.positions, rest.triangles, "mesh", said_already);
  DERM_TRY(VolumeRegions regions,
           VolumeRegions::bind(surface, rest, character.skeleton, bound.skin, desc));
  VolumeMeter out(character, bound, std::move(surface), std::move(regions));
  measurePoints(out.surface_, rest.positions, Vec3d::Zero(), out.points_);
  out.region_rest_m3_ = out.volumes_.volumes(out.points_, out.regions_.bindPositions());
  const double diagonal = bounds(rest.positions).diagonal();
  std::vector<std::pair<std::uint32_t, std::uint32_t>> seen;
  for (std::size_t t = 0; t < out.surface_.ownTriangleCount(); ++t) {
    const Triangle& c = out.surface_.triangles[t];
    const std::uint32_t region = mainRegion(c, out.regions_);
    out.region_of_triangle_.push_back(region);
    for (std::size_t k = 0; k < 3; ++k) {
      const auto [a, b] = std::minmax(c[k], c[(k + 1) % 3]);
      const double length = (out.points_[a] - out.points_[b]).norm();
      if (length > 1e-6 * diagonal) out.edges_.push_back({a, b, length, region});
    }
  }
  std::sort(out.edges_.begin(), out.edges_.end(), [](const Edge& l, const Edge& r) {
    return std::tuple(l.a, l.b, l.region) < std::tuple(r.a, r.b, r.region);
  });
  // An edge between two regions counts in both; one inside a region once.
  out.edges_.erase(std::unique(out.edges_.begin(), out.edges_.end(),
                               [](const Edge& l, const Edge& r) {
                                 return l.a == r.a && l.b == r.b && l.region == r.region;
                               }),
                   out.edges_.end());
  for (const double volume : out.surface_.piece_volumes) out.rest_m3_ += volume;
  for (const double area : out.surface_.piece_areas) out.rest_area_m2_ += area;
  out.shape_m3_ = out.rest_m3_;
  out.region_shape_m3_ = out.region_rest_m3_;
  return out;
}

double VolumeMeter::wholeVolume() const {
  double sum = 0;
  for (const Triangle& t : surface_.triangles)
    sum += points_[t[0]].dot(points_[t[1]].cross(points_[t[2]])) / 6;
  return sum;
}

void VolumeMeter::takeShape(std::span<const float> morph_weights) {
  if (std::all_of(morph_weights.begin(), morph_weights.end(), [](float w) { return w == 0; })) {
    shape_m3_ = rest_m3_;
    region_shape_m3_ = region_rest_m3_;
    return;
  }
  morphed_ = character_->mesh.positions;
  addMorphs(character_->morphs, morph_weights,
            {.positions = morphed_, .normals = {}, .tangents = {}});
  morphed_space_.resize(morphed_rest_.spaceCount());
  const std::span<const Vec3f> positions = morphed_rest_.positions(morphed_, morphed_space_);
  const Vec3d origin = centroid(positions);
  measurePoints(surface_, positions, origin, points_);
  anchors_ = regions_.bindPositions();
  for (Vec3d& anchor : anchors_) anchor -= origin;
  region_shape_m3_ = volumes_.volumes(points_, anchors_);
  shape_m3_ = wholeVolume();
}

void VolumeMeter::measure(std::span<const Vec3f> positions, std::span<const Affine3d> model) {
  const Vec3d origin = centroid(positions);
  measurePoints(surface_, positions, origin, points_);
  regions_.jointPositions(model, anchors_);
  for (Vec3d& anchor : anchors_) anchor -= origin;
  const std::vector<double> volumes = volumes_.volumes(points_, anchors_);
  constexpr double kFar = std::numeric_limits<double>::infinity();
  whole_ = {.volume_m3 = wholeVolume(), .area_m2 = 0, .min_stretch = kFar, .max_stretch = 0};
  std::fill(parts_.begin(), parts_.end(), whole_);
  for (std::size_t l = 0; l < volumes.size(); ++l) parts_[l].volume_m3 = volumes[l];
  for (std::size_t t = 0; t < surface_.ownTriangleCount(); ++t) {
    const Triangle& c = surface_.triangles[t];
    const Vec3d &a = points_[c[0]], &b = points_[c[1]], &d = points_[c[2]];
    const double area = Vec3d(b - a).cross(Vec3d(d - a)).norm() / 2;
    whole_.area_m2 += area;
    parts_[region_of_triangle_[t]].area_m2 += area;
  }
  for (const Edge& e : edges_) {
    const double stretch = (points_[e.a] - points_[e.b]).norm() / e.rest_m;
    widen(whole_, stretch);
    widen(parts_[e.region], stretch);
  }
  const auto settle = [](SurfaceMeasure& m) {
    if (m.min_stretch == kFar) m.min_stretch = m.max_stretch = 1;
  };
  settle(whole_);
  std::for_each(parts_.begin(), parts_.end(), settle);
}

}  // namespace derm::detail
