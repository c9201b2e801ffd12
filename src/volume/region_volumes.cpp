#include "derm/volume/region_volumes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "derm/base/assert.h"
#include "derm/base/parallel.h"

namespace derm {
namespace {

/// Shares that differ by less are equal: rounding of thirds.
constexpr double kNoShare = 1e-14;
constexpr std::size_t kTermsPerChunk = 4096;

double determinant(const Vec3d& a, const Vec3d& b, const Vec3d& c) { return a.dot(b.cross(c)); }

/// A directed edge of a triangle, stored from its lower to its higher end.
struct Side {
  std::uint32_t a, b;
  std::uint32_t triangle;
  double sign;  ///< +1: the triangle runs from a to b

  bool sameEdge(const Side& other) const { return a == other.a && b == other.b; }
};

std::vector<Side> sortedSides(std::span<const Triangle> triangles) {
  std::vector<Side> sides;
  sides.reserve(3 * triangles.size());
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (int k = 0; k < 3; ++k) {
      const std::uint32_t a = triangles[t][std::size_t(k)];
      const std::uint32_t b = triangles[t][std::size_t((k + 1) % 3)];
      sides.push_back(
          {std::min(a, b), std::max(a, b), static_cast<std::uint32_t>(t), a < b ? 1.0 : -1.0});
    }
  std::sort(sides.begin(), sides.end(), [](const Side& l, const Side& r) {
    return std::tie(l.a, l.b, l.triangle, l.sign) < std::tie(r.a, r.b, r.triangle, r.sign);
  });
  return sides;
}

struct CentredSum {
  Vec3d sum = Vec3d::Zero();
  CentredSum& operator+=(const CentredSum& other) {
    sum += other.sum;
    return *this;
  }
};

/// Determinants of points near their own middle lose the fewest digits.
Vec3d middle(std::span<const Vec3d> positions) {
  if (positions.empty()) return Vec3d::Zero();
  const CentredSum sum =
      deterministicSum<CentredSum>(positions.size(), [&](std::size_t begin, std::size_t end) {
        CentredSum part;
        for (std::size_t i = begin; i < end; ++i) part.sum += positions[i];
        return part;
      });
  return sum.sum / static_cast<double>(positions.size());
}

}  // namespace

double prismWall(const Vec3d& a, const Vec3d& b, const Vec3d& anchor_a, const Vec3d& anchor_b) {
  const Vec3d anchors = anchor_a.cross(anchor_b);
  const Vec3d both = anchor_a + anchor_b;
  return (both.dot(b.cross(a)) + anchors.dot(Vec3d(a + b))) / 12;
}

WallGradient prismWallGradient(const Vec3d& a, const Vec3d& b, const Vec3d& anchor_a,
                               const Vec3d& anchor_b) {
  const Vec3d anchors = anchor_a.cross(anchor_b);
  const Vec3d both = anchor_a + anchor_b;
  return {(both.cross(b) + anchors) / 12, (a.cross(both) + anchors) / 12};
}

/// Sorts triangles into those of one region and those of several, and finds the walls.
struct RegionVolumes::Builder {
  RegionVolumes& out;
  std::span<const Triangle> triangles;
  const VolumeRegions& regions;
  std::vector<Share> triangle_shares;                         ///< of each triangle in turn
  std::vector<std::uint32_t> triangle_first, triangle_count;  ///< in triangle_shares

  void shareTriangles();
  void sortTriangles(const MeasuredSurface& surface);
  void findWalls();
  void listRows(bool with_gradients);

