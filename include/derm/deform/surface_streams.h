#pragma once

#include <span>

#include "derm/math/vec.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

/// The moving part of a surface, to read: one entry per vertex, in the caller's order.
struct SurfaceStreams {
  std::span<const Vec3f> positions;  ///< [m]
  std::span<const Vec3f> normals;    ///< unit length; may be empty
  std::span<const Vec4f> tangents;   ///< xyz unit length, w = +-1; may be empty
};

/// The same, to write. Streams left empty are not computed.
struct SurfaceOutput {
  std::span<Vec3f> positions;  ///< [m]
  std::span<Vec3f> normals;
  std::span<Vec4f> tangents;
};

inline SurfaceStreams surfaceOf(const TriMesh& mesh) {
  return {mesh.positions, mesh.normals, mesh.tangents};
}
inline SurfaceOutput outputOf(TriMesh& mesh) {
  return {mesh.positions, mesh.normals, mesh.tangents};
}

}  // namespace derm
