#include <algorithm>

#include "derm/io/character_file.h"
#include "derm/weights/character_weights.h"

#include "character_input.h"
#include "output_checks.h"
#include "terminal.h"
#include "verbs.h"

namespace derm::cli {
namespace {

struct WeightsOptions {
  CharacterInput input;
  CharacterInput rig;  ///< whose skeleton is taken; no source = the character's own
  std::string method = "heat";
  std::string distance_to = "segments";
  AutoWeightsDesc desc;
  std::string output;
};

/// Takes skeleton and motions of another character, for a mesh that has none.
void adoptSkeleton(Character& mesh, const Character& rig) {
  mesh.skeleton = rig.skeleton;
  mesh.clips = rig.clips;
  for (Clip& clip : mesh.clips)
    std::erase_if(clip.tracks, [](const Track& t) { return t.channel == Channel::MorphWeights; });
  mesh.skin = {};
  mesh.joint_source.clear();
  mesh.source.reset();
  for (MeshInstance& m : mesh.instances) {
    m.joint = JointId();
    m.rigid = false;
    m.source_mesh = m.source_skin = -1;
  }
}

Result<void> writeWeighted(const WeightsOptions& given, Diagnostics& notes) {
  WeightsOptions options = given;
  ProgressBar bar("weights");
  const Progress progress = bar.callback();
  DERM_TRY(options.desc.method, weightMethodNamed(options.method));
  if (options.distance_to == "joints") options.desc.to = DistanceTo::JointPoints;
  DERM_CHECK(validate(options.desc));
  DERM_CHECK(checkWritableRig(options.output));
  DERM_CHECK(checkOutputs({options.output}));
  DERM_CHECK(checkNotAnInput({options.output}, {options.input.source, options.rig.source}));
  DERM_TRY(Character character, options.input.load(notes));
  if (options.rig.source.empty()) {
    if (!hasSkeleton(character))
      return Error{ErrorCode::BadArgument,
                   "has no skeleton; --skeleton FILE takes one from another file",
                   {.file = options.input.source}};
    DERM_TRY(character.skin, autoWeights(character, {}, options.desc, notes, progress));
  } else {
    // Two files, two units: --unit is about the mesh alone.
    DERM_TRY(const Character rig, options.rig.load(notes));
    adoptSkeleton(character, rig);
    const std::vector<JointId> bones = defaultBones(rig);
    const std::vector<Affine3d> bind_model = bindModelMatrices(rig);
    checkSkeletonSize(character.mesh, bones, bind_model, options.rig.source, notes);
    DERM_TRY(character.skin, autoWeights(character.mesh, character.skeleton, bones, bind_model,
                                         options.desc, notes, progress));
  }
  // A mesh that only hung beside its skeleton now has weights of its own (see autoWeights).
  const bool all_rigid = std::all_of(character.instances.begin(), character.instances.end(),
                                     [](const MeshInstance& m) { return m.rigid; });
  for (MeshInstance& m : character.instances) m.rigid = m.rigid && !all_rigid;
  return saveCharacter(character, options.output, notes);
}

}  // namespace

void addWeightsVerb(CLI::App& app, Run& run) {
  const auto options = std::make_shared<WeightsOptions>();
  AutoWeightsDesc& desc = options->desc;
  CLI::App* verb = app.add_subcommand("weights", "automatic skin weights");
  options->input.addTo(*verb);
  CLI::Option* skeleton = verb->add_option(
      "--skeleton", options->rig.source, "take the skeleton of this file (for a mesh without one)");
  verb->add_option("--skeleton-unit", options->rig.unit,
                   "length of one unit of the --skeleton file, as --unit is for the mesh")
      ->needs(skeleton);
  verb->add_option("--method", options->method,
                   "nearest, linear, inverse-distance, heat or geodesic")
      ->capture_default_str();
  verb->add_option("--to", options->distance_to, "measure distance to bone segments or joints")
      ->check(CLI::IsMember({"segments", "joints"}))
      ->capture_default_str();
  verb->add_option("--exponent", desc.exponent, "inverse-distance, geodesic: higher is stiffer")
      ->capture_default_str();
  verb->add_option("--heat-transfer", desc.heat_transfer, "heat: higher is stiffer")
      ->capture_default_str();
  verb->add_option("--blend-length", desc.blend_length, "linear: share of a bone that blends")
      ->capture_default_str();
  verb->add_option("--max-influences,--influences", desc.max_influences, "per vertex")
      ->capture_default_str();
  verb->add_option("--smallest", desc.smallest, "weights below are dropped")->capture_default_str();
  verb->add_option("--smooth", desc.smoothing_passes, "smoothing passes")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  addOutput(*verb, options->output, ".glb or .gltf")->required();
  verb->footer(
      "example:\n  derm weights body.glb --method heat --max-influences 4 -o weighted.glb");
  setWork(*verb, run, options, writeWeighted);
}

}  // namespace derm::cli
