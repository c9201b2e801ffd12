// Flesh against the linear skinning of the same vertices, both timed in turn in one run; what it
// costs with and without contact and rotation; and the springs of a crowd.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>

#include <benchmark/benchmark.h>

#include "derm/base/hash.h"
#include "derm/base/parallel.h"
#include "derm/deform/basic_layers.h"
#include "derm/deform/flesh.h"
#include "derm/deform/stack.h"

#include "support/rigged_tube.h"
#include "support/timing.h"

namespace derm::flesh_bench {
namespace {

using bench_support::Clock;
using bench_support::secondsSince;

constexpr int kSectors = 50;
constexpr std::size_t kJoints = 64;

/// A tube of which `share` lies between the element's frames.
struct Scene {
  std::shared_ptr<const Character> character;
  FleshDesc desc;

  Scene(std::size_t vertices, double share) {
    Character tube =
        bench_support::riggedTube(static_cast<int>(vertices) / kSectors, kSectors, kJoints, 1);
    const auto last = std::max<std::size_t>(1, static_cast<std::size_t>(share * (kJoints - 1)));
    desc.dominant = JointId(0);
    desc.ends = {JointId(last)};
    // Every vertex of the element moves: no fading, and the whole tube where the share is 1.
    VertexGroup group{.name = "flesh"};
    for (std::uint32_t v = 0; v < share * static_cast<double>(vertices); ++v) {
      group.vertices.push_back(v);
      group.strengths.push_back(1);
    }
    tube.mesh.groups = {group};
    desc.vertex_group = "flesh";
    desc.attenuation = FleshAttenuation::None;
    character = std::make_shared<const Character>(std::move(tube));
  }
};

/// Argument 0: vertices of the mesh; 1: share of them in the element, in per cent; 2: what it does.
enum Kind { kPerVertex, kWhole, kRotating, kTouching, kAtLimit };

void fleshFrame(benchmark::State& state) {
  const ThreadLimit one(1);
  Scene scene(static_cast<std::size_t>(state.range(0)), static_cast<double>(state.range(1)) / 100);
  const auto kind = static_cast<Kind>(state.range(2));
  if (kind == kWhole) scene.desc.limit = FleshLimit::Element;
  scene.desc.rotation = kind == kRotating;
  if (kind == kTouching) scene.desc.contact = {{.from = Vec3d(0.4, 0, 2), .radius_m = 0.2}};
  Diagnostics notes;
  const std::vector<LayerFactory> layers = {skinningLayer({}), fleshLayer(scene.desc)};
  StackRunner runner(Stack::bind(scene.character, layers, notes).value());
  Pose pose = scene.character->restPose();
  runner.reset();
  double skinning = 1e9, flesh = 1e9, whole = 1e9, step = 1e9;
  double skinning_sum = 0, flesh_sum = 0;  // of all frames, those at the limit too
  int frame = 0;
  std::array<double, 2> stepped = {}, shown = {};
  const auto advance = [&] {
    sampleClip(scene.character->clips[0], static_cast<float>(frame % 60) / 60, pose);
    // A sway; or jolts that keep the spring at its stop.
    const double time = frame / 240.0;
    pose.local[0].translation.x() = static_cast<float>(
        kind == kAtLimit ? 0.05 * (frame % 7) : 0.1 * std::sin(2 * std::numbers::pi * 1.5 * time));
    ++frame;
    runner.setPose(pose, 0);
    stepped = shown = {};
    runner.step(1.0 / 240, stepped);
  };
  for (int i = 0; i < 20; ++i) advance();  // flesh that hangs still costs nothing
  for (auto _ : state) {
    advance();
    const Clock::time_point start = Clock::now();
    benchmark::DoNotOptimize(runner.evaluate(1.0, shown).positions().data());
    whole = std::min(whole, secondsSince(start));
    skinning = std::min(skinning, shown[0]);
    flesh = std::min(flesh, shown[1]);
    step = std::min(step, stepped[1]);
    skinning_sum += shown[0];
    flesh_sum += shown[1];
  }
  Hash64 hash;
  hash.addSpan(runner.evaluate().positions());
  state.SetLabel("hash " + std::to_string(hash.value()));
  state.counters["skinning_us"] = 1e6 * skinning;
  state.counters["flesh_us"] = 1e6 * flesh;
  state.counters["flesh_over_skinning"] = flesh / skinning;
  state.counters["mean_over_mean"] = flesh_sum / skinning_sum;
  state.counters["normals_us"] = 1e6 * (whole - skinning - flesh);
  state.counters["step_ns"] = 1e9 * step;
}
BENCHMARK(fleshFrame)
    ->Args({10000, 100, kPerVertex})
    ->Args({10000, 100, kWhole})
    ->Args({10000, 100, kRotating})
    ->Args({10000, 100, kTouching})
    ->Args({10000, 100, kAtLimit})
    ->Args({100000, 100, kPerVertex})
    ->Args({100000, 10, kPerVertex})
    ->Args({100000, 1, kPerVertex})
    ->Unit(benchmark::kMicrosecond);

/// 1,000 characters of four elements: their springs alone, one after the other on one thread.
void crowdStep(benchmark::State& state) {
  const ThreadLimit one(1);
  const Scene scene(2000, 1);
  Diagnostics notes;
  std::vector<std::unique_ptr<Layer>> layers;
  for (std::size_t e = 0; e < 4; ++e) {
    FleshDesc desc = scene.desc;
    desc.dominant = JointId(10 * e);
    desc.ends = {JointId(10 * e + 10)};
    desc.frequency_hz = 2.0 + static_cast<double>(e);
    const auto stack =
        Stack::bind(scene.character, std::array{skinningLayer({}), fleshLayer(desc)}, notes);
    const auto binding = stack.value()->layers()[1];
    for (int i = 0; i < 1000; ++i) layers.push_back(binding->makeLayer());
  }
  Pose pose = scene.character->restPose();
  std::vector<Affine3d> model(kJoints);
  int frame = 0;
  double best = 1e9;
  for (auto _ : state) {
    sampleClip(scene.character->clips[0], static_cast<float>(frame++ % 240) / 240, pose);
    localToModel(scene.character->skeleton, pose.local, model);
    const FrameInput in{.pose = pose, .model = model, .palette = {}};
    const Clock::time_point start = Clock::now();
    for (const auto& layer : layers) layer->step(in, 1.0 / 240);
    best = std::min(best, secondsSince(start));
  }
  StateWriter states;
  for (const auto& layer : layers) layer->saveState(states);
  state.SetLabel("hash " + std::to_string(states.hash()));
  state.counters["elements"] = static_cast<double>(layers.size());
  state.counters["best_ms"] = 1e3 * best;
}
BENCHMARK(crowdStep)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace derm::flesh_bench
