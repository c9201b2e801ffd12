#include "volume/volume_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "derm/base/parallel.h"

namespace derm::detail {
namespace {

constexpr std::size_t kSolverChunk = 4096;
constexpr double kNothingWanted = 1e-14;  // of the rest volume: rounding of the sum itself
constexpr double kReached = 1e-13;        // of the rest volume
constexpr double kShort = 1e-9;           // of the rest volume: reported beyond this
constexpr double kNoVolume = 1e-9;        // of the volume as bound
constexpr int kMaxIterations = 30;
/// Of the cube root of the body's volume. The axes push a cylinder wrung by 180 degrees by over 1.
constexpr double kMaxReach = 4;

/// Of displacements, and of how they changed.
struct Maxima {
  double largest = 0, change = 0;
  Maxima& operator+=(const Maxima& other) {
    largest = std::max(largest, other.largest);
    change = std::max(change, other.change);
    return *this;
  }
};

}  // namespace

void VolumeSolver::run(std::span<const double> targets) noexcept {
  b_.iterations = 0;
  if (!prepare(targets)) {
    moveNowhere();
    return;
  }
  const VolumeMethodDesc& desc = p_.desc;
  if (desc.method == VolumeMethod::AxesLinear || desc.method == VolumeMethod::AxesExact) {
    solveAxes(desc.method == VolumeMethod::AxesExact);
  } else {
    beginDirections();
    if (desc.solve == VolumeSolve::Linearised)
      solveLinearised();
    else if (desc.solve == VolumeSolve::Exact || !solveMinimiser())
      p_.line ? solveLine() : solveFull(desc.method == VolumeMethod::Gradient);
  }
  keepNear();
}

/// A region in which next to nothing may move asks for steps without bounds, and linearised ones
/// take them: nothing moves much further than the body is large.
void VolumeSolver::keepNear() noexcept {
  const double largest =
      deterministicSum<Maxima>(u_.size(), [&](std::size_t begin, std::size_t end) {
        Maxima part;
        for (std::size_t i = begin; i < end; ++i) {
          const bool finite = u_[i].allFinite();
          part += {finite ? u_[i].cwiseAbs().maxCoeff() : std::numeric_limits<double>::infinity()};
        }
        return part;
      }).largest;
  double volume = 0;
  for (const double rest : rest_volumes_) volume += std::abs(rest);
  const double max = kMaxReach * std::cbrt(volume);
  if (largest <= max) return;
  if (!std::isfinite(largest)) {
    moveNowhere();
  } else {
    parallelFor(u_.size(), kSolverChunk, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) u_[i] *= max / largest;
    });
  }
  for (std::size_t l = 0; l < outcomes_.size(); ++l)
    if (b_.active[l] != 0) outcomes_[l].short_of_target = true;
}

bool VolumeSolver::prepare(std::span<const double> targets) noexcept {
  measure(x_);
  bool any = false;
  for (std::size_t l = 0; l < targets.size(); ++l) {
    const double rest = std::abs(rest_volumes_[l]);
    RegionOutcome& outcome = outcomes_[l];
    outcome = {.before_m3 = b_.volumes[l], .target_m3 = b_.volumes[l]};
    b_.wanted[l] = 0;
    // A shape may leave next to nothing of a region that has a volume as bound.
    b_.active[l] = p_.usable[l] != 0 && rest > kNoVolume * std::abs(p_.rest_volumes[l]) &&
                   std::isfinite(b_.volumes[l]) && std::isfinite(targets[l]);
    outcome.idle = b_.active[l] == 0;
    if (outcome.idle) continue;
    const double max = p_.desc.max_change * rest;
    const double wish = targets[l] - b_.volumes[l];
    outcome.clamped = std::abs(wish) > max;
    double wanted = std::clamp(wish, -max, max);
    if (std::abs(wanted) <= kNothingWanted * rest) wanted = 0;
    outcome.target_m3 = b_.volumes[l] + wanted;
    b_.wanted[l] = wanted;
    any |= wanted != 0;
  }
  return any;
}

void VolumeSolver::moveNowhere() noexcept {
  parallelFor(u_.size(), kSolverChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) u_[i].setZero();
  });
}

void VolumeSolver::beginPositions() noexcept {
  parallelFor(x_.size(), kSolverChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) u_[i] += x_[i];
  });
}

void VolumeSolver::endPositions() noexcept {
  parallelFor(x_.size(), kSolverChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) u_[i] -= x_[i];
  });
}

void VolumeSolver::measure(std::span<const Vec3d> points) noexcept {
  const std::span<Vec3d> field = keepsNormals() ? std::span<Vec3d>() : std::span(b_.field);
  p_.fields->measure(points, anchors_, b_.sums, b_.gradients, field, b_.volumes);
}

