// How fast a skin steps and turns into polygons, beside OpenVDB on the same ball in the same run.
//   derm_bench_implicit [--benchmark_…]
// Prints nanoseconds per active node (minimum of many repetitions), a hash of each skin, the ratios
// derm holds itself to (step 6, polygons 3), the exponent of cost over resolution (2: surface, not
// volume), steps a second of Desbrun and Cani's metamorphosis, and the particle field against the
// plain sum.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>

#include <benchmark/benchmark.h>

#include "derm/base/parallel.h"
#include "derm/base/rng.h"
#include "derm/implicit/active_skin.h"
#include "derm/implicit/build_potential.h"
#include "derm/implicit/particle_target.h"
#include "derm/implicit/shape_targets.h"

#include "implicit/openvdb_peer.h"
#include "support/arguments.h"

namespace derm::implicit_bench::skin_bench {
namespace {

constexpr int kResolutions[] = {50, 128, 256};

double radiusOf(int resolution) { return 0.4 * resolution; }

/// A ball of 0.8 of the resolution across, in voxels.
struct BallScene {
  explicit BallScene(int resolution)
      : target(Vec3d(0.3, 0.2, 0.1), radiusOf(resolution)),
        skin(*ActiveSkin::make(*buildPotential(target, {.voxel_m = 1.0}),
                               {.attraction = 1, .tension = 0.1, .track_bodies = false})),
        active(skin.potential().grid.activeCount()) {}
  SphereTarget target;
  ActiveSkin skin;
  std::size_t active;
};

std::string hashText(std::uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

void addBenchmark(const std::string& name, std::function<void(benchmark::State&)> body) {
  benchmark::RegisterBenchmark(name.c_str(), std::move(body))
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond)
      ->ComputeStatistics("min", [](const std::vector<double>& times) {
        return *std::min_element(times.begin(), times.end());
      });
}

void addBalls(int resolution, int threads) {
  const std::string suffix = std::to_string(resolution) + "/" + std::to_string(threads);
  addBenchmark("derm-step/" + suffix, [=](benchmark::State& state) {
    const ThreadLimit limit(threads);
    BallScene scene(resolution);
    // Kept moving a little, so that it never sleeps.
    const SphereTarget a(Vec3d(0.3, 0.2, 0.1), radiusOf(resolution)),
        b(Vec3d(0.3, 0.2, 0.1), radiusOf(resolution) + 0.05);
    int i = 0;
    for (auto _ : state) scene.skin.step(i++ / 16 % 2 == 0 ? a : b, 1e9);
    state.SetLabel(hashText(scene.skin.stateHash()));
    state.counters["active"] = static_cast<double>(scene.active);
  });
  addBenchmark("derm-mesh/" + suffix, [=](benchmark::State& state) {
    const ThreadLimit limit(threads);
    BallScene scene(resolution);
    TriMesh mesh;
    for (auto _ : state) scene.skin.polygonise(mesh);
    state.counters["active"] = static_cast<double>(scene.active);
  });
  if (!OpenVdbPeer::available()) return;
  addBenchmark("vdb-step/" + suffix, [=](benchmark::State& state) {
    const ThreadLimit limit(threads);
    OpenVdbPeer peer(radiusOf(resolution));
    state.counters["active"] = static_cast<double>(peer.activeVoxels());
    for (auto _ : state) peer.curvatureStep(threads > 1);
  });
  addBenchmark("vdb-mesh/" + suffix, [=](benchmark::State& state) {
    const ThreadLimit limit(threads);
    OpenVdbPeer peer(radiusOf(resolution));
    state.counters["active"] = static_cast<double>(peer.activeVoxels());
    for (auto _ : state) benchmark::DoNotOptimize(peer.mesh());
  });
}

void addMorph() {
  addBenchmark("morph-50-with-polygons/1", [](benchmark::State& state) {
    const ThreadLimit limit(1);
    const BlobTarget start = sixBlobs(), target = twoBlobs();
    const Potential p = *buildPotential(start, {.voxel_m = 2.0 / 49, .origin = Vec3d(-1, -1, -1)});
    EvolutionLaw desc{.attraction = 2, .tension = 0.01, .track_bodies = false};
    desc.raw_field = true;
    desc.reach = 1e6;
    TriMesh mesh;
    std::unique_ptr<ActiveSkin> skin;
    int i = 0;
    for (auto _ : state) {
      if (i++ % 120 == 0) skin = std::make_unique<ActiveSkin>(*ActiveSkin::make(p, desc));
      skin->step(target, 1e9);
      skin->polygonise(mesh);
    }
    state.SetLabel(hashText(skin->stateHash()));
  });
}

void addParticles() {
  Rng rng(4);
  auto particles = std::make_shared<Particles>();
  for (int z = 0; z < 27; ++z)
    for (int y = 0; y < 27; ++y)
      for (int x = 0; x < 27; ++x)
        particles->positions.emplace_back(float(2 * x + rng.uniform(-0.3, 0.3)),
                                          float(2 * y + rng.uniform(-0.3, 0.3)),
                                          float(2 * z + rng.uniform(-0.3, 0.3)));
  const auto target =
      std::make_shared<ParticleTarget>(*ParticleTarget::make(*particles, {.radius_m = 1}));
  constexpr std::size_t kPoints = 512;
  auto points = std::make_shared<std::vector<float>>();
  for (std::size_t i = 0; i < 3 * kPoints; ++i)
    points->push_back(i % 3 == 0 ? float(rng.uniform(-1, 0)) : float(rng.uniform(0, 52)));
  addBenchmark("particles-build/1", [=](benchmark::State& state) {
    const ThreadLimit limit(1);
    for (auto _ : state)
      benchmark::DoNotOptimize(ParticleTarget::make(*particles, {.radius_m = 1}).ok());
  });
  addBenchmark("particles-gather/1", [=](benchmark::State& state) {
    std::vector<float> x, y, z, g(kPoints);
    for (std::size_t i = 0; i < kPoints; ++i) {
      x.push_back((*points)[3 * i]);
      y.push_back((*points)[3 * i + 1]);
      z.push_back((*points)[3 * i + 2]);
    }
    for (auto _ : state) target->sample({Vec3d::Zero(), x, y, z}, g);
  });
  addBenchmark("particles-brute/1", [=](benchmark::State& state) {
    for (auto _ : state)
      for (std::size_t i = 0; i < kPoints; ++i)
        benchmark::DoNotOptimize(target->bruteForceAt(
            Vec3d((*points)[3 * i], (*points)[3 * i + 1], (*points)[3 * i + 2])));
  });
}

/// How a step's cost grows with the resolution: processor time of the quickest of some steps, all
/// sizes by turns, so that other work on the machine counts little and for all alike.
void printDoublings() {
  constexpr int kSizes[] = {64, 128, 256, 512};
  constexpr int kRounds = 8, kSteps = 4;
  const ThreadLimit limit(1);
  std::vector<std::unique_ptr<BallScene>> scenes;
  for (const int size : kSizes) scenes.push_back(std::make_unique<BallScene>(size));
  std::vector<double> min(scenes.size(), std::numeric_limits<double>::infinity());
  for (int round = 0; round < kRounds; ++round)
    for (std::size_t s = 0; s < scenes.size(); ++s) {
      const SphereTarget target(Vec3d(0.3, 0.2, 0.1), radiusOf(kSizes[s]) + 0.05 * (round % 2));
      for (int i = 0; i < kSteps; ++i) {
        const std::clock_t start = std::clock();
        scenes[s]->skin.step(target, 1e9);
        min[s] = std::min(min[s], double(std::clock() - start));
      }
    }
  std::printf("doubling the resolution multiplies a step by");
  for (std::size_t s = 1; s < min.size(); ++s)
    std::printf(" %.2f (%d -> %d)", min[s] / min[s - 1], kSizes[s - 1], kSizes[s]);
  std::printf(": 4 +- 15 %% wanted; exponent %.2f\n",
              std::log2(min.back() / min.front()) / double(min.size() - 1));
}

class RatioReporter : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<Run> shown;
    std::copy_if(runs.begin(), runs.end(), std::back_inserter(shown),
                 [](const Run& run) { return run.aggregate_name == "min"; });
    if (shown.empty()) shown = runs;
    for (const Run& run : shown) {
      min_[run.run_name.function_name] = run.GetAdjustedRealTime();
      if (const auto at = run.counters.find("active"); at != run.counters.end())
        active_[run.run_name.function_name] = at->second.value;
    }
    ConsoleReporter::ReportRuns(shown);
  }

