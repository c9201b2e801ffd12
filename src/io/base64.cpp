#include "derm/io/base64.h"

#include <array>

namespace derm {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kForeign = 0xFF;

constexpr std::array<std::uint8_t, 256> decodeTable() {
  std::array<std::uint8_t, 256> table{};
  table.fill(kForeign);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i)
    table[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  return table;
}

constexpr std::array<std::uint8_t, 256> kDecode = decodeTable();

}  // namespace

std::optional<std::vector<std::uint8_t>> decodeBase64(std::string_view text) {
  for (int padding = 0; padding < 2 && !text.empty() && text.back() == '='; ++padding)
    text.remove_suffix(1);
  if (text.size() % 4 == 1) return std::nullopt;
  std::vector<std::uint8_t> out(text.size() / 4 * 3 +
                                (text.size() % 4 == 0 ? 0 : text.size() % 4 - 1));
  const auto digit = [&](std::size_t i) { return kDecode[static_cast<unsigned char>(text[i])]; };
  std::size_t in = 0;
  std::size_t at = 0;
  for (; in + 4 <= text.size(); in += 4, at += 3) {
    const std::uint8_t a = digit(in), b = digit(in + 1), c = digit(in + 2), d = digit(in + 3);
    if ((a | b | c | d) & 0xC0) return std::nullopt;
    out[at] = static_cast<std::uint8_t>(a << 2 | b >> 4);
    out[at + 1] = static_cast<std::uint8_t>(b << 4 | c >> 2);
    out[at + 2] = static_cast<std::uint8_t>(c << 6 | d);
  }
  std::uint32_t bits = 0;
  for (std::size_t i = in; i < text.size(); ++i) {
    if (digit(i) == kForeign) return std::nullopt;
    bits |= std::uint32_t{digit(i)} << (18 - 6 * (i - in));
  }
  for (int shift = 16; at < out.size(); shift -= 8)
    out[at++] = static_cast<std::uint8_t>(bits >> shift);
  return out;
}

std::string encodeBase64(std::span<const std::uint8_t> bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    const std::uint32_t triple = std::uint32_t{bytes[i]} << 16 |
                                 (left > 1 ? std::uint32_t{bytes[i + 1]} << 8 : 0) |
                                 (left > 2 ? std::uint32_t{bytes[i + 2]} : 0);
    out += kAlphabet[triple >> 18 & 63];
    out += kAlphabet[triple >> 12 & 63];
    out += left > 1 ? kAlphabet[triple >> 6 & 63] : '=';
    out += left > 2 ? kAlphabet[triple & 63] : '=';
  }
  return out;
}

}  // namespace derm
