#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "derm/face/modulation_fit.h"
#include "derm/io/film_reader.h"
#include "derm/io/point_tracks_file.h"

#include "character_input.h"
#include "face_detail_verbs.h"
#include "output_checks.h"

namespace derm::cli {
namespace {

struct CurveOptions {
  std::string film;
  std::string landmarks;
  std::string light = "0,30";
  double fps = 30;
  int step = 1;
  double megapixels = 0.5;
  int keys = 9;
  std::string output;
};

std::vector<PhotoLandmark> landmarksAt(const PointTracks& tracks, std::span<const Vec3d> at) {
  std::vector<PhotoLandmark> out;
  // Tracks count from the middle of the first pixel, photos from its corner.
  for (std::size_t l = 0; l < tracks.labels.size(); ++l)
    out.push_back({tracks.labels[l], {at[l].x() + 0.5, at[l].y() + 0.5}});
  return out;
}

struct Shot {
  Rgba8Image picture;
  double time_s = 0;
  std::vector<PhotoLandmark> landmarks;
};

/// Shows the film's shots one by one, from its beginning: all of them, as floats, would not fit
/// into memory. Returns how many there were.
Result<std::size_t> eachShot(const CurveOptions& options, const PointTracks& tracks,
                             const std::function<Result<void>(std::size_t, const Shot&)>& visit) {
  DERM_TRY(FilmReader film, FilmReader::open(options.film, {.fps = options.fps}));
  std::size_t count = 0, tracked = 0;
  FilmFrame frame;
  Shot shot;
  std::optional<double> before;
  while (true) {
    DERM_TRY(const bool more, film.next(frame));
    if (!more) break;
    // Tracks have no frame with the time of the one before.
    if (before && !(frame.time_s > *before)) continue;
    before = frame.time_s;
    const std::size_t index = tracked++;
    if (index % static_cast<std::size_t>(options.step) != 0) continue;
    if (index >= tracks.frames())
      return Error{ErrorCode::BadData,
                   fmt::format("has {} frames, but the film has more", tracks.frames()),
                   {.file = options.landmarks}};
    shot.picture = frame.picture;
    shot.time_s = frame.time_s;
    shot.landmarks = landmarksAt(tracks, tracks.frame(index));
    DERM_CHECK(visit(count++, shot));
  }
  return count;
}

FloatImage luminanceOf(const Shot& shot) {
  return derm::luminanceOf(floatImage(shot.picture, Curve::Srgb));
}

Result<void> fitCurve(const CurveOptions& options, Diagnostics& notes) {
  DERM_CHECK(checkOutputs({options.output}));
  DERM_CHECK(checkNotAnInput({options.output}, {options.film, options.landmarks}));
  DERM_TRY(const PhotoLight light, photoLight(options.light));
  DERM_TRY(const PointTracks tracks, loadPointTracks(options.landmarks, notes));
  if (tracks.space != TrackSpace::Picture)
    return Error{ErrorCode::BadData,
                 "is in metres: landmarks of a film are in pixels (`derm face track`)",
                 {.file = options.landmarks}};
  Shot first, last;
  DERM_TRY(const std::size_t count,
           eachShot(options, tracks, [&](std::size_t i, const Shot& shot) -> Result<void> {
             (i == 0 ? first : last) = shot;
             return {};
           }));
  if (count < 4)
    return Error{ErrorCode::BadData,
                 fmt::format("gives {} pictures; a curve needs 4", count),
                 {.file = options.film}};
  AcquisitionDesc desc;
  desc.max_pixels = static_cast<std::size_t>(options.megapixels * 1e6);
  PhotoPair pair;
  pair.neutral = luminanceOf(first);
  pair.neutral_landmarks = first.landmarks;
  pair.light = light;
  const auto detailOf = [&](const Shot& shot) {
    pair.expression = luminanceOf(shot);
    pair.expression_landmarks = shot.landmarks;
    Diagnostics of_each;  // the same for every picture
    return acquireDetail(std::span(&pair, 1), desc, of_each);
  };
  ProgressBar bar("acquiring");
  DERM_TRY(const SlopeMap full, detailOf(last));
  if (!(full.masked > 0))
    return Error{ErrorCode::BadData,
                 "no wrinkles between its first and its last picture",
                 {.file = options.film}};
  desc.mask = full.mask;
  if (full.photo_px > 1) desc.mask = {};  // of another size than the photo
  std::vector<AppearanceSample> samples;
  nlohmann::json list = nlohmann::json::array();
  const auto sample = [&](std::size_t i, const Shot& shot) -> Result<void> {
    if (!keepGoing(bar.callback(), static_cast<double>(i) / static_cast<double>(count),
                   "acquiring"))
      return Error{ErrorCode::Cancelled, "stopped", {}};
    AppearanceSample s{.time_s = shot.time_s};
    DERM_TRY(s.way, wayOfLandmarks(first.landmarks, shot.landmarks, last.landmarks));
    if (i > 0 && i + 1 < count) {
      DERM_TRY(const SlopeMap now, detailOf(shot));
      s.shown = shareOfDetail(now, full);
    } else {
      s.shown = i == 0 ? 0 : 1;
    }
    samples.push_back(s);
    list.push_back({{"time_s", s.time_s}, {"way", s.way}, {"shown", s.shown}});
    return {};
  };
  DERM_CHECK(eachShot(options, tracks, sample));
  DERM_TRY(const ModulationFit fit, fitModulation(samples, static_cast<std::size_t>(options.keys)));
  nlohmann::json curve = nlohmann::json::array();
  std::string text;
  for (const Vec2f& key : fit.curve.keys) {
    const double x = std::round(1e4 * static_cast<double>(key.x())) / 1e4;
    const double y = std::round(1e4 * static_cast<double>(key.y())) / 1e4;
    curve.push_back(x);
    curve.push_back(y);
    text += fmt::format("{}{:g}, {:g}", text.empty() ? "" : ", ", x, y);
  }
  const nlohmann::json out = {
      {"curve", curve}, {"rms", fit.rms}, {"rms_sin4", fit.rms_sin4}, {"samples", list}};
  DERM_CHECK(writeText(options.output, jsonFileText(out)));
  say("curve = [{}]\n{}: {} pictures, off by {:.3f} (sin^4: {:.3f})\n", text, options.output,
      samples.size(), fit.rms, fit.rms_sin4);
  return {};
}

}  // namespace

void addFaceDetailCurve(CLI::App& detail, Run& run) {
  const auto options = std::make_shared<CurveOptions>();
  CLI::App* verb = detail.add_subcommand(
      "curve", "how wrinkles appear on the way to an expression, from a film of it");
  verb->add_option("film", options->film,
                   "from rest to the expression: a film, or pictures_{frame}.png")
      ->required();
  verb->add_option(
          "--landmarks", options->landmarks,
          "where points are in every frame [px]: what `derm face track` writes (.csv, .json)")
      ->required();
  verb->add_option("--light", options->light,
                   "AZIMUTH,ELEVATION of the lamp from the camera [deg]; 0,30 is from above")
      ->capture_default_str();
  verb->add_option("--fps", options->fps, "[Hz] of pictures, which know no times")
      ->check(within(0.001, 1000))
      ->capture_default_str();
  verb->add_option("--step", options->step, "every so many frames count")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_option("--megapixels", options->megapixels, "pictures are reduced to this many")
      ->check(within(0.01, 64))
      ->capture_default_str();
  verb->add_option("--keys", options->keys, "of the curve")
      ->check(CLI::Range(3, 33))
      ->capture_default_str();
  verb->add_option("-o,--output", options->output,
                   "a .json; \"curve\" is what a detail layer takes; - prints it")
      ->required();
  verb->footer("example:\n  derm face detail curve frown.mp4 --landmarks tracks.csv -o curve.json");
  setWork(*verb, run, options, fitCurve);
}

}  // namespace derm::cli
