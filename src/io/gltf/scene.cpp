#include "io/gltf/scene.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "io/gltf/unit_tolerance.h"

namespace derm::detail::gltf {
namespace {

constexpr double kShearTolerance = 1e-4;

class SceneReader {
 public:
  explicit SceneReader(const ReadContext& context)
      : context_(context), count_(arraySize(context.root(), "nodes")) {}

  Result<SceneNodes> run() {
    // A joint and its book-keeping; names are already in the JSON.
    DERM_CHECK(context_.take(count_ * (sizeof(Joint) + 64), JsonPath(root_, "nodes")));
    DERM_CHECK(readParents());
    DERM_CHECK(readMeshNodes());
    findCarriers();
    DERM_CHECK(emitJoints());
    assignJoints();
    readRoles();
    return std::move(out_);
  }

 private:
  Result<const Json*> node(std::size_t i) const {
    return objectAt(context_.file(), context_.root(), "nodes", i);
  }
  Result<void> readParents();
  Result<void> markScene(std::vector<bool>& shown) const;
  Result<void> readMeshNodes();
  void findCarriers();
  std::set<std::size_t> movedNodes() const;
  bool isBare(std::size_t node, const char* mark, const std::set<std::size_t>& moved) const;
  Result<void> emitJoints();
  Result<Transform> restOf(const Json& json, const JsonPath& at) const;
  void assignJoints();
  void readRoles();

