#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "derm/anim/point_tracks.h"
#include "derm/base/result.h"
#include "derm/image/grey8_image.h"
#include "derm/math/vec.h"

namespace derm {

/// A marker of the first frame of a film.
struct Marker {
  std::string label;
  Vec3d position = Vec3d::Zero();  ///< [px] x to the right, y down, 0 at the first pixel's centre
};

struct MarkerTrackerDesc {
  int window_px = 15;  ///< [px] odd, [5,63]: side of the square around a marker that is followed
  int levels = 3;      ///< [0,8] halvings of the picture: each doubles the motion that is followed
  /// [px] (0,100] a marker followed to the new frame and back may end up so far from its start.
  double max_return_px = 1.0;
  /// [0,1] normalised correlation of a marker's square with the one of the first frame; less is
  /// taken as covered.
  double min_likeness = 0.6;
  /// (0,10] share of the distance to its neighbours by which a marker may leave, in one frame, the
  /// place where their motion puts it.
  double max_leave = 0.2;
  /// [1,100000] frames in a row without any marker after which tracking ends.
  int give_up_frames = 10;
};

Result<void> validate(const MarkerTrackerDesc& desc);

/// Follows markers through a film, frame by frame: memory for two frames and the numbers.
///
/// For each new frame: pyramidal Lucas-Kanade (Bouguet 2000, OpenCV's) from the frame before, there
/// and back; a marker that does not return to its start is lost. Then the square around each marker
/// of the first frame, warped by the affine motion of its neighbours since and with its light
/// matched, is registered with the new frame, again by Lucas-Kanade: what drifts is put back, and
/// what no longer looks alike (a hand in front of it) is lost. A marker that leaves where the
/// motion of its neighbours (an affine map, robustly) puts it is lost, too. Lost ones go with their
/// neighbours, and are looked for around there by normalised correlation until they are back.
///
/// Confidence of a marker in a frame: the correlation with the first frame, 0 while it is lost.
/// Same frames, same bits. Needs OpenCV (DERM_WITH_OPENCV); one thread at a time.
class MarkerTracker {
 public:
  /// Fails on no markers, labels that are empty or not unique, markers outside the picture (all are
  /// named), numbers out of range, a picture smaller than the window, and without OpenCV.
  static Result<MarkerTracker> start(const Grey8Image& first, double time_s,
                                     std::span<const Marker> markers,
                                     const MarkerTrackerDesc& desc = {});
  ~MarkerTracker();
  MarkerTracker(MarkerTracker&&) noexcept;
  MarkerTracker& operator=(MarkerTracker&&) noexcept;

  /// The next frame. Fails on another size and a time that does not increase; then nothing changed.
  /// False where tracking has ended: see lostAt().
  Result<bool> add(const Grey8Image& frame, double time_s);

  std::size_t frames() const;
  /// [px] Where the markers are in the last frame; confidence 0 where one is lost.
  std::span<const Vec3d> positions() const;
  std::span<const float> confidence() const;
  /// The first frame of those without any marker that ended tracking.
  std::optional<std::size_t> lostAt() const;

  /// All frames so far, those without any marker at the end left out; `neutral` is the first frame.
  /// Gaps are filled: while a marker is lost it moves with its neighbours, and what that is off by
  /// when it is found again is spread over the gap.
  PointTracks tracks() const;

  /// [s] how long add() took so far, and how much of it was the library's.
  double seconds() const;
  double librarySeconds() const;

 private:
  struct Impl;
  explicit MarkerTracker(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace derm