double VolumeSolver::residual(std::span<const double> volumes) noexcept {
  double worst = 0;
  for (std::size_t l = 0; l < volumes.size(); ++l) {
    b_.residual[l] = b_.active[l] != 0 ? outcomes_[l].target_m3 - volumes[l] : 0.0;
    if (b_.active[l] == 0) continue;
    const double error = std::abs(b_.residual[l] / rest_volumes_[l]);
    worst = std::isfinite(error) ? std::max(worst, error) : HUGE_VAL;
  }
  return worst;
}

void VolumeSolver::reportShort() noexcept {
  for (std::size_t l = 0; l < outcomes_.size(); ++l)
    if (b_.active[l] != 0 && !(std::abs(b_.residual[l]) <= kShort * std::abs(rest_volumes_[l])))
      outcomes_[l].short_of_target = true;
}

// Directions

void VolumeSolver::beginDirections() noexcept {
  if (!keepsNormals()) return;
  p_.fields->spread(b_.gradients, b_.field);
  p_.fields->normals(x_, b_.field, b_.normals);
  if (p_.laplacian && !p_.laplacian->factorise(b_.normals, *b_.laplacian))
    std::fill(b_.active.begin(), b_.active.end(), std::uint8_t{0});
}

void VolumeSolver::makeField() noexcept {
  const VolumeFields& fields = *p_.fields;
  if (!keepsNormals()) {
    if (p_.desc.method == VolumeMethod::Normal)
      fields.oddAlongNormal(x_, b_.gradients, b_.field);
    else
      fields.oddAlongGradient(b_.gradients, b_.field);
    return;
  }
  fields.spread(b_.gradients, b_.field);
  if (p_.desc.method == VolumeMethod::Normal)
    fields.alongNormal(b_.normals, b_.field);
  else if (dense())
    makeDense();
  else
    p_.laplacian->field(b_.normals, *b_.laplacian, b_.field);
}

void VolumeSolver::makeDense() noexcept {
  const std::size_t welded_count = b_.normals.size();
  for (std::uint32_t l = 0; l < b_.active.size(); ++l) {
    const std::span<double> row = std::span(b_.dense).subspan(l * welded_count, welded_count);
    if (b_.active[l] != 0)
      p_.laplacian->direction(l, b_.normals, b_.field, *b_.laplacian, row);
    else
      std::fill(row.begin(), row.end(), 0.0);
  }
}

void VolumeSolver::makeMatrix() noexcept {
  if (!keepsNormals()) {
    p_.fields->measuredMatrix(b_.gradients, b_.field, b_.sums, b_.matrix);
    return;
  }
  if (!dense()) {
    p_.fields->matrix(b_.gradients, b_.field, b_.sums, b_.matrix);
    return;
  }
  const RegionRings& rings = p_.fields->rings();
  const std::size_t welded_count = b_.normals.size();
  p_.fields->spread(b_.gradients, b_.field);
  b_.matrix.setZero();
  for (std::size_t i = 0; i < welded_count; ++i) {
    const std::span<const std::uint32_t> rows = rings.regionsOf(i);
    for (std::uint32_t k = 0; k < rows.size(); ++k) {
      const double along = b_.normals[i].dot(b_.field[rings.firstEntry(i) + k]);
      for (std::size_t l = 0; l < b_.matrix.size; ++l)
        b_.matrix(rows[k], l) += along * b_.dense[l * welded_count + i];
    }
  }
}

void VolumeSolver::combine(std::span<const double> lambda, std::span<Vec3d> out) noexcept {
  if (!dense()) {
    p_.fields->combine(lambda, b_.field, out);
    return;
  }
  const std::size_t welded_count = b_.normals.size();
  parallelFor(welded_count, kSolverChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      double sum = 0;
      for (std::size_t l = 0; l < lambda.size(); ++l)
        sum += lambda[l] * b_.dense[l * welded_count + i];
      out[i] = sum * b_.normals[i];
    }
  });
  completeApexes(p_.fields->surface(), out);
}

// Along fixed directions

void VolumeSolver::solveLinearised() noexcept {
  makeField();
  makeMatrix();
  solveRegions(b_.matrix, b_.active, b_.wanted, b_.work, b_.lambda);
  combine(b_.lambda, u_);
  b_.iterations = 1;
}

void VolumeSolver::solveLine() noexcept {
  makeField();
  makeMatrix();
  b_.line->moved = u_;  // free until the multipliers are found
  p_.line->begin(x_, anchors_, b_.field, b_.matrix, *b_.line);
  if (!p_.line->independent()) {
    solveLineNewton();
    return;
  }
  for (std::size_t l = 0; l < b_.lambda.size(); ++l) {
    b_.lambda[l] = 0;
    const VolumeLine::Cubic& c = p_.line->cubic(l, *b_.line);
    if (b_.active[l] == 0 || b_.wanted[l] == 0) continue;
    if (!(std::abs(c.c1) > 0) || !std::isfinite(c.c1)) {
      outcomes_[l].idle = true;
      continue;
    }
    const CubicRoot root = firstCubicRoot(c.c1, c.c2, c.c3, b_.wanted[l]);
    b_.lambda[l] = root.s;
    outcomes_[l].short_of_target = !root.reached;
    b_.iterations = std::max(b_.iterations, root.iterations);
  }
  combine(b_.lambda, u_);
}

