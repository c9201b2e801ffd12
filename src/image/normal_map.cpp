#include "derm/image/normal_map.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "derm/base/assert.h"
#include "derm/base/parallel.h"

#include "image/normal_kernels.h"

namespace derm {
namespace {

using Row = Eigen::ArrayXf;

/// A run of normals, one array per coordinate, so that all of it is plain vector arithmetic.
struct Run {
  Row x, y, z;
  void resize(Eigen::Index n) {
    x.resize(n);
    y.resize(n);
    z.resize(n);
  }
  void normalise(Row& scratch) {
    scratch = (x.square() + y.square() + z.square()).max(1e-20f).sqrt().inverse();
    x *= scratch;
    y *= scratch;
    z *= scratch;
  }
};

/// Blends one layer at a time; keeps its arrays from run to run.
class Blender {
 public:
  explicit Blender(NormalBlend blend) : blend_(blend) {}
  Run base, layer;
  Row gamma;

  void add() {
    if (blend_ == NormalBlend::PartialDerivative) {
      // Steeper than 1:1000 is no slope any more.
      a_ = gamma / layer.z.max(1e-3f);
      b_ = base.z.max(1e-3f);
      base.x += a_ * layer.x * b_;
      base.y += a_ * layer.y * b_;
      base.normalise(a_);
      return;
    }
    layer.x *= gamma;
    layer.y *= gamma;
    layer.z = 1 + gamma * (layer.z - 1);
    layer.normalise(a_);
    if (blend_ == NormalBlend::Reoriented) {
      // r = t (t.u) / t_z - u with t = base + z and u = (-x, -y, z) of the layer.
      a_ = base.z + 1;
      b_ = (a_ * layer.z - base.x * layer.x - base.y * layer.y) / a_;
      base.x = base.x * b_ + layer.x;
      base.y = base.y * b_ + layer.y;
      base.z = a_ * b_ - layer.z;
    } else {
      base.x += layer.x;
      base.y += layer.y;
      if (blend_ == NormalBlend::Whiteout) base.z *= layer.z;
    }
    base.normalise(a_);
  }

