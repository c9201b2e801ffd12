// Two levels of refinement of a whole mesh: our butterfly stencils, and OpenSubdiv's Loop stencils
// on the same mesh in turn in one run, both from packed positions to packed positions.
#include <algorithm>
#include <memory>
#include <string>

#include <benchmark/benchmark.h>

#include "derm/base/hash.h"
#include "derm/mesh/local_refinement.h"

#include "support/rigged_tube.h"
#include "support/timing.h"

#ifdef DERM_BENCH_OPENSUBDIV
#include <opensubdiv/far/primvarRefiner.h>
#include <opensubdiv/far/stencilTable.h>
#include <opensubdiv/far/stencilTableFactory.h>
#include <opensubdiv/far/topologyDescriptor.h>
#include <opensubdiv/far/topologyRefinerFactory.h>
#endif

namespace derm::butterfly_bench {
namespace {

using bench_support::Clock;
using bench_support::secondsSince;

class Ours {
 public:
  explicit Ours(const TriMesh& mesh)
      : fine_(RefinableSurface(mesh.triangles, mesh.vertexCount())
                  .refine(std::vector<std::uint8_t>(mesh.triangles.size(), 2))),
        slots_(fine_.stencils.slotCount() + 1, Vec3f::Zero()) {
    // New vertices are in the order of their slots: the slots after the sources are the result.
    for (std::size_t i = 0; i < fine_.vertices.size(); ++i)
      DERM_REQUIRE(fine_.vertices[i].slot == fine_.stencils.sources().size() + i);
  }

  void run(const std::vector<Vec3f>& positions) {
    fine_.stencils.gather(positions, slots_);
    fine_.stencils.evaluate(1, slots_);
  }
  std::span<const Vec3f> out() const {
    return std::span(slots_).subspan(fine_.stencils.sources().size(), fine_.vertices.size());
  }

 private:
  LocalRefinement fine_;
  std::vector<Vec3f> slots_;
};

#ifdef DERM_BENCH_OPENSUBDIV
struct Point {
  float x, y, z;
  void Clear() { x = y = z = 0; }
  void AddWithWeight(const Point& p, float w) {
    x += w * p.x;
    y += w * p.y;
    z += w * p.z;
  }
};

class Theirs {
 public:
  explicit Theirs(const TriMesh& mesh) {
    namespace Far = OpenSubdiv::Far;
    std::vector<int> counts(mesh.triangles.size(), 3), corners;
    for (const Triangle& t : mesh.triangles)
      for (const std::uint32_t v : t) corners.push_back(int(v));
    Far::TopologyDescriptor desc;
    desc.numVertices = int(mesh.vertexCount());
    desc.numFaces = int(mesh.triangles.size());
    desc.numVertsPerFace = counts.data();
    desc.vertIndicesPerFace = corners.data();
    using Factory = Far::TopologyRefinerFactory<Far::TopologyDescriptor>;
    refiner_.reset(Factory::Create(desc, Factory::Options(OpenSubdiv::Sdc::SCHEME_LOOP, {})));
    refiner_->RefineUniform(Far::TopologyRefiner::UniformOptions(2));
    Far::StencilTableFactory::Options options;
    options.generateIntermediateLevels = false;
    options.generateOffsets = true;
    table_.reset(Far::StencilTableFactory::Create(*refiner_, options));
    out_.resize(std::size_t(table_->GetNumStencils()));
  }
  void run(const std::vector<Vec3f>& positions) {
    table_->UpdateValues(reinterpret_cast<const Point*>(positions.data()), out_.data());
  }
  const std::vector<Point>& out() const { return out_; }

 private:
  std::unique_ptr<OpenSubdiv::Far::TopologyRefiner> refiner_;
  std::unique_ptr<const OpenSubdiv::Far::StencilTable> table_;
  std::vector<Point> out_;
};
#endif

void refineTwice(benchmark::State& state) {
  const TriMesh mesh = bench_support::riggedTube(int(state.range(0)) / 40, 40, 8, 1).mesh;
  Ours ours(mesh);
  double best_ours = 1e9;
#ifdef DERM_BENCH_OPENSUBDIV
  Theirs theirs(mesh);
  double best_theirs = 1e9;
#endif
  for (auto _ : state) {
    Clock::time_point start = Clock::now();
    ours.run(mesh.positions);
    best_ours = std::min(best_ours, secondsSince(start));
    benchmark::DoNotOptimize(ours.out().data());
#ifdef DERM_BENCH_OPENSUBDIV
    start = Clock::now();
    theirs.run(mesh.positions);
    best_theirs = std::min(best_theirs, secondsSince(start));
    benchmark::DoNotOptimize(theirs.out().data());
#endif
  }
  Hash64 hash;
  hash.addSpan(ours.out());
  state.SetLabel("hash " + std::to_string(hash.value()));
  const double ns_ours = 1e9 * best_ours / double(ours.out().size());
  state.counters["ns_per_new_vertex"] = ns_ours;
#ifdef DERM_BENCH_OPENSUBDIV
  const double ns_theirs = 1e9 * best_theirs / double(theirs.out().size());
  state.counters["opensubdiv_ns"] = ns_theirs;
  state.counters["times_faster"] = ns_theirs / ns_ours;
  state.counters["times_faster_whole"] = best_theirs / best_ours;
#endif
}
BENCHMARK(refineTwice)->Arg(1200)->Arg(20000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace derm::butterfly_bench
