#pragma once

#include <filesystem>
#include <optional>
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

/// The first float grid of the file. With `density_iso` > 0 the grid is a density (OpenVDB's fog
/// volumes, or any class) instead of a level set, and what has more than that is inside: its values
/// become rough distances, right in sign and, by the grid's own slope, near the surface. Errors:
/// files that are no .vdb or are broken, no float grid, a grid that is no level set where one is
/// expected, nowhere so dense, transforms that are not a uniform scale and a shift.
Result<LevelSetBlocks> loadVdb(const std::filesystem::path& file,
                               std::optional<double> density_iso = {});

}  // namespace derm
