#include "derm/scene/bake.h"

#include "scene/bake_output.h"
#include "scene/baked_frames.h"

namespace derm {
namespace {

/// Share of the progress that goes to making frames; the rest is finding shapes and writing.
constexpr double kFramesShare = 0.8;

Error cancelled(const BakeDesc& desc) {
  return Error{ErrorCode::Cancelled,
               "cancelled; the output was not changed",
               {.file = desc.output.string()}};
}

}  // namespace

Result<BakeReport> bake(const BakeDesc& desc, Diagnostics& notes, const Progress& progress) {
  DERM_CHECK(detail::checkOutput(desc));
  if (!keepGoing(progress, 0.0, "opening")) return cancelled(desc);
  DERM_TRY(Scene scene, openScene(desc.recipe, desc.scene, notes));
  DERM_CHECK(scene.keepChannels(desc.channels));
  if (scene.stack().output().rest.vertexCount() == 0)
    return Error{
        ErrorCode::BadData, "the character has no vertices", {.file = scene.character()->name}};
  std::shared_ptr<const Stack> plain;
  if (desc.measure || desc.as == BakeAs::Correctives) {
    DERM_TRY(plain, scene.linearReferenceStack());
  }
  DERM_TRY(const std::unique_ptr<detail::BakeOutput> output,
           detail::openOutput(desc, scene, plain));
  std::unique_ptr<OutputFile> report_file;
  if (desc.report) {
    DERM_TRY(report_file, detail::filesOf(desc).create(*desc.report));
  }
  detail::BakedFrames frames(scene, plain, desc.measure);
  for (std::size_t i = 0; i < frames.count(); ++i) {
    const double done = static_cast<double>(i) / static_cast<double>(frames.count());
    if (!keepGoing(progress, kFramesShare * done, "frames")) return cancelled(desc);
    DERM_CHECK(output->add(frames.make(i)));
  }
  BakeReport report{.character = scene.character()->name,
                    .clip = scene.clip() != nullptr ? scene.clip()->name : "",
                    .output = desc.output.string(),
                    .as = desc.as == BakeAs::Cache ? "cache" : "correctives",
                    .fps = scene.recipe().fps};
  frames.fill(report);
  const Progress rest = [&](double fraction, std::string_view stage) {
    return keepGoing(progress, kFramesShare + (1 - kFramesShare) * fraction, stage);
  };
  if (!rest(0.0, "writing")) return cancelled(desc);
  scene.playback().report(notes);
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
