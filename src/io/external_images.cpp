#include "io/external_images.h"

#include <algorithm>
#include <vector>

#include "io/gltf/uri.h"
#include "io/text_scanner.h"

namespace derm::detail {
namespace {

bool isElsewhere(std::string_view path) {
  return path.starts_with('/') || path.find(':') != std::string_view::npos;
}

/// Fills the picture's bytes from the first path that has them.
void fetch(std::string_view file, const SideFileReader& read, Image& image, Diagnostics& notes) {
  const std::string path = image.uri;
  const std::string name = path.substr(path.rfind('/') + 1);
  std::vector<std::string> candidates;
  if (!isElsewhere(path)) candidates.push_back(path);
  candidates.push_back(name);
  image.uri = detail::gltf::encodeUri(candidates.front());
  for (const std::string& candidate : candidates) {
    Result<std::vector<std::uint8_t>> bytes = read(candidate);
    if (!bytes) continue;
    const std::string type = pictureType(*bytes);
    image.uri = detail::gltf::encodeUri(candidate);
    if (type.empty()) {
      notes.warn("image-not-read", detail::text::quoted(path), "is neither PNG, JPEG nor WebP");
      return;
    }
    image.mime_type = type;
    image.bytes = *std::move(bytes);
    return;
  }
  notes.warn("image-not-read", detail::text::quoted(path),
             "no such picture, nor " + detail::text::quoted(name) + " beside " +
                 std::string(file.substr(file.rfind('/') + 1)));
}

/// Takes out pictures that have neither bytes nor a name to look for.
void dropNameless(Character& character, Diagnostics& notes) {
  std::vector<int> number(character.images.size(), -1);
  std::vector<Image> kept;
  for (std::size_t i = 0; i < number.size(); ++i) {
    Image& image = character.images[i];
    const std::string name = image.uri.substr(image.uri.rfind('/') + 1);
    if (image.bytes.empty() && (name.empty() || name == "." || name == "..")) {
      notes.warn("image-without-name", "materials",
                 "a picture without a file name is left out (export with pictures copied or "
                 "embedded)");
      continue;
    }
    number[i] = static_cast<int>(kept.size());
    kept.push_back(std::move(image));
  }
  character.images = std::move(kept);
  for (Material& m : character.materials) {
    for (int* image : {&m.base_colour_image, &m.normal_image})
      if (*image >= 0) *image = number[static_cast<std::size_t>(*image)];
    for (DetailMap& map : m.detail_maps) map.image = number[static_cast<std::size_t>(map.image)];
    std::erase_if(m.detail_maps, [](const DetailMap& map) { return map.image < 0; });
  }
}

}  // namespace

std::string pictureType(std::span<const std::uint8_t> bytes) {
  const auto starts = [&](std::initializer_list<std::uint8_t> magic) {
    return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin());
  };
  if (starts({0x89, 'P', 'N', 'G'})) return "image/png";
  if (starts({0xFF, 0xD8, 0xFF})) return "image/jpeg";
  if (starts({'R', 'I', 'F', 'F'}) && bytes.size() >= 12 && bytes[8] == 'W') return "image/webp";
  return {};
}

std::string pictureTypeOfName(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  const std::string ending =
      dot == std::string_view::npos ? std::string() : detail::text::lowerCase(name.substr(dot + 1));
  if (ending == "png") return "image/png";
  if (ending == "jpg" || ending == "jpeg") return "image/jpeg";
  if (ending == "webp") return "image/webp";
  return {};
}

void fetchExternalImages(std::string_view file, const SideFileReader& read, Character& character,
                         Diagnostics& notes) {
  dropNameless(character, notes);
  for (Image& image : character.images)
    if (image.bytes.empty()) fetch(file, read, image, notes);
}

}  // namespace derm::detail
