#include "derm/io/side_files.h"

#include "derm/io/file_bytes.h"

namespace derm {
namespace {

constexpr std::uint64_t kLargest = 256 << 20;  // [bytes]

}  // namespace

SideFileReader sideFilesOf(const std::filesystem::path& file) {
  return [folder = file.parent_path()](std::string_view name) {
    std::filesystem::path path(name);
    if (path.is_absolute() || name.find(':') != std::string_view::npos) path = path.filename();
    return readFile(folder / path, kLargest);
  };
}

}  // namespace derm
