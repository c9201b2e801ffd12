#include "io/base64.h"

#include <array>

namespace derm {
namespace {

constexpr std::uint8_t kForeign = 0xFF;

constexpr std::array<std::uint8_t, 256> decodeTable() {
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<std::uint8_t, 256> table{};
  table.fill(kForeign);
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    table[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
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

}  // namespace derm
