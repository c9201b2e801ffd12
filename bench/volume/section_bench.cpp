// What the volume layer's section correction costs beside linear skinning and normals of the same
// mesh, timed in turn in one run: a tube of 100k vertices, 20 regions that all bend. Prints the
// ratio derm holds itself to (6), the gain of a second thread (1.6), bytes per vertex, the error
// left in float positions, and a hash. "base" is the centre method's own cost against linear
// skinning.
#include <algorithm>
#include <memory>
#include <string>

#include <benchmark/benchmark.h>
#include <malloc.h>

#include "derm/base/hash.h"
#include "derm/base/parallel.h"
#include "derm/deform/basic_layers.h"
#include "derm/deform/stack.h"
#include "derm/volume/region_volumes.h"
#include "derm/volume/volume_layer.h"

#include "support/rigged_tube.h"
#include "support/timing.h"

namespace derm::section_bench {
namespace {

using bench_support::Clock;
using bench_support::secondsSince;

/// Binding takes seconds: a fixed number of frames makes it happen once.
constexpr int kFrames = 25;

double heapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return double(info.uordblks) + double(info.hblkhd);
}

VolumeDesc sectionDesc() {
  VolumeDesc desc;  // every joint of the tube a region of its own
  desc.regions = {.beta = 1, .min_area_share = 0, .min_limb_ratio = 0, .min_volume_share = 0};
  return desc;
}

/// A stack whose last layer is timed alone.
struct Timed {
  StackRunner runner;
  std::vector<double> layer_s;

