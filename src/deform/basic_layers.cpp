#include "derm/deform/basic_layers.h"

#include <algorithm>
#include <optional>

#include "derm/deform/morphs.h"

namespace derm {
namespace {

class MorphBinding final : public LayerBinding, public std::enable_shared_from_this<MorphBinding> {
 public:
  explicit MorphBinding(std::vector<MorphTarget> targets)
      : LayerBinding("morphs", "morphs"), targets_(std::move(targets)) {}
  std::unique_ptr<Layer> makeLayer() const override;
  const std::vector<MorphTarget>& targets() const { return targets_; }

 private:
  std::vector<MorphTarget> targets_;
};

class MorphLayer final : public Layer {
 public:
  explicit MorphLayer(std::shared_ptr<const MorphBinding> binding) : binding_(std::move(binding)) {}

  void evaluate(const FrameInput& in, SkinFrame& skin) noexcept override {
    const std::vector<float>& weights = in.pose.morph_weights;
    if (std::all_of(weights.begin(), weights.end(), [](float w) { return w == 0; })) return;
    skin.materialise();
    addMorphs(binding_->targets(), weights, {skin.positions(), skin.normals(), skin.tangents()});
    // Not a copy of the frame's: other layers may have been at work on that.
    if (const std::span<Vec3f> rest = skin.beginMorphedRest(); !rest.empty())
      addMorphs(binding_->targets(), weights, {.positions = rest, .normals = {}, .tangents = {}});
  }

 private:
  std::shared_ptr<const MorphBinding> binding_;
};

std::unique_ptr<Layer> MorphBinding::makeLayer() const {
  return std::make_unique<MorphLayer>(shared_from_this());
}

class SkinningLayerBinding final : public LayerBinding {
 public:
  explicit SkinningLayerBinding(std::optional<SkinningBinding> skinning)
      : LayerBinding("skinning", "skinning"), skinning_(std::move(skinning)) {}
  std::unique_ptr<Layer> makeLayer() const override;

 private:
  std::optional<SkinningBinding> skinning_;  ///< none for a character without a skin
};

class SkinningLayer final : public Layer {
 public:
  explicit SkinningLayer(const SkinningBinding& skinning)
      : skinning_(skinning), scratch_(skinning.makeScratch()) {}

  void evaluate(const FrameInput& in, SkinFrame& skin) noexcept override {
    if (skin.isRest())  // the binding has its own copy, in the order its kernels like
      skinning_.evaluate(in.palette, scratch_, skin.back());
    else
      skinning_.evaluate(in.palette, skin.streams(), scratch_, skin.back());
    skin.present();
  }

 private:
  SkinningBinding skinning_;
  SkinningScratch scratch_;
};

class PassThrough final : public Layer {
 public:
  void evaluate(const FrameInput&, SkinFrame&) noexcept override {}
};

std::unique_ptr<Layer> SkinningLayerBinding::makeLayer() const {
  if (!skinning_) return std::make_unique<PassThrough>();
  return std::make_unique<SkinningLayer>(*skinning_);
}

}  // namespace

LayerFactory morphLayer() {
  return [](const Character& character, const std::shared_ptr<const BoundSurface>&,
            Diagnostics&) -> Result<std::shared_ptr<const LayerBinding>> {
    return std::shared_ptr<const LayerBinding>(std::make_shared<MorphBinding>(character.morphs));
  };
}

LayerFactory skinningLayer(const SkinningDesc& desc) {
  return [desc](const Character& character, const std::shared_ptr<const BoundSurface>& surface,
                Diagnostics& notes) -> Result<std::shared_ptr<const LayerBinding>> {
    std::optional<SkinningBinding> skinning;
    if (!surface->skin.empty()) {
      DERM_TRY(skinning, SkinningBinding::bind(surface->rest, character.skeleton, surface->skin,
                                               desc, notes));
    }
    return std::shared_ptr<const LayerBinding>(
        std::make_shared<SkinningLayerBinding>(std::move(skinning)));
  };
}

}  // namespace derm
