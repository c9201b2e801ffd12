#include "derm/deform/fold_curve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "deform/fold_profile.h"

namespace derm {
namespace {

Error bad(std::string_view key, std::string message) {
  return Error{ErrorCode::BadArgument, std::move(message), {.element = std::string(key)}};
}

/// The gain that a bump starts with instead of `gain`: quadratic from 0, equal from `soft` on.
double softened(double gain, double soft) {
  if (gain >= soft) return gain;
  const double t = gain / soft;
  return gain * t * (2 - t);
}

/// The level up to which slots are filled evenly, each to min(cap, level), so that `spare` is
/// placed. Requires spare < sum of caps.
double evenLevel(double spare, std::span<const double> caps) {
  double level = spare / static_cast<double>(caps.size());
  for (int pass = 0; pass < 64; ++pass) {  // the level rises past the smallest caps
    double placed = 0;
    std::size_t open = 0;
    for (const double cap : caps) {
      placed += std::min(cap, level);
      open += cap > level;
    }
    if (open == 0 || spare - placed <= 1e-15 * spare) break;
    level += (spare - placed) / static_cast<double>(open);
  }
  return level;
}

/// Shares `spare` evenly over slots that take no more than caps[i] each, into gains; what does not
/// fit is returned. Both may be one span: each cap is read before its gain is written.
double fillEvenly(double spare, std::span<const double> caps, std::span<double> gains) {
  const double room = std::accumulate(caps.begin(), caps.end(), 0.0);
  if (spare >= room) {
    if (caps.data() != gains.data()) std::copy(caps.begin(), caps.end(), gains.begin());
    return spare - room;
  }
  const double level = evenLevel(spare, caps);
  const auto widest =
      static_cast<std::size_t>(std::max_element(caps.begin(), caps.end()) - caps.begin());
  double placed = 0;
  for (std::size_t i = 0; i < caps.size(); ++i) {
    gains[i] = std::min(caps[i], level);
    placed += gains[i];
  }
  gains[widest] += spare - placed;  // rounding only: the sum is exact
  return 0;
}

/// Adds `more` to gains evenly, none beyond its cap; what does not fit is returned.
double topUp(double more, std::span<const double> caps, std::span<double> gains) {
  for (int pass = 0; pass < 64 && more > 0; ++pass) {
    std::size_t open = 0;
    for (std::size_t i = 0; i < gains.size(); ++i) open += caps[i] > gains[i];
    if (open == 0) break;
    const double each = more / static_cast<double>(open);
    double placed = 0;
    for (std::size_t i = 0; i < gains.size(); ++i) {
      const double take = std::min(each, caps[i] - gains[i]);
      if (!(take > 0)) continue;
      gains[i] += take;
      placed += take;
    }
    if (placed >= more) return 0;
    more -= placed;
  }
  return more;
}

}  // namespace

/// Ground as it is read: even where nothing else is said.
struct FoldCurve::Ground {
  const FoldGround& given;
  double even = 0;  ///< [m] a segment of the coarsest level
  double soft = 0;  ///< [m] see FoldCurveDesc::soft_start

