#include "derm/anim/clip.h"

#include <algorithm>
#include <cmath>

namespace derm {
namespace {

/// Quaternion keys off unit length by more than this are not rounding but mistakes.
constexpr float kLargestRounding = 1e-2f;

Quatf quatFrom(const float* xyzw) { return Quatf(xyzw[3], xyzw[0], xyzw[1], xyzw[2]); }

void store(const Quatf& q, std::span<float> out) {
  for (int i = 0; i < 4; ++i) out[i] = q.coeffs()[i];
}

/// Start of key k's value (in the middle of its triple for splines).
const float* keyValue(const Track& track, std::size_t key, std::size_t width) {
  const bool cubic = track.interpolation == Interpolation::Cubic;
  return track.values.data() + (cubic ? (3 * key + 1) * width : key * width);
}

void hermite(const Track& track, std::size_t key, std::size_t width, float time_s,
             std::span<float> out) {
  const float span_s = track.times_s[key + 1] - track.times_s[key];
  const float u = (time_s - track.times_s[key]) / span_s;
  const float u2 = u * u;
  const float u3 = u2 * u;
  const float* value0 = keyValue(track, key, width);
  const float* out_tangent0 = value0 + width;
  const float* value1 = keyValue(track, key + 1, width);
  const float* in_tangent1 = value1 - width;
  for (std::size_t i = 0; i < width; ++i)
    out[i] = (2 * u3 - 3 * u2 + 1) * value0[i] + span_s * (u3 - 2 * u2 + u) * out_tangent0[i] +
             (-2 * u3 + 3 * u2) * value1[i] + span_s * (u3 - u2) * in_tangent1[i];
}

}  // namespace

std::size_t Track::valueWidth() const {
  switch (channel) {
    case Channel::Rotation:
      return 4;
    case Channel::MorphWeights:
      return morph_count;
    case Channel::Control:
      return 1;
    case Channel::Translation:
    case Channel::Scale:
      break;
  }
  return 3;
}

float Clip::duration_s() const {
  float last = 0.0f;
  for (const Track& t : tracks)
    if (!t.times_s.empty()) last = std::max(last, t.times_s.back());
  return last;
}

Result<void> validate(const Clip& clip, const ClipTargets& targets, std::string_view name) {
  for (std::size_t i = 0; i < clip.tracks.size(); ++i) {
    const Track& t = clip.tracks[i];
    const auto bad = [&](std::string message) {
      return Error{
          ErrorCode::BadData,
          std::move(message),
          {.file = std::string(name), .element = "clip \"" + clip.name + "\" tracks", .index = i}};
    };
    if (t.times_s.empty()) return bad("no keys");
    if (t.channel == Channel::MorphWeights) {
      if (t.morph_count == 0 ||
          std::uint64_t{t.first_morph} + t.morph_count > std::uint64_t{targets.morphs})
        return bad("morph targets " + std::to_string(t.first_morph) + " + " +
                   std::to_string(t.morph_count) + " of " + std::to_string(targets.morphs));
    } else if (t.channel == Channel::Control) {
      if (t.control >= targets.controls)
        return bad("control " + std::to_string(t.control) + " of " +
                   std::to_string(targets.controls));
    } else if (!t.joint.valid() || t.joint.index() >= targets.joints) {
      return bad("joint " + std::to_string(t.joint.value) + " of " +
                 std::to_string(targets.joints));
    }
    const std::size_t per_key = t.valueWidth() * (t.interpolation == Interpolation::Cubic ? 3 : 1);
    if (t.values.size() != t.times_s.size() * per_key)
      return bad(std::to_string(t.values.size()) + " values, but " +
                 std::to_string(t.times_s.size()) + " keys need " +
                 std::to_string(t.times_s.size() * per_key));
    for (std::size_t k = 0; k < t.times_s.size(); ++k) {
      if (!std::isfinite(t.times_s[k]))
        return bad("time of key " + std::to_string(k) + " not finite");
      if (k > 0 && !(t.times_s[k] > t.times_s[k - 1]))
        return bad("time of key " + std::to_string(k) + " does not increase");
    }
    for (std::size_t v = 0; v < t.values.size(); ++v)
      if (!std::isfinite(t.values[v]))
        return bad("value of key " + std::to_string(v / per_key) + " not finite");
  }
  return {};
}

void sampleTrack(const Track& track, float time_s, std::span<float> out) noexcept {
  const std::size_t width = track.valueWidth();
  DERM_REQUIRE(out.size() == width && !track.times_s.empty());
  const bool rotation = track.channel == Channel::Rotation;
  const std::size_t after = static_cast<std::size_t>(
      std::upper_bound(track.times_s.begin(), track.times_s.end(), time_s) - track.times_s.begin());
  const std::size_t key = after == 0 ? 0 : after - 1;
  const bool between = after > 0 && after < track.times_s.size();
  if (!between || track.interpolation == Interpolation::Step) {
    std::copy_n(keyValue(track, key, width), width, out.begin());
  } else if (track.interpolation == Interpolation::Cubic) {
    hermite(track, key, width, time_s, out);
  } else {
    const float u = (time_s - track.times_s[key]) / (track.times_s[key + 1] - track.times_s[key]);
    const float* a = keyValue(track, key, width);
    const float* b = keyValue(track, key + 1, width);
    if (rotation)
      store(slerp(quatFrom(a), quatFrom(b), u), out);
    else
      for (std::size_t i = 0; i < width; ++i) out[i] = a[i] + u * (b[i] - a[i]);
  }
  if (!rotation) return;
  // A spline leaves the unit sphere; a stored key is played as it is unless it is no rotation.
  const Quatf q = quatFrom(out.data());
  const bool spline = between && track.interpolation == Interpolation::Cubic;
  if (spline || std::abs(q.norm() - 1.0f) > kLargestRounding) store(normalisedOrIdentity(q), out);
}

void sampleClip(const Clip& clip, float time_s, Pose& pose) noexcept {
  for (const Track& track : clip.tracks) {
    if (track.channel == Channel::MorphWeights) {
      DERM_REQUIRE(track.first_morph + track.morph_count <= pose.morph_weights.size());
      sampleTrack(track, time_s,
                  std::span(pose.morph_weights).subspan(track.first_morph, track.morph_count));
      continue;
    }
    if (track.channel == Channel::Control) {
      DERM_REQUIRE(track.control < pose.controls.size());
      sampleTrack(track, time_s, {&pose.controls[track.control], 1});
      continue;
    }
    DERM_REQUIRE(track.joint.index() < pose.local.size());
    Transform& local = pose.local[track.joint.index()];
    switch (track.channel) {
      case Channel::Translation:
        sampleTrack(track, time_s, {local.translation.data(), 3});
        break;
      case Channel::Scale:
        sampleTrack(track, time_s, {local.scale.data(), 3});
        break;
      case Channel::Rotation:
        sampleTrack(track, time_s, {local.rotation.coeffs().data(), 4});
        break;
      case Channel::MorphWeights:
      case Channel::Control:
        break;
    }
  }
}

Clip resampled(const Clip& clip, float rate_hz) {
  DERM_REQUIRE(rate_hz > 0);
  Clip out;
  out.name = clip.name;
  const float duration_s = clip.duration_s();
  const auto intervals = static_cast<std::size_t>(std::ceil(duration_s * rate_hz - 1e-4f));
  for (const Track& track : clip.tracks) {
    Track t = track;
    t.interpolation = Interpolation::Linear;
    t.times_s.clear();
    t.values.clear();
    std::vector<float> value(track.valueWidth());
    for (std::size_t i = 0; i <= intervals; ++i) {
      const float time_s = std::min(static_cast<float>(i) / rate_hz, duration_s);
      if (!t.times_s.empty() && time_s <= t.times_s.back()) break;
      sampleTrack(track, time_s, value);
      t.times_s.push_back(time_s);
      t.values.insert(t.values.end(), value.begin(), value.end());
    }
    out.tracks.push_back(std::move(t));
  }
  return out;
}

}  // namespace derm
