#include "io/mesh_assembly.h"

#include <string>

#include "derm/mesh/normals.h"
#include "derm/mesh/weld.h"

namespace derm::detail {

void FaceAssembler::end(std::string_view file, std::uint64_t index, Diagnostics& notes) {
  if (corners_.size() < 3) {
    notes.warn("face-too-small", file, "face with fewer than 3 corners skipped", index);
    return;
  }
  triangles_.clear();
  triangulator_.triangulate(positions_, triangles_);
  for (const Triangle& t : triangles_)
    mesh_.triangles.push_back({corners_[t[0]], corners_[t[1]], corners_[t[2]]});
}

void FaceAssembler::reportCuts(std::string_view file, Diagnostics& notes) const {
  if (triangulator_.blindlyCut() > 0)
    notes.warn("polygons-too-large", file,
               std::to_string(triangulator_.blindlyCut()) +
                   " large concave polygons were cut without checking the outline");
}

void addMissingNormals(TriMesh& mesh, std::string_view file, Diagnostics& notes) {
  std::size_t missing = mesh.normals.empty() ? mesh.vertexCount() : 0;
  for (const Vec3f& n : mesh.normals) missing += n.isZero(0);
  if (missing == 0) return;
  if (!mesh.triangles.empty())
    notes.info("normals-computed", file,
               std::to_string(missing) + " vertices had no normal; computed from the faces");
  const std::vector<Vec3f> computed =
      areaWeightedNormals(mesh.positions, mesh.triangles, weldMap(mesh.positions, mesh.triangles));
  mesh.normals.resize(mesh.vertexCount(), Vec3f::Zero());
  for (std::size_t v = 0; v < computed.size(); ++v)
    if (mesh.normals[v].isZero(0)) mesh.normals[v] = computed[v];
}

}  // namespace derm::detail
