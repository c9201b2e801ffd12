#pragma once

#include <cstdint>
#include <filesystem>
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

/// Reads Wavefront OBJ from memory. Our own reader, since vertex numbers are a promise here:
/// sculpts, masks and correspondences of other files refer to them, and assimp renumbers, splits
/// and drops.
///
///  - Vertex i is the i-th `v`, unreferenced ones too. Only where one `v` is used with different
///    `vt` or `vn` is it doubled: its first use keeps the number, further ones come after all `v`.
///  - Polygons of any size are cut into triangles (ear clipping where concave), in file order.
///  - `usemtl` runs become parts. `g` and `o` names become vertex groups of strength 1 (blanks in
///    `o` names turn into '_'). Each `o` becomes an instance where the objects' vertices follow one
///    another and nothing was doubled; otherwise the file is one instance.
///  - Materials: Kd (taken as linear), d or Tr, Ns, Pm, Pr, map_Kd and norm of the `mtllib` files,
///    which `read_side_file` provides; without it, or without the file, they keep their names only.
///    Pictures come the same way and are carried undecoded (PNG, JPEG, WebP); those that are not
///    there are noted by name.
///  - Vertex colours (`v x y z r g b`) are taken as sRGB. The `w` of `v` is ignored.
///  - Missing normals, and those that are no numbers, are computed, area-weighted over coinciding
///    vertices, and noted.
///  - Lines, points, curves and surfaces are skipped with a note. `vt` has its origin at the bottom
///    left and is turned to glTF's.
///  - OBJ has no unit and no axes: metres and +Y up are assumed (noted).
///
/// Errors name line and index: numbers that are none or not finite, indices that are 0 or out of
/// range, no vertex at all. Memory: at most 64 MB + 20 times the text. O(text).
Result<Character> parseObj(std::string_view text, std::string_view name,
                           const ImportOptions& options, Diagnostics& notes,
                           const SideFileReader& read_side_file = {});
/// Material libraries and pictures are looked for beside the file and where it says.
Result<Character> loadObj(const std::filesystem::path& file, const ImportOptions& options,
                          Diagnostics& notes);

/// The mesh as OBJ text: `v`, `vt`, `vn` with the shortest digits that give the same floats back,
/// one index per vertex, groups, `usemtl` names. Reading it again gives equal positions, triangles,
/// normals, uvs (down to v = 1e-8) and, if made of whole triangles, groups. Same input, same bytes.
/// Requires validate(character).
std::string encodeObj(const Character& character);
/// Whole or not at all. Notes what OBJ cannot hold: skeleton, skin, clips, morphs, group strengths,
/// all of a material but its name. A character without vertices is a BadArgument error; one that
/// fails validate() is that error.
Result<void> saveObj(const std::filesystem::path& file, const Character& character,
                     Diagnostics& notes, OutputFiles& files = diskFiles());

}  // namespace derm
