#include "derm/volume/volume_layer.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "derm/base/parallel.h"

#include "volume/shaped_volumes.h"
#include "volume/volume_correctors.h"
#include "volume/volume_frame.h"

namespace derm {
namespace {

/// What is bound, but for the numbers of VolumeDesc::section.
struct VolumeTables {
  detail::VolumeFrameBinding frame;
  VolumeSwell swell;
  std::optional<detail::ShapedVolumes> shaped;  ///< where layers before skinning shape the rest
};

class Binding final : public VolumeLayerBinding, public std::enable_shared_from_this<Binding> {
 public:
  Binding(std::string name, VolumeDesc desc, std::shared_ptr<const VolumeTables> tables,
          std::shared_ptr<const detail::VolumeCorrectorBinding> method)
      : VolumeLayerBinding(std::move(name), "volume"),
        desc_(std::move(desc)),
        tables_(std::move(tables)),
        method_(std::move(method)) {}

  std::unique_ptr<Layer> makeLayer() const override;
  bool readsShapedRest() const override { return true; }
  bool readsSkinning() const override { return true; }
  std::vector<std::string> masks() const override { return {name()}; }
  std::span<const VolumeRegion> regions() const override { return frame().regions(); }
  std::span<const double> restVolumes() const override { return method_->restVolumes(); }
  const RegionsDesc& regionsDesc() const override { return desc_.regions; }

  const VolumeDesc& desc() const { return desc_; }
  const std::shared_ptr<const VolumeTables>& tables() const { return tables_; }
  const detail::VolumeFrameBinding& frame() const { return tables_->frame; }
  const detail::VolumeCorrectorBinding& method() const { return *method_; }
  const VolumeSwell& swell() const { return tables_->swell; }
  const std::optional<detail::ShapedVolumes>& shaped() const { return tables_->shaped; }

 private:
  VolumeDesc desc_;
  std::shared_ptr<const VolumeTables> tables_;
  std::shared_ptr<const detail::VolumeCorrectorBinding> method_;
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
    if (binding_->shaped()) shaped_scratch_ = binding_->shaped()->makeScratch();
  }