void VolumeSolver::solveLineNewton() noexcept {
  const std::size_t regions = b_.lambda.size();
  const auto slopesKeepTheirSign = [&](std::span<const double> first) {
    for (std::size_t l = 0; l < regions; ++l)
      if (b_.active[l] != 0 && !(b_.matrix(l, l) * first[l] > 0)) return false;
    return true;
  };
  std::vector<double>& first = b_.volumes;  // free by now: V(0) is in the outcomes
  for (std::size_t l = 0; l < regions; ++l) {
    first[l] = b_.matrix(l, l);
    b_.lambda[l] = 0;
    if (b_.active[l] != 0 && !(std::abs(first[l]) > 0)) {
      b_.active[l] = 0;
      outcomes_[l].idle = true;
    }
  }
  std::vector<double>& next = b_.change;
  const auto errorAt = [&](std::span<const double> lambda, bool renew_slopes) {
    p_.line->evaluate(x_, anchors_, b_.field, lambda, renew_slopes, *b_.line, b_.residual,
                      b_.matrix);
    for (std::size_t l = 0; l < regions; ++l) b_.residual[l] += outcomes_[l].before_m3;
    return residual(b_.residual);
  };
  // Slopes near borders change little and cost most: they are renewed only where steps stop paying.
  for (std::size_t l = 0; l < regions; ++l) b_.residual[l] = outcomes_[l].before_m3;
  double error = residual(b_.residual);
  bool fresh = true, renew = false, there_now = true;
  for (; b_.iterations < kMaxIterations && error > kReached; ++b_.iterations) {
    solveRegions(b_.matrix, b_.active, b_.residual, b_.work, b_.step);
    const double before = error;
    bool better = false;
    for (double part = 1; part >= 1.0 / 64 && !better; part /= 2) {
      for (std::size_t l = 0; l < regions; ++l) next[l] = b_.lambda[l] + part * b_.step[l];
      const double there = errorAt(next, renew);
      there_now = false;
      better = there < (1 - 0.1 * part) * error && slopesKeepTheirSign(first);
      if (better) error = there;
    }
    if (better) {
      std::copy(next.begin(), next.end(), b_.lambda.begin());
      there_now = true;
      fresh = renew;
      renew = error > 0.05 * before;
      continue;
    }
    if (fresh) break;  // at the limit of rounding, or no way on without turning back
    errorAt(b_.lambda, true);
    fresh = there_now = true;
  }
  if (!there_now) errorAt(b_.lambda, false);
  reportShort();
  combine(b_.lambda, u_);
}

// With gradients anew at every step

void VolumeSolver::solveFull(bool renew_field) noexcept {
  moveNowhere();
  makeField();
  followFull(renew_field);
}

void VolumeSolver::followFull(bool renew_field) noexcept {
  double error = residual(b_.volumes);
  beginPositions();
  for (int step = 0; step < kMaxIterations && error > kReached; ++step, ++b_.iterations) {
    if (step > 0 && renew_field) makeField();
    makeMatrix();
    solveRegions(b_.matrix, b_.active, b_.residual, b_.work, b_.step);
    combine(b_.step, b_.trial);
    bool better = false;
    for (double part = 1; part >= 1.0 / 64 && !better; part /= 2) {
      addTrial(part);
      measure(u_);
      const double there = residual(b_.volumes);
      better = there < (1 - 0.1 * part) * error;
      if (better)
        error = there;
      else
        addTrial(-part);
    }
    if (better) continue;
    measure(u_);
    break;
  }
  endPositions();
  residual(b_.volumes);
  reportShort();
}

void VolumeSolver::addTrial(double part) noexcept {
  parallelFor(u_.size(), kSolverChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) u_[i] += part * b_.trial[i];
  });
}

