#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/io/import_options.h"

namespace derm {

/// Reads Geomview's OFF from memory: text, a vertex or a face per line, "#" starts a comment. Our
/// own reader, since assimp believes the counts of the header and allocates for them.
///
///  - The keyword may be left out, or stand directly before the counts. Its prefixes ST, C, N and 4
///    announce texture coordinates, colours (whole numbers over 255, taken as sRGB), normals and a
///    fourth, homogeneous coordinate: x y z [w] [nx ny nz] [r g b a] [s t].
///  - Faces of three corners or more are cut into triangles in file order; smaller ones are
///    skipped (noted). Colours of faces are not used. Vertex i of the file is vertex i of the mesh.
///  - Missing normals are computed (noted). No unit or axes are declared: metres, +Y up assumed.
///
/// The counts must fit the bytes that follow. Errors name the line. Binary OFF and vectors of n
/// dimensions (nOFF) are Unsupported. Memory: at most 64 MB + 20 times the bytes. O(bytes).
Result<Character> parseOff(std::string_view text, std::string_view name,
                           const ImportOptions& options, Diagnostics& notes);
Result<Character> loadOff(const std::filesystem::path& file, const ImportOptions& options,
                          Diagnostics& notes);

}  // namespace derm
