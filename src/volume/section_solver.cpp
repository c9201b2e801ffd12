#include "volume/section_solver.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "derm/base/parallel.h"

#include "volume/section_gains.h"
#include "volume/section_sums.h"

namespace derm::detail {
namespace {

constexpr std::size_t kPointChunk = 4096;
constexpr int kMaxNewtonSteps = 30;
constexpr int kMaxHalvings = 4;  ///< down to 1/16
/// Radii change by less than half, or the step is refused.
constexpr double kMaxChange = 0.5;

/// Welded vertices at a time whose numbers stay in the nearest cache.
constexpr std::size_t kRowsAtOnce = 256;

/// One frame's work: fills the rows, then solves block by block.
class Solver {
 public:
  Solver(const SectionPlan& plan, const SectionBinding::Frame& frame, SectionBuffers& buffers)
      : plan_(plan), frame_(frame), b_(buffers), sums_(plan, frame, buffers) {}

  /// From points per point, or from vertices.
  void fillRows();
  void fillRows(const SectionBinding::Vertices& vertices);
  SectionReport solve(std::span<RegionOutcome> outcomes) {
    SectionGains(plan_, frame_, b_).make();
    sums_.sumStill();
    SectionReport report;
    for (const SectionBlock& block : plan_.blocks)
      if (block.active_count > 0)
        solveBlock(block, outcomes, report);
      else
        leave(block, outcomes);
    findLargestMove(report);
    return report;
  }
  void write(std::span<Vec3d> displacement) const;

 private:
  void setRow(std::size_t row, const Vec3d& x, const Vec3d& centre);
  void findLargestMove(SectionReport& report);
  void solveBlock(const SectionBlock& block, std::span<RegionOutcome> outcomes,
                  SectionReport& report);
  /// A block that cannot move is not measured either.
  void leave(const SectionBlock& block, std::span<RegionOutcome> outcomes) {
    for (std::size_t l = block.first_region; l < block.first_region + block.region_count; ++l) {
      b_.volumes[l] = frame_.targets[l];
      outcomes[l] = {.before_m3 = frame_.targets[l], .target_m3 = frame_.targets[l], .idle = true};
    }
  }
  /// Moves all points of the block for some multipliers; gives the largest change of radius.
  double move(const SectionBlock& block, std::span<const double> lambda);
  double moveBatch(std::span<const double> lambda, std::size_t begin, std::size_t end);
  void moveApexes(const SectionBlock& block);
  /// Sets targets, and which regions take part at all.
  void beginOutcomes(const SectionBlock& block, std::span<RegionOutcome> outcomes);
  void setResidual(const SectionBlock& block, std::span<const RegionOutcome> outcomes);
  double largestError(const SectionBlock& block, std::span<const RegionOutcome> outcomes) const;
  double errorNorm(const SectionBlock& block, std::span<const RegionOutcome> outcomes) const;
  bool newtonStep(const SectionBlock& block, std::span<const RegionOutcome> outcomes);
  void lengthenFirstStep(const SectionBlock& block);

  const SectionPlan& plan_;
  const SectionBinding::Frame& frame_;
  SectionBuffers& b_;
  SectionSums sums_;
};

void Solver::setRow(std::size_t row, const Vec3d& x, const Vec3d& centre) {
  const bool moves = plan_.moves(static_cast<std::uint32_t>(row));
  const Vec3f way = moves ? Vec3f((x - centre).cast<float>()) : Vec3f(Vec3f::Zero());
  float* const w = b_.ways.data() + 3 * row;
  w[0] = way.z();
  w[1] = way.x();
  w[2] = way.y();
  b_.rows[row] = {{x.x(), x.y(), x.z()}, 0};
  if (moves) b_.shares[row] = 0;
}

void Solver::fillRows() {
  parallelFor(plan_.point_count, kPointChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p)
      setRow(plan_.row_of_point[p], frame_.points[p], frame_.centres[p]);
  });
}

void Solver::fillRows(const SectionBinding::Vertices& vertices) {
  const MeasuredSurface& surface = *vertices.surface;
  const auto mean = [&](std::span<const Vec3f> values, std::span<const std::uint32_t> members) {
    Vec3d sum = values[members[0]].cast<double>();
    for (const std::uint32_t v : members.subspan(1)) sum += values[v].cast<double>();
    if (members.size() > 1) sum /= static_cast<double>(members.size());
    return Vec3d(sum - vertices.origin);
  };
  parallelFor(plan_.welded_count, kPointChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      const std::span<const std::uint32_t> members = surface.vertices_of_welded[p];
      setRow(plan_.row_of_point[p], mean(vertices.positions, members),
             mean(vertices.centres, members));
    }
  });
  for (std::size_t apex = 0; apex < surface.apexCount(); ++apex) {
    Vec3d sum = Vec3d::Zero();
    for (const std::uint32_t p : surface.borders[apex]) sum += b_.positionOf(plan_.row_of_point[p]);
    sum /= static_cast<double>(surface.borders[apex].size());
    setRow(plan_.row_of_point[plan_.welded_count + apex], sum, sum);
  }
}

