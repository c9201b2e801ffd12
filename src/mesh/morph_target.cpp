#include "derm/mesh/morph_target.h"

#include <cmath>

namespace derm {

Result<void> validate(const MorphTarget& morph, std::size_t vertex_count, std::string_view name) {
  const auto bad = [&](std::optional<std::uint64_t> index, std::string message) {
    return Error{ErrorCode::BadData,
                 std::move(message),
                 {.file = std::string(name),
                  .element = "morph target \"" + morph.name + "\"",
                  .index = index}};
  };
  const std::size_t n = morph.vertices.size();
  if (!std::isfinite(morph.default_weight)) return bad(std::nullopt, "default weight not finite");
  if (morph.positions.size() != n || (!morph.normals.empty() && morph.normals.size() != n) ||
      (!morph.tangents.empty() && morph.tangents.size() != n))
    return bad(std::nullopt, "as many offsets as vertices are needed");
  for (std::size_t i = 0; i < n; ++i) {
    if (morph.vertices[i] >= vertex_count)
      return bad(i, "vertex " + std::to_string(morph.vertices[i]) + " of " +
                        std::to_string(vertex_count) + " vertices");
    if (i > 0 && morph.vertices[i] <= morph.vertices[i - 1])
      return bad(i, "vertices must be sorted and appear once");
    if (!morph.positions[i].allFinite() ||
        (!morph.normals.empty() && !morph.normals[i].allFinite()) ||
        (!morph.tangents.empty() && !morph.tangents[i].allFinite()))
      return bad(i, "not a finite number");
  }
  return {};
}

}  // namespace derm
