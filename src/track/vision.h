#pragma once

#include <cstdint>

#include "derm/base/result.h"

/// What tracking takes from a computer vision library, as plain functions: the library itself is in
/// the module `derm_track_opencv`, which shares this header with us and nothing else.
namespace derm::detail::vision {

inline constexpr int kVersion = 1;

struct GreyView {
  const std::uint8_t* pixels = nullptr;
  int width = 0;
  int height = 0;
  int stride = 0;  ///< [bytes] from row to row
};

struct FlowDesc {
  int window = 15;  ///< [px] side of the square that is compared
  int levels = 3;   ///< halvings of the picture
  int iterations = 20;
  double precision = 0.01;  ///< [px] a step below this is the last
};

struct Dot {
  float x = 0, y = 0;   ///< [px]
  float radius = 0;     ///< [px] of the disc with its area
  float contrast = 0;   ///< grey levels to its surroundings
  float roundness = 0;  ///< [0,1] 1 = a disc
};

/// Every function but make and free gives 0, or another number and words in lastError().
struct Functions {
  const char* (*lastError)();
  const char* (*libraryVersion)();

  void* (*makePyramid)();
  void (*freePyramid)(void* pyramid);
  /// Copies the picture, halves it `levels` times, and takes derivatives.
  int (*fillPyramid)(void* pyramid, const GreyView* picture, const FlowDesc* desc);
  /// Pyramidal Lucas-Kanade from one to the other. `to` [x,y,...] holds first guesses and becomes
  /// the answer; found 0 where it was lost.
  int (*flow)(const void* from_pyramid, const void* to_pyramid, const float* from, float* to,
              std::uint8_t* found, int count, const FlowDesc* desc);
  /// The same between two small pictures, at one level.
  int (*flowFlat)(const GreyView* from_picture, const GreyView* to_picture, const float* from,
                  float* to, std::uint8_t* found, int count, const FlowDesc* desc);
  /// Where `pattern` is in `picture` with the greatest normalised correlation: its left top pixel.
  int (*match)(const GreyView* picture, const GreyView* pattern, int* x, int* y, float* score);
  /// Dots darker (or brighter) than their surroundings, between radii; at most `capacity`, the
  /// strongest first.
  int (*dots)(const GreyView* picture, int bright, float min_radius, float max_radius,
              float min_contrast, Dot* out, int capacity, int* count);
  /// Pose of points before a pinhole camera (x right, y down, z away): R(rotation) p + translation.
  /// `pose` is rotation vector and translation; with `guess` it holds where to begin. 4 points or
  /// more, 6 without a guess where they are not flat.
  int (*pose)(const double* points, const double* seen, int count, double focal, double centre_x,
              double centre_y, int guess, double* pose);
};

/// Loads the module at the first call. Unsupported where it is not built or cannot be loaded.
Result<const Functions*> functions();

}  // namespace derm::detail::vision

/// The module's one function; null where it speaks another version.
extern "C" {
using DermTrackOpencv = const derm::detail::vision::Functions* (*)(int version);
}