double Solver::moveBatch(std::span<const double> lambda, std::size_t begin, std::size_t end) {
  // What welded vertices need, and the gain that goes with each one's own h. A welded vertex of
  // several regions moves differently with each: its gains are multiplied in later.
  std::array<double, kRowsAtOnce> eta, gain, s, h;
  for (std::size_t a = begin; a < end; ++a) {
    const SectionShares::Row members = plan_.members[a];
    const float* const gains = b_.gains.data() + members.first;
    double sum = lambda[members.columns[0]] * double{gains[0]};
    for (std::uint32_t k = 1; k < members.count; ++k)
      sum += lambda[members.columns[k]] * double{gains[k]};
    eta[a - begin] = sum;
    gain[a - begin] = members.count == 1 ? double{gains[0]} : 1.0;
  }
  const std::size_t n = end - begin, whole = (n + 7) / 8 * 8;
  std::fill(eta.begin() + n, eta.begin() + whole, 0.0);
  if (const double bound = b_.desc.bound; bound > 0) {
    for (std::size_t i = 0; i < n; ++i) {
      s[i] = bound * std::tanh(eta[i] / bound);
      h[i] = 1 - (s[i] / bound) * (s[i] / bound);
    }
  } else {
    spreadNeeds(b_.desc.sigma, std::span(eta).first(whole), std::span(s).first(whole),
                std::span(h).first(whole));
  }
  double max = 0;
  for (std::size_t i = 0; i < n; ++i) {
    h[i] *= gain[i];
    max = std::max(max, std::abs(s[i]));
  }
  moveRows(b_.points(), begin, std::span(s).first(n), std::span(h).first(n),
           b_.shares.data() + begin);
  return max;
}

void Solver::moveApexes(const SectionBlock& block) {
  for (std::size_t i = block.first_apex; i < block.first_apex + block.apex_count; ++i) {
    const SectionApex& apex = plan_.apexes[i];
    const auto border = std::span(plan_.apex_borders).subspan(apex.first_border, apex.border_count);
    const auto regions = std::span(plan_.apex_regions).subspan(apex.first_entry, apex.entry_count);
    const auto moves = std::span(b_.apex_moves).subspan(apex.first_entry, apex.entry_count);
    const double part = 1.0 / static_cast<double>(apex.border_count);
    std::fill(moves.begin(), moves.end(), Vec3d::Zero());
    Vec3d mean = Vec3d::Zero();
    for (const std::uint32_t r : border) {
      mean += part * b_.positionOf(r);
      if (!plan_.moves(r)) continue;
      const SectionShares::Row members = plan_.members[r];
      for (std::uint32_t k = 0; k < members.count; ++k) {
        const auto at = std::find(regions.begin(), regions.end(), members.columns[k]);
        const double gain = members.count == 1 ? 1.0 : double{b_.gains[members.first + k]};
        moves[static_cast<std::size_t>(at - regions.begin())] +=
            part * gain * b_.rows[r].h * b_.wayOf(r);
      }
    }
    for (int k = 0; k < 3; ++k) b_.rows[apex.row].x[k] = mean[k];
  }
}

double Solver::move(const SectionBlock& block, std::span<const double> lambda) {
  const std::size_t n = block.active_count;
  parallelFor(n, kSectionChunk, [&](std::size_t begin, std::size_t end) {
    double max = 0;
    for (std::size_t at = begin; at < end; at += kRowsAtOnce)
      max = std::max(max, moveBatch(lambda, block.first_active + at,
                                    block.first_active + std::min(end, at + kRowsAtOnce)));
    b_.part_maxima[begin / kSectionChunk] = max;
  });
  double max = 0;
  for (std::size_t c = 0; c * kSectionChunk < n; ++c) max = std::max(max, b_.part_maxima[c]);
  moveApexes(block);
  return max;
}

