#include "scene/baked_frames.h"

#include <algorithm>
#include <cmath>

#include "derm/base/parallel.h"
#include "derm/mesh/closedness.h"
#include "derm/mesh/measures.h"
#include "derm/mesh/weld.h"

namespace derm::scene {
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

BakedFrames::BakedFrames(Scene& scene)
    : scene_(scene),
      plain_(scene.plainStack()),
      plain_pose_(plain_.pose()),
      layer_seconds_(scene.stack().layers().size(), 0.0) {}

BakedFrame BakedFrames::make(std::size_t index) {
  DERM_REQUIRE(index == measures_.size());
  const SkinFrame& wanted = scene_.frame(index, layer_seconds_);
  const Pose& pose = scene_.playback().pose();
  const double time_s = scene_.frameTimes()[index];
  plain_pose_.local = pose.local;
  if (plain_pose_.morph_weights.size() == pose.morph_weights.size())
    plain_pose_.morph_weights = pose.morph_weights;
  plain_.setPose(plain_pose_, time_s);
  const SkinFrame& plain = plain_.evaluate();
  const Displacement moved = displacement(wanted.positions(), plain.positions());
  const auto n = static_cast<double>(std::max<std::size_t>(wanted.vertexCount(), 1));
  measures_.push_back({.time_s = time_s,
                       .volume_m3 = volume(wanted.positions(), wanted.triangles()),
                       .area_m2 = area(wanted.positions(), wanted.triangles()),
                       .max_displacement_m = moved.largest,
                       .mean_displacement_m = moved.sum / n});
  hash_.addSpan(wanted.positions());
  hash_.addSpan(wanted.normals());
  return {.index = index,
          .time_s = time_s,
          .pose = pose,
          .palette = plain_.palette(),
          .wanted = wanted.streams(),
          .plain = plain.streams()};
}

void BakedFrames::fill(BakeReport& report) const {
  const TriMesh& rest = scene_.stack().output().rest;
  report.vertices = rest.vertexCount();
  report.triangles = rest.triangles.size();
  report.closed = checkClosed(mapped(rest.triangles, weldMap(rest.positions))).closed();
  report.diagonal_m = bounds(rest.positions).diagonal();
  report.frames = measures_;
  const auto layers = scene_.stack().layers();
  const double frames = static_cast<double>(std::max<std::size_t>(measures_.size(), 1));
  for (std::size_t i = 0; i < layers.size(); ++i)
    report.layers.push_back({.name = layers[i]->name(),
                             .type = layers[i]->type(),
                             .ms_per_frame = 1000 * layer_seconds_[i] / frames});
  Hash64 hash = hash_;
  hash.add(scene_.playback().stateHash());
  report.state_hash = hash.value();
}

}  // namespace derm::scene
