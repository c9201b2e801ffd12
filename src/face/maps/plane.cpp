#include "face/maps/plane.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "derm/base/assert.h"

namespace derm::detail::maps {
namespace {

int mirrored(int i, int n) {
  if (n == 1) return 0;
  const int period = 2 * n;
  i %= period;
  if (i < 0) i += period;
  return i < n ? i : period - 1 - i;
}

/// Half of a symmetric kernel, from the middle outwards; sums to one.
std::vector<float> gaussianTaps(double sigma) {
  const int radius = std::max(1, static_cast<int>(std::ceil(3.5 * sigma)));
  std::vector<double> taps;
  double sum = 0;
  for (int i = 0; i <= radius; ++i) {
    taps.push_back(std::exp(-0.5 * i * i / (sigma * sigma)));
    sum += (i == 0 ? 1 : 2) * taps.back();
  }
  std::vector<float> out;
  for (const double t : taps) out.push_back(static_cast<float>(t / sum));
  return out;
}

Plane convolved(const Plane& plane, const std::vector<float>& taps) {
  const int w = plane.width, h = plane.height, radius = static_cast<int>(taps.size()) - 1;
  Plane across(w, h), out(w, h);
  forRows(h, [&](int y) {
    std::vector<float> padded(static_cast<std::size_t>(w + 2 * radius));
    const float* in = plane.row(y);
    for (int x = -radius; x < w + radius; ++x)
      padded[static_cast<std::size_t>(x + radius)] = in[x >= 0 && x < w ? x : mirrored(x, w)];
    RowMap sum(across.row(y), w);
    const float* middle = padded.data() + radius;
    sum = taps[0] * ConstRowMap(middle, w);
    for (int i = 1; i <= radius; ++i)
      sum += taps[static_cast<std::size_t>(i)] *
             (ConstRowMap(middle - i, w) + ConstRowMap(middle + i, w));
  });
  forRows(h, [&](int y) {
    RowMap sum(out.row(y), w);
    sum = taps[0] * ConstRowMap(across.row(y), w);
    for (int i = 1; i <= radius; ++i)
      sum += taps[static_cast<std::size_t>(i)] * (ConstRowMap(across.row(mirrored(y - i, h)), w) +
                                                  ConstRowMap(across.row(mirrored(y + i, h)), w));
  });
  return out;
}

struct Taps {
  int first = 0;
  std::array<float, 6> weight = {};
};

Taps cubicTaps(float at) {
  const float base = std::floor(at), t = at - base;
  return {static_cast<int>(base) - 1,
          {((-0.5f * t + 1) * t - 0.5f) * t, (1.5f * t - 2.5f) * t * t + 1,
           ((-1.5f * t + 2) * t + 0.5f) * t, (0.5f * t - 0.5f) * t * t, 0, 0}};
}

Taps lanczosTaps(float at) {
  const float base = std::floor(at), t = at - base;
  Taps taps{static_cast<int>(base) - 2, {}};
  float sum = 0;
  for (int i = 0; i < 6; ++i) {
    const float d = std::abs(static_cast<float>(i - 2) - t);
    const float a = std::numbers::pi_v<float> * d;
    const float v = d < 1e-4f ? 1.0f : d < 3 ? 3 * std::sin(a) * std::sin(a / 3) / (a * a) : 0.0f;
    taps.weight[static_cast<std::size_t>(i)] = v;
    sum += v;
  }
  for (float& v : taps.weight) v /= sum;
  return taps;
}

template <int N>
float sample(const Plane& plane, const Taps& tx, const Taps& ty) {
  float sum = 0;
  const bool inside =
      tx.first >= 0 && tx.first + N <= plane.width && ty.first >= 0 && ty.first + N <= plane.height;
  for (int j = 0; j < N; ++j) {
    const float* row =
        plane.row(inside ? ty.first + j : std::clamp(ty.first + j, 0, plane.height - 1));
    float across = 0;
    for (int i = 0; i < N; ++i) {
      const int x = inside ? tx.first + i : std::clamp(tx.first + i, 0, plane.width - 1);
      across += tx.weight[static_cast<std::size_t>(i)] * row[x];
    }
    sum += ty.weight[static_cast<std::size_t>(j)] * across;
  }
  return sum;
}

/// Keeps positions where an int can hold them; NaN becomes the border.
float bounded(float at, int size) {
  return at > -8 ? std::min(at, static_cast<float>(size) + 8) : -8.0f;
}

}  // namespace

Plane::Plane(int width_px, int height_px, float value) : width(width_px), height(height_px) {
  DERM_REQUIRE(width >= 0 && height >= 0);
  values.assign(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), value);
}

Plane planeOf(const FloatImage& image, int channel) {
  DERM_REQUIRE(channel >= 0 && channel < image.channels);
  Plane out(image.width, image.height);
  const auto step = static_cast<std::size_t>(image.channels);
  for (std::size_t i = 0; i < out.size(); ++i)
    out.values[i] = image.values[i * step + static_cast<std::size_t>(channel)];
  return out;
}

