#include "io/gltf/groups.h"

#include <algorithm>

namespace derm::detail::gltf {
namespace {

/// Appends one entry of the list to the group of its name; false where it is malformed.
bool appendGroup(const Json& json, const MeshInstance& instance, std::vector<VertexGroup>& groups) {
  const Json* name = findMember(json, "name");
  const Json* vertices = findMember(json, "vertices");
  const Json* strengths = findMember(json, "strengths");
  if (name == nullptr || !name->is_string() || vertices == nullptr || !vertices->is_array() ||
      strengths == nullptr || !strengths->is_array() || vertices->size() != strengths->size())
    return false;
  VertexGroup part{.name = name->get<std::string>()};
  for (std::size_t i = 0; i < vertices->size(); ++i) {
    const std::optional<std::uint64_t> v = asUint((*vertices)[i]);
    if (!v || *v >= instance.vertex_count || !(*strengths)[i].is_number()) return false;
    const auto vertex = static_cast<std::uint32_t>(instance.first_vertex + *v);
    const auto strength = static_cast<float>((*strengths)[i].get<double>());
    if (!part.vertices.empty() && vertex <= part.vertices.back()) return false;
    if (!(strength >= 0 && strength <= 1)) return false;
    part.vertices.push_back(vertex);
    part.strengths.push_back(strength);
  }
  const auto known = std::find_if(groups.begin(), groups.end(),
                                  [&](const VertexGroup& g) { return g.name == part.name; });
  if (known == groups.end()) {
    groups.push_back(std::move(part));
    return true;
  }
  if (!known->vertices.empty() && !part.vertices.empty() &&
      part.vertices.front() <= known->vertices.back())
    return false;  // named twice in one mesh
  known->vertices.insert(known->vertices.end(), part.vertices.begin(), part.vertices.end());
  known->strengths.insert(known->strengths.end(), part.strengths.begin(), part.strengths.end());
  return true;
}

}  // namespace

Result<void> readGroups(const ReadContext& context, Import& import) {
  for (std::size_t i = 0; i < import.instances.size(); ++i) {
    const JsonPath root;
    const JsonPath at(root, "meshes", import.instances[i].mesh);
    const Json* extras = findMember(context.root()["meshes"][import.instances[i].mesh], "extras");
    const Json* list = extras != nullptr ? findMember(*extras, kGroupsKey) : nullptr;
    if (list == nullptr || !list->is_array()) continue;
    std::uint64_t entries = 0;
    for (const Json& group : *list) entries += arraySize(group, "vertices") + 32;
    DERM_CHECK(context.take(entries * 8, at));
    for (const Json& group : *list)
      if (!appendGroup(group, import.character.instances[i], import.character.mesh.groups))
        context.warn("bad-group", at, "a vertex group is malformed; left out");
  }
  return {};
}

Json groupsToJson(const TriMesh& mesh, const MeshInstance& instance) {
  if (mesh.groups.empty()) return nullptr;
  Json out = Json::array();
  for (const VertexGroup& group : mesh.groups) {
    Json vertices = Json::array();
    Json strengths = Json::array();
    const auto first =
        std::lower_bound(group.vertices.begin(), group.vertices.end(), instance.first_vertex);
    for (auto it = first; it != group.vertices.end(); ++it) {
      if (*it - instance.first_vertex >= instance.vertex_count) break;
      vertices.push_back(*it - instance.first_vertex);
      strengths.push_back(group.strengths[static_cast<std::size_t>(it - group.vertices.begin())]);
    }
    out.push_back({{"name", group.name}, {"vertices", vertices}, {"strengths", strengths}});
  }
  return out;
}

}  // namespace derm::detail::gltf
