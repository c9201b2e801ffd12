#pragma once

#include <string_view>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/character/character.h"

namespace derm::detail::obj {

/// Reads an .mtl text into the materials (and pictures) of `character` that have its names;
/// materials nobody uses are left out. `folder` is the text's folder relative to the OBJ, "" or
/// ending in '/'. Lines that make no sense are noted and skipped: a material never spoils a mesh.
void parseMaterials(std::string_view text, std::string_view file, std::string_view folder,
                    Character& character, Diagnostics& notes);

}  // namespace derm::detail::obj
