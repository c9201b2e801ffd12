#include "scene/corrective_player.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "derm/deform/basic_layers.h"
#include "derm/mesh/measures.h"

namespace derm::detail {
namespace {

/// What plays in an engine.
class Engine {
 public:
  Engine(std::shared_ptr<const Stack> stack, const Clip* clip)
      : runner_(std::move(stack)), clip_(clip), rest_(runner_.pose()), pose_(rest_) {}

  std::span<const Vec3f> at(double time_s) {
    pose_ = rest_;
    if (clip_ != nullptr) sampleClip(*clip_, static_cast<float>(time_s), pose_);
    runner_.setPose(pose_, time_s);
    return runner_.evaluate().positions();
  }

 private:
  StackRunner runner_;
  const Clip* clip_;
  Pose rest_;
  Pose pose_;
};

/// Adds up what every instant shows.
class Tally {
 public:
  Tally(const TriMesh& rest, double bound_m)
      : rest_(rest), rest_m3_(volume(rest.positions, rest.triangles)), bound_m_(bound_m) {}

  struct Off {
    double largest = 0;  ///< squared
    double sum = 0;      ///< of squares
  };
  void addFrame(const Off& off, std::span<const Vec3f> shown) {
    out_.frames_m = std::max(out_.frames_m, std::sqrt(off.largest));
    out_.keys_m = std::max(out_.keys_m, out_.frames_m);
    squares_ += off.sum;
    out_.frame_volumes_m3.push_back(addVolume(shown));
  }
  void addBetween(double time_s, bool is_key, const Off& off, std::span<const Vec3f> shown) {
    const double distance_m = std::sqrt(off.largest);
    if (distance_m > out_.between_m) {
      out_.between_m = distance_m;
      out_.between_s = time_s;
    }
    if (is_key)
      out_.keys_m = std::max(out_.keys_m, distance_m);
    else if (distance_m > bound_m_)
      out_.over_s.push_back(time_s);
    addVolume(shown);
  }
  PlayedFile finish() && {
    out_.frames = out_.frame_volumes_m3.size();
    const std::size_t count = out_.frames * rest_.vertexCount();
    out_.frames_rms_m = std::sqrt(squares_ / static_cast<double>(std::max<std::size_t>(count, 1)));
    return std::move(out_);
  }

 private:
  double addVolume(std::span<const Vec3f> shown) {
    const double volume_m3 = volume(shown, rest_.triangles);
    const double change = rest_m3_ != 0 ? volume_m3 / rest_m3_ - 1 : 0;
    if (std::abs(change) > std::abs(out_.volume_change)) out_.volume_change = change;
    return volume_m3;
  }

  const TriMesh& rest_;
  double rest_m3_;
  double bound_m_;
  double squares_ = 0;
  PlayedFile out_;
};

/// `wanted(v)` is where vertex v should be.
template <class Wanted>
Tally::Off offBy(std::span<const Vec3f> shown, const Wanted& wanted) {
  Tally::Off out;
  for (std::size_t v = 0; v < shown.size(); ++v) {
    const double squared = Vec3f(shown[v] - wanted(v)).cast<double>().squaredNorm();
    out.largest = std::max(out.largest, squared);
    out.sum += squared;
  }
  return out;
}

}  // namespace

void PlayedFile::add(const PlayedFile& other) {
  const double squares =
      frames_rms_m * frames_rms_m * static_cast<double>(frames) +
      other.frames_rms_m * other.frames_rms_m * static_cast<double>(other.frames);
  frames += other.frames;
  frames_rms_m = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(frames, 1)));
  frames_m = std::max(frames_m, other.frames_m);
  keys_m = std::max(keys_m, other.keys_m);
  if (other.between_m > between_m) {
    between_m = other.between_m;
    between_s = other.between_s;
    between_clip = other.between_clip;
  }
  if (std::abs(other.volume_change) > std::abs(volume_change)) volume_change = other.volume_change;
  frame_volumes_m3.insert(frame_volumes_m3.end(), other.frame_volumes_m3.begin(),
                          other.frame_volumes_m3.end());
}

Result<std::shared_ptr<const Stack>> engineStack(std::shared_ptr<const Character> character) {
  Diagnostics ignored;
  return Stack::bind(std::move(character), std::array{morphLayer(), skinningLayer({})}, ignored);
}

PlayedFile CorrectivePlayer::play(std::shared_ptr<const Stack> stack, const Clip* clip,
                                  double bound_m) {
  const TriMesh& rest = stack->input().rest;
  Engine engine(std::move(stack), clip);
  Tally tally(rest, bound_m);
  const std::span<const double> frames = scene_.frameTimes();
  std::size_t begin = 0, end = fitter_.instantCount();  // of this clip
  while (begin < end && fitter_.clipOf(begin) != samples_.clip()) ++begin;
  while (end > begin && fitter_.clipOf(end - 1) != samples_.clip()) --end;
  for (std::size_t i = begin; i < end; ++i) {
    const double time_s = fitter_.timeOf(i);
    const std::span<const Vec3f> shown = engine.at(time_s);
    const std::span<const Vec3f> plain = samples_.plainAt(time_s);
    const std::span<const Vec3f> added = fitter_.displacement(i);
    const Tally::Off off = offBy(shown, [&](std::size_t v) { return Vec3f(plain[v] + added[v]); });
    if (std::binary_search(frames.begin(), frames.end(), time_s))
      tally.addFrame(off, shown);
    else
      tally.addBetween(time_s, fitter_.isKey(i), off, shown);
  }
  for (std::size_t i = begin; i + 1 < end; ++i) {
    const double time_s = 0.5 * (fitter_.timeOf(i) + fitter_.timeOf(i + 1));
    const std::span<const Vec3f> shown = engine.at(time_s);
    const std::span<const Vec3f> wanted = samples_.at(time_s).wanted.positions;
    tally.addBetween(time_s, false, offBy(shown, [&](std::size_t v) { return wanted[v]; }), shown);
  }
  PlayedFile out = std::move(tally).finish();
  out.between_clip = samples_.clip();
  return out;
}

}  // namespace derm::detail
