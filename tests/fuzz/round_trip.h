#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/io/gltf.h"

#include "expect.h"

namespace derm::fuzz {

/// Reads glTF bytes; what is read must be valid, and what is written from it must be readable.
inline void roundTripGltf(std::span<const std::uint8_t> bytes) {
  const SideFileReader no_files = [](std::string_view uri) -> Result<std::vector<std::uint8_t>> {
    return Error{ErrorCode::CannotRead, "no such file", {.file = std::string(uri)}};
  };
  Diagnostics notes;
  const Result<Character> first = parseGltf(bytes, "fuzz", no_files, {}, notes);
  if (!first.ok()) {
    expectReadable(first.error());
    return;
  }
  expectOk(validate(*first), "what is read is valid");
  const Result<std::vector<std::uint8_t>> written = encodeGlb(*first, notes);
  if (!written.ok()) {
    expectReadable(written.error());
    return;
  }
  const Result<Character> second = parseGltf(*written, "fuzz", no_files, {}, notes);
  expectOk(second, "what is written can be read");
  expectOk(validate(*second), "what is read again is valid");
  expect(second->mesh.positions.size() == first->mesh.positions.size(), "vertices come back");
  expect(second->mesh.triangles.size() == first->mesh.triangles.size(), "triangles come back");
}

}  // namespace derm::fuzz
