#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "derm/base/number_text.h"
#include "derm/face/face_features.h"
#include "derm/face/face_frame.h"
#include "derm/image/grey8_image.h"
#include "derm/io/file_bytes.h"
#include "derm/io/file_ending.h"
#include "derm/io/film_reader.h"
#include "derm/io/point_file.h"
#include "derm/io/point_tracks_file.h"
#include "derm/track/head_motion.h"
#include "derm/track/marker_detection.h"
#include "derm/track/marker_tracker.h"
#include "derm/track/track_filter.h"

#include "character_input.h"
#include "face_verbs.h"
#include "output_checks.h"
#include "track_overlay.h"

namespace derm::cli {
namespace {

struct TrackOptions {
  std::string film;
  int camera = -1;
  double fps = 30;
  std::size_t frames = 0;
  std::string markers;
  std::string detect;
  std::string head;
  std::string head_unit;
  bool keep_head = false;
  bool lids = true;
  double focal = 0;
  double smooth = 0;
  int window = 0;  ///< 0 = in proportion to the picture
  std::string output;
  std::string overlay;
  std::string save_markers;
  std::string report;

  std::string source() const { return camera >= 0 ? "camera " + std::to_string(camera) : film; }
};

/// "9.3" for "nose_tip"; other words stay.
std::string numberOrWord(const std::string& label) {
  const FaceFeature* feature = findFaceFeature(label);
  return feature != nullptr ? std::string(feature->number) : label;
}

/// Turned to look along +Z, as the camera sees a face: depths are along z, and so are the turns of
/// a head that are told. Heads that stand otherwise say so by their points.
std::vector<Marker> lookingAhead(std::vector<Marker> face) {
  std::vector<std::pair<std::string, Vec3d>> points;
  for (const Marker& m : face) points.emplace_back(m.label, m.position);
  const Result<FaceFrame> frame = faceFrame(points);
  if (frame && frame->axes != Mat3d::Identity())
    for (Marker& m : face) m.position = frame->axes.transpose() * m.position;
  return face;
}

/// The points of a face in space [m]: a head's own, or a file of points.
Result<std::vector<Marker>> faceInSpace(const TrackOptions& options, Diagnostics& notes) {
  std::vector<Marker> out;
  if (options.head.empty()) return out;
  if (fileEnding(options.head) == ".json") {
    double unit = 1;
    if (!options.head_unit.empty()) {
      DERM_TRY(unit, metresPerUnit(options.head_unit));
    }
    DERM_TRY(const std::vector<NamedPosition> points, loadPointFile(options.head, notes));
    for (const NamedPosition& p : points) {
      if (p.vertex)
        return Error{ErrorCode::BadData,
                     "a vertex says nothing without its head; positions are needed",
                     {.file = options.head, .element = "point \"" + p.label + "\""}};
      out.push_back({numberOrWord(p.label), unit * p.position});
    }
    return out;
  }
  CharacterInput input;
  input.source = options.head;
  input.unit = options.head_unit;
  DERM_TRY(const Character head, input.load(notes));
  for (const LabelledPoint& p : head.points)
    out.push_back({numberOrWord(p.label),
                   positionAt(p.point, head.mesh.triangles, head.mesh.positions).cast<double>()});
  if (out.empty())
    return Error{ErrorCode::BadData,
                 "has no points of the face; `derm face points` finds them",
                 {.file = options.head}};
  return out;
}

/// The face's points that dots may be named after. The chin's marker belongs on its front, where
/// few heads have a point: between the chin and the lower lip.
std::vector<Marker> namesForDots(std::vector<Marker> face) {
  const auto find = [&](const char* label) {
    return std::find_if(face.begin(), face.end(),
                        [&](const Marker& m) { return m.label == label; });
  };
  const auto chin = find("2.1"), lip = find("8.2");
  if (chin == face.end() || lip == face.end() || find("2.10") != face.end()) return face;
  const Vec3d front = chin->position + 0.3 * (lip->position - chin->position);
  face.push_back({"2.10", front});
  return face;
}

/// Where the markers of the first frame are.
Result<std::vector<Marker>> firstMarkers(const TrackOptions& options, const Grey8Image& picture,
                                         const std::vector<Marker>& face, Diagnostics& notes) {
  std::vector<Marker> markers;
  if (!options.markers.empty()) {
    DERM_TRY(const std::vector<NamedPosition> points, loadPicturePointFile(options.markers, notes));
    for (const NamedPosition& p : points) markers.push_back({numberOrWord(p.label), p.position});
    if (markers.empty()) return Error{ErrorCode::BadData, "no markers", {.file = options.markers}};
  }
  if (options.detect.empty()) return markers;
  DotDetectionDesc desc;
  desc.bright = options.detect == "bright";
  DERM_TRY(const std::vector<Dot> dots, detectDots(picture, desc));
  if (dots.empty())
    return Error{ErrorCode::BadData,
                 "no " + options.detect + " dots in the first frame",
                 {.file = options.source()}};
  if (!markers.empty()) {
    const double reach = 0.02 * std::hypot(picture.width, picture.height);
    const std::size_t met = snapToDots(markers, dots, reach);
    if (met < markers.size())
      notes.warn("markers-without-dot", options.markers,
                 fmt::format("{} of {} markers have no dot within {:.0f} pixels and stay where "
                             "they are",
                             markers.size() - met, markers.size(), reach));
    return markers;
  }
  if (face.empty()) return unnamedMarkers(dots);
  Result<std::vector<Marker>> named = nameDots(dots, namesForDots(face));
  if (!named) {
    Error e = named.error();
    e.where.file = options.source();
    return e;
  }
  std::string missing;
  for (const Marker& f : face) {
    const bool met = std::any_of(named->begin(), named->end(),
                                 [&](const Marker& m) { return m.label == f.label; });
    if (!met) missing += (missing.empty() ? "" : ", ") + f.label;
  }
  if (!missing.empty()) notes.info("points-without-dot", options.head, "no dot for " + missing);
  return named;
}

/// How the film's clock runs.
struct FilmClock {
  double shortest_s = 1e300, longest_s = 0;
  std::size_t repeated = 0;
  bool even() const { return longest_s <= 1.02 * shortest_s + 1e-3; }
};

struct Tracked {
  MarkerTracker tracker;
  FilmClock clock;
  int width = 0, height = 0;
  std::optional<Error> end;  ///< why it ended early
};

Result<FilmReader> openFilm(const TrackOptions& options) {
  FilmReadDesc desc;
  desc.fps = options.fps;
  return options.camera >= 0 ? FilmReader::openCamera(options.camera, desc)
                             : FilmReader::open(options.film, desc);
}

std::string captionOf(std::size_t frame, double time_s, std::span<const float> confidence) {
  const auto seen =
      std::count_if(confidence.begin(), confidence.end(), [](float c) { return c > 0; });
  return fmt::format("frame {}  {:.2f} s  {} of {}", frame, time_s, seen, confidence.size());
}

/// The square that is followed: 15 pixels in a picture of 480 rows, and in proportion.
MarkerTrackerDesc trackerFor(const TrackOptions& options, int height) {
  MarkerTrackerDesc desc;
  desc.window_px = options.window;
  if (options.window == 0) desc.window_px = std::clamp(15 * height / 480, 15, 63) | 1;
  return desc;
}

Result<Tracked> trackFilm(const TrackOptions& options, const std::vector<Marker>& face,
                          Diagnostics& notes) {
  DERM_TRY(FilmReader reader, openFilm(options));
  FilmFrame frame;
  DERM_TRY(const bool any, reader.next(frame));
  if (!any) return Error{ErrorCode::BadData, "has no frames", {.file = options.source()}};
  Grey8Image grey;
  toGrey(frame.picture, grey);
  DERM_TRY(const std::vector<Marker> markers, firstMarkers(options, grey, face, notes));
  Result<MarkerTracker> started =
      MarkerTracker::start(grey, frame.time_s, markers, trackerFor(options, grey.height));
  if (!started) {
    Error e = started.error();
    if (e.where.file.empty() && e.code != ErrorCode::Unsupported)
      e.where.file = options.markers.empty() ? options.source() : options.markers;
    return e;
  }
  if (!options.save_markers.empty()) {
    std::vector<NamedPosition> points;
    for (const Marker& m : markers) points.push_back({m.label, {}, m.position});
    DERM_CHECK(writeFileWhole(options.save_markers, picturePointFileText(points)));
  }
  Tracked out{*std::move(started), {}, grey.width, grey.height, {}};
  std::vector<std::string> labels;
  for (const Marker& m : markers) labels.push_back(m.label);
  std::optional<OverlayFilm> overlay;
  if (!options.overlay.empty()) overlay.emplace(options.overlay);
  const auto draw = [&]() -> Result<void> {
    if (!overlay) return {};
    drawMarkers(frame.picture, labels, out.tracker.positions(), out.tracker.confidence(),
                captionOf(frame.index, frame.time_s, out.tracker.confidence()));
    return overlay->add(frame.picture, frame.time_s, notes);
  };
  DERM_CHECK(draw());

  ProgressBar bar("tracking");
  const Progress progress = bar.callback();
  double before = frame.time_s;
  while (options.frames == 0 || out.tracker.frames() < options.frames) {
    if (!keepGoing(progress, 0, fmt::format("frame {}", out.tracker.frames()))) {
      // That is how filming with a camera ends.
      if (options.camera >= 0) break;
      return Error{ErrorCode::Cancelled, "cancelled", {}};
    }
    Result<bool> more = reader.next(frame);
    if (!more) {
      out.end = more.error();
      break;
    }
    if (!*more) break;
    if (!(frame.time_s > before)) {
      ++out.clock.repeated;
      continue;
    }
    out.clock.shortest_s = std::min(out.clock.shortest_s, frame.time_s - before);
    out.clock.longest_s = std::max(out.clock.longest_s, frame.time_s - before);
    before = frame.time_s;
    toGrey(frame.picture, grey);
    Result<bool> kept = out.tracker.add(grey, frame.time_s);
    if (!kept) {
      out.end = kept.error();
      out.end->where.file = options.source();
      break;
    }
    DERM_CHECK(draw());
    if (!*kept) {
      const std::size_t at = *out.tracker.lostAt();
      out.end =
          Error{ErrorCode::BadData,
                fmt::format("all markers are lost from here on; the {} frames before are kept", at),
                {.file = options.source(), .element = "frame", .index = at}};
      break;
    }
  }
  if (overlay) DERM_CHECK(overlay->finish(notes));
  return out;
}

nlohmann::json reportOf(const Tracked& tracked, const PointTracks& tracks,
                        const HeadMotion* motion) {
  const std::size_t n = tracks.labels.size(), frames = tracks.frames();
  nlohmann::json markers = nlohmann::json::object();
  for (std::size_t l = 0; l < n; ++l) {
    std::size_t seen = 0, gaps = 0, longest = 0, gap = 0;
    double sum = 0;
    for (std::size_t f = 0; f < frames; ++f) {
      const float c = tracks.confidence[f * n + l];
      seen += c > 0;
      sum += static_cast<double>(c);
      gaps += c == 0 && gap == 0;
      gap = c > 0 ? 0 : gap + 1;
      longest = std::max(longest, gap);
    }
    markers[tracks.labels[l]] = {{"seen", seen},
                                 {"gaps", gaps},
                                 {"longest_gap", longest},
                                 {"confidence", seen > 0 ? sum / static_cast<double>(seen) : 0.0}};
  }
  nlohmann::json out = {
      {"frames", frames},
      {"seconds", frames > 0 ? tracks.times_s.back() - tracks.times_s.front() : 0.0},
      {"size", {tracked.width, tracked.height}},
      {"even_rate", tracked.clock.even()},
      {"markers", std::move(markers)}};
  if (tracked.tracker.lostAt()) out["lost_at"] = *tracked.tracker.lostAt();
  if (tracked.tracker.seconds() > 0)
    out["frames_per_second"] =
        static_cast<double>(tracked.tracker.frames() - 1) / tracked.tracker.seconds();
  if (motion != nullptr) {
    const char* const names[] = {"pnp", "similarity", "none"};
    out["head"] = {{"method", names[static_cast<int>(motion->method)]},
                   {"residual_px", motion->residual_px},
                   {"held_frames", motion->held_frames}};
    if (motion->method == HeadMethod::Pnp) {
      out["head"]["focal_px"] = motion->focal_px;
      out["head"]["focal_guessed"] = motion->focal_guessed;
    }
  }
  return out;
}

/// Off-line without delay; what a camera gives, as it came.
void smooth(PointTracks& tracks, const TrackOptions& options) {
  if (options.camera < 0) return smoothZeroPhase(tracks, options.smooth);
  if (!(options.smooth > 0)) return;
  OneEuroDesc desc;
  desc.min_cutoff_hz = std::min(1000.0, 0.187 / options.smooth);
  OneEuroFilter filter(tracks.labels.size(), desc);
  for (std::size_t f = 0; f < tracks.frames(); ++f)
    filter.step(
        tracks.times_s[f],
        std::span(tracks.positions).subspan(f * tracks.labels.size(), tracks.labels.size()));
}

void noteLids(const LidCalibrations& lids, Diagnostics& notes) {
  for (const auto& [eye, name] : {std::pair{&lids.left, "left eye"}, {&lids.right, "right eye"}})
    if (constexpr double kTold = 0.05; eye->shut && eye->smallest > kTold)
      notes.info("lids-calibrated", name,
                 fmt::format("its smallest opening, {:.0f} % of the first frame's, is taken for a "
                             "shut eye; --no-lids leaves it",
                             100 * eye->smallest));
}

Result<void> checkTrackOptions(const TrackOptions& options) {
  const auto bad = [](std::string message) {
    return Error{ErrorCode::BadArgument, std::move(message), {}};
  };
  if (options.film.empty() == (options.camera < 0))
    return bad("a film is needed, or --camera N, and not both");
  if (options.markers.empty() && options.detect.empty())
    return bad("--markers FILE, --detect dark or --detect bright says what to follow");
  const std::string ending = fileEnding(options.output);
  if (ending != ".csv" && ending != ".json")
    return Error{ErrorCode::BadArgument,
                 "cannot write \"" + ending + "\" files; .csv or .json is expected",
                 {.file = options.output}};
  if (!options.overlay.empty()) DERM_CHECK(validateFilm(options.overlay, {}));
  DERM_CHECK(validate(trackerFor(options, 480)));
  DERM_CHECK(
      checkNotAnInput({options.output, options.overlay, options.save_markers, options.report},
                      {options.film, options.markers, options.head}));
  return checkOutputs({options.output, options.overlay, options.save_markers, options.report});
}

Result<void> track(const TrackOptions& options, Diagnostics& notes) {
  DERM_CHECK(checkTrackOptions(options));
  DERM_TRY(std::vector<Marker> in_space, faceInSpace(options, notes));
  const std::vector<Marker> face = lookingAhead(std::move(in_space));
  DERM_TRY(Tracked tracked, trackFilm(options, face, notes));
  PointTracks tracks = tracked.tracker.tracks();
  if (!tracked.clock.even() && tracks.frames() > 1)
    notes.warn("variable-frame-rate", options.source(),
               fmt::format("frames are {:.1f} to {:.1f} ms apart; the tracks have their real times",
                           1e3 * tracked.clock.shortest_s, 1e3 * tracked.clock.longest_s));
  if (tracked.clock.repeated > 0)
    notes.warn("repeated-times", options.source(),
               fmt::format("{} frames have the time of the one before and were left out",
                           tracked.clock.repeated));
  smooth(tracks, options);
  std::optional<HeadMotion> motion;
  if (!options.keep_head) {
    HeadMotionDesc desc;
    desc.width_px = tracked.width;
    desc.height_px = tracked.height;
    desc.focal_px = options.focal;
    DERM_TRY(motion, separateHead(tracks, face, desc, notes));
    tracks = motion->tracks;
    if (options.lids) noteLids(calibrateLids(tracks), notes);
  }
  DERM_CHECK(savePointTracks(options.output, tracks));
  if (!options.report.empty())
    DERM_CHECK(writeText(options.report,
                         jsonFileText(reportOf(tracked, tracks, motion ? &*motion : nullptr))));
  const auto seen = std::count_if(tracks.confidence.begin(), tracks.confidence.end(),
                                  [](float c) { return c > 0; });
  say("{}: {} markers, {} frames, seen {:.1f} %", options.output, tracks.labels.size(),
      tracks.frames(),
      100.0 * static_cast<double>(seen) / static_cast<double>(tracks.confidence.size()));
  if (motion && motion->method == HeadMethod::Pnp)
    say(", head to {:.2f} px with a focal length of {:.0f} px{}", motion->residual_px,
        motion->focal_px, motion->focal_guessed ? " (guessed)" : "");
  say("\n");
  if (tracked.end) {
    printWarnings(notes);
    return *tracked.end;
  }
  return {};
}

}  // namespace

void addFaceTrack(CLI::App& face, Run& run) {
  const auto options = std::make_shared<TrackOptions>();
  CLI::App* verb = face.add_subcommand("track", "markers on a face, followed through a film");
  verb->add_option("FILM", options->film, "a film, a folder of numbered PNGs, or name_{frame}.png");
  verb->add_option("--camera", options->camera, "instead of a film: camera N; Ctrl-C ends it")
      ->check(CLI::Range(0, 63))
      ->type_name("N");
  verb->add_option("--markers", options->markers,
                   "JSON file of the first frame's markers, {\"9.3\": [x, y], …} in pixels");
  verb->add_option("--detect", options->detect,
                   "finds dark or bright dots: all, or those next to the markers given; with "
                   "--head they get its points' names")
      ->check(CLI::IsMember({"dark", "bright"}));
  verb->add_option("--head", options->head,
                   "the face in space: a head with points, cast:NAME, or a .json file of points");
  verb->add_option("--head-unit", options->head_unit, "--unit of HEAD");
  verb->add_flag("--keep-head", options->keep_head,
                 "leave the head's motion in the tracks; default: it is separated");
  verb->add_flag("--lids,!--no-lids", options->lids,
                 "the film's smallest opening of an eye is a shut eye, and a covered eye blinks "
                 "with the other (default)");
  verb->add_option("--focal", options->focal,
                   "the camera's focal length in pixels; default guessed")
      ->check(kAboveZero);
  verb->add_option("--smooth", options->smooth,
                   "seconds: width of the smoothing filter; default none")
      ->check(within(0, 10));
  verb->add_option("--fps", options->fps, "of numbered pictures, which have no times")
      ->check(kAboveZero)
      ->capture_default_str();
  verb->add_option("--frames", options->frames, "at most so many frames; default all")
      ->check(CLI::Range(1, 100000000));
  verb->add_option("--window", options->window,
                   "pixels: side of the square that is followed, odd, 5 to 63; default 15 for 480 "
                   "rows, in proportion");
  verb->add_option("-o,--output", options->output, "the tracks, .csv or .json")->required();
  verb->add_option("--film", options->overlay, "a film of what was tracked, drawn on the frames");
  verb->add_option("--save-markers", options->save_markers,
                   "a .json file of the first frame's markers, as found");
  verb->add_option("--report", options->report,
                   "a .json report: gaps and confidence of each marker, the head; - prints it");
  verb->footer(
      "example:\n"
      "  derm face track film.mp4 --detect dark --head me.glb -o tracks.csv --film seen.mp4\n"
      "  derm face track film.mp4 --markers first.json -o tracks.csv --smooth 0.03");
  setWork(*verb, run, options, track);
}

}  // namespace derm::cli
