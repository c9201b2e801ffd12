#include <algorithm>
#include <cmath>
#include <optional>

#include "derm/deform/basic_layers.h"
#include "derm/io/gltf.h"

#include "scene/bake_output.h"

namespace derm::scene {
namespace {

/// Engines read four influences; most ignore further ones.
constexpr std::size_t kEngineInfluences = 4;
constexpr int kMostAttempts = 4;

struct Played {
  double max_m = 0;
  double rms_m = 0;
};

class CorrectivesOutput final : public BakeOutput {
 public:
  CorrectivesOutput(const BakeDesc& desc, const Scene& scene, CorrectiveFitter fitter,
                    std::shared_ptr<const Stack> plain, std::shared_ptr<const Stack> unskinned)
      : desc_(desc), scene_(scene), fitter_(std::move(fitter)), plain_(std::move(plain)) {
    if (unskinned != nullptr) unskinned_.emplace(std::move(unskinned));
  }

  Result<void> add(const BakedFrame& frame) override {
    std::span<const Vec3f> normals = scene_.character()->mesh.normals;
    if (unskinned_) {
      unskinned_->setPose(frame.pose, frame.time_s);
      normals = unskinned_->evaluate().normals();
    }
    fitter_.addFrame({.palette = frame.palette,
                      .wanted = frame.wanted,
                      .plain = frame.plain,
                      .unskinned_normals = normals});
    poses_.push_back(frame.pose);
    return {};
  }

  Result<void> finish(BakeReport& report, Diagnostics& notes, const Progress& progress) override {
    noteInfluences(notes);
    CorrectivesDesc ask = desc_.correctives;
    for (int attempt = 1;; ++attempt) {
      DERM_TRY(const Correctives fitted, fitter_.fit(ask, progress));
      Diagnostics said;
      const Character character = corrected(fitted, said);
      DERM_TRY(const Played played, play(character));
      const bool kept = !desc_.correctives.error_m || played.max_m <= *desc_.correctives.error_m;
      if (!kept && attempt < kMostAttempts) {
        // Adding up in an engine's order rounds differently: ask for that much less.
        *ask.error_m -= 2 * (played.max_m - fitted.max_error_m);
        if (*ask.error_m > 0) continue;
      }
      if (!kept)
        return Error{ErrorCode::BadArgument,
                     "the error bound is below what floats can hold here; the best is " +
                         std::to_string(played.max_m * 1000) + " mm",
                     {.file = desc_.output.string()}};
      notes.merge(said);
      noteResult(fitted, notes);
      report.correctives = BakeReport::Correctives{.shapes = fitted.shapes.size(),
                                                   .max_error_m = played.max_m,
                                                   .rms_error_m = played.rms_m,
                                                   .near_singular = fitted.near_singular};
      return saveGltf(desc_.output, character, notes);
    }
  }

 private:
  std::optional<std::size_t> clipIndex() const {
    if (scene_.clip() == nullptr) return std::nullopt;
    return static_cast<std::size_t>(scene_.clip() - scene_.character()->clips.data());
  }

  Character corrected(const Correctives& fitted, Diagnostics& notes) const {
    const std::span<const double> times = scene_.frameTimes();
    std::optional<double> loop_end_s;
    if (scene_.recipe().loop) loop_end_s = scene_.playback().desc().end_s;
    if (clipIndex() || times.size() == 1)
      return withCorrectives(*scene_.character(), fitted, clipIndex(), times, loop_end_s, notes);
    // The rest pose held over time has no clip that could carry weights.
    Character with_clip = *scene_.character();
    with_clip.clips.push_back({.name = "derm"});
    return withCorrectives(with_clip, fitted, with_clip.clips.size() - 1, times, loop_end_s, notes);
  }

  /// Plays the result as an engine does, morphs and linear skinning in float, and compares.
  Result<Played> play(const Character& character) const {
    Diagnostics ignored;
    DERM_TRY(const std::shared_ptr<const Stack> stack,
             Stack::bind(std::make_shared<const Character>(character),
                         std::array{morphLayer(), skinningLayer({})}, ignored));
    StackRunner engine(stack);
    StackRunner plain(plain_);
    const Pose rest = character.restPose();
    const Clip* clip = nullptr;
    if (clipIndex())
      clip = &character.clips[*clipIndex()];
    else if (!character.clips.empty())
      clip = &character.clips.back();
    Played out;
    double squares = 0;
    for (std::size_t f = 0; f < poses_.size(); ++f) {
      const double time_s = scene_.frameTimes()[f];
      Pose pose = rest;
      if (clip != nullptr) sampleClip(*clip, static_cast<float>(time_s), pose);
      engine.setPose(pose, time_s);
      plain.setPose(poses_[f], time_s);
      const std::span<const Vec3f> got = engine.evaluate().positions();
      const std::span<const Vec3f> base = plain.evaluate().positions();
      const std::span<const Vec3f> added = fitter_.displacement(f);
      for (std::size_t v = 0; v < got.size(); ++v) {
        const double squared = (got[v] - (base[v] + added[v])).cast<double>().squaredNorm();
        out.max_m = std::max(out.max_m, squared);
        squares += squared;
      }
    }
    out.max_m = std::sqrt(out.max_m);
    const std::size_t count = poses_.size() * character.mesh.vertexCount();
    out.rms_m = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(count, 1)));
    return out;
  }

  void noteInfluences(Diagnostics& notes) const {
    const Skin& skin = scene_.character()->skin;
    for (std::size_t v = 0; v < skin.vertexCount(); ++v)
      if (skin[v].size() > kEngineInfluences)
        notes.warn("more-than-4-influences", "skin",
                   "follows more than 4 joints; many engines read 4 and will show it elsewhere", v);
  }
  void noteResult(const Correctives& fitted, Diagnostics& notes) const {
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
  std::shared_ptr<const Stack> plain_;
  std::optional<StackRunner> unskinned_;  ///< only where morphs change normals
  std::vector<Pose> poses_;
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

}  // namespace derm::scene
