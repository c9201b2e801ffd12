#include <cmath>
#include <filesystem>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "derm/deform/pose_character.h"
#include "derm/io/character_file.h"

#include "character_input.h"
#include "output_checks.h"
#include "terminal.h"
#include "verbs.h"

namespace derm::cli {
namespace {

struct PoseOptions {
  CharacterInput input;
  MotionInput motion;
  std::optional<std::string> clip;  ///< as given; empty = the rest pose, as in a recipe
  float time_s = 0;
  std::string method = "linear";
  std::string output;
};

/// The pose asked for; without any clip, and none named, the rest pose.
Result<Pose> poseOf(const Character& c, const PoseOptions& options, Diagnostics& notes) {
  if (!std::isfinite(options.time_s))
    return Error{ErrorCode::BadArgument, "--time must be a finite number of seconds", {}};
  Pose pose = c.restPose();
  if (options.clip == "") return pose;
  if (c.clips.empty() && !options.clip) {
    notes.warn("no-clip", c.name, "has no clip: its rest pose is written");
    return pose;
  }
  std::size_t index = options.motion.file.empty() ? 0 : c.clips.size() - 1;
  if (options.clip) {
    DERM_TRY(index, c.findClip(*options.clip));
  }
  const Clip& clip = c.clips[index];
  if (options.time_s < 0 || options.time_s > clip.duration_s())
    notes.warn("time-outside-clip", clip.name,
               fmt::format("{:g} s is outside the clip (0 to {:g} s): its end pose is used",
                           options.time_s, clip.duration_s()));
  sampleClip(clip, options.time_s, pose);
  return pose;
}

Result<void> writePosed(const PoseOptions& options, Diagnostics& notes) {
  DERM_TRY(const SkinningMethod method, parseSkinningMethod(options.method));
  DERM_CHECK(checkWritable(options.output));
  DERM_CHECK(checkOutputs({options.output}));
  DERM_CHECK(checkNotAnInput({options.output},
                             {options.input.source, options.motion.file, options.motion.map}));
  DERM_TRY(Character character, options.input.load(notes));
  DERM_CHECK(options.motion.applyTo(character, notes));
  DERM_TRY(const Pose pose, poseOf(character, options, notes));
  DERM_TRY(TriMesh posed, poseCharacter(character, pose, method));
  return saveCharacter(frozen(character, std::move(posed)), options.output, notes);
}

}  // namespace

void addPoseVerb(CLI::App& app, Run& run) {
  const auto options = std::make_shared<PoseOptions>();
  CLI::App* verb = app.add_subcommand("pose", "the deformed mesh of one instant");
  options->input.addTo(*verb);
  // An optional of its own would take "" for nothing at all.
  verb->add_option_function<std::string>(
      "--clip", [options](const std::string& given) { options->clip = given; },
      "name or number; \"\" is the rest pose; default the first (or --motion's)");
  verb->add_option("--time", options->time_s, "[s] instant in the clip")->capture_default_str();
  verb->add_option("--method", options->method, "rigid, linear, dual-quaternion or centre")
      ->capture_default_str();
  options->motion.addTo(*verb);
  addOutput(*verb, options->output, ".glb, .gltf or .obj")->required();
  verb->footer("example:\n  derm pose cast:cat --clip jump --time 0.6 --method linear -o leap.obj");
  setWork(*verb, run, options, writePosed);
}

}  // namespace derm::cli
