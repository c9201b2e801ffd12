#include "derm/weights/character_weights.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "derm/base/number_text.h"
#include "derm/mesh/measures.h"

namespace derm {
namespace {

/// Joints that non-rigid instances give weight to.
std::vector<bool> skinnedJoints(const Character& c) {
  std::vector<bool> used(c.skeleton.size(), false);
  if (c.skin.empty()) return used;
  for (const MeshInstance& m : c.instances) {
    if (m.rigid) continue;
    for (std::size_t v = m.first_vertex; v < std::size_t{m.first_vertex} + m.vertex_count; ++v)
      for (const Influence& i : c.skin[v]) used[c.skin.slots[i.slot].joint.index()] = true;
  }
  return used;
}

std::vector<JointId> chosen(const std::vector<bool>& which) {
  std::vector<JointId> out;
  for (std::size_t j = 0; j < which.size(); ++j)
    if (which[j]) out.emplace_back(j);
  return out;
}

/// Joints of the tree with the most of them.
std::vector<bool> largestTree(const Skeleton& skeleton) {
  std::vector<std::size_t> root(skeleton.size());
  std::vector<std::size_t> size(skeleton.size(), 0);
  for (std::size_t j = 0; j < skeleton.size(); ++j) {
    const JointId parent = skeleton.joints[j].parent;
    root[j] = parent.valid() ? root[parent.index()] : j;
    ++size[root[j]];
  }
  const auto largest = static_cast<std::size_t>(
      std::distance(size.begin(), std::max_element(size.begin(), size.end())));
  std::vector<bool> out(skeleton.size());
  for (std::size_t j = 0; j < skeleton.size(); ++j) out[j] = root[j] == largest;
  return out;
}

/// Takes single joints off the top of a tree: down to the first fork, or, if it never forks, as
/// long as the next joint is at the same position.
void cutTop(const Skeleton& skeleton, std::span<const Affine3d> model, std::vector<bool>& which) {
  std::vector<std::vector<std::size_t>> children(skeleton.size());
  std::vector<std::size_t> tops;
  for (std::size_t j = 0; j < skeleton.size(); ++j) {
    if (!which[j]) continue;
    const JointId parent = skeleton.joints[j].parent;
    if (parent.valid() && which[parent.index()])
      children[parent.index()].push_back(j);
    else
      tops.push_back(j);
  }
  if (tops.size() != 1) return;  // the fork is above
  std::vector<std::size_t> chain = tops;
  while (children[chain.back()].size() == 1) chain.push_back(children[chain.back()].front());
  const bool forks = !children[chain.back()].empty();
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
    const bool same_position =
        (model[chain[i]].translation() - model[chain[i + 1]].translation()).norm() <=
        1e-9 * (1 + model[chain[i]].translation().norm());
    if (!forks && !same_position) return;
    which[chain[i]] = false;
  }
}

/// The bind matrices that one group of instances agrees on.
struct BindGroup {
  std::vector<std::optional<Affine3d>> bind;  ///< per joint
  std::vector<std::size_t> instances;
};

/// Whether two binds of a joint differ by no more than a tenth of a per mille of the character, and
/// of what floats can tell so far from the middle of the world.
bool agree(const Affine3d& a, const Affine3d& b, double diagonal_m) {
  const auto size = [](const auto& m) { return m.cwiseAbs().maxCoeff(); };
  const double turned = std::max(size(a.linear()), size(b.linear()));
  const double away_m = std::max(size(a.translation()), size(b.translation()));
  return size(a.linear() - b.linear()) <= 1e-4 * turned &&
         size(a.translation() - b.translation()) <= 1e-4 * diagonal_m + 1e-6 * away_m;
}

std::vector<std::optional<Affine3d>> bindsOf(const Character& c, const MeshInstance& m) {
  std::vector<bool> slots(c.skin.slots.size(), false);
  for (std::size_t v = m.first_vertex; v < std::size_t{m.first_vertex} + m.vertex_count; ++v)
    for (const Influence& i : c.skin[v]) slots[i.slot] = true;
  std::vector<std::optional<Affine3d>> out(c.skeleton.size());
  for (std::size_t s = 0; s < slots.size(); ++s) {
    std::optional<Affine3d>& bind = out[c.skin.slots[s].joint.index()];
    if (!slots[s] || bind) continue;  // other instances' slots are many
    bool invertible = false;
    const Affine3d matrix =
        inverseOrIdentity(c.skin.slots[s].inverse_bind.cast<double>(), invertible);
    if (invertible) bind = matrix;
  }
  return out;
}

/// Puts each instance that is to be weighted into the first group whose binds it shares.
std::vector<BindGroup> bindGroups(const Character& c, bool with_rigid) {
  const double diagonal_m = bounds(c.mesh.positions).diagonal();
  std::vector<BindGroup> out;
  for (std::size_t i = 0; i < c.instances.size(); ++i) {
    if (c.instances[i].rigid && !with_rigid) continue;
    std::vector<std::optional<Affine3d>> binds(c.skeleton.size());
    // A rigid mesh that is given a skin now is taken as it stands in the rest pose.
    if (!c.skin.empty() && !c.instances[i].rigid) binds = bindsOf(c, c.instances[i]);
    auto group = std::find_if(out.begin(), out.end(), [&](const BindGroup& g) {
      for (std::size_t j = 0; j < binds.size(); ++j)
        if (binds[j] && g.bind[j] && !agree(*binds[j], *g.bind[j], diagonal_m)) return false;
      return true;
    });
    if (group == out.end())
      group = out.insert(out.end(), {std::move(binds), {}});
    else
      for (std::size_t j = 0; j < binds.size(); ++j)
        if (!group->bind[j]) group->bind[j] = binds[j];
    group->instances.push_back(i);
  }
  return out;
}

std::vector<Affine3d> modelMatrices(const Skeleton& skeleton,
                                    std::span<const std::optional<Affine3d>> bind) {
  std::vector<Affine3d> model(skeleton.size());
  for (std::size_t j = 0; j < skeleton.size(); ++j) {
    const Joint& joint = skeleton.joints[j];
    if (bind[j])
      model[j] = *bind[j];
    else if (joint.parent.valid())
      model[j] = model[joint.parent.index()] * joint.rest.matrixd();
    else
      model[j] = joint.rest.matrixd();
  }
  return model;
}

/// The group's vertices and triangles as a mesh of their own; `vertices` tells which they are.
TriMesh meshOf(const Character& c, const BindGroup& group, std::vector<std::uint32_t>& vertices) {
  constexpr std::uint32_t kNotHere = 0xFFFFFFFFu;
  std::vector<std::uint32_t> map(c.mesh.vertexCount(), kNotHere);
  TriMesh out;
  vertices.clear();
  for (const std::size_t i : group.instances) {
    const MeshInstance& m = c.instances[i];
    for (std::uint32_t v = m.first_vertex; v < m.first_vertex + m.vertex_count; ++v) {
      map[v] = static_cast<std::uint32_t>(vertices.size());
      vertices.push_back(v);
      out.positions.push_back(c.mesh.positions[v]);
    }
  }
  // A triangle lies within one instance, so one corner tells for all.
  for (const Triangle& t : c.mesh.triangles)
    if (map[t[0]] != kNotHere) out.triangles.push_back({map[t[0]], map[t[1]], map[t[2]]});
  return out;
}

/// Names the meshes that hang on a bone, or on something that does: they were rigid on purpose.
void noteRigidParts(const Character& c, std::span<const JointId> bones, Diagnostics& notes) {
  std::vector<bool> below(c.skeleton.size(), false);
  for (const JointId bone : bones) below[bone.index()] = true;
  for (std::size_t j = 0; j < below.size(); ++j) {
    const JointId parent = c.skeleton.joints[j].parent;
    below[j] = below[j] || (parent.valid() && below[parent.index()]);
  }
  for (std::size_t i = 0; i < c.instances.size(); ++i) {
    const MeshInstance& m = c.instances[i];
    if (m.joint.valid() && below[m.joint.index()])
      notes.warn("rigid-part-weighted", m.name,
                 "a rigid part: it hung on one joint and now bends with all of them", i);
  }
}

/// Notes of a part of the mesh, with indices of the whole.
void mergeNotes(const Diagnostics& part, std::span<const std::uint32_t> vertices,
                Diagnostics& notes) {
  for (Diagnostics::Note note : part.notes()) {
    Diagnostics one;
    const bool of_vertex = note.kind.starts_with("vertex-") || note.kind.starts_with("piece-");
    std::size_t given = 0;
    for (const std::uint64_t index : note.first_indices) {
      one.add(note.severity, note.kind, note.element, note.message,
              of_vertex ? std::uint64_t{vertices[index]} : index);
      ++given;
    }
    for (; given < note.count; ++given)
      one.add(note.severity, note.kind, note.element, note.message);
    notes.merge(one);
  }
}

}  // namespace