  std::span<const Share> sharesOf(std::size_t t) const {
    return std::span(triangle_shares).subspan(triangle_first[t], triangle_count[t]);
  }
  /// Most triangles belong to one region: only the others' shares are kept.
  std::uint32_t keepShares(std::size_t t) {
    const auto first = static_cast<std::uint32_t>(out.shares_.size());
    const std::span<const Share> some = sharesOf(t);
    out.shares_.insert(out.shares_.end(), some.begin(), some.end());
    return first;
  }
  /// Adds entries to a list of shares, equal regions summed, nothings left out.
  static std::uint32_t addShares(std::vector<Share>& row, std::vector<Share>& list) {
    std::sort(row.begin(), row.end(),
              [](const Share& l, const Share& r) { return l.region < r.region; });
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < row.size();) {
      Share sum = row[i];
      for (++i; i < row.size() && row[i].region == sum.region; ++i) sum.share += row[i].share;
      if (std::abs(sum.share) < kNoShare) continue;
      list.push_back(sum);
      ++count;
    }
    row.clear();
    return count;
  }
};

void RegionVolumes::Builder::shareTriangles() {
  std::vector<Share> row;
  for (const Triangle& t : triangles) {
    DERM_ASSERT(t[0] != t[1] && t[1] != t[2] && t[2] != t[0]);
    for (const std::uint32_t corner : t) {
      const auto columns = regions.membership.columnsOf(corner);
      const auto shares = regions.membership.sharesOf(corner);
      for (std::size_t k = 0; k < columns.size(); ++k) row.push_back({columns[k], shares[k] / 3});
    }
    triangle_first.push_back(static_cast<std::uint32_t>(triangle_shares.size()));
    triangle_count.push_back(addShares(row, triangle_shares));
    // A triangle of one region counts wholly: thirds do not add up to 1.
    if (triangle_count.back() == 1) triangle_shares.back().share = 1;
  }
}

void RegionVolumes::Builder::sortTriangles(const MeasuredSurface& surface) {
  std::vector<std::vector<Triangle>> by_region(out.region_count_);
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    const Triangle& corners = triangles[t];
    const Triangle anchors = {out.anchor_[corners[0]], out.anchor_[corners[1]],
                              out.anchor_[corners[2]]};
    const bool three_anchors =
        anchors[0] != anchors[1] && anchors[1] != anchors[2] && anchors[2] != anchors[0];
    const bool one_region = triangle_count[t] == 1;
    const std::uint32_t first = three_anchors || !one_region ? keepShares(t) : 0;
    if (three_anchors)
      out.anchor_triangles_.push_back(
          {.anchors = anchors,
           .hub = regions.hub_of_piece[surface.piece_of_point[corners[0]]],
           .first_share = first,
           .share_count = triangle_count[t]});
    if (one_region)
      by_region[sharesOf(t)[0].region].push_back(corners);
    else
      out.shared_.push_back({corners, first, triangle_count[t], three_anchors});
  }
  out.pure_.reserve(triangles.size() - out.shared_.size());
  out.pure_begin_.push_back(0);
  for (const std::vector<Triangle>& some : by_region) {
    out.pure_.insert(out.pure_.end(), some.begin(), some.end());
    out.pure_begin_.push_back(static_cast<std::uint32_t>(out.pure_.size()));
  }
}

void RegionVolumes::Builder::findWalls() {
  const std::vector<Side> sides = sortedSides(triangles);
  std::vector<Share> row;
  for (std::size_t i = 0; i < sides.size();) {
    const std::size_t first = i;
    for (; i < sides.size() && sides[i].sameEdge(sides[first]); ++i)
      for (const Share& s : sharesOf(sides[i].triangle))
        row.push_back({s.region, sides[i].sign * s.share});
    const auto at = static_cast<std::uint32_t>(out.shares_.size());
    const std::uint32_t count = addShares(row, out.shares_);
    if (count > 0) out.walls_.push_back({sides[first].a, sides[first].b, at, count});
  }
}

