#include "derm/io/png.h"

#include <algorithm>
#include <bit>
#include <csetjmp>
#include <cstring>
#include <string>

#include <png.h>

#include "derm/base/assert.h"
#include "derm/io/file_bytes.h"
#include "derm/io/image_file.h"

namespace derm {
namespace {

/// Everything a decoding owns. It lives outside the function that calls setjmp: libpng's longjmp
/// skips destructors, so nothing with one may live inside.
struct PngReading {
  std::span<const std::uint8_t> bytes;
  std::size_t at = 0;
  std::string problem;
  bool deep = false;  ///< 16 bits and the file's channels, into `deep_image`
  Rgba8Image image;
  UInt16Image deep_image;
  std::vector<png_bytep> rows;
};

void failPng(png_structp png, png_const_charp message) {
  auto* problem = static_cast<std::string*>(png_get_error_ptr(png));
  if (problem->empty()) *problem = message;
  png_longjmp(png, 1);
}

void ignoreWarning(png_structp, png_const_charp) {}

void readBytes(png_structp png, png_bytep out, std::size_t count) {
  auto* reading = static_cast<PngReading*>(png_get_io_ptr(png));
  if (count > reading->bytes.size() - reading->at) png_error(png, "the data ends too early");
  std::memcpy(out, reading->bytes.data() + reading->at, count);
  reading->at += count;
}

/// Empty if the promised size can be true.
std::string sizeProblem(png_structp png, png_infop info, std::size_t byte_count) {
  const std::uint64_t width = png_get_image_width(png, info);
  const std::uint64_t height = png_get_image_height(png, info);
  const std::string size = std::to_string(width) + "x" + std::to_string(height);
  if (width * height > kMaxPixels)
    return size + " pixels; at most " + std::to_string(kMaxPixels) + " are read";
  // An interlaced picture has no fewer bytes than its pixels, so this holds for it too.
  const std::uint64_t packed_max = (std::uint64_t{byte_count} + 64) * 1032;
  if (png_get_rowbytes(png, info) * height > packed_max)
    return size + " pixels promised, more than " + std::to_string(byte_count) + " bytes can hold";
  return {};
}

void askForRgba8(png_structp png) {
  png_set_expand(png);  // palette and small grey to 8 bits, tRNS to alpha
  png_set_scale_16(png);
  png_set_gray_to_rgb(png);
  png_set_add_alpha(png, 0xFF, PNG_FILLER_AFTER);
}

void askFor16(png_structp png) {
  png_set_expand_16(png);  // palette to RGB, tRNS to alpha, all to 16 bits
  if constexpr (std::endian::native == std::endian::little) png_set_swap(png);
}

/// Rows of the picture that libpng fills.
void makeRows(png_structp png, png_infop info, PngReading& reading) {
  const auto width = static_cast<int>(png_get_image_width(png, info));
  const auto height = static_cast<int>(png_get_image_height(png, info));
  const int channels = png_get_channels(png, info);
  const std::size_t pixel_bytes = reading.deep ? 2u * static_cast<std::size_t>(channels) : 4u;
  if (channels < 1 || channels > 4 ||
      png_get_rowbytes(png, info) != pixel_bytes * static_cast<std::size_t>(width))
    png_error(png, "unexpected row size");
  if (reading.deep)
    reading.deep_image = UInt16Image(width, height, channels);
  else
    reading.image = Rgba8Image(width, height);
  reading.rows.resize(static_cast<std::size_t>(height));
  for (int y = 0; y < height; ++y)
    reading.rows[static_cast<std::size_t>(y)] =
        reading.deep ? reinterpret_cast<png_bytep>(&reading.deep_image.at(0, y, 0))
                     : &reading.image.at(0, y).r;
}

bool readPng(png_structp png, png_infop info, PngReading& reading) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_set_read_fn(png, &reading, readBytes);
  png_set_user_limits(png, 1u << 20, 1u << 20);
  png_set_chunk_cache_max(png, 64);
  png_set_chunk_malloc_max(png, 8u << 20);
  png_read_info(png, info);
  reading.problem = sizeProblem(png, info, reading.bytes.size());
  if (!reading.problem.empty()) return false;
  if (reading.deep)
    askFor16(png);
  else
    askForRgba8(png);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  makeRows(png, info, reading);
  png_read_image(png, reading.rows.data());
  png_read_end(png, nullptr);
  return true;
}

struct PngWriting {
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint8_t> row;
  std::string problem;
};

void writeBytes(png_structp png, png_bytep data, std::size_t count) {
  auto* writing = static_cast<PngWriting*>(png_get_io_ptr(png));
  writing->bytes.insert(writing->bytes.end(), data, data + count);
}

bool writePng(png_structp png, png_infop info, const Rgba8Image& image, bool opaque,
              PngWriting& writing) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_set_write_fn(png, &writing, writeBytes, nullptr);
  png_set_user_limits(png, 1u << 30, 1u << 30);
  png_set_IHDR(png, info, static_cast<png_uint_32>(image.width),
               static_cast<png_uint_32>(image.height), 8,
               opaque ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_RGBA, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
  png_write_info(png, info);
  const std::size_t width = static_cast<std::size_t>(image.width), channels = opaque ? 3 : 4;
  writing.row.resize(width * channels);
  for (int y = 0; y < image.height; ++y) {
    for (std::size_t x = 0; x < width; ++x)
      std::memcpy(writing.row.data() + x * channels, &image.at(static_cast<int>(x), y), channels);
    png_write_row(png, writing.row.data());
  }
  png_write_end(png, nullptr);
  return true;
}

bool writePng16(png_structp png, png_infop info, const UInt16Image& image, Curve curve,
                PngWriting& writing) {
  if (setjmp(png_jmpbuf(png))) return false;
  constexpr int kTypes[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                            PNG_COLOR_TYPE_RGBA};
  png_set_write_fn(png, &writing, writeBytes, nullptr);
  png_set_user_limits(png, 1u << 30, 1u << 30);
  png_set_IHDR(png, info, static_cast<png_uint_32>(image.width),
               static_cast<png_uint_32>(image.height), 16, kTypes[image.channels - 1],
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (curve == Curve::Srgb)
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
  else
    png_set_gAMA_fixed(png, info, PNG_FP_1);
  png_write_info(png, info);
  const std::size_t count =
      static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.channels);
  writing.row.resize(2 * count);
  for (std::size_t y = 0; y < static_cast<std::size_t>(image.height); ++y) {
    for (std::size_t i = 0; i < count; ++i) {  // high byte first
      const std::uint16_t value = image.values[y * count + i];
      writing.row[2 * i] = static_cast<std::uint8_t>(value >> 8);
      writing.row[2 * i + 1] = static_cast<std::uint8_t>(value & 0xFF);
    }
    png_write_row(png, writing.row.data());
  }
  png_write_end(png, nullptr);
  return true;
}

/// Runs a reading; on failure the error.
Result<void> run(PngReading& reading, std::string_view name) {
  const std::span<const std::uint8_t> bytes = reading.bytes;
  const auto failed = [&](std::string message) {
    return Error{ErrorCode::BadData,
                 "PNG: " + std::move(message),
                 {.file = std::string(name), .byte = reading.at}};
  };
  if (bytes.size() < 8 || png_sig_cmp(bytes.data(), 0, 8) != 0) return failed("wrong first bytes");
  png_structp png =
      png_create_read_struct(PNG_LIBPNG_VER_STRING, &reading.problem, failPng, ignoreWarning);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  const bool done = info && readPng(png, info, reading);
  png_destroy_read_struct(&png, &info, nullptr);
  if (!done) return failed(reading.problem.empty() ? "libpng gave up" : reading.problem);
  return {};
}

/// The bytes that `write(png, info, writing)` makes.
template <class Write>
std::vector<std::uint8_t> written(const Write& write) {
  PngWriting writing;
  png_structp png =
      png_create_write_struct(PNG_LIBPNG_VER_STRING, &writing.problem, failPng, ignoreWarning);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  const bool done = info && write(png, info, writing);
  png_destroy_write_struct(&png, &info);
  DERM_REQUIRE(done);  // memory is the only thing that can fail here
  return std::move(writing.bytes);
}

}  // namespace