std::vector<JointId> defaultBones(const Character& c) {
  if (c.skeleton.size() == 0) return {};
  std::vector<bool> skinned = skinnedJoints(c);
  if (std::find(skinned.begin(), skinned.end(), true) != skinned.end()) return chosen(skinned);
  const std::vector<bool> tree = largestTree(c.skeleton);
  std::vector<bool> which = tree;
  for (const MeshInstance& m : c.instances)
    if (m.joint.valid()) which[m.joint.index()] = false;
  const std::vector<Affine3d> model = restModelMatrices(c.skeleton);
  cutTop(c.skeleton, model, which);
  const std::vector<JointId> bones = chosen(which);
  return bones.empty() ? chosen(tree) : bones;
}

bool hasSkeleton(const Character& c) {
  const std::vector<bool> skinned = skinnedJoints(c);
  if (std::find(skinned.begin(), skinned.end(), true) != skinned.end()) return true;
  std::vector<bool> no_end(c.skeleton.size(), false);  // something hangs on it, or it is a mesh's
  for (const Joint& joint : c.skeleton.joints)
    if (joint.parent.valid()) no_end[joint.parent.index()] = true;
  for (const MeshInstance& m : c.instances)
    if (m.joint.valid()) no_end[m.joint.index()] = true;
  return std::find(no_end.begin(), no_end.end(), false) != no_end.end();
}

