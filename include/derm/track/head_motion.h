#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "derm/anim/point_tracks.h"
#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/math/vec.h"
#include "derm/track/marker_tracker.h"

namespace derm {

/// Labels of points that move with the skull whatever the face does: the eyes' corners, the nose.
std::vector<std::string> stableFacePoints();

struct HeadMotionDesc {
  int width_px = 0;   ///< [px] > 0: the picture's
  int height_px = 0;  ///< [px] > 0
  /// [px] of the camera; 0 = guessed (1.1 times the picture's longer side, a webcam's), then
  /// refined by what fits the frames best. The optical axis goes through the middle of the picture.
  double focal_px = 0;
  std::vector<std::string> stable = stableFacePoints();
};

enum class HeadMethod {
  Pnp,         ///< pose before the camera, from the points of a face in space
  Similarity,  ///< turn, size and shift in the picture
  None,        ///< too few points for either
};

struct HeadMotion {
  HeadMethod method = HeadMethod::None;
  /// The tracks of a head that stays as in the first frame, still in pixels of that frame, so that
  /// the first frame does not change. `head` says how it moved, in the face's model space [m]: head
  /// p is where the rest's p is now, seen from the rest. By similarity only the turn in the picture
  /// is known: a rotation about z, no translation.
  PointTracks tracks;
  double focal_px = 0;          ///< that was used; 0 without a face in space
  bool focal_guessed = false;   ///< whether it was not given
  double residual_px = 0;       ///< rms distance of stable points to where the motion puts them
  std::size_t held_frames = 0;  ///< frames with too few stable points, where the head was held
  /// By Pnp, of every frame and label: the marker in the face's model space on its own depth [m].
  std::vector<Vec3d> on_face;
};

/// Separates the motion of the head from that of the face.
///
/// With a face in space (`face`: its points at rest [m], model space, labels as in the tracks): the
/// pose of the first frame from all points (the face is at rest there), then of every frame from
/// the stable points, by OpenCV's perspective-n-point solver (SQPnP, then Levenberg-Marquardt), a
/// point that contradicts the others left out. Each marker's ray is met with the plane of its depth
/// at rest in the head's frame, and drawn as the first frame's pose sees it. The depth itself
/// cannot be told from one film: motion towards the camera is not seen.
/// The points' x and y are first moved to where the first frame has them, so the face may be
/// another person's. Markers without a point in space get a depth from those around them.
///
/// Without a face, or where fewer than four stable points have a place in it: the best similarity
/// of the stable points in the picture, which cannot undo a head that turns away (note
/// "head-by-similarity"). Fewer than two: nothing is taken away (note "head-unknown").
///
/// Requires valid tracks of a picture. Fails on numbers out of range and without OpenCV.
Result<HeadMotion> separateHead(const PointTracks& tracks, std::span<const Marker> face,
                                const HeadMotionDesc& desc, Diagnostics& notes);

}  // namespace derm
