#include "scene/baked_frames.h"

#include <algorithm>
#include <array>
#include <functional>

#include "derm/base/parallel.h"
#include "derm/mesh/closedness.h"
#include "derm/mesh/measures.h"
#include "derm/mesh/weld.h"

namespace derm::detail {
namespace {

struct Displacement {
  double largest = 0;
  double sum = 0;
  Displacement& operator+=(const Displacement& other) {
    largest = std::max(largest, other.largest);
    sum += other.sum;
    return *this;
  }
};

Displacement displacement(std::span<const Vec3f> a, std::span<const Vec3f> b) {
  return deterministicSum<Displacement>(a.size(), [&](std::size_t begin, std::size_t end) {
    Displacement out;
    for (std::size_t v = begin; v < end; ++v) {
      const double d = static_cast<double>((a[v] - b[v]).norm());
      out.largest = std::max(out.largest, d);
      out.sum += d;
    }
    return out;
  });
}

}  // namespace

BakedFrames::BakedFrames(Scene& scene, std::size_t clip, std::shared_ptr<const Stack> plain,
                         bool measure)
    : scene_(scene),
      clip_(clip),
      layer_seconds_(scene.stack().layers().size(), 0.0),
      measure_(measure) {
  DERM_REQUIRE(plain != nullptr || !measure);
  if (plain != nullptr) plain_.emplace(std::move(plain));
}

BakedFrame BakedFrames::make(std::size_t index) {
  DERM_REQUIRE(index == next_);
  ++next_;
  const SkinFrame& wanted = scene_.frame(index, layer_seconds_);
  const Pose& pose = scene_.playback().pose();
  BakedFrame out{.clip = clip_,
                 .index = index,
                 .time_s = scene_.frameTimes()[index],
                 .pose = pose,
                 .surface = wanted,
                 .wanted = wanted.streams()};
  if (!plain_) return out;
  out.plain = plain_->evaluate(pose, out.time_s).streams();
  out.palette = plain_->palette();
  if (measure_) measure(out.time_s, wanted, out.plain.positions);
  return out;
}

/// The parts have nothing to do with each other, so they run side by side.
void BakedFrames::measure(double time_s, const SkinFrame& wanted, std::span<const Vec3f> plain) {
  BakeReport::Frame out{.clip = clip_, .time_s = time_s};
  std::uint64_t surface_hash = 0;
  const std::array<std::function<void()>, 6> parts = {
      [&] { out.volume_m3 = volume(wanted.positions(), wanted.triangles()); },
      [&] { out.area_m2 = area(wanted.positions(), wanted.triangles()); },
      [&] { out.linear_volume_m3 = volume(plain, wanted.triangles()); },
      [&] { out.linear_area_m2 = area(plain, wanted.triangles()); },
      [&] {
        Hash64 hash;
        hash.addSpan(wanted.positions());
        hash.addSpan(wanted.normals());
        surface_hash = hash.value();
      },
      [&] {
        const Displacement moved = displacement(wanted.positions(), plain);
        const std::size_t n = std::max<std::size_t>(wanted.vertexCount(), 1);
        out.max_displacement_m = moved.largest;
        out.mean_displacement_m = moved.sum / static_cast<double>(n);
      }};
  parallelFor(parts.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) parts[i]();
  });
  measures_.push_back(out);
  hash_.add(surface_hash);
}

void BakedFrames::fill(BakeReport& report) const {
  const TriMesh& rest = scene_.stack().output().rest;
  report.vertices = rest.vertexCount();
  report.triangles = rest.triangles.size();
  if (measure_)
    report.closed = checkClosed(mapped(rest.triangles, weldMap(rest.positions))).closed();
  report.diagonal_m = bounds(rest.positions).diagonal();
  report.rest_volume_m3 = volume(rest.positions, rest.triangles);
  report.rest_area_m2 = area(rest.positions, rest.triangles);
  report.frames.insert(report.frames.end(), measures_.begin(), measures_.end());
  const auto layers = scene_.stack().layers();
  const auto before = static_cast<double>(report.frame_count);
  report.frame_count += next_;
  const auto frames = static_cast<double>(std::max<std::size_t>(report.frame_count, 1));
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (i == report.layers.size())
      report.layers.push_back({.name = layers[i]->name(), .type = layers[i]->type()});
    double& ms = report.layers[i].ms_per_frame;
    ms = (before * ms + 1000 * layer_seconds_[i]) / frames;
  }
  if (!measure_) return;
  Hash64 hash = hash_;
  hash.add(scene_.playback().stateHash());
  if (before > 0) hash.add(report.state_hash);
  report.state_hash = hash.value();
}

}  // namespace derm::detail
