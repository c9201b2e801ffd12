#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/io/import_options.h"
#include "derm/io/output_files.h"
#include "derm/io/side_files.h"

/// glTF 2.0, .gltf and .glb, in and out (specification: Khronos glTF 2.0.1, ISO/IEC 12113).
///
/// What becomes what. Every node is a joint, parents before children. Every node with a mesh in the
/// chosen scene is a MeshInstance, every triangle primitive a MeshPart; points and lines are only
/// carried. All geometry is moved into model space:
///  - a skinned mesh by A = G_j * B_j (rest global matrix times inverse bind) on which most joints
///    of its skin agree; the skin's slots get B_j * A^-1, so that sum w_j G_j B_j v of the
///    specification is what skinningMatrices() gives (the mesh node's own transform plays no part);
///  - any other mesh by its node's rest global matrix; it is `rigid` and follows that node.
/// A matrix that mirrors also flips the triangles, so that they stay counter-clockwise outside.
/// Morph targets are named by `extras.targetNames` of the mesh, or else of its primitives.
///
/// What derm has no type for (cameras, lights, extras, extensions, further uv sets, samplers, …)
/// stays in Character::source. Writing such a character gives it back: what did not change since
/// import is written as it came, what changed is written anew, and nodes, meshes, materials,
/// textures, images, skins keep their numbers, since extensions may refer to them. Joints are never
/// removed from the file. Skin weights that were repaired on import count as changed, so that
/// players which take weights as they are show what derm does.
///
/// Bytes are treated as hostile: any input gives a Character that passes validate() or one Error
/// that names the element; memory stays below 64 MB + 20 x the size of the file and its buffers.
/// Limits: no Draco, meshopt or GPU-instancing; key frames at equal times keep the first only.
namespace derm {

/// Reads .gltf or .glb, told by the first bytes. `name` is used in errors and for the character.
/// `read_uri` gives the files that it refers to by relative uri (percent-decoded, never leaving the
/// folder).
Result<Character> parseGltf(std::span<const std::uint8_t> bytes, std::string_view name,
                            const SideFileReader& read_uri, const ImportOptions& options,
                            Diagnostics& notes);

/// The same from a file; buffers and images are looked for beside it.
Result<Character> loadGltf(const std::filesystem::path& file, const ImportOptions& options,
                           Diagnostics& notes);

/// A whole .glb. Images that are separate files stay references. Errors: those of
/// validate(character), and what glTF cannot hold.
Result<std::vector<std::uint8_t>> encodeGlb(const Character& character, Diagnostics& notes);

/// Writes .glb, or for the ending .gltf the JSON with a .bin beside it; whole or not at all: both
/// are on the disk when they take their names, the .bin first. Images that are separate files are
/// embedded unless they lie beside the target already. Errors as encodeGlb().
Result<void> saveGltf(const std::filesystem::path& file, const Character& character,
                      Diagnostics& notes, OutputFiles& files = diskFiles());

}  // namespace derm
