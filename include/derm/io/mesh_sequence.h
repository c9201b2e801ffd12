#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

/// A mesh as binary little-endian PLY: positions, normals where there are any, `velocities` [m/s]
/// as vx vy vz where given (one per vertex), triangles. Same input, same bytes.
std::vector<std::uint8_t> encodePly(const TriMesh& mesh, std::span<const Vec3f> velocities = {});

/// One mesh as a character in a single material, for files.
Character stillCharacter(TriMesh mesh, std::string_view name);

/// Meshes of changing topology as one character: every frame is an instance of its own that hangs
/// on a joint, and the clip "play" lets one of them at a time have size 1 and all others size 0
/// (step interpolation), which every glTF player understands. Frames without triangles show
/// nothing. Requires fps > 0.
Character sequenceCharacter(std::span<const TriMesh> frames, double fps, std::string_view name);

}  // namespace derm
