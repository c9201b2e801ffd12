#pragma once

#include <span>
#include <string>
#include <vector>

#include "derm/anim/point_tracks.h"
#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/face/face_retarget.h"

namespace derm {

/// A region's motion made larger or smaller.
struct FaceGain {
  std::string regions;  ///< as faceRegionWeights()
  double gain = 1;      ///< 0 to 10

  bool operator==(const FaceGain&) const = default;
};

/// A motion of some face, and what of it is wanted.
struct FaceSource {
  std::string name;     ///< for errors
  PointTracks tracks;   ///< valid
  std::string regions;  ///< as faceRegionWeights(); empty = all
  std::vector<FaceGain> gains;
  double offset_s = 0;  ///< [s] later on the target by so much; at most 24 h
};

/// What the points of a target do when other faces' motions are played on it, as tracks of the
/// target: its labels, its face at rest, positions of a head that stays; the head's own motion is
/// that of the first source that has one.
///
/// A point that is wholly of several sources' regions follows the last of these; one at borders
/// only follows each by its share; one outside all regions stays exactly where it is. There is a
/// frame at every instant at which a source has one; between frames points go straight, before the
/// first and after the last they stay.
///
/// Errors name the source: as FaceRetargeter::bind(), faceRegionWeights(), gains and offsets out of
/// range, points (with label and frame) farther from their place at rest than ten times the size of
/// the face, a head farther than a thousand times.
Result<PointTracks> retargetFace(std::span<const FaceSource> sources, const NeutralFace& target,
                                 const FaceRetargetDesc& desc, Diagnostics& notes);

}  // namespace derm