void Solver::beginOutcomes(const SectionBlock& block, std::span<RegionOutcome> outcomes) {
  double size = 0;
  for (std::uint32_t l = 0; l < block.region_count; ++l)
    size += std::abs(frame_.targets[block.first_region + l]);
  for (std::uint32_t l = 0; l < block.region_count; ++l) {
    const std::size_t r = block.first_region + l;
    RegionOutcome& outcome = outcomes[r];
    const double wanted = frame_.targets[r], now = b_.volumes[r];
    const double max = b_.desc.max_change * std::abs(wanted);
    outcome = {.before_m3 = now, .target_m3 = std::clamp(wanted, now - max, now + max)};
    outcome.clamped = outcome.target_m3 != wanted;
    // What a multiplier does to its own region, against the region's size.
    const double own = b_.matrix[block.first_matrix + l * block.region_count + l];
    outcome.idle = !(std::abs(wanted) > 1e-9 * size) || !(std::abs(own) > 1e-9 * std::abs(wanted));
  }
}

void Solver::setResidual(const SectionBlock& block, std::span<const RegionOutcome> outcomes) {
  for (std::size_t l = block.first_region; l < block.first_region + block.region_count; ++l)
    b_.residual[l] = outcomes[l].idle ? 0 : outcomes[l].target_m3 - b_.volumes[l];
}

double Solver::largestError(const SectionBlock& block,
                            std::span<const RegionOutcome> outcomes) const {
  double max = 0;
  for (std::size_t l = block.first_region; l < block.first_region + block.region_count; ++l)
    if (!outcomes[l].idle) max = std::max(max, std::abs(b_.residual[l] / frame_.targets[l]));
  return max;
}

double Solver::errorNorm(const SectionBlock& block, std::span<const RegionOutcome> outcomes) const {
  double sum = 0;
  for (std::size_t l = block.first_region; l < block.first_region + block.region_count; ++l) {
    const double e = outcomes[l].idle ? 0 : b_.residual[l] / frame_.targets[l];
    sum += e * e;
  }
  return std::sqrt(sum);
}

/// Solves K step = residual by elimination with row pivoting, rows scaled by their diagonal. False
/// where the matrix is singular or not finite.
bool Solver::newtonStep(const SectionBlock& block, std::span<const RegionOutcome> outcomes) {
  const std::size_t n = block.region_count;
  double* const m = b_.work.data();
  double* const x = b_.step.data() + block.first_region;
  for (std::size_t r = 0; r < n; ++r) {
    const bool idle = outcomes[block.first_region + r].idle;
    const double* const row = b_.matrix.data() + block.first_matrix + r * n;
    for (std::size_t c = 0; c < n; ++c) {
      const bool out = idle || outcomes[block.first_region + c].idle;
      m[r * n + c] = out ? (r == c ? 1.0 : 0.0) : row[c] / row[r];
    }
    x[r] = idle ? 0 : b_.residual[block.first_region + r] / row[r];
  }
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t r = k + 1; r < n; ++r)
      if (std::abs(m[r * n + k]) > std::abs(m[pivot * n + k])) pivot = r;
    if (!(std::abs(m[pivot * n + k]) > 1e-9)) return false;
    if (pivot != k) {
      std::swap_ranges(m + k * n, m + (k + 1) * n, m + pivot * n);
      std::swap(x[k], x[pivot]);
    }
    for (std::size_t r = k + 1; r < n; ++r) {
      const double factor = m[r * n + k] / m[k * n + k];
      if (factor == 0) continue;
      for (std::size_t c = k + 1; c < n; ++c) m[r * n + c] -= factor * m[k * n + c];
      x[r] -= factor * x[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t c = k + 1; c < n; ++c) x[k] -= m[k * n + c] * x[c];
    x[k] /= m[k * n + k];
    if (!std::isfinite(x[k])) return false;
  }
  return true;
}

