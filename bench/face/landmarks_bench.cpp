// Points of one head on another from depth maps: heads of 10 k and 80 k triangles, one thread.
#include <string>

#include <benchmark/benchmark.h>

#include "derm/base/hash.h"
#include "derm/base/parallel.h"
#include "derm/cast/heads.h"
#include "derm/face/profile_landmarks.h"
#include "derm/face/watershed_landmarks.h"

namespace derm {
namespace {

struct TwoHeads {
  Character from, to;

  explicit TwoHeads(int subdivisions) {
    const auto head = [&](SyntheticHeadDesc desc) {
      desc.mesh = SyntheticHeadDesc::Mesh::Octahedron;
      desc.subdivisions = subdivisions;
      desc.asymmetry_cm = 0.03;
      Result<Character> made = makeSyntheticHead(desc);
      DERM_REQUIRE(made.ok());
      return *std::move(made);
    };
    from = head(syntheticHeadA());
    to = head(syntheticHeadC());
  }
};

std::string hashOf(const std::vector<LandmarkMatch>& matches) {
  Hash64 hash;
  for (const LandmarkMatch& match : matches)
    hash.addSpan(std::span<const float>(match.point.barycentric.data(), 3));
  return "hash " + std::to_string(hash.value());
}

void landmarksByWatershed(benchmark::State& state) {
  const TwoHeads heads(int(state.range(0)));
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
  const TwoHeads heads(int(state.range(0)));
  const ThreadLimit one_thread(1);
  for (auto _ : state) {
    const auto matches = matchByProfiles(heads.from.mesh, heads.from.points, heads.to.mesh);
    DERM_REQUIRE(matches.ok());
    state.SetLabel(hashOf(matches->landmarks));
  }
}
BENCHMARK(landmarksByProfiles)->Arg(36)->Arg(100)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace derm