Result<Rgba8Image> decodePng(std::span<const std::uint8_t> bytes, std::string_view name) {
  PngReading reading;
  reading.bytes = bytes;
  DERM_CHECK(run(reading, name));
  return std::move(reading.image);
}

Result<UInt16Image> decodePng16(std::span<const std::uint8_t> bytes, std::string_view name) {
  PngReading reading;
  reading.bytes = bytes;
  reading.deep = true;
  DERM_CHECK(run(reading, name));
  return std::move(reading.deep_image);
}

std::vector<std::uint8_t> encodePng(const Rgba8Image& image) {
  DERM_REQUIRE(!image.empty());
  const bool opaque = std::all_of(image.pixels.begin(), image.pixels.end(),
                                  [](const Rgba8& p) { return p.a == 255; });
  return written([&](png_structp png, png_infop info, PngWriting& writing) {
    return writePng(png, info, image, opaque, writing);
  });
}

std::vector<std::uint8_t> encodePng16(const UInt16Image& image, Curve curve) {
  DERM_REQUIRE(!image.empty());
  return written([&](png_structp png, png_infop info, PngWriting& writing) {
    return writePng16(png, info, image, curve, writing);
  });
}

bool hasImageFiles() { return true; }

Result<void> savePng(const std::filesystem::path& file, const Rgba8Image& image) {
  if (image.empty())
    return Error{ErrorCode::BadArgument, "the picture is empty", {.file = file.string()}};
  return writeFileWhole(file, encodePng(image));
}

Result<void> savePng16(const std::filesystem::path& file, const UInt16Image& image, Curve curve) {
  if (image.empty())
    return Error{ErrorCode::BadArgument, "the picture is empty", {.file = file.string()}};
  return writeFileWhole(file, encodePng16(image, curve));
}

}  // namespace derm
