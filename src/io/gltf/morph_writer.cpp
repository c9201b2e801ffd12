#include "io/gltf/morph_writer.h"

#include <algorithm>

namespace derm::detail::gltf {
namespace {

std::size_t writeOffsets(Output& out, std::span<const std::uint32_t> vertices,
                         std::span<const Vec3f> values, std::size_t vertex_count,
                         bool with_bounds) {
  const std::size_t index_size = vertex_count <= 0x10000 ? 2 : 4;
  constexpr std::size_t kSparseText = 200;  // [bytes] about what "sparse" adds to the JSON
  const std::size_t sparse_size = vertices.size() * (sizeof(Vec3f) + index_size) + kSparseText;
  const bool has_zero = std::any_of(values.begin(), values.end(),
                                    [](const Vec3f& v) { return v == Vec3f(Vec3f::Zero()); });
  if (has_zero || vertices.empty() || sparse_size < vertex_count * sizeof(Vec3f))
    return out.addSparse(vertex_count, vertices, values, with_bounds);
  std::vector<Vec3f> dense(vertex_count, Vec3f::Zero());
  for (std::size_t i = 0; i < vertices.size(); ++i) dense[vertices[i]] = values[i];
  return out.addVectors(dense, with_bounds);
}

}  // namespace

MorphTarget morphSlice(const MorphTarget& morph, std::uint32_t first, std::uint32_t count) {
  const auto begin = std::lower_bound(morph.vertices.begin(), morph.vertices.end(), first);
  const auto end = std::lower_bound(begin, morph.vertices.end(), std::uint64_t{first} + count,
                                    [](std::uint32_t a, std::uint64_t b) { return a < b; });
  const auto from = begin - morph.vertices.begin();
  const auto to = end - morph.vertices.begin();
  MorphTarget out{.name = morph.name, .default_weight = morph.default_weight};
  for (auto it = begin; it != end; ++it) out.vertices.push_back(*it - first);
  const auto cut = [&](const std::vector<Vec3f>& values, std::vector<Vec3f>& into) {
    if (!values.empty()) into.assign(values.begin() + from, values.begin() + to);
  };
  cut(morph.positions, out.positions);
  cut(morph.normals, out.normals);
  cut(morph.tangents, out.tangents);
  return out;
}

Json writeTarget(Output& out, const MorphTarget& slice, std::size_t vertex_count) {
  Json target = Json::object();
  target["POSITION"] = writeOffsets(out, slice.vertices, slice.positions, vertex_count, true);
  if (!slice.normals.empty())
    target["NORMAL"] = writeOffsets(out, slice.vertices, slice.normals, vertex_count, false);
  if (!slice.tangents.empty())
    target["TANGENT"] = writeOffsets(out, slice.vertices, slice.tangents, vertex_count, false);
  return target;
}

}  // namespace derm::detail::gltf
