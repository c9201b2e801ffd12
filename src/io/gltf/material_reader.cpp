#include "io/gltf/material_reader.h"

#include <algorithm>
#include <array>
#include <set>

#include "io/external_images.h"
#include "io/gltf/detail_maps.h"
#include "io/gltf/uri.h"

namespace derm::detail::gltf {
namespace {

/// A number inside a range, or what it was before.
void readNumber(const Json& object, const char* key, float low, float high, float& out) {
  const Json* value = findMember(object, key);
  if (value == nullptr || !value->is_number()) return;
  out = std::clamp(static_cast<float>(value->get<double>()), low, high);
}

int readTexture(const ReadContext& context, const Json& object, const char* key,
                const JsonPath& at) {
  const Json* info = findMember(object, key);
  if (info == nullptr) return -1;
  const Json* index = findMember(*info, "index");
  const std::optional<std::uint64_t> texture = index ? asUint(*index) : std::nullopt;
  if (!texture || *texture >= arraySize(context.root(), "textures")) {
    context.warn("no-such-texture", JsonPath(at, key), "refers to no texture");
    return -1;
  }
  return imageOfTexture(context.root(), static_cast<std::size_t>(*texture));
}

Material readMaterial(const ReadContext& context, const Json& json, std::size_t index) {
  const JsonPath root;
  const JsonPath at(root, "materials", index);
  Material out;
  out.source_index = static_cast<int>(index);
  out.name = stringMember(json, "name").value_or("");
  if (const Json* pbr = findMember(json, "pbrMetallicRoughness"); pbr != nullptr) {
    const JsonPath here(at, "pbrMetallicRoughness");
    std::array<double, 4> colour{};
    const Result<bool> has = floatsMember(context.file(), *pbr, "baseColorFactor", colour, here);
    if (!has)
      context.warn("bad-colour", here, has.error().message);
    else if (*has)
      for (int i = 0; i < 4; ++i) out.base_colour[i] = static_cast<float>(colour[i]);
    out.base_colour_image = readTexture(context, *pbr, "baseColorTexture", here);
    readNumber(*pbr, "metallicFactor", 0, 1, out.metallic);
    readNumber(*pbr, "roughnessFactor", 0, 1, out.roughness);
  }
  out.normal_image = readTexture(context, json, "normalTexture", at);
  MaterialDetails details = detailsOfMaterial(context.root(), json);
  for (std::size_t i = 0; i < details.malformed.size(); ++i)
    context.warn("bad-detail-map", at, "a detail map is malformed; left out");
  out.detail_maps = std::move(details.maps);
  const Json* sided = findMember(json, "doubleSided");
  out.double_sided = sided != nullptr && *sided == true;
  const std::string alpha = stringMember(json, "alphaMode").value_or("OPAQUE");
  out.transparent = alpha == "BLEND" || alpha == "MASK";
  return out;
}

class ImageReader {
 public:
  ImageReader(const ReadContext& context, const SideFileReader& read_uri)
      : context_(context), read_uri_(read_uri) {}

  Image read(const Json& json, std::size_t index) {
    const JsonPath at(root_, "images", index);
    Image out;
    out.name = stringMember(json, "name").value_or("");
    out.mime_type = stringMember(json, "mimeType").value_or("");
    const Json* uri = findMember(json, "uri");
    if (uri != nullptr && uri->is_string())
      fromUri(uri->get_ref<const std::string&>(), at, out);
    else if (json.is_object())
      fromView(json, at, out);
    // The file's own word comes first.
    if (out.mime_type.empty()) out.mime_type = pictureType(out.bytes);
    return out;
  }

 private:
  void fromUri(const std::string& uri, const JsonPath& at, Image& out) {
    if (!isDataUri(uri)) return fromFile(uri, at, out);
    if (!context_.budget.take(uri.size())) return tooLarge(at);
    std::optional<DataUri> data = decodeDataUri(uri);
    if (!data) return context_.warn("bad-image", at, "its data uri is malformed");
    out.bytes = std::move(data->bytes);
    if (out.mime_type.empty()) out.mime_type = data->mime_type;
  }

  void fromFile(const std::string& uri, const JsonPath& at, Image& out) {
    out.uri = uri;
    Result<std::string> path = relativePath(uri);
    if (!path) return context_.warn("image-not-read", at, path.error().message);
    if (!read_uri_) return context_.warn("image-not-read", at, "no reader for other files");
    Result<std::vector<std::uint8_t>> bytes = read_uri_(*path);
    if (!bytes) return context_.warn("image-not-read", at, bytes.error().message);
    // Each file gives room of its own, once.
    if (fetched_.insert(*path).second) context_.budget.grant(2 * bytes->size());
    if (!context_.budget.take(bytes->size())) return tooLarge(at);
    out.bytes = *std::move(bytes);
  }

  void fromView(const Json& json, const JsonPath& at, Image& out) {
    const auto view_index = indexMember(context_.file(), json, "bufferView",
                                        arraySize(context_.root(), "bufferViews"), at);
    if (!view_index || !*view_index)
      return context_.warn("bad-image", at, "has neither a uri nor a usable bufferView");
    const Result<BufferView> view = openBufferView(context_, **view_index);
    if (!view) return context_.warn("bad-image", at, view.error().text());
    if (!context_.budget.take(view->bytes.size())) return tooLarge(at);
    out.bytes.assign(view->bytes.begin(), view->bytes.end());
  }

  void tooLarge(const JsonPath& at) const {
    context_.warn("image-not-copied", at, "too large for a file of this size; only carried");
  }

  const ReadContext& context_;
  const SideFileReader& read_uri_;
  const JsonPath root_;
  std::set<std::string> fetched_;
};

}  // namespace

int imageOfTexture(const Json& root, std::size_t texture) {
  const Json& json = root["textures"][texture];
  const Json* source = findMember(json, "source");
  if (source == nullptr) {
    // A format that has no fallback: EXT_texture_webp, KHR_texture_basisu and the like.
    const Json* extensions = findMember(json, "extensions");
    if (extensions != nullptr && extensions->is_object())
      for (const Json& extension : *extensions)
        if (source == nullptr) source = findMember(extension, "source");
  }
  const std::optional<std::uint64_t> image = source ? asUint(*source) : std::nullopt;
  return image && *image < arraySize(root, "images") ? static_cast<int>(*image) : -1;
}

void readMaterials(const ReadContext& context, Import& import) {
  const std::size_t count = arraySize(context.root(), "materials");
  for (std::size_t i = 0; i < count; ++i)
    import.character.materials.push_back(readMaterial(context, context.root()["materials"][i], i));
}

void readImages(const ReadContext& context, const SideFileReader& read_uri, Import& import) {
  const std::size_t count = arraySize(context.root(), "images");
  ImageReader reader(context, read_uri);
  for (std::size_t i = 0; i < count; ++i)
    import.character.images.push_back(reader.read(context.root()["images"][i], i));
}

}  // namespace derm::detail::gltf
