#pragma once

#include <optional>
#include <span>

#include "derm/mesh/surface_point.h"

#include "face/shape_openings.h"

namespace derm::detail {

/// Brings the margins of an opening to their own counterparts, corner to corner, and what lies
/// around them along: a registration is off by more than a lid is thick, and takes lips for one
/// another. `points`: per point of the target, on the donor; changed in place. Where margins agree
/// already nothing changes.
void matchMargins(const WeldedMesh& donor, const OpeningPair& pair,
                  std::span<std::optional<SurfacePoint>> points);

}  // namespace derm::detail
