#include "derm/volume/volume_layer.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "derm/base/parallel.h"

#include "volume/morphed_volumes.h"
#include "volume/volume_correctors.h"
#include "volume/volume_frame.h"

namespace derm {
namespace {

/// The layer's parts that do not depend on the method.
class Binding final : public VolumeLayerBinding, public std::enable_shared_from_this<Binding> {
 public:
  Binding(std::string name, detail::VolumeFrameBinding frame,
          std::unique_ptr<detail::VolumeCorrectorBinding> method, VolumeSwell swell,
          std::optional<detail::MorphedVolumes> morphed, RegionsDesc desc)
      : VolumeLayerBinding(std::move(name), "volume"),
        regions_desc_(std::move(desc)),
        frame_(std::move(frame)),
        method_(std::move(method)),
        swell_(std::move(swell)),
        morphed_(std::move(morphed)) {}

  std::unique_ptr<Layer> makeLayer() const override;
  bool readsMorphedRest() const override { return morphed_.has_value(); }
  std::span<const VolumeRegion> regions() const override { return frame_.regions(); }
  std::span<const double> restVolumes() const override { return method_->restVolumes(); }
  const RegionsDesc& regionsDesc() const override { return regions_desc_; }

  const detail::VolumeFrameBinding& frame() const { return frame_; }
  const detail::VolumeCorrectorBinding& method() const { return *method_; }
  const VolumeSwell& swell() const { return swell_; }
  const std::optional<detail::MorphedVolumes>& morphed() const { return morphed_; }

 private:
  RegionsDesc regions_desc_;
  detail::VolumeFrameBinding frame_;
  std::unique_ptr<detail::VolumeCorrectorBinding> method_;
  VolumeSwell swell_;
  std::optional<detail::MorphedVolumes> morphed_;  ///< of characters that have morphs
};

class WorkingLayer final : public VolumeLayer {
 public:
  explicit WorkingLayer(std::shared_ptr<const Binding> binding)
      : binding_(std::move(binding)),
        frame_(binding_->frame(), binding_->method().needsPoints() || !binding_->swell().empty()),
        corrector_(binding_->method().makeCorrector(binding_->frame())),
        swell_scratch_(binding_->swell().makeScratch()) {
    report_.regions.resize(binding_->regions().size());
    report_.after_m3.resize(binding_->regions().size());
    if (!binding_->swell().empty()) unswollen_.resize(frame_.points().size());
    if (binding_->morphed()) morphed_scratch_ = binding_->morphed()->makeScratch();
  }

  void evaluate(const FrameInput& in, SkinFrame& skin) noexcept override {
    skin.materialise();
    frame_.measure(in, skin.positions(), restVolumes(skin));
    const bool swells = !binding_->swell().empty();
    if (swells) {
      std::copy(frame_.points().begin(), frame_.points().end(), unswollen_.begin());
      binding_->swell().apply(in.pose.local, swell_scratch_, frame_.points(), frame_.targets());
    }
    corrector_->correct(in, skin, frame_, report_);
    if (swells)
      parallelFor(unswollen_.size(), 4096, [&](std::size_t begin, std::size_t end) {
        for (std::size_t p = begin; p < end; ++p) {
          frame_.displacement()[p] += frame_.points()[p] - unswollen_[p];
          frame_.points()[p] = unswollen_[p];
        }
      });
    if (swells || report_.largest_move_m > 0) corrector_->apply(frame_, skin);
  }

  VolumeReport report() const override {
    VolumeReport out = report_;
    corrector_->finishReport(frame_, out);
    return out;
  }

 private:
  /// Of the shape that the pose's morphs make of the rest surface: what is theirs is not lost.
  std::span<const double> restVolumes(const SkinFrame& skin) noexcept {
    if (skin.morphedRest().empty() || !binding_->morphed()) return binding_->restVolumes();
    return binding_->morphed()->measure(frame_.surface(), skin.morphedRest(), morphed_scratch_);
  }

  std::shared_ptr<const Binding> binding_;
  detail::VolumeFrame frame_;
  std::unique_ptr<detail::VolumeCorrector> corrector_;
  VolumeSwell::Scratch swell_scratch_;
  detail::MorphedVolumes::Scratch morphed_scratch_;
  std::vector<Vec3d> unswollen_;
  VolumeReport report_;
};

std::unique_ptr<Layer> Binding::makeLayer() const {
  return std::make_unique<WorkingLayer>(shared_from_this());
}

/// For characters that nothing bends.
class NoVolumeBinding final : public VolumeLayerBinding {
 public:
  explicit NoVolumeBinding(std::string name) : VolumeLayerBinding(std::move(name), "volume") {}
  std::unique_ptr<Layer> makeLayer() const override;
  std::span<const VolumeRegion> regions() const override { return {}; }
  std::span<const double> restVolumes() const override { return {}; }
  const RegionsDesc& regionsDesc() const override { return regions_desc_; }

