#include "deform/volume_line.h"

#include <algorithm>

#include "derm/base/parallel.h"

namespace derm {
namespace {

constexpr std::size_t kChunk = 1024;  // points at a time
constexpr std::uint32_t kLongestRun = 2048;
constexpr std::size_t kMostRunChunks = 128;

}  // namespace

VolumeLine::VolumeLine(std::shared_ptr<const VolumeFields> fields) : fields_(std::move(fields)) {
  const RegionVolumes& volumes = fields_->volumes();
  const MeasuredSurface& surface = fields_->surface();
  // An apex moves with its border, so all of that must follow the one region too.
  std::vector<std::uint8_t> follows_one(surface.pointCount(), 0);
  for (std::size_t i = 0; i < surface.placeCount(); ++i)
    follows_one[i] = volumes.regionsOf(i).size() == 1;
  for (std::size_t apex = 0; apex < surface.apexCount(); ++apex) {
    std::uint8_t one = volumes.regionsOf(surface.placeCount() + apex).size() == 1;
    for (const std::uint32_t place : surface.borders[apex]) one &= follows_one[place];
    follows_one[surface.placeCount() + apex] = one;
  }
  const auto moves = [&](std::uint32_t p) { return fields_->moves(p); };
  std::vector<std::uint8_t> near(surface.pointCount(), 0);
  for (std::uint32_t l = 0; l < volumes.regionCount(); ++l) {
    bool begins = true;
    for (std::uint32_t n = volumes.pureBegin(l); n < volumes.pureBegin(l + 1); ++n) {
      const Triangle& t = volumes.pureTriangles()[n];
      const bool still = !moves(t[0]) && !moves(t[1]) && !moves(t[2]);
      if (!still && follows_one[t[0]] && follows_one[t[1]] && follows_one[t[2]]) {
        if (begins || n - own_.back().begin == kLongestRun) own_.push_back({n, n, l});
        own_.back().end = n + 1;
        begins = false;
        continue;
      }
      begins = true;
      if (!still) {
        shared_.push_back({t, static_cast<std::uint32_t>(shares_.size()), 1});
        shares_.push_back({l, 1.0});
      }
    }
  }
  const auto base = static_cast<std::uint32_t>(shares_.size());
  shares_.insert(shares_.end(), volumes.shares().begin(), volumes.shares().end());
  for (const RegionVolumes::SharedTriangle& t : volumes.sharedTriangles())
    if (moves(t.corners[0]) || moves(t.corners[1]) || moves(t.corners[2]))
      shared_.push_back({t.corners, base + t.first_share, t.share_count});
  for (RegionVolumes::Wall wall : volumes.walls()) {
    if (!moves(wall.a) && !moves(wall.b)) continue;
    wall.first_share += base;
    walls_.push_back(wall);
    near[wall.a] = near[wall.b] = 1;
  }
  for (const SharedTriangle& t : shared_)
    for (const std::uint32_t p : t.corners) near[p] = 1;
  for (std::size_t apex = 0; apex < surface.apexCount(); ++apex)
    if (near[surface.placeCount() + apex] != 0)
      for (const std::uint32_t place : surface.borders[apex]) near[place] = 1;
  for (std::uint32_t p = 0; p < near.size(); ++p)
    if (near[p] != 0) near_borders_.push_back(p);
  const auto trim = [](auto&... lists) { (lists.shrink_to_fit(), ...); };
  trim(own_, shared_, shares_, walls_, near_borders_);
}

VolumeLine::Scratch VolumeLine::makeScratch() const {
  const std::size_t regions = fields_->volumes().regionCount();
  return {.runs = std::vector<Cubic>(own_.size()),
          .shared = RegionSums(shared_.size() + walls_.size(), regions + fields_->pairCount()),
          .own = std::vector<Cubic>(regions),
          .still = std::vector<double>(regions),
          .volumes = std::vector<double>(regions),
          .moved = {},
          .slopes = RegionMatrix(regions)};
}

void VolumeLine::begin(std::span<const Vec3d> points, std::span<const Vec3d> feet,
                       std::span<const Vec3d> field, const RegionMatrix& slopes,
                       Scratch& scratch) const noexcept {
  const RegionVolumes& volumes = fields_->volumes();
  const std::span<const Triangle> triangles = volumes.pureTriangles();
  const std::size_t chunk = (own_.size() + kMostRunChunks - 1) / kMostRunChunks;
  parallelFor(own_.size(), chunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t run = begin; run < end; ++run) {
      double c2 = 0, c3 = 0;
      for (std::uint32_t n = own_[run].begin; n < own_[run].end; ++n) {
        const Triangle& t = triangles[n];
        const Vec3d& d1 = field[volumes.firstEntry(t[0])];
        const Vec3d& d2 = field[volumes.firstEntry(t[1])];
        const Vec3d& d3 = field[volumes.firstEntry(t[2])];
        const Vec3d d23 = d2.cross(d3);
        c2 +=
            d23.dot(points[t[0]]) + d3.cross(d1).dot(points[t[1]]) + d1.cross(d2).dot(points[t[2]]);
        c3 += d23.dot(d1);
      }
      scratch.runs[run] = {.c2 = c2 / 6, .c3 = c3 / 6};
    }
  });
  parallelFor(near_borders_.size(), kChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end; ++n)
      scratch.moved[near_borders_[n]] = points[near_borders_[n]];
  });
  sumShared(feet, field, true, scratch, scratch.still);
  for (std::size_t l = 0; l < scratch.own.size(); ++l)
    scratch.own[l] = {.c1 = slopes(l, l) - scratch.slopes(l, l)};
  for (std::size_t run = 0; run < own_.size(); ++run) {
    scratch.own[own_[run].region].c2 += scratch.runs[run].c2;
    scratch.own[own_[run].region].c3 += scratch.runs[run].c3;
  }
}

