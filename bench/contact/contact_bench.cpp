// What contact costs beside skinning and area-weighted normals of the same mesh, in frames in which
// skin meets skin and in others; and a frame of all layers of a body, on one thread and on two. Of
// a tube that curls up; of a character's own clips where DERM_BENCH_CHARACTER names its file.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "derm/base/hash.h"
#include "derm/base/parallel.h"
#include "derm/contact/contact_layer.h"
#include "derm/deform/basic_layers.h"
#include "derm/deform/flesh_auto.h"
#include "derm/deform/stack.h"
#include "derm/io/character_file.h"
#include "derm/mesh/normals.h"
#include "derm/volume/volume_layer.h"

#include "support/rigged_tube.h"
#include "support/timing.h"

namespace derm::contact_bench {
namespace {

using bench_support::Clock;
using bench_support::secondsSince;

constexpr int kJoints = 16;

struct Subject {
  std::shared_ptr<const Character> character;
  std::vector<Pose> poses;
};

/// A tube of some 13,000 vertices, straight, bent and curled up until it meets itself.
Subject curledTube() {
  Subject out;
  auto c = std::make_shared<Character>(bench_support::riggedTube(240, 54, kJoints, 1));
  for (const float turn : {0.02f, 0.06f, 0.1f, 0.55f, 0.6f, 0.65f}) {
    Pose pose = c->restPose();
    for (std::size_t j = 1; j < pose.local.size(); ++j)
      pose.local[j].rotation = Quatf(Eigen::AngleAxisf(turn, Eigen::Vector3f::UnitX()));
    out.poses.push_back(std::move(pose));
  }
  out.character = c;
  return out;
}

Subject subject() {
  const char* const file = std::getenv("DERM_BENCH_CHARACTER");
  if (file == nullptr) return curledTube();
  Diagnostics notes;
  auto loaded = loadCharacter(file, {}, notes);
  if (!loaded.ok()) {
    std::fprintf(stderr, "%s\n", loaded.error().text().c_str());
    std::exit(1);
  }
  Subject out;
  out.character = std::make_shared<const Character>(std::move(loaded).value());
  for (const Clip& clip : out.character->clips)
    for (const float share : {0.05f, 0.3f, 0.55f, 0.8f, 1.0f}) {
      Pose pose = out.character->restPose();
      sampleClip(clip, share * clip.duration_s(), pose);
      out.poses.push_back(std::move(pose));
    }
  return out;
}

/// Time of each layer and of all, the least of some evaluations shortly after a jump from the rest
/// pose. Flesh hardly moves so soon: its share is that of elements at rest.
std::vector<double> timed(StackRunner& runner, const Pose& pose) {
  const std::size_t count = runner.stack().layers().size();
  std::vector<double> least(count + 1, 1e9), spent(count);
  runner.setPose(runner.stack().character().restPose(), 0);
  runner.reset();
  runner.setPose(pose, 0);
  for (int i = 0; i < 3; ++i) {
    std::fill(spent.begin(), spent.end(), 0.0);
    runner.step(1.0 / 240);
    const Clock::time_point start = Clock::now();
    runner.evaluate(1.0, spent);
    least[count] = std::min(least[count], secondsSince(start));
    for (std::size_t l = 0; l < count; ++l) least[l] = std::min(least[l], spent[l]);
  }
  return least;
}

void contact(benchmark::State& state) {
  const ThreadLimit one(1);
  const Subject s = subject();
  Diagnostics notes;
  const std::vector<LayerFactory> layers = {skinningLayer({.method = SkinningMethod::Centre}),
                                            contactLayer("contact", {})};
  auto stack = Stack::bind(s.character, layers, notes);
  if (!stack) return state.SkipWithError(stack.error().text().c_str());
  StackRunner runner(*stack);
  double free_s = 0, meeting_s = 0, most_s = 0, plain_s = 0;
  std::size_t free = 0, meeting = 0;
  Hash64 hash;
  for (auto _ : state)
    for (const Pose& pose : s.poses) {
      const std::vector<double> times = timed(runner, pose);
      const std::span<const Vec3f> x = std::as_const(runner.evaluate()).positions();
      hash.addSpan(x);
      const Clock::time_point start = Clock::now();
      benchmark::DoNotOptimize(areaWeightedNormals(x, s.character->mesh.triangles));
      plain_s += times[0] + secondsSince(start);
      const bool meets = runner.find<ContactLayer>("contact")->report().contacts > 0;
      (meets ? meeting_s : free_s) += times[1];
      most_s = std::max(most_s, times[1]);
      ++(meets ? meeting : free);
    }
  const double plain = plain_s / double(free + meeting);
  const double free_mean = free > 0 ? free_s / double(free) : 0;
  const double meeting_mean = meeting > 0 ? meeting_s / double(meeting) : 0;
  state.counters["free_ms"] = 1e3 * free_mean;
  state.counters["meeting_ms"] = 1e3 * meeting_mean;
  state.counters["most_ms"] = 1e3 * most_s;
  state.counters["free_of_skinning_and_normals"] = free_mean / plain;
  state.counters["meeting_of_skinning_and_normals"] = meeting_mean / plain;
  state.counters["frames_free"] = double(free);
  state.counters["frames_meeting"] = double(meeting);
  state.counters["hash"] = double(hash.value() % 1000000);
}

/// Skinning, up to seven flesh elements, volume; with contact or without.
void wholeFrame(benchmark::State& state) {
  const Subject s = subject();
  Diagnostics notes;
  std::vector<LayerFactory> layers = {morphLayer(),
                                      skinningLayer({.method = SkinningMethod::Centre})};
  std::size_t elements = 0;
  if (const auto found = proposeFlesh(*s.character, notes); found.ok())
    for (const FleshProposal& p : *found)
      if (elements < 7) {
        layers.push_back(fleshLayer(p.desc));
        ++elements;
      }
  if (state.range(0) != 0) layers.push_back(contactLayer("contact", {}));
  layers.push_back(volumeLayer("volume", volumePreset(VolumePreset::Default)));
  auto stack = Stack::bind(s.character, layers, notes);
  if (!stack) return state.SkipWithError(stack.error().text().c_str());
  StackRunner runner(*stack);
  std::vector<double> one, two, sums(layers.size(), 0.0);
  for (auto _ : state)
    for (const Pose& pose : s.poses)
      for (const int threads : {1, 2}) {
        const ThreadLimit limit(threads);
        const std::vector<double> times = timed(runner, pose);
        (threads == 1 ? one : two).push_back(times.back());
        if (threads == 1)
          for (std::size_t l = 0; l < layers.size(); ++l) sums[l] += times[l];
      }
  const auto median = [](std::vector<double>& times) {
    const auto middle = times.begin() + std::ptrdiff_t(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
  };
  const auto bound = (*stack)->layers();
  double flesh = 0;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const double ms = 1e3 * sums[l] / double(one.size());
    if (bound[l]->type() == "flesh")
      flesh += ms;
    else
      state.counters[bound[l]->name() + "_ms"] = ms;
  }
  state.counters["flesh_ms"] = flesh;
  state.counters["elements"] = double(elements);
  state.counters["one_ms"] = 1e3 * median(one);
  state.counters["two_ms"] = 1e3 * median(two);
  state.counters["two_threads"] = median(one) / median(two);
}

BENCHMARK(contact)->Iterations(3)->Unit(benchmark::kMillisecond);
BENCHMARK(wholeFrame)->Arg(0)->Arg(1)->Iterations(3)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace derm::contact_bench
