#include "anim/stances.h"

#include <algorithm>
#include <cmath>

namespace derm::detail {
namespace {

constexpr double kSlow = 0.3, kStillSlow = 0.6;  // heights a second: begins, goes on
constexpr double kLow = 0.04, kStillLow = 0.07;  // heights above where the point is lowest
constexpr double kReach = 0.12;  // heights above the ground where an ankle or a wrist is lowest
constexpr double kShortest_s = 0.05;  // of a stance
constexpr double kNoise_s = 0.04;     // out of a stance for less is not out of it

/// Where a point is at its lowest, but for a stray key in fifty.
double lowestLevel(const std::vector<Vec3d>& way) {
  std::vector<double> heights;
  for (const Vec3d& p : way) heights.push_back(p.y());
  const auto low = heights.begin() + static_cast<std::ptrdiff_t>(heights.size() / 50);
  std::nth_element(heights.begin(), low, heights.end());
  return *low;
}

enum Standing : unsigned char { kNo, kGoesOn, kBegins };

/// What each key would be for a stance, by the best of the points.
std::vector<Standing> standingAt(std::span<const std::vector<Vec3d>> ways,
                                 std::span<const float> times_s, double ground, double height) {
  std::vector<Standing> out(times_s.size(), kNo);
  for (const std::vector<Vec3d>& way : ways) {
    const double low = lowestLevel(way);
    if (low - ground > kReach * height) continue;
    for (std::size_t k = 0; k < out.size(); ++k) {
      const std::size_t a = k > 0 ? k - 1 : k, b = std::min(k + 1, out.size() - 1);
      const Vec3d d = way[b] - way[a];
      const double speed = std::hypot(d.x(), d.z()) / static_cast<double>(times_s[b] - times_s[a]);
      const double above = way[k].y() - low;
      Standing here = kNo;
      if (speed < kStillSlow * height && above < kStillLow * height) here = kGoesOn;
      if (speed < kSlow * height && above < kLow * height) here = kBegins;
      out[k] = std::max(out[k], here);
    }
  }
  return out;
}

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> stancesOf(std::span<const std::vector<Vec3d>> ways,
                                                           std::span<const float> times_s,
                                                           double ground, double height) {
  std::vector<std::pair<std::size_t, std::size_t>> out;
  if (times_s.size() < 2 || !(height > 0)) return out;
  const std::vector<Standing> standing = standingAt(ways, times_s, ground, height);
  for (std::size_t k = 0; k < standing.size(); ++k) {
    if (standing[k] == kNo) continue;
    const std::size_t first = k;
    bool begins = false;
    for (; k < standing.size() && standing[k] != kNo; ++k) begins |= standing[k] == kBegins;
    if (!begins) continue;
    if (!out.empty() && times_s[first] - times_s[out.back().second] < kNoise_s)
      out.back().second = k - 1;
    else
      out.emplace_back(first, k - 1);
  }
  std::erase_if(out, [&](const auto& s) {
    return s.second == s.first || times_s[s.second] - times_s[s.first] < kShortest_s;
  });
  return out;
}

}  // namespace derm::detail
