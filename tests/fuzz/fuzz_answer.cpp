#include <cstdint>
#include <vector>

#include "expect.h"
#include "io/import_answer.h"

using namespace derm;

// What derm-import hands back, after anything at all happened to it. The first bytes only say that
// an answer is whole: they are put there, so that no time goes into guessing them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::uint8_t> bytes = detail::encodeAnswer(Error{}, {});
  bytes.resize(8);
  bytes.insert(bytes.end(), data, data + size);
  Diagnostics notes;
  const Result<Character> character = detail::decodeAnswer(bytes, "fuzz.fbx", 16, notes);
  if (character.ok()) fuzz::expectOk(validate(*character), "what is read is valid");
  return 0;
}
