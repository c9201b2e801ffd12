#include "derm/scene/layer_types.h"

#include <algorithm>

#include "scene/contact_parameters.h"
#include "scene/detail_parameters.h"
#include "scene/flesh_parameters.h"
#include "scene/volume_parameters.h"
#include "scene/wrinkles_parameters.h"

namespace derm {

const LayerType* LayerTypes::find(std::string_view name) const {
  const auto at = std::find_if(types_.begin(), types_.end(),
                               [&](const LayerType& type) { return type.name == name; });
  return at == types_.end() ? nullptr : &*at;
}

std::vector<std::string> LayerTypes::names() const {
  std::vector<std::string> out;
  for (const LayerType& type : types_) out.push_back(type.name);
  return out;
}

const LayerTypes& builtInLayerTypes() {
  // One line per kind: layerType<…Parameters>("name", "summary").
  static const LayerTypes types({
      layerType<detail::ContactParameters>("contact", "keeps skin out of skin"),
      layerType<detail::DetailParameters>("detail", "wrinkle maps that appear with expressions"),
      layerType<detail::FleshParameters>("flesh", "flesh that lags and swings"),
      layerType<detail::VolumeParameters>("volume", "gives bent skin its volume back"),
      layerType<detail::WrinklesParameters>("wrinkles", "folds that keep the skin's length"),
  });
  return types;
}

}  // namespace derm
