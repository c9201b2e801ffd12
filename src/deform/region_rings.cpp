#include "deform/region_rings.h"

#include <algorithm>
#include <utility>

namespace derm {

struct RegionRings::Builder {
  RegionRings& out;
  const RegionVolumes& volumes;
  std::vector<std::vector<Corner>> corners;  ///< per point
  std::vector<std::vector<Side>> sides;

  void addTriangle(const Triangle& t, std::uint32_t first_share, std::uint32_t count) {
    for (std::size_t c = 0; c < 3; ++c)
      corners[t[c]].push_back({t[(c + 1) % 3], t[(c + 2) % 3], first_share, count});
  }
  void collect();
  void chain(std::vector<Corner>& edges);
};

void RegionRings::Builder::collect() {
  out.shares_.assign(volumes.shares().begin(), volumes.shares().end());
  for (std::uint32_t l = 0; l < volumes.regionCount(); ++l) {
    const auto whole = static_cast<std::uint32_t>(out.shares_.size());
    out.shares_.push_back({l, 1.0});
    for (std::uint32_t n = volumes.pureBegin(l); n < volumes.pureBegin(l + 1); ++n)
      addTriangle(volumes.pureTriangles()[n], whole, 1);
  }
  for (const RegionVolumes::SharedTriangle& t : volumes.sharedTriangles())
    addTriangle(t.corners, t.first_share, t.share_count);
  for (const RegionVolumes::Wall& w : volumes.walls()) {
    sides[w.a].push_back({w.b, true, w.first_share, w.share_count});
    sides[w.b].push_back({w.a, false, w.first_share, w.share_count});
  }
}

/// Writes edges as runs, each edge's end being the next one's start where there is one.
void RegionRings::Builder::chain(std::vector<Corner>& edges) {
  std::sort(edges.begin(), edges.end(), [](const Corner& a, const Corner& b) {
    return std::pair(a.left, a.right) < std::pair(b.left, b.right);
  });
  std::vector<bool> used(edges.size(), false);
  for (std::size_t first = 0; first < edges.size(); ++first) {
    if (used[first]) continue;
    used[first] = true;
    out.ring_.push_back(edges[first].left | kBegins);
    out.ring_.push_back(edges[first].right);
    for (std::uint32_t end = edges[first].right;;) {
      std::size_t next = 0;
      while (next < edges.size() && (used[next] || edges[next].left != end)) ++next;
      if (next == edges.size()) break;
      used[next] = true;
      end = edges[next].right;
      out.ring_.push_back(end);
    }
  }
}

RegionRings::RegionRings(const MeasuredSurface& surface, const RegionVolumes& volumes)
    : volumes_(&volumes), region_count_(volumes.regionCount()) {
  const std::size_t points = surface.pointCount();
  Builder build{*this, volumes, {}, {}};
  build.corners.resize(points);
  build.sides.resize(points);
  build.collect();
  ring_offsets_.push_back(0);
  corner_offsets_.push_back(0);
  side_offsets_.push_back(0);
  for (std::uint32_t i = 0; i < points; ++i) {
    const std::span<const std::uint32_t> rows = volumes.regionsOf(i);
    const bool one = rows.size() == 1 && build.sides[i].empty() &&
                     std::all_of(build.corners[i].begin(), build.corners[i].end(),
                                 [](const Corner& c) { return c.share_count == 1; });
    region_.push_back(one ? rows[0] : kMixed);
    if (one) {
      build.chain(build.corners[i]);
    } else {
      corners_.insert(corners_.end(), build.corners[i].begin(), build.corners[i].end());
      sides_.insert(sides_.end(), build.sides[i].begin(), build.sides[i].end());
    }
    ring_offsets_.push_back(static_cast<std::uint32_t>(ring_.size()));
    corner_offsets_.push_back(static_cast<std::uint32_t>(corners_.size()));
    side_offsets_.push_back(static_cast<std::uint32_t>(sides_.size()));
  }
  const auto trim = [](auto&... lists) { (lists.shrink_to_fit(), ...); };
  trim(region_, ring_offsets_, ring_, corner_offsets_, side_offsets_, corners_, sides_, shares_);
}

void RegionRings::mixed(std::size_t point, std::span<const Vec3d> x, std::span<const Vec3d> feet,
                        std::span<Vec3d> gradients, std::span<double> part) const noexcept {
  const std::span<const std::uint32_t> rows = volumes_->regionsOf(point);
  const std::span<Vec3d> out = gradients.subspan(volumes_->firstEntry(point), rows.size());
  std::fill(out.begin(), out.end(), Vec3d(Vec3d::Zero()));
  const auto entry = [&](std::uint32_t region) -> Vec3d& {
    std::size_t k = 0;
    while (rows[k] != region) ++k;
    return out[k];
  };
  for (std::uint32_t n = corner_offsets_[point]; n < corner_offsets_[point + 1]; ++n) {
    const Corner& c = corners_[n];
    const Vec3d across = x[c.left].cross(x[c.right]);
    const double volume = across.dot(x[point]);
    for (std::uint32_t s = c.first_share; s < c.first_share + c.share_count; ++s) {
      entry(shares_[s].region) += (shares_[s].share / 6) * across;
      part[shares_[s].region] += shares_[s].share * volume;
    }
  }
  const std::span<const std::uint32_t> foot = volumes_->feetOfPoints();
  for (std::uint32_t n = side_offsets_[point]; n < side_offsets_[point + 1]; ++n) {
    const Side& side = sides_[n];
    const std::size_t a = side.first_end ? point : side.other;
    const std::size_t b = side.first_end ? side.other : point;
    const Vec3d &fa = feet[foot[a]], &fb = feet[foot[b]];
    const WallGradient gradient = prismWallGradient(x[a], x[b], fa, fb);
    const Vec3d& here = side.first_end ? gradient.to_a : gradient.to_b;
    const double volume = side.first_end ? 18 * prismWall(x[a], x[b], fa, fb) : 0.0;
    for (std::uint32_t s = side.first_share; s < side.first_share + side.share_count; ++s) {
      entry(shares_[s].region) += shares_[s].share * here;
      part[shares_[s].region] += shares_[s].share * volume;
    }
  }
}

void RegionRings::finish(std::span<const Vec3d> feet, const RegionSums& sums,
                         std::span<double> volumes) const noexcept {
  // Three corners count each triangle, and the sixth of its determinant is its volume.
  for (std::size_t l = 0; l < volumes.size(); ++l) volumes[l] = sums.total(l) / 18;
  volumes_->addFeetVolumes(feet, Vec3d::Zero(), volumes);
}

}  // namespace derm
