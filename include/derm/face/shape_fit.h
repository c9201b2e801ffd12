#pragma once

#include "derm/anim/point_tracks.h"
#include "derm/anim/shape_tracks.h"
#include "derm/base/diagnostics.h"
#include "derm/base/progress.h"
#include "derm/base/result.h"

namespace derm {

struct ShapeFitDesc {
  /// >= 0: how much a change from frame to frame at 30 frames a second costs, against what points
  /// miss. More is smoother.
  double smoothness = 0.02;
  /// >= 0: what a shape costs that is not needed. Without, shapes that undo each other could both
  /// be large.
  double thrift = 0.002;
};

/// Finds the coefficients of ARKit's shapes that move a face's control points as these tracks do:
/// the way back of ShapeMotion, for engines that play coefficients.
///
/// Minimises over all frames at once, with c in [0,1],
///   sum_t |D c_t - x_t|^2 + smoothness sum_t |c_t - c_t-1|^2 / (30 dt) + thrift sum_t sum c_t
/// D the displacements of the shapes (faceShapeDisplacements()) and x those of the tracks, in units
/// of the face, lids by their opening; by coordinate descent, each coefficient in turn to its best
/// value within its bounds. Left and right have shapes of their own and are not mixed. Gaze is told
/// by what lids do, so shapes of looking cost ten times as much as others. Points that were not
/// seen (confidence 0) do not count. The head's turns are taken over.
///
/// Requires tracks in model space, their labels feature points by number or name, all 28 control
/// points among them (validateControlPoints() of `neutral`). Errors: those, parameters out of
/// range, Cancelled. Note shape-fit: what points miss on average, in % of the eyes' distance.
Result<ShapeTracks> fitShapes(const PointTracks& tracks, const ShapeFitDesc& desc,
                              Diagnostics& notes, const Progress& progress = {});

}  // namespace derm
