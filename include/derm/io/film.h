#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "derm/base/diagnostics.h"
#include "derm/base/progress.h"
#include "derm/base/result.h"
#include "derm/image/rgba8_image.h"

namespace derm {

struct FilmDesc {
  int width = 1280;   ///< [px] 1 to 16384; odd sizes are made even by repeating the last column
  int height = 720;   ///< [px] likewise, by repeating the last row
  double fps = 30.0;  ///< [Hz] (0, 1000]
  int quality = 18;   ///< [0,51] of H.264 and VP9: smaller is better and larger; 18 looks lossless
  std::string program = "ffmpeg";  ///< name looked for in PATH, or a path
};

/// What FilmWriter::open() refuses: an ending or numbers out of range. For checks before long work.
Result<void> validateFilm(const std::filesystem::path& file, const FilmDesc& desc);

/// What a finished film consists of.
struct FilmResult {
  std::filesystem::path path;  ///< the film, or the folder of numbered pictures
  bool is_sequence = false;    ///< true where `program` was not there
  std::size_t frames = 0;
};

/// Writes frames into a film through the program ffmpeg, which is started without a shell and fed
/// through a socket. The ending says the format: .mp4 and .mov (H.264, yuv420p, index in front so
/// that it plays while loading), .webm (VP9), .gif, .webp. Where there is no ffmpeg, the frames go
/// into the folder "<name>_frames" beside it as 000001.png, 000002.png, … and a note says so.
///
/// The film is made in a temporary beside the target and takes its place in finish() only: a
/// failure, a cancelled run or a writer that is thrown away leaves the old file and nothing else.
/// One thread at a time.
class FilmWriter {
 public:
  static Result<FilmWriter> open(const std::filesystem::path& file, const FilmDesc& desc,
                                 Diagnostics& notes);
  ~FilmWriter();
  FilmWriter(FilmWriter&&) noexcept;
  FilmWriter& operator=(FilmWriter&&) noexcept;

  /// The next frame; its size must be the film's. If ffmpeg has given up, the error carries the
  /// last line it wrote.
  Result<void> add(const Rgba8Image& frame);
  /// Ends the film and puts it in place. A film without frames is a BadArgument error.
  Result<FilmResult> finish();

 private:
  struct Impl;
  explicit FilmWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// A whole film in one call: frame(0) … frame(count - 1), with progress after each.
Result<FilmResult> writeFilm(const std::filesystem::path& file, const FilmDesc& desc,
                             std::size_t count,
                             const std::function<Result<Rgba8Image>(std::size_t)>& frame,
                             const Progress& progress, Diagnostics& notes);

}  // namespace derm
