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

/// Reads Stanford PLY from memory: ascii, binary of either byte order, any scalar types, elements
/// and properties in any order; what is not used is stepped over and noted. Our own reader, since
/// assimp renumbers vertices and refuses point sets, which serve as particles here.
///
///  - Element "vertex": x y z; nx ny nz; s t, u v or texture_u texture_v (origin bottom left,
///  turned
///    to glTF's); red green blue alpha, with or without "diffuse_" (integers over their range;
///    taken as sRGB). Vertex i of the file is vertex i of the mesh.
///  - Element "face": polygons in vertex_indices or vertex_index, cut into triangles in file order.
///    Without it the character is a set of points.
///  - Missing normals are computed (noted). No unit or axes are declared: metres, +Y up assumed.
///
/// Errors name the element and its index, and the byte: data that ends early, indices out of range,
/// numbers that are not finite. Memory: at most 64 MB + 20 times the bytes. O(bytes).
Result<Character> parsePly(std::span<const std::uint8_t> bytes, std::string_view name,
                           const ImportOptions& options, Diagnostics& notes);
Result<Character> loadPly(const std::filesystem::path& file, const ImportOptions& options,
                          Diagnostics& notes);

}  // namespace derm
