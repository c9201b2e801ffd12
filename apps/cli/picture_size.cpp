#include "picture_size.h"

#include <charconv>

namespace derm::cli {

Result<PictureSize> pictureSize(const std::string& text) {
  PictureSize size;
  const char* const end = text.data() + text.size();
  const auto width = std::from_chars(text.data(), end, size.width);
  if (width.ec == std::errc{} && width.ptr != end && *width.ptr == 'x') {
    const auto height = std::from_chars(width.ptr + 1, end, size.height);
    if (height.ec == std::errc{} && height.ptr == end && size.width > 0 && size.height > 0)
      return size;
  }
  return Error{ErrorCode::BadArgument, "--size \"" + text + "\": WIDTHxHEIGHT is expected", {}};
}

}  // namespace derm::cli
