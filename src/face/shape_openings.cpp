#include "face/shape_openings.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "face/smooth_step.h"

namespace derm::detail {
namespace {

constexpr int kPasses = 12;
/// Near the corners heights vanish, and shares of them say nothing.
constexpr double kSmallestHeight = 0.15;
/// In radii of an eyeball: a lid is about that thick.
constexpr double kClear = 1.15;
/// In widths: a smaller correction leaves the shape as the donor's artist made it.
constexpr double kNoticed = 1e-4;
/// Parameter up to which smooth corrections grow from a corner on.
constexpr double kNearCorner = 0.15;
/// Lips: a change of less of the mouth's width is none; one of more is meant.
constexpr double kLipsHold = 0.008, kLipsPart = 0.025;
/// Lips on top of a base: this near counts as meeting.
constexpr double kLipsMeet = 0.03, kLipsApart = 0.08;

double sampled(const std::vector<double>& samples, double parameter) {
  const double x = std::clamp(parameter, 0.0, 1.0) * OpeningChange::kSteps;
  const auto i = std::min(static_cast<std::size_t>(x), samples.size() - 2);
  const double share = x - static_cast<double>(i);
  return (1 - share) * samples[i] + share * samples[i + 1];
}

void smooth(std::vector<double>& samples) {
  std::vector<double> out = samples;
  for (std::size_t i = 1; i + 1 < samples.size(); ++i)
    out[i] = (samples[i - 1] + 2 * samples[i] + samples[i + 1]) / 4;
  samples = std::move(out);
}

/// Where points are with the sum of up to two shapes.
struct Placed {
  const WeldedMesh& mesh;
  std::span<const Vec3d> base, shape;

