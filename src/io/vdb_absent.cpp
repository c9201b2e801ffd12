#include "derm/io/vdb.h"

namespace derm {
namespace {

Error vdbAbsent(const std::filesystem::path& file) {
  return Error{ErrorCode::Unsupported,
               "this derm was built without OpenVDB (DERM_WITH_OPENVDB)",
               {.file = file.string()}};
}

}  // namespace

bool hasVdb() { return false; }
Result<void> saveVdb(const std::filesystem::path& file, const LevelSetBlocks&) {
  return vdbAbsent(file);
}
Result<LevelSetBlocks> loadVdb(const std::filesystem::path& file, std::optional<double>) {
  return vdbAbsent(file);
}

}  // namespace derm
