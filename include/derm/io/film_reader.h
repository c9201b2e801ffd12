#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "derm/base/result.h"
#include "derm/image/rgba8_image.h"
#include "derm/io/png.h"

namespace derm {

struct FilmReadDesc {
  double fps =
      30.0;  ///< [Hz] (0, 1000] of numbered pictures, which have no times; films know theirs
  std::uint64_t max_pixels = kMaxPixels;  ///< larger frames are refused before memory is taken
  std::string program = "ffmpeg";         ///< name looked for in PATH, or a path; 5.1 or later
};

struct FilmFrame {
  Rgba8Image picture;     ///< opaque; turned as the film says it is to be shown
  double time_s = 0;      ///< [s] since the film's start, as stored: frames may be unevenly spaced
  std::size_t index = 0;  ///< counted from 0
};

/// Reads the frames of a film, one at a time: the first picture track of mp4, mov, webm, mkv, avi,
/// gif and the like, through the program ffmpeg, which is started without a shell and may open no
/// other file. Or a sequence of PNG or JPEG pictures: "shot_{frame}.png", or a folder of numbered
/// PNGs as FilmWriter leaves it where there is no ffmpeg; a number left out is a gap in time.
/// Memory: one frame; ffmpeg waits until it is asked for.
///
/// Errors name the file: it is missing, no film, damaged or cut short, a frame too large, no
/// ffmpeg. A film that is cut short gives the frames it has, then the error. One thread at a time;
/// a reader that is thrown away ends its ffmpeg.
class FilmReader {
 public:
  /// Waits for the first frame, so that what is no film fails here.
  static Result<FilmReader> open(const std::filesystem::path& file, const FilmReadDesc& desc = {});
  /// A camera of this machine as Linux counts them (/dev/video0, …), through ffmpeg's v4l2: as a
  /// film without an end. Frames that are not asked for in time are dropped by the camera.
  static Result<FilmReader> openCamera(int number, const FilmReadDesc& desc = {});
  ~FilmReader();
  FilmReader(FilmReader&&) noexcept;
  FilmReader& operator=(FilmReader&&) noexcept;

  /// Fills in the next frame, reusing its memory; false after the last.
  Result<bool> next(FilmFrame& frame);

 private:
  struct Impl;
  struct Sequence;
  struct Film;
  explicit FilmReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace derm
