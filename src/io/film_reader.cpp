#include "derm/io/film_reader.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "derm/io/image_file.h"
#include "derm/io/particle_file.h"

#include "io/film_process.h"

namespace derm {
namespace {

namespace fs = std::filesystem;

/// Containers of films; not playlists and scripts, which name other files, nor text, of which
/// ffmpeg would make a picture.
constexpr const char* kContainers =
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,gif,apng,mpeg,mpegts,mpegvideo,ogg,flv,asf,mxf,dv,"
    "nut,ivf,h264,hevc,m4v,mjpeg,yuv4mpegpipe";
constexpr std::size_t kLongestLine = std::size_t{1} << 16;
constexpr std::string_view kFilterLine = "[Parsed_showinfo_";

/// Pictures come out of standard output; what each is like is told on standard error by the filter
/// showinfo, which sees a frame before it is written. So the line about a frame is always there
/// before its first byte.
std::vector<std::string> readArguments(const std::string& program,
                                       const std::vector<std::string>& input) {
  std::vector<std::string> out = {program,    "-hide_banner", "-nostdin",
                                  "-nostats", "-loglevel",    "level+info"};
  out.insert(out.end(), input.begin(), input.end());
  out.insert(out.end(), {"-map", "0:V:0", "-an", "-vf", "format=rgb24,showinfo=checksum=0",
                         "-sws_flags", "bicubic+accurate_rnd+full_chroma_int", "-fps_mode",
                         "passthrough", "-f", "rawvideo", "pipe:1"});
  return out;
}

std::vector<std::string> fileInput(const fs::path& file) {
  // "file:" keeps a name with a colon, or with a dash in front, from meaning another thing.
  return {"-protocol_whitelist", "file", "-format_whitelist",
          kContainers,           "-i",   "file:" + file.string()};
}

/// What stands behind `key`, up to the next space or comma.
std::optional<std::string_view> valueOf(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + key.size());
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return line.substr(0, line.find_first_of(" ,"));
}

template <class T>
std::optional<T> number(std::string_view text) {
  T out{};
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (failure != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return out;
}

/// "1/15360"; nothing where it is none or not positive.
std::optional<double> ratio(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto above = number<std::int64_t>(text.substr(0, slash));
  const auto below = number<std::int64_t>(text.substr(slash + 1));
  if (!above || !below || *above <= 0 || *below <= 0) return std::nullopt;
  return static_cast<double>(*above) / static_cast<double>(*below);
}

/// The words of a line without the "[h264 @ 0x55…] [error] " in front.
std::string_view withoutTags(std::string_view line) {
  while (line.starts_with('[')) {
    const std::size_t end = line.find(']');
    if (end == std::string_view::npos) break;
    line.remove_prefix(end + 1);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  }
  return line;
}

struct FrameHeader {
  int width = 0;
  int height = 0;
  double time_s = 0;
};

/// Makes sense of what ffmpeg says.
class FilmWords {
 public:
  std::string text;  ///< what came last and is not looked at yet

  void look() {
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
      line(std::string_view(text).substr(begin, end - begin));
    text.erase(0, begin);
    if (text.size() > kLongestLine) text.resize(kLongestLine);  // nothing we need is that long
  }
  std::optional<FrameHeader> takeHeader() {
    if (headers_.empty()) return std::nullopt;
    const FrameHeader first = headers_.front();
    headers_.pop_front();
    return first;
  }
  const std::string& firstError() const { return first_error_; }

 private:
  void line(std::string_view line) {
    if (line.starts_with(kFilterLine)) return filterLine(withoutTags(line));
    const bool error = line.find("[error]") != std::string_view::npos ||
                       line.find("[fatal]") != std::string_view::npos;
    if (!error || !first_error_.empty()) return;
    const bool refused = line.find("not on whitelist") != std::string_view::npos;
    first_error_ = refused ? "it is another kind of file" : withoutTags(line);
  }
  void filterLine(std::string_view line) {
    if (line.starts_with("config in ")) {
      time_base_s_ = ratio(valueOf(line, "time_base:").value_or("")).value_or(time_base_s_);
      rate_hz_ = ratio(valueOf(line, "frame_rate:").value_or("")).value_or(rate_hz_);
      return;
    }
    if (!line.starts_with("n:")) return;
    const std::string_view size = valueOf(line, " s:").value_or("");
    const std::size_t cross = size.find('x');
    if (cross == std::string_view::npos) return;
    const auto width = number<int>(size.substr(0, cross));
    const auto height = number<int>(size.substr(cross + 1));
    if (!width || !height || *width < 1 || *height < 1) return;
    const auto pts = number<std::int64_t>(valueOf(line, " pts:").value_or(""));
    // A frame without a time comes one step after the one before it.
    const double time = pts ? static_cast<double>(*pts) * time_base_s_
                            : (last_time_s_ ? *last_time_s_ + 1.0 / rate_hz_ : 0.0);
    last_time_s_ = time;
    headers_.push_back({*width, *height, time});
  }

  double time_base_s_ = 1.0 / 90000;
  double rate_hz_ = 25.0;
  std::optional<double> last_time_s_;
  std::deque<FrameHeader> headers_;
  std::string first_error_;
};

Error tooLarge(const fs::path& file, std::size_t index, int width, int height,
               std::uint64_t max_pixels) {
  return Error{
      ErrorCode::Unsupported,
      fmt::format("frames of {}x{} pixels; at most {} pixels are read", width, height, max_pixels),
      {.file = file.string(), .element = "frame", .index = index}};
}

}  // namespace

struct FilmReader::Impl {
  virtual ~Impl() = default;
  virtual Result<bool> next(FilmFrame& frame) = 0;
};

struct FilmReader::Sequence final : Impl {
  std::vector<NumberedFile> files;
  FilmReadDesc desc;
  std::size_t index = 0;
  bool done = false;

