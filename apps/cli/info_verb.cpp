#include <optional>

#include <fmt/format.h>

#include "derm/scene/motion.h"

#include "character_input.h"
#include "character_report.h"
#include "terminal.h"
#include "verbs.h"

namespace derm::cli {
namespace {

/// Every pair on a line of its own, as a table for --map has them.
std::string motionText(const std::string& file, const MotionMatch& match) {
  std::string out = fmt::format("motion       {}: {}\n", file, match.text());
  for (const auto& [source, target] : match.pairs)
    out += fmt::format("             {} = {}\n", source, target);
  for (const std::string& source : match.source_left)
    out += fmt::format("             {} moves nothing\n", source);
  return out;
}

}  // namespace

void addInfoVerb(CLI::App& app, Run& run) {
  struct Options {
    CharacterInput input;
    std::string motion, map;
    bool json = false;
    bool joints = false;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("info", "what is in a file, and what was assumed about it");
  options->input.addTo(*verb);
  verb->add_flag("--joints", options->joints, "the names of all joints, as a tree");
  CLI::Option* motion = verb->add_option(
      "--motion", options->motion, "which joints the motion of this file would move, and which not");
  verb->add_option("--map", options->map, "table of joint names for --motion")->needs(motion);
  verb->add_flag("--json", options->json, "for machines; holds the joints too");
  verb->footer("examples:\n  derm info walk.glb --json\n  derm info body.glb --motion walk.bvh");
  verb->callback([&run, options] {
    run = [options] {
      Diagnostics notes;
      const Result<Character> character = options->input.load(notes);
      if (!character) return report(character.error());
      std::optional<MotionMatch> match;
      if (!options->motion.empty()) {
        Result<MotionMatch> found =
            matchMotion(options->motion, options->map, {}, *character, notes);
        if (!found) return report(found.error());
        match = *std::move(found);
      }
      const CharacterReport r = measure(options->input.source, *character, notes);
      if (options->json) {
        nlohmann::json json = toJson(r);
        if (match)
          json["motion"] = {{"file", options->motion},
                            {"matched", match->pairs},
                            {"moves_nothing", match->source_left},
                            {"stays_at_rest", match->target_left}};
        // File names and joint names may hold any bytes; JSON may not.
        fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
        return kDone;
      }
      fmt::print("{}\n", toText(r));
      if (match) fmt::print("\n{}", motionText(options->motion, *match));
      if (options->joints) fmt::print("\n{}", jointTree(character->skeleton));
      return kDone;
    };
  });
}

}  // namespace derm::cli
