// Points of one head on another by registration: heads of 10 k and 80 k triangles in an unknown
// pose, on one thread and on two; and the dense correspondence.
#include <string>

#include <benchmark/benchmark.h>

#include "derm/base/hash.h"
#include "derm/base/parallel.h"
#include "derm/face/head_registration.h"

#include "head_pair.h"

namespace derm::registration_bench {
namespace {

Result<HeadRegistration> registered(const HeadPair& heads) {
  Diagnostics notes;
  return registerHeads(heads.from.mesh, heads.from.points, heads.to.mesh, {}, notes);
}

void registration(benchmark::State& state) {
  const HeadPair heads(syntheticHeadB(), syntheticHeadA(), int(state.range(0)));
  const ThreadLimit threads(int(state.range(1)));
  for (auto _ : state) {
    const auto r = registered(heads);
    DERM_REQUIRE(r.ok());
    state.SetLabel(hashOf(r->landmarks));
  }
}
BENCHMARK(registration)
    ->Args({36, 1})
    ->Args({36, 2})
    ->Args({100, 1})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void denseMap(benchmark::State& state) {
  const HeadPair heads(syntheticHeadB(), syntheticHeadA(), int(state.range(0)));
  const ThreadLimit one_thread(1);
  const auto r = registered(heads);
  DERM_REQUIRE(r.ok());
  for (auto _ : state) {
    const auto dense = denseCorrespondence(heads.from.mesh, heads.to.mesh, *r);
    DERM_REQUIRE(dense.ok());
    Hash64 hash;
    hash.addSpan(std::span<const float>(dense->confidence));
    state.SetLabel("hash " + std::to_string(hash.value()));
  }
}
BENCHMARK(denseMap)->Arg(36)->Arg(100)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace derm::registration_bench