FloatImage imageOf(Plane plane) {
  FloatImage out;
  out.width = plane.width;
  out.height = plane.height;
  out.values = std::move(plane.values);
  return out;
}

Plane blurred(const Plane& plane, double sigma) {
  constexpr double kWidestDirect = 8;
  if (!(sigma > 0) || plane.size() == 0) return plane;
  if (sigma <= kWidestDirect || std::min(plane.width, plane.height) < 16)
    return convolved(plane, gaussianTaps(sigma));
  // Halving is a box of variance 1/4, going back by Catmull-Rom hardly blurs.
  const Plane small = blurred(halved(plane), std::sqrt(sigma * sigma - 0.25) / 2);
  return doubled(small, plane.width, plane.height, 1);
}

Plane blurred(const Plane& plane, const Plane& weight, double sigma, float otherwise) {
  Plane weighted = plane;
  forRows(plane.height, [&](int y) {
    RowMap(weighted.row(y), plane.width) *= ConstRowMap(weight.row(y), plane.width);
  });
  Plane sum = blurred(weighted, sigma);
  const Plane total = blurred(weight, sigma);
  forRows(plane.height, [&](int y) {
    float* out = sum.row(y);
    const float* w = total.row(y);
    for (int x = 0; x < plane.width; ++x) out[x] = w[x] > 1e-6f ? out[x] / w[x] : otherwise;
  });
  return sum;
}

Plane halved(const Plane& plane) {
  const int w = plane.width, h = plane.height;
  Plane out((w + 1) / 2, (h + 1) / 2);
  forRows(out.height, [&](int y) {
    const float* a = plane.row(2 * y);
    const float* b = plane.row(std::min(2 * y + 1, h - 1));
    float* to = out.row(y);
    for (int x = 0; x < w / 2; ++x)
      to[x] = 0.25f * (a[2 * x] + a[2 * x + 1] + b[2 * x] + b[2 * x + 1]);
    if (w % 2 != 0) to[w / 2] = 0.5f * (a[w - 1] + b[w - 1]);
  });
  return out;
}

Plane doubled(const Plane& plane, int width, int height, float factor) {
  // Even pixels lie a quarter of a small pixel before its middle, odd ones a quarter behind.
  const std::array<Taps, 2> phases = {cubicTaps(0.75f), cubicTaps(0.25f)};
  const int w = plane.width;
  Plane out(width, height);
  forRows(height, [&](int y) {
    const Taps& down = phases[static_cast<std::size_t>(y % 2)];
    const int first = y / 2 - (y % 2 == 0 ? 2 : 1);
    std::vector<float> mixed(static_cast<std::size_t>(w + 4));
    RowMap middle(mixed.data() + 2, w);
    middle.setZero();
    for (int j = 0; j < 4; ++j)
      middle += (factor * down.weight[static_cast<std::size_t>(j)]) *
                ConstRowMap(plane.row(std::clamp(first + j, 0, plane.height - 1)), w);
    mixed[0] = mixed[1] = mixed[2];
    mixed[static_cast<std::size_t>(w + 2)] = mixed[static_cast<std::size_t>(w + 3)] =
        mixed[static_cast<std::size_t>(w + 1)];
    float* to = out.row(y);
    for (int x = 0; x < width; ++x) {
      const std::array<float, 6>& t = phases[static_cast<std::size_t>(x % 2)].weight;
      const float* from = mixed.data() + std::min(x / 2 + (x % 2 == 0 ? 0 : 1), w);
      to[x] = t[0] * from[0] + t[1] * from[1] + t[2] * from[2] + t[3] * from[3];
    }
  });
  return out;
}

float median(std::span<float> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

float robustDeviation(const Plane& plane, const Plane* keep) {
  std::vector<float> values;
  values.reserve(plane.size());
  for (std::size_t i = 0; i < plane.size(); ++i)
    if (keep == nullptr || keep->values[i] > 0.5f) values.push_back(plane.values[i]);
  const float middle = median(values);
  for (float& v : values) v = std::abs(v - middle);
  return 1.4826f * median(values);
}

Plane dilated(const Plane& plane, int radius) {
  const int w = plane.width, h = plane.height;
  Plane across(w, h), out(w, h);
  forRows(h, [&](int y) {
    const float* in = plane.row(y);
    float* to = across.row(y);
    for (int x = 0; x < w; ++x)
      to[x] = *std::max_element(in + std::max(0, x - radius), in + std::min(w, x + radius + 1));
  });
  forRows(h, [&](int y) {
    RowMap to(out.row(y), w);
    to = ConstRowMap(across.row(y), w);
    for (int j = std::max(0, y - radius); j < std::min(h, y + radius + 1); ++j)
      to = to.max(ConstRowMap(across.row(j), w));
  });
  return out;
}

float sampleCubic(const Plane& plane, float x, float y) {
  return sample<4>(plane, cubicTaps(bounded(x, plane.width)), cubicTaps(bounded(y, plane.height)));
}

float sampleLanczos(const Plane& plane, float x, float y) {
  return sample<6>(plane, lanczosTaps(bounded(x, plane.width)),
                   lanczosTaps(bounded(y, plane.height)));
}

}  // namespace derm::detail::maps
