#include <cstdint>

#include "derm/io/stl.h"

#include "expect.h"

using namespace derm;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Diagnostics notes;
  const Result<Character> character = parseStl({data, size}, "fuzz.stl", {}, notes);
  if (!character.ok()) {
    fuzz::expectReadable(character.error());
    return 0;
  }
  fuzz::expectOk(validate(*character), "what is read is valid");
  return 0;
}