  double segment(std::size_t i) const { return given.segments.empty() ? even : given.segments[i]; }
  double lost(std::size_t i) const { return std::max(0.0, given.lost[i]); }
  double limit(std::size_t i) const {
    return given.limits.empty() ? std::numeric_limits<double>::infinity() : given.limits[i];
  }
  /// Of a segment of a level, which has 2^level to each of the coarsest.
  double fineSegment(std::size_t level, std::size_t i) const {
    return std::ldexp(segment(i >> level), -static_cast<int>(level));
  }
};

double foldHeight(double gain, double step) {
  return std::sqrt(std::max(0.0, gain * step + gain * gain / 4));
}

double foldGain(double height, double step) {
  // 2 (sqrt(step^2 + h^2) - step) without cancellation.
  const double slope = std::hypot(step, height);
  return slope + step > 0 ? 2 * height * height / (slope + step) : 0;
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
  if (desc.points < 3 || desc.points > FoldCurveDesc::kMaxPoints)
    return bad("points", "must be 3 to " + std::to_string(FoldCurveDesc::kMaxPoints) + ", is " +
                             std::to_string(desc.points));
  if (desc.spacing < 0 || desc.spacing >= desc.points)
    return bad("spacing", "must be 0 to points - 1, is " + std::to_string(desc.spacing));
  if (desc.crest < 1 || desc.crest > desc.points - 2)
    return bad("crest", "a bump of " + std::to_string(desc.crest) + " points does not fit on " +
                            std::to_string(desc.points) + " control points; at most " +
                            std::to_string(desc.points - 2));
  if (!(desc.h_max > 0) || !std::isfinite(desc.h_max))
    return bad("h_max_m", "must be above 0: a bump of no height takes up no length");
  if (desc.shares.empty() || desc.shares.size() > FoldCurveDesc::kMaxLevels)
    return bad("levels", "needs 1 to " + std::to_string(FoldCurveDesc::kMaxLevels) +
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
  if (desc.profile == FoldProfile::Round && desc.shares.size() > 1)
    return bad("profile",
               "round folds have one level; levels has " + std::to_string(desc.shares.size()));
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
    if (desc_.propagation == FoldPropagation::Symmetric) {
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
  scratch.caps.resize(static_cast<std::size_t>(bump_count_));
  scratch.room.resize(static_cast<std::size_t>(bump_count_));
  scratch.heights.resize(point_count_);
  return scratch;
}

/// What each bump may take: up to its threshold, and up to where there is something in its way.
void FoldCurve::setCaps(const Ground& ground, Scratch& scratch) const noexcept {
  for (std::size_t b = 0; b < bump_start_.size(); ++b) {
    const auto first = static_cast<std::size_t>(bump_start_[b]);
    const std::size_t last = first + static_cast<std::size_t>(desc_.crest) - 1;
    const detail::Flanks flanks{ground.segment(first - 1), ground.segment(last)};
    double limit = ground.limit(first - 1);
    for (std::size_t i = first; i <= last; ++i) limit = std::min(limit, ground.limit(i));
    const double full = detail::bumpGain(desc_.profile, desc_.h_max, flanks);
    scratch.room[b] = std::isfinite(limit) ? detail::bumpGain(desc_.profile, limit, flanks) : limit;
    scratch.caps[b] = std::min(full, scratch.room[b]);
  }
}

/// To each bump its part of what the skin lost: a segment's loss goes to the two bumps it lies
/// between, to the nearer one more. What a bump cannot take is spread over the others.
double FoldCurve::fillSqueezed(double spare, const Ground& ground, std::span<const double> caps,
                               std::span<double> gains) const noexcept {
  std::fill(gains.begin(), gains.end(), 0.0);
  const auto centre = [&](std::size_t b) { return bump_start_[b] + (desc_.crest - 1) / 2.0; };
  double total = 0;
  std::size_t right = 0;
  for (std::size_t i = 0; i < segmentsOf(0); ++i) {
    const double x = static_cast<double>(i) + 0.5, lost = ground.lost(i);
    while (right + 1 < gains.size() && centre(right) < x) ++right;
    const std::size_t left = right > 0 ? right - 1 : 0;
    const double span = centre(right) - centre(left);
    const double share = span > 0 ? std::clamp((x - centre(left)) / span, 0.0, 1.0) : 1.0;
    gains[left] += (1 - share) * lost;
    gains[right] += share * lost;
    total += lost;
  }
  double over = 0;
  for (std::size_t b = 0; b < gains.size(); ++b) {
    const double wanted = spare * (gains[b] / total);
    gains[b] = std::min(wanted, caps[b]);
    over += wanted - gains[b];
  }
  return topUp(over, caps, gains);
}

/// Puts `spare` into the bumps in the order of propagation, at most caps[b] in each; what does not
/// fit is returned.
double FoldCurve::fillCoarse(double spare, const Ground& ground, std::span<const double> caps,
                             std::span<double> gains) const noexcept {
  const auto count = static_cast<std::size_t>(bump_count_);
  const double room = std::accumulate(caps.begin(), caps.end(), 0.0);
  if (spare >= room) {
    std::copy(caps.begin(), caps.end(), gains.begin());
    return spare - room;
  }
  const auto has_lost = [&] {
    for (std::size_t i = 0; i < ground.given.lost.size(); ++i)
      if (ground.lost(i) > 0) return true;
    return false;
  };
  if (desc_.propagation == FoldPropagation::Squeezed && has_lost())
    return fillSqueezed(spare, ground, caps, gains);
  std::fill(gains.begin(), gains.end(), 0.0);
  if (desc_.propagation == FoldPropagation::FromA) {
    for (std::size_t b = 0; b < count && spare > 0; ++b) {
      gains[b] = std::min(caps[b], spare);
      spare -= gains[b];
    }
  } else if (desc_.propagation == FoldPropagation::Symmetric) {
    for (std::size_t b = 0; b < (count + 1) / 2 && spare > 0; ++b) {
      const std::size_t mirror = count - 1 - b;
      const std::array<double, 2> pair = {caps[b], mirror == b ? 0.0 : caps[mirror]};
      std::array<double, 2> taken{};
      spare = mirror == b ? spare - (taken[0] = std::min(spare, caps[b]))
                          : fillEvenly(spare, pair, taken);
      gains[b] = taken[0];
      if (mirror != b) gains[mirror] = taken[1];
    }
  } else {
    return fillEvenly(spare, caps, gains);
  }
  return std::max(0.0, spare);
}

/// Midpoints of a level, up to their threshold and to where there is something in their way.
double FoldCurve::fillFine(std::size_t level, double spare, const Ground& ground,
                           std::span<double> gains,
                           std::span<const double> heights) const noexcept {
  const std::size_t segments = segmentsOf(level - 1);
  const std::size_t stride = (point_count_ - 1) / segments;
  for (std::size_t i = 0; i < segments; ++i) {
    const double from = heights[i * stride], to = heights[(i + 1) * stride];
    const double limit = ground.limit(i >> (level - 1)) - (from + to) / 2;
    gains[i] = detail::gainOverSegment(std::clamp(limit, 0.0, desc_.fine_h_max[level - 1]),
                                       ground.fineSegment(level - 1, i), to - from);
  }
  return fillEvenly(spare, gains, gains);
}

void FoldCurve::raiseCoarse(const Ground& ground, std::span<const double> gains,
                            std::span<double> heights) const noexcept {
  std::fill(heights.begin(), heights.end(), 0.0);
  for (std::size_t b = 0; b < bump_start_.size(); ++b) {
    const auto start = static_cast<std::size_t>(bump_start_[b]);
    const auto crest = static_cast<std::size_t>(desc_.crest);
    const double height =
        detail::bumpHeight(desc_.profile, softened(gains[b], ground.soft),
                           {ground.segment(start - 1), ground.segment(start + crest - 1)});
    std::fill_n(heights.begin() + bump_start_[b], desc_.crest, height);
  }
}

/// Heights of the finest level from the gains of all levels.
void FoldCurve::raiseAll(const Ground& ground, Scratch& scratch,
                         std::span<double> heights) const noexcept {
  raiseCoarse(ground, std::span(scratch.gains).first(static_cast<std::size_t>(bump_count_)),
              heights.first(segmentsOf(0) + 1));
  std::size_t gain = static_cast<std::size_t>(bump_count_);
  for (std::size_t level = 1; level < desc_.shares.size(); ++level) {
    const std::size_t segments = segmentsOf(level - 1);
    std::copy_n(heights.begin(), segments + 1, scratch.heights.begin());
    for (std::size_t i = 0; i < segments; ++i) {
      const double from = scratch.heights[i];
      const double to = scratch.heights[i + 1];
      heights[2 * i] = from;
      heights[2 * i + 1] =
          (from + to) / 2 + detail::heightOverSegment(scratch.gains[gain + i],
                                                      ground.fineSegment(level - 1, i), to - from);
    }
    heights[2 * segments] = scratch.heights[segments];
    gain += segments;
  }
}

FoldState FoldCurve::evaluate(double ab, double rest_length, const FoldGround& given,
                              Scratch& scratch, std::span<double> heights) const noexcept {
  DERM_REQUIRE(heights.size() == point_count_);
  FoldState state{.spare = rest_length - ab};
  if (!(state.spare > 0) || !std::isfinite(state.spare)) {
    std::fill(heights.begin(), heights.end(), 0.0);
    return state;
  }
  const Ground ground{given, ab / static_cast<double>(segmentsOf(0)),
                      desc_.soft_start * rest_length};
  const std::size_t bumps = static_cast<std::size_t>(bump_count_);
  const std::span<double> coarse_gains = std::span(scratch.gains).first(bumps);
  setCaps(ground, scratch);
  const double coarse_spare = desc_.shares[0] * state.spare;
  const double spilled = fillCoarse(coarse_spare, ground, scratch.caps, coarse_gains);
  double over = spilled;
  std::fill(scratch.gains.begin() + bump_count_, scratch.gains.end(), 0.0);
  std::size_t gain = bumps;
  for (std::size_t level = 1; level < desc_.shares.size(); ++level) {
    // The caps depend on the slopes of the level above: raise what is known so far.
    raiseAll(ground, scratch, heights);
    const std::size_t segments = segmentsOf(level - 1);
    over = fillFine(level, desc_.shares[level] * state.spare + over, ground,
                    std::span(scratch.gains).subspan(gain, segments), heights);
    gain += segments;
  }
  // What the finer levels had no room for goes back to coarse bumps that are not full yet.
  if (over > 0)
    over = fillCoarse(coarse_spare - spilled + over, ground, scratch.caps, coarse_gains);
  state.saturated = over > 1e-12 * rest_length;
  if (desc_.saturation == FoldSaturation::Exceed)
    state.refused = topUp(over, scratch.room, coarse_gains);
  else
    state.missing = over;
  for (std::size_t b = 0; b < bumps; ++b) {
    const double g = coarse_gains[b];
    state.bumps += g > 0;
    state.held += g >= scratch.room[b];
    state.missing += g - softened(g, ground.soft);
  }
  raiseAll(ground, scratch, heights);
  return state;
}

}  // namespace derm
