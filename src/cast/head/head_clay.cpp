#include "cast/head/head_clay.h"

#include <algorithm>
#include <cmath>

#include "derm/base/assert.h"

#include "cast/head/tables.h"
#include "cast/sculpt.h"

namespace derm::detail::cast {
namespace {

/// One solid of the common model. Radii: of an ellipsoid its three; of a cone (x, y) at its ends.
struct ModelSolid {
  std::string_view name;
  enum Kind { Ellipsoid, Cone } kind;
  Vec3d a;  ///< centre, or first end
  Vec3d b;  ///< radii, or second end
  double radius_a, radius_b;
  double
      blend;  ///< [cm]: bone under cheek and jaw 2 to 3, nose about 1, its wings and nostrils less
  bool carve, both_sides;
};

const std::vector<ModelSolid>& modelSolids() {
  static const std::vector<ModelSolid> solids = [] {
    std::vector<ModelSolid> s;
    constexpr bool kMiddle = false, kSides = true;
    const auto lump = [&](std::string_view name, const Vec3d& centre, const Vec3d& radii,
                          double blend, bool sides) {
      s.push_back({name, ModelSolid::Ellipsoid, centre, radii, 0, 0, blend, false, sides});
    };
    const auto hollow = [&](std::string_view name, const Vec3d& centre, const Vec3d& radii,
                            double blend, bool sides) {
      s.push_back({name, ModelSolid::Ellipsoid, centre, radii, 0, 0, blend, true, sides});
    };
    const auto cone = [&](std::string_view name, const Vec3d& a, const Vec3d& b, double ra,
                          double rb, double blend, bool sides) {
      s.push_back({name, ModelSolid::Cone, a, b, ra, rb, blend, false, sides});
    };
    lump("cranium", {0, 4.0, -0.95}, {7.35, 7.3, 8.7}, 0, kMiddle);
    lump("forehead", {0, 3.7, 2.5}, {5.95, 5.3, 6.35}, 1.6, kMiddle);
    lump("face", {0, -2.8, 2.5}, {5.7, 6.9, 6.2}, 2.2, kMiddle);
    cone("neck", {0, -6.0, -1.9}, {0, -19.0, -3.6}, 4.55, 4.8, 3.0, kMiddle);
    cone("traps", {1.5, -13.0, -5.0}, {7.5, -19.5, -4.5}, 2.2, 3.2, 3.5, kSides);
    cone("jaw", {3.5, -5.9, 1.0}, {1.6, -8.8, 6.3}, 1.25, 1.5, 2.6, kSides);
    cone("ramus", {4.7, -2.0, 0.9}, {3.55, -5.9, 1.0}, 1.35, 1.30, 3.0, kSides);
    lump("buccal", {3.1, -4.7, 4.2}, {2.1, 2.6, 3.1}, 2.6, kSides);
    lump("chin", {0, -9.15, 7.65}, {1.9, 1.45, 1.85}, 2.0, kMiddle);
    lump("muzzle", {0, -6.3, 6.55}, {3.2, 2.9, 3.1}, 1.8, kMiddle);
    lump("lipmass", {0, -6.40, 8.0}, {2.5, 1.75, 1.72}, 1.6, kMiddle);
    lump("cheek", {4.0, -2.6, 5.65}, {1.9, 1.7, 1.8}, 2.2, kSides);
    cone("arch", {4.7, -1.9, 4.9}, {5.9, -1.0, 0.9}, 0.60, 0.50, 2.6, kSides);
    cone("brow", {1.3, 1.7, 7.65}, {4.6, 1.75, 5.95}, 0.75, 0.70, 1.8, kSides);
    hollow("temple", {8.8, 2.0, 4.4}, {2.0, 2.8, 2.8}, 2.0, kSides);
    hollow("socket", {3.15, 0.05, 8.7}, {1.75, 1.05, 1.75}, 1.3, kSides);
    hollow("canthus", {1.40, 0.0, 8.75}, {0.6, 0.9, 0.8}, 0.8, kSides);
    cone("bridge", {0, 1.0, 7.55}, {0, -2.6, 10.15}, 0.50, 0.66, 1.0, kMiddle);
    lump("tip", {0, -3.05, 10.5}, {0.78, 0.74, 0.90}, 0.8, kMiddle);
    lump("nosebase", {0, -3.15, 9.1}, {1.25, 0.88, 1.3}, 0.8, kMiddle);
    cone("nosewall", {0.30, 0.1, 7.55}, {0.70, -2.5, 8.8}, 0.42, 0.60, 1.2, kSides);
    lump("ala", {0.92, -3.33, 9.62}, {0.56, 0.58, 0.86}, 0.40, kSides);
    cone("columella", {0, -3.8, 9.6}, {0, -3.52, 10.75}, 0.34, 0.34, 0.5, kMiddle);
    hollow("nostril", {0.55, -4.02, 10.0}, {0.30, 0.34, 0.45}, 0.25, kSides);
    lump("lids", Vec3d::Zero(), Vec3d::Ones(), 0.55, kSides);  // placed by the eye
    hollow("sulcus", {0, -8.15, 10.15}, {1.9, 0.5, 0.8}, 0.8, kMiddle);
    return s;
  }();
  return solids;
}

double ellipsoidDistance(const Vec3d& p, const Vec3d& centre, const Vec3d& radii) {
  const Vec3d q = (p - centre).cwiseQuotient(radii);
  const double k0 = q.norm(), k1 = q.cwiseQuotient(radii).norm();
  return k0 * (k0 - 1) / std::max(k1, 1e-9);
}

/// A capsule whose radius changes linearly.
double capsuleDistance(const Vec3d& p, const Vec3d& a, const Vec3d& b, double ra, double rb) {
  const Vec3d axis = b - a;
  const double t = std::clamp((p - a).dot(axis) / axis.squaredNorm(), 0.0, 1.0);
  return (p - a - t * axis).norm() - (ra + (rb - ra) * t);
}

}  // namespace

HeadClay::HeadClay(const HeadDesign& design) : warp_(design.warp) {
  const SolidChange none;
  for (const ModelSolid& model : modelSolids()) {
    const auto found = design.solids.find(model.name);
    const SolidChange& change = found == design.solids.end() ? none : found->second;
    if (change.removed) continue;
    Solid s;
    s.name = model.name;
    s.cone = model.kind == ModelSolid::Cone;
    s.carve = model.carve;
    s.both_sides = model.both_sides;
    s.blend = change.blend.value_or(model.blend);
    if (model.name == "lids") {
      // Bulges over the ball: closed lids and, by its blend, the soft fold of the orbit.
      s.a = design.eye.centre;
      s.b = Vec3d::Constant(design.eye.radius + design.eye.lid);
    } else if (s.cone) {
      const Vec3d scale = warpScale((model.a.y() + model.b.y()) / 2);
      const double thick = (scale.x() + scale.z()) / 2 * change.scale.x();
      s.a = warped(model.a) + change.move;
      s.b = warped(model.b) + change.move_end.value_or(change.move);
      s.radius_a = model.radius_a * thick;
      s.radius_b = model.radius_b * thick;
    } else {
      s.a = warped(model.a) + change.move;
      s.b = model.b.cwiseProduct(warpScale(model.a.y())).cwiseProduct(change.scale);
    }
    solids_.push_back(s);
  }
}

Vec3d HeadClay::warped(const Vec3d& p) const {
  if (warp_.empty()) return p;
  return {p.x() * interpolated(warp_, p.y(), &WarpKnot::y, &WarpKnot::x_scale),
          interpolated(warp_, p.y(), &WarpKnot::y, &WarpKnot::to_y),
          p.z() * interpolated(warp_, p.y(), &WarpKnot::y, &WarpKnot::z_scale)};
}

Vec3d HeadClay::warpScale(double y) const {
  if (warp_.empty()) return Vec3d::Ones();
  constexpr double kStep = 0.6;
  const auto height = [&](double at) {
    return interpolated(warp_, at, &WarpKnot::y, &WarpKnot::to_y);
  };
  return {interpolated(warp_, y, &WarpKnot::y, &WarpKnot::x_scale),
          (height(y + kStep) - height(y - kStep)) / (2 * kStep),
          interpolated(warp_, y, &WarpKnot::y, &WarpKnot::z_scale)};
}

double HeadClay::solidDistance(const Solid& s, const Vec3d& p) {
  return s.cone ? capsuleDistance(p, s.a, s.b, s.radius_a, s.radius_b)
                : ellipsoidDistance(p, s.a, s.b);
}

double HeadClay::distance(const Vec3d& p) const {
  const Vec3d mirrored(-p.x(), p.y(), p.z());
  double d = 0;
  bool first = true;
  for (const Solid& s : solids_) {
    double e = solidDistance(s, p);
    if (s.both_sides) e = smoothMin(e, solidDistance(s, mirrored), s.blend);
    if (first)
      d = e;
    else
      d = s.carve ? -smoothMin(-d, e, s.blend) : smoothMin(d, e, s.blend);
    first = false;
  }
  return d;
}

Vec3d HeadClay::gradient(const Vec3d& p) const {
  constexpr double kStep = 0.02;
  Vec3d g;
  for (int i = 0; i < 3; ++i) {
    const Vec3d step = kStep * Vec3d::Unit(i);
    g[i] = (distance(p + step) - distance(p - step)) / (2 * kStep);
  }
  return g;
}

Vec3d HeadClay::projected(Vec3d p, int steps, bool keep_y) const {
  for (int n = 0; n < steps; ++n) {
    const double d = distance(p);
    if (std::abs(d) < 1e-9) break;
    Vec3d g = gradient(p);
    if (keep_y) g.y() = 0;
    p -= std::clamp(d / std::max(g.squaredNorm(), 0.2), -0.6, 0.6) * g;
  }
  return p;
}

double HeadClay::frontZ(double x, double y) const {
  double z = 13;
  for (int n = 0; n < 60; ++n) z -= 0.8 * std::clamp(distance({x, y, z}), -0.3, 0.5);
  return z;
}

double HeadClay::sideX(double y, double z) const {
  double x = 12;
  for (int n = 0; n < 50; ++n) x -= 0.8 * std::clamp(distance({x, y, z}), -0.3, 0.5);
  return x;
}

std::pair<Vec3d, Vec3d> HeadClay::ellipsoidOf(std::string_view name) const {
  for (const Solid& s : solids_)
    if (s.name == name) return {s.a, s.b};
  DERM_REQUIRE(!"a solid of that name");
  return {};
}

}  // namespace derm::detail::cast
