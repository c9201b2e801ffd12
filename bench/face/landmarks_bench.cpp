// Points of one head on another from depth maps: heads of 10 k and 80 k triangles, one thread.
#include <benchmark/benchmark.h>

#include "derm/base/parallel.h"
#include "derm/face/profile_landmarks.h"
#include "derm/face/watershed_landmarks.h"

#include "head_pair.h"

namespace derm::landmarks_bench {
namespace {

void landmarksByWatershed(benchmark::State& state) {
  const HeadPair heads(syntheticHeadA(), syntheticHeadC(), int(state.range(0)));
  const ThreadLimit one_thread(1);
  for (auto _ : state) {
    Diagnostics notes;
    const auto matches =
        matchByWatershed(heads.from.mesh, heads.from.points, heads.to.mesh, {}, notes);
    DERM_REQUIRE(matches.ok());
    state.SetLabel(hashOf(*matches));
  }
}
BENCHMARK(landmarksByWatershed)->Arg(36)->Arg(100)->Unit(benchmark::kMillisecond);

void landmarksByProfiles(benchmark::State& state) {
  const HeadPair heads(syntheticHeadA(), syntheticHeadC(), int(state.range(0)));
  const ThreadLimit one_thread(1);
  for (auto _ : state) {
    const auto matches = matchByProfiles(heads.from.mesh, heads.from.points, heads.to.mesh);
    DERM_REQUIRE(matches.ok());
    state.SetLabel(hashOf(matches->landmarks));
  }
}
BENCHMARK(landmarksByProfiles)->Arg(36)->Arg(100)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace derm::landmarks_bench