/// The first step from zero does not know that asinh takes away from it what is large, and comes
/// short by a fifth at 5 %. A sample of a region's welded vertices tells how much: with all their
/// slopes alike, and areas growing as (1 + s)^2, the volume goes with the sum of s + s^2 / 2, and
/// the step is made longer until that sum is what it wants. Saves a pass over everything.
void Solver::lengthenFirstStep(const SectionBlock& block) {
  if (b_.desc.bound > 0 || !b_.desc.exact) return;
  std::array<double, kRowsAtOnce> wanted, shares, eta, s, slopes;
  // Longer steps are kept aside: a welded vertex's need is of steps as they were.
  const auto longer = std::span(b_.trial).subspan(block.first_region, block.region_count);
  for (std::uint32_t l = 0; l < block.region_count; ++l) {
    const std::uint32_t region = block.first_region + l;
    const SectionRange& rows = plan_.rows_of_region[region];
    const std::size_t stride = (rows.end - rows.begin) / kRowsAtOnce + 1;
    std::size_t n = 0;
    double sum_wanted = 0;
    for (std::size_t a = rows.begin; a < rows.end; a += stride) {
      const SectionShares::Row members = plan_.members[a];
      double need = 0, own = 0, all = 0;
      for (std::uint32_t k = 0; k < members.count; ++k) {
        const double part = b_.step[members.columns[k]] * double{b_.gains[members.first + k]};
        need += part;
        all += std::abs(part);
        if (members.columns[k] == region) own = std::abs(part);
      }
      if (!(own > 0)) continue;
      wanted[n] = need;
      shares[n] = own / all;
      sum_wanted += shares[n] * wanted[n];
      ++n;
    }
    const std::size_t whole = (n + 7) / 8 * 8;
    std::fill(wanted.begin() + n, wanted.begin() + whole, 0.0);
    double factor = 1;
    for (int k = 0; k < 4; ++k) {
      for (std::size_t i = 0; i < whole; ++i) eta[i] = factor * wanted[i];
      spreadNeeds(b_.desc.sigma, std::span(eta).first(whole), std::span(s).first(whole),
                  std::span(slopes).first(whole));
      double sum = 0, slope = 0;
      for (std::size_t i = 0; i < n; ++i) {
        sum += shares[i] * (s[i] + 0.5 * s[i] * s[i]);
        slope += shares[i] * (1 + s[i]) * slopes[i] * wanted[i];
      }
      const double next = factor + (sum_wanted - sum) / slope;
      if (!(slope * sum_wanted > 0) || !(next > 0.25 && next < 4)) break;  // no guess
      factor = next;
    }
    longer[l] = factor * b_.step[region];
  }
  std::copy(longer.begin(), longer.end(), b_.step.begin() + block.first_region);
}

void Solver::solveBlock(const SectionBlock& block, std::span<RegionOutcome> outcomes,
                        SectionReport& report) {
  const auto of_block = [&](std::vector<double>& values) {
    return std::span(values).subspan(block.first_region, block.region_count);
  };
  const auto keep_best = [&] {
    std::copy_n(of_block(b_.lambda).begin(), block.region_count, of_block(b_.best).begin());
  };
  std::fill_n(of_block(b_.lambda).begin(), block.region_count, 0.0);
  keep_best();
  double change = 0, best_change = 0;
  moveApexes(block);
  sums_.sumBlock(block);
  beginOutcomes(block, outcomes);
  setResidual(block, outcomes);
  double error = largestError(block, outcomes), best = error;
  if (!std::isfinite(error)) error = best = 0;
  int steps = 0;
  bool failed = false;
  const int max_steps = b_.desc.exact ? kMaxNewtonSteps : 1;
  while (best > b_.desc.negligible && error > b_.desc.tolerance && steps < max_steps) {
    if (!newtonStep(block, outcomes)) {
      failed = true;
      break;
    }
    if (steps == 0) lengthenFirstStep(block);
    ++steps;
    const double norm = errorNorm(block, outcomes);
    double share = 1;
    for (int halving = 0;; ++halving, share /= 2) {
      for (std::size_t l = block.first_region; l < block.first_region + block.region_count; ++l)
        b_.trial[l] = b_.lambda[l] + share * b_.step[l];
      change = move(block, b_.trial);
      sums_.sumBlock(block);
      setResidual(block, outcomes);
      const double now = errorNorm(block, outcomes);
      if (change <= kMaxChange && now <= (1 - 0.1 * share) * norm) break;
      if (halving == kMaxHalvings) {
        failed = true;
        break;
      }
    }
    if (failed) break;
    std::copy_n(of_block(b_.trial).begin(), block.region_count, of_block(b_.lambda).begin());
    error = largestError(block, outcomes);
    if (error < best) {
      best = error;
      best_change = change;
      keep_best();
    }
  }
  report.iterations = std::max(report.iterations, steps);
  report.largest_change = std::max(report.largest_change, best_change);
  if (failed || error > best) {  // the last step was refused, or led away again
    move(block, b_.best);
    sums_.sumBlock(block);
    setResidual(block, outcomes);
  }
  const double reached = std::max(b_.desc.tolerance, b_.desc.negligible);
  for (std::size_t l = block.first_region; l < block.first_region + block.region_count; ++l)
    outcomes[l].short_of_target =
        !outcomes[l].idle && !(std::abs(b_.residual[l]) <= reached * std::abs(frame_.targets[l]));
}