  Timed(std::shared_ptr<const Character> c, std::vector<LayerFactory> layers)
      : runner(bind(std::move(c), layers)), layer_s(layers.size(), 0.0) {}
  static std::shared_ptr<const Stack> bind(std::shared_ptr<const Character> c,
                                           std::span<const LayerFactory> layers) {
    Diagnostics notes;
    return Stack::bind(std::move(c), layers, notes).value();
  }
  double lastLayer(const Pose& pose, int threads) {
    const ThreadLimit limit(threads);
    runner.setPose(pose, 0);
    std::fill(layer_s.begin(), layer_s.end(), 0.0);
    runner.evaluate(1.0, layer_s);
    return layer_s.back();
  }
};

/// Largest relative error of a region, from what came out.
double worstError(const Timed& timed, const SkinFrame& frame) {
  const Stack& stack = timed.runner.stack();
  const Character& c = stack.character();
  Diagnostics notes;
  const MeasuredSurface surface =
      makeMeasuredSurface(c.mesh.positions, c.mesh.triangles, "tube", notes);
  const VolumeRegions regions =
      VolumeRegions::bind(surface, c.mesh, c.skeleton, c.skin, sectionDesc().regions).value();
  std::vector<Vec3d> points(surface.pointCount()), anchors(regions.jointCount());
  measurePoints(surface, frame.positions(), Vec3d::Zero(), points);
  regions.jointPositions(timed.runner.model(), anchors);
  const std::vector<double> now =
      RegionVolumes(surface, regions, RegionTables::Volumes).volumes(points, anchors);
  const auto& binding = dynamic_cast<const VolumeLayerBinding&>(*stack.layers().back());
  double worst = 0;
  for (std::size_t l = 0; l < now.size(); ++l)
    worst = std::max(worst, std::abs(now[l] / binding.restVolumes()[l] - 1));
  return worst;
}

void section(benchmark::State& state) {
  const auto character = std::make_shared<const Character>(
      bench_support::riggedTube(int(state.range(0)) / 50, 50, 21, 1));
  Timed linear(character, {skinningLayer({})});
  const double at_first = heapBytes();
  Timed centre(character, {skinningLayer({.method = SkinningMethod::Centre})});
  const double before = heapBytes();
  Timed volume(character, {skinningLayer({.method = SkinningMethod::Centre}),
                           volumeLayer("volume", sectionDesc())});
  const double bytes = heapBytes() - before - (before - at_first);
  const NormalUpdate normals(character->mesh);
  std::vector<Vec3f> areas(normals.triangleCount());
  std::vector<Vec3f> normal_out = character->mesh.normals;
  // A snake: every joint bent by 50 degrees, which takes several steps.
  Pose pose = character->restPose();
  for (std::size_t j = 1; j < pose.local.size(); ++j)
    pose.local[j].rotation =
        Quatf(Eigen::AngleAxisf(j % 2 == 0 ? 0.87f : -0.87f, Eigen::Vector3f::UnitX()));
  double linear_s = 1e9, centre_s = 1e9, normals_s = 1e9, one_s = 1e9, two_s = 1e9;
  for (auto _ : state) {
    linear_s = std::min(linear_s, linear.lastLayer(pose, 1));
    centre_s = std::min(centre_s, centre.lastLayer(pose, 1));
    {
      const ThreadLimit one(1);
      const SkinFrame& posed = linear.runner.evaluate();
      const Clock::time_point start = Clock::now();
      normals.evaluate(character->mesh.positions, posed.positions(), areas, normal_out);
      normals_s = std::min(normals_s, secondsSince(start));
    }
    one_s = std::min(one_s, volume.lastLayer(pose, 1));
    two_s = std::min(two_s, volume.lastLayer(pose, 2));
  }
  const SkinFrame& frame = volume.runner.evaluate();
  Hash64 hash;
  hash.addSpan(frame.positions());
  state.SetLabel("hash " + std::to_string(hash.value()));
  const VolumeLayer& layer = *volume.runner.find<VolumeLayer>("volume");
  state.counters["regions"] = double(layer.report().regions.size());
  state.counters["steps"] = layer.report().iterations;
  state.counters["frame_us"] = 1e6 * one_s;
  state.counters["ratio"] = one_s / (linear_s + normals_s);
  state.counters["two_threads"] = one_s / two_s;
  state.counters["base"] = centre_s / linear_s;
  state.counters["bytes_per_vertex"] = bytes / double(state.range(0));
  state.counters["error"] = worstError(volume, frame);
}
/// Frames of the layer with one of the methods of volume_methods.h, for the memory it takes.
void methodLayer(benchmark::State& state, VolumeMethod method) {
  constexpr int kVertices = 100000;
  const auto character =
      std::make_shared<const Character>(bench_support::riggedTube(kVertices / 50, 50, 21, 1));
  VolumeDesc desc = sectionDesc();
  desc.method.method = method;
  desc.mask.terms = {{.rule = MaskRule::SmoothWeights}};
  Timed linear(character, {skinningLayer({})});
  const double at_first = heapBytes();
  Timed again(character, {skinningLayer({})});
  const double before = heapBytes();
  Timed volume(character, {skinningLayer({}), volumeLayer("volume", desc)});
  const double bytes = heapBytes() - before - (before - at_first);
  Pose pose = character->restPose();
  sampleClip(character->clips[0], 0.4f, pose);
  double one_s = 1e9, two_s = 1e9;
  for (auto _ : state) {
    one_s = std::min(one_s, volume.lastLayer(pose, 1));
    two_s = std::min(two_s, volume.lastLayer(pose, 2));
  }
  state.counters["frame_us"] = 1e6 * one_s;
  state.counters["two_threads"] = one_s / two_s;
  state.counters["bytes_per_vertex"] = bytes / kVertices;
}
BENCHMARK_CAPTURE(methodLayer, axes_exact, VolumeMethod::AxesExact)
    ->Iterations(kFrames)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(methodLayer, normal, VolumeMethod::Normal)
    ->Iterations(kFrames)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(methodLayer, gradient, VolumeMethod::Gradient)
    ->Iterations(kFrames)
    ->Unit(benchmark::kMillisecond);

BENCHMARK(section)->Arg(13000)->Arg(100000)->Iterations(kFrames)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace derm::section_bench
