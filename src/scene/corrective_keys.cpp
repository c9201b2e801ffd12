#include "scene/corrective_keys.h"

#include <algorithm>
#include <vector>

namespace derm::detail {
namespace {

/// Of a frame: a range's end this near its last frame is on it.
constexpr double kOnFrame = 1e-3;

}  // namespace

void CorrectiveKeys::addChecks(bool end_is_key) {
  const std::span<const double> frames = scene_.frameTimes();
  const double end_s = scene_.playback().desc().end_s;
  const bool past_last = end_s - frames.back() > kOnFrame / scene_.recipe().fps;
  std::vector<double> keys(frames.begin(), frames.end());
  if (past_last && (scene_.recipe().loop || end_is_key)) keys.push_back(end_s);
  for (std::size_t i = 0; i + 1 < keys.size() && fitter_.hasRoomFor(1); ++i)
    fitter_.addCheck(samples_.at(0.5 * (keys[i] + keys[i + 1])));
  if (scene_.recipe().loop) {
    if (past_last) fitter_.setLoopEnd(end_s, samples_.clip());
  } else if (past_last && fitter_.hasRoomFor(1)) {
    const CorrectiveFitter::Frame end = samples_.at(end_s);
    end_is_key ? fitter_.addKey(end) : fitter_.addCheck(end);
  }
}

bool CorrectiveKeys::canSplit(std::size_t instant) const {
  if (!ours(instant) || fitter_.isKey(instant)) return false;
  const auto [from_s, to_s] = fitter_.gapAround(instant);
  const double time_s = fitter_.timeOf(instant);
  return time_s - from_s >= kMinGap_s && to_s - time_s >= kMinGap_s;
}

std::size_t CorrectiveKeys::keyCount() const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < fitter_.instantCount(); ++i) count += fitter_.isKey(i) ? 1 : 0;
  return count;
}

/// `checks` go up.
bool CorrectiveKeys::split(std::span<const std::size_t> checks) {
  std::vector<double> new_checks_s;
  std::size_t keys = keyCount();
  for (const std::size_t i : checks) {
    if (++keys > kMaxDenseKeys || !fitter_.hasRoomFor(new_checks_s.size() + 3)) break;
    const auto [from_s, to_s] = fitter_.gapAround(i);
    const double time_s = fitter_.timeOf(i);
    new_checks_s.push_back(0.5 * (from_s + time_s));
    new_checks_s.push_back(0.5 * (time_s + to_s));
    fitter_.turnIntoKey(i);
  }
  for (const double time_s : new_checks_s) fitter_.addCheck(samples_.at(time_s));
  return !new_checks_s.empty();
}

bool CorrectiveKeys::refine(double max_error_m, const Progress& progress) {
  for (;;) {
    if (!keepGoing(progress, 0.0, "between frames")) return false;
    std::vector<std::size_t> wide;
    for (std::size_t i = 0; i < fitter_.instantCount(); ++i)
      if (canSplit(i) && fitter_.interpolationError(i) > max_error_m) wide.push_back(i);
    if (!split(wide)) return true;
  }
}

bool CorrectiveKeys::splitAt(std::span<const double> times_s) {
  std::vector<std::size_t> checks;
  for (std::size_t i = 0; i < fitter_.instantCount(); ++i) {
    if (!canSplit(i)) continue;
    const auto [from_s, to_s] = fitter_.gapAround(i);
    if (std::any_of(times_s.begin(), times_s.end(),
                    [&, from = from_s, to = to_s](double t) { return t > from && t < to; }))
      checks.push_back(i);
  }
  return split(checks);
}

}  // namespace derm::detail
