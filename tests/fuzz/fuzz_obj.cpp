#include <cstdint>
#include <string>

#include "derm/io/obj.h"

#include "expect.h"

using namespace derm;

/// The input is also its own material library, so that both parsers see it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const SideFileReader read = [&](std::string_view) -> Result<std::vector<std::uint8_t>> {
    return std::vector<std::uint8_t>(data, data + size);
  };
  Diagnostics notes;
  const Result<Character> first = parseObj(text, "fuzz.obj", {}, notes, read);
  if (!first.ok()) {
    fuzz::expectReadable(first.error());
    return 0;
  }
  fuzz::expectOk(validate(*first), "what is read is valid");
  const std::string written = encodeObj(*first);
  const Result<Character> second = parseObj(written, "fuzz.obj", {}, notes);
  fuzz::expectOk(second, "what is written can be read");
  fuzz::expect(second->mesh.positions == first->mesh.positions, "positions come back");
  fuzz::expect(second->mesh.triangles == first->mesh.triangles, "triangles come back");
  fuzz::expect(encodeObj(*second) == written, "writing settles at once");
  return 0;
}
