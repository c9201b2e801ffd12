// What binding costs: a whole stack, and one in which a single number of a single layer has
// changed.
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "derm/cast/cast.h"
#include "derm/deform/basic_layers.h"
#include "derm/deform/flesh.h"
#include "derm/deform/stack.h"
#include "derm/deform/wrinkles.h"
#include "derm/volume/volume_layer.h"

#include "support/rigged_tube.h"

namespace derm::bind_bench {
namespace {

/// Every kind of layer; the fields are what edits change.
struct Parameters {
  SkinningDesc skinning{.method = SkinningMethod::Centre};
  FleshDesc flesh;
  VolumeDesc volume;
  WrinkleToolDesc fold;

  std::vector<LayerFactory> layers() const {
    return {morphLayer(), skinningLayer(skinning), fleshLayer(flesh), volumeLayer("volume", volume),
            wrinklesLayer({.name = "folds", .tools = {fold}})};
  }
};

std::shared_ptr<const Character> bodyOf(int vertices, Parameters& p) {
  p.fold.width_m = 0.02;
  p.fold.curve.h_max = 0.004;
  p.fold.subdivide = 0;
  if (vertices == 0) {
    const auto cat = std::make_shared<const Character>(makeCastMember("cat").value());
    p.flesh.dominant = *cat->skeleton.named("spine_1");
    p.flesh.ends = {*cat->skeleton.named("spine_5")};
    p.fold.path = {{.position = Vec3d(0.045, 0.235, 0.155)},
                   {.position = Vec3d(0.045, 0.150, 0.105)}};
    return cat;
  }
  const auto tube =
      std::make_shared<const Character>(bench_support::riggedTube(vertices / 100, 100, 21, 1));
  p.flesh.dominant = *tube->skeleton.named("joint2");
  p.flesh.ends = {*tube->skeleton.named("joint18")};
  p.fold.path = {{.position = Vec3d(0, 0.3, 1.6)}, {.position = Vec3d(0, 0.3, 2.4)}};
  p.fold.width_m = 0.3;
  return tube;
}

template <class Work>
double seconds(const Work& work) {
  double best = 1e300;
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

/// Counters: the whole bind in milliseconds, and the share of it that each edit takes.
void binding(benchmark::State& state) {
  Parameters p;
  const auto c = bodyOf(static_cast<int>(state.range(0)), p);
  Diagnostics notes;
  for (auto _ : state) {
    const auto stack = Stack::bind(c, p.layers(), notes);
    if (!stack) return state.SkipWithError(stack.error().text().c_str());
    const double whole_s =
        seconds([&] { benchmark::DoNotOptimize(Stack::bind(c, p.layers(), notes)); });
    state.counters["bind_ms"] = 1e3 * whole_s;
    const auto edit = [&](const char* name, const auto& change) {
      Parameters changed = p;
      change(changed);
      const auto layers = changed.layers();
      const double s =
          seconds([&] { benchmark::DoNotOptimize((*stack)->rebind(layers, notes).ok()); });
      state.counters[name] = s / whole_s;
    };
    edit("nothing", [](Parameters&) {});
    edit("alpha", [](Parameters& q) { q.skinning.alpha = 0.3; });
    edit("frequency", [](Parameters& q) { q.flesh.frequency_hz = 2; });
    edit("flesh_shape", [](Parameters& q) { q.flesh.shape_power = 2; });
    edit("sigma", [](Parameters& q) { q.volume.section.sigma = 0.1; });
    edit("beta", [](Parameters& q) { q.volume.regions.beta = 0.7; });
    edit("fold_height", [](Parameters& q) { q.fold.curve.h_max *= 2; });
    edit("fold_width", [](Parameters& q) { q.fold.width_m *= 1.5; });
  }
}
BENCHMARK(binding)
    ->Arg(0)  // the cat
    ->Arg(10000)
    ->Arg(100000)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace derm::bind_bench
