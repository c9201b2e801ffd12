#include "deform/section_sums.h"

#include <algorithm>

#include "derm/base/parallel.h"

namespace derm::detail {
namespace {

struct Point {
  double x, y, z;
};

Point position(const SectionCorner& c) {
  return {c.x[0] + c.s * double{c.d[0]}, c.x[1] + c.s * double{c.d[1]},
          c.x[2] + c.s * double{c.d[2]}};
}

Point cross(const Point& a, const Point& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

double dot(const Point& a, const Point& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

double along(const Point& a, const SectionCorner& c) {
  return double{c.h} * (a.x * double{c.d[0]} + a.y * double{c.d[1]} + a.z * double{c.d[2]});
}

}  // namespace

void SectionSums::sumPure(const SectionChunk& chunk, double& volume, double& slope) const {
  double v = 0, k = 0;
  for (std::uint32_t t = chunk.begin; t < chunk.end; ++t) {
    const Triangle& corners = plan_.pure[t];
    const SectionCorner &a = b_.corners[corners[0]], &b = b_.corners[corners[1]],
                        &c = b_.corners[corners[2]];
    const Point pa = position(a), pb = position(b), pc = position(c);
    const Point across_a = cross(pb, pc);
    v += dot(pa, across_a);
    k += along(across_a, a) + along(cross(pc, pa), b) + along(cross(pa, pb), c);
  }
  volume = v / 6;
  slope = k / 6;
}

template <class Body>
void SectionSums::eachMove(std::uint32_t point, const Body& body) const {
  if (point >= plan_.place_count) {
    const std::uint32_t i = plan_.apex_of_point[point - plan_.place_count];
    if (i == kStandsStill) return;
    const SectionApex& apex = plan_.apexes[i];
    for (std::uint32_t e = apex.first_entry; e < apex.first_entry + apex.entry_count; ++e)
      body(plan_.apex_regions[e], b_.apex_moves[e]);
    return;
  }
  const std::uint32_t a = plan_.active_of_point[point];
  if (a == kStandsStill) return;
  const SectionCorner& c = b_.corners[point];
  const Vec3d move(double{c.h} * double{c.d[0]}, double{c.h} * double{c.d[1]},
                   double{c.h} * double{c.d[2]});
  const SectionShares::Row members = plan_.members[a];
  for (std::uint32_t k = 0; k < members.count; ++k)
    body(members.columns[k],
         members.count == 1 ? move : Vec3d(double{b_.gains[members.first + k]} * move));
}

void SectionSums::sumGeneral(const SectionBlock& block, const SectionChunk& chunk) {
  const std::size_t n = block.region_count, first = block.first_region;
  double* const volumes = b_.parts.data() + chunk.first_part;
  double* const matrix = volumes + n;
  std::fill_n(volumes, n * (n + 1), 0.0);
  const auto add = [&](std::uint32_t from, std::uint32_t count, double v) {
    for (std::uint32_t k = from; k < from + count; ++k)
      volumes[plan_.shares[k].region - first] += plan_.shares[k].share * v;
  };
  const auto add_slope = [&](std::uint32_t from, std::uint32_t count, std::uint32_t point,
                             const Vec3d& gradient) {
    eachMove(point, [&](std::uint32_t region, const Vec3d& move) {
      const double slope = gradient.dot(move);
      for (std::uint32_t k = from; k < from + count; ++k)
        matrix[(plan_.shares[k].region - first) * n + (region - first)] +=
            plan_.shares[k].share * slope;
    });
  };
  for (std::uint32_t i = chunk.begin; i < chunk.end; ++i) {
    if (chunk.walls) {
      const auto& [w, foot_a, foot_b] = plan_.walls[i];
      const Vec3d a = at(w.a), b = at(w.b);
      const Vec3d &fa = frame_.feet[foot_a], &fb = frame_.feet[foot_b];
      add(w.first_share, w.share_count, prismWall(a, b, fa, fb));
      const WallGradient g = prismWallGradient(a, b, fa, fb);
      add_slope(w.first_share, w.share_count, w.a, g.to_a);
      add_slope(w.first_share, w.share_count, w.b, g.to_b);
    } else {
      const RegionVolumes::SharedTriangle& t = plan_.general_triangles[i];
      const Vec3d a = at(t.corners[0]), b = at(t.corners[1]), c = at(t.corners[2]);
      const Vec3d across = b.cross(c);
      add(t.first_share, t.share_count, a.dot(across) / 6);
      add_slope(t.first_share, t.share_count, t.corners[0], across / 6);
      add_slope(t.first_share, t.share_count, t.corners[1], Vec3d(c.cross(a)) / 6);
      add_slope(t.first_share, t.share_count, t.corners[2], Vec3d(a.cross(b)) / 6);
    }
  }
}

void SectionSums::sumBlock(const SectionBlock& block) {
  const std::size_t n = block.region_count, first = block.first_region;
  const std::size_t pure = block.pure_count;
  parallelFor(pure + block.general_count, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (i < pure) {
        const std::size_t c = block.first_pure + i;
        sumPure(plan_.pure_chunks[c], b_.chunk_volumes[c], b_.chunk_slopes[c]);
      } else {
        sumGeneral(block, plan_.general_chunks[block.first_general + i - pure]);
      }
    }
  });
  double* const matrix = b_.matrix.data() + block.first_matrix;
  std::fill_n(matrix, n * n, 0.0);
  for (std::size_t l = 0; l < n; ++l) b_.volumes[first + l] = b_.still_volumes[first + l];
  for (std::size_t c = block.first_pure; c < block.first_pure + pure; ++c) {
    const std::size_t l = plan_.pure_chunks[c].region - first;
    b_.volumes[first + l] += b_.chunk_volumes[c];
    matrix[l * n + l] += b_.chunk_slopes[c];
  }
  for (std::size_t c = 0; c < block.general_count; ++c) {
    const double* const part =
        b_.parts.data() + plan_.general_chunks[block.first_general + c].first_part;
    for (std::size_t l = 0; l < n; ++l) b_.volumes[first + l] += part[l];
    for (std::size_t k = 0; k < n * n; ++k) matrix[k] += part[n + k];
  }
}

void SectionSums::sumStill() {
  parallelFor(plan_.still_chunks.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t c = begin; c < end; ++c) {
      double sum = 0;
      for (std::uint32_t t = plan_.still_chunks[c].begin; t < plan_.still_chunks[c].end; ++t) {
        const Triangle& corners = plan_.still[t];
        sum += dot(position(b_.corners[corners[0]]),
                   cross(position(b_.corners[corners[1]]), position(b_.corners[corners[2]])));
      }
      b_.chunk_volumes[c] = sum / 6;
    }
  });
  std::fill(b_.still_volumes.begin(), b_.still_volumes.end(), 0.0);
  for (std::size_t c = 0; c < plan_.still_chunks.size(); ++c)
    b_.still_volumes[plan_.still_chunks[c].region] += b_.chunk_volumes[c];
  const auto add = [&](std::uint32_t from, std::uint32_t count, double v) {
    for (std::uint32_t k = from; k < from + count; ++k)
      b_.still_volumes[plan_.shares[k].region] += plan_.shares[k].share * v;
  };
  for (const RegionVolumes::SharedTriangle& t : plan_.still_triangles)
    add(t.first_share, t.share_count,
        at(t.corners[0]).dot(at(t.corners[1]).cross(at(t.corners[2]))) / 6);
  for (const auto& [w, foot_a, foot_b] : plan_.still_walls)
    add(w.first_share, w.share_count,
        prismWall(at(w.a), at(w.b), frame_.feet[foot_a], frame_.feet[foot_b]));
  for (const RegionVolumes::FeetTriangle& t : plan_.feet_triangles) {
    const Vec3d across = frame_.feet[t.feet[1]].cross(frame_.feet[t.feet[2]]);
    const double v = frame_.feet[t.feet[0]].dot(across) / 6;
    b_.still_volumes[t.hub] += v;
    add(t.first_share, t.share_count, -v);
  }
}

}  // namespace derm::detail
