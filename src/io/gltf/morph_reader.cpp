#include "io/gltf/morph_reader.h"

#include <algorithm>

#include <fmt/format.h>

namespace derm::detail::gltf {
namespace {

/// One attribute of a target: offsets of the vertices that have any.
struct Offsets {
  std::vector<std::uint32_t> vertices;  ///< inside the block, sorted
  std::vector<Vec3f> values;
};

class MorphReader {
 public:
  MorphReader(const ReadContext& context, Import& import) : context_(context), import_(import) {}

  Result<void> run() {
    for (std::size_t i = 0; i < import_.instances.size(); ++i) {
      const MeshPlan& plan = *import_.plans[import_.instances[i].mesh];
      const MeshInstance& instance = import_.character.instances[i];
      for (std::size_t k = 0; k < plan.target_count; ++k)
        DERM_CHECK(readTarget(plan, import_.instances[i], k,
                              import_.character.morphs[instance.first_morph + k]));
    }
    return {};
  }

 private:
  Result<void> readTarget(const MeshPlan& plan, const ImportedInstance& imported, std::size_t k,
                          MorphTarget& out);
  Result<Offsets> readOffsets(const std::optional<Accessor>& accessor, const JsonPath& at);
  Result<void> merge(const Offsets& positions, const Offsets& normals, const Offsets& tangents,
                     std::uint32_t first_vertex, const JsonPath& at, MorphTarget& out);

  const ReadContext& context_;
  Import& import_;
  std::vector<Vec3f> dense_;
};

Result<void> MorphReader::readTarget(const MeshPlan& plan, const ImportedInstance& imported,
                                     std::size_t k, MorphTarget& out) {
  const JsonPath root;
  const JsonPath mesh(root, "meshes", plan.index);
  for (std::size_t b = 0; b < plan.blocks.size(); ++b) {
    const BlockPlan& block = plan.blocks[b];
    if (k >= block.targets.size()) continue;
    const TargetPlan& target = block.targets[k];
    const JsonPath primitive(mesh, "primitives", block.first_primitive);
    const JsonPath at(primitive, "targets", k);
    DERM_TRY(const Offsets positions, readOffsets(target.position, JsonPath(at, "POSITION")));
    DERM_TRY(const Offsets normals, readOffsets(target.normal, JsonPath(at, "NORMAL")));
    DERM_TRY(const Offsets tangents, readOffsets(target.tangent, JsonPath(at, "TANGENT")));
    DERM_CHECK(merge(positions, normals, tangents, imported.blocks[b].first_vertex, at, out));
  }
  return {};
}

Result<Offsets> MorphReader::readOffsets(const std::optional<Accessor>& accessor,
                                         const JsonPath& at) {
  Offsets out;
  if (!accessor) return out;
  if (accessor->data == nullptr) {
    // All zero but for the listed ones: as large as they are few.
    const std::size_t n = accessor->sparse_count;
    DERM_CHECK(context_.take(n * (sizeof(Vec3f) + 4), at));
    out.vertices.resize(n);
    out.values.resize(n);
    if (n == 0) return out;
    for (std::size_t i = 0; i < n; ++i)
      out.vertices[i] = static_cast<std::uint32_t>(accessor->sparseIndex(i));
    decodeSparseFloats(*accessor, out.values.front().data());
  } else {
    if (accessor->count > dense_.size()) {
      DERM_CHECK(context_.take((accessor->count - dense_.size()) * sizeof(Vec3f), at));
      dense_.resize(accessor->count);
    }
    decodeFloats(*accessor, 0, accessor->count, dense_.front().data(), 3);
    std::size_t moving = 0;
    for (std::size_t i = 0; i < accessor->count; ++i) moving += dense_[i] != Vec3f(Vec3f::Zero());
    DERM_CHECK(context_.take(moving * (sizeof(Vec3f) + 4), at));
    out.vertices.reserve(moving);
    out.values.reserve(moving);
    for (std::size_t i = 0; i < accessor->count; ++i)
      if (dense_[i] != Vec3f(Vec3f::Zero())) {
        out.vertices.push_back(static_cast<std::uint32_t>(i));
        out.values.push_back(dense_[i]);
      }
  }
  if (!out.values.empty())
    if (const auto bad = firstNonFinite({out.values.front().data(), 3 * out.values.size()}))
      return context_.bad(at, "not a finite number", out.vertices[*bad / 3]);
  return out;
}

/// Appends a block's offsets to the target: the union of the vertices, zero where one has no
/// offset.
Result<void> MorphReader::merge(const Offsets& positions, const Offsets& normals,
                                const Offsets& tangents, std::uint32_t first_vertex,
                                const JsonPath& at, MorphTarget& out) {
  std::vector<std::uint32_t> all = positions.vertices;
  for (const Offsets* other : {&normals, &tangents}) {
    if (other->vertices.empty() || other->vertices == all) continue;
    std::vector<std::uint32_t> joined;
    std::set_union(all.begin(), all.end(), other->vertices.begin(), other->vertices.end(),
                   std::back_inserter(joined));
    all = std::move(joined);
  }
  const std::size_t before = out.vertices.size();
  DERM_CHECK(context_.take(all.size() * (3 * sizeof(Vec3f) + 4), at));
  for (const std::uint32_t v : all) out.vertices.push_back(first_vertex + v);
  const auto spread = [&](const Offsets& from, std::vector<Vec3f>& to) {
    to.resize(out.vertices.size(), Vec3f::Zero());
    std::size_t i = 0;
    for (std::size_t a = 0; a < all.size() && i < from.vertices.size(); ++a)
      if (all[a] == from.vertices[i]) to[before + a] = from.values[i++];
  };
  spread(positions, out.positions);
  // An array appears once any block has it; earlier and later blocks are padded with zeros.
  if (!out.normals.empty() || !normals.vertices.empty()) spread(normals, out.normals);
  if (!out.tangents.empty() || !tangents.vertices.empty()) spread(tangents, out.tangents);
  return {};
}

}  // namespace

Result<void> readMorphs(const ReadContext& context, Import& import) {
  return MorphReader(context, import).run();
}

}  // namespace derm::detail::gltf
