#include "volume/section_sums.h"

#include <algorithm>
#include <array>

#include "derm/base/parallel.h"

#include "volume/prism.h"

namespace derm::detail {
namespace {

constexpr double kThird = 1.0 / 3;

/// Shared triangles measured at a time.
constexpr std::size_t kTetrahedraAtOnce = 64;
constexpr std::size_t kAnySize = 0;

std::span<const Triangle> pureOf(const SectionTriangles& list, std::size_t chunk) {
  const SectionChunk& c = list.pure_chunks[chunk];
  return std::span(list.pure).subspan(c.begin, c.end - c.begin);
}

}  // namespace

/// What triangles give to the regions of a set: shares of their volumes, and how these change with
/// the regions' multipliers. kSize is the set's size, or 0 for any.
template <std::size_t kSize>
class SectionSums::Spread {
 public:
  Spread(const SectionPlan& plan, SectionBuffers& buffers, const SectionChunk& chunk)
      : plan_(plan),
        b_(buffers),
        set_(plan.sets.data() + chunk.first_of_set),
        set_size_(chunk.set_size),
        part_(buffers.parts.data() + chunk.first_part) {
    std::fill_n(volumes(), size() * (size() + 1), 0.0);
  }

  /// Begins a triangle.
  void clear() { std::fill_n(shares(), 2 * size(), 0.0); }
  /// A corner's shares; `slope` is the volume's along the way the corner moves.
  void add(std::uint32_t corner, double slope) {
    const SectionShares::Row row = plan_.members[corner];
    const float* const gains = b_.gains.data() + row.first;
    if (row.count == size() && size() > 1) {  // most corners belong to all regions of the set
      for (std::size_t l = 0; l < size(); ++l) {
        shares()[l] += kThird * double{row.shares[l]};
        slopes()[l] += slope * double{gains[l]};
      }
      return;
    }
    for (std::size_t l = 0; l < size(); ++l)
      for (std::uint32_t k = 0; k < row.count; ++k) {
        if (row.columns[k] != set_[l]) continue;
        shares()[l] += kThird * double{row.shares[k]};
        slopes()[l] += row.count == 1 ? slope : slope * double{gains[k]};
      }
  }

  void addVolumes(double volume) {
    for (std::size_t l = 0; l < size(); ++l) volumes()[l] += shares()[l] * volume;
  }
  void addMatrix() {
    for (std::size_t l = 0; l < size(); ++l)
      for (std::size_t k = 0; k < size(); ++k)
        matrix()[l * size() + k] += shares()[l] * slopes()[k];
  }
  /// The slope of one more multiplier, of whatever region of the set.
  void addColumn(std::uint32_t region, double slope) {
    const auto k = static_cast<std::size_t>(std::find(set_, set_ + size(), region) - set_);
    for (std::size_t l = 0; l < size(); ++l) matrix()[l * size() + k] += shares()[l] * slope;
  }
  /// Hands over to the chunk's part: volumes, then the matrix.
  void finish() const {
    if (kSize != 0) std::copy_n(few_.begin(), kSize * (kSize + 1), part_);
  }

 private:
  std::size_t size() const { return kSize != 0 ? kSize : set_size_; }
  double* volumes() { return kSize != 0 ? few_.data() : part_; }
  double* matrix() { return volumes() + size(); }
  double* shares() { return volumes() + size() * (size() + 1); }
  double* slopes() { return volumes() + size() * (size() + 2); }

