#include "io/gltf/instance_writer.h"

#include <algorithm>
#include <deque>
#include <map>

namespace derm::detail::gltf {
namespace {

bool hasTransform(const Json& node) {
  return node.contains("matrix") || node.contains("translation") || node.contains("rotation") ||
         node.contains("scale");
}

}  // namespace

/// Finds what each instance was in the document: same mesh on the same node.
void InstanceWriter::matchSources() {
  const Character& now = context_.character;
  match_.assign(now.instances.size(), -1);
  if (context_.original == nullptr) return;
  const Character& then = context_.original->character;
  using Key = std::pair<int, std::uint32_t>;
  std::map<Key, std::deque<int>> free;
  const auto key = [&](int mesh, JointId joint) {
    return Key(mesh, nodes_.keepsNodes() ? joint.value : 0);
  };
  for (std::size_t j = 0; j < then.instances.size(); ++j)
    free[key(then.instances[j].source_mesh, then.instances[j].joint)].push_back(
        static_cast<int>(j));
  for (std::size_t i = 0; i < now.instances.size(); ++i) {
    const MeshInstance& instance = now.instances[i];
    JointId joint;
    if (instance.joint.valid()) {
      const std::optional<JointId> before = nodes_.originalOf(instance.joint);
      if (before)
        joint = *before;
      else if (nodes_.keepsNodes())
        continue;
    }
    const auto it = free.find(key(instance.source_mesh, joint));
    if (it == free.end() || it->second.empty()) continue;
    match_[i] = it->second.front();
    it->second.pop_front();
  }
}

/// Nodes whose instance is gone show nothing any more.
void InstanceWriter::clearLeftNodes() {
  if (context_.original == nullptr || !nodes_.keepsNodes()) return;
  const std::vector<ImportedInstance>& sources = context_.original->instances;
  std::vector<bool> kept(sources.size(), false);
  for (const int j : match_)
    if (j >= 0) kept[static_cast<std::size_t>(j)] = true;
  for (std::size_t j = 0; j < sources.size(); ++j)
    if (!kept[j] && sources[j].node)
      for (const char* what : {"mesh", "skin", "weights"})
        nodes_.node(*sources[j].node).erase(what);
}

InstanceWriter::Kind InstanceWriter::kindOf(std::size_t index) const {
  const Character& c = context_.character;
  const MeshInstance& instance = c.instances[index];
  if (!c.hasSkin()) return Kind::Loose;
  if (!instance.rigid || !instance.joint.valid() || instance.vertex_count == 0)
    return Kind::Skinned;
  const std::uint32_t slot = c.skin[instance.first_vertex].front().slot;
  if (c.skin.slots[slot].joint != instance.joint) return Kind::Skinned;
  for (std::size_t v = instance.first_vertex; v < instance.first_vertex + instance.vertex_count;
       ++v)
    if (c.skin[v].size() != 1 || c.skin[v].front().slot != slot) return Kind::Skinned;
  return Kind::Rigid;
}

void InstanceWriter::planLoose(const MeshInstance& instance, InstancePlan& plan) const {
  const bool was_still = plan.source != nullptr && plan.source->to_model.identity();
  plan.same_frame = was_still;
  if (!instance.joint.valid()) return;
  const Affine3d& rest = model_[instance.joint.index()];
  bool invertible = false;
  const Affine3d inverse = inverseOrIdentity(rest, invertible);
  if (!invertible) return;
  plan.from_model = GeometryTransform(inverse);
  plan.same_frame =
      plan.from_model.identity()
          ? was_still
          : plan.source != nullptr && plan.source->to_model.matrix().matrix() == rest.matrix();
}

InstancePlan InstanceWriter::planFor(std::size_t index, const SkinWriter& skins) const {
  const Character& c = context_.character;
  const MeshInstance& instance = c.instances[index];
  InstancePlan plan{.instance = index};
  if (match_[index] >= 0) {
    const auto j = static_cast<std::size_t>(match_[index]);
    plan.source = &context_.original->instances[j];
    plan.source_instance = &context_.original->character.instances[j];
    plan.sole_user = showersOf(plan.source->mesh) <= 1;
  }
  switch (kind_[index]) {
    case Kind::Rigid: {
      const SkinSlot& slot = c.skin.slots[c.skin[instance.first_vertex].front().slot];
      plan.from_model = GeometryTransform(slot.inverse_bind.cast<double>());
      if (plan.source != nullptr && plan.source_instance->rigid) {
        const Affine3f& before =
            context_.original->character.skin.slots[plan.source->first_slot].inverse_bind;
        plan.same_frame = before.matrix() == slot.inverse_bind.matrix();
      }
      break;
    }
    case Kind::Skinned:
      plan.skin = &skins.of(index);
      if (plan.skin->kept) {
        bool invertible = false;
        plan.from_model =
            GeometryTransform(inverseOrIdentity(plan.source->to_model.matrix(), invertible));
        plan.same_frame = true;
      } else {
        plan.same_frame = plan.source != nullptr && plan.source->to_model.identity();
      }
      break;
    case Kind::Loose:
      planLoose(instance, plan);
      break;
  }
  return plan;
}

/// Nodes of the document that show a mesh; where its nodes are not kept, instances that do.
std::size_t InstanceWriter::showersOf(std::size_t mesh) const {
  return mesh < showers_.size() ? showers_[mesh] : 0;
}

std::size_t InstanceWriter::addCarrier(const InstancePlan& plan,
                                       std::optional<std::size_t> parent) {
  const MeshInstance& instance = context_.character.instances[plan.instance];
  Json json = {{"name", instance.name}, {"extras", {{kCarrierKey, true}}}};
  if (plan.skin != nullptr && instance.joint.valid())
    json["extras"][kCarrierJointKey] = nodes_.nodeOf(instance.joint);
  return nodes_.addNode(std::move(json), parent);
}

/// Does the node that showed it still put it where it belongs?
bool InstanceWriter::mayKeepNode(const InstancePlan& plan, std::size_t node) const {
  const MeshInstance& instance = context_.character.instances[plan.instance];
  if (plan.skin != nullptr) return true;  // its node's transform plays no part
  const std::vector<JointId>& joints = context_.original->scene.joint_of_node;
  if (kind_[plan.instance] == Kind::Loose && plan.from_model.identity() && !joints[node].valid())
    return !instance.joint.valid();
  if (!instance.joint.valid()) return false;
  const std::size_t wanted = nodes_.nodeOf(instance.joint);
  return node == wanted ||
         (!joints[node].valid() &&
          context_.original->scene.parent_of_node[node] == static_cast<int>(wanted));
}

std::size_t InstanceWriter::nodeFor(const InstancePlan& plan) {
  const MeshInstance& instance = context_.character.instances[plan.instance];
  if (plan.source != nullptr && plan.source->node && nodes_.keepsNodes()) {
    if (mayKeepNode(plan, *plan.source->node)) return *plan.source->node;
    for (const char* what : {"mesh", "skin", "weights"})
      nodes_.node(*plan.source->node).erase(what);
  }
  const bool flat = kind_[plan.instance] == Kind::Loose && instance.joint.valid() &&
                    plan.from_model.identity() &&
                    model_[instance.joint.index()].matrix() != Affine3d::Identity().matrix();
  if (!instance.joint.valid() || flat) return addCarrier(plan, std::nullopt);
  const std::size_t joint_node = nodes_.nodeOf(instance.joint);
  const Json& json = nodes_.node(joint_node);
  // Readers meet meshes in the order of their nodes; a carrier comes last and so keeps ours.
  const bool in_order = last_node_ < 0 || joint_node > static_cast<std::size_t>(last_node_);
  const bool root = !context_.character.skeleton[instance.joint].parent.valid();
  if (plan.skin != nullptr) {
    // Viewers disagree about transforms above a skinned mesh, so it gets a place without any.
    const bool usable = in_order && root && !hasTransform(json) && !json.contains("mesh");
    return usable ? joint_node : addCarrier(plan, std::nullopt);
  }
  return !in_order || json.contains("mesh") ? addCarrier(plan, joint_node) : joint_node;
}

/// A document of bare meshes stays one.
bool InstanceWriter::withoutNodes() const {
  return context_.original != nullptr && context_.character.skeleton.joints.empty() &&
         context_.original->scene.parent_of_node.empty() &&
         std::all_of(match_.begin(), match_.end(), [](int j) { return j >= 0; });
}

void InstanceWriter::showOn(std::size_t n, const InstancePlan& plan, std::size_t mesh) {
  const Character& c = context_.character;
  const MeshInstance& instance = c.instances[plan.instance];
  Json& json = nodes_.node(n);
  json["mesh"] = mesh;
  if (plan.skin != nullptr)
    json["skin"] = plan.skin->skin;
  else if (plan.source == nullptr || plan.source->skin)
    json.erase("skin");
  if (plan.source == nullptr || plan.source_instance->morph_count != instance.morph_count) {
    json.erase("weights");  // the mesh has them
    return;
  }
  std::vector<float> weights;
  bool changed = false;
  for (std::size_t k = 0; k < instance.morph_count; ++k) {
    weights.push_back(c.morphs[instance.first_morph + k].default_weight);
    const MorphTarget& before =
        context_.original->character.morphs[plan.source_instance->first_morph + k];
    changed = changed || before.default_weight != weights.back();
  }
  if (changed) json["weights"] = weights;
}

Result<void> InstanceWriter::write() {
  const Character& c = context_.character;
  model_ = restModelMatrices(c.skeleton);
  node_.assign(c.instances.size(), std::nullopt);
  matchSources();
  clearLeftNodes();
  showers_.assign(arraySize(context_.out.root, "meshes"), 0);
  const auto count = [&](std::uint64_t mesh) {
    if (mesh < showers_.size()) ++showers_[mesh];
  };
  if (nodes_.keepsNodes()) {
    for (std::size_t n = 0; n < arraySize(context_.out.root, "nodes"); ++n)
      if (const Json* mesh = findMember(nodes_.node(n), "mesh"); mesh != nullptr)
        count(asUint(*mesh).value_or(~std::uint64_t{0}));
  } else {
    for (std::size_t i = 0; i < c.instances.size(); ++i)
      if (match_[i] >= 0) count(static_cast<std::uint64_t>(c.instances[i].source_mesh));
  }
  std::vector<SkinnedInstance> skinned;
  for (std::size_t i = 0; i < c.instances.size(); ++i) {
    kind_.push_back(kindOf(i));
    if (kind_[i] == Kind::Skinned && c.instances[i].vertex_count > 0)
      skinned.push_back({i, match_[i] >= 0 ? &context_.original->instances[match_[i]] : nullptr});
  }
  SkinWriter skins(context_, nodes_);
  DERM_CHECK(skins.write(skinned));
  MeshWriter meshes(context_, materials_);
  const bool bare = withoutNodes();
  for (std::size_t i = 0; i < c.instances.size(); ++i) {
    if (c.instances[i].vertex_count == 0) {
      context_.notes.warn("empty-mesh", "instances", "a mesh without vertices is not written", i);
      continue;
    }
    InstancePlan plan = planFor(i, skins);
    const std::optional<std::size_t> n = bare ? std::nullopt : std::optional(nodeFor(plan));
    if (n) plan.node_name = stringMember(nodes_.node(*n), "name").value_or("");
    if (const std::optional<std::size_t> mesh = meshes.write(plan)) {
      if (n) showOn(*n, plan, *mesh);
      if (n) last_node_ = std::max(last_node_, static_cast<int>(*n));
      node_[i] = n;
    }
  }
  return {};
}

}  // namespace derm::detail::gltf
