#include "volume/section_gains.h"

#include <algorithm>
#include <array>
#include <utility>

#include "derm/base/parallel.h"

namespace derm::detail {
namespace {

/// Turning below this is rounding.
constexpr double kNoTurn = 1e-12;
/// Down a limb whose own joints stand still, skin helps by so much less from joint to joint: what
/// one arm needs is the trunk's business too, but not the other arm's.
constexpr float kIdleLimbHelps = 0.03f;
/// Skin far from everything that turns helps by so much still, where a region has no other.
constexpr float kMinNearness = 1e-3f;
/// Held skin gives way by so much still: where a region has no other, its volume comes first.
constexpr float kHeldGives = 0.02f;

/// 1 / n, from a table for the numbers of neighbours that meshes have; 0 for 0.
float reciprocal(std::uint8_t n) {
  static constexpr std::array<float, 17> kOf = {
      0,         1,         1.0f / 2,  1.0f / 3,  1.0f / 4,  1.0f / 5,
      1.0f / 6,  1.0f / 7,  1.0f / 8,  1.0f / 9,  1.0f / 10, 1.0f / 11,
      1.0f / 12, 1.0f / 13, 1.0f / 14, 1.0f / 15, 1.0f / 16};
  return n < kOf.size() ? kOf[n] : 1.0f / static_cast<float>(n);
}

/// Welded vertices at a time where each chunk keeps a number per region.
std::size_t gainChunk(std::size_t welded_count) {
  constexpr std::size_t kMaxChunks = 64;
  return std::max(kSectionChunk, (welded_count + kMaxChunks - 1) / kMaxChunks);
}

}  // namespace

std::size_t SectionGains::partCount(const SectionPlan& plan) {
  const std::size_t n = plan.active_count, chunk = gainChunk(n);
  return (n + chunk - 1) / chunk * plan.region_count;
}

/// One-ring areas of the active welded vertices, to field.
void SectionGains::sumAreas() {
  std::fill(b_.field.begin(), b_.field.end(), 0.0f);
  constexpr std::size_t kAreasAtOnce = 128;
  const auto add = [&](std::span<const Triangle> triangles) {
    std::array<float, kAreasAtOnce> areas;
    measureAreas(triangles, b_.rows.data(), areas);
    for (std::size_t i = 0; i < triangles.size(); ++i)
      for (const std::uint32_t r : triangles[i])
        if (plan_.moves(r)) b_.field[r] += areas[i];
  };
  const auto add_chunk = [&](const SectionAreaChunk& chunk) {
    std::array<Triangle, kAreasAtOnce> some;
    for (std::uint32_t first = chunk.begin; first < chunk.end; first += kAreasAtOnce) {
      const std::uint32_t last = std::min<std::uint32_t>(chunk.end, first + kAreasAtOnce);
      std::size_t n = 0;
      for (std::uint32_t t = first; t < last; ++t) {
        const Triangle& c = plan_.moving.corners(chunk.kind, t);
        const bool fan = *std::max_element(c.begin(), c.end()) >= plan_.welded_count;
        if (!fan) some[n++] = c;
      }
      add(std::span(some).first(n));
    }
  };
  for (std::size_t round = 0; round + 1 < plan_.area_rounds.size(); ++round) {
    const std::uint32_t first = plan_.area_rounds[round], last = plan_.area_rounds[round + 1];
    parallelFor(last - first, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t c = begin; c < end; ++c) add_chunk(plan_.area_chunks[first + c]);
    });
  }
}

/// b_i: where skin bends, less where it is squeezed; averaged.
void SectionGains::makeField() {
  sumAreas();
  const std::size_t n = plan_.active_count;
  const auto unscaled = static_cast<float>(1 / (frame_.scale * frame_.scale));
  parallelFor(n, kSectionChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t a = begin; a < end; ++a) {
      const float ratio = std::min(1.0f, b_.field[a] * plan_.rest_area_inverse[a] * unscaled);
      b_.field[a] = plan_.bending[a] * ratio * ratio;
    }
  });
  float *from = b_.field.data(), *to = b_.gains.data();
  static_assert(kFieldPasses % 2 == 0, "the last pass ends in field");
  for (int pass = 0; pass < kFieldPasses; ++pass) {
    if (plan_.far_neighbours.empty())
      averageField(plan_.near_neighbours.data(), from, to);
    else
      averageField(plan_.far_neighbours.data(), from, to);
    std::swap(from, to);
  }
}

template <class Difference>
void SectionGains::averageField(const Difference* neighbours, const float* from, float* to) {
  parallelFor(plan_.active_count, kSectionChunk, [&](std::size_t begin, std::size_t end) {
    const Difference* next = neighbours + plan_.chunk_neighbours[begin / kSectionChunk];
    for (std::size_t a = begin; a < end; ++a) {
      const SectionNeighbours count = plan_.neighbour_counts[a];
      const float* const here = from + a;
      float sum = 0;
      if (count.moving == 6) {  // most welded vertices of most meshes
        sum = ((here[next[0]] + here[next[1]]) + (here[next[2]] + here[next[3]])) +
              (here[next[4]] + here[next[5]]);
        next += 6;
      } else {
        for (const Difference* const last = next + count.moving; next != last; ++next)
          sum += here[*next];
      }
      to[a] = 0.5f * (from[a] + sum * reciprocal(count.all));
    }
  });
}

