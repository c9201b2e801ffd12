#include <array>
#include <limits>
#include <optional>
#include <string>

#include "derm/base/number_text.h"
#include "derm/deform/basic_layers.h"
#include "derm/io/gltf.h"
#include "derm/mesh/measures.h"

#include "scene/bake_output.h"
#include "scene/corrective_keys.h"
#include "scene/corrective_player.h"
#include "scene/motion_samples.h"

namespace derm::detail {
namespace {

/// Engines read four influences; most ignore further ones.
constexpr std::size_t kEngineInfluences = 4;
constexpr int kMaxAttempts = 8;
/// Of an error bound: what interpolation between keys may take; shapes need the rest.
constexpr double kBetweenShare = 0.5;
/// Of the bounding diagonal: the same where a number of shapes is asked for instead.
constexpr double kBetweenOfDiagonal = 0.0005;

/// Of the bounding diagonal: bounds below may be lost to rounding, whatever the keys.
constexpr double kNearRounding = 1e-5;

/// What is written, and what it plays like.
struct Outcome {
  Correctives fitted;
  Character character;
  PlayedFile played;
  Diagnostics said;
};

class CorrectivesOutput final : public BakeOutput {
 public:
  CorrectivesOutput(const BakeDesc& desc, const Scene& scene, CorrectiveFitter fitter,
                    std::shared_ptr<const Stack> plain, std::shared_ptr<const Stack> unskinned)
      : desc_(desc),
        scene_(scene),
        fitter_(std::move(fitter)),
        samples_(scene, std::move(plain), std::move(unskinned)) {}

  Result<void> add(const BakedFrame& frame) override {
    fitter_.addKey({.time_s = frame.time_s,
                    .palette = frame.palette,
                    .wanted = frame.wanted,
                    .plain = frame.plain,
                    .unskinned_normals = samples_.unskinnedNormals(frame.pose, frame.time_s)});
    return {};
  }

  Result<void> finish(BakeReport& report, Diagnostics& notes, const Progress& progress) override {
    noteInfluences(notes);
    DERM_CHECK(chooseKeys(progress));
    DERM_TRY(const Outcome best, find(progress));
    notes.merge(best.said);
    noteResult(best, notes);
    fillReport(best, report);
    return saveGltf(desc_.output, best.character, notes, filesOf(desc_));
  }

 private:
  Result<void> chooseKeys(const Progress& progress) {
    CorrectiveKeys keys(scene_, fitter_, samples_);
    const CorrectivesDesc& ask = desc_.correctives;
    const bool dense = ask.error_m || ask.shapes;
    keys.addChecks(dense);
    if (!dense) return {};
    const double diagonal_m = bounds(scene_.character()->mesh.positions).diagonal();
    if (ask.error_m && (*ask.error_m < kNearRounding * diagonal_m || outOfReach(*ask.error_m))) {
      // Before many keys are made for nothing.
      DERM_TRY(const Outcome all, make({}, progress));
      if (all.played.frames_m > *ask.error_m) return cannotKeep(all);
    }
    const double max_error_m =
        ask.error_m ? kBetweenShare * *ask.error_m : kBetweenOfDiagonal * diagonal_m;
    if (!keys.refine(max_error_m, progress)) return Error{ErrorCode::Cancelled, "cancelled", {}};
    return {};
  }

  /// Whether some frame cannot be had with any shapes: a limb twisted by half a turn.
  bool outOfReach(double bound_m) const {
    for (std::size_t i = 0; i < fitter_.instantCount(); ++i)
      if (fitter_.isKey(i) && fitter_.interpolationError(i) > bound_m) return true;
    return false;
  }

  /// As few shapes as keep the bound when played. Where keys are too far apart there will be more;
  /// where an engine's order of adding up rounds differently, that much less is asked for.
  Result<Outcome> find(const Progress& progress) {
    CorrectivesDesc ask = desc_.correctives;
    CorrectiveKeys keys(scene_, fitter_, samples_);
    for (int attempt = 1;; ++attempt) {
      DERM_TRY(Outcome out, make(ask, progress));
      if (!ask.error_m) return out;
      const double bound_m = *desc_.correctives.error_m;
      const bool at_keys = out.played.keys_m <= bound_m;
      if (at_keys && out.played.between_m <= bound_m) return out;
      if (attempt < kMaxAttempts && keys.splitAt(out.played.over_s)) continue;
      if (at_keys) return out;
      if (out.fitted.max_error_m > *ask.error_m) return cannotKeep(out);
      *ask.error_m -= 2 * (out.played.keys_m - out.fitted.max_error_m);
      if (!(*ask.error_m > 0) || attempt >= kMaxAttempts) break;
    }
    DERM_TRY(Outcome all, make({}, progress));
    if (all.played.keys_m > *desc_.correctives.error_m) return cannotKeep(all);
    return all;
  }

  Error cannotKeep(const Outcome& best) const {
    std::string message = "an error of " + millimetres(*desc_.correctives.error_m) +
                          " cannot be kept: played with all " +
                          std::to_string(best.fitted.shapes.size()) +
                          " shapes the file is still off by " + millimetres(best.played.keys_m);
    if (best.fitted.near_singular > 0)
      message += " (" + std::to_string(best.fitted.near_singular) +
                 " vertices were in near-singular poses)";
    return Error{ErrorCode::BadArgument, std::move(message), {.file = desc_.output.string()}};
  }

