// What folds cost: whole frames of the shipped wrinkle scenes, idle tools against none, and the
// same tool on ever larger meshes. One thread; what is compared is timed in turn in one run.
#include <algorithm>
#include <memory>
#include <string>

#include <benchmark/benchmark.h>

#include "derm/base/hash.h"
#include "derm/base/parallel.h"
#include "derm/deform/basic_layers.h"
#include "derm/deform/wrinkles.h"
#include "derm/scene/recipe.h"
#include "derm/scene/scene.h"

#include "support/rigged_tube.h"
#include "support/timing.h"

namespace derm::wrinkles_bench {
namespace {

using bench_support::Clock;
using bench_support::secondsSince;

Scene opened(const Recipe& recipe, std::shared_ptr<const Character> character = nullptr) {
  Diagnostics notes;
  return openScene(recipe, {.character = std::move(character), .topology = Topology::Adaptive},
                   notes)
      .value();
}

Recipe withoutLayers(Recipe recipe) {
  recipe.layers.clear();
  return recipe;
}

/// The best time of each of a scene's frames over all passes.
class FrameTimes {
 public:
  explicit FrameTimes(Scene& scene) : scene_(scene), best_(scene.frameTimes().size(), 1e9) {}

  const SkinFrame& play(std::size_t i) {
    const Clock::time_point start = Clock::now();
    const SkinFrame& frame = scene_.frame(i);
    best_[i] = std::min(best_[i], secondsSince(start));
    return frame;
  }
  double mean(const std::vector<std::size_t>& frames) const {
    double sum = 0;
    for (const std::size_t i : frames) sum += best_[i];
    return frames.empty() ? 0 : sum / double(frames.size());
  }

 private:
  Scene& scene_;
  std::vector<double> best_;
};

/// A shipped scene with and without its tools.
void wholeFrames(benchmark::State& state, const char* recipe_file) {
  const ThreadLimit one(1);
  const Recipe recipe = loadRecipe(std::string(DERM_EXAMPLES) + "/recipes/" + recipe_file).value();
  Scene folded = opened(recipe);
  Scene plain = opened(withoutLayers(recipe), folded.character());
  FrameTimes with_tools(folded), without(plain);
  std::vector<std::size_t> active, idle;
  std::size_t max_vertices = 0;
  const std::size_t base = folded.character()->mesh.vertexCount();
  Hash64 hash;
  for (auto _ : state) {
    active.clear();
    idle.clear();
    for (std::size_t i = 0; i < folded.frameTimes().size(); ++i) {
      without.play(i);
      const SkinFrame& frame = with_tools.play(i);
      (frame.vertexCount() > base ? active : idle).push_back(i);
      max_vertices = std::max(max_vertices, frame.vertexCount());
      hash.addSpan(frame.positions());
    }
  }
  state.SetLabel("hash " + std::to_string(hash.value()));
  state.counters["active_frames_per_s"] = active.empty() ? 0 : 1 / with_tools.mean(active);
  state.counters["skinning_frames_per_s"] = 1 / without.mean(active.empty() ? idle : active);
  state.counters["added_vertices"] = double(max_vertices - base);
  if (!idle.empty())
    state.counters["idle_overhead_percent"] =
        100 * (with_tools.mean(idle) / without.mean(idle) - 1);
}
BENCHMARK_CAPTURE(wholeFrames, wrist, "wrist.toml")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(wholeFrames, trousers, "trousers.toml")->Unit(benchmark::kMillisecond);

/// One tool of fixed size on a tube that grows longer: what the layer adds must stay.
void oneToolOnALargerMesh(benchmark::State& state) {
  const ThreadLimit one(1);
  const auto rings = int(state.range(0));
  Character tube = bench_support::riggedTube(rings, 40, 8, 1);
  // Constant spacing of rings: 100 rings over 4 m.
  for (std::size_t v = 0; v < tube.mesh.vertexCount(); ++v)
    tube.mesh.positions[v].z() = 0.04f * float(v / 40);
  const auto character = std::make_shared<const Character>(std::move(tube));
  WrinkleToolDesc tool;
  tool.name = "folds";
  tool.path = {{.vertex = std::uint32_t(10 * 40)}, {.vertex = std::uint32_t(20 * 40)}};
  tool.width_m = 0.2;
  tool.curve.h_max = 0.03;
  tool.rest_length_m = 0.5;
  Diagnostics notes;
  const std::vector<LayerFactory> layers = {morphLayer(), skinningLayer({}),
                                            wrinklesLayer({.tools = {tool}})};
  StackRunner runner(Stack::bind(character, layers, notes).value(), Topology::Adaptive);
  std::vector<double> seconds(layers.size(), 0.0);
  double best = 1e9;
  Hash64 hash;
  for (auto _ : state) {
    std::fill(seconds.begin(), seconds.end(), 0.0);
    hash.addSpan(runner.evaluate(1.0, seconds).positions().first(1));
    best = std::min(best, seconds.back());
  }
  state.SetLabel("hash " + std::to_string(hash.value()));
  state.counters["layer_us"] = 1e6 * best;
  state.counters["vertices"] = double(character->mesh.vertexCount());
}
BENCHMARK(oneToolOnALargerMesh)->Arg(100)->Arg(400)->Arg(1600)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace derm::wrinkles_bench
