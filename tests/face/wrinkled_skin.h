#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "derm/base/rng.h"
#include "derm/face/detail_acquisition.h"
#include "derm/image/srgb.h"

#include "face/maps/height_fit.h"
#include "face/maps/plane.h"

/// Photos of skin whose shape is known.
namespace derm::testing_support {

using detail::maps::Plane;

inline double gaussian(Rng& rng) {
  const double u = 1 - rng.uniform(), v = rng.uniform();
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

/// A height field with its slopes. [px], y down.
struct Relief {
  Plane z, p, q;
  explicit Relief(Plane heights)
      : z(std::move(heights)), p(detail::maps::slopesAcross(z)), q(detail::maps::slopesDown(z)) {}
};

/// 512 x 512 with wavy furrows below each other; `sigma` is their half width, one after the other.
/// Depth 4 px at sigma 6, in proportion for others, so that all are equally steep.
struct Furrows {
  std::vector<double> sigma = {6};
  double spacing = 70;
  int count = 4;
  double sign = 1;  ///< -1: ridges
};

inline Relief furrows(const Furrows& f) {
  Plane z(512, 512);
  for (int y = 0; y < 512; ++y)
    for (int x = 0; x < 512; ++x) {
      double sum = 0;
      for (int k = 0; k < f.count; ++k) {
        const double s = f.sigma[static_cast<std::size_t>(k) % f.sigma.size()];
        const double centre = 140 + f.spacing * k + 8 * std::sin(x / 70.0 + k);
        const double depth = 4 * s / 6 * std::exp(-0.5 * std::pow((x - 256) / 110.0, 2));
        sum -= f.sign * depth * std::exp(-0.5 * std::pow((y - centre) / s, 2));
      }
      z.row(y)[x] = static_cast<float>(sum);
    }
  return Relief(std::move(z));
}

enum class Bits { Float, Linear8, Srgb8 };

inline float stored(double value, Bits bits) {
  const double v = std::clamp(value, 0.0, 1.0);
  if (bits == Bits::Float) return static_cast<float>(value);
  if (bits == Bits::Linear8) return static_cast<float>(std::round(v * 255) / 255);
  return linearFromSrgb(
      static_cast<float>(std::round(srgbFromLinear(static_cast<float>(v)) * 255) / 255));
}

inline double shading(double p, double q, const Vec3d& light) {
  return std::max(0.0, (-p * light.x() + q * light.y() + light.z()) / std::sqrt(1 + p * p + q * q));
}

/// Lambert's law with a random albedo, nothing out of place.
inline PhotoPair photosOf(const Relief& relief, const PhotoLight& light, double noise, Bits bits,
                          std::uint64_t seed = 7) {
  Rng rng(seed);
  const Vec3d d = directionOf(light);
  PhotoPair out;
  out.light = light;
  out.neutral = out.expression = FloatImage(relief.z.width, relief.z.height, 1);
  std::vector<double> albedo;
  for (std::size_t i = 0; i < relief.z.size(); ++i) albedo.push_back(rng.uniform(0.35, 0.8));
  for (std::size_t i = 0; i < relief.z.size(); ++i) {
    const double p = static_cast<double>(relief.p.values[i]);
    const double q = static_cast<double>(relief.q.values[i]);
    out.neutral.values[i] = stored(albedo[i] * d.z() + noise * gaussian(rng), bits);
    out.expression.values[i] = stored(albedo[i] * shading(p, q, d) + noise * gaussian(rng), bits);
  }
  return out;
}

/// Everything is wanted, nothing has to be aligned.
inline AcquisitionDesc wholePicture(const PhotoPair& pair) {
  AcquisitionDesc desc;
  desc.align = false;
  desc.mask = FloatImage(pair.neutral.width, pair.neutral.height, 1, 1.0f);
  return desc;
}

inline double angleBetween(double p, double q, double a, double b) {
  const double cosine = (1 + p * a + q * b) / std::sqrt((1 + p * p + q * q) * (1 + a * a + b * b));
  return std::acos(std::min(1.0, cosine)) * 180 / std::numbers::pi;
}

struct SlopeErrors {
  double steep_deg = 0;       ///< mean over pixels steeper than the limit
  double of_flat_deg = 0;     ///< what a flat map would have there
  double false_tilt_deg = 0;  ///< mean over pixels that are flat (below 0.05 degrees)
  double correlation_p = 0, correlation_q = 0;
};

inline SlopeErrors compare(const Plane& p, const Plane& q, const FloatImage& slopes,
                           double limit_deg = 3) {
  SlopeErrors out;
  double steep = 0, flat = 0;
  double pa = 0, pp = 0, aa = 0, qb = 0, qq = 0, bb = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const auto tp = static_cast<double>(p.values[i]), tq = static_cast<double>(q.values[i]);
    const auto a = static_cast<double>(slopes.values[2 * i]);
    const auto b = static_cast<double>(slopes.values[2 * i + 1]);
    const double tilt = std::atan(std::hypot(tp, tq)) * 180 / std::numbers::pi;
    const double angle = angleBetween(tp, tq, a, b);
    pa += tp * a, pp += tp * tp, aa += a * a, qb += tq * b, qq += tq * tq, bb += b * b;
    if (tilt > limit_deg) {
      steep += 1;
      out.steep_deg += angle;
      out.of_flat_deg += tilt;
    } else if (tilt < 0.05) {
      flat += 1;
      out.false_tilt_deg += angle;
    }
  }
  out.steep_deg /= std::max(1.0, steep);
  out.of_flat_deg /= std::max(1.0, steep);
  out.false_tilt_deg /= std::max(1.0, flat);
  out.correlation_p = pa / std::sqrt(std::max(1e-30, pp * aa));
  out.correlation_q = qb / std::sqrt(std::max(1e-30, qq * bb));
  return out;
}

/// A smooth random displacement, at most `largest_px` long.
struct Warp {
  Plane x, y;
  Warp(int width, int height, double largest_px, Rng& rng) : x(width, height), y(width, height) {
    if (largest_px == 0) return;
    float most = 0;
    for (Plane* plane : {&x, &y}) {
      for (float& v : plane->values) v = static_cast<float>(gaussian(rng));
      *plane = detail::maps::blurred(*plane, std::min(width, height) / 8.0);
    }
    for (std::size_t i = 0; i < x.size(); ++i)
      most = std::max(most, std::hypot(x.values[i], y.values[i]));
    const auto scale = static_cast<float>(largest_px) / most;
    for (Plane* plane : {&x, &y})
      for (float& v : plane->values) v *= scale;
  }
  /// The picture moved by it.
  Plane applied(const Plane& picture) const {
    Plane out(picture.width, picture.height);
    for (int r = 0; r < out.height; ++r)
      for (int c = 0; c < out.width; ++c)
        out.row(r)[c] = detail::maps::sampleLanczos(picture, static_cast<float>(c) - x.at(c, r),
                                                    static_cast<float>(r) - y.at(c, r));
    return out;
  }
  /// Where a point of the picture went: u with u = d(x + u).
  Vec2f of(int c, int r) const {
    Vec2f u = Vec2f::Zero();
    for (int i = 0; i < 5; ++i) {
      const float sx = static_cast<float>(c) + u.x(), sy = static_cast<float>(r) + u.y();
      u = Vec2f(detail::maps::sampleCubic(x, sx, sy), detail::maps::sampleCubic(y, sx, sy));
    }
    return u;
  }
};

/// As a camera stores it.
inline FloatImage photographed(const Plane& linear, double noise, Rng& rng) {
  Plane out = linear;
  for (float& v : out.values)
    v = stored(static_cast<double>(v) + noise * gaussian(rng), Bits::Srgb8);
  return detail::maps::imageOf(std::move(out));
}

}  // namespace derm::testing_support
