// Wrinkle maps: photos to slopes, poses to influences, and blending maps.
#include <cmath>
#include <string>

#include <benchmark/benchmark.h>

#include "derm/base/hash.h"
#include "derm/base/parallel.h"
#include "derm/base/rng.h"
#include "derm/face/detail_acquisition.h"
#include "derm/face/wrinkle_poses.h"
#include "derm/image/normal_map.h"

#include "support/quick_run.h"

namespace derm::detail_bench {
namespace {

template <class T>
std::string hashOf(std::span<const T> values) {
  Hash64 hash;
  hash.addSpan(values);
  return "hash " + std::to_string(hash.value());
}

/// Skin with furrows, 4000 x 3000, the second photo a little moved.
PhotoPair photoPair(const PhotoLight& light) {
  const int width = quickRun() ? 400 : 4000, height = width * 3 / 4;
  const Vec3d d = directionOf(light);
  PhotoPair out;
  out.light = light;
  out.neutral = out.expression = FloatImage(width, height, 3);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const double fx = x, fy = y;
      const auto albedo = [](double u, double v) {
        return 0.5 + 0.06 * std::sin(u * 0.21 + 3 * std::sin(v * 0.013)) * std::sin(v * 0.17) +
               0.05 * std::sin(u * 0.043 + v * 0.061);
      };
      const double phase = fy * 0.02 + std::sin(fx * 0.002);
      const double q = 0.3 * std::sin(phase) * std::exp(-4 * std::cos(phase) * std::cos(phase));
      const double shade = (q * d.y() + d.z()) / std::sqrt(1 + q * q);
      const auto noise = [](std::uint64_t i) { return 0.004 * (Rng(i).uniform() - 0.5); };
      const auto at = static_cast<std::uint64_t>(y) * width + static_cast<std::uint64_t>(x);
      for (int c = 0; c < 3; ++c) {
        out.neutral.at(x, y, c) = static_cast<float>(albedo(fx, fy) * d.z() + noise(2 * at));
        out.expression.at(x, y, c) = static_cast<float>(
            albedo(fx - 1.5, fy - 2 * std::sin(fx * 0.001)) * shade + noise(2 * at + 1));
      }
    }
  return out;
}

/// Argument: degrees of the light above the camera; 0 takes four starts.
void acquisition(benchmark::State& state) {
  const ThreadLimit two_threads(2);
  const PhotoPair pair = photoPair({0, static_cast<double>(state.range(0))});
  Diagnostics notes;
  for (auto _ : state) {
    const auto map = acquireDetail(std::span(&pair, 1), {}, notes);
    DERM_REQUIRE(map.ok());
    state.SetLabel(hashOf(std::span<const float>(map->slopes.values)));
  }
}
BENCHMARK(acquisition)->Arg(30)->Arg(0)->Unit(benchmark::kMillisecond)->UseRealTime();

/// 28 points, two poses, 5041 vertices (10 k triangles) with four points each.
void influences(benchmark::State& state) {
  const ThreadLimit one_thread(1);
  Rng rng(1);
  WrinklePosesDesc desc;
  std::vector<Vec3f> points;
  for (int j = 0; j < 28; ++j)
    desc.neutral.emplace_back(rng.uniform(), rng.uniform(), rng.uniform());
  for (const char* name : {"stretch", "compress"}) {
    desc.poses.push_back({name, desc.neutral, {}});
    for (Vec3d& p : desc.poses.back().points) p += Vec3d::Constant(rng.uniform(0.01, 0.1));
  }
  for (const Vec3d& p : desc.neutral) points.push_back((p + Vec3d::Constant(0.03)).cast<float>());
  FaceWeights weights;
  weights.offsets.push_back(0);
  for (int v = 0; v < 5041; ++v) {
    for (int i = 0; i < 4; ++i)
      weights.shares.push_back({static_cast<std::uint32_t>(rng.below(28)), 0.25});
    weights.offsets.push_back(static_cast<std::uint32_t>(weights.shares.size()));
  }
  const auto poses = WrinklePoses::bind(desc, weights);
  DERM_REQUIRE(poses.ok());
  std::vector<float> beta(2 * 5041);
  for (auto _ : state) {
    poses->evaluate(points, beta);
    benchmark::DoNotOptimize(beta.data());
  }
  state.SetLabel(hashOf(std::span<const float>(beta)));
}
BENCHMARK(influences)->Unit(benchmark::kMicrosecond);

Rgba8Image someMap(std::uint64_t seed) {
  Rng rng(seed);
  FloatImage normals(1024, 1024, 3);
  for (std::size_t i = 0; i < normals.values.size(); i += 3) {
    normals.values[i] = static_cast<float>(rng.uniform(-0.5, 0.5));
    normals.values[i + 1] = static_cast<float>(rng.uniform(-0.5, 0.5));
    normals.values[i + 2] = 1;
  }
  return encodeNormals8(normals, NormalGreen::Up);
}

/// 1024 x 1024, two maps over a base with strengths per pixel.
void blending(benchmark::State& state) {
  const ThreadLimit one_thread(1);
  const Rgba8Image base = someMap(1), a = someMap(2), b = someMap(3);
  FloatImage strengths(1024, 1024, 1);
  for (std::size_t i = 0; i < strengths.values.size(); ++i)
    strengths.values[i] = static_cast<float>(i % 1024) / 1023;
  const std::array<NormalLayer8, 2> layers = {NormalLayer8{&a, 1, &strengths},
                                              NormalLayer8{&b, 0.5f, nullptr}};
  Rgba8Image out;
  for (auto _ : state) {
    blendNormals(base, std::span(layers).first(static_cast<std::size_t>(state.range(0))),
                 NormalBlend::Whiteout, NormalGreen::Up, out);
    benchmark::DoNotOptimize(out.pixels.data());
  }
  Hash64 hash;
  for (const Rgba8& p : out.pixels) hash.add(p.r);
  state.SetLabel("hash " + std::to_string(hash.value()));
}
BENCHMARK(blending)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond);

/// The same, one map, as a plain loop over pixels: what blending(1) is to be compared with.
void blendingPlainLoop(benchmark::State& state) {
  const Rgba8Image base = someMap(1), a = someMap(2);
  Rgba8Image out(1024, 1024);
  const auto unit = [](const Rgba8& p) {
    return Vec3f(p.r / 127.5f - 1, p.g / 127.5f - 1, p.b / 127.5f - 1).normalized().eval();
  };
  const auto byte = [](float v) {
    return static_cast<std::uint8_t>(std::lround((v + 1) * 127.5f));
  };
  for (auto _ : state) {
    for (std::size_t i = 0; i < out.pixels.size(); ++i) {
      const float g = static_cast<float>(i % 1024) / 1023;
      const Vec3f n0 = unit(base.pixels[i]);
      const Vec3f n1 = (g * unit(a.pixels[i]) + (1 - g) * Vec3f::UnitZ()).normalized();
      const Vec3f n = Vec3f(n0.x() + n1.x(), n0.y() + n1.y(), n0.z() * n1.z()).normalized();
      out.pixels[i] = {byte(n.x()), byte(n.y()), byte(n.z()), 255};
    }
    benchmark::DoNotOptimize(out.pixels.data());
  }
}
BENCHMARK(blendingPlainLoop)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace derm::detail_bench
