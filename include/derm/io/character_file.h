#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/io/import_options.h"
#include "derm/io/output_files.h"
#include "derm/io/side_files.h"

namespace derm {

/// Reads a character or a bare mesh; the format is told by the file's ending (letter case ignored)
/// and, for glTF, by its first bytes. Names of joints, shapes and clips are UTF-8: what is not is
/// read as Latin-1, with a note. The result has passed validate(Character).
Result<Character> loadCharacter(const std::filesystem::path& file, const ImportOptions& options,
                                Diagnostics& notes);

/// The same from memory; `name` stands for the file's, and is used in errors and for the character.
/// `read_side_file` gives the files that it names.
Result<Character> parseCharacter(std::span<const std::uint8_t> bytes, std::string_view name,
                                 const ImportOptions& options, Diagnostics& notes,
                                 const SideFileReader& read_side_file = {});

/// Writes .glb, .gltf or .obj, whole or not at all. What the format cannot hold (an OBJ has no
/// skeleton) is noted.
Result<void> saveCharacter(const Character& character, const std::filesystem::path& file,
                           Diagnostics& notes, OutputFiles& files = diskFiles());

/// Endings loadCharacter knows, with the dot: ".glb", ".gltf", ".obj", …
std::vector<std::string> readableEndings();

}  // namespace derm
