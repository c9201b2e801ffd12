// What wrinkle maps cost in a picture, over plain normal mapping in the same run.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>

#include "derm/base/assert.h"
#include "derm/render/offscreen_renderer.h"

#include "support/quick_run.h"

namespace derm::detail_maps_bench {
namespace {

constexpr int kColumns = 71;  ///< 9800 triangles

/// A cushion that fills most of the picture.
TriMesh cushion() {
  TriMesh out;
  for (int y = 0; y < kColumns; ++y)
    for (int x = 0; x < kColumns; ++x) {
      const float u = float(x) / (kColumns - 1), v = float(y) / (kColumns - 1);
      const Vec3f p(2 * u - 1, 1 - 2 * v, 0.4f * std::cos(1.5f * (u - 0.5f)));
      out.positions.push_back(p);
      out.normals.push_back(Vec3f(0.3f * std::sin(1.5f * (u - 0.5f)), 0, 1).normalized());
      out.uvs.emplace_back(u, v);
    }
  const auto at = [](int x, int y) { return static_cast<std::uint32_t>(y * kColumns + x); };
  for (int y = 0; y + 1 < kColumns; ++y)
    for (int x = 0; x + 1 < kColumns; ++x) {
      out.triangles.push_back({at(x, y), at(x, y + 1), at(x + 1, y)});
      out.triangles.push_back({at(x + 1, y), at(x, y + 1), at(x + 1, y + 1)});
    }
  return out;
}

std::shared_ptr<const Rgba8Image> waves(double period_px) {
  auto out = std::make_shared<Rgba8Image>(1024, 1024, Rgba8{128, 128, 255, 255});
  for (int y = 0; y < 1024; ++y)
    for (int x = 0; x < 1024; ++x)
      out->pixels[static_cast<std::size_t>(1024 * y + x)].g =
          static_cast<std::uint8_t>(128 + 60 * std::sin(6.2832 * y / period_px));
  return out;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Arguments: 0 = quick lighting, 1 = studio; how many maps. Pictures with and without take turns,
/// so that whatever else the machine does slows both alike.
void detailMaps(benchmark::State& state) {
  Result<OffscreenRenderer> renderer = OffscreenRenderer::create(
      {.lighting = state.range(0) == 0 ? Lighting::Quick : Lighting::Studio});
  if (!renderer) {
    state.SkipWithError(renderer.error().text().c_str());
    return;
  }
  const TriMesh mesh = cushion();
  std::vector<float> weights(mesh.vertexCount());
  for (std::size_t v = 0; v < weights.size(); ++v) weights[v] = mesh.uvs[v].x();
  DrawList plain, detailed;
  for (DrawList* list : {&plain, &detailed}) {
    list->surfaces.push_back(drawSurfaceOf(mesh));
    list->surfaces[0].parts[0].material.normal_image = waves(64);
  }
  for (std::int64_t m = 0; m < state.range(1); ++m)
    detailed.surfaces[0].parts[0].material.detail_maps.push_back(
        {.image = waves(20.0 + 7.0 * double(m)), .weights = weights});
  const Camera camera{.eye = Vec3d(0, 0, 4.2)};
  // Where the processor draws (llvmpipe), its own time tells more on a busy machine.
  struct Times {
    std::vector<double> wall, processor;  ///< [s]
  } without, with;
  const auto draw = [&](const DrawList& list, Times& times) {
    const std::clock_t busy = std::clock();
    const auto start = std::chrono::steady_clock::now();
    DERM_REQUIRE(renderer->draw(list, camera, {1024, 1024}).ok());
    times.wall.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    times.processor.push_back(double(std::clock() - busy) / CLOCKS_PER_SEC);
  };
  Times first;  // pictures are uploaded once
  draw(plain, first);
  draw(detailed, first);
  for (auto _ : state) {
    draw(plain, without);
    draw(detailed, with);
  }
  state.counters["plain_ms"] = 1e3 * median(without.wall);
  state.counters["detail_ms"] = 1e3 * median(with.wall);
  state.counters["plain_processor_ms"] = 1e3 * median(without.processor);
  state.counters["detail_processor_ms"] = 1e3 * median(with.processor);
  state.counters["over_plain"] = median(with.wall) / median(without.wall);
  state.counters["processor_over_plain"] = median(with.processor) / median(without.processor);
  state.SetLabel(renderer->driver());
}
BENCHMARK(detailMaps)
    ->ArgNames({"studio", "maps"})
    ->Args({0, 2})
    ->Args({1, 2})
    ->Iterations(quickRun() ? 2 : 15)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace derm::detail_maps_bench
