#include "derm/io/file_ending.h"

#include "io/text_scanner.h"

namespace derm {

std::string fileEnding(const std::filesystem::path& file) {
  return detail::text::lowerCase(file.extension().string());
}

}  // namespace derm
