#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "derm/image/grey8_image.h"

#include "track/group_motion.h"
#include "track/vision.h"

namespace derm::detail {

/// What each marker looks like in the first frame, and where that is found in another one.
class MarkerPatches {
 public:
  /// `window` [px] odd: side of the square that is compared.
  MarkerPatches(const Grey8Image& first, std::span<const Point2> positions, int window);

  /// One marker to be registered.
  struct Candidate {
    std::size_t marker = 0;
    Eigen::Matrix2d linear = Eigen::Matrix2d::Identity();  ///< how its square is warped by now
    Point2 position = Point2::Zero();                      ///< in: about where; out: exactly
    double moved = 0;                                      ///< [px] out: from in to out
    double likeness = 0;  ///< [-1,1] out: correlation there; 0 where it was not found
  };
  /// By Lucas-Kanade, all at once, each from a little picture of its own; up to kSlack pixels.
  Result<void> registerAll(const vision::Functions& library, const Grey8Image& frame,
                           std::span<Candidate> candidates);

  /// Where, within `radius` pixels of the candidate's position, its square looks most alike.
  Result<void> search(const vision::Functions& library, const Grey8Image& frame, int radius,
                      Candidate& candidate);

  /// Two markers so near to each other that their squares show both (lids that close, lips that
  /// meet). Their looks in the first frame are laid over each other, the stronger of both counting
  /// at each pixel, and moved together to where the frame looks so: Levenberg-Marquardt over both
  /// positions. Begins where the candidates are; gives the likeness of the whole to both, 0 where
  /// they are more than two windows apart.
  void registerPair(const Grey8Image& frame, Candidate& a, Candidate& b) const;

  /// [s] spent in the library.
  double librarySeconds() const { return library_s_; }

  static constexpr int kSlack = 8;

 private:
  /// The square of the first frame as it would look now: `size` pixels a side, the marker at its
  /// middle plus `shift`.
  void warp(std::size_t marker, const Eigen::Matrix2d& linear, const Point2& shift, int size,
            float* out) const;

  /// The look of a marker: values of its square, over those around it. 1 = skin.
  float lookAt(std::size_t marker, const Eigen::Matrix2d& back, const Point2& from_marker) const;

  struct Patch {
    int left = 0, top = 0;      ///< of its first pixel in the first frame
    Point2 position;            ///< of the marker in the first frame
    std::vector<float> values;  ///< reach_ pixels to each side
    float skin = 1;             ///< grey level around the marker
  };
  int window_;
  int tile_;   ///< [px] side of a little picture
  int reach_;  ///< [px] how much of the first frame is kept around a marker
  std::vector<Patch> patches_;
  std::vector<float> weights_;  ///< of the window's pixels: the middle counts more
  double library_s_ = 0;

  // Scratch.
  std::vector<float> warped_;
  std::vector<std::uint8_t> then_, now_, found_;
  std::vector<float> from_, to_;
};

}  // namespace derm::detail
