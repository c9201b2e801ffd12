#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "derm/face/shape_motion.h"
#include "derm/io/character_file.h"
#include "derm/io/file_ending.h"
#include "derm/io/point_tracks_file.h"
#include "derm/io/shape_tracks_file.h"
#include "derm/scene/face_motion_input.h"

#include "character_input.h"
#include "face_verbs.h"
#include "head_matching.h"
#include "output_checks.h"

namespace derm::cli {
namespace {

const std::map<std::string, RbfKernel> kKernels = [] {
  std::map<std::string, RbfKernel> out;
  for (const auto& [kernel, name] : kFaceKernelNames) out.emplace(name, kernel);
  return out;
}();
const std::map<std::string, FaceDepth> kDepths = {{"map", FaceDepth::Map},
                                                  {"expressions", FaceDepth::Expressions}};

struct RetargetOptions {
  FaceMotionChoice motion;
  std::vector<std::string> gains, also;
  CharacterInput target;
  std::string points;
  FaceMotionOptions how;
  std::string kernel = "r", depth = "map";
  std::string tracks, coefficients, output;
};

/// "mouth=1.2", or several with commas.
Result<void> addGains(std::string_view text, std::vector<FaceGain>& gains) {
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view one = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::size_t equals = one.find('=');
    const std::optional<double> gain =
        equals == std::string_view::npos ? std::nullopt : numberOf(one.substr(equals + 1));
    if (!gain || equals == 0)
      return Error{ErrorCode::BadArgument,
                   "\"" + std::string(one) + "\" is not REGION=FACTOR",
                   {.element = "--gain"}};
    gains.push_back({std::string(one.substr(0, equals)), *gain});
  }
  return {};
}

/// "SOURCE:regions=eyes,brows:gain=eyes=0.8:offset=0.2:clip=blink"; a SOURCE may hold colons.
Result<FaceMotionChoice> choiceOf(const std::string& text) {
  FaceMotionChoice out;
  std::string_view rest = text;
  while (true) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const std::string_view part = rest.substr(0, colon);
    const auto after = [&](std::string_view key) { return part.substr(key.size()); };
    if (part.starts_with("regions=")) {
      out.regions = after("regions=");
    } else if (part.starts_with("clip=")) {
      out.clip = after("clip=");
    } else if (part.starts_with("map=")) {
      out.map = after("map=");
    } else if (part.starts_with("gain=")) {
      DERM_CHECK(addGains(after("gain="), out.gains));
    } else if (part.starts_with("offset=")) {
      const std::optional<double> offset = numberOf(after("offset="));
      if (!offset)
        return Error{ErrorCode::BadArgument,
                     "\"" + std::string(part) + "\" has no number of seconds",
                     {.element = "--also"}};
      out.offset_s = *offset;
    } else {
      out.source += (out.source.empty() ? "" : ":") + std::string(part);
    }
    if (colon == rest.size()) break;
    rest.remove_prefix(colon + 1);
  }
  if (out.source.empty())
    return Error{ErrorCode::BadArgument, "\"" + text + "\" names no source", {.element = "--also"}};
  return out;
}

/// Before any work is done. An empty file is not asked for.
Result<void> checkEnding(const std::string& file, std::initializer_list<std::string_view> wanted) {
  if (file.empty() || std::find(wanted.begin(), wanted.end(), fileEnding(file)) != wanted.end())
    return {};
  return Error{
      ErrorCode::BadArgument,
      fmt::format("cannot be written so; the ending must be {}", fmt::join(wanted, " or ")),
      {.file = file}};
}

