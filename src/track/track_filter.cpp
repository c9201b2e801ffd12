#include "derm/track/track_filter.h"

#include <algorithm>
#include <cmath>

#include "derm/base/assert.h"

namespace derm {

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
