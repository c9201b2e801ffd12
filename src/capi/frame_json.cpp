#include "derm/deform/flesh.h"
#include "derm/deform/wrinkles.h"
#include "derm/volume/volume_layer.h"

#include "capi/json_text.h"

namespace derm::detail::capi {
namespace {

Json vectorJson(const Vec3d& v) { return {v.x(), v.y(), v.z()}; }

void addVolume(const VolumeLayer& layer, const VolumeLayerBinding& binding, Json& out) {
  const VolumeReport report = layer.report();
  Json regions = Json::array();
  for (std::size_t i = 0; i < binding.regions().size() && i < report.regions.size(); ++i) {
    const RegionOutcome& region = report.regions[i];
    regions.push_back({{"name", binding.regions()[i].name},
                       {"rest_m3", binding.restVolumes()[i]},
                       {"before_m3", region.before_m3},
                       {"target_m3", region.target_m3},
                       {"after_m3", report.after_m3[i]},
                       {"idle", region.idle}});
  }
  out["regions"] = std::move(regions);
  out["largest_move_m"] = report.largest_move_m;
  out["iterations"] = report.iterations;
}

void addFolds(const WrinklesLayer& layer, Json& out) {
  Json tools = Json::array();
  for (std::size_t i = 0; i < layer.toolCount(); ++i) {
    const WrinkleToolState& tool = layer.tool(i);
    tools.push_back({{"length_m", tool.length_m},
                     {"rest_length_m", tool.rest_length_m},
                     {"height_m", tool.highest_m},
                     {"bumps", tool.fold.bumps},
                     {"missing_m", tool.fold.missing + tool.held_back_m}});
  }
  out["tools"] = std::move(tools);
}

}  // namespace

Json frameJson(Session& session) {
  Json layers = Json::array();
  const Stack& stack = session.scene().stack();
  for (std::size_t i = 0; i < stack.layers().size(); ++i) {
    const LayerBinding& binding = *stack.layers()[i];
    Json layer = {{"name", binding.name()},
                  {"type", binding.type()},
                  {"ms", 1000 * session.layerSeconds()[i]}};
    if (const auto* flesh = session.find<FleshLayer>(binding.name())) {
      layer["elongation_m"] = vectorJson(flesh->elongation_m());
      layer["velocity_m_per_s"] = vectorJson(flesh->velocity_m_per_s());
    }
    if (const auto* folds = session.find<WrinklesLayer>(binding.name())) addFolds(*folds, layer);
    const auto* volume = session.find<VolumeLayer>(binding.name());
    const auto* regions = stack.find<VolumeLayerBinding>(binding.name());
    if (volume != nullptr && regions != nullptr) addVolume(*volume, *regions, layer);
    layers.push_back(std::move(layer));
  }
  return {{"time_s", session.time_s()}, {"layers", std::move(layers)}};
}

}  // namespace derm::detail::capi
