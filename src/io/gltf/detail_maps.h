#pragma once

#include "derm/character/character.h"

#include "io/json_value.h"

namespace derm::detail::gltf {

inline constexpr const char* kDetailMapsKey = "derm_detail_maps";

/// Detail normal maps, which glTF has no word for, live in a material's extras:
/// "derm_detail_maps": [{"index": 3, "texCoord": 0, "scale": [8, 8], "offset": [0, 0],
///                       "strength": 0.5, "vertex_group": "brow", "control": "frown"}]
/// "index" is a texture, as in a glTF textureInfo; all else may be left out.
struct MaterialDetails {
  std::vector<DetailMap> maps;
  Json malformed = Json::array();  ///< entries that are no maps, to be carried through
};
MaterialDetails detailsOfMaterial(const Json& root, const Json& material);

/// What is at its default is left out.
Json detailToJson(const DetailMap& map, int texture);

}  // namespace derm::detail::gltf
