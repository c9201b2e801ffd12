#include "derm/track/track_filter.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "derm/base/assert.h"

namespace derm {
namespace {

/// Markers of one eye's lids, in the tracks; none where one is missing.
struct LidMarkers {
  std::size_t upper = 0, lower = 0;
};
std::optional<LidMarkers> lidMarkers(const PointTracks& tracks, std::string_view upper,
                                     std::string_view lower) {
  const auto find = [&](std::string_view label) {
    return static_cast<std::size_t>(std::find(tracks.labels.begin(), tracks.labels.end(), label) -
                                    tracks.labels.begin());
  };
  const LidMarkers out{find(upper), find(lower)};
  if (std::max(out.upper, out.lower) >= tracks.labels.size()) return {};
  return out;
}

bool seenAt(const PointTracks& tracks, std::size_t frame, std::size_t label) {
  return tracks.confidence.empty() || tracks.confidence[frame * tracks.labels.size() + label] > 0;
}

/// Fills the gaps of one marker by the motion of another, mirrored; frames that were filled.
std::size_t fillByPartner(PointTracks& tracks, std::size_t own, std::size_t partner,
                          const Vec3d& across) {
  const std::size_t frames = tracks.frames(), labels = tracks.labels.size();
  const auto at = [&](std::size_t f, std::size_t l) -> Vec3d& {
    return tracks.positions[f * labels + l];
  };
  const auto mirrored = [&](std::size_t f) {
    const Vec3d d = at(f, partner) - tracks.neutral[partner];
    return Vec3d(tracks.neutral[own] + d - 2 * across.dot(d) * across);
  };
  std::size_t filled = 0;
  for (std::size_t f = 1; f < frames; ++f) {
    if (seenAt(tracks, f, own)) continue;
    std::size_t end = f;
    bool known = true;
    for (; end < frames && !seenAt(tracks, end, own); ++end)
      known = known && seenAt(tracks, end, partner);
    if (known && end < frames) {
      const Vec3d before = at(f - 1, own) - mirrored(f - 1), after = at(end, own) - mirrored(end);
      const double from = tracks.times_s[f - 1], span = tracks.times_s[end] - from;
      for (std::size_t g = f; g < end; ++g) {
        const double t = (tracks.times_s[g] - from) / span;
        at(g, own) = mirrored(g) + (1 - t) * before + t * after;
        ++filled;
      }
    }
    f = end;
  }
  return filled;
}

void closeEye(PointTracks& tracks, const LidMarkers& eye, double most, LidCalibration& out) {
  const std::size_t frames = tracks.frames(), labels = tracks.labels.size();
  const Vec3d rest = tracks.neutral[eye.upper] - tracks.neutral[eye.lower];
  if (!(rest.squaredNorm() > 0)) return;
  const auto open = [&](std::size_t f) {
    return rest.dot(tracks.frame(f)[eye.upper] - tracks.frame(f)[eye.lower]) / rest.squaredNorm();
  };
  std::vector<double> seen;
  for (std::size_t f = 0; f < frames; ++f)
    if (seenAt(tracks, f, eye.upper) && seenAt(tracks, f, eye.lower)) seen.push_back(open(f));
  if (seen.size() < 2) return;
  std::nth_element(seen.begin(), seen.begin() + 1, seen.end());
  const double left = out.smallest = seen[1];
  out.shut = left < most;
  if (!out.shut || !(left > 0)) return;
  for (std::size_t f = 0; f < frames; ++f) {
    const double c = open(f);
    const double off = left * std::clamp(2 * (1 - c) / (1 - left), 0.0, 1.0);
    tracks.positions[f * labels + eye.upper] -= std::min(off, std::max(c, 0.0)) * rest;
  }
}

}  // namespace

LidCalibrations calibrateLids(PointTracks& tracks, double most) {
  LidCalibrations out;
  const std::optional<LidMarkers> left = lidMarkers(tracks, "3.1", "3.3");
  const std::optional<LidMarkers> right = lidMarkers(tracks, "3.2", "3.4");
  if (left && right) {
    const Vec3d apart = tracks.neutral[left->lower] - tracks.neutral[right->lower];
    if (apart.norm() > 0) {
      const Vec3d across = apart.normalized();
      for (const bool is_left : {true, false}) {
        const LidMarkers &own = is_left ? *left : *right, &other = is_left ? *right : *left;
        std::size_t& filled = (is_left ? out.left : out.right).filled_frames;
        filled = std::max(fillByPartner(tracks, own.upper, other.upper, across),
                          fillByPartner(tracks, own.lower, other.lower, across));
      }
    }
  }
  if (left) closeEye(tracks, *left, most, out.left);
  if (right) closeEye(tracks, *right, most, out.right);
  return out;
}

void smoothZeroPhase(PointTracks& tracks, double sigma_s) {
  if (!(sigma_s > 0)) return;
  const std::size_t frames = tracks.frames(), labels = tracks.labels.size();
  const std::vector<Vec3d> raw = tracks.positions;
  const double reach = 4 * sigma_s;
  std::size_t begin = 0;
  for (std::size_t f = 0; f < frames; ++f) {
    const double now = tracks.times_s[f];
    while (now - tracks.times_s[begin] > reach) ++begin;
    for (std::size_t l = 0; l < labels; ++l) {
      double w0 = 0, w1 = 0, w2 = 0;
      Vec3d p0 = Vec3d::Zero(), p1 = Vec3d::Zero();
      for (std::size_t g = begin; g < frames && tracks.times_s[g] - now <= reach; ++g) {
        const double t = (tracks.times_s[g] - now) / sigma_s;
        const double seen =
            tracks.confidence.empty()
                ? 1.0
                : std::max(0.05, static_cast<double>(tracks.confidence[g * labels + l]));
        const double w = seen * std::exp(-0.5 * t * t);
        w0 += w, w1 += w * t, w2 += w * t * t;
        p0 += w * raw[g * labels + l];
        p1 += (w * t) * raw[g * labels + l];
      }
      const double det = w0 * w2 - w1 * w1;
      // Frames farther apart than the filter is wide leave one of them: no line, the value itself.
      tracks.positions[f * labels + l] =
          det > 1e-9 * w0 * w0 ? Vec3d((w2 * p0 - w1 * p1) / det) : Vec3d(p0 / w0);
    }
  }
}

OneEuroFilter::OneEuroFilter(std::size_t points, const OneEuroDesc& desc)
    : desc_(desc), value_(points, Vec3d::Zero()), speed_(points, Vec3d::Zero()) {
  DERM_REQUIRE(desc.min_cutoff_hz > 0 && desc.speed_gain >= 0 && desc.speed_cutoff_hz > 0);
}

void OneEuroFilter::step(double time_s, std::span<Vec3d> points) {
  DERM_REQUIRE(points.size() == value_.size());
  const double dt = time_s - time_s_;
  if (!started_) {
    std::copy(points.begin(), points.end(), value_.begin());
    started_ = true;
    time_s_ = time_s;
    return;
  }
  if (!(dt > 0)) {
    std::copy(value_.begin(), value_.end(), points.begin());
    return;
  }
  time_s_ = time_s;
  const auto share = [dt](double cutoff_hz) {
    const double tau = 1.0 / (2 * 3.14159265358979323846 * cutoff_hz);
    return 1.0 / (1.0 + tau / dt);
  };
  const double speed_share = share(desc_.speed_cutoff_hz);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec3d speed = (points[i] - value_[i]) / dt;
    speed_[i] += speed_share * (speed - speed_[i]);
    const double a = share(desc_.min_cutoff_hz + desc_.speed_gain * speed_[i].norm());
    value_[i] += a * (points[i] - value_[i]);
    points[i] = value_[i];
  }
}

}  // namespace derm
