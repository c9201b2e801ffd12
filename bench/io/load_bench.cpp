// Loading a geometry-heavy 10 MB glb: ours beside assimp's bare import (no post-processing) of the
// same file in the same run. Prints the ratio of the fastest runs.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <numbers>
#include <string>

#include <benchmark/benchmark.h>
#include <unistd.h>

#include "derm/base/hash.h"
#include "derm/character/character.h"
#include "derm/io/gltf.h"

#include "support/quick_run.h"

#ifdef DERM_BENCH_ASSIMP
#include <assimp/Importer.hpp>
#include <assimp/scene.h>
#endif

namespace {

using derm::Vec2f;
using derm::Vec3f;

/// A bumpy ball of 410 x 410 quads: positions, normals, uvs and 32-bit indices make about 10 MB.
derm::Character bumpyBall() {
  constexpr int kSide = 410;
  derm::Character c;
  c.name = "ball";
  for (int i = 0; i <= kSide; ++i)
    for (int j = 0; j <= kSide; ++j) {
      const float u = float(i) / kSide, v = float(j) / kSide;
      const float polar = float(std::numbers::pi) * (0.02f + 0.96f * v);
      const float around = 2 * float(std::numbers::pi) * u;
      const Vec3f n(std::sin(polar) * std::cos(around), std::cos(polar),
                    std::sin(polar) * std::sin(around));
      c.mesh.positions.push_back(n * (1 + 0.05f * std::sin(40 * u) * std::sin(30 * v)));
      c.mesh.normals.push_back(n.normalized());
      c.mesh.uvs.push_back(Vec2f(u, v));
    }
  for (std::uint32_t i = 0; i < kSide; ++i)
    for (std::uint32_t j = 0; j < kSide; ++j) {
      const std::uint32_t a = i * (kSide + 1) + j, b = a + kSide + 1;
      c.mesh.triangles.push_back({a, b, b + 1});
      c.mesh.triangles.push_back({a, b + 1, a + 1});
    }
  addDefaultParts(c);
  return c;
}

struct HeavyFile {
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("derm-heavy-" + std::to_string(::getpid()) + ".glb");
  HeavyFile() {
    derm::Diagnostics notes;
    if (!derm::saveGltf(path, bumpyBall(), notes)) std::abort();
    std::printf("heavy glb: %.1f MB\n", double(std::filesystem::file_size(path)) / 1e6);
  }
  ~HeavyFile() { std::filesystem::remove(path); }
};

const HeavyFile& heavy() {
  static const HeavyFile file;
  return file;
}

double best_derm_s = std::numeric_limits<double>::infinity();
double best_assimp_s = std::numeric_limits<double>::infinity();

template <class Body>
double seconds(const Body& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void dermLoad(benchmark::State& state) {
  heavy();
  for (auto _ : state)
    best_derm_s = std::min(best_derm_s, seconds([] {
                             derm::Diagnostics notes;
                             const auto c = derm::loadGltf(heavy().path, {}, notes);
                             if (!c) std::abort();
                             benchmark::DoNotOptimize(c->mesh.positions.data());
                           }));
}
BENCHMARK(dermLoad)->Unit(benchmark::kMillisecond)->MinTime(derm::quickRun() ? 0.01 : 2);

#ifdef DERM_BENCH_ASSIMP
void assimpLoad(benchmark::State& state) {
  heavy();
  for (auto _ : state)
    best_assimp_s = std::min(best_assimp_s, seconds([] {
                               Assimp::Importer importer;
                               const aiScene* scene = importer.ReadFile(heavy().path.string(), 0);
                               if (scene == nullptr) std::abort();
                               benchmark::DoNotOptimize(scene->mMeshes);
                             }));
}
BENCHMARK(assimpLoad)->Unit(benchmark::kMillisecond)->MinTime(derm::quickRun() ? 0.01 : 2);
#endif

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  derm::Diagnostics notes;
  const auto c = derm::loadGltf(heavy().path, {}, notes);
  derm::Hash64 hash;
  hash.addSpan(std::span<const Vec3f>(c->mesh.positions));
  std::printf("state hash %016llx\n", static_cast<unsigned long long>(hash.value()));
  std::printf(
      "load: derm %.2f ms, assimp bare import %.2f ms, ratio derm/assimp %.2f (goal <= 1)\n",
      best_derm_s * 1e3, best_assimp_s * 1e3, best_derm_s / best_assimp_s);
  return 0;
}
