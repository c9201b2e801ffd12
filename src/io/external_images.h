#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "derm/base/diagnostics.h"
#include "derm/character/character.h"
#include "derm/io/side_files.h"

namespace derm::detail {

/// "image/png", "image/jpeg" or "image/webp" by the first bytes; empty for all else.
std::string pictureType(std::span<const std::uint8_t> bytes);
/// The same by the ending of a name.
std::string pictureTypeOfName(std::string_view name);

/// Reads the pictures that the OBJ, FBX or DAE `file` names by path, so that they go where the
/// character goes: from that path relative to the file, or from beside the file under the bare name
/// (absolute paths come from another machine). Only PNG, JPEG and WebP are taken in. Uris become
/// relative ones, percent-encoded. A picture that is not there is warned of by name and stays a
/// reference; one without a name is taken out.
void fetchExternalImages(std::string_view file, const SideFileReader& read, Character& character,
                         Diagnostics& notes);

}  // namespace derm::detail
