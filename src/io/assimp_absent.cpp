#include "io/assimp_import.h"

namespace derm::detail {

bool assimpAvailable() { return false; }

Result<Character> loadWithAssimp(const std::filesystem::path& file, const ImportOptions&,
                                 Diagnostics&) {
  return Error{ErrorCode::Unsupported,
               "this format is read through assimp, which this build leaves out; "
               "configure with -DDERM_WITH_ASSIMP=ON",
               {.file = file.string()}};
}

}  // namespace derm::detail
