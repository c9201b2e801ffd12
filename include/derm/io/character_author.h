#pragma once

#include <filesystem>

namespace derm {

/// Whether the file is a character (.glb, .gltf, .obj) that derm itself has written and nobody has
/// written since: by the name that glTF files give of their generator, by the first line of an OBJ.
/// False where the file cannot be read or is something else. Reads a glTF's JSON, not its buffers.
bool isWrittenByDerm(const std::filesystem::path& character);

}  // namespace derm
