// What a stack costs on top of the skinning in it: both are timed in turn in one run.
#include <algorithm>
#include <memory>
#include <string>

#include <benchmark/benchmark.h>

#include "derm/base/hash.h"
#include "derm/base/parallel.h"
#include "derm/deform/basic_layers.h"
#include "derm/deform/skinning.h"
#include "derm/deform/stack.h"

#include "support/rigged_tube.h"
#include "support/timing.h"

namespace derm::stack_bench {
namespace {

using bench_support::Clock;
using bench_support::secondsSince;

class NoOp final : public Layer {
 public:
  void evaluate(const FrameInput&, SkinFrame&) noexcept override {}
};

class NoOpBinding final : public LayerBinding {
 public:
  explicit NoOpBinding(std::string name) : LayerBinding(std::move(name), "no-op") {}
  std::unique_ptr<Layer> makeLayer() const override { return std::make_unique<NoOp>(); }
};

LayerFactory noOp(std::string name) {
  return [name](const BindInput&) -> BindResult {
    return std::shared_ptr<const LayerBinding>(std::make_shared<NoOpBinding>(name));
  };
}

void stackOverhead(benchmark::State& state) {
  const ThreadLimit one(1);
  const auto character = std::make_shared<const Character>(
      bench_support::riggedTube(int(state.range(0)) / 50, 50, 64, 1));
  Diagnostics notes;
  std::vector<LayerFactory> layers = {morphLayer(), skinningLayer({})};
  for (int i = 0; i < 8; ++i) layers.push_back(noOp("no-op " + std::to_string(i)));
  StackRunner runner(Stack::bind(character, layers, notes).value());

  const SkinningBinding skinning =
      SkinningBinding::bind(surfaceOf(character->mesh), character->skin, {}, notes).value();
  SkinningScratch scratch = skinning.makeScratch();
  TriMesh bare = character->mesh;
  std::vector<Affine3d> model(character->skeleton.size());
  std::vector<Affine3f> palette(character->skin.slots.size());

  double best_stack = 1e9, best_bare = 1e9;
  Pose pose = character->restPose();
  int frame = 0;
  for (auto _ : state) {
    sampleClip(character->clips[0], float(frame++ % 60) / 60, pose);
    const Clock::time_point start = Clock::now();
    localToModel(character->skeleton, pose.local, model);
    skinningMatrices(character->skin, model, palette);
    skinning.evaluate(palette, scratch, outputOf(bare));
    best_bare = std::min(best_bare, secondsSince(start));
    const Clock::time_point middle = Clock::now();
    runner.setPose(pose, 0);
    benchmark::DoNotOptimize(runner.evaluate().positions().data());
    best_stack = std::min(best_stack, secondsSince(middle));
  }
  Hash64 hash;
  hash.addSpan(runner.evaluate().positions());
  state.SetLabel("hash " + std::to_string(hash.value()));
  state.counters["stack_us"] = 1e6 * best_stack;
  state.counters["skinning_us"] = 1e6 * best_bare;
  state.counters["overhead_percent"] = 100 * (best_stack / best_bare - 1);
}
BENCHMARK(stackOverhead)->Arg(10000)->Arg(100000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace derm::stack_bench
