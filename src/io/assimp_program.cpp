// derm-import: reads an FBX or DAE file with assimp in a process of its own, for parseWithAssimp().
// Its option is METRES_PER_UNIT, which may be empty; see limited_program.h for the rest, and
// import_answer.h for the answer.
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/assimp_reader.h"
#include "io/import_answer.h"
#include "io/limited_program.h"
#include "io/text_scanner.h"

namespace derm::detail {
namespace {

constexpr const char* kReader = "assimp";

int run(std::span<char*> given) {
  const std::optional<ReaderArguments> arguments = readerArguments(given);
  if (!arguments) return kBadArguments;
  ImportOptions options;
  if (double metres = 0; !arguments->option.empty()) {
    if (text::parseNumber(arguments->option, metres) != text::NumberKind::Finite)
      return kBadArguments;
    options.metres_per_unit = metres;
  }
  const auto refused = [&](std::string message) {
    return encodeAnswer(Error{ErrorCode::BadData, std::move(message), {.file = arguments->name}},
                        {});
  };
  enterLimits(*arguments, refused(arguments->tooMuchMemory(kReader)));
  openNoMoreFiles();
  const std::span<const std::uint8_t> bytes = readerInput();
  Diagnostics notes;
  const Result<Character> character = readWithAssimp(bytes, arguments->name, options, notes);
  const std::vector<std::uint8_t> out = encodeAnswer(character, notes);
  if (out.size() > static_cast<std::size_t>(arguments->answer_bytes))
    answer({refused(arguments->tooLarge(kReader, "what is in it takes more than " +
                                                     std::to_string(arguments->answer_bytes >> 20) +
                                                     " MB"))});
  answer({out});
}

}  // namespace
}  // namespace derm::detail

int main(int argc, char** argv) {
  return derm::detail::run(std::span(argv + 1, static_cast<std::size_t>(std::max(argc - 1, 0))));
}
