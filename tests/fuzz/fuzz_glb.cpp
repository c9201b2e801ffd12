#include <algorithm>
#include <cstring>

#include "round_trip.h"

namespace {

void put(std::vector<std::uint8_t>& out, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8)
    out.push_back(static_cast<std::uint8_t>(value >> shift));
}

void putChunk(std::vector<std::uint8_t>& out, std::uint32_t type,
              std::span<const std::uint8_t> data, std::uint8_t filler) {
  const std::size_t padding = (4 - data.size() % 4) % 4;
  put(out, static_cast<std::uint32_t>(data.size() + padding));
  put(out, type);
  out.insert(out.end(), data.begin(), data.end());
  out.insert(out.end(), padding, filler);
}

}  // namespace

/// Bytes that begin with the magic are a container as it is. Others are taken as "length of the
/// JSON, JSON, binary chunk" and wrapped, so that mutations reach what lies behind the lengths.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> bytes(data, size);
  if (size < 4 || std::memcmp(data, "glTF", 4) == 0) {
    derm::fuzz::roundTripGltf(bytes);
    return 0;
  }
  std::uint32_t json_size = 0;
  std::memcpy(&json_size, data, 4);
  const std::span<const std::uint8_t> rest = bytes.subspan(4);
  const std::size_t split = std::min<std::size_t>(json_size, rest.size());
  std::vector<std::uint8_t> glb = {'g', 'l', 'T', 'F', 2, 0, 0, 0, 0, 0, 0, 0};
  putChunk(glb, 0x4E4F534A, rest.first(split), ' ');
  putChunk(glb, 0x004E4942, rest.subspan(split), 0);
  const auto total = static_cast<std::uint32_t>(glb.size());
  for (int i = 0; i < 4; ++i) glb[8 + i] = static_cast<std::uint8_t>(total >> (8 * i));
  derm::fuzz::roundTripGltf(glb);
  return 0;
}
