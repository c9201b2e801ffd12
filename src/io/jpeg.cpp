#include "io/jpeg.h"

#include <csetjmp>
#include <cstdio>  // jpeglib.h uses FILE without including it
#include <string>
#include <vector>

#include <jerror.h>
#include <jpeglib.h>

#include "derm/io/png.h"

namespace derm::detail {
namespace {

constexpr int kMaxScans = 500;

/// Everything a decoding owns; outside the function with setjmp, whose longjmp skips destructors.
struct JpegReading {
  jpeg_error_mgr errors;  // first: libjpeg hands us a pointer to it
  jmp_buf jump;
  jpeg_progress_mgr progress;
  std::string problem;
  Rgba8Image image;
  std::vector<JSAMPLE> row;
};

JpegReading& readingOf(j_common_ptr info) { return *reinterpret_cast<JpegReading*>(info->err); }

[[noreturn]] void failJpeg(j_common_ptr info) {
  JpegReading& reading = readingOf(info);
  if (reading.problem.empty()) {
    char text[JMSG_LENGTH_MAX];
    info->err->format_message(info, text);
    reading.problem = text;
  }
  longjmp(reading.jump, 1);
}

/// libjpeg only warns about missing data and paints the rest grey; for us that is an error.
void onMessage(j_common_ptr info, int level) {
  if (level < 0 && info->err->msg_code == JWRN_JPEG_EOF) failJpeg(info);
}

void limitScans(j_common_ptr info) {
  if (!info->is_decompressor) return;
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > kMaxScans) {
    readingOf(info).problem = "more than 500 scans";
    failJpeg(info);
  }
}

void fillRow(const std::vector<JSAMPLE>& row, int components, bool inverted, Rgba8Image& image,
             int y) {
  for (int x = 0; x < image.width; ++x) {
    const JSAMPLE* s =
        row.data() + static_cast<std::size_t>(x) * static_cast<std::size_t>(components);
    if (components == 3) {
      image.at(x, y) = {s[0], s[1], s[2], 255};
    } else {  // CMYK; Adobe stores it inverted
      const auto ink = [&](int c) { return inverted ? int(s[c]) : 255 - int(s[c]); };
      const auto mix = [&](int c) { return static_cast<std::uint8_t>(ink(c) * ink(3) / 255); };
      image.at(x, y) = {mix(0), mix(1), mix(2), 255};
    }
  }
}

bool readJpeg(jpeg_decompress_struct& info, std::span<const std::uint8_t> bytes,
              JpegReading& reading) {
  if (setjmp(reading.jump)) return false;
  jpeg_create_decompress(&info);
  info.progress = &reading.progress;
  info.mem->max_memory_to_use = 1L << 30;
  jpeg_mem_src(&info, bytes.data(), static_cast<unsigned long>(bytes.size()));
  jpeg_read_header(&info, TRUE);
  if (std::uint64_t{info.image_width} * info.image_height > kMaxPixels) {
    reading.problem = std::to_string(info.image_width) + "x" + std::to_string(info.image_height) +
                      " pixels; at most " + std::to_string(kMaxPixels) + " are read";
    return false;
  }
  const bool four = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  info.out_color_space = four ? JCS_CMYK : JCS_RGB;
  const bool inverted = info.saw_Adobe_marker;
  jpeg_start_decompress(&info);
  reading.image =
      Rgba8Image(static_cast<int>(info.output_width), static_cast<int>(info.output_height));
  reading.row.resize(std::size_t{info.output_width} *
                     static_cast<std::size_t>(info.output_components));
  while (info.output_scanline < info.output_height) {
    const int y = static_cast<int>(info.output_scanline);
    JSAMPROW row = reading.row.data();
    jpeg_read_scanlines(&info, &row, 1);
    fillRow(reading.row, info.output_components, inverted, reading.image, y);
  }
  jpeg_finish_decompress(&info);
  return true;
}

}  // namespace

Result<Rgba8Image> decodeJpeg(std::span<const std::uint8_t> bytes, std::string_view name) {
  JpegReading reading{};
  jpeg_decompress_struct info{};
  info.err = jpeg_std_error(&reading.errors);
  reading.errors.error_exit = failJpeg;
  reading.errors.emit_message = onMessage;
  reading.errors.output_message = [](j_common_ptr) {};
  reading.progress.progress_monitor = limitScans;
  const bool done = !bytes.empty() && readJpeg(info, bytes, reading);
  jpeg_destroy_decompress(&info);
  if (!done)
    return Error{ErrorCode::BadData,
                 "JPEG: " + (reading.problem.empty() ? "no data" : reading.problem),
                 {.file = std::string(name)}};
  return std::move(reading.image);
}

}  // namespace derm::detail
