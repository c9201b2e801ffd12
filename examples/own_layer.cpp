// A layer of one's own in the stack: skin that breathes, between skinning and the volume layer,
// which gives back what the breath took. Also: how to ask a layer what it did.
// usage: derm_example_own_layer CHARACTER.glb
#include <cmath>
#include <cstdio>
#include <memory>
#include <numbers>
#include <vector>

#include "derm/deform/basic_layers.h"
#include "derm/deform/stack.h"
#include "derm/io/character_file.h"
#include "derm/volume/volume_layer.h"

namespace {

int fail(const derm::Error& error) { return std::fprintf(stderr, "%s\n", error.text().c_str()), 1; }

struct BreathDesc {
  double depth_m = 0.003;  ///< [m] along the normals
  double period_s = 4;     ///< [s] > 0

  bool operator==(const BreathDesc&) const = default;
};

/// At work on one character; what it remembers between frames would live here (see step()).
class Breath final : public derm::Layer {
 public:
  explicit Breath(const BreathDesc& desc) : desc_(desc) {}
  void evaluate(const derm::FrameInput& in, derm::SkinFrame& skin) noexcept override {
    const double phase = 2 * std::numbers::pi * in.time_s / desc_.period_s;
    const auto rise = static_cast<float>(desc_.depth_m * 0.5 * (1 - std::cos(phase)));
    skin.materialise();    // the surface may still be the rest mesh itself
    skin.updateNormals();  // those of the surface as the layer below left it
    skin.beforeMoving();
    for (std::size_t v = 0; v < skin.vertexCount(); ++v)
      skin.positions()[v] += rise * skin.normals()[v];
  }

 private:
  BreathDesc desc_;
};

/// The checked form: shared by all characters on this stack.
class BreathBinding final : public derm::LayerBinding {
 public:
  explicit BreathBinding(const BreathDesc& desc) : LayerBinding("breath", "breath"), desc_(desc) {}
  std::unique_ptr<derm::Layer> makeLayer() const override {
    return std::make_unique<Breath>(desc_);
  }

 private:
  BreathDesc desc_;
};

/// What can be wrong with the parameters or the character is an Error here, never later.
derm::BindResult bindBreath(const std::string&, const BreathDesc& desc,
                            const derm::BindInput& input) {
  if (input.surface->rest.normals.empty())
    return derm::Error{derm::ErrorCode::BadData, "breath needs normals", {.element = "breath"}};
  if (!(desc.period_s > 0))
    return derm::Error{derm::ErrorCode::BadArgument, "must be above 0", {.element = "period_s"}};
  return std::shared_ptr<const derm::LayerBinding>(std::make_shared<BreathBinding>(desc));
}

/// Parameters that can be compared: after an edit, a layer that did not change keeps its binding.
derm::LayerFactory breathLayer(const BreathDesc& desc) { return {"breath", desc, bindBreath}; }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s CHARACTER\n", argv[0]), 2;
  derm::Diagnostics notes;
  derm::Result<derm::Character> loaded = derm::loadCharacter(argv[1], {}, notes);
  if (!loaded) return fail(loaded.error());
  const auto character = std::make_shared<const derm::Character>(std::move(*loaded));
  const std::vector<derm::LayerFactory> layers = {
      derm::skinningLayer({.method = derm::SkinningMethod::Centre}), breathLayer({}),
      derm::volumeLayer("volume", derm::volumePreset(derm::VolumePreset::Default))};
  const auto stack = derm::Stack::bind(character, layers, notes);
  if (!stack) return fail(stack.error());
  derm::StackRunner runner(*stack);
  derm::Pose pose = character->restPose();
  for (int second = 0; second <= 4; ++second) {
    if (!character->clips.empty()) derm::sampleClip(character->clips[0], 0.3f, pose);
    runner.setPose(pose, second);
    runner.evaluate();
    const auto* volume = runner.find<derm::VolumeLayer>("volume");
    std::printf("%d s: volume off by %.1e at worst\n", second, volume->report().largestError());
  }
  return 0;
}
