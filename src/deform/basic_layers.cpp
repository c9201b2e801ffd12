#include "derm/deform/basic_layers.h"

#include <algorithm>
#include <optional>

#include "derm/deform/morphs.h"

namespace derm {
namespace {

class MorphBinding final : public LayerBinding {
 public:
  explicit MorphBinding(std::shared_ptr<const Character> character)
      : LayerBinding("morphs", "morphs"), character_(std::move(character)) {}
  bool idle() const override { return character_->morphs.empty(); }
  std::unique_ptr<Layer> makeLayer() const override;

 private:
  std::shared_ptr<const Character> character_;
};

class MorphLayer final : public Layer {
 public:
  explicit MorphLayer(std::shared_ptr<const Character> character)
      : character_(std::move(character)) {}

  void evaluate(const FrameInput& in, SkinFrame& skin) noexcept override {
    const std::vector<float>& weights = in.pose.morph_weights;
    if (std::all_of(weights.begin(), weights.end(), [](float w) { return w == 0; })) return;
    skin.materialise();
    addMorphs(character_->morphs, weights, {skin.positions(), skin.normals(), skin.tangents()});
  }

 private:
  std::shared_ptr<const Character> character_;
};

std::unique_ptr<Layer> MorphBinding::makeLayer() const {
  return std::make_unique<MorphLayer>(character_);
}

class SkinningLayerBinding final : public LayerBinding {
 public:
  explicit SkinningLayerBinding(std::shared_ptr<const SkinningInUse> skinning)
      : LayerBinding("skinning", "skinning"), skinning_(std::move(skinning)) {}
  std::shared_ptr<const SkinningInUse> skinning() const override { return skinning_; }
  std::unique_ptr<Layer> makeLayer() const override;

 private:
  std::shared_ptr<const SkinningInUse> skinning_;
};

class SkinningLayer final : public Layer {
 public:
  SkinningLayer(const SkinningBinding& skinning, bool surface_normals)
      : skinning_(skinning), scratch_(skinning.makeScratch()), surface_normals_(surface_normals) {}

  void evaluate(const FrameInput& in, SkinFrame& skin) noexcept override {
    skin.updateNormals();
    if (skin.isRest())  // the binding has its own copy, in the order its kernels like
      skinning_.evaluate(in.palette, scratch_, skin.back());
    else
      skinning_.evaluate(in.palette, skin.streams(), scratch_, skin.back());
    skin.present();
    if (surface_normals_) skin.takeSurfaceNormals();
  }

 private:
  SkinningBinding skinning_;
  SkinningScratch scratch_;
  bool surface_normals_;
};

class PassThrough final : public Layer {
 public:
  void evaluate(const FrameInput&, SkinFrame&) noexcept override {}
};

std::unique_ptr<Layer> SkinningLayerBinding::makeLayer() const {
  if (!skinning_->binding) return std::make_unique<PassThrough>();
  return std::make_unique<SkinningLayer>(*skinning_->binding, skinning_->desc.surface_normals);
}

/// There is nothing to choose about morphs.
struct NoParameters {
  bool operator==(const NoParameters&) const = default;
};

BindResult bindMorphs(const std::string&, const NoParameters&, const BindInput& input) {
  return std::shared_ptr<const LayerBinding>(std::make_shared<MorphBinding>(input.character));
}

BindResult bindSkinning(const std::string&, const SkinningDesc& desc, const BindInput& input) {
  auto in_use = std::make_shared<SkinningInUse>();
  in_use->desc = desc;
  in_use->surface = input.surface;
  const BoundSurface& surface = *input.surface;
  if (!surface.skin.empty()) {
    const std::shared_ptr<const SkinningInUse> before =
        input.previous != nullptr ? input.previous->skinning() : nullptr;
    SkinningDesc other_alpha = desc;
    if (before != nullptr) other_alpha.alpha = before->desc.alpha;
    const bool valid = desc.alpha >= 0 && desc.alpha <= 1;
    if (valid && before != nullptr && before->binding && before->desc == other_alpha) {
      in_use->binding = before->binding->withAlpha(desc.alpha);
    } else {
      DERM_TRY(in_use->binding, SkinningBinding::bind(surface.rest, input.character->skeleton,
                                                      surface.skin, desc, input.notes));
    }
  }
  return std::shared_ptr<const LayerBinding>(
      std::make_shared<SkinningLayerBinding>(std::move(in_use)));
}

}  // namespace

LayerFactory morphLayer() { return {"morphs", NoParameters(), bindMorphs}; }

LayerFactory skinningLayer(const SkinningDesc& desc) { return {"skinning", desc, bindSkinning}; }

}  // namespace derm
