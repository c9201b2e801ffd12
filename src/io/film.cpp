#include "derm/io/film.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "derm/io/file_ending.h"
#include "derm/io/png.h"
#include "derm/io/whole_file.h"

#include "io/film_process.h"

namespace derm {
namespace {

namespace fs = std::filesystem;

/// What ffmpeg is told about the output; empty for an ending we do not write.
std::vector<std::string> encoderArguments(const std::string& ending, int quality) {
  const std::string crf = std::to_string(quality);
  // Screens show sRGB; players take HD video as BT.709. Said outright, or they guess.
  const std::vector<std::string> colour = {
      "-vf",
      "scale=in_range=full:out_range=tv:out_color_matrix=bt709",
      "-pix_fmt",
      "yuv420p",
      "-colorspace",
      "bt709",
      "-color_primaries",
      "bt709",
      "-color_trc",
      "bt709",
      "-color_range",
      "tv"};
  std::vector<std::string> out;
  if (ending == ".mp4" || ending == ".mov") {
    out = {"-c:v", "libx264",   "-preset",    "medium", "-crf",
           crf,    "-movflags", "+faststart", "-f",     ending == ".mp4" ? "mp4" : "mov"};
    out.insert(out.end(), colour.begin(), colour.end());
  } else if (ending == ".webm") {
    out = {"-c:v", "libvpx-vp9", "-crf", crf, "-b:v", "0", "-f", "webm"};
    out.insert(out.end(), colour.begin(), colour.end());
  } else if (ending == ".gif") {
    out = {"-filter_complex",
           "[0:v]split[a][b];[a]palettegen=stats_mode=diff[p];[b][p]paletteuse=dither=sierra2_4a",
           "-loop",
           "0",
           "-f",
           "gif"};
  } else if (ending == ".webp") {
    out = {"-c:v", "libwebp_anim", "-q:v", "85", "-loop", "0", "-f", "webp"};
  }
  return out;
}

std::vector<std::string> ffmpegArguments(const FilmDesc& desc, int width, int height,
                                         const std::string& ending, const fs::path& target) {
  std::vector<std::string> out = {desc.program, "-hide_banner",
                                  "-loglevel",  "error",
                                  "-nostdin",   "-y",
                                  "-f",         "rawvideo",
                                  "-pix_fmt",   "rgb24",
                                  "-s",         fmt::format("{}x{}", width, height),
                                  "-r",         fmt::format("{}", desc.fps),
                                  "-i",         "pipe:0",
                                  "-an",        "-map_metadata",
                                  "-1",         "-fflags",
                                  "+bitexact",  "-flags:v",
                                  "+bitexact"};
  const std::vector<std::string> encoder = encoderArguments(ending, desc.quality);
  out.insert(out.end(), encoder.begin(), encoder.end());
  // "file:" keeps a name with a colon, or one that starts with a dash, from meaning something else.
  out.push_back("file:" + target.string());
  return out;
}

std::string frameName(std::size_t number) { return fmt::format("{:06}.png", number); }

bool isFrameName(const std::string& name) {
  return name.size() == 10 && name.ends_with(".png") &&
         std::all_of(name.begin(), name.begin() + 6,
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool flushedToDisk(const fs::path& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool done = ::fsync(fd) == 0;
  ::close(fd);
  return done;
}

}  // namespace

Result<void> validateFilm(const fs::path& file, const FilmDesc& desc) {
  const auto bad = [&](std::string message) {
    return Error{ErrorCode::BadArgument, std::move(message), {.file = file.string()}};
  };
  if (desc.width < 1 || desc.width > 16384 || desc.height < 1 || desc.height > 16384)
    return bad(fmt::format("a film is 1 to 16384 pixels wide and high, not {}x{}", desc.width,
                           desc.height));
  if (!(desc.fps > 0 && desc.fps <= 1000))
    return bad(fmt::format("frames per second must be above 0 and at most 1000, not {}", desc.fps));
  if (desc.quality < 0 || desc.quality > 51)
    return bad(fmt::format("film quality is 0 to 51, not {}", desc.quality));
  if (encoderArguments(fileEnding(file), 0).empty())
    return bad(fmt::format("films end in .mp4, .mov, .webm, .gif or .webp, not \"{}\"",
                           file.extension().string()));
  DERM_CHECK(replacedFile(file));
  return {};
}

struct FilmWriter::Impl {
  fs::path file;
  fs::path target;  ///< what is replaced: the file, or what it links to
  FilmDesc desc;
  fs::path temporary;  ///< file, or folder of a sequence
  fs::path sequence_folder;
  bool is_sequence = false;
  std::size_t frames = 0;
  detail::FedProcess ffmpeg;
  std::vector<std::uint8_t> rgb;

  ~Impl() {
    ffmpeg.kill();
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
  }
  int evenWidth() const { return desc.width + desc.width % 2; }
  int evenHeight() const { return desc.height + desc.height % 2; }
  Error failure(std::string message) const {
    return Error{ErrorCode::CannotWrite, std::move(message), {.file = file.string()}};
  }
  Error ffmpegFailure() const {
    const std::string words = ffmpeg.lastWords();
    return failure(
        fmt::format("{} failed{}", desc.program, words.empty() ? " without a word" : ": " + words));
  }
  void packFrame(const Rgba8Image& frame);
  Result<void> startSequence(Diagnostics& notes);
  Result<FilmResult> finishFilm();
  Result<FilmResult> finishSequence();
};

void FilmWriter::Impl::packFrame(const Rgba8Image& frame) {
  const int width = evenWidth(), height = evenHeight();
  rgb.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
  std::uint8_t* out = rgb.data();
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const Rgba8 p = frame.at(std::min(x, frame.width - 1), std::min(y, frame.height - 1));
      *out++ = p.r;
      *out++ = p.g;
      *out++ = p.b;
    }
}

Result<void> FilmWriter::Impl::startSequence(Diagnostics& notes) {
  is_sequence = true;
  sequence_folder = file.parent_path() / (file.stem().string() + "_frames");
  temporary = sequence_folder;
  temporary += fmt::format(".{}.part", ::getpid());
  std::error_code error;
  fs::create_directory(temporary, error);
  if (error) return failure("cannot make a folder for its frames: " + error.message());
  notes.warn("no-ffmpeg", file.string(),
             fmt::format("the program {} is not here; the frames go to {}", desc.program,
                         sequence_folder.string()));
  return {};
}

Result<FilmResult> FilmWriter::Impl::finishFilm() {
  if (!ffmpeg.finish()) return ffmpegFailure();
  if (!flushedToDisk(temporary))
    return failure(std::string("cannot write: ") + std::strerror(errno));
  std::error_code error;
  const fs::file_status there = fs::status(target, error);
  if (fs::exists(there)) fs::permissions(temporary, there.permissions(), error);
  fs::rename(temporary, target, error);
  if (error) return failure("cannot write: " + error.message());
  return FilmResult{file, false, frames};
}

Result<FilmResult> FilmWriter::Impl::finishSequence() {
  std::error_code error;
  fs::create_directory(sequence_folder, error);
  for (std::size_t i = 1; i <= frames && !error; ++i)
    fs::rename(temporary / frameName(i), sequence_folder / frameName(i), error);
  if (error) return failure("cannot write its frames: " + error.message());
  // Frames of a longer film before this one would play on at its end.
  for (const fs::directory_entry& entry : fs::directory_iterator(sequence_folder, error)) {
    const std::string name = entry.path().filename().string();
    std::error_code ignored;
    if (isFrameName(name) && name > frameName(frames)) fs::remove(entry.path(), ignored);
  }
  return FilmResult{sequence_folder, true, frames};
}

FilmWriter::FilmWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FilmWriter::~FilmWriter() = default;
FilmWriter::FilmWriter(FilmWriter&&) noexcept = default;
FilmWriter& FilmWriter::operator=(FilmWriter&&) noexcept = default;

Result<FilmWriter> FilmWriter::open(const fs::path& file, const FilmDesc& desc,
                                    Diagnostics& notes) {
  DERM_CHECK(validateFilm(file, desc));
  auto impl = std::make_unique<Impl>();
  DERM_TRY(impl->target, replacedFile(file));
  impl->file = file;
  impl->desc = desc;
  impl->temporary = impl->target;
  impl->temporary += fmt::format(".{}.part", ::getpid());
  const int error = impl->ffmpeg.start(ffmpegArguments(desc, impl->evenWidth(), impl->evenHeight(),
                                                       fileEnding(file), impl->temporary));
  if (error == ENOENT || error == EACCES) {
    DERM_CHECK(impl->startSequence(notes));
  } else if (error != 0) {
    return impl->failure(fmt::format("cannot start {}: {}", desc.program, std::strerror(error)));
  }
  return FilmWriter(std::move(impl));
}

Result<void> FilmWriter::add(const Rgba8Image& frame) {
  Impl& film = *impl_;
  if (frame.width != film.desc.width || frame.height != film.desc.height)
    return Error{ErrorCode::BadArgument,
                 fmt::format("frame of {}x{} pixels in a film of {}x{}", frame.width, frame.height,
                             film.desc.width, film.desc.height),
                 {.file = film.file.string(), .element = "frame", .index = film.frames}};
  if (film.is_sequence) {
    DERM_CHECK(savePng(film.temporary / frameName(film.frames + 1), frame));
  } else {
    film.packFrame(frame);
    if (!film.ffmpeg.feed(film.rgb)) {
      film.ffmpeg.finish();  // so that its last words are written
      return film.ffmpegFailure();
    }
  }
  ++film.frames;
  return {};
}

Result<FilmResult> FilmWriter::finish() {
  if (impl_->frames == 0)
    return Error{
        ErrorCode::BadArgument, "a film needs at least one frame", {.file = impl_->file.string()}};
  return impl_->is_sequence ? impl_->finishSequence() : impl_->finishFilm();
}

Result<FilmResult> writeFilm(const fs::path& file, const FilmDesc& desc, std::size_t count,
                             const std::function<Result<Rgba8Image>(std::size_t)>& frame,
                             const Progress& progress, Diagnostics& notes) {
  DERM_TRY(FilmWriter writer, FilmWriter::open(file, desc, notes));
  for (std::size_t i = 0; i < count; ++i) {
    if (!keepGoing(progress, double(i) / double(count), "film"))
      return Error{ErrorCode::Cancelled, "cancelled", {.file = file.string()}};
    DERM_TRY(const Rgba8Image picture, frame(i));
    DERM_CHECK(writer.add(picture));
  }
  DERM_TRY(FilmResult result, writer.finish());
  keepGoing(progress, 1.0, "film");
  return result;
}

}  // namespace derm
