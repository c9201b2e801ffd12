#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "derm/base/result.h"
#include "derm/math/vec.h"

namespace derm {

/// Three vertex indices, counter-clockwise seen from outside.
using Triangle = std::array<std::uint32_t, 3>;

/// A named set of vertices with a strength each: a muscle, a fixed border, a painted mask.
struct VertexGroup {
  std::string name;
  std::vector<std::uint32_t> vertices;  ///< sorted, no duplicates
  std::vector<float> strengths;         ///< [0,1], one per entry of `vertices`

  bool operator==(const VertexGroup&) const = default;
};

/// A triangle surface: one array per attribute, one entry per vertex. Plain data; any array but
/// positions may be empty. Vertices on a texture seam or hard edge appear several times (weld.h
/// finds them again). Space: right-handed, +Y up, metres.
struct TriMesh {
  std::vector<Vec3f> positions;  ///< [m]
  std::vector<Vec3f> normals;    ///< unit length
  /// xyz unit length, w = +-1: bitangent = w * cross(normal, tangent).
  std::vector<Vec4f> tangents;
  std::vector<Vec2f> uvs;      ///< first texture coordinates, glTF's origin (top left)
  std::vector<Vec4f> colours;  ///< linear RGBA [0,1]
  std::vector<Triangle> triangles;
  std::vector<VertexGroup> groups;

  std::size_t vertexCount() const { return positions.size(); }
  const VertexGroup* findGroup(std::string_view name) const;
  bool operator==(const TriMesh&) const = default;
};

/// Checks what every algorithm relies on: array lengths agree, indices in range, numbers finite,
/// group entries sorted and in range. O(n). The error names the array and the index.
Result<void> validate(const TriMesh& mesh, std::string_view name);

}  // namespace derm