 private:
  RegionsDesc regions_desc_;
};

class NoVolumeLayer final : public VolumeLayer {
 public:
  void evaluate(const FrameInput&, SkinFrame&) noexcept override {}
  VolumeReport report() const override { return {}; }
};

std::unique_ptr<Layer> NoVolumeBinding::makeLayer() const {
  return std::make_unique<NoVolumeLayer>();
}

Result<std::shared_ptr<const LayerBinding>> bindVolume(std::string name, const VolumeDesc& desc,
                                                       const Character& character,
                                                       const BoundSurface& bound,
                                                       Diagnostics& notes) {
  if (bound.rest.triangles.empty() ||
      (bound.skin.empty() && desc.method == VolumeCorrection::Section)) {
    notes.warn("volume-no-skin", name, "no skin bends here: passed through");
    return std::shared_ptr<const LayerBinding>(std::make_shared<NoVolumeBinding>(std::move(name)));
  }
  const auto surface = std::make_shared<const MeasuredSurface>(
      makeMeasuredSurface(bound.rest.positions, bound.rest.triangles, name, notes));
  DERM_TRY(VolumeRegions made,
           VolumeRegions::bind(*surface, bound.rest, character.skeleton, bound.skin, desc.regions));
  const auto regions = std::make_shared<const VolumeRegions>(std::move(made));
  detail::VolumeFrameBinding frame(surface, regions, character.skeleton, bound.skin);
  VolumeSwell swell;  // without muscles it would only keep the surface in memory
  if (!desc.swell.empty()) {
    DERM_TRY(swell,
             VolumeSwell::bind(surface, *regions, bound.rest, character.skeleton, desc.swell));
  }
  std::optional<detail::MorphedVolumes> morphed;
  if (!character.morphs.empty()) morphed.emplace(character.mesh, bound, *surface, *regions);
  const detail::VolumeMaterial material{character, bound, surface, regions};
  DERM_TRY(std::unique_ptr<detail::VolumeCorrectorBinding> method,
           detail::bindVolumeCorrector(material, desc, notes));
  frame.forgetShares();
  frame.forgetTriangles();
  return std::shared_ptr<const LayerBinding>(
      std::make_shared<Binding>(std::move(name), std::move(frame), std::move(method),
                                std::move(swell), std::move(morphed), desc.regions));
}

}  // namespace

VolumeDesc volumePreset(VolumePreset preset) {
  VolumeDesc out;
  const auto documents = [&](VolumeCorrection method, RegionKind kind, MaskRule mask) {
    out.method = method;
    out.regions.kind = kind;
    out.mask = {{.rule = mask}};
  };
  switch (preset) {
    case VolumePreset::Default:
      break;
    case VolumePreset::Local:
      out.regions.beta = 0.7;
      break;
    case VolumePreset::Tube:
      out.regions.beta = 1;
      out.alpha = 0.25;
      out.sigma = 0.05;
      break;
    case VolumePreset::Shape:
      out.bound = 0.15;
      break;
    case VolumePreset::Rubber:
      documents(VolumeCorrection::Normal, RegionKind::Joints, MaskRule::SmoothWeights);
      break;
    case VolumePreset::Fidelity:
      documents(VolumeCorrection::Normal, RegionKind::Components, MaskRule::Weights);
      break;
    case VolumePreset::Flesh:
      documents(VolumeCorrection::Laplacian, RegionKind::Joints, MaskRule::SmoothWeights);
      out.mask.push_back({.rule = MaskRule::Distance});
      break;
    case VolumePreset::Muscle:
      documents(VolumeCorrection::Gradient, RegionKind::Joints, MaskRule::Between);
      break;
    case VolumePreset::ExactAxes:
      documents(VolumeCorrection::AxesExact, RegionKind::Components, MaskRule::Weights);
      break;
  }
  return out;
}

double VolumeReport::largestError() const {
  double most = 0;
  for (std::size_t l = 0; l < regions.size(); ++l)
    if (!regions[l].idle && regions[l].target_m3 != 0)
      most = std::max(most, std::abs(after_m3[l] / regions[l].target_m3 - 1));
  return most;
}

LayerFactory volumeLayer(std::string name, const VolumeDesc& desc) {
  return [name = std::move(name), desc](
             const Character& character, const std::shared_ptr<const BoundSurface>& surface,
             Diagnostics& notes) -> Result<std::shared_ptr<const LayerBinding>> {
    return bindVolume(name, desc, character, *surface, notes);
  };
}

}  // namespace derm
