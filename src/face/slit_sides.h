#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "derm/face/face_points.h"
#include "derm/mesh/geodesic.h"

#include "face/head_surface.h"

namespace derm::detail {

/// The control points around a mouth or an eye.
struct SlitPoints {
  std::array<std::string_view, 2> corners;
  std::span<const std::string_view> upper, lower;  ///< in order from the first corner on
};
SlitPoints mouthPoints();
SlitPoints eyePoints(FaceSide side);  ///< the first corner is the outer one

/// Contours of a slit as chains of vertices, from corner to corner.
struct SlitContours {
  std::vector<std::uint32_t> upper, lower;
};
/// The shortest ways along edges through these points, on pieces in `face`. A chain is empty where
/// the points do not hang together.
SlitContours contoursThrough(const HeadSurface& head, const FacePoints& points,
                             const SlitPoints& slit, const std::vector<bool>& face);

/// [-1,1] per vertex: 1 on the upper contour, -1 on the lower one, between by the ways along the
/// skin; 0 where neither leads.
std::vector<double> slitSides(const GeodesicSurface& ways, const SlitContours& contours);

}  // namespace derm::detail
