#include "volume/volume_line.h"

#include <algorithm>
#include <array>

#include "derm/base/parallel.h"

namespace derm::detail {
namespace {

constexpr std::size_t kLinePointsPerChunk = 1024;  // points at a time
constexpr std::size_t kTrianglesAtOnce = 64;       // triangles whose volumes are kept at a time

}  // namespace

struct VolumeLine::Builder {
  VolumeLine& out;
  const MeasuredSurface& surface;
  const VolumeRegions& regions;
  const VolumeFields& fields = *out.fields_;
  std::vector<std::uint8_t> follows_one = std::vector<std::uint8_t>(surface.pointCount(), 0);

  void findFollowers();
  void sortTriangles();
  void runOwn();
  void runShared();
  void listNear();
  /// Of regions that do not touch, walls between anchors cancel: no anchor is needed.
  std::uint32_t anchorOf(const Triangle& t) const {
    if (fields.independent()) return kSeveralAnchors;
    const std::vector<std::uint32_t>& f = regions.anchor;
    return f[t[0]] == f[t[1]] && f[t[1]] == f[t[2]] ? f[t[0]] : kSeveralAnchors;
  }
  std::uint32_t regionOf(const Triangle& t) const { return fields.rings().regionsOf(t[0])[0]; }
  std::vector<std::uint32_t> setOf(const Triangle& t) const;
};

/// An apex moves with its border, so all of that must follow the one region too.
void VolumeLine::Builder::findFollowers() {
  const RegionRings& rings = fields.rings();
  for (std::size_t i = 0; i < surface.weldedCount(); ++i)
    follows_one[i] = rings.regionsOf(i).size() == 1;
  for (std::size_t apex = 0; apex < surface.apexCount(); ++apex) {
    std::uint8_t one = rings.regionsOf(surface.weldedCount() + apex).size() == 1;
    for (const std::uint32_t welded : surface.borders[apex]) one &= follows_one[welded];
    follows_one[surface.weldedCount() + apex] = one;
  }
}

/// The regions that a triangle belongs to.
std::vector<std::uint32_t> VolumeLine::Builder::setOf(const Triangle& t) const {
  std::vector<std::uint32_t> set;
  for (const std::uint32_t p : t) {
    const auto columns = regions.membership.columnsOf(p);
    set.insert(set.end(), columns.begin(), columns.end());
  }
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
  return set;
}

void VolumeLine::Builder::sortTriangles() {
  for (const Triangle& t : surface.triangles) {
    if (!fields.moves(t[0]) && !fields.moves(t[1]) && !fields.moves(t[2])) continue;
    const bool one = follows_one[t[0]] && follows_one[t[1]] && follows_one[t[2]];
    const bool own = fields.independent() || (one && anchorOf(t) != kSeveralAnchors);
    (own ? out.own_ : out.shared_).push_back(t);
  }
  std::stable_sort(out.own_.begin(), out.own_.end(), [&](const Triangle& a, const Triangle& b) {
    return std::pair(regionOf(a), anchorOf(a)) < std::pair(regionOf(b), anchorOf(b));
  });
  std::stable_sort(out.shared_.begin(), out.shared_.end(),
                   [&](const Triangle& a, const Triangle& b) {
                     const std::uint32_t anchor_a = anchorOf(a), anchor_b = anchorOf(b);
                     return anchor_a != anchor_b ? anchor_a < anchor_b : setOf(a) < setOf(b);
                   });
}

void VolumeLine::Builder::runOwn() {
  for (std::uint32_t n = 0; n < out.own_.size(); ++n) {
    const std::uint32_t region = regionOf(out.own_[n]), anchor = anchorOf(out.own_[n]);
    const OwnRun* const last = out.own_runs_.empty() ? nullptr : &out.own_runs_.back();
    if (last == nullptr || last->region != region || last->anchor != anchor ||
        n - last->begin == kLongestRun)
      out.own_runs_.push_back({n, n, region, anchor});
    out.own_runs_.back().end = n + 1;
  }
}

void VolumeLine::Builder::runShared() {
  std::vector<std::uint32_t> last;
  for (std::uint32_t n = 0; n < out.shared_.size(); ++n) {
    const std::vector<std::uint32_t> set = setOf(out.shared_[n]);
    const std::uint32_t anchor = anchorOf(out.shared_[n]);
    if (out.shared_runs_.empty() || out.shared_runs_.back().anchor != anchor || set != last ||
        n - out.shared_runs_.back().begin == kLongestRun) {
      out.shared_runs_.push_back({n, n, static_cast<std::uint32_t>(out.sets_.size()),
                                  static_cast<std::uint32_t>(set.size()),
                                  static_cast<std::uint32_t>(out.weights_.size()), anchor,
                                  static_cast<std::uint32_t>(out.part_count_)});
      out.sets_.insert(out.sets_.end(), set.begin(), set.end());
      out.part_count_ += set.size() * (1 + fields.rings().regionCount());
    }
    out.shared_runs_.back().end = n + 1;
    const std::size_t first = out.weights_.size();
    out.weights_.resize(first + set.size(), 0.0f);
    for (const std::uint32_t p : out.shared_[n])
      for (std::size_t k = 0; k < regions.membership.columnsOf(p).size(); ++k) {
        const auto at =
            std::lower_bound(set.begin(), set.end(), regions.membership.columnsOf(p)[k]);
        out.weights_[first + static_cast<std::size_t>(at - set.begin())] +=
            static_cast<float>(regions.membership.sharesOf(p)[k]);
      }
    last = set;
  }
}

void VolumeLine::Builder::listNear() {
  std::vector<std::uint8_t> near(surface.pointCount(), 0);
  for (const Triangle& t : out.shared_)
    for (const std::uint32_t p : t) near[p] = 1;
  for (std::size_t apex = 0; apex < surface.apexCount(); ++apex)
    if (near[surface.weldedCount() + apex] != 0)
      for (const std::uint32_t welded : surface.borders[apex]) near[welded] = 1;
  for (std::uint32_t p = 0; p < near.size(); ++p)
    if (near[p] != 0) out.near_borders_.push_back(p);
}

VolumeLine::VolumeLine(std::shared_ptr<const VolumeFields> fields, const MeasuredSurface& surface,
                       const VolumeRegions& regions)
    : fields_(std::move(fields)) {
  Builder build{*this, surface, regions};
  build.findFollowers();
  build.sortTriangles();
  build.runOwn();
  build.runShared();
  build.listNear();
  const auto trim = [](auto&... lists) { (lists.shrink_to_fit(), ...); };
  trim(own_, own_runs_, shared_, shared_runs_, sets_, weights_, near_borders_);
}

VolumeLine::Scratch VolumeLine::makeScratch() const {
  const std::size_t regions = fields_->rings().regionCount();
  return {.runs = std::vector<Cubic>(own_runs_.size()),
          .parts = std::vector<double>(part_count_),
          .own = std::vector<Cubic>(regions),
          .still = std::vector<double>(regions),
          .volumes = std::vector<double>(regions),
          .moved = {},
          .slopes = RegionMatrix(regions)};
}

void VolumeLine::begin(std::span<const Vec3d> points, std::span<const Vec3d> anchors,
                       std::span<const Vec3d> field, const RegionMatrix& slopes,
                       Scratch& scratch) const noexcept {
  parallelFor(own_runs_.size(), runChunk(own_runs_.size()),
              [&](std::size_t begin, std::size_t end) {
                for (std::size_t r = begin; r < end; ++r) {
                  const OwnRun& run = own_runs_[r];
                  const Vec3d anchor =
                      run.anchor == kSeveralAnchors ? Vec3d(Vec3d::Zero()) : anchors[run.anchor];
                  scratch.runs[r] = detail::sumCubic(
                      std::span(own_).subspan(run.begin, run.end - run.begin), points.data(),
                      anchor, field.data(), fields_->rings().firstEntries());
                }
              });
  std::fill(scratch.own.begin(), scratch.own.end(), Cubic{});
  for (std::size_t r = 0; r < own_runs_.size(); ++r) {
    Cubic& own = scratch.own[own_runs_[r].region];
    own.c1 += scratch.runs[r].c1;
    own.c2 += scratch.runs[r].c2;
    own.c3 += scratch.runs[r].c3;
  }
  if (independent()) return;
  for (const std::uint32_t p : near_borders_) scratch.moved[p] = points[p];
  sumShared(anchors, scratch, scratch.still);
  scratch.slopes.entries = slopes.entries;
  for (std::size_t l = 0; l < scratch.own.size(); ++l) scratch.slopes(l, l) -= scratch.own[l].c1;
}

/// kSize is the set's size, or 0 for any.
template <std::size_t kSize>
void VolumeLine::addWeighted(std::span<const double> tetrahedra, const float* weights,
                             std::span<double> volumes) const noexcept {
  const std::size_t size = kSize != 0 ? kSize : volumes.size();
  if constexpr (kSize != 0) {
    std::array<double, kSize> sums{};
    for (const double volume : tetrahedra)
      for (double& sum : sums) sum += double{*weights++} * volume;
    for (std::size_t k = 0; k < size; ++k) volumes[k] += sums[k];
  } else {
    for (const double volume : tetrahedra)
      for (double& sum : volumes) sum += double{*weights++} * volume;
  }
}

void VolumeLine::sumRun(const SharedRun& run, std::span<const Vec3d> anchors,
                        std::span<const Vec3d> x, std::span<double> volumes) const noexcept {
  std::fill(volumes.begin(), volumes.end(), 0.0);
  std::array<double, kTrianglesAtOnce> some;
  for (std::size_t n = run.begin; n < run.end; n += kTrianglesAtOnce) {
    const auto triangles = std::span(shared_).subspan(n, std::min(kTrianglesAtOnce, run.end - n));
    if (run.anchor != kSeveralAnchors)
      detail::tetrahedronVolumes(triangles, x.data(), anchors[run.anchor], some);
    else
      for (std::size_t k = 0; k < triangles.size(); ++k) {
        const Triangle& t = triangles[k];
        some[k] = detail::prismVolume({x[t[0]], x[t[1]], x[t[2]]}, anchorsOf(t, anchors));
      }
    const auto measured = std::span<const double>(some).first(triangles.size());
    const float* const weights =
        weights_.data() + run.first_weight + (n - run.begin) * run.set_size;
    if (run.set_size == 1)
      addWeighted<1>(measured, weights, volumes);
    else if (run.set_size == 2)
      addWeighted<2>(measured, weights, volumes);
    else
      addWeighted<0>(measured, weights, volumes);
  }
  for (double& sum : volumes) sum /= 3;
}

void VolumeLine::sumShared(std::span<const Vec3d> anchors, Scratch& scratch,
                           std::span<double> volumes) const noexcept {
  parallelFor(shared_runs_.size(), runChunk(shared_runs_.size()),
              [&](std::size_t begin, std::size_t end) {
                for (std::size_t r = begin; r < end; ++r) {
                  const SharedRun& run = shared_runs_[r];
                  sumRun(run, anchors, scratch.moved,
                         std::span(scratch.parts).subspan(run.first_part, run.set_size));
                }
              });
  std::fill(volumes.begin(), volumes.end(), 0.0);
  for (const SharedRun& run : shared_runs_)
    for (std::uint32_t k = 0; k < run.set_size; ++k)
      volumes[setOf(run)[k]] += scratch.parts[run.first_part + k];
}

void VolumeLine::sumSlopes(std::span<const Vec3d> anchors, std::span<const Vec3d> field,
                           Scratch& scratch) const noexcept {
  const RegionRings& rings = fields_->rings();
  const std::size_t regions = rings.regionCount();
  const auto rowsOf = [&](const SharedRun& run) {
    return std::span(scratch.parts).subspan(run.first_part + run.set_size, run.set_size * regions);
  };
  parallelFor(
      shared_runs_.size(), runChunk(shared_runs_.size()), [&](std::size_t begin, std::size_t end) {
        for (std::size_t r = begin; r < end; ++r) {
          const SharedRun& run = shared_runs_[r];
          const std::span<double> rows = rowsOf(run);
          std::fill(rows.begin(), rows.end(), 0.0);
          for (std::uint32_t n = run.begin; n < run.end; ++n) {
            const Triangle& t = shared_[n];
            const detail::Prism prism(
                {scratch.moved[t[0]], scratch.moved[t[1]], scratch.moved[t[2]]},
                anchorsOf(t, anchors));
            const float* const weight =
                weights_.data() + run.first_weight + (n - run.begin) * run.set_size;
            for (std::size_t c = 0; c < 3; ++c) {
              const std::uint32_t p = shared_[n][c];
              const std::span<const std::uint32_t> moving = rings.regionsOf(p);
              for (std::size_t l = 0; l < moving.size(); ++l) {
                const double slope = prism.gradient[c].dot(field[rings.firstEntry(p) + l]) / 3;
                for (std::uint32_t k = 0; k < run.set_size; ++k)
                  rows[k * regions + moving[l]] += double{weight[k]} * slope;
              }
            }
          }
        }
      });
  scratch.slopes.setZero();
  for (const SharedRun& run : shared_runs_)
    for (std::uint32_t k = 0; k < run.set_size; ++k)
      for (std::size_t l = 0; l < regions; ++l)
        scratch.slopes(setOf(run)[k], l) += rowsOf(run)[k * regions + l];
}

void VolumeLine::moveShared(std::span<const Vec3d> points, std::span<const Vec3d> field,
                            std::span<const double> lambda, std::span<Vec3d> moved) const noexcept {
  const RegionRings& rings = fields_->rings();
  const MeasuredSurface& surface = fields_->surface();
  // In ascending order: welded vertices come before apexes.
  const auto welded_count = static_cast<std::size_t>(
      std::lower_bound(near_borders_.begin(), near_borders_.end(), surface.weldedCount()) -
      near_borders_.begin());
  parallelFor(welded_count, kLinePointsPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end; ++n) {
      const std::uint32_t p = near_borders_[n];
      Vec3d at = points[p];
      const std::span<const std::uint32_t> rows = rings.regionsOf(p);
      const std::uint32_t first = rings.firstEntry(p);
      for (std::uint32_t k = 0; k < rows.size(); ++k) at += lambda[rows[k]] * field[first + k];
      moved[p] = at;
    }
  });
  for (std::size_t n = welded_count; n < near_borders_.size(); ++n) {
    const std::uint32_t p = near_borders_[n];
    const std::span<const std::uint32_t> border = surface.borders[p - surface.weldedCount()];
    Vec3d sum = Vec3d::Zero();
    for (const std::uint32_t welded : border) sum += moved[welded] - points[welded];
    moved[p] = points[p] + sum / static_cast<double>(border.size());
  }
}

void VolumeLine::evaluate(std::span<const Vec3d> points, std::span<const Vec3d> anchors,
                          std::span<const Vec3d> field, std::span<const double> lambda,
                          bool renew_slopes, Scratch& scratch, std::span<double> change,
                          RegionMatrix& slopes) const noexcept {
  moveShared(points, field, lambda, scratch.moved);
  sumShared(anchors, scratch, scratch.volumes);
  if (renew_slopes) sumSlopes(anchors, field, scratch);
  slopes.entries = scratch.slopes.entries;
  for (std::size_t l = 0; l < change.size(); ++l) {
    const Cubic& c = scratch.own[l];
    const double s = lambda[l];
    change[l] = s * (c.c1 + s * (c.c2 + s * c.c3)) + scratch.volumes[l] - scratch.still[l];
    slopes(l, l) += c.c1 + s * (2 * c.c2 + 3 * s * c.c3);
  }
}

}  // namespace derm::detail
