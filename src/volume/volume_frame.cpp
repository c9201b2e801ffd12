#include "volume/volume_frame.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "volume/joint_tree.h"

namespace derm::detail {
namespace {

/// Determinants this near 1 are rounding of rotations.
constexpr double kNoGrowth = 1e-5;

}  // namespace

VolumeFrameBinding::VolumeFrameBinding(std::shared_ptr<const MeasuredSurface> surface,
                                       std::shared_ptr<const VolumeRegions> regions,
                                       const Skeleton& skeleton, const Skin& skin)
    : surface_(std::move(surface)),
      regions_(std::move(regions)),
      activities_(skeleton, skin, *regions_) {
  if (skin.empty()) return;
  const ShareRows& membership = regions_->membership;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> shares;
  std::vector<double> sums(regions_->regionCount(), 0.0);
  for (std::size_t p = 0; p < surface_->weldedCount(); ++p)
    eachVertexOf(*surface_, p, [&](std::size_t v, double part) {
      for (std::size_t k = 0; k < membership.columnsOf(p).size(); ++k)
        for (const Influence& i : skin[v]) {
          const std::uint32_t region = membership.columnsOf(p)[k];
          const double share = part * membership.sharesOf(p)[k] * double{i.weight};
          shares[{region, i.slot}] += share;
          sums[region] += share;
        }
    });
  for (const auto& [key, share] : shares)
    carriers_.push_back({key.first, key.second, share / sums[key.first]});
}

void VolumeFrameBinding::forgetTriangles() {
  const auto surface = std::make_shared<MeasuredSurface>();
  surface->welded_of_vertex = surface_->welded_of_vertex;
  surface->vertices_of_welded = surface_->vertices_of_welded;
  surface->borders = surface_->borders;
  surface_ = surface;
}

void VolumeFrameBinding::forgetShares() {
  const auto regions = std::make_shared<VolumeRegions>();
  regions->regions = regions_->regions;
  regions->joints = regions_->joints;
  regions_ = regions;
}

void VolumeFrameBinding::grow(std::span<const Affine3f> palette,
                              std::span<const double> rest_volumes,
                              std::span<double> targets) const noexcept {
  std::fill(targets.begin(), targets.end(), 1.0);
  for (const Carrier& c : carriers_) {
    const double growth = palette[c.slot].linear().cast<double>().determinant() - 1;
    // A matrix that is not finite counts as the identity, as in skinning.
    if (std::isfinite(growth) && std::abs(growth) > kNoGrowth)
      targets[c.region] += c.share * growth;
  }
  for (std::size_t l = 0; l < targets.size(); ++l) targets[l] *= rest_volumes[l];
}

VolumeFrame::VolumeFrame(const VolumeFrameBinding& binding, bool with_points)
    : binding_(&binding),
      points_(with_points ? binding.surface().pointCount() : 0),
      displacement_(points_.size(), Vec3d::Zero()),
      anchors_(binding.volumeRegions().jointCount()),
      rotations_(anchors_.size()),
      activities_(anchors_.size()),
      grown_(binding.regions().size()),
      targets_(binding.regions().size()) {}

void VolumeFrame::measure(const FrameInput& in, std::span<const Vec3f> positions,
                          std::span<const double> rest_volumes) noexcept {
  binding_->volumeRegions().jointPositions(in.model, anchors_);
  for (Vec3d& f : anchors_)
    if (!f.allFinite()) f.setZero();
  // Joints lie within the skin: their middle is near everything, and cheap to find.
  origin_.setZero();
  for (const Vec3d& f : anchors_) origin_ += f / static_cast<double>(anchors_.size());
  for (Vec3d& f : anchors_) f -= origin_;
  if (hasPoints()) toPoints(positions, points_);
  binding_->activities().evaluate(in.model, rotations_, activities_);
  binding_->grow(in.palette, rest_volumes, grown_);
  std::copy(grown_.begin(), grown_.end(), targets_.begin());
  double rest = 0, now = 0;
  for (const double v : rest_volumes) rest += std::abs(v);
  for (const double v : targets_) now += std::abs(v);
  scale_ = rest > 0 && now > 0 ? std::cbrt(now / rest) : 1;
}

void VolumeFrame::toPoints(std::span<const Vec3f> positions,
                           std::span<Vec3d> points) const noexcept {
  measurePoints(binding_->surface(), positions, origin_, points);
}

void VolumeFrame::apply(SkinFrame& skin) const noexcept {
  skin.beforeMoving();
  addToVertices(binding_->surface(), displacement_, skin.positions());
}

std::uint32_t VolumeFrame::vertexOf(std::uint32_t point) const noexcept {
  const MeasuredSurface& s = binding_->surface();
  return point < s.weldedCount() ? s.vertices_of_welded[point].front() : 0;
}

}  // namespace derm::detail