  Result<bool> next(FilmFrame& frame) override {
    if (done || index >= files.size()) return false;
    done = true;  // whatever ends this early
    const NumberedFile& file = files[index];
    DERM_TRY(frame.picture, loadImage(file.path));
    if (frame.picture.pixels.size() > desc.max_pixels)
      return tooLarge(file.path, index, frame.picture.width, frame.picture.height, desc.max_pixels);
    for (Rgba8& pixel : frame.picture.pixels) pixel.a = 255;
    const std::uint64_t steps = std::stoull(file.digits) - std::stoull(files.front().digits);
    frame.time_s = static_cast<double>(steps) / desc.fps;
    frame.index = index++;
    done = false;
    return true;
  }
};

struct FilmReader::Film final : Impl {
  fs::path file;
  FilmReadDesc desc;
  detail::ReadProcess ffmpeg;
  FilmWords words;
  std::optional<FrameHeader> header;  ///< of the next frame
  std::size_t index = 0;
  bool done = false;
  std::vector<std::uint8_t> rgb;

  /// Starts ffmpeg and waits for the first frame.
  Result<void> begin(const std::vector<std::string>& input) {
    const int error = ffmpeg.start(readArguments(desc.program, input));
    if (error == ENOENT || error == EACCES)
      return failure(
          fmt::format("films are read by the program {}, which is not here; numbered pictures "
                      "(name_{{frame}}.png) need none",
                      desc.program),
          ErrorCode::Unsupported);
    if (error != 0)
      return failure(fmt::format("cannot start {}: {}", desc.program, std::strerror(error)),
                     ErrorCode::CannotRead);
    DERM_CHECK(findHeader());
    return {};
  }

  Error failure(std::string message, ErrorCode code = ErrorCode::BadData) const {
    return Error{code, std::move(message), {.file = file.string()}};
  }

  /// Waits for the line about the next frame. False at the film's end.
  Result<bool> findHeader() {
    for (;;) {
      header = words.takeHeader();
      if (header) return true;
      if (ffmpeg.wordsEnded()) return finish();
      ffmpeg.read({}, words.text);
      words.look();
    }
  }

