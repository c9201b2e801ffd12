#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "derm/math/vec.h"

/// Three heads by formula, [cm], +x the subject's left, +y up, +z where it looks; their 28 control
/// points (numbers of MPEG-4's feature points) and six expressions of these.
namespace derm::testing_support {

struct HeadShape {
  double a, b, c, jaw;     ///< ellipsoid and how much the jaw narrows
  double ex, ey, ew, eh;   ///< eyes: position, half width, half height
  double bx, by, bl;       ///< brows: position, half length
  double ny, nw, na, nbr;  ///< nose: tip, half width, height of tip and bridge
  double my, mw, lt;       ///< mouth: height, half width, thickness of lips
  double cy, chx, chy;     ///< chin, cheeks
  double diagonal;         ///< of the bounds
};

inline constexpr HeadShape kHumanA{7.5,  11,  9,   .25, 3.2,  1.2, 1.5, .55,  3.2, 3.2,  1.9,
                                   -1.8, 1.6, 2.2, 1.0, -4.9, 2.6, .55, -8.4, 4.1, -1.9, 33.799};
inline constexpr HeadShape kHumanB{6.9,  11.8, 9.6, .35, 2.9,  1.6, 1.35, .45,  2.9, 3.3,  1.7,
                                   -2.4, 1.35, 2.9, 1.3, -5.7, 2.2, .45,  -9.3, 3.6, -2.2, 35.615};
inline constexpr HeadShape kCartoonC{9.5,  10.5, 8.5, .10, 3.9,  .6,  2.4, 1.3,  4.0, 3.6,  2.2,
                                     -2.1, 1.0,  1.5, .4,  -4.6, 4.2, .6,  -7.6, 5.6, -2.4, 33.779};

/// The point of the front at (x, y).
inline Vec3d frontPoint(const HeadShape& h, double x, double y) {
  const auto smooth = [](double t) { return t * t * (3 - 2 * t); };
  double bumps = 0;
  const auto bump = [&](double height, double at_x, double at_y, double sx, double sy) {
    bumps +=
        height * std::exp(-0.5 * (std::pow((x - at_x) / sx, 2) + std::pow((y - at_y) / sy, 2)));
  };
  for (const double s : {-1.0, 1.0}) {
    bump(-.9, s * h.ex, h.ey, h.ew, 1.7 * h.eh);
    bump(.75, s * h.ex, h.ey, .5 * h.ew, .9 * h.eh);
    bump(.6, s * h.bx, h.by, .85 * h.bl, .5);
    bump(.75, .85 * s * h.nw, h.ny - .15, .33 * h.nw, .45);
    bump(.5, s * h.chx, h.chy, .9 * h.bl, 1.6);
    bump(-.3, s * h.mw, h.my, .4, .4);
  }
  bump(h.na, 0, h.ny, .55 * h.nw, .85);
  bump(h.nbr, 0, (h.ny + h.ey) / 2, .4 * h.nw, (h.ey - h.ny) / 2);
  bump(.7, 0, h.my + h.lt, .6 * h.mw, .7 * h.lt);
  bump(.65, 0, h.my - h.lt, .55 * h.mw, .75 * h.lt);
  bump(-.45, 0, h.my, .7 * h.mw, .16);
  bump(.9, 0, h.cy, 1.4, .8);
  bump(-.3, 0, (h.cy + h.my - h.lt) / 2, 1.5, .45);
  const double uy = y / h.b;
  const double ux = x / (h.a * (1 - h.jaw * smooth(std::clamp(-uy, 0.0, 1.0))));
  const double uz = std::sqrt(1 - ux * ux - uy * uy);
  return {x, y, h.c * uz + smooth(std::clamp(uz / 0.5, 0.0, 1.0)) * bumps};
}

struct ControlPoint {
  const char* left;   ///< its number; of a pair, that of the subject's left
  const char* right;  ///< null on the midline
  double x, y;
};

inline std::array<ControlPoint, 16> controlPointPlaces(const HeadShape& h) {
  return {{{"4.1", "4.2", h.bx - h.bl, h.by - .15},
           {"4.3", "4.4", h.bx, h.by + .25},
           {"4.5", "4.6", h.bx + h.bl, h.by - .35},
           {"3.1", "3.2", h.ex, h.ey + h.eh},
           {"3.3", "3.4", h.ex, h.ey - h.eh},
           {"3.7", "3.12", h.ex + h.ew, h.ey},
           {"3.11", "3.8", h.ex - h.ew, h.ey},
           {"5.1", "5.2", h.chx, h.chy},
           {"9.1", "9.2", h.nw, h.ny - .2},
           {"9.3", nullptr, 0, h.ny},
           {"8.1", nullptr, 0, h.my + 1.7 * h.lt},
           {"8.2", nullptr, 0, h.my - 1.8 * h.lt},
           {"8.3", "8.4", h.mw, h.my},
           {"8.5", "8.6", h.mw / 2, h.my + 1.3 * h.lt},
           {"8.7", "8.8", h.mw / 2, h.my - 1.35 * h.lt},
           {"2.1", nullptr, 0, h.cy}}};
}

struct ControlPoints {
  std::vector<std::string> labels;
  std::vector<Vec3d> positions;

