#pragma once

#include "io/gltf/geometry_reader.h"

namespace derm::detail::gltf {

inline constexpr const char* kPointsKey = "derm_points";

/// Labelled surface points, which glTF has no word for, live in the extras of the primitive they
/// lie on, so that they travel with it:
/// "derm_points": [{"label": "nose", "triangle": 12, "weights": [0.2, 0.3, 0.5]}]
/// with triangles counted as glTF's "mode" makes them, weights in the order of their corners.
struct PrimitivePoints {
  std::vector<LabelledPoint> points;  ///< triangles and corners as in the file
  Json malformed = Json::array();     ///< entries that are no points, to be carried through
};
PrimitivePoints pointsOfPrimitive(const Json& primitive, std::size_t triangle_count);

/// Malformed points and labels used twice are noted and left out. A mesh shown by several nodes
/// gives its points to the first.
void readPoints(const ReadContext& context, Import& import);

/// Makes the points of a primitive that was carried over those of a part; false where they are
/// so already. `source_triangles`: as many as the primitive had in its document. `mirrored`: the
/// file's triangles are turned over.
bool writePoints(const Character& character, std::size_t part, std::size_t source_triangles,
                 bool mirrored, Json& primitive);

}  // namespace derm::detail::gltf
