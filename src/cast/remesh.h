#pragma once

#include <span>
#include <vector>

#include "cast/surface.h"

namespace derm::detail::cast {

/// A part of the surface that wants triangles of another size than the rest.
struct DetailSpot {
  Bead a, b;              ///< inside this round cone (mirrored to -x too) ...
  double edge = 0.01;     ///< [m] ... edges have this length
  double falloff = 0.02;  ///< [m] distance over which it fades to the base length
};

struct RemeshDesc {
  double base_edge = 0.02;  ///< [m] wanted edge length; scaled to meet the budget
  std::vector<DetailSpot> spots;
  std::size_t triangles = 2000;  ///< exact number wanted in the result
  int passes = 8;                ///< of split, collapse, flip, smooth
  bool half = false;             ///< the surface is cut by x = 0: keep its border there
};

/// Nearly equilateral triangles of varying size on the sculpt's surface: isotropic remeshing
/// (Botsch and Kobbelt, "A remeshing approach to multiresolution modeling", 2004: split long
/// edges, collapse short ones, flip towards regular valence, smooth tangentially, project), with
/// our additions: a size field, the cut x = 0 and region outlines kept as lines, and a last pass
/// that meets the triangle budget exactly. Keeps the topology (link condition). Regions as they
/// were cut.
Surface remeshed(const Surface& fine, const Sculpt& sculpt, std::span<const Region> regions,
                 const RemeshDesc& desc);

}  // namespace derm::detail::cast
