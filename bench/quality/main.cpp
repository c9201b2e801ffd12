// derm_quality: what skinning methods do to a character's skin in motion, and what weights of each
// method do to its edges, as rows of Markdown tables. A row begins with the name of its table.
// tools/quality.sh makes docs/quality.md of them.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "derm/anim/body_joints.h"
#include "derm/anim/retarget.h"
#include "derm/base/parallel.h"
#include "derm/contact/contact_layer.h"
#include "derm/contact/limb_clearance.h"
#include "derm/deform/basic_layers.h"
#include "derm/deform/flesh_auto.h"
#include "derm/deform/playback.h"
#include "derm/io/bvh.h"
#include "derm/io/character_file.h"
#include "derm/volume/volume_layer.h"
#include "derm/weights/character_weights.h"

#include "quality/part_volumes.h"
#include "quality/skin_measures.h"

namespace derm::quality {
namespace {

/// [s] between the three instants of a second difference.
constexpr double kInstant = 1.0 / 30;
/// Instants at which the motion's own second difference is looked at.
constexpr int kInstants = 48;

struct Method {
  std::string name;
  std::shared_ptr<const Stack> stack;
};

/// The stacks that are compared, and what derm's own is made of, layer by layer.
struct Methods {
  std::vector<Method> compared;  ///< linear first, derm's default last
  std::shared_ptr<const Stack> skinned, with_flesh, with_contact;
};

Methods methodsFor(const std::shared_ptr<const Character>& c) {
  Diagnostics notes;
  const auto bind = [&](const std::vector<LayerFactory>& layers) {
    return Stack::bind(c, layers, notes).value();
  };
  Methods out;
  out.compared = {
      {"linear", bind({morphLayer(), skinningLayer({})})},
      {"dual quaternion",
       bind({morphLayer(), skinningLayer({.method = SkinningMethod::DualQuaternion})})}};
  std::vector<LayerFactory> layers = {morphLayer(),
                                      skinningLayer({.method = SkinningMethod::Centre})};
  const LayerFactory volume = volumeLayer("volume", volumePreset(VolumePreset::Default));
  out.skinned = bind(layers);
  if (const auto found = proposeFlesh(*c, notes); found.ok())
    for (const FleshProposal& p : *found) layers.push_back(fleshLayer(p.desc));
  out.with_flesh = bind(layers);
  layers.push_back(volume);
  out.compared.push_back({"without contact", bind(layers)});
  layers.back() = contactLayer("contact", {});
  out.with_contact = bind(layers);
  layers.push_back(volume);
  out.compared.push_back({"derm", bind(layers)});
  return out;
}

struct Numbers {
  double turned = 0, inside = 0, curves = 0, folded = 0;  ///< means
  PartVolumes::Change parts;                              ///< largest
  double seconds = 0;
};

/// What derm's layers do on their own.
struct LayerNumbers {
  double turned_by_flesh = 0, turned_by_contact = 0;  ///< means
  double jump_m = 0, input_jump_m = 0;                ///< largest second differences
  double volume_error = 0;                            ///< largest, of any region
  double jump() const { return input_jump_m > 0 ? jump_m / input_jump_m : 0; }
};

class Measurement {
 public:
  Measurement(std::shared_ptr<const Character> c, int frames)
      : c_(std::move(c)),
        frames_(frames),
        methods_(methodsFor(c_)),
        skin_(c_->mesh),
        parts_(*c_, skin_) {}

  void motion(const Clip& clip) {
    std::vector<std::vector<Vec3f>> linear;
    const LayerNumbers layers = measureLayers(clip);
    for (std::size_t m = 0; m < methods_.compared.size(); ++m) {
      const bool ours = m + 1 == methods_.compared.size();
      LayerNumbers own = layers;
      const Numbers n = measure(clip, *methods_.compared[m].stack, linear, own.volume_error);
      std::printf("motions| %s | %s | %s | %.1f | %.2f | %.3f | %.1f | %.1f%s%s |",
                  c_->name.c_str(), clip.name.c_str(), methods_.compared[m].name.c_str(), n.turned,
                  n.inside, n.curves, n.folded, 100 * std::abs(n.parts.share),
                  n.parts.joint.valid() ? " " : "",
                  n.parts.joint.valid() ? c_->skeleton[n.parts.joint].name.c_str() : "");
      if (ours)
        std::printf(" %.2f | %.2f | %.2f | %.0e |", own.turned_by_flesh, own.turned_by_contact,
                    own.jump(), own.volume_error);
      else
        std::printf(" | | | |");
      std::printf(" %.2f |\n", 1e3 * n.seconds);
      std::fflush(stdout);
      all_.resize(methods_.compared.size());
      all_[m].push_back(n);
      if (ours) all_layers_.push_back(own);
    }
  }

