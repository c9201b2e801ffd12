#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "derm/base/number_text.h"
#include "derm/io/gltf.h"
#include "derm/mesh/measures.h"

#include "scene/bake_output.h"
#include "scene/bake_target.h"
#include "scene/corrective_keys.h"
#include "scene/corrective_player.h"
#include "scene/fold_maps.h"
#include "scene/motion_samples.h"

namespace derm::detail {
namespace {

/// Engines read four influences; most ignore further ones.
constexpr std::size_t kEngineInfluences = 4;
constexpr int kMaxAttempts = 8;
/// Of the progress: what choosing keys takes, and shapes where normal maps come after them.
constexpr double kKeysShare = 0.6, kShapesShareOfMaps = 0.5;
/// Of an error bound: what interpolation between keys may take; shapes need the rest.
constexpr double kBetweenShare = 0.5;
/// Of the bounding diagonal: the same where a number of shapes is asked for instead.
constexpr double kBetweenOfDiagonal = 0.0005;

/// Of the bounding diagonal: bounds below may be lost to rounding, whatever the keys.
constexpr double kNearRounding = 1e-5;

/// What is written, and what it plays like.
struct Outcome {
  Correctives fitted;
  std::shared_ptr<const Character> character;
  std::vector<PlayedFile> clips;  ///< one per scene
  PlayedFile played;              ///< all of them
  Diagnostics said;
};

class CorrectivesOutput final : public BakeOutput {
 public:
  CorrectivesOutput(const BakeDesc& desc, std::span<const Scene> scenes,
                    std::span<const Scene> folded, BakeTarget target, CorrectiveFitter fitter)
      : desc_(desc),
        scenes_(scenes),
        folded_(folded),
        target_(std::move(target)),
        fitter_(std::move(fitter)) {
    for (std::size_t c = 0; c < scenes.size(); ++c) samples_.emplace_back(scenes[c], target_, c);
  }

  Result<void> add(const BakedFrame& frame) override {
    fitter_.addKey(samples_[frame.clip].of(frame.pose, frame.time_s, frame.wanted));
    return {};
  }

  Result<void> finish(BakeReport& report, Diagnostics& notes, const Progress& progress) override {
    const double shapes = folded_.empty() ? 1 : kShapesShareOfMaps;
    DERM_CHECK(chooseKeys(part(progress, 0, kKeysShare * shapes)));
    DERM_TRY(const Outcome best, find(part(progress, kKeysShare * shapes, shapes)));
    notes.merge(best.said);
    noteResult(best, notes);
    DERM_TRY(const double four_m, errorOfFourInfluences(best));
    noteInfluences(best, four_m, notes);
    fillReport(best, four_m, report);
    if (folded_.empty()) return saveGltf(desc_.output, *best.character, notes, filesOf(desc_));
    Character with_maps = *best.character;
    DERM_TRY(report.fold_maps, addFoldMaps(folded_, scenes_, desc_.fold_maps, with_maps, notes,
                                           part(progress, shapes, 1)));
    return saveGltf(desc_.output, with_maps, notes, filesOf(desc_));
  }

 private:
  /// The share of a progress from one fraction to another.
  static Progress part(const Progress& whole, double from, double to) {
    return [&whole, from, to](double fraction, std::string_view stage) {
      return keepGoing(whole, from + (to - from) * fraction, stage);
    };
  }
  Progress clipsPart(const Progress& whole, std::size_t clip) const {
    const double clips = static_cast<double>(scenes_.size());
    return part(whole, static_cast<double>(clip) / clips, static_cast<double>(clip + 1) / clips);
  }

  Result<void> chooseKeys(const Progress& progress) {
    const CorrectivesDesc& ask = desc_.correctives;
    const bool dense = ask.error_m || ask.shapes;
    for (std::size_t c = 0; c < scenes_.size(); ++c) keysOf(c).addChecks(dense);
    if (!dense) return {};
    const double diagonal_m = bounds(target_.character->mesh.positions).diagonal();
    if (ask.error_m && (*ask.error_m < kNearRounding * diagonal_m || outOfReach(*ask.error_m))) {
      // Before many keys are made for nothing.
      DERM_TRY(const Outcome all, make({}, part(progress, 0, 0)));
      if (all.played.frames_m > *ask.error_m) return cannotKeep(all);
    }
    const double max_error_m =
        ask.error_m ? kBetweenShare * *ask.error_m : kBetweenOfDiagonal * diagonal_m;
    for (std::size_t c = 0; c < scenes_.size(); ++c)
      if (!keysOf(c).refine(max_error_m, clipsPart(progress, c)))
        return Error{ErrorCode::Cancelled, "cancelled", {}};
    return {};
  }

