#include "deform/section_sums.h"

#include <algorithm>
#include <array>

#include "derm/base/parallel.h"

#include "deform/share_smoothing.h"

namespace derm::detail {
namespace {

/// Regions of a triangle's corners.
constexpr std::size_t kMostTriangleRegions = 3 * kMostShares;
constexpr double kThird = 1.0 / 3, kSixth = 1.0 / 6;

struct Point {
  double x, y, z;
};

Point position(const SectionCorner& c, const Vec3d& foot) {
  return {c.x[0] - foot.x(), c.x[1] - foot.y(), c.x[2] - foot.z()};
}

Point cross(const Point& a, const Point& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

double dot(const Point& a, const Point& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

double along(const Point& a, const SectionCorner& c) {
  return double{c.h} * (a.x * double{c.d[0]} + a.y * double{c.d[1]} + a.z * double{c.d[2]});
}

/// The prism over a triangle, and its gradient.
struct Prism {
  double volume = 0;
  std::array<Vec3d, 3> gradient;

  Prism(const std::array<Vec3d, 3>& x, const std::array<Vec3d, 3>& feet) {
    volume = (x[0].dot(x[1].cross(x[2])) - feet[0].dot(feet[1].cross(feet[2]))) / 6;
    for (std::size_t k = 0; k < 3; ++k) gradient[k] = x[(k + 1) % 3].cross(x[(k + 2) % 3]) / 6;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t n = (k + 1) % 3;
      volume += prismWall(x[k], x[n], feet[k], feet[n]);
      const WallGradient wall = prismWallGradient(x[k], x[n], feet[k], feet[n]);
      gradient[k] += wall.to_a;
      gradient[n] += wall.to_b;
    }
  }
};

}  // namespace

/// What one triangle gives to the regions of its corners: shares of its volume, and how that
/// changes with their multipliers.
class SectionSums::Spread {
 public:
  Spread(const SectionPlan& plan, const SectionBuffers& buffers) : plan_(plan), b_(buffers) {}

  void clear() { count_ = 0; }
  /// A corner's shares; `slope` is the volume's along the way the corner moves.
  void add(std::uint32_t point, double slope) {
    const SectionShares::Row row = plan_.members[plan_.row_of_point[point]];
    if (row.count == 1) {
      Entry& e = entry(row.columns[0], 0);
      e.share += kThird;
      e.slope += slope;
      return;
    }
    const float* const gains = b_.gains.data() + row.first;
    for (std::uint32_t k = 0; k < row.count; ++k) {
      Entry& e = entry(row.columns[k], k);
      e.share += kThird * double{row.shares[k]};
      e.slope += slope * double{gains[k]};
    }
  }

  void writeVolumes(std::size_t first, double volume, double* volumes) const {
    for (std::size_t l = 0; l < count_; ++l)
      volumes[entries_[l].region - first] += entries_[l].share * volume;
  }
  /// The slope of one more multiplier, of whatever region.
  void writeColumn(std::size_t first, std::size_t n, std::uint32_t region, double slope,
                   double* matrix) const {
    for (std::size_t l = 0; l < count_; ++l)
      matrix[(entries_[l].region - first) * n + (region - first)] += entries_[l].share * slope;
  }
  void writeMatrix(std::size_t first, std::size_t n, double* matrix) const {
    for (std::size_t l = 0; l < count_; ++l) {
      double* const row = matrix + (entries_[l].region - first) * n;
      for (std::size_t k = 0; k < count_; ++k)
        row[entries_[k].region - first] += entries_[l].share * entries_[k].slope;
    }
  }

 private:
  struct Entry {
    std::uint32_t region;
    double share, slope;
  };
  /// Corners of a triangle mostly belong to the same regions: `hint` is where it then is.
  Entry& entry(std::uint32_t region, std::size_t hint) {
    if (hint < count_ && entries_[hint].region == region) return entries_[hint];
    for (std::size_t k = 0; k < count_; ++k)
      if (entries_[k].region == region) return entries_[k];
    entries_[count_] = {region, 0, 0};
    return entries_[count_++];
  }

