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

/// Reads STL from memory, binary (told by its size: 84 + 50 bytes per triangle) or text. Our own
/// reader: assimp needs 35 times the file and a second per 100,000 triangles to join corners.
///
///  - Corners that are equal in position and normal become one vertex, in the order of their first
///    use. Triangles without a normal in the file (zero) get one from the faces around (noted).
///  - Each solid of a text file is a part, named as it is. Colours of binary files (VisCAM's order
///    of bits, or Materialise Magics' where the header says COLOR=) become vertex colours, sRGB.
///  - No unit or axes are declared: metres, +Y up assumed.
///
/// Errors name the line or byte: a file that ends early, numbers that are not finite. Memory: at
/// most 64 MB + 20 times the bytes. O(n log n).
Result<Character> parseStl(std::span<const std::uint8_t> bytes, std::string_view name,
                           const ImportOptions& options, Diagnostics& notes);
Result<Character> loadStl(const std::filesystem::path& file, const ImportOptions& options,
                          Diagnostics& notes);

}  // namespace derm