bool VolumeSolver::solveMinimiser() noexcept {
  moveNowhere();
  double error = residual(b_.volumes);
  for (; b_.iterations < kMaxIterations; ++b_.iterations) {
    makeField();
    makeMatrix();
    p_.fields->change(b_.gradients, u_, b_.sums, b_.change);
    for (std::size_t l = 0; l < b_.change.size(); ++l) b_.change[l] += b_.residual[l];
    solveRegions(b_.matrix, b_.active, b_.change, b_.work, b_.lambda);
    combine(b_.lambda, b_.trial);
    const auto [largest, change] = deterministicSum<Maxima>(u_.size(), [&](std::size_t begin,
                                                                           std::size_t end) {
      Maxima part;
      for (std::size_t i = begin; i < end; ++i) {
        part += {b_.trial[i].cwiseAbs().maxCoeff(), (b_.trial[i] - u_[i]).cwiseAbs().maxCoeff()};
        u_[i] = b_.trial[i];
      }
      return part;
    });
    parallelFor(x_.size(), kSolverChunk, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) b_.moved[i] = x_[i] + u_[i];
    });
    measure(b_.moved);
    error = residual(b_.volumes);
    if (!std::isfinite(error) || !std::isfinite(largest)) break;
    if (error <= 1e-12 && change <= 1e-10 * largest) return true;
  }
  if (error <= 1e-6) {
    // It comes to the minimum ever more slowly; the volume is made right at once.
    makeField();
    followFull(true);
    return true;
  }
  // Too far for its own steps: the way of the exact methods is slower to leave the path.
  measure(x_);
  b_.iterations = 0;
  return false;
}

// Axes

void VolumeSolver::axisShares() noexcept {
  // Where regions touch, a limb that lies along an axis would be slid along it a long way only to
  // make up for its neighbour: such an axis is left to the others.
  const double min =
      p_.fields->independent() ? 1e-10 : 1e-2;  // of the largest, squares of gradients
  const std::size_t regions = b_.lambda.size();
  for (std::size_t l = 0; l < regions; ++l) {
    double largest = 0;
    for (const RegionMatrix& m : b_.by_axis) largest = std::max(largest, m(l, l));
    double sum = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const bool can = largest > 0 && b_.by_axis[a](l, l) > min * largest;
      b_.axis_shares[a * regions + l] = can ? p_.desc.split[a] : 0.0;
      sum += b_.axis_shares[a * regions + l];
    }
    if (sum > 0) {
      for (std::size_t a = 0; a < 3; ++a) b_.axis_shares[a * regions + l] /= sum;
    } else {  // nothing of it can move along the axes that have a share
      b_.active[l] = 0;
      outcomes_[l].idle = true;
    }
  }
}

void VolumeSolver::sweepAxes(bool one_by_one) noexcept {
  const VolumeFields& fields = *p_.fields;
  const std::size_t regions = b_.lambda.size();
  std::fill(b_.axis_lambda.begin(), b_.axis_lambda.end(), 0.0);
  for (std::size_t n = 0; n < 3; ++n) {
    const std::size_t axis = p_.desc.axis_order[n];
    if (one_by_one && n > 0) {
      measure(u_);
      residual(b_.volumes);
      fields.oddAlongGradient(b_.gradients, b_.field);
      fields.measuredAxisMatrices(b_.gradients, b_.field, b_.sums, b_.by_axis);
      std::fill(b_.axis_lambda.begin(), b_.axis_lambda.end(), 0.0);
    }
    for (std::size_t l = 0; l < regions; ++l) {
      double left = 0;  // what this and the axes to come have to share
      for (std::size_t m = one_by_one ? n : 0; m < 3; ++m)
        left += b_.axis_shares[p_.desc.axis_order[m] * regions + l];
      const double share = b_.axis_shares[axis * regions + l];
      b_.axis_active[l] = b_.active[l] != 0 && share > 0;
      b_.step[l] = b_.axis_active[l] != 0 ? b_.residual[l] * share / left : 0.0;
    }
    solveRegions(b_.by_axis[axis], b_.axis_active, b_.step, b_.work,
                 std::span(b_.axis_lambda).subspan(axis * regions, regions));
    if (one_by_one) fields.combineAxes(b_.axis_lambda, b_.field, true, u_);
  }
  if (!one_by_one) fields.combineAxes(b_.axis_lambda, b_.field, false, u_);
}

void VolumeSolver::solveAxes(bool one_by_one) noexcept {
  constexpr int kMaxSweeps = 8;  // touching regions disturb each other a little
  const VolumeFields& fields = *p_.fields;
  double error = residual(b_.volumes);
  if (one_by_one) std::copy(x_.begin(), x_.end(), u_.begin());
  for (; b_.iterations < kMaxSweeps; ++b_.iterations) {
    fields.oddAlongGradient(b_.gradients, b_.field);
    fields.measuredAxisMatrices(b_.gradients, b_.field, b_.sums, b_.by_axis);
    if (b_.iterations == 0) axisShares();
    sweepAxes(one_by_one);
    if (!one_by_one || fields.independent()) break;
    measure(u_);
    const double before = error;
    error = residual(b_.volumes);
    if (error <= kReached || error > 0.5 * before) break;
  }
  ++b_.iterations;
  if (one_by_one) endPositions();
  if (one_by_one && !fields.independent()) reportShort();
}

}  // namespace derm::detail
