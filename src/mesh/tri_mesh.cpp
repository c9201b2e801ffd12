#include "derm/mesh/tri_mesh.h"

#include <algorithm>

namespace derm {
namespace {

Error bad(std::string_view file, std::string element, std::optional<std::uint64_t> index,
          std::string message) {
  return Error{ErrorCode::BadData,
               std::move(message),
               {.file = std::string(file), .element = std::move(element), .index = index}};
}

template <class T>
Result<void> checkArray(const std::vector<T>& values, std::size_t vertices, const char* element,
                        std::string_view name) {
  if (!values.empty() && values.size() != vertices)
    return bad(
        name, element, std::nullopt,
        std::to_string(values.size()) + " entries for " + std::to_string(vertices) + " vertices");
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!values[i].allFinite()) return bad(name, element, i, "not a finite number");
  return {};
}

}  // namespace

const VertexGroup* TriMesh::findGroup(std::string_view name) const {
  const auto it = std::find_if(groups.begin(), groups.end(),
                               [&](const VertexGroup& g) { return g.name == name; });
  return it == groups.end() ? nullptr : &*it;
}

Result<void> validate(const TriMesh& mesh, std::string_view name) {
  const std::size_t n = mesh.vertexCount();
  if (n >= 0xFFFFFFFFu) return bad(name, "positions", std::nullopt, "more than 2^32 - 2 vertices");
  DERM_CHECK(checkArray(mesh.positions, n, "positions", name));
  DERM_CHECK(checkArray(mesh.normals, n, "normals", name));
  DERM_CHECK(checkArray(mesh.tangents, n, "tangents", name));
  DERM_CHECK(checkArray(mesh.uvs, n, "uvs", name));
  DERM_CHECK(checkArray(mesh.colours, n, "colours", name));
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
    for (const std::uint32_t v : mesh.triangles[t])
      if (v >= n)
        return bad(name, "triangles", t,
                   "vertex " + std::to_string(v) + " of " + std::to_string(n) + " vertices");
  for (const VertexGroup& g : mesh.groups) {
    const std::string element = "group \"" + g.name + "\"";
    if (g.strengths.size() != g.vertices.size())
      return bad(name, element, std::nullopt, "as many strengths as vertices are needed");
    for (std::size_t i = 0; i < g.vertices.size(); ++i) {
      if (g.vertices[i] >= n)
        return bad(
            name, element, i,
            "vertex " + std::to_string(g.vertices[i]) + " of " + std::to_string(n) + " vertices");
      if (i > 0 && g.vertices[i] <= g.vertices[i - 1])
        return bad(name, element, i, "vertices must be sorted and appear once");
      if (!(g.strengths[i] >= 0.0f && g.strengths[i] <= 1.0f))
        return bad(name, element, i, "strength outside [0,1]");
    }
  }
  return {};
}

}  // namespace derm
