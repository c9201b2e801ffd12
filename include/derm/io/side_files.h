#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "derm/base/result.h"

namespace derm {

/// Gives the bytes of a file that another one names: buffers and images of a glTF, material
/// libraries and pictures of an OBJ, pictures of an FBX or DAE. The name is relative to the file
/// that is read, with '/' between folders; an Error where there is no such file. What a page
/// fetched or an archive holds can be handed to the parsers this way; see also MemoryFiles.
using SideFileReader =
    std::function<Result<std::vector<std::uint8_t>>(std::string_view relative_name)>;

/// Side files of a file on disk. Absolute names come from the machine that wrote the file, so what
/// they name is looked for beside it.
SideFileReader sideFilesOf(const std::filesystem::path& file);

}  // namespace derm
