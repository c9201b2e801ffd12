#include "io/gltf/mesh_plan.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include <fmt/format.h>

#include "io/gltf/extensions.h"

namespace derm::detail::gltf {
namespace {

constexpr const char* kDraco = "KHR_draco_mesh_compression";

class MeshPlanner {
 public:
  MeshPlanner(const ReadContext& context, std::size_t mesh)
      : context_(context), at_(root_, "meshes", mesh) {
    plan_.index = mesh;
  }
  Result<MeshPlan> run();

 private:
  Result<void> addPrimitive(const Json& primitive, std::size_t index);
  Result<std::size_t> blockFor(const Json& primitive, const Json& attributes, std::size_t index,
                               const JsonPath& at);
  Result<BlockPlan> planBlock(const Json& primitive, const Json& attributes, const JsonPath& at);
  Result<std::optional<Accessor>> attribute(const Json& object, const char* name,
                                            std::size_t min_width, std::size_t max_width,
                                            std::size_t count, const JsonPath& at) const;
  Result<void> planJoints(const Json& attributes, const JsonPath& at, BlockPlan& block) const;
  Result<void> planTargets(const Json& primitive, const JsonPath& at, BlockPlan& block) const;
  void nameTargets(const Json& mesh);

  const ReadContext& context_;
  const JsonPath root_;
  const JsonPath at_;
  MeshPlan plan_;
  std::unordered_multimap<std::size_t, std::size_t> blocks_by_hash_;
};

/// Number of triangles that so many corners give.
std::size_t trianglesOf(DrawMode mode, std::size_t corners) {
  if (mode == DrawMode::Triangles) return corners / 3;
  return corners >= 3 ? corners - 2 : 0;
}

Result<MeshPlan> MeshPlanner::run() {
  DERM_TRY(const Json* mesh, objectAt(context_.file(), context_.root(), "meshes", plan_.index));
  plan_.name = stringMember(*mesh, "name").value_or(fmt::format("mesh_{}", plan_.index));
  const Json* primitives = findMember(*mesh, "primitives");
  if (primitives == nullptr || !primitives->is_array())
    return context_.bad(JsonPath(at_, "primitives"), "missing or not an array");
  for (std::size_t i = 0; i < primitives->size(); ++i) {
    if (!(*primitives)[i].is_object())
      return context_.bad(JsonPath(at_, "primitives", i), "must be an object");
    DERM_CHECK(addPrimitive((*primitives)[i], i));
  }
  for (const BlockPlan& block : plan_.blocks) {
    plan_.vertex_count += block.vertex_count;
    plan_.target_count = std::max(plan_.target_count, block.targets.size());
  }
  for (const PrimitivePlan& p : plan_.primitives) plan_.triangle_count += p.triangle_count;
  if (std::any_of(plan_.blocks.begin(), plan_.blocks.end(),
                  [&](const BlockPlan& b) { return b.targets.size() != plan_.target_count; }))
    context_.warn("unequal-targets", at_, "its primitives have different numbers of morph targets");
  nameTargets(*mesh);
  plan_.weights.assign(plan_.target_count, 0.0f);
  readWeights(context_, *mesh, at_, plan_.weights);
  return std::move(plan_);
}

Result<void> MeshPlanner::addPrimitive(const Json& primitive, std::size_t index) {
  const JsonPath at(at_, "primitives", index);
  const Json* attributes = findMember(primitive, "attributes");
  if (attributes == nullptr || !attributes->is_object())
    return context_.bad(JsonPath(at, "attributes"), "missing or not an object");
  DERM_TRY(const auto mode, uintMember(context_.file(), primitive, "mode", at));
  if (mode.value_or(4) > 6) return context_.bad(JsonPath(at, "mode"), "is not in 0 to 6");
  if (mode.value_or(4) < 4) {
    context_.warn("no-triangles", at_, "a primitive of points or lines is carried but not used",
                  index);
    return {};
  }
  if (!attributes->contains("POSITION")) {
    context_.warn("no-positions", at_, "a primitive without positions is not used", index);
    return {};
  }
  PrimitivePlan out;
  out.index = index;
  out.mode = mode.value_or(4) == 4   ? DrawMode::Triangles
             : mode.value_or(4) == 5 ? DrawMode::Strip
                                     : DrawMode::Fan;
  DERM_TRY(out.block, blockFor(primitive, *attributes, index, at));
  out.corner_count = plan_.blocks[out.block].vertex_count;
  if (primitive.contains("indices")) {
    const JsonPath here(at, "indices");
    DERM_TRY(const auto accessor, uintMember(context_.file(), primitive, "indices", at));
    DERM_TRY(out.indices, openAccessor(context_, *accessor, here));
    if (out.indices->width != 1 || out.indices->normalised ||
        (out.indices->component != Component::Uint8 &&
         out.indices->component != Component::Uint16 &&
         out.indices->component != Component::Uint32))
      return context_.bad(here, "must be plain unsigned integers");
    out.corner_count = out.indices->count;
  }
  out.triangle_count = trianglesOf(out.mode, out.corner_count);
  // The merged triangles, and the corners while they are decoded.
  DERM_CHECK(context_.take(std::uint64_t{out.triangle_count} * 12 + out.corner_count * 4, at));
  if (out.mode == DrawMode::Triangles && out.corner_count % 3 != 0)
    context_.warn("incomplete-triangle", at_, "corners at the end make no triangle", index);
  if (const Json* material = findMember(primitive, "material"); material != nullptr) {
    const std::optional<std::uint64_t> number = asUint(*material);
    if (number && *number < arraySize(context_.root(), "materials"))
      out.material = static_cast<int>(*number);
    else
      context_.warn("no-such-material", at, "refers to no material");
  }
  const Json* extras = findMember(primitive, "extras");
  if (const auto name = extras ? stringMember(*extras, kNameKey) : std::nullopt)
    out.name = *name;
  else
    out.name = index == 0 ? plan_.name : fmt::format("{}_{}", plan_.name, index);
  plan_.primitives.push_back(std::move(out));
  return {};
}

/// The block of an earlier primitive with the same attributes and targets, or a new one.
Result<std::size_t> MeshPlanner::blockFor(const Json& primitive, const Json& attributes,
                                          std::size_t index, const JsonPath& at) {
  const Json* targets = findMember(primitive, "targets");
  const std::size_t hash =
      std::hash<Json>{}(attributes)*31 + (targets ? std::hash<Json>{}(*targets) : 0);
  const Json& primitives = context_.root()["meshes"][plan_.index]["primitives"];
  const auto [begin, end] = blocks_by_hash_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const Json& other = primitives[plan_.blocks[it->second].first_primitive];
    const Json* other_targets = findMember(other, "targets");
    const bool same_targets = (targets == nullptr) == (other_targets == nullptr) &&
                              (targets == nullptr || *targets == *other_targets);
    if (same_targets && other["attributes"] == attributes) return it->second;
  }
  DERM_TRY(BlockPlan block, planBlock(primitive, attributes, at));
  block.first_primitive = index;
  plan_.blocks.push_back(std::move(block));
  blocks_by_hash_.emplace(hash, plan_.blocks.size() - 1);
  return plan_.blocks.size() - 1;
}

/// An attribute that derm uses: its type fits, its count is that of the positions (0 = any).
Result<std::optional<Accessor>> MeshPlanner::attribute(const Json& object, const char* name,
                                                       std::size_t min_width, std::size_t max_width,
                                                       std::size_t count,
                                                       const JsonPath& at) const {
  const JsonPath here(at, name);
  DERM_TRY(const auto index, uintMember(context_.file(), object, name, at));
  if (!index) return std::optional<Accessor>();
  DERM_TRY(const Accessor accessor, openAccessor(context_, *index, here));
  if (accessor.width < min_width || accessor.width > max_width)
    return context_.bad(
        here, fmt::format("accessor {} has {} components per element", *index, accessor.width));
  if (count != 0 && accessor.count != count)
    return context_.bad(here, fmt::format("accessor {} has {} elements for {} vertices", *index,
                                          accessor.count, count));
  return std::optional<Accessor>(accessor);
}

Result<BlockPlan> MeshPlanner::planBlock(const Json& primitive, const Json& attributes,
                                         const JsonPath& at) {
  const JsonPath here(at, "attributes");
  BlockPlan block;
  DERM_TRY(const auto position, attribute(attributes, "POSITION", 3, 3, 0, here));
  block.position = *position;
  const std::size_t n = block.vertex_count = position->count;
  if (position->component == Component::Uint32)
    return context_.bad(JsonPath(here, "POSITION"), "positions cannot be 32-bit integers");
  const Json* extensions = findMember(primitive, "extensions");
  if (extensions != nullptr && extensions->contains(kDraco) && position->data == nullptr &&
      position->sparse_count == 0)
    return jsonError(context_.file(), at,
                     fmt::format("its data is only there as {0}, which derm does not read{1}",
                                 kDraco, unpackingHint(kDraco)),
                     std::nullopt, ErrorCode::Unsupported);
  DERM_TRY(block.normal, attribute(attributes, "NORMAL", 3, 3, n, here));
  DERM_TRY(block.tangent, attribute(attributes, "TANGENT", 4, 4, n, here));
  DERM_TRY(block.uv, attribute(attributes, "TEXCOORD_0", 2, 2, n, here));
  DERM_TRY(block.colour, attribute(attributes, "COLOR_0", 3, 4, n, here));
  DERM_CHECK(planJoints(attributes, here, block));
  DERM_CHECK(planTargets(primitive, at, block));
  return block;
}

Result<void> MeshPlanner::planJoints(const Json& attributes, const JsonPath& at,
                                     BlockPlan& block) const {
  for (std::size_t set = 0;; ++set) {
    const std::string joints_name = fmt::format("JOINTS_{}", set);
    const std::string weights_name = fmt::format("WEIGHTS_{}", set);
    DERM_TRY(const auto joints,
             attribute(attributes, joints_name.c_str(), 4, 4, block.vertex_count, at));
    DERM_TRY(const auto weights,
             attribute(attributes, weights_name.c_str(), 4, 4, block.vertex_count, at));
    if (joints.has_value() != weights.has_value())
      context_.warn("joints-without-weights", at,
                    "joints and weights come in pairs; a lone one is ignored", set);
    if (!joints && !weights) return {};
    if (!joints || !weights) continue;
    if (joints->normalised ||
        (joints->component != Component::Uint8 && joints->component != Component::Uint16 &&
         joints->component != Component::Uint32))
      return context_.bad(JsonPath(at, joints_name), "must be plain unsigned integers");
    if (weights->component != Component::Float && !weights->normalised)
      return context_.bad(JsonPath(at, weights_name), "must be floats or normalised integers");
    block.joints_weights.emplace_back(*joints, *weights);
  }
}

Result<void> MeshPlanner::planTargets(const Json& primitive, const JsonPath& at,
                                      BlockPlan& block) const {
  const Json* targets = findMember(primitive, "targets");
  if (targets == nullptr) return {};
  if (!targets->is_array()) return context_.bad(JsonPath(at, "targets"), "must be an array");
  DERM_CHECK(context_.take(targets->size() * sizeof(TargetPlan), JsonPath(at, "targets")));
  for (std::size_t i = 0; i < targets->size(); ++i) {
    const JsonPath here(at, "targets", i);
    const Json& target = (*targets)[i];
    if (!target.is_object()) return context_.bad(here, "must be an object");
    TargetPlan plan;
    DERM_TRY(plan.position, attribute(target, "POSITION", 3, 3, block.vertex_count, here));
    DERM_TRY(plan.normal, attribute(target, "NORMAL", 3, 3, block.vertex_count, here));
    DERM_TRY(plan.tangent, attribute(target, "TANGENT", 3, 3, block.vertex_count, here));
    if ((plan.normal && !block.normal) || (plan.tangent && !block.tangent)) {
      context_.warn("target-without-base", here,
                    "moves normals or tangents that the mesh has not; ignored");
      if (!block.normal) plan.normal.reset();
      if (!block.tangent) plan.tangent.reset();
    }
    block.targets.push_back(plan);
  }
  return {};
}

/// The names of a mesh's or primitive's targets, where it has some.
const Json* targetNames(const Json& object) {
  const Json* extras = findMember(object, "extras");
  const Json* names = extras != nullptr ? findMember(*extras, "targetNames") : nullptr;
  return names != nullptr && names->is_array() ? names : nullptr;
}

void MeshPlanner::nameTargets(const Json& mesh) {
  const Json* names = targetNames(mesh);
  // Where the mesh has none its primitives may: so do VRM files of UniVRM.
  for (const PrimitivePlan& p : plan_.primitives)
    if (names == nullptr) names = targetNames(mesh["primitives"][p.index]);
  for (std::size_t i = 0; i < plan_.target_count; ++i) {
    const bool named = names != nullptr && i < names->size() && (*names)[i].is_string();
    plan_.target_names.push_back(named ? (*names)[i].get<std::string>()
                                       : fmt::format("morph_{}", i));
  }
}

}  // namespace

bool MeshPlan::skinned() const {
  return std::any_of(blocks.begin(), blocks.end(),
                     [](const BlockPlan& b) { return !b.joints_weights.empty(); });
}

Result<MeshPlan> planMesh(const ReadContext& context, std::size_t mesh) {
  return MeshPlanner(context, mesh).run();
}

void readWeights(const ReadContext& context, const Json& object, const JsonPath& at,
                 std::vector<float>& out) {
  const Json* weights = findMember(object, "weights");
  if (weights == nullptr || !weights->is_array()) return;
  if (weights->size() != out.size())
    context.warn("weights-count", at, "has not one default weight per morph target");
  for (std::size_t i = 0; i < std::min(out.size(), weights->size()); ++i) {
    if (!(*weights)[i].is_number()) continue;
    const double value = (*weights)[i].get<double>();
    if (std::abs(value) <= std::numeric_limits<float>::max()) out[i] = static_cast<float>(value);
  }
}

}  // namespace derm::detail::gltf
