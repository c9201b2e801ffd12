#include <algorithm>
#include <cmath>

#include "implicit/active_skin_impl.h"

namespace derm {
namespace {

constexpr double kIntegralShare = 0.3;

/// Means over the edge points of a body.
struct BodyMeans {
  double speed = 0, curvature = 0, curvature2 = 0, curvature_speed = 0;
};

std::vector<BodyMeans> meansOf(std::span<const float> speeds, std::span<const float> curvature,
                               std::span<const std::uint32_t> body,
                               std::span<const detail::TrackedBody> bodies) {
  std::vector<BodyMeans> means(bodies.size());
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    BodyMeans& m = means[body[i]];
    m.speed += speeds[i];
    if (curvature.empty()) continue;
    const double k = curvature[i];
    m.curvature += k;
    m.curvature2 += k * k;
    m.curvature_speed += k * speeds[i];
  }
  for (std::size_t b = 0; b < means.size(); ++b) {
    const double n = std::max(1u, bodies[b].points);
    means[b].speed /= n;
    means[b].curvature /= n;
    means[b].curvature2 /= n;
    means[b].curvature_speed /= n;
  }
  return means;
}

}  // namespace

std::vector<ActiveSkin::Impl::Offset> ActiveSkin::Impl::holdOffsets(double dt_s,
                                                                    double reference_dt_s) {
  if (law.volume == Hold::No && law.area == Hold::No) return {};
  const std::span<detail::TrackedBody> bodies = tracker.bodies();
  const std::vector<BodyMeans> means =
      meansOf(speeds, edges.curvature, tracker.bodyOfPoint(), bodies);
  std::vector<Offset> offsets(bodies.size());
  const double h = potential.voxel_m, max = 0.5 / dt_s;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    detail::TrackedBody& b = bodies[i];
    const BodyMeans& m = means[i];
    // All of it as far outside the target as can be told, and too small to have the target inside
    // it: held, it would hang there for ever.
    constexpr double kNearlyAll = 0.9;
    const double smallest = 4.2 * std::pow(2 * law.reach, 3);
    b.abandoned = law.attraction > 0 && b.volume < smallest &&
                  m.speed < -kNearlyAll * law.attraction * law.reach;
    if (b.growing || b.abandoned || !(b.area > 0)) continue;
    const double volume_gap = volume_scale * b.wanted_volume - b.volume;
    const double area_gap = area_scale * b.wanted_area - b.area;
    double c = 0, per_curvature = 0;
    // Relative to what is wanted, of which there may be none: a cavity's, or where others have it.
    const auto relative = [](double gap, double wanted) { return gap / std::max(wanted, 1.0); };
    if (law.volume == Hold::Penalty)
      c += law.volume_gain / h * relative(volume_gap, volume_scale * b.wanted_volume);
    if (law.area == Hold::Penalty)
      c += law.area_gain / h * relative(area_gap, area_scale * b.wanted_area);
    // Exact: what d(volume)/dt and d(area)/dt still lack, per area of surface.
    double volume_rate = 0, area_rate = 0;
    if (law.volume == Hold::Exact) {
      b.volume_integral += kIntegralShare * volume_gap / (b.area * reference_dt_s);
      b.volume_integral = std::clamp(b.volume_integral, -max, max);
      volume_rate = volume_gap / (b.area * dt_s) + b.volume_integral - m.speed - c;
    }
    if (law.area == Hold::Exact) {
      b.area_integral += kIntegralShare * area_gap / (b.area * reference_dt_s);
      b.area_integral = std::clamp(b.area_integral, -max, max);
      area_rate =
          area_gap / (b.area * dt_s) + b.area_integral - m.curvature_speed - c * m.curvature;
    }
    if (law.volume == Hold::Exact && law.area == Hold::Exact) {
      // c1 + c2 kappa. A ball has one curvature only: volume goes first.
      const double spread = m.curvature2 - m.curvature * m.curvature;
      if (spread > 1e-3 * m.curvature2)
        per_curvature = (area_rate - volume_rate * m.curvature) / spread;
      // Never past zero tension (backward diffusion), nor stiffer than the step allows.
      const double beta = tensionPerVoxel();
      per_curvature = std::clamp(per_curvature, -std::max(0.0, 0.2 / dt_s - beta), beta);
      c += volume_rate - per_curvature * m.curvature;
    } else if (law.volume == Hold::Exact) {
      c += volume_rate;
    } else if (law.area == Hold::Exact && std::abs(m.curvature) > 1e-6) {
      c += area_rate / m.curvature;
    }
    // What undoes the mean motion is no correction and has no limit of its own: a target far inside
    // a body draws it in by more than half a voxel in a long step.
    const double undone = law.volume == Hold::Exact ? m.speed : 0;
    c = std::clamp(c + undone, -max, max) - undone;
    offsets[i] = {static_cast<float>(c), static_cast<float>(per_curvature)};
  }
  return offsets;
}

bool ActiveSkin::Impl::removeSpecks() {
  std::vector<char> gone(tracker.bodies().size(), 0);
  bool any = false;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    gone[i] = tracker.bodies()[i].volume < law.min_body_voxels;
    any |= gone[i] != 0;
  }
  if (!any) return false;
  BandGrid& grid = potential.grid;
  const std::vector<detail::InsideNode> nodes =
      insideNodes(grid, stepper.index(), tracker.bodyOfPoint(), gone);
  for (const detail::InsideNode& n : nodes) grid.values(n.slot)[n.node] = -0.5f;
  std::uint32_t last = BandGrid::kOutside;
  for (const detail::InsideNode& n : nodes) {
    if (n.slot != last) grid.updateWords(n.slot);
    last = n.slot;
  }
  grid.fitToBand();
  return true;
}

}  // namespace derm