std::vector<Affine3d> bindModelMatrices(const Character& c) {
  BindGroup all;
  all.bind.resize(c.skeleton.size());
  for (const MeshInstance& m : c.instances) {
    if (m.rigid || c.skin.empty()) continue;
    const std::vector<std::optional<Affine3d>> binds = bindsOf(c, m);
    for (std::size_t j = 0; j < binds.size(); ++j)
      if (!all.bind[j]) all.bind[j] = binds[j];
  }
  return modelMatrices(c.skeleton, all.bind);
}

void checkSkeletonSize(const TriMesh& mesh, std::span<const JointId> bones,
                       std::span<const Affine3d> bind_model, std::string_view element,
                       Diagnostics& notes) {
  constexpr double kSeveral = 4;  // bones seldom end less deep in a mesh; feet are 3.3 to a metre
  std::vector<Vec3f> positions;
  for (const JointId bone : bones)
    positions.push_back(bind_model[bone.index()].translation().cast<float>());
  const double skeleton_m = bounds(positions).diagonal();
  const double mesh_m = bounds(mesh.positions).diagonal();
  if (!(skeleton_m > 0 && mesh_m > 0)) return;
  if (skeleton_m <= kSeveral * mesh_m && mesh_m <= kSeveral * skeleton_m) return;
  notes.warn("skeleton-size", element,
             "the joints span " + shortNumber(skeleton_m, 3) + " m, the mesh " +
                 shortNumber(mesh_m, 3) + " m: are both in the right unit?");
}

Result<Skin> autoWeights(const Character& c, std::span<const JointId> bones,
                         const AutoWeightsDesc& desc, Diagnostics& notes,
                         const Progress& progress) {
  DERM_CHECK(validate(c));
  std::vector<JointId> chosen_bones(bones.begin(), bones.end());
  if (chosen_bones.empty()) {
    if (!hasSkeleton(c))
      return Error{ErrorCode::BadArgument,
                   "has no joints that skin could follow",
                   {.file = c.name, .element = "skeleton"}};
    chosen_bones = defaultBones(c);
  }
  const bool all_rigid = std::all_of(c.instances.begin(), c.instances.end(),
                                     [](const MeshInstance& m) { return m.rigid; });
  if (all_rigid) noteRigidParts(c, chosen_bones, notes);
  const std::vector<BindGroup> groups = bindGroups(c, all_rigid);
  std::vector<SkinSlot> slots;
  std::vector<std::vector<Influence>> rows(c.mesh.vertexCount());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::vector<std::uint32_t> vertices;
    const TriMesh mesh = meshOf(c, groups[g], vertices);
    Diagnostics part_notes;
    const auto part_progress = [&](double fraction, std::string_view stage) {
      const double done = (static_cast<double>(g) + fraction) / static_cast<double>(groups.size());
      return keepGoing(progress, done, stage);
    };
    DERM_TRY(const Skin part,
             autoWeights(mesh, c.skeleton, chosen_bones, modelMatrices(c.skeleton, groups[g].bind),
                         desc, part_notes, part_progress));
    mergeNotes(part_notes, vertices, notes);
    for (std::size_t v = 0; v < vertices.size(); ++v)
      for (const Influence& i : part[v])
        rows[vertices[v]].push_back({i.slot + static_cast<std::uint32_t>(slots.size()), i.weight});
    slots.insert(slots.end(), part.slots.begin(), part.slots.end());
  }
  std::vector<std::uint32_t> prop_slot(c.skin.slots.size(), BoneSegment::kNone);
  for (std::size_t v = 0; v < rows.size(); ++v) {
    if (!rows[v].empty() || c.skin.empty()) continue;
    for (const Influence& i : c.skin[v]) {
      if (prop_slot[i.slot] == BoneSegment::kNone) {
        prop_slot[i.slot] = static_cast<std::uint32_t>(slots.size());
        slots.push_back(c.skin.slots[i.slot]);
      }
      rows[v].push_back({prop_slot[i.slot], i.weight});
    }
  }
  SkinBuilder builder(std::move(slots), rows.size());
  for (std::vector<Influence>& row : rows) builder.addVertex(row, 0, c.name, notes);
  return std::move(builder).finish();
}

}  // namespace derm
