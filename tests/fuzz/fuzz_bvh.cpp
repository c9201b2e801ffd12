#include <cstdint>

#include "derm/io/bvh.h"

#include "expect.h"

using namespace derm;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Diagnostics notes;
  Result<BvhMotion> motion = parseBvh(text, "fuzz.bvh", {}, notes);
  if (!motion.ok()) {
    fuzz::expectReadable(motion.error());
    return 0;
  }
  const Character character = characterOf(*std::move(motion), {});
  fuzz::expectOk(validate(character), "what is read is valid");
  return 0;
}
