#include "derm/io/vdb.h"

#include "derm/base/module.h"
#include "derm/base/number_text.h"
#include "derm/io/file_bytes.h"

#include "io/limited_process.h"
#include "io/vdb_answer.h"
#include "io/vdb_module.h"

namespace derm {
namespace {

Result<const detail::VdbModule*> module() {
  static const Result<const detail::VdbModule*> loaded = []() -> Result<const detail::VdbModule*> {
    DERM_TRY(void* const entry, loadModuleFunction("derm_io_vdb"));
    const auto* const functions =
        reinterpret_cast<detail::VdbModuleEntry>(entry)(detail::kVdbModuleVersion);
    if (functions != nullptr) return functions;
    return Error{
        ErrorCode::Unsupported, "belongs to another version of derm", {.file = "derm_io_vdb"}};
  }();
  return loaded;
}

}  // namespace

bool hasVdb() { return true; }

Result<void> saveVdb(const std::filesystem::path& file, const LevelSetBlocks& level_set) {
  DERM_TRY(const detail::VdbModule* const vdb, module());
  Result<std::string> bytes = vdb->encode(level_set);
  if (!bytes) {
    Error e = bytes.error();
    e.where.file = file.string();
    return e;
  }
  return writeFileWhole(file, std::string_view(*bytes));
}

Result<LevelSetBlocks> loadVdb(const std::filesystem::path& file,
                               std::optional<double> density_iso) {
  DERM_TRY(const std::vector<std::uint8_t> bytes, readFile(file));
  detail::MemoryFile out("derm-reader-answer");
  DERM_TRY(const std::span<const std::uint8_t> answer,
           detail::runReader({.program = "derm-read-vdb",
                              .reader = "OpenVDB",
                              .name = file.string(),
                              .option = exactNumber(density_iso.value_or(0))},
                             bytes, out));
  return detail::decodeVdbAnswer(answer, file.string());
}

}  // namespace derm
