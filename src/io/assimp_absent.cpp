#include <string>

#include "io/assimp_import.h"

namespace derm::detail {

bool assimpAvailable() { return false; }

Result<Character> parseWithAssimp(std::span<const std::uint8_t>, std::string_view name,
                                  const SideFileReader&, const ImportOptions&, Diagnostics&) {
  return Error{ErrorCode::Unsupported,
               "this format is read through assimp, which this build leaves out; "
               "configure with -DDERM_WITH_ASSIMP=ON",
               {.file = std::string(name)}};
}

Result<Character> loadWithAssimp(const std::filesystem::path& file, const ImportOptions& options,
                                 Diagnostics& notes) {
  return parseWithAssimp({}, file.string(), {}, options, notes);
}

}  // namespace derm::detail
