#include "io/plain_png.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string_view>

namespace derm::detail {
namespace {

constexpr std::size_t kPixelBytes = 4;

/// Bits as deflate has them: the lowest of a byte first.
class BitWriter {
 public:
  explicit BitWriter(std::vector<std::uint8_t>& out) : out_(out) {}

  void put(std::uint32_t bits, int count) {
    held_ |= std::uint64_t{bits} << held_count_;
    held_count_ += count;
    for (; held_count_ >= 8; held_count_ -= 8, held_ >>= 8)
      out_.push_back(static_cast<std::uint8_t>(held_));
  }
  /// A code of the table: its first bit is the highest.
  void putCode(std::uint32_t code, int count) {
    std::uint32_t turned = 0;
    for (int i = 0; i < count; ++i) turned |= (code >> i & 1) << (count - 1 - i);
    put(turned, count);
  }
  void finish() {
    if (held_count_ > 0) put(0, 8 - held_count_);
  }

 private:
  std::vector<std::uint8_t>& out_;
  std::uint64_t held_ = 0;
  int held_count_ = 0;
};

/// The fixed code of RFC 1951, section 3.2.6.
void putSymbol(BitWriter& bits, std::uint32_t symbol) {
  if (symbol < 144)
    bits.putCode(0x30 + symbol, 8);
  else if (symbol < 256)
    bits.putCode(0x190 + symbol - 144, 9);
  else if (symbol < 280)
    bits.putCode(symbol - 256, 7);
  else
    bits.putCode(0xC0 + symbol - 280, 8);
}

/// Codes of lengths (steps_per_bit 4, first 3) and distances (2, first 1): ranges that double every
/// few codes, with extra bits for the place in them.
struct RangeCode {
  std::uint32_t code = 0;
  std::uint32_t extra = 0;
  int extra_bits = 0;
};
RangeCode rangeCode(std::uint32_t value, std::uint32_t first, std::uint32_t steps_per_bit) {
  std::uint32_t low = first;
  for (std::uint32_t code = 0;; ++code) {
    const int bits = code < 2 * steps_per_bit ? 0 : static_cast<int>(code / steps_per_bit) - 1;
    if (value < low + (1u << bits)) return {code, value - low, bits};
    low += 1u << bits;
  }
}

void putRepeat(BitWriter& bits, std::uint32_t length, std::uint32_t distance) {
  constexpr std::uint32_t kLongest = 258;
  const RangeCode l = length == kLongest ? RangeCode{28, 0, 0} : rangeCode(length, 3, 4);
  putSymbol(bits, 257 + l.code);
  bits.put(l.extra, l.extra_bits);
  const RangeCode d = rangeCode(distance, 1, 2);
  bits.putCode(d.code, 5);
  bits.put(d.extra, d.extra_bits);
}

std::size_t repeated(std::span<const std::uint8_t> data, std::size_t at, std::size_t distance) {
  constexpr std::size_t kLongest = 258;
  if (at < distance) return 0;
  const std::size_t most = std::min(kLongest, data.size() - at);
  std::size_t n = 0;
  while (n < most && data[at + n] == data[at + n - distance]) ++n;
  return n;
}

/// One block of deflate in zlib's frame.
std::vector<std::uint8_t> packed(std::span<const std::uint8_t> data, std::size_t row_bytes) {
  constexpr std::size_t kFarthest = 32768, kShortest = 4;
  std::vector<std::uint8_t> out = {0x78, 0x01};
  BitWriter bits(out);
  bits.put(1, 1);  // the last block
  bits.put(1, 2);  // with the fixed code
  for (std::size_t at = 0; at < data.size();) {
    const std::size_t before = repeated(data, at, kPixelBytes);
    const std::size_t above = row_bytes <= kFarthest ? repeated(data, at, row_bytes) : 0;
    const std::size_t length = std::max(before, above);
    if (length < kShortest) {
      putSymbol(bits, data[at++]);
      continue;
    }
    putRepeat(bits, static_cast<std::uint32_t>(length),
              static_cast<std::uint32_t>(before >= above ? kPixelBytes : row_bytes));
    at += length;
  }
  putSymbol(bits, 256);
  bits.finish();
  constexpr std::size_t kBeforeOverflow = 5552;
  std::uint32_t a = 1, b = 0;  // Adler's sum
  for (std::size_t at = 0; at < data.size();) {
    for (const std::size_t end = std::min(at + kBeforeOverflow, data.size()); at < end; ++at) {
      a += data[at];
      b += a;
    }
    a %= 65521;
    b %= 65521;
  }
  for (const std::uint32_t half : {b, a})
    for (const int shift : {8, 0}) out.push_back(static_cast<std::uint8_t>(half >> shift));
  return out;
}

std::uint32_t crcOf(std::span<const std::uint8_t> data) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t n = 0; n < 256; ++n) {
      std::uint32_t c = n;
      for (int k = 0; k < 8; ++k) c = (c & 1) != 0 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
      made[n] = c;
    }
    return made;
  }();
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const std::uint8_t byte : data) crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8);
  return ~crc;
}

void putNumber(std::vector<std::uint8_t>& out, std::uint32_t value) {
  for (const int shift : {24, 16, 8, 0}) out.push_back(static_cast<std::uint8_t>(value >> shift));
}

void putChunk(std::vector<std::uint8_t>& out, std::string_view name,
              std::span<const std::uint8_t> data) {
  putNumber(out, static_cast<std::uint32_t>(data.size()));
  const std::size_t start = out.size();
  out.insert(out.end(), name.begin(), name.end());
  out.insert(out.end(), data.begin(), data.end());
  putNumber(out, crcOf(std::span(out).subspan(start)));
}

}  // namespace

std::vector<std::uint8_t> encodePlainPng(const Rgba8Image& image) {
  const auto width = static_cast<std::size_t>(image.width);
  const auto height = static_cast<std::size_t>(image.height);
  const std::size_t row_bytes = 1 + kPixelBytes * width;  // a filter's number, which is none, first
  std::vector<std::uint8_t> rows(row_bytes * height, 0);
  for (std::size_t y = 0; y < height && width > 0; ++y)
    std::memcpy(rows.data() + row_bytes * y + 1, image.pixels.data() + width * y,
                kPixelBytes * width);
  std::vector<std::uint8_t> header;
  putNumber(header, static_cast<std::uint32_t>(width));
  putNumber(header, static_cast<std::uint32_t>(height));
  header.insert(header.end(), {8, 6, 0, 0, 0});  // eight bits, RGBA
  std::vector<std::uint8_t> out = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
  putChunk(out, "IHDR", header);
  putChunk(out, "IDAT", packed(rows, row_bytes));
  putChunk(out, "IEND", {});
  return out;
}

}  // namespace derm::detail