  /// No more frames: was that the end?
  Result<bool> finish() {
    const std::string end = ffmpeg.finish();
    const std::string& error = words.firstError();
    if (end.empty() && error.empty() && index > 0) return false;
    const std::string reason =
        end.starts_with("signal") || error.empty()
            ? fmt::format("{} ended with {}", desc.program, end.empty() ? "no frame" : end)
            : error;
    if (index == 0) return failure("not a film that can be read: " + reason);
    return failure(fmt::format("damaged or cut short, {} frames were read: {}", index, reason));
  }

  Result<bool> next(FilmFrame& frame) override {
    if (done) return false;
    done = true;  // whatever ends this early
    if (!header) {
      DERM_TRY(const bool more, findHeader());
      if (!more) return false;
    }
    const FrameHeader now = *header;
    header.reset();
    const std::uint64_t pixels =
        static_cast<std::uint64_t>(now.width) * static_cast<std::uint64_t>(now.height);
    if (pixels > desc.max_pixels) {
      ffmpeg.kill();
      return tooLarge(file, index, now.width, now.height, desc.max_pixels);
    }
    rgb.resize(pixels * 3);
    std::size_t got = 0;
    while (got < rgb.size() && !ffmpeg.outputEnded()) {
      got += ffmpeg.read(std::span(rgb).subspan(got), words.text);
      words.look();
    }
    if (got < rgb.size()) {
      while (!ffmpeg.wordsEnded()) ffmpeg.read({}, words.text);
      words.look();
      const std::string end = ffmpeg.finish();
      return failure(fmt::format("{} ended inside frame {}{}", desc.program, index,
                                 end.empty() ? "" : " with " + end));
    }
    if (frame.picture.width != now.width || frame.picture.height != now.height)
      frame.picture = Rgba8Image(now.width, now.height);
    for (std::size_t i = 0; i < pixels; ++i)
      frame.picture.pixels[i] = {rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2], 255};
    frame.time_s = now.time_s;
    frame.index = index++;
    done = false;
    return true;
  }
};

FilmReader::FilmReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FilmReader::~FilmReader() = default;
FilmReader::FilmReader(FilmReader&&) noexcept = default;
FilmReader& FilmReader::operator=(FilmReader&&) noexcept = default;

Result<FilmReader> FilmReader::open(const fs::path& file, const FilmReadDesc& desc) {
  const auto bad = [&](ErrorCode code, std::string message) {
    return Error{code, std::move(message), {.file = file.string()}};
  };
  if (!(desc.fps > 0 && desc.fps <= 1000))
    return bad(ErrorCode::BadArgument,
               fmt::format("frames per second must be above 0 and at most 1000, not {}", desc.fps));
  std::error_code ignored;
  const bool folder = fs::is_directory(file, ignored);
  if (folder || isNumbered(file.string())) {
    auto sequence = std::make_unique<Sequence>();
    sequence->desc = desc;
    DERM_TRY(sequence->files,
             numberedFiles(folder ? (file / "{frame}.png").string() : file.string()));
    return FilmReader(std::move(sequence));
  }
  if (!fs::exists(file, ignored)) return bad(ErrorCode::CannotRead, "no such file");
  auto film = std::make_unique<Film>();
  film->file = file;
  film->desc = desc;
  DERM_CHECK(film->begin(fileInput(file)));
  return FilmReader(std::move(film));
}

Result<FilmReader> FilmReader::openCamera(int number, const FilmReadDesc& desc) {
  auto film = std::make_unique<Film>();
  film->file = "/dev/video" + std::to_string(number);
  film->desc = desc;
  std::error_code ignored;
  if (number < 0 || !fs::exists(film->file, ignored))
    return film->failure("there is no such camera", ErrorCode::CannotRead);
  DERM_CHECK(film->begin({"-f", "v4l2", "-i", film->file.string()}));
  return FilmReader(std::move(film));
}

Result<bool> FilmReader::next(FilmFrame& frame) { return impl_->next(frame); }

}  // namespace derm
