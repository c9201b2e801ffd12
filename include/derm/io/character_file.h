#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/io/import_options.h"

namespace derm {

/// Reads a character or a bare mesh; the format is told by the file's ending (letter case ignored)
/// and, for glTF, by its first bytes. The result has passed validate(Character).
Result<Character> loadCharacter(const std::filesystem::path& file, const ImportOptions& options,
                                Diagnostics& notes);

/// Writes .glb, .gltf or .obj, whole or not at all. What the format cannot hold (an OBJ has no
/// skeleton) is noted.
Result<void> saveCharacter(const Character& character, const std::filesystem::path& file,
                           Diagnostics& notes);

/// Endings loadCharacter knows, with the dot: ".glb", ".gltf", ".obj", …
std::vector<std::string> readableEndings();

}  // namespace derm
