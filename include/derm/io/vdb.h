#pragma once

#include <filesystem>
#include <string_view>

#include "derm/base/result.h"
#include "derm/mesh/level_set_blocks.h"

namespace derm {

/// Level sets as OpenVDB files (.vdb), which Houdini and Blender open: one float grid of class
/// "level set", distances in metres, negative inside as OpenVDB has them. An optional part: built
/// with DERM_WITH_OPENVDB; without it both functions fail with Unsupported and say so.

bool hasVdb();

/// Writes the grid "surface", whole or not at all.
Result<void> saveVdb(const std::filesystem::path& file, const LevelSetBlocks& level_set);

/// The first float grid of the file. Errors: files that are no .vdb or are broken, no float grid, a
/// grid that is no level set, transforms that are not a uniform scale and a shift.
Result<LevelSetBlocks> loadVdb(const std::filesystem::path& file);

}  // namespace derm