  void evaluate(const FrameInput& in, SkinFrame& skin) noexcept override {
    writeMask(skin.channel(binding_->name()));
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
  void writeMask(std::span<float> channel) const noexcept {
    const std::vector<std::uint32_t>& welded = frame_.surface().welded_of_vertex;
    for (std::size_t v = 0; v < channel.size(); ++v)
      channel[v] = binding_->method().maskOf(welded[v]);
  }
  /// Of the shape that the pose's morphs make of the rest surface: what is theirs is not lost.
  std::span<const double> restVolumes(const SkinFrame& skin) noexcept {
    if (skin.shapedRest().empty() || !binding_->shaped()) return binding_->restVolumes();
    return binding_->shaped()->measure(frame_.surface(), skin.shapedRest(), shaped_scratch_);
  }

  std::shared_ptr<const Binding> binding_;
  detail::VolumeFrame frame_;
  std::unique_ptr<detail::VolumeCorrector> corrector_;
  VolumeSwell::Scratch swell_scratch_;
  detail::ShapedVolumes::Scratch shaped_scratch_;
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

/// Null where more than numbers of `section` has changed.
Result<std::shared_ptr<const LayerBinding>> rebound(const std::string& name, const VolumeDesc& desc,
                                                    const LayerBinding* previous) {
  const auto* before = dynamic_cast<const Binding*>(previous);
  VolumeDesc other_numbers = desc;
  if (before != nullptr) other_numbers.section = before->desc().section;
  if (before == nullptr || !(other_numbers == before->desc()))
    return std::shared_ptr<const LayerBinding>();
  DERM_TRY(auto method, before->method().with(desc));
  if (method == nullptr) return std::shared_ptr<const LayerBinding>();
  return std::shared_ptr<const LayerBinding>(
      std::make_shared<Binding>(name, desc, before->tables(), std::move(method)));
}

BindResult bindVolume(const std::string& name, const VolumeDesc& desc, const BindInput& input) {
  const Character& character = *input.character;
  const BoundSurface& bound = *input.surface;
  DERM_TRY(std::shared_ptr<const LayerBinding> shared, rebound(name, desc, input.previous.get()));
  if (shared != nullptr) return shared;
  if (bound.rest.triangles.empty() ||
      (bound.skin.empty() && desc.method.method == VolumeMethod::Section)) {
    input.notes.warn("volume-no-skin", name, "no skin bends here: passed through");
    return std::shared_ptr<const LayerBinding>(std::make_shared<NoVolumeBinding>(name));
  }
  if (input.skinning == nullptr)
    return Error{ErrorCode::BadArgument,
                 "volume is lost where skin is posed: the layer comes after skinning",
                 {.element = "before_skinning"}};
  const auto surface = std::make_shared<const MeasuredSurface>(
      makeMeasuredSurface(bound.rest.positions, bound.rest.triangles, name, input.notes));
  DERM_TRY(VolumeRegions made,
           VolumeRegions::bind(*surface, bound.rest, character.skeleton, bound.skin, desc.regions));
  const auto regions = std::make_shared<const VolumeRegions>(std::move(made));
  auto tables = std::make_shared<VolumeTables>(VolumeTables{
      detail::VolumeFrameBinding(surface, regions, character.skeleton, bound.skin), {}, {}});
  // Without muscles it would only keep the surface in memory.
  if (!desc.swell.empty()) {
    DERM_TRY(tables->swell,
             VolumeSwell::bind(surface, *regions, bound.rest, character.skeleton, desc.swell));
  }
  if (input.shape != nullptr)
    tables->shaped.emplace(character.mesh, input.shape->rest.vertexCount(), bound, *surface,
                           *regions);
  const detail::VolumeMaterial material{character, bound, surface, regions, *input.skinning};
  DERM_TRY(std::unique_ptr<detail::VolumeCorrectorBinding> method,
           detail::bindVolumeCorrector(material, desc, input.notes));
  tables->frame.forgetShares();
  tables->frame.forgetTriangles();
  return std::shared_ptr<const LayerBinding>(
      std::make_shared<Binding>(name, desc, std::move(tables), std::move(method)));
}

}  // namespace

VolumeDesc volumePreset(VolumePreset preset) {
  VolumeDesc out;
  const auto fieldMethod = [&](VolumeMethod method, RegionKind kind, MaskRule rule) {
    out.method.method = method;
    out.regions.kind = kind;
    out.mask.terms = {{.rule = rule}};
  };
  switch (preset) {
    case VolumePreset::Default:
      break;
    case VolumePreset::Local:
      out.regions.beta = 0.7;
      break;
    case VolumePreset::Tube:
      out.regions.beta = 1;
      out.section.sigma = 0.05;
      break;
    case VolumePreset::Shape:
      out.section.bound = 0.15;
      break;
    case VolumePreset::Rubber:
      fieldMethod(VolumeMethod::Normal, RegionKind::Joints, MaskRule::SmoothWeights);
      break;
    case VolumePreset::Fidelity:
      fieldMethod(VolumeMethod::Normal, RegionKind::Components, MaskRule::Weights);
      break;
    case VolumePreset::Flesh:
      fieldMethod(VolumeMethod::Laplacian, RegionKind::Joints, MaskRule::SmoothWeights);
      out.mask.terms.push_back({.rule = MaskRule::Distance});
      break;
    case VolumePreset::Muscle:
      fieldMethod(VolumeMethod::Gradient, RegionKind::Joints, MaskRule::Between);
      break;
    case VolumePreset::ExactAxes:
      fieldMethod(VolumeMethod::AxesExact, RegionKind::Components, MaskRule::Weights);
      break;
  }
  return out;
}

double VolumeReport::largestError() const {
  double largest = 0;
  for (std::size_t l = 0; l < regions.size(); ++l)
    if (!regions[l].idle && regions[l].target_m3 != 0)
      largest = std::max(largest, std::abs(after_m3[l] / regions[l].target_m3 - 1));
  return largest;
}

LayerFactory volumeLayer(std::string name, const VolumeDesc& desc) {
  return {std::move(name), desc, bindVolume};
}

}  // namespace derm
