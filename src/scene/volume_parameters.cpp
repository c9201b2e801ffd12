#include "scene/volume_parameters.h"

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
constexpr std::array<std::pair<VolumeCorrection, std::string_view>, 6> kMethods = {{
    {VolumeCorrection::Section, "section"},
    {VolumeCorrection::AxesLinear, "axes-linear"},
    {VolumeCorrection::AxesExact, "axes-exact"},
    {VolumeCorrection::Gradient, "gradient"},
    {VolumeCorrection::Normal, "normal"},
    {VolumeCorrection::Laplacian, "laplacian"},
}};
constexpr std::array<std::string_view, 3> kRegions = {"joints", "components", "whole"};
constexpr std::array<RegionKind, 3> kRegionKinds = {RegionKind::Joints, RegionKind::Components,
                                                    RegionKind::Whole};

void swellFields(SwellDesc& swell, RecipeFields& fields) {
  constexpr double kMost_deg = 360;
  fields.text("group", swell.group, "vertex group that swells");
  fields.text("joint", swell.joint, "joint whose bending makes it swell");
  fields.number("from_deg", swell.from_deg, {-kMost_deg, kMost_deg, "deg"},
                "angle from rest where it begins");
  fields.number("to_deg", swell.to_deg, {-kMost_deg, kMost_deg, "deg"}, "where it is complete");
  fields.number("percent", swell.percent, {-99, 1000, "%"}, "of the group's volume");
  fields.require(swell.from_deg != swell.to_deg, "to_deg", "must differ from from_deg");
}

/// "group:caps" or "caps".
std::string whereOf(std::span<const MaskTerm> terms) {
  return terms.empty() ? std::string() : maskText(terms);
}

}  // namespace

void VolumeParameters::takePreset() {
  desc_ = volumePreset(preset_);
  where_ = whereOf(desc_.where);
}

void VolumeParameters::fields(RecipeFields& f) {
  const VolumePreset before = preset_;
  f.choice("preset", preset_, kPresets, "starting point of the keys below");
  if (preset_ != before) takePreset();
  f.choice("method", desc_.method, kMethods, "what moves the skin");
  f.flag("exact", desc_.exact, "false: one linearised step");
  f.flag("sqp", desc_.minimiser,
         "gradient, normal, laplacian: the true minimum of the method's energy");
  std::size_t kind = 0;
  while (kind + 1 < kRegionKinds.size() && kRegionKinds[kind] != desc_.regions.kind) ++kind;
  f.wordOrNames("regions", kind, kRegions, regions_, NameKind::VertexGroup,
                "what keeps its volume on its own");
  desc_.regions.kind = regions_.empty() ? kRegionKinds[kind] : RegionKind::Groups;
  f.text("where", where_,
         "where it moves: weights, smooth-weights, distance, between, everywhere, group:NAME, or a "
         "product of these; empty = what suits the method");
  f.number("a", desc_.a, {1e-3, 1000, ""}, "weights: width of the zone around a joint");
  f.number("b", desc_.b, {1e-3, 1000, ""}, "weights: how steeply it falls off");
  f.number("kappa", desc_.kappa, {0, 1e6, ""}, "laplacian: weight of the bending");
  f.text("fixed", fixed_, "group:NAME of vertices that do not move; empty = none");
  f.number("max_change", desc_.max_change, {0.001, 0.999, ""},
           "share of a region's volume; beyond: clamped and reported");
  f.tables("swell", desc_.swell, swellFields, "muscles that bulge by a stated amount");
  f.number("alpha", desc_.alpha, {0, 1, ""}, "section: as [skinning] alpha");
  f.choice("twist_spread", desc_.twist_spread, kTwistRuleNames,
           "section: as [skinning] twist_spread");
  f.number("beta", desc_.regions.beta, {0, 1, ""},
           "joints: regions merge where skin at their border bends more than this");
  f.number("epsilon", desc_.epsilon, {1e-6, 1, ""}, "section: what distant skin may help");
  f.number("sigma", desc_.sigma, {1e-4, 1, ""},
           "section: changes of radius beyond this share are spread");
  f.number("bound", desc_.bound, {0, 0.5, ""},
           "section: most that a radius may change; 0 = no such bound");
  const Result<std::vector<MaskTerm>> terms = parseMask(where_);
  f.require(where_.empty() || terms.ok(), "where",
            terms.ok() ? std::string_view() : terms.error().message);
}

LayerFactory VolumeParameters::factory(std::string name) const {
  VolumeDesc desc = desc_;
  for (const RecipeName& n : regions_) desc.regions.groups.push_back(n.text);
  desc.where.clear();
  if (!where_.empty())
    if (Result<std::vector<MaskTerm>> terms = parseMask(where_); terms.ok())
      desc.where = *std::move(terms);
  desc.fixed = parseGroupName(fixed_);
  return volumeLayer(std::move(name), desc);
}

}  // namespace derm::detail