void RegionVolumes::Builder::listRows(bool with_gradients) {
  std::vector<std::vector<std::uint32_t>> rows(out.point_count_);
  std::vector<std::vector<std::uint32_t>> around(out.point_count_);
  const auto touch = [&](std::uint32_t v, std::uint32_t thing, std::span<const Share> shares) {
    if (with_gradients) around[v].push_back(thing);
    for (const Share& s : shares)
      if (std::find(rows[v].begin(), rows[v].end(), s.region) == rows[v].end())
        rows[v].push_back(s.region);
  };
  std::uint32_t thing = 0;
  for (std::uint32_t l = 0; l < out.region_count_; ++l)
    for (std::uint32_t t = out.pure_begin_[l]; t < out.pure_begin_[l + 1]; ++t, ++thing)
      for (const std::uint32_t v : out.pure_[t]) {
        const Share whole{l, 1.0};
        touch(v, thing, {&whole, 1});
      }
  for (const SharedTriangle& s : out.shared_) {
    for (const std::uint32_t v : s.corners)
      touch(v, thing, std::span(out.shares_).subspan(s.first_share, s.share_count));
    ++thing;
  }
  for (const Wall& w : out.walls_) {
    for (const std::uint32_t v : {w.a, w.b})
      touch(v, thing, std::span(out.shares_).subspan(w.first_share, w.share_count));
    ++thing;
  }
  out.row_offsets_.push_back(0);
  if (with_gradients) out.around_offsets_.push_back(0);
  for (std::size_t v = 0; v < out.point_count_; ++v) {
    std::sort(rows[v].begin(), rows[v].end());
    out.row_regions_.insert(out.row_regions_.end(), rows[v].begin(), rows[v].end());
    out.row_offsets_.push_back(static_cast<std::uint32_t>(out.row_regions_.size()));
    if (!with_gradients) continue;
    out.around_.insert(out.around_.end(), around[v].begin(), around[v].end());
    out.around_offsets_.push_back(static_cast<std::uint32_t>(out.around_.size()));
  }
}

RegionVolumes::RegionVolumes(const MeasuredSurface& surface, const VolumeRegions& regions,
                             RegionTables tables)
    : point_count_(surface.pointCount()),
      region_count_(regions.regionCount()),
      anchor_(regions.anchor) {
  DERM_REQUIRE(regions.membership.rowCount() == point_count_);
  Builder builder{*this, surface.triangles, regions, {}, {}, {}};
  builder.shareTriangles();
  builder.sortTriangles(surface);
  builder.findWalls();
  if (tables != RegionTables::Volumes) builder.listRows(tables == RegionTables::Gradients);
  const auto trim = [](auto&... lists) { (lists.shrink_to_fit(), ...); };
  trim(shared_, walls_, shares_, row_offsets_, row_regions_, around_offsets_, around_);
}

RegionVolumes::Scratch RegionVolumes::makeScratch() const {
  const std::size_t things = pure_.size() + shared_.size() + walls_.size();
  return {std::vector<double>((things / kTermsPerChunk + 3) * region_count_)};
}

void RegionVolumes::addAnchorVolumes(std::span<const Vec3d> anchors, const Vec3d& origin,
                                     std::span<double> out) const noexcept {
  for (const AnchorTriangle& t : anchor_triangles_) {
    const double v = determinant(anchors[t.anchors[0]] - origin, anchors[t.anchors[1]] - origin,
                                 anchors[t.anchors[2]] - origin) /
                     6;
    out[t.hub] += v;
    for (std::uint32_t k = t.first_share; k < t.first_share + t.share_count; ++k)
      out[shares_[k].region] -= shares_[k].share * v;
  }
}