  Result<Outcome> make(const CorrectivesDesc& ask, const Progress& progress) {
    Outcome out;
    DERM_TRY(out.fitted, fitter_.fit(ask, progress));
    out.character = corrected(out.fitted, out.said);
    const Clip* clip = nullptr;
    if (clipIndex())
      clip = &out.character.clips[*clipIndex()];
    else if (!out.character.clips.empty())
      clip = &out.character.clips.back();
    const double bound_m =
        desc_.correctives.error_m.value_or(std::numeric_limits<double>::infinity());
    DERM_TRY(out.played,
             CorrectivePlayer(scene_, fitter_, samples_).play(out.character, clip, bound_m));
    return out;
  }

  std::optional<std::size_t> clipIndex() const {
    if (scene_.clip() == nullptr) return std::nullopt;
    return static_cast<std::size_t>(scene_.clip() - scene_.character()->clips.data());
  }

  Character corrected(const Correctives& fitted, Diagnostics& notes) const {
    std::optional<double> loop_end_s;
    if (scene_.recipe().loop) loop_end_s = scene_.playback().desc().end_s;
    if (clipIndex() || fitted.times_s.size() == 1)
      return withCorrectives(*scene_.character(), fitted, clipIndex(), loop_end_s, notes);
    // The rest pose held over time has no clip that could carry weights.
    Character with_clip = *scene_.character();
    with_clip.clips.push_back({.name = "derm"});
    return withCorrectives(with_clip, fitted, with_clip.clips.size() - 1, loop_end_s, notes);
  }

  static void fillReport(const Outcome& best, BakeReport& report) {
    report.correctives = BakeReport::Correctives{.shapes = best.fitted.shapes.size(),
                                                 .keys = best.fitted.times_s.size(),
                                                 .max_error_m = best.played.frames_m,
                                                 .rms_error_m = best.played.frames_rms_m,
                                                 .max_error_between_m = best.played.between_m,
                                                 .volume_change = best.played.volume_change,
                                                 .near_singular = best.fitted.near_singular};
    for (std::size_t f = 0; f < report.frames.size(); ++f)
      report.frames[f].played_volume_m3 = best.played.frame_volumes_m3[f];
  }

  void noteInfluences(Diagnostics& notes) const {
    const Skin& skin = scene_.character()->skin;
    for (std::size_t v = 0; v < skin.vertexCount(); ++v)
      if (skin[v].size() > kEngineInfluences)
        notes.warn("more-than-4-influences", "skin",
                   "follows more than 4 joints; many engines read 4 and will show it elsewhere", v);
  }
  void noteResult(const Outcome& best, Diagnostics& notes) const {
    const Correctives& fitted = best.fitted;
    const std::optional<double> bound_m = desc_.correctives.error_m;
    if (bound_m && best.played.between_m > *bound_m)
      notes.warn("off-between-frames", "correctives",
                 "between frames the file is up to " + millimetres(best.played.between_m) +
                     " off (at " + shortNumber(best.played.between_s, 3) +
                     " s), more than asked for: the skin changes faster than keys can follow");
    if (fitted.shapes.empty())
      notes.info("nothing-to-correct", "correctives",
                 "the result is plain linear skinning; no shape was added");
    if (!fitted.unit_weights)
      notes.warn("negative-weight", "correctives",
                 "a single shape needs weights below 0, which some programs cut off; two do not");
    const std::optional<std::size_t> asked = desc_.correctives.shapes;
    if (asked && !fitted.shapes.empty() && fitted.shapes.size() < *asked)
      notes.info(
          "fewer-shapes", "correctives",
          "the motion has only " + std::to_string(fitted.shapes.size()) + " independent shapes");
    if (fitted.near_singular > 0)
      notes.warn("near-singular", "correctives",
                 std::to_string(fitted.near_singular) +
                     " times a vertex's blended matrix was nearly flat (a strong twist); its "
                     "correction is damped there");
  }

  const BakeDesc& desc_;
  const Scene& scene_;
  CorrectiveFitter fitter_;
  MotionSamples samples_;
};

}  // namespace

Result<std::unique_ptr<BakeOutput>> openCorrectivesOutput(const BakeDesc& desc, const Scene& scene,
                                                          std::shared_ptr<const Stack> plain) {
  if (&scene.stack().output() != &scene.stack().input())
    for (const auto& layer : scene.stack().layers())
      if (layer->output() != nullptr)
        return Error{
            ErrorCode::BadArgument,
            "layer \"" + layer->name() + "\" (" + layer->type() +
                ") changes the triangles, which corrective shapes cannot; bake a cache, or "
                "disable it",
            {.file = desc.output.string()}};
  DERM_TRY(CorrectiveFitter fitter,
           CorrectiveFitter::make(scene.character(), scene.frameTimes().size()));
  std::shared_ptr<const Stack> unskinned;
  if (!scene.character()->morphs.empty()) {
    Diagnostics said_already;
    DERM_TRY(unskinned, Stack::bind(scene.character(), std::array{morphLayer()}, said_already));
  }
  return std::unique_ptr<BakeOutput>(std::make_unique<CorrectivesOutput>(
      desc, scene, std::move(fitter), std::move(plain), std::move(unskinned)));
}

}  // namespace derm::detail