  /// One row with what the goals are about, over all motions so far.
  void summary() const {
    if (all_.empty()) return;
    const std::size_t count = all_.front().size();
    const auto mean = [&](std::size_t m, double Numbers::*of) {
      double sum = 0;
      for (const Numbers& n : all_[m]) sum += n.*of;
      return sum / static_cast<double>(count);
    };
    const auto median_part = [&](std::size_t m) {
      std::vector<double> values;
      for (const Numbers& n : all_[m]) values.push_back(std::abs(n.parts.share));
      std::sort(values.begin(), values.end());
      return values[values.size() / 2];
    };
    const std::size_t before = all_.size() - 2, ours = all_.size() - 1;
    double flesh = 0, contact = 0, jump = 0, error = 0;
    int more_inside = 0;
    for (std::size_t i = 0; i < count; ++i) {
      flesh += all_layers_[i].turned_by_flesh / static_cast<double>(count);
      contact += all_layers_[i].turned_by_contact / static_cast<double>(count);
      jump = std::max(jump, all_layers_[i].jump());
      error = std::max(error, all_layers_[i].volume_error);
      more_inside += all_[ours][i].inside > 1.001 * all_[before][i].inside + 1e-3;
    }
    const auto ratio = [](double a, double b) { return b > 0 ? a / b : 0.0; };
    std::printf(
        "goals| %s | %zu | %.2f | %.2f | %.2f | %d | %.2f | %.1f | %.1f | %.1f | %.1f | "
        "%.1f | %.0e |\n",
        c_->name.c_str(), count, flesh, contact,
        ratio(mean(ours, &Numbers::inside), mean(before, &Numbers::inside)), more_inside,
        ratio(mean(ours, &Numbers::curves), mean(before, &Numbers::curves)), jump,
        mean(ours, &Numbers::folded), mean(0, &Numbers::folded), 100 * median_part(ours),
        100 * median_part(0), error);
    std::fflush(stdout);
  }

  /// Linear skinning with at most four influences, by the artist's weights and by ours.
  void weights(std::span<const Clip> clips) {
    Diagnostics notes;
    std::vector<double> stretch;
    const auto measured = [&](Skin skin) {
      auto other = std::make_shared<Character>(*c_);
      other->skin = std::move(skin);
      const auto stack = Stack::bind(other, {{morphLayer(), skinningLayer({})}}, notes);
      if (!stack.ok()) return;
      double worst = 0;
      for (const Clip& clip : clips) {
        Playback playback = Playback::make(*stack, &clip, {.end_s = clip.duration_s()}).value();
        for (int i = 0; i < frames_; ++i) {
          skin_.take(playback.frameAt(timeOf(clip, i)).positions());
          worst = std::max(worst, skin_.worstStretch());
        }
      }
      stretch.push_back(worst);
    };
    measured(pruned(c_->skin, 4));
    for (const WeightMethod method :
         {WeightMethod::Heat, WeightMethod::Geodesic, WeightMethod::InverseDistance,
          WeightMethod::Linear, WeightMethod::Nearest}) {
      auto skin = autoWeights(*c_, {}, {.method = method}, notes);
      if (skin.ok()) measured(std::move(skin).value());
    }
    std::printf("weights| %s |", c_->name.c_str());
    for (const double worst : stretch) std::printf(" %.2f |", worst);
    std::printf("\n");
    std::fflush(stdout);
  }

 private:
  double timeOf(const Clip& clip, int i) const {
    return double{clip.duration_s()} * (i + 0.5) / frames_;
  }

  Numbers measure(const Clip& clip, const Stack& stack, std::vector<std::vector<Vec3f>>& linear,
                  double& volume_error) {
    const bool is_first = linear.empty();
    Playback playback =
        Playback::make(std::shared_ptr<const Stack>(std::shared_ptr<const Stack>(), &stack), &clip,
                       {.end_s = clip.duration_s()})
            .value();
    Numbers out;
    for (int i = 0; i < frames_; ++i) {
      playback.frameAt(timeOf(clip, i));
      const auto begin = std::chrono::steady_clock::now();
      const SkinFrame& frame = playback.frameAt(timeOf(clip, i));
      out.seconds +=
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      skin_.take(frame.positions());
      if (is_first) linear.push_back(skin_.normals());
      out.turned += skin_.turnedAgainst(linear[static_cast<std::size_t>(i)]);
      out.inside += skin_.inside();
      out.curves += skin_.curves();
      out.folded += skin_.foldedEdges();
      const PartVolumes::Change parts = parts_.worst(skin_, playback.model());
      if (std::abs(parts.share) > std::abs(out.parts.share)) out.parts = parts;
      if (const auto* volume = playback.find<VolumeLayer>("volume"))
        volume_error = std::max(volume_error, volume->report().largestError());
    }
    for (double* mean : {&out.turned, &out.inside, &out.curves, &out.folded, &out.seconds})
      *mean /= frames_;
    return out;
  }

