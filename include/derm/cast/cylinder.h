#pragma once

#include <array>
#include <vector>

#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

/// The reference cylinder of the volume-preserving skinning tables, in its three resolutions.
enum class CylinderKind {
  M627,  ///< 25 rings x 25 sectors and two cap centres: closed, 1250 triangles
  M625,  ///< 25 x 25 grid whose end rings are collapsed to points: closed only after welding
  M258,  ///< 16 rings x 16 sectors and two cap centres: closed, 512 triangles
};

inline constexpr double kCylinderLength = 20.0;  ///< [m] along +z, from z = 0
inline constexpr double kCylinderRadius = 1.0;   ///< [m]

/// The cylinder in double, for tests and tables that need more digits than a Character holds.
/// Joints lie on the axis at z = 0, 10, 20; only the first two move vertices. A vertex's weights
/// follow the inverse squared distances to the end joints' points:
/// w0 = d2^2 / (d0^2 + d2^2), w1 = 1 - w0. The tables bend joint 1 about +y through (0, 0, 10).
///
///   vertex id = ring * sectors + sector; a quad (a b / c d one ring further along z) is split
///   into (a, b, d) and (a, d, c), counter-clockwise from outside. Cap centres come last.
struct CylinderModel {
  std::vector<Vec3d> positions;  ///< [m]
  std::vector<Triangle> triangles;
  std::vector<std::array<double, 2>> weights;  ///< of joints 0 and 1; sum 1
  std::size_t rings = 0;
  std::size_t sectors = 0;
};

CylinderModel makeCylinderModel(CylinderKind kind);

/// Whose weights a cylinder of one's own has.
enum class CylinderWeights {
  Distance,  ///< inverse squared distances to the ends, as the reference cylinder
  Axis,      ///< linear along the axis
  Halves,    ///< one joint per vertex: the first half follows j0, the second j1
};

/// A cylinder of N_u x N_v points, length L and radius R, as the papers' own differ.
struct CylinderDesc {
  int rings = 25;                     ///< [2,1000] N_u, along the axis, ends included
  int sectors = 25;                   ///< [3,1000] N_v, around it
  double length_m = kCylinderLength;  ///< [m] > 0, along +z
  double radius_m = kCylinderRadius;  ///< [m] > 0
  CylinderWeights weights = CylinderWeights::Distance;
};

/// Closed by two cap centres, joints j0, j1, j2 at the start, the middle and the end; clips "bend"
/// and "twist" of j1. Errors name the number out of range.
Result<Character> makeCylinder(const CylinderDesc& desc);

}  // namespace derm
