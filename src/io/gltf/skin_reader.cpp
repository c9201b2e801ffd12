#include "io/gltf/skin_reader.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "derm/mesh/measures.h"

namespace derm::detail::gltf {
namespace {

/// Relative to the largest coordinate: a skin that moves its mesh by less in the rest pose is taken
/// as not moving it. This is no loss: the slots keep the exact matrices.
constexpr double kStill = 1e-4;

/// Rows whose sum is off by more move vertices elsewhere in programs that do not normalise: by
/// two thousandths of a millimetre on a body of two metres. Rounding of good files is below.
constexpr double kPlaysAlike = 1e-6;

/// Whether a program that takes a row as it is moves the vertex as the repaired row does.
bool playsAlike(std::span<const Influence> row) {
  double sum = 0;
  for (const Influence& i : row) {
    if (!(i.weight >= 0)) return false;
    sum += i.weight;
  }
  return std::abs(sum - 1.0) <= kPlaysAlike;  // false for what is not finite, too
}

/// One skin of the file that is in use.
struct SkinInUse {
  std::vector<JointId> joints;
  std::vector<Affine3d> inverse_binds;
  Affine3d to_model = Affine3d::Identity();
  double reach = 0;  ///< [m] largest coordinate of the vertices that follow it
  std::uint32_t first_slot = 0;
};

class SkinReader {
 public:
  SkinReader(const ReadContext& context, Import& import)
      : context_(context),
        import_(import),
        character_(import.character),
        model_(restModelMatrices(import.character.skeleton)) {}

  Result<void> run() {
    DERM_CHECK(openSkins());
    for (auto& [index, skin] : skins_) skin.to_model = toModel(skin);
    if (character_.skeleton.joints.empty()) return {};
    const auto loose = [](const MeshInstance& i) { return !i.joint.valid(); };
    if (skins_.empty() &&
        std::all_of(character_.instances.begin(), character_.instances.end(), loose))
      return {};
    makeSlots();
    return readRows();
  }

 private:
  Result<void> openSkins();
  Result<SkinInUse> openSkin(std::size_t index) const;
  Affine3d toModel(const SkinInUse& skin) const;
  bool agree(const Affine3d& a, const Affine3d& b, double reach) const;
  void makeSlots();
  void makeRigidSlot(std::size_t instance);
  Result<void> readRows();
  /// Marks the imported block where rows had to be repaired.
  Result<void> readBlock(const MeshPlan& plan, std::size_t block, ImportedInstance& imported,
                         SkinBuilder& builder);

