#include <string>
#include <vector>

#include "derm/base/number_text.h"
#include "derm/io/file_bytes.h"

#include "io/assimp_import.h"
#include "io/external_images.h"
#include "io/import_answer.h"
#include "io/import_units.h"
#include "io/limited_process.h"

namespace derm::detail {

bool assimpAvailable() { return true; }

Result<Character> parseWithAssimp(std::span<const std::uint8_t> bytes, std::string_view name,
                                  const SideFileReader& read_side_file,
                                  const ImportOptions& options, Diagnostics& notes) {
  DERM_TRY([[maybe_unused]] const double usable_unit, metresPerUnit(options, 1.0, name));
  MemoryFile out("derm-reader-answer");
  DERM_TRY(const std::span<const std::uint8_t> answer,
           runReader({.program = "derm-import",
                      .reader = "assimp",
                      .name = name,
                      .option = options.metres_per_unit ? exactNumber(*options.metres_per_unit)
                                                        : std::string()},
                     bytes, out));
  DERM_TRY(Character character, decodeAnswer(answer, name, bytes.size(), notes));
  if (read_side_file) fetchExternalImages(name, read_side_file, character, notes);
  return character;
}

Result<Character> loadWithAssimp(const std::filesystem::path& file, const ImportOptions& options,
                                 Diagnostics& notes) {
  DERM_TRY(const std::vector<std::uint8_t> bytes, readFile(file));
  return parseWithAssimp(bytes, file.string(), sideFilesOf(file), options, notes);
}

}  // namespace derm::detail
