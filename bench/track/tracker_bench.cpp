// Markers followed through a film that is in memory already, forward and back, on one thread; and
// how much of the time is OpenCV's own (its pyramids, Lucas-Kanade), the peer that we stand on.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "derm/base/hash.h"
#include "derm/base/parallel.h"
#include "derm/base/rng.h"
#include "derm/track/marker_detection.h"
#include "derm/track/marker_tracker.h"

namespace derm::tracker_bench {
namespace {

/// Dark dots on blotched skin that sways; every fifteenth frame a bar lies over some of them.
struct DotFilm {
  std::vector<Marker> markers;
  std::vector<Grey8Image> frames;

  DotFilm(int width, int height, int count) {
    const double unit = height / 480.0;
    Rng rng(3);
    for (int i = 0; i < 30; ++i)
      markers.push_back(
          {"m" + std::to_string(i), Vec3d(unit * (150 + 65 * (i % 6) + rng.uniform(-9, 9)),
                                          unit * (80 + 70 * (i / 6) + rng.uniform(-9, 9)), 0)});
    for (int f = 0; f < count; ++f) {
      const double dx = unit * 14 * std::sin(0.21 * f), dy = unit * 9 * std::sin(0.33 * f);
      Grey8Image& image = frames.emplace_back(width, height);
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
          const double u = (x - dx) / unit, v = (y - dy) / unit;
          const double noise = static_cast<double>(rng.next() & 7) - 3.5;
          image.pixels[static_cast<std::size_t>(y * width + x)] = static_cast<std::uint8_t>(
              150 + 12 * std::sin(0.11 * u + 0.05 * v) * std::cos(0.13 * v) + noise);
        }
      for (const Marker& m : markers) {
        const double mx = m.position.x() + dx, my = m.position.y() + dy, radius = 4.5 * unit;
        for (int y = std::max(0, int(my - radius - 2)); y <= int(my + radius + 2); ++y)
          for (int x = std::max(0, int(mx - radius - 2)); x <= int(mx + radius + 2); ++x) {
            const double share = std::clamp(radius - std::hypot(x - mx, y - my), 0.0, 1.0);
            std::uint8_t& p = image.pixels[static_cast<std::size_t>(y * width + x)];
            p = static_cast<std::uint8_t>(p + share * (40.0 - p));
          }
      }
      if (f % 15 == 10)
        for (int y = int(140 * unit); y < int(240 * unit); ++y)
          for (int x = int(100 * unit); x < int(300 * unit); ++x)
            image.pixels[static_cast<std::size_t>(y * width + x)] =
                static_cast<std::uint8_t>(110 + (x / 8) % 30);
    }
  }
};

void trackMarkers(benchmark::State& state) {
  const DotFilm film(int(state.range(0)), int(state.range(1)), state.range(1) > 1000 ? 8 : 60);
  const ThreadLimit one_thread(1);
  double ours = 0, library = 0, frames = 0;
  for (auto _ : state) {
    auto tracker = MarkerTracker::start(film.frames[0], 0, film.markers);
    DERM_REQUIRE(tracker.ok());
    for (std::size_t f = 1; f < film.frames.size(); ++f)
      DERM_REQUIRE(tracker->add(film.frames[f], double(f)).ok());
    ours += tracker->seconds();
    library += tracker->librarySeconds();
    frames += double(film.frames.size() - 1);
    const PointTracks tracks = tracker->tracks();
    Hash64 hash;
    hash.addSpan(std::span<const double>(tracks.positions[0].data(), 3 * tracks.positions.size()));
    state.SetLabel("hash " + std::to_string(hash.value()));
  }
  state.counters["frames/s"] = frames / ours;
  state.counters["OpenCV's share"] = library / ours;
}
BENCHMARK(trackMarkers)
    ->ArgNames({"width", "height"})
    ->Args({640, 480})
    ->Args({3840, 2160})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void findDots(benchmark::State& state) {
  const DotFilm film(640, 480, 1);
  for (auto _ : state) {
    const auto dots = detectDots(film.frames[0]);
    DERM_REQUIRE(dots.ok());
    state.SetLabel(std::to_string(dots->size()) + " dots");
  }
}
BENCHMARK(findDots)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace derm::tracker_bench
