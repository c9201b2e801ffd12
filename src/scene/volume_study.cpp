#include "derm/scene/volume_study.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "derm/deform/basic_layers.h"
#include "derm/volume/volume_layer.h"

#include "scene/volume_meter.h"

namespace derm {
namespace {

constexpr std::string_view kVolumeType = "volume";

/// The recipe with its volume layers switched off.
Recipe withoutVolume(Recipe recipe) {
  for (RecipeLayer& layer : recipe.layers)
    if (layer.type == kVolumeType) layer.enabled = false;
  return recipe;
}

/// The last volume layer at work, if any.
struct Working {
  const VolumeLayerBinding* binding = nullptr;
  const VolumeLayer* layer = nullptr;
};

Working lastVolume(const Scene& scene) {
  Working out;
  const auto layers = scene.stack().layers();
  for (const auto& layer : layers)
    if (const auto* volume = dynamic_cast<const VolumeLayerBinding*>(layer.get()))
      out = {volume, scene.playback().find<VolumeLayer>(volume->name())};
  return out;
}

double largestMove(std::span<const Vec3f> a, std::span<const Vec3f> b) {
  double largest = 0;
  for (std::size_t v = 0; v < a.size(); ++v)
    largest = std::max<double>(largest, (a[v] - b[v]).squaredNorm());
  return std::sqrt(largest);
}

double change(double now, double rest) { return rest != 0 ? std::abs(now / rest - 1) : 0.0; }

void addErrors(const VolumeStudy::Frame& frame, VolumeStudy& study) {
  study.max_relative_loss_before =
      std::max(study.max_relative_loss_before, change(frame.before.volume_m3, frame.rest_m3));
  double wanted = 0;
  bool any_held = false;
  for (std::size_t l = 0; l < frame.regions.size(); ++l) {
    const VolumeStudy::Region& region = frame.regions[l];
    study.region_loss_before[l] =
        std::max(study.region_loss_before[l], change(region.before.volume_m3, region.rest_m3));
    wanted += region.held ? region.target_m3 : region.after.volume_m3;
    any_held = any_held || region.held;
    if (region.held)
      study.max_relative_error_after = std::max(study.max_relative_error_after,
                                                change(region.after.volume_m3, region.target_m3));
    else
      study.max_relative_change_unheld = std::max(study.max_relative_change_unheld,
                                                  change(region.after.volume_m3, region.rest_m3));
  }
  if (any_held)
    study.max_relative_error_after =
        std::max(study.max_relative_error_after, change(frame.after.volume_m3, wanted));
}

}  // namespace

Recipe defaultVolumeRecipe(std::string character) {
  Recipe recipe;
  recipe.character = std::move(character);
  recipe.skinning = SkinningMethod::Centre;
  recipe.layers.push_back({.type = std::string(kVolumeType), .name = std::string(kVolumeType)});
  return recipe;
}

Result<VolumeStudy> studyVolume(const Recipe& recipe, const SceneOptions& options,
                                Diagnostics& notes, const Progress& progress) {
  DERM_TRY(Scene with, openScene(recipe, options, notes));
  SceneOptions same = options;
  same.character = with.character();
  Diagnostics said_already;
  DERM_TRY(Scene without, openScene(withoutVolume(recipe), same, said_already));
  const BoundSurface& surface = with.stack().output();
  if (without.stack().output().rest.vertexCount() != surface.rest.vertexCount())
    return Error{ErrorCode::Unsupported,
                 "volumes can be compared only where no layer changes the number of vertices",
                 {.file = recipe.origin.file}};
  const Working working = lastVolume(with);
  const RegionsDesc whole{.kind = RegionKind::Whole};
  const bool divided = working.binding != nullptr && !working.binding->regions().empty();
  DERM_TRY(detail::VolumeMeter meter,
           detail::VolumeMeter::make(*with.character(), surface,
                                     divided ? working.binding->regionsDesc() : whole));
  VolumeStudy study;
  study.character = recipe.character;
  study.clip = with.clip() != nullptr ? with.clip()->name : "";
  study.skinning = name(recipe.skinning);
  study.fps = recipe.fps;
  study.rest_m3 = meter.restVolume();
  study.rest_area_m2 = meter.restArea();
  for (const VolumeRegion& region : meter.regions().regions)
    study.region_names.push_back(region.name);
  study.region_rest_m3.assign(meter.restVolumes().begin(), meter.restVolumes().end());
  study.region_loss_before.assign(meter.regionCount(), 0.0);
  for (std::size_t f = 0; f < with.frameTimes().size(); ++f) {
    if (!keepGoing(progress, double(f) / double(with.frameTimes().size()), "frames"))
      return Error{ErrorCode::Cancelled, "stopped", {}};
    VolumeStudy::Frame frame{.time_s = with.frameTimes()[f]};
    frame.regions.resize(meter.regionCount());
    const SkinFrame& plain = without.frame(f);
    meter.measure(plain.positions(), without.playback().model());
    frame.before = meter.whole();
    for (std::size_t l = 0; l < frame.regions.size(); ++l)
      frame.regions[l].before = meter.parts()[l];
    const SkinFrame& corrected = with.frame(f);
    meter.takeShape(with.playback().pose().morph_weights);
    frame.rest_m3 = meter.shapeVolume();
    meter.measure(corrected.positions(), with.playback().model());
    frame.after = meter.whole();
    frame.max_move_m = largestMove(plain.positions(), corrected.positions());
    std::optional<VolumeReport> report;
    if (divided) report = working.layer->report();
    for (std::size_t l = 0; l < frame.regions.size(); ++l) {
      VolumeStudy::Region& region = frame.regions[l];
      region.rest_m3 = meter.shapeVolumes()[l];
      region.after = meter.parts()[l];
      region.held = report && !report->regions[l].idle && !report->regions[l].short_of_target;
      region.target_m3 = report ? report->regions[l].target_m3 : region.rest_m3;
    }
    addErrors(frame, study);
    study.frames.push_back(std::move(frame));
  }
  return study;
}

namespace {

struct Way {
  std::string name;
  SkinningMethod skinning;
  std::optional<VolumeDesc> correction;
};

std::vector<Way> allWays() {
  const auto corrected = [](VolumeMethod method) {
    VolumeDesc desc = volumePreset(VolumePreset::Default);
    desc.method.method = method;
    desc.mask.terms = {{.rule = MaskRule::SmoothWeights}};
    return desc;
  };
  using enum SkinningMethod;
  std::vector<Way> out = {{"linear", Linear, {}},
                          {"dual-quaternion", DualQuaternion, {}},
                          {"centre", Centre, {}},
                          {"centre + section", Centre, volumePreset(VolumePreset::Default)}};
  for (const auto& [method, name] : kVolumeMethodNames) {
    if (method == VolumeMethod::Section) continue;
    out.push_back({"linear + " + std::string(name), Linear, corrected(method)});
    out.push_back({"centre + " + std::string(name), Centre, corrected(method)});
  }
  return out;
}

Result<VolumeComparison> measureWay(const Way& way, Scene& moments, detail::VolumeMeter& meter,
                                    std::span<const std::vector<Vec3f>> plain,
                                    std::vector<std::vector<Vec3f>>* keep) {
  std::vector<LayerFactory> layers = {morphLayer(), skinningLayer({.method = way.skinning})};
  if (way.correction) layers.push_back(volumeLayer("volume", *way.correction));
  Diagnostics said_already;
  DERM_TRY(const std::shared_ptr<const Stack> stack,
           Stack::bind(moments.character(), layers, said_already));
  StackRunner runner(stack);
  VolumeComparison out{.name = way.name};
  double seconds = 0;
  for (std::size_t f = 0; f < moments.frameTimes().size(); ++f) {
    moments.frame(f);
    runner.setPose(moments.playback().pose(), moments.frameTimes()[f]);
    const auto start = std::chrono::steady_clock::now();
    const SkinFrame& frame = runner.evaluate();
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    meter.takeShape(runner.pose().morph_weights);
    meter.measure(frame.positions(), runner.model());
    out.worst_percent =
        std::max(out.worst_percent, 100 * change(meter.whole().volume_m3, meter.shapeVolume()));
    for (std::size_t l = 0; l < meter.regionCount(); ++l)
      out.worst_region_percent =
          std::max(out.worst_region_percent,
                   100 * change(meter.parts()[l].volume_m3, meter.shapeVolumes()[l]));
    out.min_stretch =
        f == 0 ? meter.whole().min_stretch : std::min(out.min_stretch, meter.whole().min_stretch);
    out.max_stretch =
        f == 0 ? meter.whole().max_stretch : std::max(out.max_stretch, meter.whole().max_stretch);
    if (keep != nullptr) keep->emplace_back(frame.positions().begin(), frame.positions().end());
    if (way.correction && f < plain.size())
      out.max_move_m = std::max(out.max_move_m, largestMove(frame.positions(), plain[f]));
  }
  out.ms_per_frame = 1000 * seconds / double(moments.frameTimes().size());
  return out;
}

}  // namespace

Result<std::vector<VolumeComparison>> compareVolumeMethods(const Recipe& recipe,
                                                           const SceneOptions& options,
                                                           Diagnostics& notes,
                                                           const Progress& progress) {
  Recipe bare = recipe;
  bare.layers.clear();
  DERM_TRY(Scene moments, openScene(bare, options, notes));
  const Character& character = *moments.character();
  DERM_TRY(detail::VolumeMeter meter,
           detail::VolumeMeter::make(character, moments.stack().output(),
                                     volumePreset(VolumePreset::Default).regions));
  const std::vector<Way> ways = allWays();
  std::vector<std::vector<Vec3f>> linear, centre;  // what the corrections start from
  std::vector<VolumeComparison> rows;
  for (std::size_t w = 0; w < ways.size(); ++w) {
    if (!keepGoing(progress, double(w) / double(ways.size()), ways[w].name))
      return Error{ErrorCode::Cancelled, "stopped", {}};
    std::vector<std::vector<Vec3f>>& base =
        ways[w].skinning == SkinningMethod::Centre ? centre : linear;
    const bool keep = !ways[w].correction && ways[w].skinning != SkinningMethod::DualQuaternion;
    DERM_TRY(VolumeComparison row,
             measureWay(ways[w], moments, meter, base, keep ? &base : nullptr));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace derm
