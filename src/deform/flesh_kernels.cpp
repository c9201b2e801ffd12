#include "deform/flesh_kernels.h"

// Vectors are kept in structs below, which types without a size known at compile time do not allow.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "deform/flesh_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, as Highway wants it.
#include <hwy/highway.h>

#include "deform/flesh_kernels-inl.h"

#if HWY_ONCE
namespace derm::detail {
namespace {

/// Vertices that do not move but lie between two that do are carried along up to this many.
constexpr std::uint32_t kLongestGap = 8;
/// No register is longer; the last one of a run may read this far.
constexpr std::size_t kPadding = 16;
/// Entries per task: enough to be worth a thread.
constexpr std::size_t kTaskEntries = 8192;

}  // namespace

FleshRuns makeFleshRuns(std::span<const std::uint32_t> vertices, std::span<const float> alpha) {
  DERM_REQUIRE(vertices.size() == alpha.size());
  FleshRuns out;
  const auto close = [&] { out.alpha.resize(out.alpha.size() + kPadding, 0.0f); };
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const bool goes_on = !out.runs.empty() && out.runs.back().count < kTaskEntries &&
                         vertices[i] - vertices[i - 1] <= kLongestGap;
    if (!goes_on) {
      if (!out.runs.empty()) close();
      out.runs.push_back({.first_vertex = vertices[i],
                          .first_entry = static_cast<std::uint32_t>(out.alpha.size())});
    }
    FleshRun& run = out.runs.back();
    run.count = vertices[i] - run.first_vertex + 1;
    out.alpha.resize(run.first_entry + run.count, 0.0f);
    out.alpha.back() = alpha[i];
  }
  if (!out.runs.empty()) close();
  std::size_t entries = kTaskEntries;
  for (std::uint32_t r = 0; r < out.runs.size(); ++r) {
    if (entries >= kTaskEntries) {
      out.first_run.push_back(r);
      entries = 0;
    }
    entries += out.runs[r].count;
  }
  out.first_run.push_back(static_cast<std::uint32_t>(out.runs.size()));
  return out;
}

double withinLimit(double displacement, double limit, double soft_limit) {
  const double knee = soft_limit * limit;
  if (displacement <= knee) return displacement;
  const double room = limit - knee;
  const double beyond = displacement - knee;
  return knee + room * (beyond / (beyond + room));
}

HWY_EXPORT(tightestOnTarget);
HWY_EXPORT(moveFleshOnTarget);

FleshTightest tightestVertex(const FleshFrame& frame, std::size_t task) {
  return HWY_DYNAMIC_DISPATCH(tightestOnTarget)(frame, task);
}

void moveFlesh(const FleshFrame& frame, std::size_t task) {
  HWY_DYNAMIC_DISPATCH(moveFleshOnTarget)(frame, task);
}

}  // namespace derm::detail
#endif
