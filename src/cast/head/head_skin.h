#pragma once

#include <string>

#include "derm/mesh/tri_mesh.h"

#include "cast/head/subdivide.h"

namespace derm::detail::cast {

/// The finished surface of a head: one open disc whose rim is the cut of the neck.
struct HeadSkin {
  std::vector<Vec3d> positions;  ///< [cm] with hair
  std::vector<Vec3d> bare;       ///< [cm] without
  std::vector<SkinLabels> labels;
  std::vector<std::uint32_t> mirror;  ///< each vertex's partner at -x
  std::vector<Triangle> triangles;
  std::vector<SkinPart> parts;  ///< per triangle
  /// Feature points by MPEG-4 label.
  std::vector<std::pair<std::string, std::uint32_t>> points;
  std::uint32_t crown = 0;  ///< vertex at its middle
};

HeadSkin makeHeadSkin(const HeadDesign& design);

/// Middle of an eyeball. [cm]
inline Vec3d eyeCentre(const HeadDesign& design, int side) {
  return {side * design.eye.centre.x(), design.eye.centre.y(), design.eye.centre.z()};
}

/// Area-weighted, of unit length.
std::vector<Vec3d> vertexNormals(const std::vector<Vec3d>& positions,
                                 const std::vector<Triangle>& triangles);

}  // namespace derm::detail::cast