  const ReadContext& context_;
  const JsonPath root_;
  std::size_t count_;
  std::vector<bool> no_joint_;  ///< carriers and common roots
  SceneNodes out_;
};

Result<void> SceneReader::readParents() {
  out_.parent_of_node.assign(count_, -1);
  for (std::size_t i = 0; i < count_; ++i) {
    const JsonPath at(root_, "nodes", i);
    DERM_TRY(const Json* json, node(i));
    const Json* children = findMember(*json, "children");
    if (children == nullptr) continue;
    if (!children->is_array()) return context_.bad(JsonPath(at, "children"), "must be an array");
    for (std::size_t c = 0; c < children->size(); ++c) {
      const std::optional<std::uint64_t> child = asUint((*children)[c]);
      if (!child || *child >= count_)
        return context_.bad(JsonPath(at, "children"),
                            fmt::format("refers to no node; there are {}", count_), c);
      int& parent = out_.parent_of_node[*child];
      if (parent >= 0)
        return context_.bad(JsonPath(root_, "nodes", *child),
                            fmt::format("has two parents, nodes {} and {}", parent, i));
      parent = static_cast<int>(i);
    }
  }
  return {};
}

/// Everything below the scene's nodes; all nodes where there is no scene.
Result<void> SceneReader::markScene(std::vector<bool>& shown) const {
  DERM_TRY(const std::optional<std::size_t> scene, chosenScene(context_));
  if (!scene) {
    shown.assign(count_, true);
    return {};
  }
  const JsonPath at(root_, "scenes", *scene);
  DERM_TRY(const Json* json, objectAt(context_.file(), context_.root(), "scenes", *scene));
  const Json* roots = findMember(*json, "nodes");
  if (roots == nullptr) return {};
  if (!roots->is_array()) return context_.bad(JsonPath(at, "nodes"), "must be an array");
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < roots->size(); ++i) {
    const std::optional<std::uint64_t> index = asUint((*roots)[i]);
    if (!index || *index >= count_)
      return context_.bad(JsonPath(at, "nodes"),
                          fmt::format("refers to no node; there are {}", count_), i);
    if (out_.parent_of_node[*index] >= 0)
      context_.warn("scene-not-root", at, "lists a node that has a parent", i);
    open.push_back(*index);
  }
  while (!open.empty()) {
    const std::size_t i = open.back();
    open.pop_back();
    if (shown[i]) continue;  // also ends cycles
    shown[i] = true;
    const Json* children = findMember(context_.root()["nodes"][i], "children");
    if (children == nullptr) continue;
    for (const Json& child : *children) open.push_back(*asUint(child));
  }
  return {};
}

Result<void> SceneReader::readMeshNodes() {
  out_.in_scene.assign(count_, false);
  DERM_CHECK(markScene(out_.in_scene));
  const std::size_t meshes = arraySize(context_.root(), "meshes");
  const std::size_t skins = arraySize(context_.root(), "skins");
  for (std::size_t i = 0; i < count_; ++i) {
    if (!out_.in_scene[i]) continue;
    const JsonPath at(root_, "nodes", i);
    DERM_TRY(const Json* json, node(i));
    DERM_TRY(const auto mesh, indexMember(context_.file(), *json, "mesh", meshes, at));
    DERM_TRY(const auto skin, indexMember(context_.file(), *json, "skin", skins, at));
    if (mesh) out_.mesh_nodes.push_back({.node = i, .mesh = *mesh, .skin = skin});
  }
  return {};
}

/// Nodes that a skin or a motion uses: they must stay joints.
std::set<std::size_t> SceneReader::movedNodes() const {
  std::set<std::size_t> out;
  const auto add = [&](const Json* value) {
    if (value == nullptr) return;
    if (const auto index = asUint(*value)) out.insert(static_cast<std::size_t>(*index));
  };
  const auto each = [](const Json& object, const char* key, const auto& body) {
    const Json* array = findMember(object, key);
    if (array != nullptr && array->is_array())
      for (const Json& item : *array) body(item);
  };
  each(context_.root(), "skins",
       [&](const Json& skin) { each(skin, "joints", [&](const Json& joint) { add(&joint); }); });
  each(context_.root(), "animations", [&](const Json& animation) {
    each(animation, "channels", [&](const Json& channel) {
      const Json* target = findMember(channel, "target");
      if (target != nullptr && stringMember(*target, "path") != "weights")
        add(findMember(*target, "node"));
    });
  });
  return out;
}

/// A node with our mark and nothing that a joint would have.
bool SceneReader::isBare(std::size_t node, const char* mark,
                         const std::set<std::size_t>& moved) const {
  const Json& json = context_.root()["nodes"][node];
  const Json* extras = findMember(json, "extras");
  const Json* value = extras != nullptr ? findMember(*extras, mark) : nullptr;
  if (value == nullptr || *value != true || moved.contains(node)) return false;
  for (const char* key : {"matrix", "translation", "rotation", "scale"})
    if (json.contains(key)) return false;
  if (std::string_view(mark) == kCarrierKey) return !json.contains("children");
  return !json.contains("mesh") && out_.parent_of_node[node] < 0;
}

void SceneReader::findCarriers() {
  no_joint_.assign(count_, false);
  std::vector<std::size_t> marked;
  for (std::size_t i = 0; i < count_; ++i) {
    const Json* extras = findMember(context_.root()["nodes"][i], "extras");
    if (extras != nullptr && (findMember(*extras, kCarrierKey) != nullptr ||
                              findMember(*extras, kCommonRootKey) != nullptr))
      marked.push_back(i);
  }
  if (marked.empty()) return;
  const std::set<std::size_t> moved = movedNodes();
  for (const std::size_t i : marked)
    no_joint_[i] = isBare(i, kCarrierKey, moved) || isBare(i, kCommonRootKey, moved);
  // A vertex of a skin must follow some joint: a loose mesh may do without only if all do.
  const auto loose = [&](const MeshNode& m) { return !m.skin && out_.parent_of_node[m.node] < 0; };
  const bool all_loose =
      std::all_of(out_.mesh_nodes.begin(), out_.mesh_nodes.end(),
                  [&](const MeshNode& m) { return loose(m) && no_joint_[m.node]; });
  if (all_loose) return;
  for (const MeshNode& m : out_.mesh_nodes)
    if (loose(m)) no_joint_[m.node] = false;
}

Result<Transform> SceneReader::restOf(const Json& json, const JsonPath& at) const {
  const auto read = [&](const char* key, std::span<double> out) {
    return floatsMember(context_.file(), json, key, out, at);
  };
  Transform rest;
  std::array<double, 16> m{};
  DERM_TRY(const bool has_matrix, read("matrix", m));
  std::array<double, 3> t{0, 0, 0}, s{1, 1, 1};
  std::array<double, 4> r{0, 0, 0, 1};
  DERM_TRY(const bool has_t, read("translation", t));
  DERM_TRY(const bool has_r, read("rotation", r));
  DERM_TRY(const bool has_s, read("scale", s));
  if (has_matrix) {
    if (has_t || has_r || has_s)
      context_.warn("matrix-and-trs", at, "has both a matrix and parts of one; the matrix counts");
    const Eigen::Map<const Eigen::Matrix4d> full(m.data());
    Affine3d matrix;
    matrix.matrix() = full.topRows<3>();
    const Decomposed parts = decompose(matrix);
    if (parts.shear > kShearTolerance)
      context_.warn("shear", at, "its matrix has shear, which a joint cannot have");
    return parts.transform;
  }
  rest.translation = Vec3d(t[0], t[1], t[2]).cast<float>();
  rest.scale = Vec3d(s[0], s[1], s[2]).cast<float>();
  rest.rotation = Quatd(r[3], r[0], r[1], r[2]).cast<float>();
  if (std::abs(rest.rotation.coeffs().cast<double>().norm() - 1.0) > kUnitRotationTolerance) {
    context_.warn("rotation-not-unit", at, "its rotation is not a unit quaternion; normalised");
    rest.rotation = normalisedOrIdentity(rest.rotation);
  }
  return rest;
}

Result<void> SceneReader::emitJoints() {
  out_.joint_of_node.assign(count_, JointId());
  out_.skeleton.joints.reserve(count_);
  out_.joint_source.reserve(count_);
  std::vector<bool> open(count_, false);
  std::vector<std::size_t> chain;
  for (std::size_t start = 0; start < count_; ++start) {
    // The file's order, but ancestors first.
    int i = static_cast<int>(start);
    while (i >= 0 && !out_.joint_of_node[i].valid() && !no_joint_[i]) {
      if (open[i])
        return context_.bad(JsonPath(root_, "nodes", static_cast<std::size_t>(i)),
                            "is its own ancestor");
      open[i] = true;
      chain.push_back(static_cast<std::size_t>(i));
      i = out_.parent_of_node[i];
    }
    for (; !chain.empty(); chain.pop_back()) {
      const std::size_t n = chain.back();
      const JsonPath at(root_, "nodes", n);
      const Json& json = context_.root()["nodes"][n];
      Joint joint;
      joint.name = stringMember(json, "name").value_or(fmt::format("node_{}", n));
      const int parent = out_.parent_of_node[n];
      if (parent >= 0) joint.parent = out_.joint_of_node[parent];
      DERM_TRY(joint.rest, restOf(json, at));
      if (!joint.rest.scale.allFinite() || !joint.rest.rotation.coeffs().allFinite())
        return context_.bad(at, "its transform is too large for floats");
      out_.joint_of_node[n] = JointId(out_.skeleton.size());
      out_.skeleton.joints.push_back(std::move(joint));
      out_.joint_source.push_back(static_cast<int>(n));
    }
  }
  return {};
}

/// VRM says which node is which bone of a body: 1.0 by the bone's name, 0.x in a list.
void SceneReader::readRoles() {
  const Json* extensions = findMember(context_.root(), "extensions");
  if (extensions == nullptr) return;
  const auto set = [&](const Json& bone, const std::string& role) {
    const Json* node = findMember(bone, "node");
    const std::optional<std::uint64_t> n = node ? asUint(*node) : std::nullopt;
    if (n && *n < count_ && out_.joint_of_node[*n].valid())
      out_.skeleton.joints[out_.joint_of_node[*n].index()].role = role;
  };
  for (const char* extension : {"VRM", "VRMC_vrm"}) {
    const Json* vrm = findMember(*extensions, extension);
    const Json* humanoid = vrm ? findMember(*vrm, "humanoid") : nullptr;
    const Json* bones = humanoid ? findMember(*humanoid, "humanBones") : nullptr;
    if (bones == nullptr) continue;
    if (bones->is_array()) {
      for (const Json& bone : *bones)
        if (const auto role = stringMember(bone, "bone")) set(bone, *role);
    } else if (bones->is_object()) {
      for (const auto& [role, bone] : bones->items()) set(bone, role);
    }
  }
}

void SceneReader::assignJoints() {
  for (MeshNode& m : out_.mesh_nodes) {
    m.joint = out_.joint_of_node[m.node];
    if (!no_joint_[m.node]) continue;
    if (m.skin) {
      const Json* extras = findMember(context_.root()["nodes"][m.node], "extras");
      const Json* joint = findMember(*extras, kCarrierJointKey);
      const std::optional<std::uint64_t> index = joint ? asUint(*joint) : std::nullopt;
      if (index && *index < count_) m.joint = out_.joint_of_node[*index];
    } else if (out_.parent_of_node[m.node] >= 0) {
      m.joint = out_.joint_of_node[out_.parent_of_node[m.node]];
    }
  }
}

}  // namespace

Result<std::optional<std::size_t>> chosenScene(const ReadContext& context) {
  const JsonPath root;
  const std::size_t scenes = arraySize(context.root(), "scenes");
  if (const std::optional<int> wanted = context.document.scene) {
    if (*wanted < 0 || static_cast<std::size_t>(*wanted) >= scenes)
      return jsonError(context.file(), JsonPath(root, "scenes"),
                       fmt::format("there is no scene {}; the file has {}", *wanted, scenes),
                       std::nullopt, ErrorCode::BadArgument);
    return std::optional<std::size_t>(static_cast<std::size_t>(*wanted));
  }
  if (scenes == 0) return std::optional<std::size_t>();
  const Json* named = findMember(context.root(), "scene");
  const std::optional<std::uint64_t> index = named ? asUint(*named) : std::nullopt;
  if (named != nullptr && (!index || *index >= scenes))
    context.warn("no-such-scene", JsonPath(root, "scene"), "refers to no scene; the first is read");
  return std::optional<std::size_t>(index && *index < scenes ? static_cast<std::size_t>(*index)
                                                             : 0);
}

Result<SceneNodes> readScene(const ReadContext& context) { return SceneReader(context).run(); }

}  // namespace derm::detail::gltf
