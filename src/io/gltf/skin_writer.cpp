#include "io/gltf/skin_writer.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace derm::detail::gltf {

/// Slots that the instance's rows name, sorted.
std::vector<std::uint32_t> SkinWriter::slotsUsed(std::size_t index) const {
  const Skin& skin = context_.character.skin;
  const MeshInstance& instance = context_.character.instances[index];
  std::vector<bool> used(skin.slots.size(), false);
  for (std::size_t v = instance.first_vertex; v < instance.first_vertex + instance.vertex_count;
       ++v)
    for (const Influence& i : skin[v]) used[i.slot] = true;
  std::vector<std::uint32_t> out;
  for (std::size_t s = 0; s < used.size(); ++s)
    if (used[s]) out.push_back(static_cast<std::uint32_t>(s));
  return out;
}

/// Uses the document's skin where the instance's slots are still exactly it.
bool SkinWriter::keepSkin(const SkinnedInstance& which) {
  if (which.source == nullptr || !which.source->skin || !nodes_.keepsNodes()) return false;
  const Character& now = context_.character;
  const Character& then = context_.original->character;
  const std::size_t first = which.source->first_slot;
  const std::size_t count = which.source->slot_count;
  const std::vector<std::uint32_t> used = slotsUsed(which.instance);
  if (first + count > now.skin.slots.size() ||
      (!used.empty() && (used.front() < first || used.back() >= first + count)))
    return false;
  const auto known = use_of_kept_skin_.find(*which.source->skin);
  if (known != use_of_kept_skin_.end()) {
    use_of_instance_[which.instance] = known->second;
    return true;
  }
  SkinUse use{.skin = *which.source->skin, .kept = true, .joint_count = count};
  use.joint_of_slot.assign(now.skin.slots.size(), SkinUse::kNone);
  for (std::size_t s = first; s < first + count; ++s) {
    const SkinSlot& slot = now.skin.slots[s];
    if (nodes_.originalOf(slot.joint) != then.skin.slots[s].joint ||
        slot.inverse_bind.matrix() != then.skin.slots[s].inverse_bind.matrix())
      return false;
    use.joint_of_slot[s] = static_cast<std::uint32_t>(s - first);
  }
  use_of_kept_skin_[use.skin] = uses_.size();
  use_of_instance_[which.instance] = uses_.size();
  uses_.push_back(std::move(use));
  return true;
}

/// Nodes that use each of the document's skins, without those about to get another one.
void SkinWriter::countUsers(const std::vector<SkinnedInstance>& instances) {
  const Json& root = context_.out.root;
  for (std::size_t n = 0; n < arraySize(root, "nodes"); ++n) {
    const Json* skin = findMember(root["nodes"][n], "skin");
    if (const auto number = skin ? asUint(*skin) : std::nullopt)
      ++other_users_[static_cast<std::size_t>(*number)];
  }
  for (const SkinnedInstance& i : instances)
    if (i.source != nullptr && i.source->skin && i.source->node && nodes_.keepsNodes())
      --other_users_[*i.source->skin];
}

/// A skin of the document that the users leave and nobody else needs: its number and extras live
/// on.
std::optional<std::size_t> SkinWriter::replaceable(
    const std::vector<SkinnedInstance>& users) const {
  for (const SkinnedInstance& i : users) {
    if (i.source == nullptr || !i.source->skin || !nodes_.keepsNodes()) continue;
    const auto others = other_users_.find(*i.source->skin);
    if (others == other_users_.end() || others->second <= 0) return i.source->skin;
  }
  return std::nullopt;
}

