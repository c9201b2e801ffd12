#pragma once

#include <span>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/mesh/named_position.h"
#include "derm/mesh/surface_point.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

/// Puts the points of a file onto a head. Positions are multiplied by `metres_per_unit` and go to
/// the nearest point of the connected piece that most of them lie nearest to, so that lids do not
/// stick to eyeballs or lashes; one that is nearer than that to another piece only goes there if
/// the first is beyond the limit. Labels of feature points become their numbers; others stay.
/// Notes: point-off-surface where one lay farther off than 2 % of the head's diagonal.
/// Errors name the label: a vertex that is not there or that no triangle uses, two labels for one
/// feature point ("8.1" and "upper_lip_middle"), a mesh without triangles.
Result<std::vector<LabelledPoint>> placePoints(std::span<const NamedPosition> named,
                                               const TriMesh& mesh, double metres_per_unit,
                                               Diagnostics& notes);

}  // namespace derm
