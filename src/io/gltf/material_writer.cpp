#include "io/gltf/material_writer.h"

#include <algorithm>
#include <optional>

#include "derm/base/hash.h"

#include "io/external_images.h"
#include "io/gltf/detail_maps.h"
#include "io/gltf/material_reader.h"

namespace derm::detail::gltf {
namespace {

constexpr const char* kWebp = "EXT_texture_webp";

/// Whether glTF allows the picture; one that nobody could read is known by its name at most.
bool allowed(const Image& image) {
  const std::string type = image.mime_type.empty() ? pictureTypeOfName(image.uri) : image.mime_type;
  return type == "image/png" || type == "image/jpeg" || type == "image/webp";
}

void useExtension(Json& root, const char* name, const char* list) {
  Json& names = root[list];
  if (!names.is_array()) names = Json::array();
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

/// Set of texture coordinates that a value of a material uses, where it is a texture.
std::optional<int> uvSetOf(const Json& value) {
  if (!value.is_object() || !value.contains("index")) return std::nullopt;
  const Json* set = findMember(value, "texCoord");
  if (const Json* extensions = findMember(value, "extensions"))
    if (const Json* transform = findMember(*extensions, "KHR_texture_transform"))
      if (const Json* moved = findMember(*transform, "texCoord")) set = moved;
  return set != nullptr ? static_cast<int>(asUint(*set).value_or(0)) : 0;
}

constexpr int kMaxMaterialDepth = 8;  // material, extensions, extension, texture: four, as it is

/// Calls `visit` with every texture below a material: its parent, its key and its set.
template <class Visit>
void forEachTexture(Json& material, const Visit& visit, int depth = 0) {
  if (!material.is_object() || depth > kMaxMaterialDepth) return;
  std::vector<std::string> keys;
  for (auto it = material.begin(); it != material.end(); ++it) keys.push_back(it.key());
  for (const std::string& key : keys) {
    if (key == "extras") continue;
    if (const std::optional<int> set = uvSetOf(material[key]))
      visit(material, key, *set);
    else
      forEachTexture(material[key], visit, depth + 1);
  }
}

}  // namespace

void MaterialWriter::write() {
  for (std::size_t i = 0; i < context_.character.images.size(); ++i) writeImage(i);
  texture_of_image_.assign(arraySize(context_.out.root, "images"), -1);
  // Later textures of one image do not matter: the first one is as good.
  for (std::size_t t = 0; t < arraySize(context_.out.root, "textures"); ++t) {
    const int image = imageOfTexture(context_.out.root, t);
    if (image >= 0 && texture_of_image_[image] < 0) texture_of_image_[image] = static_cast<int>(t);
  }
  for (std::size_t i = 0; i < context_.character.materials.size(); ++i) writeMaterial(i);
}

bool MaterialWriter::imageUnchanged(std::size_t index) const {
  if (context_.original == nullptr || index >= context_.document->image_hashes.size()) return false;
  const Image& now = context_.character.images[index];
  const Image& then = context_.original->character.images[index];
  Hash64 hash;
  hash.addSpan(std::span<const std::uint8_t>(now.bytes));
  return now.name == then.name && now.uri == then.uri &&
         // Read again without its bytes an outer image may not know its type.
         (then.mime_type.empty() || now.mime_type == then.mime_type) &&
         hash.value() == context_.document->image_hashes[index];
}

void MaterialWriter::writeImage(std::size_t index) {
  const Image& image = context_.character.images[index];
  const bool in_source =
      context_.original != nullptr && index < context_.original->character.images.size();
  const bool embed = image.uri.empty() || embed_.contains(index);
  if (in_source && imageUnchanged(index) && (image.uri.empty() || !embed)) {
    image_number_.push_back(static_cast<int>(index));
    return;
  }
  Json json = in_source ? context_.out.root["images"][index] : Json::object();
  if (!json.is_object()) json = Json::object();
  for (const char* key : {"uri", "bufferView", "mimeType", "name"}) json.erase(key);
  if (!image.name.empty()) json["name"] = image.name;
  if ((!embed || (image.bytes.empty() && !image.uri.empty())) && (in_source || allowed(image))) {
    json["uri"] = image.uri;
  } else if (!image.bytes.empty() && !image.mime_type.empty() && allowed(image)) {
    json["mimeType"] = image.mime_type;
    json["bufferView"] = context_.out.addView(image.bytes, 0);
  } else {
    context_.notes.warn("image-not-written", image.name.empty() ? "images" : image.name,
                        "a glTF file holds only PNG, JPEG and WebP pictures", index);
    image_number_.push_back(-1);
    return;
  }
  if (image.mime_type == "image/webp") useExtension(context_.out.root, kWebp, "extensionsUsed");
  if (in_source) {
    context_.out.root["images"][index] = std::move(json);
    image_number_.push_back(static_cast<int>(index));
  } else {
    image_number_.push_back(static_cast<int>(context_.out.append("images", std::move(json))));
  }
}

int MaterialWriter::textureFor(int image) {
  if (image < 0 || image_number_[static_cast<std::size_t>(image)] < 0) return -1;
  const int number = image_number_[static_cast<std::size_t>(image)];
  int& texture = texture_of_image_[static_cast<std::size_t>(number)];
  if (texture >= 0) return texture;
  Json json = Json::object();
  if (context_.character.images[static_cast<std::size_t>(image)].mime_type == "image/webp") {
    json["extensions"][kWebp]["source"] = number;
    useExtension(context_.out.root, kWebp, "extensionsRequired");
  } else {
    json["source"] = number;
  }
  texture = static_cast<int>(context_.out.append("textures", std::move(json)));
  return texture;
}

void MaterialWriter::setTexture(Json& object, const char* key, int image) {
  const int texture = textureFor(image);
  if (texture < 0)
    object.erase(key);
  else
    object[key] = {{"index", texture}};
}

void MaterialWriter::writeDetails(const Material& material, Json& json) {
  Json list = Json::array();
  for (const DetailMap& map : material.detail_maps)
    if (const int texture = textureFor(map.image); texture >= 0)
      list.push_back(detailToJson(map, texture));
  const Json& source = context_.document != nullptr ? context_.document->root : context_.out.root;
  for (Json& entry : detailsOfMaterial(source, json).malformed) list.push_back(std::move(entry));
  Json& extras = objectMember(json, "extras");
  if (list.empty())
    extras.erase(kDetailMapsKey);
  else
    extras[kDetailMapsKey] = std::move(list);
  if (extras.empty()) json.erase("extras");
}

void MaterialWriter::writeMaterial(std::size_t index) {
  const Material& now = context_.character.materials[index];
  const std::vector<Material>* sources =
      context_.original ? &context_.original->character.materials : nullptr;
  const bool known = sources != nullptr && now.source_index >= 0 &&
                     static_cast<std::size_t>(now.source_index) < sources->size() &&
                     claimed_.insert(now.source_index).second;
  const Material fresh;
  const Material& then = known ? (*sources)[static_cast<std::size_t>(now.source_index)] : fresh;
  const std::size_t number = known ? static_cast<std::size_t>(now.source_index)
                                   : context_.out.append("materials", Json::object());
  material_number_.push_back(static_cast<int>(number));
  // setTexture may append textures, which does not move materials.
  Json& json = context_.out.root["materials"][number];
  if (!json.is_object() && !(now == then)) json = Json::object();
  if (now.name != then.name) json["name"] = now.name;
  const auto unit = [](float v) { return std::clamp(v, 0.0f, 1.0f); };
  if (now.base_colour != then.base_colour)
    objectMember(json, "pbrMetallicRoughness")["baseColorFactor"] = {
        unit(now.base_colour[0]), unit(now.base_colour[1]), unit(now.base_colour[2]),
        unit(now.base_colour[3])};
  if (now.metallic != then.metallic)
    objectMember(json, "pbrMetallicRoughness")["metallicFactor"] = unit(now.metallic);
  if (now.roughness != then.roughness)
    objectMember(json, "pbrMetallicRoughness")["roughnessFactor"] = unit(now.roughness);
  if (now.base_colour_image != then.base_colour_image)
    setTexture(objectMember(json, "pbrMetallicRoughness"), "baseColorTexture",
               now.base_colour_image);
  if (now.normal_image != then.normal_image) setTexture(json, "normalTexture", now.normal_image);
  if (now.detail_maps != then.detail_maps) writeDetails(now, json);
  if (now.double_sided != then.double_sided) json["doubleSided"] = now.double_sided;
  if (now.transparent != then.transparent) {
    json["alphaMode"] = now.transparent ? "BLEND" : "OPAQUE";
    json.erase("alphaCutoff");
  }
}

bool MaterialWriter::textured(int material) const {
  if (material < 0) return false;
  const Material& m = context_.character.materials[static_cast<std::size_t>(material)];
  const auto written = [&](int image) {
    return image >= 0 && image_number_[static_cast<std::size_t>(image)] >= 0;
  };
  return written(m.base_colour_image) || written(m.normal_image) ||
         std::any_of(m.detail_maps.begin(), m.detail_maps.end(),
                     [&](const DetailMap& map) { return written(map.image); });
}

int MaterialWriter::usableWith(int number, const Json& attributes) {
  if (number < 0) return number;
  Json copy = context_.out.root["materials"][static_cast<std::size_t>(number)];
  std::set<int> lost;
  forEachTexture(copy, [&](Json& parent, const std::string& key, int set) {
    if (attributes.contains("TEXCOORD_" + std::to_string(set))) return;
    parent.erase(key);
    lost.insert(set);
  });
  if (lost.empty()) return number;
  const auto [known, fresh] = reduced_.try_emplace({number, lost}, -1);
  if (!fresh) return known->second;
  context_.notes.warn("texture-left-out", "materials",
                      "a texture is left out: its own texture coordinates (TEXCOORD_" +
                          std::to_string(*lost.begin()) + ") do not go on to new vertices",
                      static_cast<std::uint64_t>(number));
  known->second = static_cast<int>(context_.out.append("materials", std::move(copy)));
  return known->second;
}

}  // namespace derm::detail::gltf