Result<std::size_t> SkinWriter::writeSkin(const std::vector<std::uint32_t>& slots,
                                          const std::vector<SkinnedInstance>& users) {
  const Character& c = context_.character;
  if (slots.size() > 0x10000)
    return Error{ErrorCode::Unsupported,
                 fmt::format("{} joints in one skin; glTF counts to 65536", slots.size()),
                 {.file = c.name, .element = "skin.slots"}};
  SkinUse use{.joint_count = slots.size()};
  use.joint_of_slot.assign(c.skin.slots.size(), SkinUse::kNone);
  std::vector<std::size_t> joints;
  std::vector<Affine3f> binds;
  std::set<std::size_t> named;
  for (const std::uint32_t s : slots) {
    const JointId joint = c.skin.slots[s].joint;
    std::size_t node = nodes_.nodeOf(joint);
    if (!named.insert(node).second) {
      // One joint with two binds in one mesh: glTF needs two nodes for that.
      context_.notes.info("joint-doubled", "skins",
                          "a joint with several binds got nodes of its own");
      node = nodes_.addNode({{"name", c.skeleton[joint].name + "_bind"}}, node);
    }
    use.joint_of_slot[s] = static_cast<std::uint32_t>(joints.size());
    joints.push_back(node);
    binds.push_back(c.skin.slots[s].inverse_bind);
  }
  nodes_.shareRoot(joints);
  const std::optional<std::size_t> old_skin = replaceable(users);
  Json json = old_skin ? context_.out.root["skins"][*old_skin] : Json::object();
  json.erase("skeleton");
  json["joints"] = joints;
  json["inverseBindMatrices"] = context_.out.addMatrices(binds);
  if (old_skin) {
    use.skin = *old_skin;
    context_.out.root["skins"][*old_skin] = std::move(json);
    other_users_[*old_skin] = 1;  // taken
  } else {
    use.skin = context_.out.append("skins", std::move(json));
  }
  uses_.push_back(std::move(use));
  return uses_.size() - 1;
}

Result<void> SkinWriter::write(const std::vector<SkinnedInstance>& instances) {
  const Skin& skin = context_.character.skin;
  countUsers(instances);
  std::vector<SkinnedInstance> left;
  for (const SkinnedInstance& i : instances) {
    if (!keepSkin(i))
      left.push_back(i);
    else if (i.source->node)
      ++other_users_[*i.source->skin];
  }
  if (left.empty()) return {};
  // Slots of kept skins and of rigid parts are spoken for; all others, used or not, make up runs in
  // which no joint appears twice.
  std::vector<bool> taken(skin.slots.size(), false);
  std::set<std::size_t> skinned;
  for (const SkinnedInstance& i : instances) skinned.insert(i.instance);
  for (std::size_t i = 0; i < context_.character.instances.size(); ++i)
    if (!skinned.contains(i))
      for (const std::uint32_t s : slotsUsed(i)) taken[s] = true;
  for (const SkinUse& use : uses_)
    for (std::size_t s = 0; s < use.joint_of_slot.size(); ++s)
      if (use.joint_of_slot[s] != SkinUse::kNone) taken[s] = true;
  std::map<std::size_t, std::vector<std::uint32_t>> used;
  for (const SkinnedInstance& i : left) {
    used[i.instance] = slotsUsed(i.instance);
    for (const std::uint32_t s : used[i.instance]) taken[s] = false;
  }
  std::vector<std::vector<std::uint32_t>> runs;
  std::vector<std::size_t> run_of_slot(skin.slots.size(), 0);
  std::set<JointId> in_run;
  for (std::size_t s = 0; s < skin.slots.size(); ++s) {
    if (taken[s]) continue;
    if (runs.empty() || in_run.contains(skin.slots[s].joint)) {
      runs.emplace_back();
      in_run.clear();
    }
    in_run.insert(skin.slots[s].joint);
    runs.back().push_back(static_cast<std::uint32_t>(s));
    run_of_slot[s] = runs.size() - 1;
  }
  std::map<std::vector<std::uint32_t>, std::vector<SkinnedInstance>> users;
  for (const SkinnedInstance& i : left) {
    const std::vector<std::uint32_t>& mine = used[i.instance];
    const bool one_run =
        !mine.empty() && std::all_of(mine.begin(), mine.end(), [&](std::uint32_t s) {
          return run_of_slot[s] == run_of_slot[mine.front()];
        });
    users[one_run ? runs[run_of_slot[mine.front()]] : mine].push_back(i);
  }
  for (const auto& [slots, who] : users) {
    DERM_TRY(const std::size_t use, writeSkin(slots, who));
    for (const SkinnedInstance& i : who) use_of_instance_[i.instance] = use;
  }
  return {};
}

}  // namespace derm::detail::gltf
