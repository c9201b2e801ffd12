#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "derm/anim/pose.h"
#include "derm/base/ids.h"
#include "derm/base/result.h"

namespace derm {

enum class Channel { Translation, Rotation, Scale, MorphWeights, Control };
enum class Interpolation {
  Step,    ///< the last key's value
  Linear,  ///< straight between keys; rotations by slerp the shorter way
  Cubic,   ///< Hermite spline; each key stores in-tangent, value, out-tangent (glTF's CUBICSPLINE)
};

/// Key frames of one channel of one joint, of a run of morph weights, or of a control.
struct Track {
  Channel channel = Channel::Translation;
  Interpolation interpolation = Interpolation::Linear;
  JointId joint;                  ///< of a Translation, Rotation or Scale track
  std::uint32_t first_morph = 0;  ///< of a MorphWeights track: drives [first, first + count)
  std::uint32_t morph_count = 0;
  std::uint32_t control = 0;   ///< of a Control track: its index in Character::controls
  std::vector<float> times_s;  ///< [s] strictly increasing, at least one
  std::vector<float> values;   ///< keys x width (Cubic: keys x 3 x width), see valueWidth()

  /// Numbers per value: 3, 4 (x y z w), morph_count or 1.
  std::size_t valueWidth() const;
  /// Whether it moves a joint.
  bool ofJoint() const { return channel != Channel::MorphWeights && channel != Channel::Control; }
  bool operator==(const Track&) const = default;
};

/// A motion: any number of tracks, several per joint. What has no track stays at rest.
struct Clip {
  std::string name;
  std::vector<Track> tracks;

  /// [s] time of the last key; 0 without keys.
  float duration_s() const;
  bool operator==(const Clip&) const = default;
};

/// What a clip moves.
struct ClipTargets {
  std::size_t joints = 0;
  std::size_t morphs = 0;
  std::size_t controls = 0;
};

/// Times increase, counts fit, numbers are finite, joints, morphs and controls exist.
Result<void> validate(const Clip& clip, const ClipTargets& targets, std::string_view name);

/// Writes the clip's channels at a time into `pose` and leaves the others as they are: start from
/// the rest pose. Before the first key and after the last the end values hold. Allocation-free;
/// requires a validated clip and pose sizes that fit it. Cost O(tracks * log keys).
void sampleClip(const Clip& clip, float time_s, Pose& pose) noexcept;

/// One track at one time; `out` has valueWidth() entries. Rotations have unit length as nearly as
/// the keys do (see Transform::rotation); keys off by more than 1e-2 are normalised.
void sampleTrack(const Track& track, float time_s, std::span<float> out) noexcept;

/// The same motion with a key at each of `rate_hz` frames and linear interpolation: for engines
/// without splines, and for mixing clips.
Clip resampled(const Clip& clip, float rate_hz);

}  // namespace derm
