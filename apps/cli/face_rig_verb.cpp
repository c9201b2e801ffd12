#include <map>

#include <fmt/format.h>

#include "derm/face/face_rig.h"
#include "derm/io/character_file.h"

#include "character_input.h"
#include "face_verbs.h"
#include "head_matching.h"
#include "output_checks.h"

namespace derm::cli {
namespace {

const std::map<std::string, ZoneBlend> kBlends = {{"interpolating", ZoneBlend::Interpolating},
                                                  {"residual", ZoneBlend::Residual},
                                                  {"normalised", ZoneBlend::Normalised}};

struct RigOptions {
  CharacterInput input;
  std::string points;
  bool upright = false;
  std::string output;
  std::string blend = "residual";
  std::vector<std::string> zones;
  FaceRigDesc desc;
};

/// "8.1=1.2" or "8.1=1.2,1,1"
Result<ZoneScale> zoneScale(const std::string& text) {
  const auto bad = [&] {
    return Error{ErrorCode::BadArgument,
                 "\"" + text + "\" is not POINT=FACTOR or POINT=SIDEWAYS,UP,FORWARD",
                 {.element = "--zone"}};
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return bad();
  std::vector<double> factors;
  std::string_view rest = std::string_view(text).substr(equals + 1);
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::optional<double> factor = numberOf(rest.substr(0, comma));
    if (!factor) return bad();
    factors.push_back(*factor);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (factors.size() == 1) factors.resize(3, factors[0]);
  if (factors.size() != 3) return bad();
  return ZoneScale{text.substr(0, equals), Vec3d(factors[0], factors[1], factors[2])};
}

Result<void> writeRigged(const RigOptions& options, Diagnostics& notes) {
  FaceRigDesc desc = options.desc;
  desc.weights.blend = kBlends.at(options.blend);
  for (const std::string& text : options.zones) {
    DERM_TRY(ZoneScale scale, zoneScale(text));
    desc.weights.zone_scales.push_back(std::move(scale));
  }
  DERM_CHECK(checkWritableRig(options.output));
  DERM_CHECK(checkOutputs({options.output}));
  DERM_CHECK(checkNotAnInput({options.output}, {options.input.source, options.points}));
  DERM_TRY(Character character, options.input.load(notes));
  if (!options.points.empty()) {
    DERM_TRY(character.points, headPoints(options.points, character, notes));
  }
  DERM_TRY(HeadProxy proxy, proxyOf(character, options.input.source, notes));
  if (options.points.empty())
    DERM_CHECK(
        findMissingPoints(proxy.head(), options.input.source, "--points", options.upright, notes));
  const Result<FaceRig> rig = addFaceRig(proxy.head(), desc, notes);
  if (!rig) {
    Error e = rig.error();
    if (e.where.file.empty())
      e.where.file = options.points.empty() ? options.input.source : options.points;
    return e;
  }
  DERM_CHECK(proxy.keepRig(*rig, desc.weights.max_influences, notes));
  DERM_CHECK(saveCharacter(character, options.output, notes));
  std::size_t followers = 0;
  std::vector<bool> of_rig(character.skeleton.size());
  for (const JointId joint : rig->joints) of_rig[joint.index()] = true;
  for (std::size_t v = 0; v < character.skin.vertexCount(); ++v)
    for (const Influence& i : character.skin[v])
      if (of_rig[character.skin.slots[i.slot].joint.index()]) {
        ++followers;
        break;
      }
  say("{}: {} control joints under \"{}\", {} of {} vertices follow them\n", options.output,
      rig->joints.size(), character.skeleton[rig->head].name, followers,
      character.mesh.vertexCount());
  return {};
}

}  // namespace

void addFaceRig(CLI::App& face, Run& run) {
  const auto options = std::make_shared<RigOptions>();
  FaceRigDesc& desc = options->desc;
  CLI::App* verb = face.add_subcommand("rig", "control joints for a head, from 28 control points");
  options->input.addTo(*verb, "HEAD");
  verb->add_option("--points", options->points,
                   "JSON file of control points; default those that the head has, else found by "
                   "its shape");
  verb->add_flag("--upright", options->upright,
                 "the head stands along +y and looks along +z, where its points must be found");
  addOutput(*verb, options->output, ".glb or .gltf")->required();
  verb->add_option("--head-joint", desc.head_joint,
                   "of a character with a skin: what carries the face; default the joint that it "
                   "follows most")
      ->type_name("JOINT");
  verb->add_option(
          "--zone", options->zones,
          "a point's reach over the rule's: POINT=FACTOR or POINT=SIDEWAYS,UP,FORWARD; may "
          "be given several times")
      ->type_name("POINT=FACTOR");
  verb->add_option(
          "--blend", options->blend,
          "how zones share: residual (smooth; clips are exact), interpolating (joints posed "
          "by hand are) or normalised (of the thesis; tears)")
      ->check(CLI::IsMember(kBlends))
      ->capture_default_str();
  verb->add_option("--max-influences", desc.weights.max_influences, "per vertex")
      ->check(CLI::Range(2, 29))
      ->capture_default_str();
  verb->add_flag("--sides,!--no-sides", desc.weights.separate_sides,
                 "upper lip and lid do not follow the lower ones (default)");
  verb->add_flag("--clips,!--no-clips", desc.clips, "a clip for each of the expressions (default)");
  verb->footer(
      "example:\n"
      "  derm face rig head.obj --unit cm --points head.json -o rigged.glb\n"
      "  derm face rig cast:head-a --zone 2.1=1.3 -o rigged.glb");
  setWork(*verb, run, options, writeRigged);
}

}  // namespace derm::cli
