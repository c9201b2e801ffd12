// Baking against a plain copy of the same bytes, and the search for corrective shapes.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include "derm/scene/bake.h"

#include "support/rigged_tube.h"
#include "support/timing.h"

namespace derm::bake_bench {
namespace {

namespace fs = std::filesystem;
using bench_support::Clock;
using bench_support::secondsSince;

constexpr int kFrames = 250;

fs::path workFolder() {
  const fs::path folder = fs::temp_directory_path() / ("derm-bench-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  return folder;
}

/// Copies as cp does, and waits for the disk as our writer does.
void copyToDisk(const fs::path& from, const fs::path& to) {
  fs::copy_file(from, to, fs::copy_options::overwrite_existing);
  const int descriptor = ::open(to.c_str(), O_RDONLY);
  ::fsync(descriptor);
  ::close(descriptor);
}

BakeDesc tubeBake(int vertices, bool measure, const fs::path& output) {
  Recipe recipe;
  recipe.fps = kFrames - 1;  // a second of clip gives 250 frames
  return {.recipe = recipe,
          .scene = {.character = std::make_shared<const Character>(
                        bench_support::riggedTube(vertices / 50, 50, 64, 1))},
          .output = output,
          .measure = measure};
}

void bakePc2(benchmark::State& state) {
  const fs::path folder = workFolder();
  const BakeDesc desc = tubeBake(int(state.range(0)), state.range(1) != 0, folder / "bake.pc2");
  double best_bake = 1e9, best_copy = 1e9;
  std::uint64_t hash = 0;
  for (auto _ : state) {
    Diagnostics notes;
    const Clock::time_point start = Clock::now();
    hash = bake(desc, notes).value().state_hash;
    best_bake = std::min(best_bake, secondsSince(start));
    const Clock::time_point middle = Clock::now();
    copyToDisk(desc.output, folder / "copy.pc2");
    best_copy = std::min(best_copy, secondsSince(middle));
  }
  const double megabytes = 1e-6 * double(fs::file_size(desc.output));
  state.SetLabel("hash " + std::to_string(hash));
  state.counters["bake_MB/s"] = megabytes / best_bake;
  state.counters["copy_MB/s"] = megabytes / best_copy;
  state.counters["share_of_copy"] = best_copy / best_bake;
  fs::remove_all(folder);
}
BENCHMARK(bakePc2)
    ->ArgNames({"vertices", "measure"})
    ->Args({10000, 0})
    ->Args({10000, 1})
    ->Unit(benchmark::kMillisecond);

/// Displacements of full rank: every frame moves every vertex in a way of its own.
void correctiveShapes(benchmark::State& state) {
  const auto character =
      std::make_shared<const Character>(bench_support::riggedTube(200, 50, 64, 1));
  CorrectiveFitter fitter = CorrectiveFitter::make(character, kFrames).value();
  const std::vector<Affine3f> palette(character->skin.slots.size(), Affine3f::Identity());
  TriMesh wanted = character->mesh;
  for (int f = 0; f < kFrames; ++f) {
    for (std::size_t v = 0; v < wanted.vertexCount(); ++v) {
      const Vec3f& p = character->mesh.positions[v];
      const float u = (p.z() - 4 * float(f) / kFrames) / 0.3f;
      wanted.positions[v] = p + 0.1f * std::exp(-u * u) * character->mesh.normals[v] +
                            1e-4f * Vec3f(std::sin(p.z() * float(f)), 0, 0);
    }
    fitter.addKey({.time_s = f / 30.0,
                   .palette = palette,
                   .wanted = surfaceOf(wanted),
                   .plain = surfaceOf(character->mesh),
                   .unskinned_normals = character->mesh.normals});
  }
  double error_m = 0;
  for (auto _ : state)
    error_m = fitter.fit({.shapes = std::size_t(state.range(0))}, {}).value().max_error_m;
  state.counters["max_error_mm"] = 1000 * error_m;
}
BENCHMARK(correctiveShapes)->Arg(16)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace derm::bake_bench
