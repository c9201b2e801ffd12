#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/face/face_points.h"
#include "derm/mesh/surface_point.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

/// The opening between two lids or two lips, as two chains of vertices along their margins:
///
///              u1   u2
///          .---o----o---.          along = from the first corner to the second
///     u0=l0 <            > u3=l3   up    = from the lower to the upper chain, at right angles
///          '---o----o---'          outward = along x up or its reverse: to who looks at the face
///              l1   l2
///
/// Of vertices at one position the first stands for all.
struct FaceSlit {
  std::vector<std::uint32_t> upper;  ///< corner to corner, both included; at least three
  std::vector<std::uint32_t> lower;  ///< the same corners
  Vec3d along = Vec3d::UnitX();      ///< unit length, as the next two
  Vec3d up = Vec3d::UnitY();
  Vec3d outward = Vec3d::UnitZ();
  double width_m = 0;    ///< [m] corner to corner
  double opening_m = 0;  ///< [m] largest distance between the chains, along `up`; >= 0

  bool operator==(const FaceSlit&) const = default;
};

/// What of a face can open and shut. Absent: the surface has no such opening there.
struct FaceSlits {
  std::optional<FaceSlit> left_eye;  ///< the subject's left
  std::optional<FaceSlit> right_eye;
  std::optional<FaceSlit> mouth;
};

/// Finds the slits of a head by its control points: corners 3.11 3.7 3.1 3.3 (left eye), 3.12 3.8
/// 3.2 3.4 (right), 8.4 8.3 8.1 8.2 (mouth); a slit whose points are not all there is left out.
///
/// Method: seen from straight before the opening, the skin around it ends where the lid or lip
/// turns inward, whether the mesh ends there too (a hole) or goes on into a socket. So: triangles
/// of the piece most of these points lie on that face the viewer with nothing of that piece in
/// front of them, as far as they hang together with the skin around; the border of this set that
/// runs from corner to corner is the slit. Eyeballs, lashes and teeth are other pieces and do not
/// matter. Notes: face-no-slit (nothing opens between these points). Requires a valid mesh and
/// points valid on it. O(n log n).
FaceSlits findFaceSlits(const TriMesh& mesh, std::span<const LabelledPoint> points,
                        Diagnostics& notes);
/// The same by positions; the piece is the one that most control points lie nearest to.
FaceSlits findFaceSlits(const TriMesh& mesh, const FacePoints& points, Diagnostics& notes);

}  // namespace derm