 private:
  NormalBlend blend_;
  Row a_, b_;
};

void requireLayer(const FloatImage* strengths, int width, int height) {
  DERM_REQUIRE(strengths == nullptr || (strengths->channels == 1 && strengths->width == width &&
                                        strengths->height == height));
}

bool loadGamma(const NormalLayer& layer, std::size_t begin, Eigen::Index n, Row& gamma) {
  if (layer.strengths != nullptr) {
    gamma = layer.strength * Eigen::Map<const Row>(layer.strengths->values.data() + begin, n);
    gamma = gamma.max(0.0f).min(1.0f);
    return (gamma > 0).any();
  }
  const float g = std::clamp(layer.strength, 0.0f, 1.0f);
  gamma.setConstant(n, g);
  return g > 0;
}

void load(const FloatImage& image, std::size_t begin, Eigen::Index n, Run& run) {
  run.resize(n);
  const float* v = image.values.data() + 3 * begin;
  for (Eigen::Index i = 0; i < n; ++i, v += 3) {
    run.x[i] = v[0];
    run.y[i] = v[1];
    run.z[i] = v[2];
  }
}

/// x or y of a byte; with the two middle values both 0.
float signedOf(int value, int largest) {
  if (value == largest / 2 || value == largest / 2 + 1) return 0;
  return 2 * static_cast<float>(value) / static_cast<float>(largest) - 1;
}

float signOf(NormalGreen green) { return green == NormalGreen::Up ? 1.0f : -1.0f; }

/// A unit vector whatever is given.
Vec3f unitOf(float x, float y, float z) {
  const float length = std::sqrt(x * x + y * y + z * z);
  if (!(length > 1e-12f) || !std::isfinite(length)) return Vec3f::UnitZ();
  return Vec3f(x, y, z) / length;
}

template <class T>
T encoded(float v, float largest) {
  return static_cast<T>(std::clamp(0.5f * (v + 1) * largest + 0.5f, 0.0f, largest));
}

constexpr std::size_t kRun = 1024;  // pixels at once: all arrays stay in the first cache
constexpr std::size_t kChunk = 16 * kRun;

/// body(begin, count, worker) over runs of pixels.
template <class Make, class Body>
void forRuns(std::size_t pixels, const Make& make, const Body& body) {
  parallelFor(pixels, kChunk, [&](std::size_t begin, std::size_t end) {
    auto worker = make();
    for (std::size_t i = begin; i < end; i += kRun)
      body(i, static_cast<Eigen::Index>(std::min(kRun, end - i)), worker);
  });
}

}  // namespace

Rgba8Image encodeNormals8(const FloatImage& normals, NormalGreen green) {
  DERM_REQUIRE(normals.channels == 3);
  Rgba8Image out(normals.width, normals.height);
  for (std::size_t i = 0; i < out.pixels.size(); ++i) {
    const float* v = normals.values.data() + 3 * i;
    const Vec3f n = unitOf(v[0], v[1], v[2]);
    out.pixels[i] = {encoded<std::uint8_t>(n.x(), 255.0f),
                     encoded<std::uint8_t>(signOf(green) * n.y(), 255.0f),
                     encoded<std::uint8_t>(n.z(), 255.0f), 255};
  }
  return out;
}

UInt16Image encodeNormals16(const FloatImage& normals, NormalGreen green) {
  DERM_REQUIRE(normals.channels == 3);
  UInt16Image out(normals.width, normals.height, 3);
  for (std::size_t i = 0; 3 * i < out.values.size(); ++i) {
    const float* v = normals.values.data() + 3 * i;
    const Vec3f n = unitOf(v[0], v[1], v[2]);
    const Vec3f stored(n.x(), signOf(green) * n.y(), n.z());
    for (int c = 0; c < 3; ++c)
      out.values[3 * i + static_cast<std::size_t>(c)] = encoded<std::uint16_t>(stored[c], 65535.0f);
  }
  return out;
}

FloatImage decodeNormals(const Rgba8Image& image, NormalGreen green) {
  FloatImage out(image.width, image.height, 3);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    const Rgba8 p = image.pixels[i];
    const Vec3f n = unitOf(signedOf(p.r, 255), signOf(green) * signedOf(p.g, 255),
                           std::max(0.0f, 2 * static_cast<float>(p.b) / 255.0f - 1));
    std::copy_n(n.data(), 3, out.values.data() + 3 * i);
  }
  return out;
}

FloatImage decodeNormals(const UInt16Image& image, NormalGreen green) {
  DERM_REQUIRE(image.channels >= 3);
  FloatImage out(image.width, image.height, 3);
  const auto channels = static_cast<std::size_t>(image.channels);
  for (std::size_t i = 0; 3 * i < out.values.size(); ++i) {
    const std::uint16_t* p = image.values.data() + channels * i;
    const Vec3f n = unitOf(signedOf(p[0], 65535), signOf(green) * signedOf(p[1], 65535),
                           std::max(0.0f, 2 * static_cast<float>(p[2]) / 65535.0f - 1));
    std::copy_n(n.data(), 3, out.values.data() + 3 * i);
  }
  return out;
}

FloatImage normalsOfStored(const FloatImage& stored, NormalGreen green, float strength) {
  DERM_REQUIRE(stored.channels >= 3);
  FloatImage out(stored.width, stored.height, 3);
  const auto channels = static_cast<std::size_t>(stored.channels);
  // The middle of an even number of steps is half a step off: 8 bits have the wider ones.
  const auto side = [&](float v) {
    const float s = 2 * v - 1;
    return std::abs(s) < 1.01f / 255.0f ? 0.0f : strength * s;
  };
  for (std::size_t i = 0; 3 * i < out.values.size(); ++i) {
    const float* p = stored.values.data() + channels * i;
    const Vec3f n = unitOf(side(p[0]), signOf(green) * side(p[1]), std::max(0.0f, 2 * p[2] - 1));
    std::copy_n(n.data(), 3, out.values.data() + 3 * i);
  }
  return out;
}