void VolumeLine::addSlopes(std::uint32_t point, const Vec3d& gradient, std::uint32_t region,
                           std::span<const Vec3d> field, std::span<double> pairs) const noexcept {
  const RegionVolumes& volumes = fields_->volumes();
  const std::span<const std::uint32_t> rows = volumes.regionsOf(point);
  const std::uint32_t first = volumes.firstEntry(point);
  for (std::uint32_t k = 0; k < rows.size(); ++k)
    pairs[fields_->pair(region, rows[k])] += gradient.dot(field[first + k]);
}

void VolumeLine::sumShared(std::span<const Vec3d> feet, std::span<const Vec3d> field,
                           bool with_slopes, Scratch& scratch,
                           std::span<double> volumes) const noexcept {
  const std::size_t regions = volumes.size();
  const std::span<const std::uint32_t> foot = fields_->volumes().feetOfPoints();
  const std::span<const Vec3d> x = scratch.moved;
  scratch.shared.setZero();
  const auto triangle = [&](const SharedTriangle& t, std::span<double> part) {
    const Vec3d &x1 = x[t.corners[0]], &x2 = x[t.corners[1]], &x3 = x[t.corners[2]];
    const Vec3d g1 = x2.cross(x3) / 6;
    const double volume = g1.dot(x1);
    for (std::uint32_t s = t.first_share; s < t.first_share + t.share_count; ++s) {
      const auto& [region, share] = shares_[s];
      part[region] += share * volume;
      if (!with_slopes) continue;
      const std::span<double> pairs = part.subspan(regions);
      addSlopes(t.corners[0], share * g1, region, field, pairs);
      addSlopes(t.corners[1], (share / 6) * x3.cross(x1), region, field, pairs);
      addSlopes(t.corners[2], (share / 6) * x1.cross(x2), region, field, pairs);
    }
  };
  const auto side = [&](const RegionVolumes::Wall& wall, std::span<double> part) {
    const Vec3d &fa = feet[foot[wall.a]], &fb = feet[foot[wall.b]];
    const double volume = prismWall(x[wall.a], x[wall.b], fa, fb);
    const WallGradient gradient = prismWallGradient(x[wall.a], x[wall.b], fa, fb);
    for (std::uint32_t s = wall.first_share; s < wall.first_share + wall.share_count; ++s) {
      const auto& [region, share] = shares_[s];
      part[region] += share * volume;
      if (!with_slopes) continue;
      const std::span<double> pairs = part.subspan(regions);
      addSlopes(wall.a, share * gradient.to_a, region, field, pairs);
      addSlopes(wall.b, share * gradient.to_b, region, field, pairs);
    }
  };
  parallelFor(shared_.size() + walls_.size(), scratch.shared.chunk(),
              [&](std::size_t begin, std::size_t end) {
                const std::span<double> part = scratch.shared.row(begin);
                for (std::size_t n = begin; n < end; ++n)
                  n < shared_.size() ? triangle(shared_[n], part)
                                     : side(walls_[n - shared_.size()], part);
              });
  for (std::size_t l = 0; l < regions; ++l) volumes[l] = scratch.shared.total(l);
  if (!with_slopes) return;
  for (std::uint32_t k = 0; k < regions; ++k)
    for (std::uint32_t l = 0; l < regions; ++l)
      scratch.slopes(k, l) =
          fields_->meet(k, l) ? scratch.shared.total(regions + fields_->pair(k, l)) : 0.0;
}

void VolumeLine::moveShared(std::span<const Vec3d> points, std::span<const Vec3d> field,
                            std::span<const double> lambda, std::span<Vec3d> moved) const noexcept {
  const RegionVolumes& volumes = fields_->volumes();
  const MeasuredSurface& surface = fields_->surface();
  // In ascending order: places come before apexes.
  const auto places = static_cast<std::size_t>(
      std::lower_bound(near_borders_.begin(), near_borders_.end(), surface.placeCount()) -
      near_borders_.begin());
  parallelFor(places, kChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end; ++n) {
      const std::uint32_t p = near_borders_[n];
      Vec3d at = points[p];
      const std::span<const std::uint32_t> rows = volumes.regionsOf(p);
      const std::uint32_t first = volumes.firstEntry(p);
      for (std::uint32_t k = 0; k < rows.size(); ++k) at += lambda[rows[k]] * field[first + k];
      moved[p] = at;
    }
  });
  for (std::size_t n = places; n < near_borders_.size(); ++n) {
    const std::uint32_t p = near_borders_[n];
    const std::span<const std::uint32_t> border = surface.borders[p - surface.placeCount()];
    Vec3d sum = Vec3d::Zero();
    for (const std::uint32_t place : border) sum += moved[place] - points[place];
    moved[p] = points[p] + sum / static_cast<double>(border.size());
  }
}

void VolumeLine::evaluate(std::span<const Vec3d> points, std::span<const Vec3d> feet,
                          std::span<const Vec3d> field, std::span<const double> lambda,
                          bool renew_slopes, Scratch& scratch, std::span<double> change,
                          RegionMatrix& slopes) const noexcept {
  moveShared(points, field, lambda, scratch.moved);
  sumShared(feet, field, renew_slopes, scratch, scratch.volumes);
  slopes.entries = scratch.slopes.entries;
  for (std::size_t l = 0; l < change.size(); ++l) {
    const Cubic& c = scratch.own[l];
    const double s = lambda[l];
    change[l] = s * (c.c1 + s * (c.c2 + s * c.c3)) + scratch.volumes[l] - scratch.still[l];
    slopes(l, l) += c.c1 + s * (2 * c.c2 + 3 * s * c.c3);
  }
}

}  // namespace derm
