// A whole frame with every layer at work: of the cat, layer by layer, on one thread and on two; and
// of a tube of growing size, with the exponent by which each layer's time grows with the vertices.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "derm/base/parallel.h"
#include "derm/deform/basic_layers.h"
#include "derm/deform/flesh.h"
#include "derm/deform/wrinkles.h"
#include "derm/scene/scene.h"
#include "derm/volume/volume_layer.h"

#include "support/quick_run.h"
#include "support/rigged_tube.h"
#include "support/timing.h"

namespace derm::frame_bench {
namespace {

using bench_support::Clock;
using bench_support::secondsSince;

constexpr const char* kEverything = R"(
character = "cast:cat"
clip = "run"
[skinning]
method = "centre"
[[layer]]
type = "flesh"
name = "belly"
dominant = "spine_1"
ends = ["spine_5"]
[[layer]]
type = "flesh"
name = "haunch"
dominant = "thigh_left"
ends = ["shin_left"]
[[layer]]
type = "volume"
[[layer]]
type = "wrinkles"
name = "foreleg"
from = [0.045, 0.235, 0.155]
to = [0.045, 0.150, 0.105]
width_m = 0.08
points = 9
h_max_m = 0.008
)";

double median(std::vector<double> times) {
  const auto middle = times.begin() + std::ptrdiff_t(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

/// Times of each layer, frame by frame; the last entry is the whole frame.
using Samples = std::vector<std::vector<double>>;

void addSamples(Scene& scene, int threads, Samples& samples) {
  const ThreadLimit limit(threads);
  const std::size_t count = scene.stack().layers().size();
  samples.resize(count + 1);
  std::vector<double> spent(count);
  for (std::size_t i = 0; i < scene.frameTimes().size(); ++i) {
    std::fill(spent.begin(), spent.end(), 0.0);
    const Clock::time_point start = Clock::now();
    scene.frame(i, spent);
    samples[count].push_back(secondsSince(start));
    for (std::size_t l = 0; l < count; ++l) samples[l].push_back(spent[l]);
  }
}

void catFrame(benchmark::State& state) {
  Diagnostics notes;
  const Recipe recipe = parseRecipe(kEverything, "everything.toml").value();
  Scene scene = openScene(recipe, {}, notes).value();
  Samples one, two;
  for (auto _ : state) {
    addSamples(scene, 1, one);
    addSamples(scene, 2, two);
  }
  const auto layers = scene.stack().layers();
  for (std::size_t l = 0; l < layers.size(); ++l)
    state.counters[layers[l]->name() + "_us"] = 1e6 * median(one[l]);
  state.counters["frame_us"] = 1e6 * median(one.back());
  state.counters["two_threads"] = median(one.back()) / median(two.back());
}

/// A tube of about this many vertices, triangles of the same shape at every size.
std::shared_ptr<const Character> tubeOf(int vertices) {
  const int sectors = std::max(8, int(std::lround(std::sqrt(vertices / 2.12))));
  return std::make_shared<const Character>(
      bench_support::riggedTube(std::max(vertices / sectors, 8), sectors, 21, 1));
}

LayerFactory layerOf(const std::string& name, const Character& c) {
  if (name == "volume") return volumeLayer(name, {});
  if (name == "flesh") {
    FleshDesc flesh;
    flesh.name = name;
    flesh.dominant = *c.skeleton.named("joint2");
    flesh.ends = {*c.skeleton.named("joint18")};
    return fleshLayer(flesh);
  }
  // A fold of a fifth of the tube's length, on as many triangles as there are there.
  WrinkleToolDesc fold;
  fold.name = name;
  fold.path = {{.position = Vec3d(0, 0.3, 1.6)}, {.position = Vec3d(0, 0.3, 2.4)}};
  fold.width_m = 0.3;
  fold.curve.h_max = 0.05;
  fold.rest_length_m = 0.9;
  fold.subdivide = 0;
  return wrinklesLayer({.name = name, .tools = {fold}});
}

/// Times by layer and size, to tell the exponent from one size to the next.
std::map<std::string, double>& earlier() {
  static std::map<std::string, double> times;
  return times;
}

void growth(benchmark::State& state, const std::string& name) {
  const auto c = tubeOf(int(state.range(0)));
  std::vector<LayerFactory> layers = {skinningLayer({.method = SkinningMethod::Centre})};
  if (name != "skinning") layers.push_back(layerOf(name, *c));
  Diagnostics notes;
  auto stack = Stack::bind(c, layers, notes);
  if (!stack) return state.SkipWithError(stack.error().text().c_str());
  StackRunner runner(*stack);
  std::vector<double> times[2];
  double time_s = 0;
  Pose pose = c->restPose();
  for (auto _ : state)
    for (const int threads : {1, 2})
      for (int i = 0; i < 4; ++i) {
        const ThreadLimit limit(threads);
        time_s = std::fmod(time_s + 0.037, 1.0);
        sampleClip(c->clips[0], float(time_s), pose);
        runner.setPose(pose, time_s);
        std::vector<double> spent(layers.size(), 0.0);
        runner.step(1.0 / 240, spent);
        runner.evaluate(1.0, spent);
        times[threads - 1].push_back(spent.back());
      }
  const double one_s = median(times[0]);
  state.counters["us"] = 1e6 * one_s;
  state.counters["ns_per_vertex"] = 1e9 * one_s / double(c->mesh.vertexCount());
  state.counters["two_threads"] = one_s / median(times[1]);
  const double before = std::exchange(earlier()[name], one_s);
  if (before > 0) state.counters["exponent"] = std::log10(one_s / before);
}

void sizes(benchmark::internal::Benchmark* b) {
  for (const int n : {1000, 10000}) b->Arg(n);
  if (!quickRun()) b->Arg(100000);
  // Binding a million vertices takes a minute.
  if (std::getenv("DERM_BENCH_LARGE") != nullptr) b->Arg(1000000);
  b->Iterations(quickRun() ? 1 : 5)->Unit(benchmark::kMillisecond);
}

BENCHMARK(catFrame)->Iterations(quickRun() ? 1 : 5)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(growth, skinning, std::string("skinning"))->Apply(sizes);
BENCHMARK_CAPTURE(growth, flesh, std::string("flesh"))->Apply(sizes);
BENCHMARK_CAPTURE(growth, volume, std::string("volume"))->Apply(sizes);
BENCHMARK_CAPTURE(growth, wrinkles, std::string("wrinkles"))->Apply(sizes);

}  // namespace
}  // namespace derm::frame_bench