/// How much the joints turn, and how near to the most turned of a piece each of them is.
void SectionGains::sumActivities() {
  std::fill(b_.activities.begin(), b_.activities.end(), 0.0);
  for (const SectionPlan::ActivitySource& s : plan_.activity_sources)
    b_.activities[s.activity] = std::max(b_.activities[s.activity], frame_.activities[s.joint]);
  for (const SectionRange& piece : plan_.activities_of_piece) {
    double max = 0;
    for (std::uint32_t k = piece.begin; k < piece.end; ++k) max = std::max(max, b_.activities[k]);
    for (std::uint32_t k = piece.begin; k < piece.end; ++k)
      b_.nearness[k] = max > kNoTurn ? static_cast<float>(b_.activities[k] / max) : 1.0f;
    // Those above come first: all the way up, then all the way down. What has nothing above it
    // hangs on the trunk, which may have no skin of its own.
    float trunk = 0;
    const auto above = [&](std::uint32_t k) -> float& {
      return plan_.activity_above[k] == kNoActivity ? trunk : b_.nearness[plan_.activity_above[k]];
    };
    for (std::uint32_t k = piece.end; k-- > piece.begin;)
      above(k) = std::max(above(k), b_.nearness[k]);
    for (std::uint32_t k = piece.begin; k < piece.end; ++k)
      b_.nearness[k] = std::max(
          {b_.nearness[k], kMinNearness, (plan_.of_trunk[k] ? 1.0f : kIdleLimbHelps) * above(k)});
  }
}

/// g per welded vertex, for the time being in gains, and the most of phi g in each region.
void SectionGains::findLargest() {
  const std::size_t n = plan_.active_count;
  const std::size_t regions = plan_.region_count, chunk = gainChunk(n);
  std::fill(b_.gain_parts.begin(), b_.gain_parts.end(), 0.0f);
  parallelFor(n, chunk, [&](std::size_t begin, std::size_t end) {
    float* const max = b_.gain_parts.data() + begin / chunk * regions;
    for (std::size_t a = begin; a < end; ++a) {
      double g = 0;
      const SectionShares::Row concerns = plan_.concerns[a], members = plan_.members[a];
      for (std::uint32_t k = 0; k < concerns.count; ++k)
        g += double{concerns.shares[k]} * b_.activities[concerns.columns[k]];
      b_.gains[a] = static_cast<float>(g);
      for (std::uint32_t k = 0; k < members.count; ++k) {
        float& here = max[members.columns[k]];
        here = std::max(here, members.shares[k] * b_.gains[a]);
      }
    }
  });
  std::fill(b_.largest_gain.begin(), b_.largest_gain.end(), 0.0f);
  for (std::size_t i = 0; i < b_.gain_parts.size(); ++i)
    b_.largest_gain[i % regions] = std::max(b_.largest_gain[i % regions], b_.gain_parts[i]);
}

/// What of each active welded vertex is free to move.
void SectionGains::takeHeld() {
  for (std::size_t p = 0; p < frame_.held.size(); ++p) {
    const std::uint32_t row = plan_.row_of_point[p];
    if (plan_.moves(row))
      b_.free[row] = 1 - (1 - kHeldGives) * std::clamp(frame_.held[p], 0.0f, 1.0f);
  }
}

void SectionGains::make() {
  makeField();
  takeHeld();
  sumActivities();
  findLargest();
  parallelFor(plan_.active_count, kSectionChunk, [&](std::size_t begin, std::size_t end) {
    const auto epsilon = static_cast<float>(b_.desc.epsilon);
    for (std::size_t a = begin; a < end; ++a) {
      const SectionShares::Row members = plan_.members[a];
      const SectionShares::Row concerns = plan_.concerns[a];
      float h = 0;
      for (std::uint32_t k = 0; k < concerns.count; ++k)
        h += concerns.shares[k] * b_.nearness[concerns.columns[k]];
      const float g = b_.gains[a];
      for (std::uint32_t k = 0; k < members.count; ++k) {
        const float max = b_.largest_gain[members.columns[k]];
        const float near = max > static_cast<float>(kNoTurn) ? g / max : 0.0f;
        float mask = plan_.mask.empty() ? 1.0f : plan_.mask[a];
        if (!frame_.held.empty()) mask *= b_.free[a];
        b_.gains[members.first + k] =
            mask * b_.field[a] * members.shares[k] * (near + epsilon * h * h);
      }
      b_.rows[a].h = members.count == 1 ? double{b_.gains[members.first]} : 1.0;
    }
  });
}

}  // namespace derm::detail
