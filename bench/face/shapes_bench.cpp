// 52 shapes of one head on another, and by control points, on one thread.
#include <string>

#include <benchmark/benchmark.h>

#include "derm/base/hash.h"
#include "derm/base/parallel.h"
#include "derm/cast/cast.h"
#include "derm/face/arkit_shapes.h"
#include "derm/face/landmark_correspondence.h"
#include "derm/face/shape_transfer.h"

namespace derm::shapes_bench {
namespace {

Character castHead(const char* name) {
  Result<Character> made = makeCastMember(name);
  DERM_REQUIRE(made.ok());
  return *std::move(made);
}

std::string hashOf(const std::vector<MorphTarget>& shapes) {
  Hash64 hash;
  for (const MorphTarget& s : shapes)
    for (const Vec3f& d : s.positions) hash.addSpan(std::span<const float>(d.data(), 3));
  return "hash " + std::to_string(hash.value());
}

void shapesByPoints(benchmark::State& state) {
  const ThreadLimit one_thread(1);
  const Character head = castHead("woman");
  Diagnostics notes;
  for (auto _ : state) {
    const auto shapes = arkitShapes(head, notes);
    DERM_REQUIRE(shapes.ok());
    state.SetLabel(hashOf(*shapes));
  }
}
BENCHMARK(shapesByPoints)->Unit(benchmark::kMillisecond)->UseRealTime();

void shapesFromAnotherHead(benchmark::State& state) {
  const ThreadLimit one_thread(1);
  const Character donor = castHead("woman"), target = castHead("toon");
  Diagnostics notes;
  const auto shapes = arkitShapes(donor, notes);
  const auto dense =
      landmarkCorrespondence(donor.mesh, donor.points, target.mesh, target.points, notes);
  DERM_REQUIRE(shapes.ok() && dense.ok());
  for (auto _ : state) {
    const auto carried = transferShapes({donor.mesh, donor.points}, *shapes,
                                        {target.mesh, target.points}, *dense, {}, notes);
    DERM_REQUIRE(carried.ok());
    state.SetLabel(hashOf(*carried));
  }
}
BENCHMARK(shapesFromAnotherHead)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace derm::shapes_bench