  CorrectiveKeys keysOf(std::size_t clip) {
    return CorrectiveKeys(scenes_[clip], fitter_, samples_[clip]);
  }

  /// Halves the gaps in which a clip is off too far; false where none can be.
  bool splitGaps(const Outcome& out) {
    bool split = false;
    for (std::size_t c = 0; c < scenes_.size(); ++c)
      split = keysOf(c).splitAt(out.clips[c].over_s) || split;
    return split;
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
    double done = 0;  // nobody knows how many attempts it takes: each is half of what is left
    for (int attempt = 1;; ++attempt) {
      DERM_TRY(Outcome out, make(ask, part(progress, done, 0.5 * (1 + done))));
      done = 0.5 * (1 + done);
      if (!ask.error_m) return out;
      const double bound_m = *desc_.correctives.error_m;
      const bool at_keys = out.played.keys_m <= bound_m;
      if (at_keys && out.played.between_m <= bound_m) return out;
      if (attempt < kMaxAttempts && splitGaps(out)) continue;
      if (at_keys) return out;
      if (out.fitted.max_error_m > *ask.error_m) return cannotKeep(out);
      *ask.error_m -= 2 * (out.played.keys_m - out.fitted.max_error_m);
      if (!(*ask.error_m > 0) || attempt >= kMaxAttempts) break;
    }
    DERM_TRY(Outcome all, make({}, part(progress, done, 1)));
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
    out.character = std::make_shared<const Character>(corrected(out.fitted, out.said));
    DERM_TRY(out.clips, played(out.character));
    out.played = out.clips.front();
    for (std::size_t c = 1; c < out.clips.size(); ++c) out.played.add(out.clips[c]);
    return out;
  }

  /// What a character with the target's vertices plays like, clip by clip.
  Result<std::vector<PlayedFile>> played(const std::shared_ptr<const Character>& character) {
    const double bound_m =
        desc_.correctives.error_m.value_or(std::numeric_limits<double>::infinity());
    DERM_TRY(const std::shared_ptr<const Stack> stack, engineStack(character));
    std::vector<PlayedFile> out;
    for (std::size_t c = 0; c < scenes_.size(); ++c) {
      const Clip* clip = nullptr;
      if (clipIndex(c))
        clip = &character->clips[*clipIndex(c)];
      else if (character->clips.size() > target_.character->clips.size())
        clip = &character->clips.back();
      out.push_back(CorrectivePlayer(scenes_[c], fitter_, samples_[c]).play(stack, clip, bound_m));
    }
    return out;
  }

  /// How far off the file is in a player that reads four influences. [m]
  Result<double> errorOfFourInfluences(const Outcome& best) {
    if (best.character->skin.maxInfluences() <= kEngineInfluences) return best.played.largest();
    Character four = *best.character;
    four.skin = pruned(four.skin, kEngineInfluences);
    DERM_TRY(const std::vector<PlayedFile> clips,
             played(std::make_shared<const Character>(std::move(four))));
    double largest_m = 0;
    for (const PlayedFile& clip : clips) largest_m = std::max(largest_m, clip.largest());
    return largest_m;
  }

  /// Of the character, if the scene plays one.
  std::optional<std::size_t> clipIndex(std::size_t scene) const {
    const Clip* clip = scenes_[scene].clip();
    if (clip == nullptr) return std::nullopt;
    return static_cast<std::size_t>(clip - scenes_[scene].character()->clips.data());
  }

