#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "derm/base/result.h"
#include "derm/math/transform.h"
#include "derm/math/vec.h"

namespace derm {

/// What the numbers of PointTracks measure.
enum class TrackSpace {
  Model,    ///< [m] +y up; control points of a face, markers of a motion capture
  Picture,  ///< [px] x to the right, y down, 0 at the centre of the first pixel; z is 0
};

/// Where labelled points are at instants of time: markers followed through a film, control points
/// of a face in motion. Plain data; frame f, label l is at [f * labels.size() + l].
struct PointTracks {
  TrackSpace space = TrackSpace::Model;
  std::vector<std::string> labels;  ///< no two alike
  std::vector<Vec3d> neutral;       ///< per label: where the point is on the face at rest
  std::vector<double> times_s;      ///< strictly increasing
  std::vector<Vec3d> positions;     ///< a point that was not seen is where it was taken to be
  std::vector<float> confidence;    ///< [0,1] 0 = not seen; empty = all were
  /// Of every frame, how the head moved from where it is at rest; empty = it stays, or its motion
  /// is in the positions. Where it is given, the positions are those of a head that stays.
  std::vector<Transform> head;

  std::size_t frames() const { return times_s.size(); }
  std::span<const Vec3d> frame(std::size_t index) const {
    return std::span(positions).subspan(index * labels.size(), labels.size());
  }
};

/// Sizes fit, labels differ, times increase, numbers are finite, points of a picture are flat.
Result<void> validate(const PointTracks& tracks, std::string_view name);

}  // namespace derm
