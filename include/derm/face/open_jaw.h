#pragma once

#include <span>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/face/face_slits.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

/// What opening the jaw does to a head.
struct JawOpening {
  std::vector<Vec3f> moves;  ///< [m] per vertex at a share of 1; empty: it cannot be opened
  /// Per vertex: behind the lips, teeth and tongue too. Seen where the mouth is open, and on no two
  /// heads alike.
  std::vector<bool> inside;
  FaceSlit mouth;  ///< the lips' margins

  bool operator==(const JawOpening&) const = default;
};

/// By its own shape "jawOpen" where the head has one, else by its control points
/// (arkit_shapes.h). Empty where it has neither, or lips that cannot part.
JawOpening jawOpening(const Character& head);

/// The head with its jaw opened by a share of that: another rest shape, the same vertices and
/// triangles. Without normals and tangents.
TriMesh withOpenJaw(const TriMesh& head, const JawOpening& jaw, double share);

}  // namespace derm
