#include "derm/deform/fold_curve.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace derm {
namespace {

Error bad(std::string_view key, std::string message) {
  return Error{ErrorCode::BadArgument, std::move(message), {.element = std::string(key)}};
}

/// Height above the middle of a segment (dx, dy) at which the way over it is longer by `gain` than
/// the segment: the ends are the foci of an ellipse, met along the vertical through its centre.
double heightOverSegment(double gain, double dx, double dy) {
  const double base = std::hypot(dx, dy);
  const double a = (base + gain) / 2;
  if (!(base > 0)) return a;
  const double b2 = gain * base / 2 + gain * gain / 4;
  if (!(b2 > 0)) return 0;
  const double sine = dy / base;
  const double cosine = dx / base;
  return 1 / std::sqrt(sine * sine / (a * a) + cosine * cosine / b2);
}

/// The gain of a point at this height above the middle of a segment.
double gainOverSegment(double height, double dx, double dy) {
  return std::max(0.0, std::hypot(dx / 2, dy / 2 + height) + std::hypot(dx / 2, height - dy / 2) -
                           std::hypot(dx, dy));
}

/// The gain that a bump starts with instead of `gain`: quadratic from 0, equal from `soft` on.
double softened(double gain, double soft) {
  if (gain >= soft) return gain;
  const double t = gain / soft;
  return gain * t * (2 - t);
}

/// Shares `spare` evenly over slots that take no more than caps[i] each, given in gains; what does
/// not fit is returned.
double fillEvenly(double spare, std::span<double> gains) {
  const double room = std::accumulate(gains.begin(), gains.end(), 0.0);
  if (spare >= room) return spare - room;
  // Each takes min(cap, level): the level rises past the smallest caps until all is placed.
  double level = spare / static_cast<double>(gains.size());
  for (int pass = 0; pass < 64; ++pass) {
    double placed = 0;
    std::size_t open = 0;
    for (const double cap : gains) {
      placed += std::min(cap, level);
      open += cap > level;
    }
    if (open == 0 || spare - placed <= 1e-15 * spare) break;
    level += (spare - placed) / static_cast<double>(open);
  }
  double placed = 0;
  std::size_t widest = 0;
  for (std::size_t i = 0; i < gains.size(); ++i) {
    if (gains[i] > gains[widest]) widest = i;
  }
  for (double& gain : gains) {
    gain = std::min(gain, level);
    placed += gain;
  }
  gains[widest] += spare - placed;  // rounding only: the sum is exact
  return 0;
}

}  // namespace

double foldHeight(double gain, double pas) {
  return std::sqrt(std::max(0.0, gain * pas + gain * gain / 4));
}

double foldGain(double height, double pas) {
  // 2 (sqrt(pas^2 + h^2) - pas) without cancellation.
  const double slope = std::hypot(pas, height);
  return slope + pas > 0 ? 2 * height * height / (slope + pas) : 0;
}

double foldLength(double ab, std::span<const double> heights) {
  if (heights.size() < 2) return ab;
  const double dx = ab / static_cast<double>(heights.size() - 1);
  double length = 0;
  for (std::size_t i = 1; i < heights.size(); ++i)
    length += std::hypot(dx, heights[i] - heights[i - 1]);
  return length;
}