  const SectionPlan& plan_;
  const SectionBuffers& b_;
  const std::uint32_t* set_;
  std::size_t set_size_;
  double* part_;
  std::array<double, kSize*(kSize + 3)> few_;  ///< where registers can hold it
};

template <std::size_t kSize>
void SectionSums::sumShared(std::span<const SectionShared> triangles, const SectionChunk& chunk) {
  Spread<kSize> spread(plan_, b_, chunk);
  std::array<SectionTetrahedron, kTetrahedraAtOnce> measured;
  for (std::size_t begin = 0; begin < triangles.size(); begin += kTetrahedraAtOnce) {
    const auto some =
        triangles.subspan(begin, std::min(kTetrahedraAtOnce, triangles.size() - begin));
    measureTetrahedra(some, b_.points(), frame_.anchors, measured);
    for (std::size_t i = 0; i < some.size(); ++i) {
      spread.clear();
      for (std::size_t k = 0; k < 3; ++k) spread.add(some[i].corners[k], measured[i].slopes[k]);
      spread.addVolumes(measured[i].volume);
      spread.addMatrix();
    }
  }
  spread.finish();
}

void SectionSums::sumMixed(std::span<const SectionMixed> triangles, const SectionChunk& chunk) {
  Spread<kAnySize> spread(plan_, b_, chunk);
  for (const SectionMixed& t : triangles) {
    std::array<Vec3d, 3> x, anchors;
    for (std::size_t k = 0; k < 3; ++k) {
      x[k] = b_.positionOf(t.corners[k]);
      anchors[k] = frame_.anchors[t.anchors[k]];
    }
    const Prism prism(x, anchors);
    spread.clear();
    // A fan's middle does not move along a way of its own: its h is zero.
    for (std::size_t k = 0; k < 3; ++k)
      spread.add(t.corners[k],
                 b_.rows[t.corners[k]].h * prism.gradient[k].dot(b_.wayOf(t.corners[k])));
    spread.addVolumes(prism.volume);
    spread.addMatrix();
    for (std::size_t k = 0; k < 3; ++k) {
      if (t.corners[k] < plan_.welded_count) continue;
      const std::uint32_t at = plan_.apex_of_row[t.corners[k] - plan_.welded_count];
      if (at == kStandsStill) continue;
      const SectionApex& fan = plan_.apexes[at];
      for (std::uint32_t e = fan.first_entry; e < fan.first_entry + fan.entry_count; ++e)
        spread.addColumn(plan_.apex_regions[e], prism.gradient[k].dot(b_.apex_moves[e]));
    }
  }
  spread.finish();
}

void SectionSums::sumGeneral(const SectionTriangles& list, const SectionChunk& chunk) {
  const std::size_t count = chunk.end - chunk.begin;
  if (chunk.kind == SectionKind::Mixed) {
    sumMixed(std::span(list.mixed).subspan(chunk.begin, count), chunk);
    return;
  }
  const auto shared = std::span(list.shared).subspan(chunk.begin, count);
  if (chunk.set_size == 2)
    sumShared<2>(shared, chunk);
  else if (chunk.set_size == 3)
    sumShared<3>(shared, chunk);
  else
    sumShared<kAnySize>(shared, chunk);
}

void SectionSums::sumBlock(const SectionBlock& block) {
  const std::size_t n = block.region_count, first = block.first_region;
  const std::size_t pure = block.pure_count;
  const SectionTriangles& list = plan_.moving;
  parallelFor(pure + block.general_count, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (i < pure) {
        const std::size_t c = block.first_pure + i;
        const SectionSum sum =
            sumTetrahedra(pureOf(list, c), b_.points(), frame_.anchors[list.pure_chunks[c].anchor]);
        b_.chunk_volumes[c] = sum.volume;
        b_.chunk_slopes[c] = sum.slope;
      } else {
        sumGeneral(list, list.general_chunks[block.first_general + i - pure]);
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
    const SectionChunk& chunk = list.general_chunks[block.first_general + c];
    const double* part = b_.parts.data() + chunk.first_part;
    const auto set = std::span(plan_.sets).subspan(chunk.first_of_set, chunk.set_size);
    for (const std::uint32_t l : set) b_.volumes[l] += *part++;
    for (const std::uint32_t l : set)
      for (const std::uint32_t k : set) matrix[(l - first) * n + (k - first)] += *part++;
  }
}

void SectionSums::sumStill() {
  const SectionTriangles& list = plan_.still;
  const std::size_t pure = list.pure_chunks.size();
  parallelFor(pure + list.general_chunks.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t c = begin; c < end; ++c)
      if (c < pure)
        b_.chunk_volumes[c] =
            sumVolumes(pureOf(list, c), b_.points(), frame_.anchors[list.pure_chunks[c].anchor]);
      else
        sumGeneral(list, list.general_chunks[c - pure]);
  });
  std::fill(b_.still_volumes.begin(), b_.still_volumes.end(), 0.0);
  for (std::size_t c = 0; c < pure; ++c)
    b_.still_volumes[list.pure_chunks[c].region] += b_.chunk_volumes[c];
  for (const SectionChunk& chunk : list.general_chunks) {
    for (std::size_t l = 0; l < chunk.set_size; ++l)
      b_.still_volumes[plan_.sets[chunk.first_of_set + l]] += b_.parts[chunk.first_part + l];
  }
  for (const SectionPlan::AnchorTriangle& t : plan_.anchor_triangles)
    b_.still_volumes[t.hub] += frame_.anchors[t.anchors[0]].dot(frame_.anchors[t.anchors[1]].cross(
                                   frame_.anchors[t.anchors[2]])) /
                               6;
}

}  // namespace derm::detail