void RegionVolumes::volumes(std::span<const Vec3d> x, std::span<const Vec3d> anchors,
                            Scratch& scratch, std::span<double> out) const noexcept {
  DERM_REQUIRE(x.size() == point_count_ && out.size() == region_count_);
  const std::size_t pure = pure_.size(), shared = shared_.size();
  const std::size_t things = pure + shared + walls_.size();
  const std::size_t chunks = (things + kTermsPerChunk - 1) / kTermsPerChunk;
  DERM_REQUIRE(scratch.parts.size() >= chunks * region_count_);
  const Vec3d origin = middle(x);
  const auto at = [&](std::uint32_t v) -> Vec3d { return x[v] - origin; };
  const auto corners = [&](const Triangle& t) {
    return determinant(at(t[0]), at(t[1]), at(t[2])) / 6;
  };
  parallelFor(things, kTermsPerChunk, [&](std::size_t begin, std::size_t end) {
    double* const part = scratch.parts.data() + begin / kTermsPerChunk * region_count_;
    std::fill_n(part, region_count_, 0.0);
    const auto add = [&](std::uint32_t first, std::uint32_t count, double v) {
      for (std::uint32_t k = first; k < first + count; ++k)
        part[shares_[k].region] += shares_[k].share * v;
    };
    std::size_t region = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (i < pure) {
        while (i >= pure_begin_[region + 1]) ++region;
        part[region] += corners(pure_[i]);
      } else if (i < pure + shared) {
        const SharedTriangle& t = shared_[i - pure];
        add(t.first_share, t.share_count, corners(t.corners));
      } else {
        const Wall& w = walls_[i - pure - shared];
        add(w.first_share, w.share_count,
            prismWall(at(w.a), at(w.b), anchors[anchor_[w.a]] - origin,
                      anchors[anchor_[w.b]] - origin));
      }
    }
  });
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t c = 0; c < chunks; ++c)
    for (std::size_t l = 0; l < region_count_; ++l) out[l] += scratch.parts[c * region_count_ + l];
  addAnchorVolumes(anchors, origin, out);
}

std::vector<double> RegionVolumes::volumes(std::span<const Vec3d> positions,
                                           std::span<const Vec3d> anchors) const {
  Scratch scratch = makeScratch();
  std::vector<double> out(region_count_);
  volumes(positions, anchors, scratch, out);
  return out;
}

void RegionVolumes::gradients(std::span<const Vec3d> x, std::span<const Vec3d> anchors,
                              std::span<Vec3d> out) const noexcept {
  DERM_REQUIRE(x.size() == point_count_ && out.size() == entryCount());
  DERM_REQUIRE(around_offsets_.size() == point_count_ + 1);
  const Vec3d origin = middle(x);
  const std::size_t pure = pure_.size(), shared = shared_.size();
  const auto across = [&](const Triangle& t, std::size_t v) -> Vec3d {
    const std::size_t k = t[0] == v ? 0 : t[1] == v ? 1 : 2;
    const Vec3d left = x[t[(k + 1) % 3]] - origin, right = x[t[(k + 2) % 3]] - origin;
    return left.cross(right) / 6;
  };
  parallelFor(point_count_, 1024, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) {
      const std::uint32_t first = row_offsets_[v], last = row_offsets_[v + 1];
      std::fill(out.begin() + first, out.begin() + last, Vec3d::Zero());
      const auto entry = [&](std::uint32_t region) -> Vec3d& {
        std::uint32_t e = first;
        while (row_regions_[e] != region) ++e;
        return out[e];
      };
      const auto add = [&](std::uint32_t from, std::uint32_t count, const Vec3d& g) {
        for (std::uint32_t k = from; k < from + count; ++k)
          entry(shares_[k].region) += shares_[k].share * g;
      };
      for (std::uint32_t k = around_offsets_[v]; k < around_offsets_[v + 1]; ++k) {
        const std::size_t i = around_[k];
        if (i < pure) {
          const auto at = std::upper_bound(pure_begin_.begin(), pure_begin_.end(), i);
          entry(static_cast<std::uint32_t>(at - pure_begin_.begin() - 1)) += across(pure_[i], v);
        } else if (i < pure + shared) {
          const SharedTriangle& t = shared_[i - pure];
          add(t.first_share, t.share_count, across(t.corners, v));
        } else {
          const Wall& w = walls_[i - pure - shared];
          const WallGradient g =
              prismWallGradient(x[w.a] - origin, x[w.b] - origin, anchors[anchor_[w.a]] - origin,
                                anchors[anchor_[w.b]] - origin);
          add(w.first_share, w.share_count, w.a == v ? g.to_a : g.to_b);
        }
      }
    }
  });
}

}  // namespace derm
