#include <string>

#include "derm/io/image_file.h"
#include "derm/io/png.h"

#include "io/jpeg.h"
#include "io/plain_png.h"

namespace derm {
namespace {

Error imagesAbsent(std::string_view name) {
  return Error{ErrorCode::Unsupported,
               "this derm was built without libpng and libjpeg (DERM_WITH_IMAGES)",
               {.file = std::string(name)}};
}

}  // namespace

bool hasImageFiles() { return false; }
Result<Rgba8Image> decodePng(std::span<const std::uint8_t>, std::string_view name) {
  return imagesAbsent(name);
}
std::vector<std::uint8_t> encodePng(const Rgba8Image& image) {
  return detail::encodePlainPng(image);
}
Result<void> savePng(const std::filesystem::path& file, const Rgba8Image&) {
  return imagesAbsent(file.string());
}
Result<UInt16Image> decodePng16(std::span<const std::uint8_t>, std::string_view name) {
  return imagesAbsent(name);
}
std::vector<std::uint8_t> encodePng16(const UInt16Image&, Curve) { return {}; }
Result<void> savePng16(const std::filesystem::path& file, const UInt16Image&, Curve) {
  return imagesAbsent(file.string());
}
Result<Rgba8Image> detail::decodeJpeg(std::span<const std::uint8_t>, std::string_view name) {
  return imagesAbsent(name);
}

}  // namespace derm