FloatImage normalsOfHeights(const FloatImage& heights, float height_px) {
  FloatImage out(heights.width, heights.height, 3);
  const int right = heights.width - 1, bottom = heights.height - 1;
  for (int y = 0; y < heights.height; ++y)
    for (int x = 0; x < heights.width; ++x) {
      const int x0 = std::max(x - 1, 0), x1 = std::min(x + 1, right);
      const int y0 = std::max(y - 1, 0), y1 = std::min(y + 1, bottom);
      const auto slope = [&](float rise, int way) {
        return way > 0 ? height_px * rise / static_cast<float>(way) : 0.0f;
      };
      const float p = slope(heights.at(x1, y, 0) - heights.at(x0, y, 0), x1 - x0);
      const float q = slope(heights.at(x, y1, 0) - heights.at(x, y0, 0), y1 - y0);
      const Vec3f n = unitOf(-p, q, 1);
      for (int c = 0; c < 3; ++c) out.at(x, y, c) = n[c];
    }
  return out;
}

void blendNormals(const FloatImage& base, std::span<const NormalLayer> layers, NormalBlend blend,
                  FloatImage& blended) {
  DERM_REQUIRE(base.channels == 3);
  for (const NormalLayer& layer : layers) {
    DERM_REQUIRE(layer.normals != nullptr && layer.normals->channels == 3 &&
                 layer.normals->width == base.width && layer.normals->height == base.height);
    requireLayer(layer.strengths, base.width, base.height);
  }
  if (&blended != &base) {
    blended.width = base.width;
    blended.height = base.height;
    blended.channels = 3;
    blended.values.resize(base.values.size());
  }
  forRuns(
      base.values.size() / 3, [&] { return Blender(blend); },
      [&](std::size_t begin, Eigen::Index n, Blender& work) {
        load(base, begin, n, work.base);
        bool changed = false;
        for (const NormalLayer& layer : layers) {
          if (!loadGamma(layer, begin, n, work.gamma)) continue;
          load(*layer.normals, begin, n, work.layer);
          work.add();
          changed = true;
        }
        float* out = blended.values.data() + 3 * begin;
        if (!changed) {
          if (&blended != &base) std::copy_n(base.values.data() + 3 * begin, 3 * n, out);
          return;
        }
        for (Eigen::Index i = 0; i < n; ++i, out += 3) {
          out[0] = work.base.x[i];
          out[1] = work.base.y[i];
          out[2] = work.base.z[i];
        }
      });
}

void blendNormals(const Rgba8Image& base, std::span<const NormalLayer8> layers, NormalBlend blend,
                  NormalGreen green, Rgba8Image& blended) {
  for (const NormalLayer8& layer : layers) {
    DERM_REQUIRE(layer.normals != nullptr && layer.normals->width == base.width &&
                 layer.normals->height == base.height);
    requireLayer(layer.strengths, base.width, base.height);
  }
  if (&blended != &base) {
    blended.width = base.width;
    blended.height = base.height;
    blended.pixels.resize(base.pixels.size());
  }
  parallelFor(base.pixels.size(), kChunk, [&](std::size_t begin, std::size_t end) {
    std::vector<detail::LayerRun8> runs;
    for (const NormalLayer8& layer : layers)
      runs.push_back(
          {layer.normals->pixels.data() + begin, layer.strength,
           layer.strengths != nullptr ? layer.strengths->values.data() + begin : nullptr});
    detail::blendRun8(base.pixels.data() + begin, runs, blend, signOf(green), end - begin,
                      blended.pixels.data() + begin);
  });
}

}  // namespace derm
