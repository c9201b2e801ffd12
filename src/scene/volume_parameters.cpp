#include "scene/volume_parameters.h"

#include <algorithm>
#include <array>
#include <utility>

namespace derm::detail {
namespace {

constexpr std::array<std::pair<VolumePreset, std::string_view>, 9> kPresets = {{
    {VolumePreset::Default, "default"},
    {VolumePreset::Local, "local"},
    {VolumePreset::Tube, "tube"},
    {VolumePreset::Shape, "shape"},
    {VolumePreset::Rubber, "rubber"},
    {VolumePreset::Fidelity, "fidelity"},
    {VolumePreset::Flesh, "flesh"},
    {VolumePreset::Muscle, "muscle"},
    {VolumePreset::ExactAxes, "exact-axes"},
}};
constexpr std::array<std::string_view, 3> kRegions = {"joints", "components", "whole"};
constexpr std::array<RegionKind, 3> kRegionKinds = {RegionKind::Joints, RegionKind::Components,
                                                    RegionKind::Whole};

constexpr std::array<std::pair<LaplacianEnergy, std::string_view>, 2> kEnergies = {
    {{LaplacianEnergy::Developed, "developed"}, {LaplacianEnergy::Stated, "stated"}}};

void swellFields(SwellDesc& swell, RecipeFields& fields) {
  constexpr double kMax_deg = 360;
  fields.text("group", swell.group, "vertex group that swells");
  fields.text("joint", swell.joint, "joint whose bending makes it swell");
  fields.number("from_deg", swell.from_deg, {-kMax_deg, kMax_deg, "deg"},
                "angle from rest where it begins");
  fields.number("to_deg", swell.to_deg, {-kMax_deg, kMax_deg, "deg"}, "where it is complete");
  fields.number("percent", swell.percent, {-99, 1000, "%"}, "of the group's volume");
  fields.require(swell.from_deg != swell.to_deg, "to_deg", "must differ from from_deg");
}

}  // namespace

void VolumeParameters::takePreset() {
  desc_ = volumePreset(preset_);
  mask_ = maskText(desc_.mask.terms);
}

void VolumeParameters::fields(RecipeFields& f) {
  const VolumePreset before = preset_;
  f.choice("preset", preset_, kPresets, "starting point of the keys below");
  if (preset_ != before) takePreset();
  f.choice("method", desc_.method.method, kVolumeMethodNames, "what moves the skin");
  bool minimiser = desc_.method.solve == VolumeSolve::Minimiser;
  f.flag("exact", desc_.section.exact, "false: one linearised step");
  f.flag("sqp", minimiser, "gradient, normal, laplacian: the true minimum of the method's energy");
  desc_.method.solve = !desc_.section.exact ? VolumeSolve::Linearised
                       : minimiser          ? VolumeSolve::Minimiser
                                            : VolumeSolve::Exact;
  std::size_t kind = 0;
  while (kind + 1 < kRegionKinds.size() && kRegionKinds[kind] != desc_.regions.kind) ++kind;
  f.wordOrNames("regions", kind, kRegions, regions_, NameKind::VertexGroup,
                "what keeps its volume on its own");
  desc_.regions.kind = regions_.empty() ? kRegionKinds[kind] : RegionKind::Groups;
  f.text("mask", mask_,
         "where it moves: weights, smooth-weights, distance, between, everywhere, group:NAME, or a "
         "product of these; empty = what suits the method");
  f.renamed("where", "mask");
  f.renamed("alpha", "[skinning] alpha");
  f.renamed("twist_spread", "[skinning] twist_spread");
  f.number("a", desc_.mask.a, {1e-3, 1000, ""}, "weights: width of the zone around a joint");
  f.number("b", desc_.mask.b, {1e-3, 1000, ""}, "weights: how steeply it falls off");
  f.numbers("axis_shares", axis_shares_, {3, 3, {0, 1e6, ""}},
            "axes-linear, axes-exact: shares of x, y and z in the volume given back");
  f.require(std::any_of(axis_shares_.begin(), axis_shares_.end(), [](double s) { return s > 0; }),
            "axis_shares", "one of them must be above 0");
  f.text("axis_order", axis_order_, "axes-exact: in which order, xyz, zyx, …");
  std::string sorted = axis_order_;
  std::sort(sorted.begin(), sorted.end());
  f.require(sorted == "xyz", "axis_order", "must have x, y and z once each");
  f.number("kappa", desc_.method.kappa, {0, 1e6, ""}, "laplacian: weight of the bending");
  f.choice("energy", desc_.method.energy, kEnergies,
           "laplacian: as its source develops it, or as it states it");
  f.text("fixed", fixed_, "group:NAME of vertices that do not move; empty = none");
  f.number("max_change", desc_.section.max_change, {0.001, 0.999, ""},
           "share of a region's volume; beyond: clamped and reported");
  desc_.method.max_change = desc_.section.max_change;
  f.tables("swell", desc_.swell, swellFields, "muscles that bulge by a stated amount");
  f.number("beta", desc_.regions.beta, {0, 1, ""},
           "joints: regions merge where skin at their border bends more than this");
  f.number("epsilon", desc_.section.epsilon, {1e-6, 1, ""}, "section: what distant skin may help");
  f.number("sigma", desc_.section.sigma, {1e-4, 1, ""},
           "section: changes of radius beyond this share are spread");
  f.number("bound", desc_.section.bound, {0, 0.5, ""},
           "section: most that a radius may change; 0 = no such bound");
  const Result<std::vector<MaskTerm>> terms = parseMask(mask_);
  f.require(mask_.empty() || terms.ok(), "mask",
            terms.ok() ? std::string_view() : terms.error().message);
}

LayerFactory VolumeParameters::factory(std::string name) const {
  VolumeDesc desc = desc_;
  for (const RecipeName& n : regions_) desc.regions.groups.push_back(n.text);
  desc.mask.terms.clear();
  if (!mask_.empty())
    if (Result<std::vector<MaskTerm>> terms = parseMask(mask_); terms.ok())
      desc.mask.terms = *std::move(terms);
  desc.mask.fixed_group = parseGroupName(fixed_);
  std::copy(axis_shares_.begin(), axis_shares_.end(), desc.method.split.begin());
  for (std::size_t i = 0; i < 3; ++i)
    desc.method.axis_order[i] = static_cast<std::uint8_t>(axis_order_[i] - 'x');
  return volumeLayer(std::move(name), desc);
}

}  // namespace derm::detail
