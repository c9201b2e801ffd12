#include "face/maps/ratio.h"

#include <algorithm>
#include <cmath>

#include "derm/math/decompositions.h"

namespace derm::detail::maps {
namespace {

constexpr float kDarkest = 0.02f, kBrightest = 0.98f;
constexpr float kMaxRatio = 4.0f;  // beyond, it is no shading

Plane reduced(const Plane& plane, int halvings) {
  Plane out = plane;
  for (int i = 0; i < halvings; ++i) out = halved(out);
  return out;
}

/// The ramp in x and y nearest to the values, outliers left out: lamps that moved, which a blur
/// would follow badly at the borders. (A quadratic takes a part of wide furrows with it.)
Plane rampOf(const Plane& values, const Plane& weight) {
  constexpr int kPasses = 6;
  using Three = Eigen::Matrix<double, 3, 1>;
  const double cx = 0.5 * values.width, cy = 0.5 * values.height, r = std::max(cx, cy);
  const auto terms = [&](int x, int y) {
    const double u = (x - cx) / r, v = (y - cy) / r;
    return Three{1, u, v};
  };
  Plane out(values.width, values.height), keep = weight;
  for (int pass = 0; pass < kPasses; ++pass) {
    Eigen::Matrix<double, 3, 3> matrix = 1e-6 * Eigen::Matrix<double, 3, 3>::Identity();
    Three right = Three::Zero();
    for (int y = 0; y < values.height; ++y)
      for (int x = 0; x < values.width; ++x) {
        const auto w = static_cast<double>(keep.at(x, y));
        if (w == 0) continue;
        const Three t = terms(x, y);
        matrix.noalias() += w * t * t.transpose();
        right += w * static_cast<double>(values.at(x, y)) * t;
      }
    const Three found = solveSymmetric(matrix, right);
    Plane apart(values.width, values.height);
    for (int y = 0; y < values.height; ++y)
      for (int x = 0; x < values.width; ++x) {
        out.row(y)[x] = static_cast<float>(found.dot(terms(x, y)));
        apart.row(y)[x] = values.at(x, y) - out.at(x, y);
      }
    const float per = 1 / std::max(1e-6f, 2 * robustDeviation(apart, &weight));
    for (std::size_t i = 0; i < keep.size(); ++i) {
      const float e = per * apart.values[i];
      keep.values[i] = weight.values[i] / ((1 + e * e) * (1 + e * e));
    }
  }
  return out;
}

}  // namespace

Ratio ratioOf(const Plane& neutral, const Plane& expression, const Plane& weight) {
  Ratio out{Plane(neutral.width, neutral.height, 1), weight};
  forRows(neutral.height, [&](int y) {
    const float *a = neutral.row(y), *b = expression.row(y);
    float *value = out.value.row(y), *w = out.weight.row(y);
    for (int x = 0; x < neutral.width; ++x) {
      const bool known =
          a[x] > kDarkest && a[x] < kBrightest && b[x] > kDarkest && b[x] < kBrightest;
      if (known && w[x] > 0) {
        value[x] = std::min(b[x] / a[x], kMaxRatio);
      } else {
        w[x] = 0;
      }
    }
  });
  return out;
}

void removeSlowChange(Ratio& ratio) {
  constexpr double kSlow_px = 80, kFold_px = 5;
  constexpr int kPasses = 6;
  constexpr float kOutlier = 1.5f, kLittle = 1e-3f;
  const int w = ratio.value.width, h = ratio.value.height;
  // The change is slow: a quarter of the resolution shows it all.
  const int halvings = std::min(w, h) >= 64 ? 2 : 0;
  const double scale = static_cast<double>(1 << halvings);
  Plane logs(w, h);
  forRows(h, [&](int y) {
    for (int x = 0; x < w; ++x)
      logs.row(y)[x] =
          ratio.weight.at(x, y) > 0 ? ratio.weight.at(x, y) * std::log(ratio.value.at(x, y)) : 0.0f;
  });
  const Plane known = reduced(ratio.weight, halvings);
  Plane small = reduced(logs, halvings);
  for (std::size_t i = 0; i < small.size(); ++i)
    small.values[i] = known.values[i] > 0 ? small.values[i] / known.values[i] : 0.0f;
  const Plane ramp = rampOf(small, known);
  for (std::size_t i = 0; i < small.size(); ++i) small.values[i] -= ramp.values[i];
  const Plane smooth = blurred(small, known, kFold_px / scale, 0);
  Plane keep = known;
  Plane slow = blurred(small, keep, kSlow_px / scale, 0);
  for (int pass = 0; pass < kPasses; ++pass) {
    Plane apart(small.width, small.height);
    for (std::size_t i = 0; i < apart.size(); ++i)
      apart.values[i] = smooth.values[i] - slow.values[i];
    const float limit = kOutlier * robustDeviation(apart, &known);
    // Both sides alike: leaving out the dark ones alone would brighten the baseline.
    for (float& v : apart.values) v = std::abs(v) > limit ? 1.0f : 0.0f;
    apart = dilated(apart, std::max(1, static_cast<int>(std::lround(3 / scale))));
    for (std::size_t i = 0; i < keep.size(); ++i)
      keep.values[i] = apart.values[i] > 0 ? kLittle * known.values[i] : known.values[i];
    slow = blurred(small, keep, kSlow_px / scale, 0);
  }
  for (std::size_t i = 0; i < slow.size(); ++i) slow.values[i] += ramp.values[i];
  for (int i = halvings; i-- > 0;) {
    const int down = 1 << i;
    slow = doubled(slow, (w + down - 1) / down, (h + down - 1) / down, 1);
  }
  forRows(h, [&](int y) {
    for (int x = 0; x < w; ++x)
      if (ratio.weight.at(x, y) > 0) ratio.value.row(y)[x] *= std::exp(-slow.at(x, y));
  });
}

float noiseOf(const Ratio& ratio) {
  const Plane &v = ratio.value, &w = ratio.weight;
  std::vector<float> differences;
  for (int y = 0; y + 1 < v.height; ++y)
    for (int x = 0; x + 1 < v.width; ++x)
      if (w.at(x, y) > 0 && w.at(x + 1, y) > 0 && w.at(x, y + 1) > 0 && w.at(x + 1, y + 1) > 0)
        differences.push_back(v.at(x + 1, y + 1) - v.at(x, y + 1) - v.at(x + 1, y) + v.at(x, y));
  const float middle = median(differences);
  for (float& d : differences) d = std::abs(d - middle);
  return std::max(kLeastNoise, 1.4826f * median(differences) / 2);
}

Plane structureMask(const Plane& steepness, const Plane& weight, float noise) {
  constexpr double kSoft_px = 4;
  constexpr float kTimes = 3, kNoiseAfterBlur = 1 / 14.0f, kFlattest = 0.0008f, kShare = 0.35f;
  Plane mask = blurred(steepness, weight, kSoft_px, 0);
  const float limit =
      kTimes * std::max({robustDeviation(mask, &weight), noise * kNoiseAfterBlur, kFlattest});
  for (float& v : mask.values) v = v > limit ? 1.0f : 0.0f;
  mask = blurred(mask, kSoft_px);
  for (std::size_t i = 0; i < mask.size(); ++i)
    mask.values[i] = mask.values[i] > kShare && weight.values[i] > 0 ? 1.0f : 0.0f;
  return mask;
}

}  // namespace derm::detail::maps