  Character corrected(const Correctives& fitted, Diagnostics& notes) const {
    std::vector<CorrectedClip> clips;
    for (std::size_t c = 0; c < scenes_.size(); ++c) {
      CorrectedClip clip{.fitted = c, .clip = clipIndex(c).value_or(0)};
      if (scenes_[c].recipe().loop) clip.loop_end_s = scenes_[c].playback().desc().end_s;
      clips.push_back(clip);
    }
    if (clipIndex(0)) return withCorrectives(*target_.character, fitted, clips, notes);
    if (fitted.times_s.size() == 1)
      return withCorrectives(*target_.character, fitted, std::span<const CorrectedClip>(), notes);
    // The rest pose held over time has no clip that could carry weights.
    Character with_clip = *target_.character;
    clips.front().clip = with_clip.clips.size();
    with_clip.clips.push_back({.name = newClipName(with_clip)});
    return withCorrectives(with_clip, fitted, clips, notes);
  }

  /// One that no clip has yet: a bake may be baked again.
  static std::string newClipName(const Character& character) {
    std::string name = "derm";
    const std::vector<std::string> taken = character.clipNames();
    for (int n = 2; std::find(taken.begin(), taken.end(), name) != taken.end(); ++n)
      name = "derm " + std::to_string(n);
    return name;
  }

  static void fillReport(const Outcome& best, double four_m, BakeReport& report) {
    report.correctives =
        BakeReport::Correctives{.shapes = best.fitted.shapes.size(),
                                .keys = best.fitted.times_s.size(),
                                .max_error_m = best.played.frames_m,
                                .rms_error_m = best.played.frames_rms_m,
                                .max_error_between_m = best.played.between_m,
                                .volume_change = best.played.volume_change,
                                .near_singular = best.fitted.near_singular,
                                .max_influences = best.character->skin.maxInfluences(),
                                .max_error_four_influences_m = four_m};
    for (std::size_t f = 0; f < report.frames.size(); ++f)
      report.frames[f].played_volume_m3 = best.played.frame_volumes_m3[f];
  }

  void noteInfluences(const Outcome& best, double four_m, Diagnostics& notes) const {
    const Skin& skin = best.character->skin;
    if (skin.maxInfluences() <= kEngineInfluences || desc_.influences) return;
    for (std::size_t v = 0; v < skin.vertexCount(); ++v)
      if (skin[v].size() > kEngineInfluences)
        notes.warn("more-than-4-influences", "skin",
                   "follows more than 4 joints; programs that read 4 (three.js, most engines) show "
                   "the file up to " +
                       millimetres(four_m) + " off: --influences 4 keeps it there",
                   v);
  }

  void noteResult(const Outcome& best, Diagnostics& notes) const {
    const Correctives& fitted = best.fitted;
    const std::optional<double> bound_m = desc_.correctives.error_m;
    if (bound_m && best.played.between_m > *bound_m)
      notes.warn(
          "off-between-frames", "correctives",
          "between frames the file is up to " + millimetres(best.played.between_m) + " off (at " +
              shortNumber(best.played.between_s, 3) + " s" +
              (scenes_.size() > 1 ? " of \"" + scenes_[best.played.between_clip].clip()->name + "\""
                                  : std::string()) +
              "), more than asked for: the skin changes faster than keys can follow");
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
  std::span<const Scene> scenes_;
  std::span<const Scene> folded_;  ///< with what becomes normal maps; or none
  BakeTarget target_;
  CorrectiveFitter fitter_;
  std::vector<MotionSamples> samples_;  ///< one per scene
};

}  // namespace

Result<std::unique_ptr<BakeOutput>> openCorrectivesOutput(const BakeDesc& desc,
                                                          std::span<const Scene> scenes,
                                                          std::span<const Scene> folded) {
  Result<BakeTarget> target = makeBakeTarget(scenes.front(), desc.influences);
  if (!target) {
    Error error = std::move(target).error();
    error.where.file = desc.output.string();
    return error;
  }
  std::size_t frames = 0;
  for (const Scene& scene : scenes) frames += scene.frameTimes().size();
  DERM_TRY(CorrectiveFitter fitter, CorrectiveFitter::make(target->character, frames));
  return std::unique_ptr<BakeOutput>(std::make_unique<CorrectivesOutput>(
      desc, scenes, folded, *std::move(target), std::move(fitter)));
}

}  // namespace derm::detail