Result<void> validate(const FoldCurveDesc& desc) {
  if (desc.points < 3 || desc.points > FoldCurveDesc::kMostPoints)
    return bad("points", "must be 3 to " + std::to_string(FoldCurveDesc::kMostPoints) + ", is " +
                             std::to_string(desc.points));
  if (desc.spacing < 0 || desc.spacing >= desc.points)
    return bad("spacing", "must be 0 to points - 1, is " + std::to_string(desc.spacing));
  if (desc.crest < 1 || desc.crest > desc.points - 2)
    return bad("crest", "a bump of " + std::to_string(desc.crest) + " points does not fit on " +
                            std::to_string(desc.points) + " control points; at most " +
                            std::to_string(desc.points - 2));
  if (!(desc.h_max > 0) || !std::isfinite(desc.h_max))
    return bad("h_max_m", "must be above 0: a bump of no height takes up no length");
  if (desc.shares.empty() || desc.shares.size() > FoldCurveDesc::kMostLevels)
    return bad("levels", "needs 1 to " + std::to_string(FoldCurveDesc::kMostLevels) +
                             " shares, has " + std::to_string(desc.shares.size()));
  double sum = 0;
  for (std::size_t i = 0; i < desc.shares.size(); ++i) {
    if (!(desc.shares[i] >= 0) || !std::isfinite(desc.shares[i]))
      return Error{
          ErrorCode::BadArgument, "a share must be 0 or more", {.element = "levels", .index = i}};
    sum += desc.shares[i];
  }
  if (std::abs(sum - 1) > 1e-6)
    return bad("levels", "the shares must sum to 1, but sum to " + std::to_string(sum));
  if (!desc.fine_h_max.empty() && desc.fine_h_max.size() + 1 != desc.shares.size())
    return bad("fine_h_max_m", "needs one height per level after the first (" +
                                   std::to_string(desc.shares.size() - 1) + "), has " +
                                   std::to_string(desc.fine_h_max.size()));
  for (std::size_t i = 0; i < desc.fine_h_max.size(); ++i)
    if (!(desc.fine_h_max[i] > 0) || !std::isfinite(desc.fine_h_max[i]))
      return Error{
          ErrorCode::BadArgument, "must be above 0", {.element = "fine_h_max_m", .index = i}};
  if (!(desc.soft_start >= 0 && desc.soft_start <= 0.5))
    return bad("soft_start", "must be 0 to 0.5");
  return {};
}

Result<FoldCurve> FoldCurve::make(const FoldCurveDesc& desc) {
  DERM_CHECK(validate(desc));
  return FoldCurve(desc);
}

FoldCurve::FoldCurve(const FoldCurveDesc& desc) : desc_(desc) {
  const double sum = std::accumulate(desc_.shares.begin(), desc_.shares.end(), 0.0);
  for (double& share : desc_.shares) share /= sum;
  if (desc_.fine_h_max.empty())
    for (std::size_t level = 1; level < desc_.shares.size(); ++level)
      desc_.fine_h_max.push_back(std::ldexp(desc_.h_max, -static_cast<int>(level)));
  point_count_ = segmentsOf(desc_.shares.size() - 1) + 1;
  const int period = desc_.crest + 1 + desc_.spacing;
  bump_count_ = (desc_.points - 1 + desc_.spacing) / period;
  // Points left over at B. From both ends alike, the second half of the bumps counts from B.
  const int rest = desc_.points - 1 - (bump_count_ * period - desc_.spacing);
  for (int b = 0; b < bump_count_; ++b) {
    int shift = 0;
    if (desc_.strategy == FoldStrategy::Symmetric) {
      if (2 * b + 1 == bump_count_)
        shift = rest / 2;
      else if (2 * b + 1 > bump_count_)
        shift = rest;
    }
    bump_start_.push_back(b * period + 1 + shift);
  }
}

FoldCurve::Scratch FoldCurve::makeScratch() const {
  Scratch scratch;
  std::size_t gains = static_cast<std::size_t>(bump_count_);
  for (std::size_t level = 1; level < desc_.shares.size(); ++level) gains += segmentsOf(level - 1);
  scratch.gains.resize(gains);
  scratch.heights.resize(point_count_);
  return scratch;
}

/// Puts `spare` into the bumps in the order of the strategy, at most `cap` in each; what does not
/// fit is returned.
double FoldCurve::fillCoarse(double spare, double cap, std::span<double> gains) const noexcept {
  const auto count = static_cast<std::size_t>(bump_count_);
  const double room = cap * static_cast<double>(count);
  if (spare >= room) {
    std::fill(gains.begin(), gains.end(), cap);
    return spare - room;
  }
  std::fill(gains.begin(), gains.end(), 0.0);
  if (desc_.strategy == FoldStrategy::Simultaneous) {
    std::fill(gains.begin(), gains.end(), spare / static_cast<double>(count));
  } else if (desc_.strategy == FoldStrategy::FromA) {
    for (std::size_t b = 0; b < count && spare > 0; ++b) {
      gains[b] = std::min(cap, spare);
      spare -= gains[b];
    }
  } else {
    for (std::size_t b = 0; b < (count + 1) / 2 && spare > 0; ++b) {
      const std::size_t mirror = count - 1 - b;
      const double each = mirror == b ? spare : std::min(cap, spare / 2);
      gains[b] = gains[mirror] = each;
      spare -= mirror == b ? each : 2 * each;
    }
  }
  return 0;
}