  LayerNumbers measureLayers(const Clip& clip) {
    const auto play = [&](const std::shared_ptr<const Stack>& stack) {
      return Playback::make(stack, &clip, {.end_s = clip.duration_s()}).value();
    };
    Playback skinned = play(methods_.skinned), with_flesh = play(methods_.with_flesh),
             with_contact = play(methods_.with_contact);
    const auto largest = [](const std::vector<Vec3f>* x) {
      float most = 0;
      for (std::size_t v = 0; v < x[0].size(); ++v)
        most = std::max(most, (x[0][v] - 2 * x[1][v] + x[2][v]).norm());
      return double{most};
    };
    const double end = double{clip.duration_s()};
    LayerNumbers out;
    std::vector<Vec3f> input[3], added[3];
    for (int i = 0; i < kInstants; ++i) {
      for (int k = 0; k < 3; ++k) {
        const double t = end * i / (kInstants - 1) + (k - 1) * kInstant;
        const auto x = skinned.frameAt(std::clamp(t, 0.0, end)).positions();
        input[k].assign(x.begin(), x.end());
      }
      out.input_jump_m = std::max(out.input_jump_m, largest(input));
    }
    for (int i = 0; i < frames_; ++i) {
      for (int k = 0; k < 3; ++k) {
        const double t = std::clamp(timeOf(clip, i) + (k - 1) * kInstant, 0.0, end);
        const auto a = with_flesh.frameAt(t).positions();
        const auto b = with_contact.frameAt(t).positions();
        added[k].resize(a.size());
        for (std::size_t v = 0; v < a.size(); ++v) added[k][v] = b[v] - a[v];
        if (k != 1) continue;
        skin_.take(skinned.frameAt(t).positions());
        const std::vector<Vec3f> before_flesh = skin_.normals();
        skin_.take(a);
        out.turned_by_flesh += skin_.turnedAgainst(before_flesh);
        const std::vector<Vec3f> before_contact = skin_.normals();
        skin_.take(b);
        out.turned_by_contact += skin_.turnedAgainst(before_contact);
      }
      out.jump_m = std::max(out.jump_m, largest(added));
    }
    out.turned_by_flesh /= frames_;
    out.turned_by_contact /= frames_;
    return out;
  }

  std::shared_ptr<const Character> c_;
  int frames_;
  Methods methods_;
  SkinMeasures skin_;
  PartVolumes parts_;
  std::vector<std::vector<Numbers>> all_;  ///< per method and motion
  std::vector<LayerNumbers> all_layers_;   ///< per motion
};

int run(int argc, char** argv) {
  int frames = 4;
  bool with_weights = true, arms_out = true;
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--frames" && i + 1 < argc)
      frames = std::max(1, std::atoi(argv[++i]));
    else if (word == "--no-weights")
      with_weights = false;
    else if (word == "--no-arms-out")
      arms_out = false;
    else
      files.emplace_back(word);
  }
  if (files.empty()) {
    std::fprintf(stderr,
                 "usage: derm_quality [--frames N] [--no-weights] [--no-arms-out] CHARACTER "
                 "[MOTION.bvh ...]\n");
    return 2;
  }
  const ThreadLimit one_thread(1);
  Diagnostics notes;
  auto loaded = loadCharacter(files.front(), {}, notes);
  if (!loaded.ok()) {
    std::fprintf(stderr, "%s\n", loaded.error().text().c_str());
    return 1;
  }
  const auto c = std::make_shared<const Character>(std::move(loaded).value());
  std::vector<Clip> clips = c->clips;
  for (std::size_t i = 1; i < files.size(); ++i) {
    const auto motion = loadBvh(files[i], {}, notes);
    if (!motion.ok()) continue;
    RetargetDesc how;
    how.start_s = motionStart(motion->clip, motion->skeleton);
    how.source_reference_time_s = 0.0f;
    auto clip = retarget(motion->clip, motion->skeleton, c->skeleton, how, notes);
    if (!clip.ok()) continue;
    if (arms_out) clearLimbs(*c, upperArms(c->skeleton), {}, *clip, notes).value();
    clip->name = files[i].stem().string();
    clips.push_back(std::move(clip).value());
  }
  Measurement measurement(c, frames);
  for (const Clip& clip : clips) measurement.motion(clip);
  measurement.summary();
  if (with_weights) measurement.weights(clips);
  return 0;
}

}  // namespace
}  // namespace derm::quality

int main(int argc, char** argv) { return derm::quality::run(argc, argv); }
