// How fast characters are skinned, beside a straightforward loop with Eigen in the same run.
//   derm_bench_deform [character files] [--benchmark_…]
// Real characters are also looked for in the folder that DERM_BENCH_DATA names.
// Prints nanoseconds per vertex (positions and normals; minimum of many repetitions), a hash of
// each result, and the ratios derm holds itself to: 3 on smooth weights, 2 on real characters; two
// threads are judged at 100k vertices, where starting them does not count.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <string>

#include <benchmark/benchmark.h>

#include "derm/base/hash.h"
#include "derm/base/parallel.h"
#include "derm/deform/skinning.h"

#include "deform/skinning_scenes.h"
#include "support/arguments.h"

namespace derm::skinning_bench {
namespace {

struct Skinned {
  std::vector<Vec3f> positions, normals;
};

std::string hashOf(const Skinned& r) {
  Hash64 hash;
  hash.addSpan(std::span<const Vec3f>(r.positions));
  hash.addSpan(std::span<const Vec3f>(r.normals));
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash.value()));
  return text;
}

// Peers: what one writes first. Eigen vectorises 4x4 matrices, not 3x4 ones, so both are timed and
// the ratios are taken against the faster.

void eigenLoop3x4(const Scene& s, Skinned& out) {
  for (std::size_t v = 0; v < s.vertices(); ++v) {
    Eigen::Matrix<float, 3, 4> m = Eigen::Matrix<float, 3, 4>::Zero();
    for (const Influence& i : s.skin[v]) m += i.weight * s.palette[i.slot].matrix();
    out.positions[v] = m.leftCols<3>() * s.positions[v] + m.col(3);
    out.normals[v] = (m.leftCols<3>() * s.normals[v]).normalized();
  }
}

void eigenLoop4x4(const Scene& s, const std::vector<Eigen::Matrix4f>& palette, Skinned& out) {
  for (std::size_t v = 0; v < s.vertices(); ++v) {
    Eigen::Matrix4f m = Eigen::Matrix4f::Zero();
    for (const Influence& i : s.skin[v]) m += i.weight * palette[i.slot];
    const Eigen::Vector4f p = m * s.positions[v].homogeneous();
    const Eigen::Vector4f n =
        m * Eigen::Vector4f(s.normals[v].x(), s.normals[v].y(), s.normals[v].z(), 0);
    out.positions[v] = p.head<3>();
    out.normals[v] = n.head<3>().normalized();
  }
}

/// Runs `frame(out)` as one benchmark of a scene.
template <class Frame>
void add(const Scene& scene, const std::string& what, Frame frame) {
  const auto body = [&scene, frame](benchmark::State& state) {
    Skinned out{std::vector<Vec3f>(scene.vertices()), std::vector<Vec3f>(scene.vertices())};
    for (auto _ : state) {
      frame(out);
      benchmark::ClobberMemory();
    }
    state.SetLabel(hashOf(out));
    state.counters["ns_per_vertex"] = benchmark::Counter(
        double(scene.vertices()) * 1e-9,
        benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  };
  benchmark::RegisterBenchmark((scene.name + "/" + what).c_str(), body)
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond)
      ->ComputeStatistics("min", [](const std::vector<double>& times) {
        return *std::min_element(times.begin(), times.end());
      });
}

/// One binding and how to run it.
struct Case {
  std::string what;
  SkinningDesc desc;
  int threads = 1;
  bool stretched = false;
  bool other_surface = false;
};

void addCase(const Scene& scene, const Case& c) {
  Diagnostics notes;
  const SurfaceStreams rest{scene.positions, scene.normals, {}};
  const SkinningBinding binding = *SkinningBinding::bind(rest, scene.skin, c.desc, notes);
  const auto scratch = std::make_shared<SkinningScratch>(binding.makeScratch());
  const std::vector<Affine3f>& palette = c.stretched ? scene.stretched : scene.palette;
  add(scene, c.what, [=, &palette](Skinned& out) {
    const ThreadLimit limit(c.threads);
    if (c.other_surface)
      binding.evaluate(palette, rest, *scratch, {out.positions, out.normals, {}});
    else
      binding.evaluate(palette, *scratch, {out.positions, out.normals, {}});
  });
}

void addScene(const Scene& scene) {
  std::vector<Eigen::Matrix4f> palette;
  for (const Affine3f& m : scene.palette) {
    palette.push_back(Eigen::Matrix4f::Identity());
    palette.back().topRows<3>() = m.matrix();
  }
  add(scene, "eigen-3x4", [&scene](Skinned& out) { eigenLoop3x4(scene, out); });
  add(scene, "eigen-4x4", [&scene, palette](Skinned& out) { eigenLoop4x4(scene, palette, out); });
  const SkinningDesc rigid{.method = SkinningMethod::Rigid};
  const SkinningDesc dual{.method = SkinningMethod::DualQuaternion};
  const SkinningDesc mixed{.dual_quaternion_share = std::vector<float>(scene.vertices(), 0.5f)};
  for (const Case& c :
       {Case{"rigid", rigid}, Case{"linear", {}}, Case{"linear-2-threads", {}, 2},
        Case{"linear-other-surface", {}, 1, false, true}, Case{"linear-stretched", {}, 1, true},
        Case{"dual-quaternion", dual}, Case{"dual-quaternion-2-threads", dual, 2},
        Case{"dual-quaternion-stretched", dual, 1, true}, Case{"mixed", mixed}})
    addCase(scene, c);
}