  Vec3d operator[](std::size_t p) const {
    Vec3d at = mesh.positions[p];
    if (!base.empty()) at += base[p];
    if (!shape.empty()) at += shape[p];
    return at;
  }
};

/// From the lower margin to the upper one.
Vec3d gapAt(const SlitSurface& slit, double parameter, const Placed& placed) {
  return slit.upper.curve.valueAt(parameter, placed) - slit.lower.curve.valueAt(parameter, placed);
}

double smallestHeight(const FaceSlit& slit) {
  return std::max(kSmallestHeight * slit.opening_m, 1e-6 * slit.width_m);
}

double meanMotion(const SlitCurve& curve, std::span<const Vec3d> shape) {
  double sum = 0;
  for (const std::uint32_t p : curve.points()) sum += shape[p].norm();
  return sum / static_cast<double>(curve.size());
}

/// A margin's displacements while they are corrected.
struct Margins {
  std::vector<Vec3d> upper, lower;  ///< [m] per point of the chains; corners stay
};

/// Corrections that are smooth along the opening and vanish at its corners: `missing`, called with
/// the parameter, the gap at rest and the present one, gives what the gap lacks.
template <class Missing>
void correctSmoothly(const WeldedMesh& mesh, const SlitSurface& slit, double upper_share,
                     std::span<const Vec3d> base, std::vector<Vec3d>& moved, Margins& margins,
                     const Missing& missing) {
  const Placed rest{mesh, {}, {}}, now{mesh, base, moved};
  for (int pass = 0; pass < 4; ++pass) {
    std::array<std::vector<double>, 3> steps;
    for (int i = 0; i <= OpeningChange::kSteps; ++i) {
      const double a = static_cast<double>(i) / OpeningChange::kSteps;
      const Vec3d step = missing(a, gapAt(slit, a, rest), gapAt(slit, a, now));
      const double inside = smoothStep(0, kNearCorner, a) * smoothStep(0, kNearCorner, 1 - a);
      for (int axis = 0; axis < 3; ++axis)
        steps[static_cast<std::size_t>(axis)].push_back(inside * step[axis]);
    }
    for (std::vector<double>& axis : steps) {
      smooth(axis);
      smooth(axis);
    }
    for (const bool top : {true, false}) {
      const SlitCurve& curve = top ? slit.upper.curve : slit.lower.curve;
      for (std::size_t i = 1; i + 1 < curve.size(); ++i) {
        const double a = curve.parameter(i);
        const Vec3d step = (top ? upper_share : upper_share - 1) *
                           Vec3d(sampled(steps[0], a), sampled(steps[1], a), sampled(steps[2], a));
        moved[curve.points()[i]] += step;
        (top ? margins.upper : margins.lower)[i] += step;
      }
    }
  }
}

/// The rest, point by point, so that shut margins meet everywhere.
template <class Missing>
void correctExactly(const WeldedMesh& mesh, const SlitSurface& slit, double upper_share,
                    std::span<const Vec3d> base, std::vector<Vec3d>& moved, Margins& margins,
                    const Missing& missing) {
  const Placed rest{mesh, {}, {}}, now{mesh, base, moved};
  for (int pass = 0; pass < kPasses; ++pass) {
    double largest = 0;
    std::vector<Vec3d> steps;
    for (const bool top : {true, false}) {
      const SlitCurve& curve = top ? slit.upper.curve : slit.lower.curve;
      const SlitCurve& other = top ? slit.lower.curve : slit.upper.curve;
      const double sign = top ? 1 : -1;
      for (std::size_t i = 1; i + 1 < curve.size(); ++i) {
        const double a = curve.parameter(i);
        const std::uint32_t p = curve.points()[i];
        const Vec3d gap = sign * (now[p] - other.valueAt(a, now));
        const Vec3d at_rest = sign * (rest[p] - other.valueAt(a, rest));
        steps.push_back((top ? upper_share : upper_share - 1) * missing(a, at_rest, gap));
        largest = std::max(largest, steps.back().norm());
      }
    }
    std::size_t k = 0;
    for (const bool top : {true, false}) {
      const SlitCurve& curve = top ? slit.upper.curve : slit.lower.curve;
      for (std::size_t i = 1; i + 1 < curve.size(); ++i, ++k) {
        moved[curve.points()[i]] += steps[k];
        (top ? margins.upper : margins.lower)[i] += steps[k];
      }
    }
    if (largest < 1e-5 * slit.slit.width_m) break;
  }
}

/// Moves both margins, and what lies around them. True where that is worth a word.
template <class Missing>
bool correct(const WeldedMesh& mesh, const SlitSurface& slit, double upper_share, bool exactly,
             std::span<const Vec3d> base, std::span<Vec3d> shape, const Missing& missing) {
  Margins margins{std::vector<Vec3d>(slit.upper.curve.size(), Vec3d::Zero()),
                  std::vector<Vec3d>(slit.lower.curve.size(), Vec3d::Zero())};
  // On a copy: what lies around the margins follows once, at the end.
  std::vector<Vec3d> moved(shape.begin(), shape.end());
  correctSmoothly(mesh, slit, upper_share, base, moved, margins, missing);
  if (exactly) correctExactly(mesh, slit, upper_share, base, moved, margins, missing);
  slit.upper.spread(margins.upper, slit.radius_m, shape);
  slit.lower.spread(margins.lower, slit.radius_m, shape);
  double largest = 0;
  for (const auto* margin : {&margins.upper, &margins.lower})
    for (const Vec3d& m : *margin) largest = std::max(largest, m.norm());
  return largest > kNoticed * slit.slit.width_m;
}

/// Skin near a ball slides on it: no point comes nearer to the centre than it is at rest, or than
/// `kClear` radii. Margins only where asked for: they have met already.
void keepOutside(const WeldedMesh& mesh, const SlitSurface& slit, const Eyeball& ball,
                 bool margins_too, std::span<Vec3d> shape) {
  for (const SlitSide* side : {&slit.upper, &slit.lower})
    for (std::size_t k = 0; k < side->points.size(); ++k) {
      const std::uint32_t p = side->points[k];
      if (shape[p].isZero(0) || (!margins_too && side->distances[k] == 0)) continue;
      const Vec3d rest = mesh.positions[p] - ball.centre;
      const Vec3d now = rest + shape[p];
      const double least = std::min(rest.norm(), kClear * ball.farthest_m);
      if (now.norm() < least && now.norm() > 0) shape[p] += now * (least / now.norm() - 1);
    }
}

}  // namespace

OpeningChange openingChange(const WeldedMesh& donor, const SlitSurface& slit,
                            std::span<const Vec3d> shape) {
  OpeningChange out;
  const Placed rest{donor, {}, {}}, now{donor, {}, shape};
  const double width = slit.slit.width_m;
  const double smallest = smallestHeight(slit.slit);
  for (int i = 0; i <= OpeningChange::kSteps; ++i) {
    const double a = static_cast<double>(i) / OpeningChange::kSteps;
    const double before = gapAt(slit, a, rest).dot(slit.slit.up);
    const double after = gapAt(slit, a, now).dot(slit.slit.up);
    out.risen.push_back((after - before) / std::max(before, smallest));
    out.grown.push_back((after - before) / width);
    out.height.push_back(after / width);
  }
  const double above = meanMotion(slit.upper.curve, shape);
  const double below = meanMotion(slit.lower.curve, shape);
  out.moves = above + below > 0;
  if (out.moves) out.upper_share = above / (above + below);
  return out;
}

void matchLids(const WeldedMesh& target, const OpeningPair& pair, const OpeningChange& change,
               double shut_below, const std::optional<Eyeball>& eyeball, std::span<Vec3d> shape) {
  if (!change.moves) return;
  const SlitSurface& slit = pair.target;
  double middle = 0;
  int count = 0;
  for (int i = OpeningChange::kSteps / 5; i <= OpeningChange::kSteps * 4 / 5; ++i, ++count)
    middle += 1 + change.risen[static_cast<std::size_t>(i)];
  middle /= count;
  const double open = shut_below > 0 ? smoothStep(shut_below, 1.6 * shut_below, middle) : 1.0;
  const double smallest = smallestHeight(slit.slit);
  const auto missing = [&](double a, const Vec3d& rest, const Vec3d& gap) -> Vec3d {
    const double before = rest.dot(slit.slit.up);
    const double risen = std::clamp(sampled(change.risen, a), -4.0, 4.0);
    const double up = before + risen * std::max(before, smallest) - gap.dot(slit.slit.up);
    // Shut lids meet in every direction.
    return open * up * slit.slit.up - (1 - open) * gap;
  };
  const bool corrected = correct(target, slit, change.upper_share, open < 0.5, {}, shape, missing);
  if (corrected && eyeball) {
    keepOutside(target, slit, *eyeball, true, shape);
    correct(target, slit, change.upper_share, open < 0.5, {}, shape, missing);
    keepOutside(target, slit, *eyeball, false, shape);
  }
}

void matchLips(const WeldedMesh& target, const OpeningPair& pair, const OpeningChange& change,
               std::span<const Vec3d> base, std::span<Vec3d> shape) {
  if (!change.moves) return;
  const SlitSurface& slit = pair.target;
  const double width = slit.slit.width_m;
  const auto missing = [&](double a, const Vec3d& rest, const Vec3d& gap) -> Vec3d {
    const double grown = sampled(change.grown, a);
    const double now = gap.dot(slit.slit.up), before = rest.dot(slit.slit.up);
    if (!base.empty()) {
      const double meet = 1 - smoothStep(kLipsMeet, kLipsApart, sampled(change.height, a));
      return meet * ((std::min(before, 0.0) - now) * slit.slit.up +
                     (rest - gap).dot(slit.slit.outward) * slit.slit.outward);
    }
    const double hold = 1 - smoothStep(kLipsHold, kLipsPart, std::abs(grown));
    return hold * (before + grown * width - now) * slit.slit.up;
  };
  correct(target, slit, change.upper_share, false, base, shape, missing);
}

}  // namespace derm::detail
