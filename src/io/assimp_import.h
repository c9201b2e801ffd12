#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/io/import_options.h"
#include "derm/io/side_files.h"

namespace derm::detail {

/// False in a build with DERM_WITH_ASSIMP=OFF; parseWithAssimp then says so in its error.
bool assimpAvailable();

/// Reads FBX and DAE through the assimp library (5.2), which we trust with these formats' syntax,
/// but not with memory, time, units, axes or ranges. So it runs in a process of its own, the
/// program `derm-import` (found as modules are, derm/base/module.h), under limits that the system
/// enforces (limited_process.h); what comes back is checked as bytes from a file are. A file that
/// takes assimp down, or more memory or time than its size allows, is BadData; the caller's process
/// does not notice. Safe to call from several threads, and in programs that have threads.
///
///  - With bones or moving nodes every node becomes a joint, and meshes without bones follow theirs
///    rigidly. Otherwise node transforms are baked and the character is a bare mesh.
///  - Vertices that are equal in all they have are joined (FBX lists every corner apart), so vertex
///    numbers are not the file's.
///  - Bones give the skin with its binds; blend shapes become morph targets (positions); key frames
///    become linear tracks in seconds, morph weights too; embedded pictures are carried undecoded,
///    and so are those (PNG, JPEG, WebP) that `read_side_file` finds where the file says, or beside
///    it.
///  - Units: FBX's UnitScaleFactor (centimetres), DAE's <unit meter>. Up axis from FBX's global
///    settings or DAE's <up_axis>. All of it ends in metres, +Y up.
Result<Character> parseWithAssimp(std::span<const std::uint8_t> bytes, std::string_view name,
                                  const SideFileReader& read_side_file,
                                  const ImportOptions& options, Diagnostics& notes);
Result<Character> loadWithAssimp(const std::filesystem::path& file, const ImportOptions& options,
                                 Diagnostics& notes);

}  // namespace derm::detail
