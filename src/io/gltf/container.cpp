#include "io/gltf/container.h"

#include <cstring>
#include <limits>

#include <fmt/format.h>

namespace derm::detail::gltf {
namespace {

constexpr std::uint32_t kMagic = 0x46546C67;      // "glTF"
constexpr std::uint32_t kJsonChunk = 0x4E4F534A;  // "JSON"
constexpr std::uint32_t kBinChunk = 0x004E4942;   // "BIN"
constexpr std::size_t kHeader = 12;
constexpr std::size_t kChunkHeader = 8;

std::uint32_t readWord(std::span<const std::uint8_t> bytes, std::size_t at) {
  return std::uint32_t{bytes[at]} | std::uint32_t{bytes[at + 1]} << 8 |
         std::uint32_t{bytes[at + 2]} << 16 | std::uint32_t{bytes[at + 3]} << 24;
}

void appendWord(std::vector<std::uint8_t>& out, std::uint32_t word) {
  for (int shift = 0; shift < 32; shift += 8)
    out.push_back(static_cast<std::uint8_t>(word >> shift));
}

}  // namespace

bool isGlb(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 4 && readWord(bytes, 0) == kMagic;
}

Result<GlbChunks> splitGlb(std::span<const std::uint8_t> bytes, std::string_view name,
                           Diagnostics& notes) {
  const auto bad = [&](std::string message, std::size_t byte, ErrorCode code = ErrorCode::BadData) {
    return Error{
        code, std::move(message), {.file = std::string(name), .element = "GLB", .byte = byte}};
  };
  if (bytes.size() < kHeader) return bad("the file ends inside its header", bytes.size());
  const std::uint32_t version = readWord(bytes, 4);
  if (version != 2)
    return bad(fmt::format("binary glTF version {}; only version 2 is read", version), 4,
               ErrorCode::Unsupported);
  const std::uint32_t length = readWord(bytes, 8);
  if (length < kHeader) return bad(fmt::format("declared length {} is too small", length), 8);
  if (length > bytes.size())
    return bad(fmt::format("{} bytes declared, but the file has {}", length, bytes.size()), 8);
  if (length < bytes.size())
    notes.warn("trailing-bytes", "GLB", "bytes after the declared end are ignored", length);
  GlbChunks out;
  std::size_t at = kHeader;
  for (std::size_t chunk = 0; at < length; ++chunk) {
    if (length - at < kChunkHeader) return bad("the file ends inside a chunk's header", at);
    const std::uint32_t size = readWord(bytes, at);
    const std::uint32_t type = readWord(bytes, at + 4);
    if (size > length - at - kChunkHeader)
      return bad(fmt::format("chunk {} declares {} bytes, but {} are left", chunk, size,
                             length - at - kChunkHeader),
                 at);
    const std::span<const std::uint8_t> body = bytes.subspan(at + kChunkHeader, size);
    if (chunk == 0) {
      if (type != kJsonChunk) return bad("the first chunk is not JSON", at + 4);
      out.json = body;
      out.json_offset = at + kChunkHeader;
    } else if (type == kBinChunk && !out.bin) {
      if (chunk != 1) notes.warn("chunk-order", "GLB", "the binary chunk is not the second", chunk);
      out.bin = body;
    } else {
      notes.warn("unknown-chunk", "GLB", "a chunk of unknown or repeated type is ignored", chunk);
    }
    at += kChunkHeader + size;
  }
  if (out.json_offset == 0) return bad("there is no JSON chunk", kHeader);
  return out;
}

Result<GlbFrame> frameGlb(std::string_view json, std::uint64_t bin_size, std::string_view name) {
  const std::uint64_t json_size = (json.size() + 3) / 4 * 4;
  const std::uint64_t padded = (bin_size + 3) / 4 * 4;
  const std::uint64_t total =
      kHeader + kChunkHeader + json_size + (bin_size == 0 ? 0 : kChunkHeader + padded);
  if (total > std::numeric_limits<std::uint32_t>::max())
    return Error{ErrorCode::Unsupported,
                 fmt::format("{} bytes are more than a binary glTF can hold", total),
                 {.file = std::string(name)}};
  GlbFrame out;
  appendWord(out.head, kMagic);
  appendWord(out.head, 2);
  appendWord(out.head, static_cast<std::uint32_t>(total));
  appendWord(out.head, static_cast<std::uint32_t>(json_size));
  appendWord(out.head, kJsonChunk);
  out.head.insert(out.head.end(), json.begin(), json.end());
  out.head.insert(out.head.end(), json_size - json.size(), ' ');
  if (bin_size > 0) {
    appendWord(out.head, static_cast<std::uint32_t>(padded));
    appendWord(out.head, kBinChunk);
    out.tail.assign(padded - bin_size, 0);
  }
  return out;
}

}  // namespace derm::detail::gltf
