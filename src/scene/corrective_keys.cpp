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
std::vector<double> CorrectiveKeys::split(std::span<const std::size_t> checks) {
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
  return new_checks_s;
}

bool CorrectiveKeys::addChecksAt(std::span<const double> times_s, const Progress& progress) {
  for (std::size_t i = 0; i < times_s.size(); ++i) {
    const double done = static_cast<double>(i) / static_cast<double>(times_s.size());
    if (!keepGoing(progress, done, "between frames")) return false;
    fitter_.addCheck(samples_.at(times_s[i]));
  }
  return true;
}

bool CorrectiveKeys::refine(double max_error_m, const Progress& progress) {
  for (double done = 0;; done = 0.5 * (1 + done)) {
    const Progress round = [&](double fraction, std::string_view stage) {
      return keepGoing(progress, done + 0.5 * (1 - done) * fraction, stage);
    };
    if (!round(0.0, "between frames")) return false;
    std::vector<std::size_t> wide;
    for (std::size_t i = 0; i < fitter_.instantCount(); ++i)
      if (canSplit(i) && fitter_.interpolationError(i) > max_error_m) wide.push_back(i);
    const std::vector<double> checks_s = split(wide);
    if (checks_s.empty()) return true;
    if (!addChecksAt(checks_s, round)) return false;
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
  const std::vector<double> checks_s = split(checks);
  addChecksAt(checks_s);
  return !checks_s.empty();
}

}  // namespace derm::detail