void FoldCurve::raiseCoarse(double pas, double soft, std::span<const double> gains,
                            std::span<double> heights) const noexcept {
  std::fill(heights.begin(), heights.end(), 0.0);
  for (std::size_t b = 0; b < bump_start_.size(); ++b) {
    const double height = foldHeight(softened(gains[b], soft), pas);
    const auto first = heights.begin() + bump_start_[b];
    std::fill(first, first + desc_.crest, height);
  }
}

/// Heights of the finest level from the gains of all levels.
void FoldCurve::raiseAll(double ab, double soft, Scratch& scratch,
                         std::span<double> heights) const noexcept {
  const std::size_t coarse = segmentsOf(0);
  raiseCoarse(ab / static_cast<double>(coarse), soft,
              std::span(scratch.gains).first(static_cast<std::size_t>(bump_count_)),
              heights.first(coarse + 1));
  std::size_t gain = static_cast<std::size_t>(bump_count_);
  for (std::size_t level = 1; level < desc_.shares.size(); ++level) {
    const std::size_t segments = segmentsOf(level - 1);
    const double dx = ab / static_cast<double>(segments);
    std::copy_n(heights.begin(), segments + 1, scratch.heights.begin());
    for (std::size_t i = 0; i < segments; ++i) {
      const double from = scratch.heights[i];
      const double to = scratch.heights[i + 1];
      heights[2 * i] = from;
      heights[2 * i + 1] =
          (from + to) / 2 + heightOverSegment(scratch.gains[gain + i], dx, to - from);
    }
    heights[2 * segments] = scratch.heights[segments];
    gain += segments;
  }
}

FoldState FoldCurve::evaluate(double ab, double rest_length, Scratch& scratch,
                              std::span<double> heights) const noexcept {
  DERM_REQUIRE(heights.size() == point_count_);
  FoldState state{.spare = rest_length - ab};
  if (!(state.spare > 0) || !std::isfinite(state.spare)) {
    std::fill(heights.begin(), heights.end(), 0.0);
    return state;
  }
  const double soft = desc_.soft_start * rest_length;
  const std::size_t bumps = static_cast<std::size_t>(bump_count_);
  const std::span<double> coarse_gains = std::span(scratch.gains).first(bumps);
  const double pas = ab / static_cast<double>(segmentsOf(0));
  const double cap = foldGain(desc_.h_max, pas);
  const double coarse_spare = desc_.shares[0] * state.spare;
  const double spilled = fillCoarse(coarse_spare, cap, coarse_gains);
  double over = spilled;
  std::fill(scratch.gains.begin() + bump_count_, scratch.gains.end(), 0.0);
  std::size_t gain = bumps;
  for (std::size_t level = 1; level < desc_.shares.size(); ++level) {
    // The caps depend on the slopes of the level above: raise what is known so far.
    raiseAll(ab, soft, scratch, heights);
    const std::size_t segments = segmentsOf(level - 1);
    const std::size_t stride = (point_count_ - 1) / segments;
    const double dx = ab / static_cast<double>(segments);
    const std::span<double> gains = std::span(scratch.gains).subspan(gain, segments);
    for (std::size_t i = 0; i < segments; ++i)
      gains[i] = gainOverSegment(desc_.fine_h_max[level - 1], dx,
                                 heights[(i + 1) * stride] - heights[i * stride]);
    over = fillEvenly(desc_.shares[level] * state.spare + over, gains);
    gain += segments;
  }
  // What the finer levels had no room for goes back to coarse bumps that are not full yet.
  if (over > 0) over = fillCoarse(coarse_spare - spilled + over, cap, coarse_gains);
  state.saturated = over > 1e-12 * rest_length;
  if (desc_.saturation == FoldSaturation::Exceed)
    for (double& g : coarse_gains) g += over / static_cast<double>(bumps);
  else
    state.missing = over;
  for (const double g : coarse_gains) {
    state.bumps += g > 0;
    state.missing += g - softened(g, soft);
  }
  raiseAll(ab, soft, scratch, heights);
  return state;
}

}  // namespace derm
