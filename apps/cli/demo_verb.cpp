#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "derm/cast/cast.h"
#include "derm/deform/pose_character.h"
#include "derm/deform/skinning.h"
#include "derm/io/character_file.h"
#include "derm/mesh/measures.h"

#include "terminal.h"
#include "verbs.h"

namespace derm::cli {
namespace {

constexpr std::array kMethods = {SkinningMethod::Rigid, SkinningMethod::Linear,
                                 SkinningMethod::DualQuaternion};
constexpr float kRate_hz = 60;

/// How the volume of one clip fares under one method.
struct VolumeLoss {
  double worst = 0;  ///< largest |V / V_rest - 1|, with its sign
  double mean = 0;   ///< mean of |V / V_rest - 1|
  float worst_time_s = 0;
};

Result<VolumeLoss> measureClip(const Character& c, const Clip& clip, SkinningMethod method,
                               const Progress& progress) {
  Diagnostics notes;
  DERM_TRY(const SkinningBinding binding, SkinningBinding::bind({.positions = c.mesh.positions},
                                                                c.skin, {.method = method}, notes));
  SkinningScratch scratch = binding.makeScratch();
  std::vector<Vec3f> positions(c.mesh.vertexCount());
  std::vector<Affine3d> model(c.skeleton.size());
  std::vector<Affine3f> palette(c.skin.slots.size());
  const double rest = volume(c.mesh.positions, c.mesh.triangles);
  const auto frames = static_cast<int>(clip.duration_s() * kRate_hz) + 1;
  VolumeLoss loss;
  for (int f = 0; f < frames; ++f) {
    if (!keepGoing(progress, double(f) / frames, name(method)))
      return Error{ErrorCode::Cancelled, "stopped", {}};
    const float time_s = float(f) / kRate_hz;
    Pose pose = c.restPose();
    sampleClip(clip, time_s, pose);
    localToModel(c.skeleton, pose.local, model);
    skinningMatrices(c.skin, model, palette);
    binding.evaluate(palette, scratch, {.positions = positions});
    const double change = volume(positions, c.mesh.triangles) / rest - 1;
    loss.mean += std::abs(change) / frames;
    if (std::abs(change) > std::abs(loss.worst)) {
      loss.worst = change;
      loss.worst_time_s = time_s;
    }
  }
  return loss;
}

Result<void> runDemo(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return Error{ErrorCode::CannotWrite, failed.message(), {.file = folder.string()}};
  DERM_TRY(const Character cat, makeCastMember("cat"));
  DERM_TRY(const std::size_t jump_index, cat.findClip("jump"));
  const Clip& jump = cat.clips[jump_index];
  Diagnostics notes;
  DERM_CHECK(saveCharacter(cat, folder / "cat.glb", notes));
  fmt::print(
      "The cat's jump, {} vertices, {} triangles, {:.2f} s at {} Hz: what each skinning\n"
      "method does to its volume.\n\n{:<18} {:>14} {:>14} {:>10}  {}\n",
      cat.mesh.vertexCount(), cat.mesh.triangles.size(), jump.duration_s(), kRate_hz, "method",
      "worst change", "mean change", "at", "file");
  for (const SkinningMethod method : kMethods) {
    ProgressBar bar("demo");
    DERM_TRY(const VolumeLoss loss, measureClip(cat, jump, method, bar.callback()));
    Pose pose = cat.restPose();
    sampleClip(jump, loss.worst_time_s, pose);
    DERM_TRY(TriMesh posed, poseCharacter(cat, pose, method));
    const std::filesystem::path file = folder / fmt::format("cat-jump-{}.glb", name(method));
    DERM_CHECK(saveCharacter(frozen(cat, std::move(posed)), file, notes));
    fmt::print("{:<18} {:>12.2f} % {:>12.2f} % {:>8.2f} s  {}\n", name(method), 100 * loss.worst,
               100 * loss.mean, loss.worst_time_s, file.string());
  }
  printWarnings(notes);
  fmt::print("\nWritten to {}: cat.glb with its clips plays in any glTF viewer.\n",
             folder.string());
  return {};
}

}  // namespace

void addDemoVerb(CLI::App& app, Run& run) {
  const auto folder = std::make_shared<std::string>("out/demo");
  CLI::App* verb = app.add_subcommand("demo", "the main job on the built-in cast; needs no input");
  verb->add_option("-o,--output", *folder, "folder for the results")->capture_default_str();
  verb->footer("example:\n  derm demo");
  verb->callback([&run, folder] {
    run = [folder] {
      const Result<void> done = runDemo(*folder);
      return done ? kDone : report(done.error());
    };
  });
}

}  // namespace derm::cli