  const SectionPlan& plan_;
  const SectionBuffers& b_;
  std::array<Entry, kMostTriangleRegions> entries_;
  std::size_t count_ = 0;
};

void SectionSums::sumPure(const SectionChunk& chunk, double& volume, double& slope) const {
  const Vec3d foot = frame_.feet[chunk.foot];
  double v = 0, k = 0;
  for (std::uint32_t t = chunk.begin; t < chunk.end; ++t) {
    const Triangle& corners = plan_.moving.pure[t];
    const SectionCorner &a = b_.corners[corners[0]], &b = b_.corners[corners[1]],
                        &c = b_.corners[corners[2]];
    const Point pa = position(a, foot), pb = position(b, foot), pc = position(c, foot);
    const Point across_a = cross(pb, pc);
    v += dot(pa, across_a);
    k += along(across_a, a) + along(cross(pc, pa), b) + along(cross(pa, pb), c);
  }
  volume = v / 6;
  slope = k / 6;
}

double SectionSums::sumPureStill(const SectionChunk& chunk) const {
  const Vec3d foot = frame_.feet[chunk.foot];
  double v = 0;
  for (std::uint32_t t = chunk.begin; t < chunk.end; ++t) {
    const Triangle& c = plan_.still.pure[t];
    v += dot(position(b_.corners[c[0]], foot),
             cross(position(b_.corners[c[1]], foot), position(b_.corners[c[2]], foot)));
  }
  return v / 6;
}

void SectionSums::sumGeneral(const SectionTriangles& list, const SectionChunk& chunk,
                             bool with_matrix) {
  const SectionBlock& block = plan_.blocks[chunk.block];
  const std::size_t n = block.region_count, first = block.first_region;
  double* const volumes = b_.parts.data() + chunk.first_part;
  double* const matrix = with_matrix ? volumes + n : nullptr;
  std::fill_n(volumes, with_matrix ? n * (n + 1) : n, 0.0);
  Spread spread(plan_, b_);
  for (std::uint32_t i = chunk.begin; i < chunk.end; ++i) {
    spread.clear();
    if (chunk.kind == SectionKind::Mixed) {
      addMixed(list.mixed[i], block, spread, volumes, matrix);
      continue;
    }
    const SectionShared& t = list.shared[i];
    const Vec3d& foot = frame_.feet[t.foot];
    const SectionCorner &a = b_.corners[t.corners[0]], &b = b_.corners[t.corners[1]],
                        &c = b_.corners[t.corners[2]];
    const Point pa = position(a, foot), pb = position(b, foot), pc = position(c, foot);
    const Point across_a = cross(pb, pc);
    spread.add(t.corners[0], kSixth * along(across_a, a));
    spread.add(t.corners[1], kSixth * along(cross(pc, pa), b));
    spread.add(t.corners[2], kSixth * along(cross(pa, pb), c));
    spread.writeVolumes(first, kSixth * dot(pa, across_a), volumes);
    if (with_matrix) spread.writeMatrix(first, n, matrix);
  }
}

void SectionSums::addMixed(const SectionMixed& t, const SectionBlock& block, Spread& spread,
                           double* volumes, double* matrix) const {
  const std::size_t n = block.region_count, first = block.first_region;
  std::array<Vec3d, 3> x, feet;
  for (std::size_t k = 0; k < 3; ++k) {
    const SectionCorner& c = b_.corners[t.corners[k]];
    x[k] = Vec3d(c.x[0], c.x[1], c.x[2]);
    feet[k] = frame_.feet[t.feet[k]];
  }
  const Prism prism(x, feet);
  // A fan's middle does not move along a direction of its own: its h is zero.
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec3d& g = prism.gradient[k];
    spread.add(t.corners[k], along({g.x(), g.y(), g.z()}, b_.corners[t.corners[k]]));
  }
  spread.writeVolumes(first, prism.volume, volumes);
  if (matrix == nullptr) return;
  spread.writeMatrix(first, n, matrix);
  for (std::size_t k = 0; k < 3; ++k) {
    if (t.corners[k] < plan_.place_count) continue;
    const std::uint32_t at = plan_.apex_of_point[t.corners[k] - plan_.place_count];
    if (at == kStandsStill) continue;
    const SectionApex& fan = plan_.apexes[at];
    for (std::uint32_t e = fan.first_entry; e < fan.first_entry + fan.entry_count; ++e)
      spread.writeColumn(first, n, plan_.apex_regions[e], prism.gradient[k].dot(b_.apex_moves[e]),
                         matrix);
  }
}

void SectionSums::sumBlock(const SectionBlock& block) {
  const std::size_t n = block.region_count, first = block.first_region;
  const std::size_t pure = block.pure_count;
  const SectionTriangles& list = plan_.moving;
  parallelFor(pure + block.general_count, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (i < pure) {
        const std::size_t c = block.first_pure + i;
        sumPure(list.pure_chunks[c], b_.chunk_volumes[c], b_.chunk_slopes[c]);
      } else {
        sumGeneral(list, list.general_chunks[block.first_general + i - pure], true);
      }
    }
  });
  double* const matrix = b_.matrix.data() + block.first_matrix;
  std::fill_n(matrix, n * n, 0.0);
  for (std::size_t l = 0; l < n; ++l) b_.volumes[first + l] = b_.still_volumes[first + l];
  for (std::size_t c = block.first_pure; c < block.first_pure + pure; ++c) {
    const std::size_t l = list.pure_chunks[c].region - first;
    b_.volumes[first + l] += b_.chunk_volumes[c];
    matrix[l * n + l] += b_.chunk_slopes[c];
  }
  for (std::size_t c = 0; c < block.general_count; ++c) {
    const double* const part =
        b_.parts.data() + list.general_chunks[block.first_general + c].first_part;
    for (std::size_t l = 0; l < n; ++l) b_.volumes[first + l] += part[l];
    for (std::size_t k = 0; k < n * n; ++k) matrix[k] += part[n + k];
  }
}

void SectionSums::sumStill() {
  const SectionTriangles& list = plan_.still;
  const std::size_t pure = list.pure_chunks.size();
  parallelFor(pure + list.general_chunks.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t c = begin; c < end; ++c)
      if (c < pure)
        b_.chunk_volumes[c] = sumPureStill(list.pure_chunks[c]);
      else
        sumGeneral(list, list.general_chunks[c - pure], false);
  });
  std::fill(b_.still_volumes.begin(), b_.still_volumes.end(), 0.0);
  for (std::size_t c = 0; c < pure; ++c)
    b_.still_volumes[list.pure_chunks[c].region] += b_.chunk_volumes[c];
  for (const SectionChunk& chunk : list.general_chunks) {
    const SectionBlock& block = plan_.blocks[chunk.block];
    for (std::size_t l = 0; l < block.region_count; ++l)
      b_.still_volumes[block.first_region + l] += b_.parts[chunk.first_part + l];
  }
  for (const SectionPlan::FeetTriangle& t : plan_.feet_triangles)
    b_.still_volumes[t.hub] +=
        frame_.feet[t.feet[0]].dot(frame_.feet[t.feet[1]].cross(frame_.feet[t.feet[2]])) / 6;
}

}  // namespace derm::detail
