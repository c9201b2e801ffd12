#include "io/gltf/skin_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

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
    placeSkins();
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
  void placeSkins();
  void bindJoints(const SkinInUse& skin);
  Affine3d atRest(const SkinInUse& skin, std::size_t j) const {
    return Affine3d(model_[skin.joints[j].index()] * skin.inverse_binds[j]);
  }
  std::optional<Affine3d> votedToModel(const SkinInUse& skin) const;
  Affine3d standing(const SkinInUse& skin) const;
  Affine3d besideOthers(const SkinInUse& skin) const;
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
  std::vector<Affine3d> model_;  ///< per joint at rest
  std::vector<Affine3d> bind_;   ///< per joint where the skins bound it, or where that carries it
  std::vector<bool> bound_;      ///< per joint whether a skin has bound it
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
/// (Boyer and Moore's vote, one pass).
std::optional<Affine3d> SkinReader::votedToModel(const SkinInUse& skin) const {
  Affine3d winner = atRest(skin, 0);
  std::size_t lead = 0;
  for (std::size_t j = 0; j < skin.joints.size(); ++j) {
    const Affine3d candidate = atRest(skin, j);
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
    if (agree(winner, atRest(skin, j), skin.reach)) ++votes;
  if (2 * votes <= skin.joints.size()) return std::nullopt;
  bool invertible = false;
  inverseOrIdentity(winner, invertible);
  if (!invertible || agree(Affine3d::Identity(), winner, skin.reach)) return Affine3d::Identity();
  return winner;
}

/// The quarter turns nearest to a matrix.
Eigen::Matrix3d quarterTurns(const Eigen::Matrix3d& m) {
  std::array<int, 3> axes = {0, 1, 2};
  Eigen::Matrix3d best = Eigen::Matrix3d::Identity();
  double best_sum = -1;
  do {
    Eigen::Matrix3d turn = Eigen::Matrix3d::Zero();
    double sum = 0;
    for (int k = 0; k < 3; ++k) {
      const double entry = m(axes[static_cast<std::size_t>(k)], k);
      turn(axes[static_cast<std::size_t>(k)], k) = entry < 0 ? -1 : 1;
      sum += std::abs(entry);
    }
    if (turn.determinant() * m.determinant() > 0 && sum > best_sum * (1 + 1e-9)) {
      best = turn;
      best_sum = sum;
    }
  } while (std::next_permutation(axes.begin(), axes.end()));
  return best;
}

/// Files that were saved in mid-animation have as many matrices as joints. Any choice skins alike,
/// but the bind pose should stand as the character does. Its axes are those of the model or those
/// of the nodes above the skin, whichever are nearer to what the topmost joint says: its own turn
/// may be the pose's. Its unit is the joint's.
Affine3d SkinReader::standing(const SkinInUse& skin) const {
  const auto top = std::min_element(skin.joints.begin(), skin.joints.end(),
                                    [](JointId a, JointId b) { return a.index() < b.index(); });
  const Affine3d at = atRest(skin, static_cast<std::size_t>(top - skin.joints.begin()));
  const double scale = std::cbrt(std::abs(at.linear().determinant()));
  if (!(scale > 0) || !std::isfinite(scale)) return Affine3d::Identity();
  Eigen::Matrix3d axes = Eigen::Matrix3d::Identity();
  if (const JointId above = character_.skeleton[*top].parent; above.valid()) {
    const Eigen::Matrix3d turned = quarterTurns(model_[above.index()].linear());
    const Eigen::Matrix3d is = at.linear();
    if (turned.cwiseProduct(is).sum() > is.trace()) axes = turned;
  }
  constexpr double kSameUnit = 1.25;  // no two units are as near as that; animated scales are
  const bool same_unit = scale < kSameUnit && scale > 1 / kSameUnit;
  Affine3d out = Affine3d::Identity();
  out.linear() = axes * (same_unit ? 1.0 : scale);
  return out;
}

/// The matrix that puts a joint of this skin where the skins before it have bound it.
Affine3d SkinReader::besideOthers(const SkinInUse& skin) const {
  for (std::size_t j = 0; j < skin.joints.size(); ++j)
    if (bound_[skin.joints[j].index()])
      return Affine3d(bind_[skin.joints[j].index()] * skin.inverse_binds[j]);
  const auto top = std::min_element(skin.joints.begin(), skin.joints.end(),
                                    [](JointId a, JointId b) { return a.index() < b.index(); });
  return Affine3d(bind_[top->index()] *
                  skin.inverse_binds[static_cast<std::size_t>(top - skin.joints.begin())]);
}

/// Takes the skin's bind pose over for its joints, and carries along what hangs on them.
void SkinReader::bindJoints(const SkinInUse& skin) {
  const Skeleton& skeleton = character_.skeleton;
  bool moved = false;
  for (std::size_t j = 0; j < skin.joints.size(); ++j) {
    const std::size_t joint = skin.joints[j].index();
    bool invertible = false;
    const Affine3d mesh_to_joint = inverseOrIdentity(skin.inverse_binds[j], invertible);
    if (bound_[joint] || !invertible) continue;
    const Affine3d bind = skin.to_model * mesh_to_joint;
    // What is at its bind keeps the rest's bits.
    const bool at_rest = agree(bind, model_[joint], skin.reach);
    bind_[joint] = at_rest ? model_[joint] : bind;
    bound_[joint] = true;
    moved = moved || !at_rest;
  }
  if (!moved) return;
  for (std::size_t i = 0; i < skeleton.size(); ++i) {
    const JointId parent = skeleton.joints[i].parent;
    if (bound_[i] || !parent.valid()) continue;
    const Affine3d &now = bind_[parent.index()], &then = model_[parent.index()];
    if (now.matrix() != then.matrix()) bind_[i] = now * skeleton.joints[i].rest.matrixd();
  }
}

/// Where one skin's joints do not agree, the file's rest pose is no bind pose: the largest of these
/// is stood up, and others are put beside it, those too whose few joints agree with each other.
void SkinReader::placeSkins() {
  bind_ = model_;
  bound_.assign(model_.size(), false);
  SkinInUse* posed = nullptr;
  std::vector<SkinInUse*> others;
  for (auto& [index, skin] : skins_) {
    const std::optional<Affine3d> voted = votedToModel(skin);
    skin.to_model = voted.value_or(Affine3d::Identity());
    if (!voted && (posed == nullptr || skin.joints.size() > posed->joints.size())) posed = &skin;
    others.push_back(&skin);
  }
  if (posed != nullptr) {
    posed->to_model = standing(*posed);
    bindJoints(*posed);
    std::erase(others, posed);
    std::stable_sort(others.begin(), others.end(), [](const SkinInUse* a, const SkinInUse* b) {
      return a->joints.size() > b->joints.size();
    });
  }
  for (SkinInUse* skin : others) {
    if (posed != nullptr) {
      const Affine3d beside = besideOthers(*skin);
      bool invertible = false;
      inverseOrIdentity(beside, invertible);
      const bool still = !invertible || agree(Affine3d::Identity(), beside, skin->reach);
      skin->to_model = still ? Affine3d(Affine3d::Identity()) : beside;
    }
    bindJoints(*skin);
  }
}

/// A mesh without skin: moved to where its node is in the bind pose, following that node.
void SkinReader::makeRigidSlot(std::size_t index) {
  MeshInstance& instance = character_.instances[index];
  ImportedInstance& imported = import_.instances[index];
  const bool has_joint = instance.joint.valid();
  // A carrier whose mesh turned out to have no weights: something must move its vertices.
  if (!has_joint) instance.joint = JointId(0);
  instance.rigid = true;
  SkinSlot slot{.joint = instance.joint};
  bool invertible = false;
  const Affine3d& bind = bind_[instance.joint.index()];
  const Affine3d inverse = inverseOrIdentity(bind, invertible);
  const Affine3f rounded = inverse.cast<float>();
  if (invertible && rounded.matrix().allFinite()) {
    if (has_joint) imported.to_model = GeometryTransform(bind);
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
