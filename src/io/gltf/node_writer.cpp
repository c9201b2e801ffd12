#include "io/gltf/node_writer.h"

#include <algorithm>
#include <cmath>

#include "io/gltf/unit_tolerance.h"

namespace derm::detail::gltf {
namespace {

/// Writes the parts of a transform that are not the default.
void setTransform(Json& node, const Transform& rest) {
  for (const char* key : {"matrix", "translation", "rotation", "scale"}) node.erase(key);
  const Vec3f& t = rest.translation;
  const Vec3f& s = rest.scale;
  const Quatf q = fileRotation(rest.rotation);
  if (t != Vec3f(Vec3f::Zero())) node["translation"] = {t.x(), t.y(), t.z()};
  if (q.coeffs() != Quatf::Identity().coeffs()) node["rotation"] = {q.x(), q.y(), q.z(), q.w()};
  if (s != Vec3f(Vec3f::Ones())) node["scale"] = {s.x(), s.y(), s.z()};
}

/// Takes a number out of an array member; the member goes when it is empty.
void removeNumber(Json& object, const char* key, std::size_t number) {
  if (!object.is_object() || !object.contains(key) || !object[key].is_array()) return;
  auto& list = object[key].get_ref<Json::array_t&>();
  std::erase_if(list, [&](const Json& item) { return asUint(item) == number; });
  if (list.empty()) object.erase(key);
}

/// Whether nodes of a document hold more than joints and meshes, which would be missed.
bool carriesMore(const Json& root) {
  const auto nodes = root.find("nodes");
  if (nodes == root.end() || !nodes->is_array()) return false;
  return std::any_of(nodes->begin(), nodes->end(), [](const Json& node) {
    return node.contains("camera") || node.contains("extensions");
  });
}

}  // namespace

Quatf fileRotation(const Quatf& q) {
  const double length = q.coeffs().cast<double>().norm();
  return std::abs(length - 1.0) > kUnitRotationTolerance ? normalisedOrIdentity(q) : q;
}

std::optional<JointId> NodeWriter::originalOf(JointId joint) const {
  if (!keeps_nodes_) return std::nullopt;
  const std::size_t node = nodeOf(joint);
  const std::vector<JointId>& joints = context_.original->scene.joint_of_node;
  if (node >= joints.size() || !joints[node].valid()) return std::nullopt;
  return joints[node];
}

void NodeWriter::write() {
  const Character& c = context_.character;
  Json& root = context_.out.root;
  keeps_nodes_ =
      context_.original != nullptr && c.joint_source.size() == c.skeleton.size() &&
      (!c.skeleton.joints.empty() || context_.original->character.skeleton.joints.empty());
  node_of_joint_.assign(c.skeleton.size(), 0);
  if (keeps_nodes_) {
    keepDocumentNodes();
  } else {
    if (carriesMore(root))
      context_.notes.warn("nodes-replaced", "nodes",
                          "the character has other joints than its file; what hung on the file's "
                          "nodes (cameras, lights) is not written");
    for (const char* key : {"nodes", "scenes", "scene", "skins", "animations"}) root.erase(key);
    if (context_.document != nullptr) {
      // Without any scene a reader would show meshes that belong to nobody now.
      root["scenes"] = Json::array({Json::object()});
      root["scene"] = 0;
    }
    for (std::size_t j = 0; j < c.skeleton.size(); ++j) {
      node_of_joint_[j] = context_.out.append("nodes", Json::object());
      parent_.push_back(-1);
    }
  }
  for (std::size_t j = 0; j < c.skeleton.size(); ++j) writeJoint(j);
}

void NodeWriter::keepDocumentNodes() {
  const Character& c = context_.character;
  const Import& original = *context_.original;
  parent_ = original.scene.parent_of_node;
  std::vector<bool> claimed(parent_.size(), false);
  for (std::size_t j = 0; j < c.skeleton.size(); ++j) {
    const int node = c.joint_source[j];
    if (node >= 0 && static_cast<std::size_t>(node) < claimed.size() && !claimed[node] &&
        original.scene.joint_of_node[node].valid()) {
      claimed[node] = true;
      node_of_joint_[j] = static_cast<std::size_t>(node);
    } else {
      node_of_joint_[j] = context_.out.append("nodes", Json::object());
      parent_.push_back(-1);
    }
  }
  for (std::size_t n = 0; n < claimed.size(); ++n)
    if (!claimed[n] && original.scene.joint_of_node[n].valid())
      context_.notes.info("joint-kept", "nodes",
                          "the character no longer has this joint; the file keeps its node, since "
                          "other things may refer to it by number",
                          n);
}

void NodeWriter::writeJoint(std::size_t index) {
  const Joint& joint = context_.character.skeleton.joints[index];
  const std::size_t n = node_of_joint_[index];
  const std::optional<JointId> source = originalOf(JointId(index));
  const Joint* before =
      source ? &context_.original->character.skeleton.joints[source->index()] : nullptr;
  if (before == nullptr || before->name != joint.name) node(n)["name"] = joint.name;
  if (before == nullptr || !(before->rest == joint.rest)) setTransform(node(n), joint.rest);
  const int parent = joint.parent.valid() ? static_cast<int>(nodeOf(joint.parent)) : -1;
  if (before == nullptr) return hang(n, parent);
  const int parent_before =
      before->parent.valid() ? context_.original->scene.joint_source[before->parent.index()] : -1;
  if (parent != parent_before) setParent(n, parent);
}

void NodeWriter::hang(std::size_t n, int parent) {
  parent_[n] = parent;
  if (parent >= 0)
    node(static_cast<std::size_t>(parent))["children"].push_back(n);
  else if (!keeps_nodes_ || n >= context_.original->scene.in_scene.size() ||
           context_.original->scene.in_scene[n])
    addToScene(n);  // what the scene did not show stays hidden
}

void NodeWriter::setParent(std::size_t n, int parent) {
  if (parent_[n] >= 0) removeNumber(node(static_cast<std::size_t>(parent_[n])), "children", n);
  removeFromScenes(n);
  hang(n, parent);
}

void NodeWriter::addToScene(std::size_t n) {
  Json& root = context_.out.root;
  if (arraySize(root, "scenes") == 0) {
    // A document without scenes shows all its nodes; one more needs no mention.
    if (keeps_nodes_ && !context_.original->scene.parent_of_node.empty()) return;
    root["scenes"] = Json::array({Json::object()});
    root["scene"] = 0;
  }
  std::size_t scene = 0;
  if (keeps_nodes_) {
    Diagnostics ignored;
    MemoryBudget budget = MemoryBudget::unlimited();
    const Result<std::optional<std::size_t>> chosen =
        chosenScene({*context_.document, ignored, budget});
    if (chosen && *chosen) scene = **chosen;
  }
  root["scenes"][scene]["nodes"].push_back(n);
}

void NodeWriter::removeFromScenes(std::size_t n) {
  Json& root = context_.out.root;
  for (std::size_t s = 0; s < arraySize(root, "scenes"); ++s)
    removeNumber(root["scenes"][s], "nodes", n);
}

std::size_t NodeWriter::addNode(Json json, std::optional<std::size_t> parent) {
  const std::size_t n = context_.out.append("nodes", std::move(json));
  parent_.push_back(-1);
  hang(n, parent ? static_cast<int>(*parent) : -1);
  return n;
}

void NodeWriter::splitMatrix(JointId joint) {
  Json& json = node(nodeOf(joint));
  if (json.contains("matrix")) setTransform(json, context_.character.skeleton[joint].rest);
}

void NodeWriter::shareRoot(const std::vector<std::size_t>& nodes) {
  // Each node is walked once, however deep the chains are.
  std::vector<int> root(parent_.size(), -1);
  std::vector<std::size_t> roots;
  for (const std::size_t start : nodes) {
    std::size_t n = start;
    while (root[n] < 0 && parent_[n] >= 0) n = static_cast<std::size_t>(parent_[n]);
    const int found = root[n] >= 0 ? root[n] : static_cast<int>(n);
    for (n = start; root[n] < 0; n = static_cast<std::size_t>(parent_[n])) {
      root[n] = found;
      if (parent_[n] < 0) break;
    }
    roots.push_back(static_cast<std::size_t>(found));
  }
  std::sort(roots.begin(), roots.end());
  roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
  if (roots.size() < 2) return;
  if (!common_root_)
    common_root_ = addNode({{"name", "root"}, {"extras", {{kCommonRootKey, true}}}}, std::nullopt);
  for (const std::size_t n : roots)
    if (n != *common_root_) setParent(n, static_cast<int>(*common_root_));
}

}  // namespace derm::detail::gltf
