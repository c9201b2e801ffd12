#include "cast/head/hair.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "cast/head/value_noise.h"
#include "cast/sculpt.h"

namespace derm::detail::cast {
namespace {

using Knot = std::pair<double, double>;

double lineHeight(const std::vector<Knot>& line, double degrees) {
  if (degrees <= line.front().first) return line.front().second;
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (degrees > line[i].first) continue;
    const double share = (degrees - line[i - 1].first) / (line[i].first - line[i - 1].first);
    return line[i - 1].second + share * (line[i].second - line[i - 1].second);
  }
  return line.back().second;
}

double degreesFromFront(const Vec3d& p) {
  return std::atan2(std::abs(p.x()), p.z() + 1) * 180 / std::numbers::pi;
}

/// Distance from the ear's outline in units of its size; above 1 outside.
double earDistance(const HeadDesign& design, const Vec3d& p, double height, double depth) {
  const EarDesign& ear = design.ear;
  const double z = p.z() - ear.z + .35 * ear.size + .2 * (p.y() - ear.y);
  return std::hypot((p.y() - ear.y) / (height * ear.size), z / (depth * ear.size));
}

}  // namespace

HairCover hairCover(const HeadDesign& design, const Vec3d& p) {
  const double height = p.y() - lineHeight(design.hair.line, degreesFromFront(p));
  if (height < -1.5) return {};
  // Strands as fine as a texel of the texture, in locks.
  const double angle = std::atan2(p.x(), p.z() + 1);
  const double strand = centredNoise({angle * 110, p.y() * .9, p.z() * .3}, 15);
  const double lock = centredNoise({angle * 26, p.y() * .8, 0}, 11);
  const double ragged = design.hair.fringe * (2.2 * strand + 1.6 * lock);
  HairCover cover;
  cover.scalp = smoothStep(-.5, .4, height + .5 * ragged);
  cover.strands = smoothStep(-.12, .30, height + 1.6 * ragged);
  if (std::abs(p.x()) > 4) {
    const double around = smoothStep(.97, 1.06, earDistance(design, p, 3.2, 1.95) + .15 * ragged);
    cover.scalp *= around;
    cover.strands *= around;
  }
  return cover;
}

Vec3d hairOffset(const HeadDesign& design, const Vec3d& p) {
  const HairDesign& hair = design.hair;
  const double height = p.y() - lineHeight(hair.line, degreesFromFront(p));
  double mask = smoothStep(-.3 * hair.softness, 1.7 * hair.softness, height);
  if (std::abs(p.x()) > 4) mask *= smoothStep(.98, 1.35, earDistance(design, p, 3.3, 2.1));
  const double lock =
      valueNoise(Vec3d(std::atan2(std::abs(p.x()), p.z() + 3) * 7, p.y() * .25, 0), 5);
  double thick = hair.thickness *
                 (0.55 + 0.55 * smoothStep(2, 9, p.y()) + .25 * (1 - smoothStep(-8, 0, p.z()))) *
                 (.88 + .24 * lock);
  const double x = p.x() / .45;
  thick *= 1 - hair.parting * std::exp(-x * x) * smoothStep(-7, -4, p.z());
  // Along rays from the skull's middle: along normals it would fold at the temple.
  return mask * thick * (p - Vec3d(0, 2, -1)).normalized();
}

}  // namespace derm::detail::cast