  void Finalize() override {
    std::printf("\n%-8s %-8s %12s %12s %8s %12s %12s %8s\n", "res", "threads", "step ns/node",
                "vdb", "ratio", "mesh ns/node", "vdb", "ratio");
    for (const int threads : {1, 2})
      for (const int res : kResolutions) {
        const std::string at = std::to_string(res) + "/" + std::to_string(threads);
        const double s = perNode("derm-step/" + at), vs = perNode("vdb-step/" + at);
        const double m = perNode("derm-mesh/" + at), vm = perNode("vdb-mesh/" + at);
        std::printf("%-8d %-8d %12.1f %12.1f %8.1f %12.1f %12.1f %8.1f\n", res, threads, s, vs,
                    vs / s, m, vm, vm / m);
      }
    std::printf("%-8s %-8s %12s %12s %8s %12s %12s %8s\n", "wanted", "", "", "", ">=6", "", "",
                ">=3");
    if (min_.contains("derm-step/256/1")) printDoublings();
    std::printf("metamorphosis at 50^3 with polygons: %.0f steps/s (>= 1000 wanted)\n",
                1e6 / time("morph-50-with-polygons/1"));
    std::printf("particle field: %.0f ns a point, %.0f times faster than the plain sum (>= 10)\n",
                1e3 * time("particles-gather/1") / 512,
                time("particles-brute/1") / time("particles-gather/1"));
  }

 private:
  double time(const std::string& name) const {
    const auto at = min_.find(name);
    return at == min_.end() ? std::numeric_limits<double>::quiet_NaN() : at->second;
  }
  double perNode(const std::string& name) const {
    const auto at = active_.find(name);
    return at == active_.end() ? std::numeric_limits<double>::quiet_NaN()
                               : 1e3 * time(name) / at->second;
  }
  std::map<std::string, double> min_, active_;
};

}  // namespace
}  // namespace derm::implicit_bench::skin_bench

int main(int argc, char** argv) {
  using namespace derm::implicit_bench::skin_bench;
  std::string defaults[] = {"--benchmark_repetitions=5", "--benchmark_min_time=0.1",
                            "--benchmark_report_aggregates_only=true"};
  std::vector<char*> arguments = derm::bench_support::withDefaults(defaults, argc, argv);
  int count = static_cast<int>(arguments.size()) - 1;
  benchmark::Initialize(&count, arguments.data());
  for (const int threads : {1, 2})
    for (const int resolution : kResolutions) addBalls(resolution, threads);
  addMorph();
  addParticles();
  RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::Shutdown();
}
