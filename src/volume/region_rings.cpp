#include "volume/region_rings.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "derm/base/parallel.h"

#include "volume/prism.h"

namespace derm::detail {
struct RegionRings::Builder {
  RegionRings& out;
  const MeasuredSurface& surface;
  const VolumeRegions& regions;
  IndexLists around = vertexTriangles(surface.triangles, surface.pointCount());
  std::vector<char> odd = std::vector<char>(surface.pointCount(), 0);

  bool oneAnchor(const Triangle& t) const {
    return out.anchor_[t[0]] == out.anchor_[t[1]] && out.anchor_[t[1]] == out.anchor_[t[2]];
  }
  /// The only region of a point, or none.
  std::uint32_t onlyRegion(std::uint32_t point) const {
    const auto columns = regions.membership.columnsOf(point);
    return columns.size() == 1 ? columns[0] : std::numeric_limits<std::uint32_t>::max();
  }
  void findOdd();
  void addOdd(std::uint32_t point);
  void addEven();
  bool closedRing(std::uint32_t point, std::vector<std::uint32_t>& ring) const;
};

/// The ring of points around a point, first one again at the end. False where there is none, or
/// more than one.
bool RegionRings::Builder::closedRing(std::uint32_t point, std::vector<std::uint32_t>& ring) const {
  std::vector<Edge> edges;
  for (const std::uint32_t t : around[point]) {
    const Triangle& c = surface.triangles[t];
    const std::size_t k = c[0] == point ? 0 : c[1] == point ? 1 : 2;
    edges.push_back({c[(k + 1) % 3], c[(k + 2) % 3]});
  }
  ring.clear();
  if (edges.size() < 3 || edges.size() + 1 > std::numeric_limits<std::uint8_t>::max()) return false;
  ring = {edges[0][0], edges[0][1]};
  for (std::size_t used = 1; used < edges.size(); ++used) {
    const auto next = std::find_if(edges.begin() + static_cast<std::ptrdiff_t>(used), edges.end(),
                                   [&](const Edge& e) { return e[0] == ring.back(); });
    if (next == edges.end()) return false;
    ring.push_back((*next)[1]);
    std::iter_swap(next, edges.begin() + static_cast<std::ptrdiff_t>(used));
  }
  return ring.back() == ring.front();
}

void RegionRings::Builder::findOdd() {
  for (std::uint32_t i = 0; i < surface.pointCount(); ++i) {
    const bool apex = i >= surface.weldedCount();
    const std::uint32_t region = onlyRegion(i);
    odd[i] = apex || around[i].empty();
    for (const std::uint32_t t : around[i]) {
      const Triangle& c = surface.triangles[t];
      odd[i] |= !oneAnchor(c);
      for (const std::uint32_t p : c)
        odd[i] |= p >= surface.weldedCount() || onlyRegion(p) != region ||
                  regions.membership.columnsOf(p).size() != 1;
    }
  }
  std::vector<std::uint32_t> ring;
  for (std::uint32_t i = 0; i < odd.size(); ++i)
    if (!odd[i]) odd[i] = !closedRing(i, ring);
}

void RegionRings::Builder::addOdd(std::uint32_t point) {
  out.odd_points_.push_back(point);
  std::vector<std::uint32_t> row;
  for (const std::uint32_t t : around[point])
    for (const std::uint32_t p : surface.triangles[t]) {
      const auto columns = regions.membership.columnsOf(p);
      row.insert(row.end(), columns.begin(), columns.end());
    }
  std::sort(row.begin(), row.end());
  row.erase(std::unique(row.begin(), row.end()), row.end());
  out.first_entry_[point] = static_cast<std::uint32_t>(out.regions_.size());
  out.entry_counts_[point] = static_cast<std::uint16_t>(row.size());
  out.regions_.insert(out.regions_.end(), row.begin(), row.end());
  const auto add = [&](const Triangle& c) {
    const std::size_t k = c[0] == point ? 0 : c[1] == point ? 1 : 2;
    out.corners_.push_back({c[(k + 1) % 3], c[(k + 2) % 3]});
    const std::size_t first = out.weights_.size();
    out.weights_.resize(first + row.size(), 0.0f);
    for (const std::uint32_t p : c) {
      const auto columns = regions.membership.columnsOf(p);
      const auto shares = regions.membership.sharesOf(p);
      for (std::size_t n = 0; n < columns.size(); ++n) {
        const auto at = std::lower_bound(row.begin(), row.end(), columns[n]) - row.begin();
        out.weights_[first + static_cast<std::size_t>(at)] += static_cast<float>(shares[n]);
      }
    }
  };
  for (const std::uint32_t t : around[point])
    if (oneAnchor(surface.triangles[t])) add(surface.triangles[t]);
  out.wall_offsets_.push_back(static_cast<std::uint32_t>(out.corners_.size()));
  for (const std::uint32_t t : around[point])
    if (!oneAnchor(surface.triangles[t])) add(surface.triangles[t]);
  out.corner_offsets_.push_back(static_cast<std::uint32_t>(out.corners_.size()));
  out.weight_offsets_.push_back(static_cast<std::uint32_t>(out.weights_.size()));
}

void RegionRings::Builder::addEven() {
  for (std::uint32_t i = 0; i < odd.size(); ++i)
    if (!odd[i]) out.even_points_.push_back(i);
  const auto key = [&](std::uint32_t i) { return std::pair(onlyRegion(i), out.anchor_[i]); };
  std::stable_sort(out.even_points_.begin(), out.even_points_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  std::vector<std::uint32_t> ring;
  for (std::uint32_t n = 0; n < out.even_points_.size(); ++n) {
    const std::uint32_t i = out.even_points_[n];
    const auto [region, anchor] = key(i);
    out.first_entry_[i] = static_cast<std::uint32_t>(out.regions_.size());
    out.entry_counts_[i] = 1;
    out.regions_.push_back(region);
    if (out.runs_.empty() || out.runs_.back().region != region ||
        out.runs_.back().anchor != anchor || n - out.runs_.back().begin == kLongestRun)
      out.runs_.push_back({n, n, region, anchor, static_cast<std::uint32_t>(out.rings_.size())});
    out.runs_.back().end = n + 1;
    closedRing(i, ring);
    out.ring_sizes_.push_back(static_cast<std::uint8_t>(ring.size()));
    out.rings_.insert(out.rings_.end(), ring.begin(), ring.end());
  }
}

RegionRings::RegionRings(const MeasuredSurface& surface, const VolumeRegions& regions)
    : region_count_(regions.regionCount()),
      anchor_(regions.anchor),
      first_entry_(surface.pointCount()),
      entry_counts_(surface.pointCount()),
      corner_offsets_(1, 0),
      weight_offsets_(1, 0) {
  Builder build{*this, surface, regions};
  build.findOdd();
  for (std::uint32_t i = 0; i < surface.pointCount(); ++i)
    if (build.odd[i]) build.addOdd(i);
  odd_entry_count_ = regions_.size();
  build.addEven();
  for (const Triangle& t : surface.triangles) {
    const Triangle anchors = {anchor_[t[0]], anchor_[t[1]], anchor_[t[2]]};
    if (anchors[0] != anchors[1] && anchors[1] != anchors[2] && anchors[2] != anchors[0])
      anchor_triangles_.push_back({anchors, regions.hub_of_piece[surface.piece_of_point[t[0]]]});
  }
  const auto trim = [](auto&... lists) { (lists.shrink_to_fit(), ...); };
  trim(regions_, runs_, even_points_, ring_sizes_, rings_, odd_points_, corner_offsets_,
       wall_offsets_, corners_, weight_offsets_, weights_, anchor_triangles_);
}

RegionRings::Sums RegionRings::makeSums() const {
  return {std::vector<detail::RingSums>(runs_.size()),
          RegionSums(odd_points_.size(), region_count_)};
}

void RegionRings::measureOdd(std::size_t n, std::span<const Vec3d> x,
                             std::span<const Vec3d> anchors, std::span<Vec3d> out,
                             std::span<double> part) const noexcept {
  const std::uint32_t point = odd_points_[n];
  const std::span<const std::uint32_t> rows = regionsOf(point);
  const std::span<Vec3d> row = out.subspan(first_entry_[point], rows.size());
  const Vec3d &anchor = anchors[anchor_[point]], &here = x[point];
  const std::uint32_t first = corner_offsets_[n], walls = wall_offsets_[n];
  const float* weight = weights_.data() + weight_offsets_[n];
  detail::sumCorners({std::span(corners_).subspan(first, walls - first), weight}, x.data(), anchor,
                     row);
  for (std::size_t k = 0; k < row.size(); ++k)
    part[rows[k]] += (row[k].x() * (here.x() - anchor.x()) + row[k].y() * (here.y() - anchor.y()) +
                      row[k].z() * (here.z() - anchor.z())) /
                     3;
  weight += (walls - first) * rows.size();
  for (std::uint32_t c = walls; c < corner_offsets_[n + 1]; ++c, weight += rows.size()) {
    const auto [left, right] = corners_[c];
    const Vec3d &a = x[left], &b = x[right];
    const Vec3d &anchor_a = anchors[anchor_[left]], &anchor_b = anchors[anchor_[right]];
    const Vec3d gradient = a.cross(b) / 6 + prismWallGradient(here, a, anchor, anchor_a).to_a +
                           prismWallGradient(b, here, anchor_b, anchor).to_b;
    // All corners of such a triangle are odd: one of them counts its volume.
    const double volume = point < left && point < right
                              ? detail::prismVolume({here, a, b}, {anchor, anchor_a, anchor_b})
                              : 0.0;
    for (std::size_t k = 0; k < row.size(); ++k) {
      row[k] += (double{weight[k]} / 3) * gradient;
      part[rows[k]] += double{weight[k]} / 3 * volume;
    }
  }
}

void RegionRings::measure(std::span<const Vec3d> x, std::span<const Vec3d> anchors,
                          std::span<const double> gamma, Sums& sums, std::span<Vec3d> gradients,
                          std::span<Vec3d> field, std::span<double> volumes) const noexcept {
  const bool all = gradients.size() == entryCount();
  const std::size_t chunk = runChunk(runs_.size());
  parallelFor(runs_.size(), chunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      const Run& run = runs_[r];
      const std::size_t entry = odd_entry_count_ + run.begin;
      sums.runs[r] =
          detail::measureRings({std::span(even_points_).subspan(run.begin, run.end - run.begin),
                                ring_sizes_.data() + run.begin, rings_.data() + run.first_ring},
                               x.data(), anchors[run.anchor],
                               {.gradients = all ? gradients.data() + entry : nullptr,
                                .field = field.empty() ? nullptr : field.data() + entry,
                                .gamma = gamma.data()});
    }
  });
  sums.odd.setZero();
  parallelFor(odd_points_.size(), sums.odd.chunk(), [&](std::size_t begin, std::size_t end) {
    const std::span<double> part = sums.odd.row(begin);
    for (std::size_t n = begin; n < end; ++n) measureOdd(n, x, anchors, gradients, part);
  });
  for (std::size_t l = 0; l < volumes.size(); ++l) volumes[l] = sums.odd.total(l);
  for (std::size_t r = 0; r < runs_.size(); ++r) volumes[runs_[r].region] += sums.runs[r].volume;
  for (const AnchorTriangle& t : anchor_triangles_)
    volumes[t.hub] +=
        anchors[t.anchors[0]].dot(anchors[t.anchors[1]].cross(anchors[t.anchors[2]])) / 6;
}

}  // namespace derm::detail
