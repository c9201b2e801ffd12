#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/mesh/tri_mesh.h"

#include "io/polygon_triangles.h"

/// Private to room io: what readers of indexed polygons (OFF, PLY, STL) do alike.
namespace derm::detail {

/// Collects the corners of one face after another and appends its triangles to a mesh.
class FaceAssembler {
 public:
  explicit FaceAssembler(TriMesh& mesh) : mesh_(mesh) {}
  FaceAssembler(const FaceAssembler&) = delete;  // it refers to the mesh of its reader
  FaceAssembler& operator=(const FaceAssembler&) = delete;

  void begin() {
    corners_.clear();
    positions_.clear();
  }
  /// Requires a vertex of the mesh.
  void add(std::uint32_t vertex) {
    corners_.push_back(vertex);
    positions_.push_back(mesh_.positions[vertex]);
  }
  /// A face of fewer than three corners is skipped, with a warning that names its index.
  void end(std::string_view file, std::uint64_t index, Diagnostics& notes);

  /// Warns of polygons that were too large to be cut with care.
  void reportCuts(std::string_view file, Diagnostics& notes) const;

 private:
  TriMesh& mesh_;
  PolygonTriangulator triangulator_;
  std::vector<std::uint32_t> corners_;
  std::vector<Vec3f> positions_;
  std::vector<Triangle> triangles_;
};

/// Normals from the faces where the file has none (or zero ones), with a note of how many.
void addMissingNormals(TriMesh& mesh, std::string_view file, Diagnostics& notes);

}  // namespace derm::detail