  const ReadContext& context_;
  Import& import_;
  Character& character_;
  std::vector<Affine3d> model_;
  std::map<std::size_t, SkinInUse> skins_;
  std::vector<SkinSlot> slots_;
};

Result<void> SkinReader::openSkins() {
  for (std::size_t i = 0; i < import_.instances.size(); ++i) {
    const ImportedInstance& imported = import_.instances[i];
    if (!imported.skin) continue;
    auto it = skins_.find(*imported.skin);
    if (it == skins_.end()) {
      DERM_TRY(SkinInUse skin, openSkin(*imported.skin));
      it = skins_.emplace(*imported.skin, std::move(skin)).first;
    }
    const MeshInstance& instance = character_.instances[i];
    const Bounds box = bounds(
        std::span(character_.mesh.positions).subspan(instance.first_vertex, instance.vertex_count));
    if (!box.empty())
      it->second.reach = std::max({it->second.reach, double(box.low.cwiseAbs().maxCoeff()),
                                   double(box.high.cwiseAbs().maxCoeff())});
  }
  return {};
}

Result<SkinInUse> SkinReader::openSkin(std::size_t index) const {
  const JsonPath root;
  const JsonPath at(root, "skins", index);
  DERM_TRY(const Json* json, objectAt(context_.file(), context_.root(), "skins", index));
  const Json* joints = findMember(*json, "joints");
  if (joints == nullptr || !joints->is_array() || joints->empty())
    return context_.bad(JsonPath(at, "joints"), "missing or empty");
  SkinInUse skin;
  DERM_CHECK(context_.take(joints->size() * (sizeof(Affine3d) + sizeof(SkinSlot) + 8), at));
  for (std::size_t j = 0; j < joints->size(); ++j) {
    const std::optional<std::uint64_t> node = asUint((*joints)[j]);
    if (!node || *node >= import_.scene.joint_of_node.size())
      return context_.bad(JsonPath(at, "joints"), "refers to no node", j);
    skin.joints.push_back(import_.scene.joint_of_node[*node]);
  }
  skin.inverse_binds.assign(skin.joints.size(), Affine3d::Identity());
  if (!json->contains("inverseBindMatrices")) return skin;
  const JsonPath here(at, "inverseBindMatrices");
  DERM_TRY(const auto accessor_index,
           uintMember(context_.file(), *json, "inverseBindMatrices", at));
  DERM_TRY(const Accessor accessor, openAccessor(context_, *accessor_index, here));
  if (accessor.width != 16 || accessor.component != Component::Float)
    return context_.bad(here, "must be float matrices (MAT4)");
  if (accessor.count < skin.joints.size())
    return context_.bad(
        here, fmt::format("{} matrices for {} joints", accessor.count, skin.joints.size()));
  DERM_TRY(const std::vector<float> values, readFloats(context_, accessor, here));
  for (std::size_t j = 0; j < skin.joints.size(); ++j) {
    const Eigen::Map<const Eigen::Matrix4f> full(values.data() + 16 * j);
    skin.inverse_binds[j].matrix() = full.topRows<3>().cast<double>();
    if (Eigen::RowVector4f(full.row(3)) != Eigen::RowVector4f(0, 0, 0, 1))
      context_.warn("bind-last-row", here, "its last row is not 0 0 0 1; ignored", j);
  }
  return skin;
}

bool SkinReader::agree(const Affine3d& a, const Affine3d& b, double reach) const {
  const double linear = (a.linear() - b.linear()).cwiseAbs().maxCoeff();
  const double shift = (a.translation() - b.translation()).cwiseAbs().maxCoeff();
  const double scale = a.linear().cwiseAbs().maxCoeff();
  return linear <= kStill * scale && shift <= kStill * scale * reach;
}

/// The matrix from mesh to model space in the rest pose on which more than half of the joints agree
/// (Boyer and Moore's vote, one pass), else the first joint's. Files whose rest pose is not their
/// bind pose have as many as joints; any choice skins alike.
Affine3d SkinReader::toModel(const SkinInUse& skin) const {
  const auto atRest = [&](std::size_t j) {
    return Affine3d(model_[skin.joints[j].index()] * skin.inverse_binds[j]);
  };
  Affine3d winner = atRest(0);
  std::size_t lead = 0;
  for (std::size_t j = 0; j < skin.joints.size(); ++j) {
    const Affine3d candidate = atRest(j);
    if (lead == 0) {
      winner = candidate;
      lead = 1;
    } else if (agree(winner, candidate, skin.reach)) {
      ++lead;
    } else {
      --lead;
    }
  }
  std::size_t votes = 0;
  for (std::size_t j = 0; j < skin.joints.size(); ++j)
    if (agree(winner, atRest(j), skin.reach)) ++votes;
  if (2 * votes <= skin.joints.size()) winner = atRest(0);
  bool invertible = false;
  inverseOrIdentity(winner, invertible);
  if (!invertible || agree(Affine3d::Identity(), winner, skin.reach)) return Affine3d::Identity();
  return winner;
}

/// A mesh without skin: moved to where its node is at rest, following that node.
void SkinReader::makeRigidSlot(std::size_t index) {
  MeshInstance& instance = character_.instances[index];
  ImportedInstance& imported = import_.instances[index];
  const bool has_joint = instance.joint.valid();
  // A carrier whose mesh turned out to have no weights: something must move its vertices.
  if (!has_joint) instance.joint = JointId(0);
  instance.rigid = true;
  SkinSlot slot{.joint = instance.joint};
  bool invertible = false;
  const Affine3d& rest = model_[instance.joint.index()];
  const Affine3d inverse = inverseOrIdentity(rest, invertible);
  const Affine3f rounded = inverse.cast<float>();
  if (invertible && rounded.matrix().allFinite()) {
    if (has_joint) imported.to_model = GeometryTransform(rest);
    slot.inverse_bind = rounded;
  } else {
    // Flattened at rest: moving would lose the shape, so the slot gives the mesh as it is.
    const JsonPath root;
    context_.warn("flat-node", JsonPath(root, "nodes", imported.node.value_or(0)),
                  "its rest matrix cannot be inverted; its mesh stays in its own space");
  }
  imported.first_slot = static_cast<std::uint32_t>(slots_.size());
  imported.slot_count = 1;
  slots_.push_back(slot);
}

void SkinReader::makeSlots() {
  std::map<std::size_t, bool> placed;
  for (std::size_t i = 0; i < import_.instances.size(); ++i) {
    ImportedInstance& imported = import_.instances[i];
    if (!imported.skin) {
      makeRigidSlot(i);
      continue;
    }
    SkinInUse& skin = skins_.at(*imported.skin);
    if (!placed[*imported.skin]) {
      placed[*imported.skin] = true;
      skin.first_slot = static_cast<std::uint32_t>(slots_.size());
      bool invertible = false;
      const Affine3d back = inverseOrIdentity(skin.to_model, invertible);
      for (std::size_t j = 0; j < skin.joints.size(); ++j) {
        const Affine3d bind = skin.inverse_binds[j] * back;
        slots_.push_back({skin.joints[j], bind.cast<float>()});
      }
    }
    imported.to_model = GeometryTransform(skin.to_model);
    imported.first_slot = skin.first_slot;
    imported.slot_count = static_cast<std::uint32_t>(skin.joints.size());
  }
}

Result<void> SkinReader::readBlock(const MeshPlan& plan, std::size_t index,
                                   ImportedInstance& imported, SkinBuilder& builder) {
  const BlockPlan& block = plan.blocks[index];
  bool& repaired = imported.blocks[index].skin_repaired;
  constexpr std::size_t kRows = 2048;  // decoded at once: bounds the work space
  const JsonPath root;
  const JsonPath mesh(root, "meshes", plan.index);
  const JsonPath primitive(mesh, "primitives", block.first_primitive);
  const JsonPath at(primitive, "attributes");
  const std::string element = at.text();
  const std::size_t sets = block.joints_weights.size();
  std::vector<std::uint32_t> joints(kRows * 4 * sets);
  std::vector<float> weights(kRows * 4 * sets);
  std::vector<Influence> row;
  for (std::size_t first = 0; first < block.vertex_count; first += kRows) {
    const std::size_t n = std::min(kRows, block.vertex_count - first);
    for (std::size_t s = 0; s < sets; ++s) {
      decodeUints(block.joints_weights[s].first, first, n, joints.data() + 4 * s, 4 * sets);
      decodeFloats(block.joints_weights[s].second, first, n, weights.data() + 4 * s, 4 * sets);
    }
    for (std::size_t v = 0; v < n; ++v) {
      row.clear();
      for (std::size_t k = v * 4 * sets; k < (v + 1) * 4 * sets; ++k) {
        if (joints[k] < imported.slot_count) {
          if (weights[k] != 0) row.push_back({imported.first_slot + joints[k], weights[k]});
          continue;
        }
        if (weights[k] != 0)
          return context_.bad(
              JsonPath(at, "JOINTS_0"),
              fmt::format("joint {} of a skin with {}", joints[k], imported.slot_count), first + v);
        context_.notes.warn("unused-joint-index", element,
                            "a joint that the skin has not, with weight 0", first + v);
        repaired = true;
      }
      repaired = repaired || !playsAlike(row);
      builder.addVertex(row, imported.first_slot, element, context_.notes);
    }
  }
  return {};
}

Result<void> SkinReader::readRows() {
  SkinBuilder builder(std::move(slots_), character_.mesh.vertexCount());
  for (ImportedInstance& imported : import_.instances) {
    const MeshPlan& plan = *import_.plans[imported.mesh];
    for (std::size_t b = 0; b < plan.blocks.size(); ++b) {
      const BlockPlan& block = plan.blocks[b];
      if (!imported.skin || block.joints_weights.empty()) {
        if (imported.skin) {
          const JsonPath root;
          context_.warn("part-without-weights", JsonPath(root, "meshes", imported.mesh),
                        "a part of a skinned mesh has no weights; it follows the first joint");
          imported.blocks[b].skin_repaired = true;
        }
        builder.addRigidVertices(block.vertex_count, imported.first_slot);
      } else {
        DERM_CHECK(readBlock(plan, b, imported, builder));
      }
    }
  }
  character_.skin = std::move(builder).finish();
  // An exactly one-row-per-vertex skin of a file without vertices is no skin.
  if (character_.mesh.vertexCount() == 0) character_.skin = {};
  for (std::size_t s = 0; s < character_.skin.slots.size(); ++s)
    if (!character_.skin.slots[s].inverse_bind.matrix().allFinite()) {
      const JsonPath root;
      return context_.bad(JsonPath(root, "skins"), "a bind matrix is too large for floats", s);
    }
  return {};
}

}  // namespace

Result<void> readSkin(const ReadContext& context, Import& import) {
  return SkinReader(context, import).run();
}

}  // namespace derm::detail::gltf