void Solver::findLargestMove(SectionReport& report) {
  const std::size_t n = plan_.active_count;
  parallelFor(n, kSectionChunk, [&](std::size_t begin, std::size_t end) {
    double max = 0;
    std::uint32_t row = 0;
    for (std::size_t a = begin; a < end; ++a) {
      const double move = b_.moveOf(a).squaredNorm();
      if (!(move > max)) continue;
      max = move;
      row = static_cast<std::uint32_t>(a);
    }
    b_.part_maxima[begin / kSectionChunk] = max;
    b_.part_rows[begin / kSectionChunk] = row;
  });
  double max = 0;
  std::uint32_t row = 0;
  for (std::size_t c = 0; c * kSectionChunk < n; ++c) {
    if (!(b_.part_maxima[c] > max)) continue;
    max = b_.part_maxima[c];
    row = b_.part_rows[c];
  }
  report.largest_move_m = std::sqrt(max);
  if (max > 0)
    report.moved_point = static_cast<std::uint32_t>(
        std::find(plan_.row_of_point.begin(), plan_.row_of_point.end(), row) -
        plan_.row_of_point.begin());
}

void Solver::write(std::span<Vec3d> displacement) const {
  parallelFor(plan_.point_count, kPointChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) displacement[p] = b_.moveOf(plan_.row_of_point[p]);
  });
  for (const SectionApex& apex : plan_.apexes)  // an apex' row is its point
    for (std::uint32_t k = apex.first_border; k < apex.first_border + apex.border_count; ++k)
      displacement[apex.row] += b_.moveOf(plan_.apex_borders[k]) / apex.border_count;
}

}  // namespace

SectionBuffers::SectionBuffers(const SectionPlan& plan, const SectionDesc& numbers)
    : desc(numbers),
      rows(plan.point_count),
      ways(3 * plan.point_count + 1),
      shares(plan.active_count),
      field(plan.active_count),
      free(plan.active_count, 1.0f),
      gains(plan.members.entryBound()),
      activities(plan.activityCount()),
      nearness(plan.activityCount()),
      largest_gain(plan.region_count),
      gain_parts(SectionGains::partCount(plan)),
      still_volumes(plan.region_count),
      volumes(plan.region_count),
      residual(plan.region_count),
      lambda(plan.region_count),
      trial(plan.region_count),
      best(plan.region_count),
      step(plan.region_count),
      matrix(plan.matrix_size),
      chunk_volumes(std::max(plan.moving.pure_chunks.size(), plan.still.pure_chunks.size())),
      chunk_slopes(plan.moving.pure_chunks.size()),
      parts(plan.part_count),
      part_maxima(plan.active_count / kSectionChunk + 1),
      part_rows(part_maxima.size()),
      apex_moves(plan.apex_regions.size()) {
  std::size_t max = 0;
  for (const SectionBlock& block : plan.blocks)
    max = std::max(max, std::size_t{block.region_count} * block.region_count);
  work.resize(max);
}

SectionReport solveSections(const SectionPlan& plan, const SectionBinding::Frame& frame,
                            SectionBuffers& buffers, std::span<Vec3d> displacement,
                            std::span<RegionOutcome> outcomes,
                            std::span<double> after_m3) noexcept {
  Solver solver(plan, frame, buffers);
  solver.fillRows();
  const SectionReport report = solver.solve(outcomes);
  solver.write(displacement);
  std::copy(buffers.volumes.begin(), buffers.volumes.end(), after_m3.begin());
  return report;
}

SectionReport solveSections(const SectionPlan& plan, const SectionBinding::Frame& frame,
                            const SectionBinding::Vertices& vertices, SectionBuffers& buffers,
                            std::span<RegionOutcome> outcomes,
                            std::span<double> after_m3) noexcept {
  Solver solver(plan, frame, buffers);
  solver.fillRows(vertices);
  const SectionReport report = solver.solve(outcomes);
  std::copy(buffers.volumes.begin(), buffers.volumes.end(), after_m3.begin());
  return report;
}

void moveVertices(const SectionPlan& plan, const MeasuredSurface& surface,
                  const SectionBuffers& buffers, std::span<Vec3f> positions) noexcept {
  parallelFor(positions.size(), kPointChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) {
      const std::uint32_t row = plan.row_of_point[surface.welded_of_vertex[v]];
      positions[v] = (positions[v].cast<double>() + buffers.moveOf(row)).cast<float>();
    }
  });
}

}  // namespace derm::detail
