#pragma once

#include <span>
#include <string>
#include <string_view>

#include "derm/anim/clip.h"
#include "derm/anim/point_tracks.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/face/face_rig.h"

namespace derm {

/// What the labelled points of a character do in one of its clips, on the skin: moved by joints
/// (linear blend skinning) and morph targets alike. Points are under their numbers where they are
/// feature points; the head's motion, where there is a joint for it, is apart. The neutral face is
/// that of the bind pose. Frames at rate_hz, the clip's end too.
/// Fails on a character without points, a rate that is not above 0, more than a million frames.
Result<PointTracks> faceMotion(const Character& character, const Clip& clip, double rate_hz = 60);
/// The same at instants of one's own [s], which must increase.
Result<PointTracks> faceMotion(const Character& character, const Clip& clip,
                               std::span<const double> times_s);

/// Takes the head's motion out of the positions: in every frame the rigid motion that fits the
/// points best that expressions move least (corners of the eyes, nose), weighted by confidence.
/// Fails on tracks of a picture, on those whose head is apart already, and where fewer than three
/// of these points are there.
Result<PointTracks> withHeadApart(PointTracks tracks);

/// A clip in which the control points of a rigged character go exactly where the tracks have them,
/// and its head as the tracks' head. Tracks are of this character (retargetFace()); points that are
/// no control points do not count. Where the head joint has a parent its translation stays: a head
/// does not leave its body. Errors: as FacePoser::make(); tracks of a picture.
Result<Clip> faceClip(const Character& character, const FaceRig& rig, const PointTracks& tracks,
                      std::string_view name);

}  // namespace derm