Result<void> writeRetargeted(const RetargetOptions& options, Diagnostics& notes) {
  DERM_CHECK(checkWritableRig(options.output));
  DERM_CHECK(checkOutputs({options.output, options.tracks, options.coefficients}));
  DERM_CHECK(checkEnding(options.tracks, {".csv", ".json"}));
  DERM_CHECK(checkEnding(options.coefficients, {".csv"}));
  DERM_CHECK(checkNotAnInput(
      {options.output, options.tracks, options.coefficients},
      {options.target.source, options.points, options.motion.source, options.motion.map}));
  FaceMotionOptions how = options.how;
  how.retarget.kernel = kKernels.at(options.kernel);
  how.retarget.depth = kDepths.at(options.depth);
  std::vector<FaceMotionChoice> motions = {options.motion};
  for (const std::string& text : options.gains) DERM_CHECK(addGains(text, motions[0].gains));
  for (const std::string& text : options.also) {
    DERM_TRY(FaceMotionChoice choice, choiceOf(text));
    DERM_CHECK(checkNotAnInput({options.output, options.tracks, options.coefficients},
                               {choice.source, choice.map}));
    choice.fit_head = options.motion.fit_head;
    motions.push_back(std::move(choice));
  }
  DERM_TRY(Character head, options.target.load(notes));
  if (!options.points.empty()) {
    DERM_TRY(head.points, headPoints(options.points, head, notes));
  } else if (arkitShapeCount(head) < kEnoughShapes) {
    DERM_CHECK(findMissingPoints(head, options.target.source, "--points", false, notes));
  }
  const Result<FaceMotion> played = addFaceMotion(motions, {}, how, head, notes);
  if (!played) {
    Error e = played.error();
    if (e.where.file.empty()) e.where.file = options.target.source;
    return e;
  }
  const PointTracks& tracks = played->points;
  if (head.clips.back().tracks.empty())
    return Error{ErrorCode::BadData,
                 fmt::format("nothing moves: {} frame{} as the face is at rest", tracks.frames(),
                             tracks.frames() == 1 ? "" : "s, all"),
                 {.file = options.motion.source}};
  DERM_CHECK(saveCharacter(head, options.output, notes));
  if (!options.tracks.empty()) DERM_CHECK(savePointTracks(options.tracks, tracks));
  if (!options.coefficients.empty()) {
    DERM_TRY(const ShapeTracks coefficients, faceCoefficients(*played, notes));
    DERM_CHECK(
        saveShapeTracks(options.coefficients, coefficients, ShapeTracksForm::LiveLink, notes));
  }
  say("{}: clip \"{}\", {} frames, {:.2f} s{}\n", options.output, head.clips.back().name,
      tracks.frames(), tracks.times_s.back(), tracks.head.empty() ? "" : ", the head moves");
  return {};
}

}  // namespace

void addFaceRetarget(CLI::App& face, Run& run) {
  const auto options = std::make_shared<RetargetOptions>();
  FaceMotionChoice& motion = options->motion;
  FaceMotionOptions& how = options->how;
  CLI::App* verb = face.add_subcommand("retarget", "the motion of one face played on another");
  verb->add_option(
          "SOURCE", motion.source,
          "a face in motion: a character with control points and a clip, cast:NAME, "
          "points over time (.csv, .json), ARKit coefficients (Live Link Face .csv, .json) or "
          "markers (.bvh)")
      ->required();
  options->target.addTo(*verb, "TARGET");
  verb->add_option(
      "--points", options->points,
      "JSON file of the target's control points; default those that it has, else found by "
      "shape");
  verb->add_option("--clip", motion.clip, "of the source: name or number; default the first");
  verb->add_option("--map", motion.map,
                   "table of marker names for a .bvh: lines \"source = target\"");
  verb->add_option("--regions", motion.regions,
                   "what moves: brows, eyes, nose, cheeks, mouth, jaw, left, right, mouth.left, "
                   "single points; with commas; default all");
  verb->add_option("--gain", options->gains, "REGION=FACTOR, with commas or several times")
      ->allow_extra_args(false);
  verb->add_option("--offset", motion.offset_s, "[s] starts later by so much");
  verb->add_option("--also", options->also,
                   "another source, for its regions: SOURCE:regions=eyes[:gain=eyes=0.8]"
                   "[:offset=0.2][:clip=NAME][:map=FILE]; several times; the last has its regions")
      ->allow_extra_args(false);
  verb->add_option("--kernel", options->kernel, "of the map between the faces")
      ->check(CLI::IsMember(kKernels))
      ->capture_default_str();
  verb->add_option("--amplitude", how.retarget.amplitude,
                   "0: all by the map, 1: in proportion to the faces' units; contacts stay")
      ->check(within(0, 1))
      ->capture_default_str();
  verb->add_option("--depth", options->depth,
                   "of points seen in a picture: map, or as the target's expressions go")
      ->check(CLI::IsMember(kDepths))
      ->capture_default_str();
  verb->add_flag("--fit-head", motion.fit_head,
                 "the head's motion is in the positions of a table: take it out by the eyes' "
                 "corners and the nose");
  verb->add_flag("--head,!--no-head", how.head, "the head moves too (default)");
  verb->add_option("--name", how.clip_name, "of the new clip; default the motion's");
  verb->add_option("--tracks", options->tracks,
                   "also writes the control points over time (.csv, .json)");
  verb->add_option("--coefficients", options->coefficients,
                   "also writes ARKit coefficients as Live Link Face does (.csv)");
  verb->add_flag("--rig", how.rig,
                 "coefficients move control points, also of a head that has ARKit's shapes");
  addOutput(*verb, options->output, ".glb or .gltf")->required();
  verb->footer(
      "example:\n"
      "  derm face retarget take.csv cast:toon -o toon.glb\n"
      "  derm face retarget cast:woman cast:toon --clip joy -o toon_joy.glb\n"
      "  derm face retarget talk.csv cast:man --also cast:woman:clip=blink:regions=eyes -o "
      "man.glb");
  setWork(*verb, run, options, writeRetargeted);
}

}  // namespace derm::cli
