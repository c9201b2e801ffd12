#include "io/gltf/detail_maps.h"

#include <array>
#include <cmath>

#include "io/gltf/material_reader.h"

namespace derm::detail::gltf {
namespace {

/// False where the member is there but not two finite floats.
bool readPair(const Json& json, const char* key, Vec2f& out) {
  std::array<double, 2> pair{};
  const JsonPath root;
  const Result<bool> has = floatsMember({}, json, key, pair, root);
  if (!has) return false;
  if (*has) out = Vec2f(static_cast<float>(pair[0]), static_cast<float>(pair[1]));
  return true;
}

bool readName(const Json& json, const char* key, std::string& out) {
  const Json* value = findMember(json, key);
  if (value == nullptr) return true;
  if (!value->is_string()) return false;
  out = value->get<std::string>();
  return true;
}

std::optional<DetailMap> parseDetail(const Json& root, const Json& json) {
  DetailMap out;
  const Json* index = findMember(json, "index");
  const std::optional<std::uint64_t> texture = index ? asUint(*index) : std::nullopt;
  if (!texture || *texture >= arraySize(root, "textures")) return std::nullopt;
  out.image = imageOfTexture(root, static_cast<std::size_t>(*texture));
  if (out.image < 0) return std::nullopt;
  if (const Json* set = findMember(json, "texCoord"); set != nullptr) {
    const std::optional<std::uint64_t> number = asUint(*set);
    if (!number || *number > 7) return std::nullopt;
    out.uv_set = static_cast<int>(*number);
  }
  if (const Json* strength = findMember(json, "strength"); strength != nullptr) {
    if (!strength->is_number()) return std::nullopt;
    out.strength = static_cast<float>(strength->get<double>());
    if (!(out.strength >= 0 && out.strength <= 16)) return std::nullopt;
  }
  if (!readPair(json, "scale", out.uv_scale) || !readPair(json, "offset", out.uv_offset) ||
      !readName(json, "vertex_group", out.vertex_group) ||
      !readName(json, "control", out.control) || !readName(json, "channel", out.channel))
    return std::nullopt;
  return out;
}

}  // namespace

MaterialDetails detailsOfMaterial(const Json& root, const Json& material) {
  MaterialDetails out;
  const Json* extras = findMember(material, "extras");
  const Json* list = extras != nullptr ? findMember(*extras, kDetailMapsKey) : nullptr;
  if (list == nullptr) return out;
  if (!list->is_array()) {
    out.malformed.push_back(*list);
    return out;
  }
  for (const Json& entry : *list) {
    std::optional<DetailMap> map = parseDetail(root, entry);
    if (map)
      out.maps.push_back(*std::move(map));
    else
      out.malformed.push_back(entry);
  }
  return out;
}

Json detailToJson(const DetailMap& map, int texture) {
  const DetailMap usual;
  Json out = {{"index", texture}, {"strength", map.strength}};
  if (map.uv_set != usual.uv_set) out["texCoord"] = map.uv_set;
  if (map.uv_scale != usual.uv_scale) out["scale"] = {map.uv_scale.x(), map.uv_scale.y()};
  if (map.uv_offset != usual.uv_offset) out["offset"] = {map.uv_offset.x(), map.uv_offset.y()};
  if (!map.vertex_group.empty()) out["vertex_group"] = map.vertex_group;
  if (!map.control.empty()) out["control"] = map.control;
  if (!map.channel.empty()) out["channel"] = map.channel;
  return out;
}

}  // namespace derm::detail::gltf
