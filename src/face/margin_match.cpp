#include "face/margin_match.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "derm/mesh/triangle_tree.h"

#include "face/smooth_step.h"

namespace derm::detail {
namespace {

/// In widths of the donor's opening: margins this near to each other agree; from the second on the
/// whole offset is taken.
constexpr double kAgree = 0.012, kOff = 0.03;

/// Parameter from a corner on up to which nothing is done, and from which all is: beyond the
/// corners there is no upper and lower.
constexpr double kCorner = 0.1, kInside = 0.22;

double awayFromCorners(double parameter) {
  return smoothStep(kCorner, kInside, parameter) * smoothStep(kCorner, kInside, 1 - parameter);
}

void smoothAlong(std::vector<Vec3d>& values) {
  for (int pass = 0; pass < 3; ++pass) {
    std::vector<Vec3d> out = values;
    for (std::size_t i = 1; i + 1 < values.size(); ++i)
      out[i] = (values[i - 1] + 2 * values[i] + values[i + 1]) / 4;
    values = std::move(out);
  }
}

Vec3d positionOn(const WeldedMesh& donor, const SurfacePoint& p) {
  const Triangle& t = donor.triangles[p.triangle];
  return p.barycentric.cast<double>()[0] * donor.positions[t[0]] +
         p.barycentric.cast<double>()[1] * donor.positions[t[1]] +
         p.barycentric.cast<double>()[2] * donor.positions[t[2]];
}

/// The donor without one side of an opening: where points of the other side look for themselves.
struct HalfSurface {
  std::vector<std::uint32_t> triangles;
  std::vector<bool> hidden;  ///< per triangle of the donor
  TriangleTree tree;

  HalfSurface(const WeldedMesh& donor, const SlitSide& other, const SlitSide& own,
              std::uint32_t piece) {
    std::vector<bool> not_here(donor.pointCount(), false);
    for (const std::uint32_t p : other.points) not_here[p] = true;
    for (const std::uint32_t p : own.points) not_here[p] = false;
    std::vector<Triangle> kept;
    hidden.assign(donor.triangles.size(), false);
    for (std::size_t t = 0; t < donor.triangles.size(); ++t) {
      const Triangle& c = donor.triangles[t];
      if (donor.flat[t] || donor.pieces.of_vertex[c[0]] != piece) continue;
      hidden[t] = not_here[c[0]] || not_here[c[1]] || not_here[c[2]];
      if (hidden[t]) continue;
      kept.push_back(c);
      triangles.push_back(static_cast<std::uint32_t>(t));
    }
    tree = TriangleTree(donor.positions, kept);
  }

  std::optional<SurfacePoint> nearest(const Vec3d& p) const {
    const auto found = tree.closestPoint(p);
    if (!found) return {};
    return SurfacePoint{triangles[found->triangle], found->barycentric.cast<float>()};
  }
};

void matchSide(const WeldedMesh& donor, const SlitSide& from, const SlitSide& other,
               const SlitSide& to, const FaceSlit& slit, double radius_m,
               std::span<std::optional<SurfacePoint>> points) {
  const std::uint32_t piece = donor.pieces.of_vertex[from.curve.points()[0]];
  const HalfSurface half(donor, other, from, piece);
  // How far each point of the target's margin is from its place on the donor's.
  std::vector<Vec3d> offsets(to.curve.size(), Vec3d::Zero());
  std::vector<bool> known(to.curve.size(), false);
  for (std::size_t i = 0; i < to.curve.size(); ++i) {
    const std::optional<SurfacePoint>& now = points[to.curve.points()[i]];
    if (!now) continue;
    offsets[i] =
        from.curve.valueAt(to.curve.parameter(i), donor.positions) - positionOn(donor, *now);
    known[i] = true;
  }
  // Those without a counterpart take their neighbours' offset.
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    if (known[i]) continue;
    for (std::size_t step = 1; step < offsets.size(); ++step) {
      if (i >= step && known[i - step]) {
        offsets[i] = offsets[i - step];
        break;
      }
      if (i + step < offsets.size() && known[i + step]) {
        offsets[i] = offsets[i + step];
        break;
      }
    }
  }
  // Offsets along the margin matter least, and where they are small a registration knows better.
  double across = 0;
  for (std::size_t i = 0; i < offsets.size(); ++i)
    across += std::pow(offsets[i].dot(slit.up), 2) + std::pow(offsets[i].dot(slit.outward), 2);
  across = std::sqrt(across / static_cast<double>(offsets.size()));
  const double share = smoothStep(kAgree * slit.width_m, kOff * slit.width_m, across);
  smoothAlong(offsets);
  std::vector<Vec3d> inside(offsets.size());
  for (std::size_t i = 0; i < offsets.size(); ++i)
    inside[i] = share * awayFromCorners(to.curve.parameter(i)) * offsets[i];
  std::vector<Vec3d> field(points.size(), Vec3d::Zero());
  to.spread(inside, radius_m, field);
  for (std::size_t k = 0; k < to.points.size(); ++k) {
    std::optional<SurfacePoint>& point = points[to.points[k]];
    if (!point) continue;
    double parameter = 0;
    for (std::size_t i = 0; i < to.curve.size(); ++i)
      parameter += static_cast<double>(to.shares[k][i]) * to.curve.parameter(i);
    const bool wrong_side = half.hidden[point->triangle] && awayFromCorners(parameter) > 0;
    if (wrong_side || !field[to.points[k]].isZero(0))
      point = half.nearest(positionOn(donor, *point) + field[to.points[k]]);
  }
  // The margin itself goes to the margin.
  for (std::size_t i = 0; i < to.curve.size(); ++i) {
    const double strength = share * awayFromCorners(to.curve.parameter(i));
    const std::uint32_t p = to.curve.points()[i];
    if (strength <= 0 && points[p]) continue;
    const Vec3d goal = from.curve.valueAt(to.curve.parameter(i), donor.positions);
    const Vec3d now = points[p] ? positionOn(donor, *points[p]) : goal;
    points[p] = half.nearest(strength * goal + (1 - strength) * now);
  }
}

}  // namespace

void matchMargins(const WeldedMesh& donor, const OpeningPair& pair,
                  std::span<std::optional<SurfacePoint>> points) {
  const FaceSlit& slit = pair.donor.slit;
  const double radius = pair.target.radius_m;
  matchSide(donor, pair.donor.upper, pair.donor.lower, pair.target.upper, slit, radius, points);
  matchSide(donor, pair.donor.lower, pair.donor.upper, pair.target.lower, slit, radius, points);
}

}  // namespace derm::detail
