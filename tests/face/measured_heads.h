#pragma once

#include <algorithm>
#include <cmath>

#include "derm/face/face_points.h"

namespace derm {

/// Three faces as formulas, in cm: two human ones and a cartoon. The surface is an ellipsoid with a
/// narrower jaw and bumps for the features; control points lie over given (x, y).
struct MeasuredHead {
  double a, b, c, jaw, ex, ey, ew, eh, bx, by, bl, ny, nw, na, nbr, my, mw, lt, cy, chx, chy;

  static double smooth(double t) {
    t = std::clamp(t, 0.0, 1.0);
    return t * t * (3 - 2 * t);
  }

  /// [cm] the front of the surface over (x, y).
  Vec3d over(double x, double y) const {
    const double uy = y / b;
    const double narrow = 1 - jaw * smooth(-uy);
    const double ux = x / (a * narrow);
    const double uz = std::sqrt(std::max(0.0, 1 - ux * ux - uy * uy));
    return {x, y, c * uz + smooth(uz / 0.5) * bumps(x, y)};
  }

  double bumps(double x, double y) const {
    double sum = 0;
    const auto add = [&](double height, double X, double Y, double sx, double sy) {
      const double u = (x - X) / sx, v = (y - Y) / sy;
      sum += height * std::exp(-0.5 * (u * u + v * v));
    };
    for (const double s : {-1.0, 1.0}) {
      add(-.9, s * ex, ey, ew, 1.7 * eh);
      add(.75, s * ex, ey, .5 * ew, .9 * eh);
      add(.6, s * bx, by, .85 * bl, .5);
      add(.75, .85 * s * nw, ny - .15, .33 * nw, .45);
      add(.5, s * chx, chy, .9 * bl, 1.6);
      add(-.3, s * mw, my, .4, .4);
    }
    add(na, 0, ny, .55 * nw, .85);
    add(nbr, 0, (ny + ey) / 2, .4 * nw, (ey - ny) / 2);
    add(.7, 0, my + lt, .6 * mw, .7 * lt);
    add(.65, 0, my - lt, .55 * mw, .75 * lt);
    add(-.45, 0, my, .7 * mw, .16);
    add(.9, 0, cy, 1.4, .8);
    add(-.3, 0, (cy + my - lt) / 2, 1.5, .45);
    return sum;
  }

  FacePoints points() const {
    FacePoints out;
    const auto pair = [&](std::string_view left, double x, double y) {
      out.set(left, over(x, y));
      out.set(findFaceFeature(left)->mirror, over(-x, y));
    };
    pair("4.1", bx - bl, by - .15);
    pair("4.3", bx, by + .25);
    pair("4.5", bx + bl, by - .35);
    pair("3.1", ex, ey + eh);
    pair("3.3", ex, ey - eh);
    pair("3.7", ex + ew, ey);
    pair("3.11", ex - ew, ey);
    pair("5.1", chx, chy);
    pair("9.1", nw, ny - .2);
    pair("8.3", mw, my);
    pair("8.5", mw / 2, my + 1.3 * lt);
    pair("8.7", mw / 2, my - 1.35 * lt);
    out.set("9.3", over(0, ny));
    out.set("8.1", over(0, my + 1.7 * lt));
    out.set("8.2", over(0, my - 1.8 * lt));
    out.set("2.1", over(0, cy));
    return out;
  }
};

inline constexpr MeasuredHead kHeadA = {7.5,  11,  9,   .25, 3.2,  1.2, 1.5, .55,  3.2, 3.2, 1.9,
                                        -1.8, 1.6, 2.2, 1.0, -4.9, 2.6, .55, -8.4, 4.1, -1.9};
inline constexpr MeasuredHead kHeadB = {6.9,  11.8, 9.6, .35, 2.9,  1.6, 1.35, .45,  2.9, 3.3, 1.7,
                                        -2.4, 1.35, 2.9, 1.3, -5.7, 2.2, .45,  -9.3, 3.6, -2.2};
inline constexpr MeasuredHead kHeadC = {9.5,  10.5, 8.5, .10, 3.9,  .6,  2.4, 1.3,  4.0, 3.6, 2.2,
                                        -2.1, 1.0,  1.5, .4,  -4.6, 4.2, .6,  -7.6, 5.6, -2.4};

}  // namespace derm