  std::size_t at(const std::string& label) const {
    return static_cast<std::size_t>(std::find(labels.begin(), labels.end(), label) -
                                    labels.begin());
  }
};

inline ControlPoints controlPoints(const HeadShape& h) {
  ControlPoints out;
  for (const ControlPoint& p : controlPointPlaces(h)) {
    out.labels.emplace_back(p.left);
    out.positions.push_back(frontPoint(h, p.x, p.y));
    if (p.right == nullptr) continue;
    out.labels.emplace_back(p.right);
    out.positions.push_back(frontPoint(h, -p.x, p.y));
  }
  return out;
}

enum class FaceUnit { Ens, Mns, Mw, Ir };

/// [cm]
inline double length(FaceUnit unit, const HeadShape& h) {
  switch (unit) {
    case FaceUnit::Ens:
      return h.ey - h.ny;
    case FaceUnit::Mns:
      return h.ny - h.my;
    case FaceUnit::Mw:
      return 2 * h.mw;
    case FaceUnit::Ir:
      return 2 * h.eh;
  }
  return 0;
}

/// Of the left point, x outwards; the right one mirrors it.
struct PointMove {
  const char* label;
  FaceUnit unit;
  double x, y, z;
};

struct FaceExpression {
  const char* name;
  std::vector<PointMove> moves;
};

inline std::vector<FaceExpression> faceExpressions() {
  constexpr FaceUnit Ens = FaceUnit::Ens, Mns = FaceUnit::Mns, Mw = FaceUnit::Mw, Ir = FaceUnit::Ir;
  return {{"joy",
           {{"8.3", Mw, .16, 0, 0},
            {"8.3", Mns, 0, .35, 0},
            {"8.5", Mw, .06, 0, 0},
            {"8.5", Mns, 0, .10, 0},
            {"8.7", Mw, .06, 0, 0},
            {"8.7", Mns, 0, -.05, 0},
            {"8.2", Mns, 0, -.10, 0},
            {"8.1", Mns, 0, .05, 0},
            {"5.1", Ens, .04, .16, .08},
            {"3.3", Ir, 0, .25, 0},
            {"3.1", Ir, 0, -.10, 0}}},
          {"sadness",
           {{"4.1", Ens, -.03, .20, 0},
            {"4.3", Ens, 0, .02, 0},
            {"4.5", Ens, 0, -.10, 0},
            {"8.3", Mns, 0, -.25, 0},
            {"8.7", Mns, 0, -.10, 0},
            {"3.1", Ir, 0, -.30, 0},
            {"2.1", Mns, 0, .06, 0}}},
          {"disgust",
           {{"4.1", Ens, -.05, -.15, 0},
            {"4.3", Ens, 0, -.12, 0},
            {"9.1", Ens, .03, .14, 0},
            {"9.3", Ens, 0, .05, 0},
            {"8.1", Mns, 0, .22, .05},
            {"8.5", Mns, 0, .25, 0},
            {"8.3", Mns, 0, -.05, 0},
            {"5.1", Ens, 0, .14, .05},
            {"3.3", Ir, 0, .30, 0},
            {"3.1", Ir, 0, -.20, 0}}},
          {"surprise",
           {{"4.1", Ens, 0, .35, 0},
            {"4.3", Ens, 0, .42, 0},
            {"4.5", Ens, 0, .33, 0},
            {"3.1", Ir, 0, .35, 0},
            {"3.3", Ir, 0, -.10, 0},
            {"2.1", Mns, 0, -.95, -.10},
            {"8.2", Mns, 0, -.80, -.05},
            {"8.7", Mns, 0, -.65, 0},
            {"8.3", Mw, -.06, 0, 0},
            {"8.3", Mns, 0, -.30, 0},
            {"8.1", Mns, 0, .06, 0}}},
          {"fear",
           {{"4.1", Ens, -.06, .32, 0},
            {"4.3", Ens, -.02, .22, 0},
            {"4.5", Ens, 0, .10, 0},
            {"3.1", Ir, 0, .30, 0},
            {"3.3", Ir, 0, .05, 0},
            {"8.3", Mw, .08, 0, 0},
            {"8.3", Mns, 0, -.12, 0},
            {"8.2", Mns, 0, -.25, 0},
            {"8.7", Mns, 0, -.22, 0},
            {"2.1", Mns, 0, -.25, 0}}},
          {"anger",
           {{"4.1", Ens, -.09, -.24, .02},
            {"4.3", Ens, -.04, -.18, 0},
            {"4.5", Ens, 0, .04, 0},
            {"3.1", Ir, 0, -.12, 0},
            {"3.3", Ir, 0, .15, 0},
            {"8.1", Mns, 0, -.10, 0},
            {"8.2", Mns, 0, .12, 0},
            {"8.3", Mw, -.05, 0, 0},
            {"9.1", Ens, .05, .05, 0}}}};
}

/// The control points of a head that wears an expression.
inline std::vector<Vec3d> withExpression(const HeadShape& h, const FaceExpression& expression) {
  ControlPoints points = controlPoints(h);
  for (const PointMove& move : expression.moves) {
    const Vec3d by = length(move.unit, h) * Vec3d(move.x, move.y, move.z);
    for (const ControlPoint& p : controlPointPlaces(h)) {
      if (std::string(p.left) != move.label) continue;
      points.positions[points.at(p.left)] += by;
      if (p.right != nullptr)
        points.positions[points.at(p.right)] += Vec3d(-by.x(), by.y(), by.z());
    }
  }
  return points.positions;
}

}  // namespace derm::testing_support