/// The usual table, and below it the ratios.
class RatioReporter : public benchmark::ConsoleReporter {
 public:
  explicit RatioReporter(const std::vector<Scene>& scenes) : scenes_(scenes) {}

  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<Run> shown;
    std::copy_if(runs.begin(), runs.end(), std::back_inserter(shown),
                 [](const Run& run) { return run.aggregate_name == "min"; });
    if (shown.empty()) shown = runs;  // one repetition only, or somebody else's benchmark
    for (const Run& run : shown) min_times_[run.run_name.function_name] = run.GetAdjustedRealTime();
    ConsoleReporter::ReportRuns(shown);
  }

  void Finalize() override {
    printTimes();
    printRatios();
  }

 private:
  double microseconds(const Scene& scene, const std::string& what) const {
    const auto at = min_times_.find(scene.name + "/" + what);
    return at == min_times_.end() ? std::numeric_limits<double>::quiet_NaN() : at->second;
  }

  void printTimes() const {
    std::printf("\n%-34s", "ns per vertex");
    for (const char* label : kLabels) std::printf(" %9s", label);
    std::printf("\n");
    for (const Scene& s : scenes_) {
      std::printf("%-34s", s.name.c_str());
      for (const char* what : kShown)
        std::printf(" %9.2f", 1e3 * microseconds(s, what) / double(s.vertices()));
      std::printf("\n");
    }
  }

  void printRatios() const {
    std::printf("\n%-34s %9s %9s %9s %9s %9s\n", "ratios", "eigen/lin", "dual/lin", "other/lin",
                "lin 2 thr", "dual 2 thr");
    for (const Scene& s : scenes_) {
      const double linear = microseconds(s, "linear"), dual = microseconds(s, "dual-quaternion");
      const double eigen = std::min(microseconds(s, "eigen-3x4"), microseconds(s, "eigen-4x4"));
      std::printf("%-34s %9.2f %9.2f %9.2f %9.2f %9.2f\n", s.name.c_str(), eigen / linear,
                  dual / linear, microseconds(s, "linear-other-surface") / linear,
                  linear / microseconds(s, "linear-2-threads"),
                  dual / microseconds(s, "dual-quaternion-2-threads"));
    }
    std::printf("%-34s %9s %9s %9s %9s\n", "wanted", ">=3, >=2", "<=1.8", "<=1.3", ">=1.7");
  }

  static constexpr const char* kShown[] = {"eigen-3x4",
                                           "eigen-4x4",
                                           "rigid",
                                           "linear",
                                           "linear-other-surface",
                                           "linear-stretched",
                                           "dual-quaternion",
                                           "dual-quaternion-stretched",
                                           "mixed"};
  static constexpr const char* kLabels[] = {"eigen 3x4", "eigen 4x4", "rigid",    "linear", "other",
                                            "stretched", "dual",      "dual str", "mixed"};
  const std::vector<Scene>& scenes_;
  std::map<std::string, double> min_times_;
};

void addFile(const std::filesystem::path& file, std::vector<Scene>& scenes) {
  Result<Scene> scene = fromFile(file);
  if (scene.ok())
    scenes.push_back(*std::move(scene));
  else
    std::fprintf(stderr, "skipped: %s\n", scene.error().text().c_str());
}

/// The two characters the speed goals name, wherever in the folder they are.
void addKnownCharacters(const std::filesystem::path& folder, std::vector<Scene>& scenes) {
  std::error_code failure;
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    if (name == "KayKit_Knight.glb" || name == "mh_A_caucasian_male_young_rig163.glb")
      found.push_back(entry.path());
  }
  if (found.empty())
    std::fprintf(stderr, "skipped: no known characters in %s\n", folder.string().c_str());
  std::sort(found.begin(), found.end());
  for (const std::filesystem::path& file : found) addFile(file, scenes);
}

}  // namespace
}  // namespace derm::skinning_bench

int main(int argc, char** argv) {
  using namespace derm::skinning_bench;
  // Defaults that the command line may override. Repetitions of all benchmarks take turns: a slow
  // moment of the machine then hits all alike.
  std::string defaults[] = {"--benchmark_enable_random_interleaving=true",
                            "--benchmark_repetitions=15", "--benchmark_min_time=0.02",
                            "--benchmark_report_aggregates_only=true"};
  std::vector<char*> arguments = derm::bench_support::withDefaults(defaults, argc, argv);
  int count = static_cast<int>(arguments.size()) - 1;
  benchmark::Initialize(&count, arguments.data());

  std::vector<Scene> scenes = {limbs(10000), limbs(100000), scattered(10000), scattered(100000),
                               crowdedBody()};
  for (int i = 1; i < count; ++i) addFile(arguments[static_cast<std::size_t>(i)], scenes);
  if (const char* folder = std::getenv("DERM_BENCH_DATA"))
    addKnownCharacters(folder, scenes);
  else if (count == 1)
    std::fprintf(stderr, "no files given and no DERM_BENCH_DATA: real characters are skipped\n");
  for (const Scene& scene : scenes) addScene(scene);
  RatioReporter reporter(scenes);
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::Shutdown();
}
