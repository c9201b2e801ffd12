#include "derm/scene/bake.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "scene/bake_output.h"
#include "scene/baked_frames.h"

namespace derm {
namespace {

/// Share of the progress that goes to making frames; the rest is writing, or finding shapes, which
/// looks between the frames and takes longer than they do.
constexpr double kFramesShare = 0.95, kFramesShareOfShapes = 0.25;

Error cancelled(const BakeDesc& desc) {
  return Error{ErrorCode::Cancelled,
               "cancelled; the output was not changed",
               {.file = desc.output.string()}};
}

/// The clips asked for, each once.
Result<std::vector<std::size_t>> clipNumbers(const BakeDesc& desc, const Character& character) {
  const auto bad = [&](std::string message) {
    return Error{ErrorCode::BadArgument, std::move(message), desc.recipe.where("clip")};
  };
  std::vector<std::size_t> out;
  const auto add = [&](std::size_t clip) {
    if (std::find(out.begin(), out.end(), clip) == out.end()) out.push_back(clip);
  };
  for (const std::string& name : desc.clips) {
    const Result<std::size_t> found = character.findClip(name);
    if (found)
      add(*found);
    else if (name != "all")
      return bad(found.error().message);
    else if (character.clips.empty())
      return bad("the character has no clips");
    else
      for (std::size_t c = 0; c < character.clips.size(); ++c) add(c);
  }
  if (out.size() > 1 && desc.recipe.range_s)
    return bad("a range is one clip's; several clips are baked whole");
  return out;
}

/// One scene per clip.
Result<std::vector<Scene>> openScenes(const BakeDesc& desc, Diagnostics& notes) {
  std::vector<Scene> out;
  Recipe recipe = desc.recipe;
  if (desc.clips.empty()) {
    DERM_TRY(Scene only, openScene(recipe, desc.scene, notes));
    out.push_back(std::move(only));
    return out;
  }
  recipe.clip = "";  // what clips there are is known when the character is
  DERM_TRY(const Scene rest, openScene(recipe, desc.scene, notes));
  DERM_TRY(const std::vector<std::size_t> clips, clipNumbers(desc, *rest.character()));
  for (const std::size_t clip : clips) {
    recipe.clip = static_cast<std::int64_t>(clip);
    DERM_TRY(Scene scene, rest.another(recipe, notes));
    out.push_back(std::move(scene));
  }
  return out;
}

/// The scenes without the layers that refine the surface.
Result<std::vector<Scene>> withoutFolds(std::span<const Scene> scenes, const BakeDesc& desc,
                                        Diagnostics& notes) {
  std::vector<std::string> types;
  for (const auto& layer : scenes.front().stack().layers())
    if (layer->output() != nullptr) types.push_back(layer->type());
  if (types.empty())
    return Error{ErrorCode::BadArgument,
                 "no layer refines the skin: there are no folds to make normal maps of",
                 {.file = desc.output.string()}};
  std::vector<Scene> out;
  for (const Scene& scene : scenes) {
    Recipe recipe = scene.recipe();
    for (RecipeLayer& layer : recipe.layers)
      if (std::find(types.begin(), types.end(), layer.type) != types.end()) layer.enabled = false;
    DERM_TRY(Scene smooth, scene.another(recipe, notes));
    out.push_back(std::move(smooth));
  }
  return out;
}

std::string_view nameOf(BakeAs as) {
  if (as == BakeAs::Cache) return "cache";
  return as == BakeAs::Correctives ? "correctives" : "normal-maps";
}

std::string clipName(const Scene& scene) {
  return scene.clip() != nullptr ? scene.clip()->name : "";
}

}  // namespace

Result<BakeReport> bake(const BakeDesc& desc, Diagnostics& notes, const Progress& progress) {
  DERM_CHECK(detail::checkOutput(desc));
  if (!keepGoing(progress, 0.0, "opening")) return cancelled(desc);
  DERM_TRY(std::vector<Scene> scenes, openScenes(desc, notes));
  std::vector<Scene> folded;
  if (desc.as == BakeAs::NormalMaps) {
    DERM_TRY(std::vector<Scene> smooth, withoutFolds(scenes, desc, notes));
    folded = std::exchange(scenes, std::move(smooth));
  }
  Scene& first = scenes.front();
  DERM_CHECK(first.keepChannels(desc.channels));
  if (first.stack().output().rest.vertexCount() == 0)
    return Error{
        ErrorCode::BadData, "the character has no vertices", {.file = first.character()->name}};
  std::shared_ptr<const Stack> plain;
  if (desc.measure) {
    DERM_TRY(plain, first.linearReferenceStack());
  }
  DERM_TRY(const std::unique_ptr<detail::BakeOutput> output,
           detail::openOutput(desc, scenes, folded));
  std::unique_ptr<OutputFile> report_file;
  if (desc.report) {
    DERM_TRY(report_file, detail::filesOf(desc).create(*desc.report));
  }
  BakeReport report{.character = first.character()->name,
                    .clip = scenes.size() == 1 ? clipName(first) : "",
                    .output = desc.output.string(),
                    .as = std::string(nameOf(desc.as)),
                    .fps = first.recipe().fps};
  const double frames_share = desc.as == BakeAs::Cache ? kFramesShare : kFramesShareOfShapes;
  std::size_t frame_count = 0, frames_made = 0;
  for (const Scene& scene : scenes) frame_count += scene.frameTimes().size();
  for (std::size_t c = 0; c < scenes.size(); ++c) {
    if (scenes.size() > 1) report.clips.push_back(clipName(scenes[c]));
    detail::BakedFrames frames(scenes[c], c, plain, desc.measure);
    for (std::size_t i = 0; i < frames.count(); ++i) {
      const double done = static_cast<double>(frames_made++) / static_cast<double>(frame_count);
      if (!keepGoing(progress, frames_share * done, "frames")) return cancelled(desc);
      DERM_CHECK(output->add(frames.make(i)));
    }
    frames.fill(report);
  }
  const Progress rest = [&](double fraction, std::string_view stage) {
    return keepGoing(progress, frames_share + (1 - frames_share) * fraction, stage);
  };
  if (!rest(0.0, "writing")) return cancelled(desc);
  for (const Scene& scene : scenes) scene.playback().report(notes);
  DERM_CHECK(output->finish(report, notes, rest));
  for (const Diagnostics::Note& note : notes.notes()) report.notes.push_back(note.text());
  if (report_file) {
    DERM_CHECK(report_file->append(toJson(report)));
    DERM_CHECK(report_file->commit());
  }
  keepGoing(progress, 1.0, "done");
  return report;
}

}  // namespace derm
