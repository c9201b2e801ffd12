// Radial basis functions: binding beside a bare LU of the bordered system, and mapping a mesh
// beside a plain loop, in turn in one run.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <Eigen/Dense>
#include <benchmark/benchmark.h>

#include "derm/base/hash.h"
#include "derm/base/parallel.h"
#include "derm/base/rng.h"
#include "derm/math/rbf.h"

#include "support/timing.h"

namespace derm::rbf_bench {
namespace {

using bench_support::Clock;
using bench_support::secondsSince;

/// Points of about a head's surface, and where they are on another.
struct Faces {
  std::vector<Vec3d> from, to;

  explicit Faces(std::size_t count) {
    Rng rng(1);
    for (std::size_t i = 0; i < count; ++i) {
      const Vec3d p(rng.uniform(-7, 7), rng.uniform(-10, 10), rng.uniform(5, 11));
      from.push_back(p);
      to.emplace_back(0.9 * p.x() + 0.3 * std::sin(p.y()), 1.1 * p.y(), p.z() + 0.2 * p.x());
    }
  }
};

/// [H S; S^T 0] of Dutreve 2011, eq. 3.16, with nothing checked and nothing normalised.
Eigen::MatrixXd solvedByLu(const Faces& faces) {
  const auto n = static_cast<Eigen::Index>(faces.from.size());
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(n + 4, n + 4);
  Eigen::MatrixXd t = Eigen::MatrixXd::Zero(n + 4, 3);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Vec3d& p = faces.from[std::size_t(i)];
    for (Eigen::Index j = 0; j < n; ++j) m(i, j) = (p - faces.from[std::size_t(j)]).norm();
    m.row(i).tail<4>() << p.transpose(), 1;
    m.col(i).tail<4>() << p, 1;
    t.row(i) = faces.to[std::size_t(i)].transpose();
  }
  return m.partialPivLu().solve(t);
}

void rbfBind(benchmark::State& state) {
  const Faces faces(std::size_t(state.range(0)));
  double ours = 1e9, theirs = 1e9;
  Hash64 hash;
  for (auto _ : state) {
    Clock::time_point start = Clock::now();
    Diagnostics notes;
    const auto map = RbfMap33::bind(faces.from, faces.to, {}, notes);
    ours = std::min(ours, secondsSince(start));
    DERM_REQUIRE(map.ok());
    const Vec3d at = map->evaluate({1, 2, 10});
    hash = {};
    hash.addSpan(std::span(at.data(), 3));
    start = Clock::now();
    const Eigen::MatrixXd bare = solvedByLu(faces);
    theirs = std::min(theirs, secondsSince(start));
    benchmark::DoNotOptimize(bare.data());
  }
  state.SetLabel("hash " + std::to_string(hash.value()));
  state.counters["ms"] = 1e3 * ours;
  state.counters["bare_lu_ms"] = 1e3 * theirs;
  state.counters["times_faster"] = theirs / ours;
}
BENCHMARK(rbfBind)->Arg(28)->Arg(84)->Arg(300)->Unit(benchmark::kMicrosecond);

void rbfMesh(benchmark::State& state) {
  const Faces faces(std::size_t(state.range(1)));
  const auto kernel = static_cast<RbfKernel>(state.range(2));
  Diagnostics notes;
  const auto map = RbfMap33::bind(faces.from, faces.to, {.kernel = kernel}, notes);
  DERM_REQUIRE(map.ok());
  Rng rng(2);
  std::vector<Vec3f> points, mapped(std::size_t(state.range(0))), plain(mapped.size());
  for (std::size_t i = 0; i < mapped.size(); ++i)
    points.emplace_back(float(rng.uniform(-7, 7)), float(rng.uniform(-10, 10)),
                        float(rng.uniform(-9, 11)));
  const ThreadLimit one_thread(1);
  double ours = 1e9, naive = 1e9;
  for (auto _ : state) {
    Clock::time_point start = Clock::now();
    map->evaluate(points, mapped);
    ours = std::min(ours, secondsSince(start));
    benchmark::DoNotOptimize(mapped.data());
    start = Clock::now();
    for (std::size_t i = 0; i < points.size(); ++i)
      plain[i] = map->evaluate(points[i].cast<double>().eval()).cast<float>();
    naive = std::min(naive, secondsSince(start));
    benchmark::DoNotOptimize(plain.data());
  }
  Hash64 hash;
  hash.addSpan(std::span<const Vec3f>(mapped));
  state.SetLabel("hash " + std::to_string(hash.value()));
  state.counters["ms"] = 1e3 * ours;
  state.counters["plain_loop_ms"] = 1e3 * naive;
  state.counters["times_faster"] = naive / ours;
}
BENCHMARK(rbfMesh)
    ->ArgsProduct({{10000}, {28}, {0, 1, 2, 3, 4}})
    ->Args({10000, 84, 0})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace derm::rbf_bench
