#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "derm/mesh/tri_mesh.h"

namespace derm::detail::cast {

/// Unit directions and triangles that cover the sphere, counter-clockwise from outside.
struct SphereMesh {
  std::vector<Vec3d> directions;
  std::vector<Triangle> triangles;
};

/// Each edge of an octahedron in n parts: 4 n^2 + 2 vertices, 8 n^2 triangles.
SphereMesh octahedronMesh(int n);
/// `rows` bands from +y to -y with `columns` vertices around: triangles at the poles, else quads
/// cut in two.
SphereMesh latLongMesh(int rows, int columns);

/// A flat ellipse seen from the front. [cm]
struct SlitEllipse {
  double y = 0;  ///< its middle is (0, y)
  double half_width = 1;
  double half_height = 0.1;
};

/// Cuts a slit into the front of a surface: drops front triangles whose middle lies in the ellipse
/// and moves the rim's vertices onto it (`on_front` gives the surface over (x, y)). A mesh coarser
/// than the slit would be left with loose, pinched or flat triangles: those are dropped, too, so
/// that the rim is one simple loop, and vertices around it are evened out. False where nothing can
/// be cut. Vertices that are not used any more go.
bool cutSlit(std::vector<Vec3d>& positions, std::vector<Triangle>& triangles,
             const SlitEllipse& slit, const std::function<Vec3d(double, double)>& on_front);

}  // namespace derm::detail::cast
