#include "derm/deform/flesh_auto.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include "derm/deform/props.h"
#include "derm/mesh/measures.h"
#include "derm/weights/character_weights.h"

#include "anim/joint_names.h"
#include "deform/flesh_bulges.h"
#include "deform/flesh_weights.h"

namespace derm {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFFu;
/// Share of the character's size that a branch's skin must reach to count.
constexpr double kBranchReach = 0.1;
/// And beyond the skin of the bone it hangs on: ears and jaws do not make a fork of a head.
constexpr double kBeyondOwn = 1.25;
constexpr std::size_t kForkBranches = 3;
/// Limbs: thickness against length and against the branch's thickest bone; length against the size.
constexpr double kThinnest = 0.08;
constexpr double kStoutest = 1.0;
constexpr double kNearThickest = 0.6;
/// The same against the character's thickest limb: fingers are out.
constexpr double kThickEnough = 0.35;
constexpr double kShortestBone = 0.04;
/// Bones in a row are one where they are straight: their way is not longer than this times the
/// chord.
constexpr double kStraight = 1.05;
/// Two branches within this share of each other's reach are a pair: left and right.
constexpr double kTwin = 0.05;
/// A head is at least this thick for its length; a tail is not.
constexpr double kHeadStoutness = 0.2;
/// Sine of a trunk's slope: below, it lies as an animal's does.
constexpr double kLyingTrunk = 0.5;
/// Where such a trunk's flesh hangs, of the way from the spine's joints to the top of the back.
constexpr double kUnderTheBack = 0.85;
/// A head that this many bones hang on has a face: its bones move the cheeks. Ears, eyes, a jaw and
/// hair are fewer.
constexpr std::size_t kFaceBones = 8;
/// Elements of fewer vertices are not worth a spring.
constexpr std::size_t kMinVertices = 12;

/// How deep flesh hangs and how far it is ever thrown, as shares of its depth, and how it swings.
/// Skin and muscle hold it long before it meets the bone; a face holds its lips and eyelids, too.
struct Tissue {
  double sag;
  double damping_ratio;
  double max_elongation;
};
constexpr Tissue kLimbTissue = {0.12, 0.2, 0.35};
constexpr Tissue kBellyTissue = {0.08, 0.3, 0.4};
constexpr Tissue kHangingBellyTissue = {0.05, 0.3, 0.25};  ///< its depth counts from the back
constexpr Tissue kBreastTissue = {0.15, 0.2, 0.35};
constexpr Tissue kButtockTissue = {0.08, 0.3, 0.25};
constexpr Tissue kCheekTissue = {0.12, 0.25, 0.25};

/// The joints that carry skin and those that join them, as a tree of their own.
struct BoneTree {
  std::vector<JointId> joints;
  std::vector<Vec3d> position;
  std::vector<std::uint32_t> parent;
  std::vector<std::vector<std::uint32_t>> children;
  std::vector<double> reach;  ///< [m] of the skin of a bone and all below it, from its parent
  std::vector<std::vector<std::uint32_t>> branches;  ///< the children that count
  double size = 0;                                   ///< [m] of the character

  bool fork(std::uint32_t b) const { return branches[b].size() >= kForkBranches; }
};

/// Joints with weights and all above them, without what lies above the first that has a weight or a
/// fork: armatures and scene roots.
std::vector<JointId> treeJoints(const Character& c) {
  std::vector<bool> weighted(c.skeleton.size(), false);
  for (const JointId joint : defaultBones(c)) weighted[joint.index()] = true;
  std::vector<bool> used = weighted;
  std::vector<int> below(c.skeleton.size(), 0);
  for (std::size_t j = c.skeleton.size(); j-- > 0;) {
    const JointId parent = c.skeleton.joints[j].parent;
    if (!used[j] || !parent.valid()) continue;
    used[parent.index()] = true;
    ++below[parent.index()];
  }
  std::vector<JointId> out;
  std::vector<bool> kept(c.skeleton.size(), false);
  for (std::size_t j = 0; j < c.skeleton.size(); ++j) {
    if (!used[j]) continue;
    const JointId parent = c.skeleton.joints[j].parent;
    const bool under = parent.valid() && kept[parent.index()];
    kept[j] = under || weighted[j] || below[j] > 1;
    if (kept[j]) out.push_back(JointId(j));
  }
  return out;
}

BoneTree boneTree(const Character& c, std::span<const Affine3d> bind,
                  std::span<const std::uint8_t> props) {
  BoneTree t;
  t.joints = treeJoints(c);
  t.size = bounds(c.mesh.positions).diagonal();
  std::vector<std::uint32_t> index(c.skeleton.size(), kNone);
  for (std::uint32_t b = 0; b < t.joints.size(); ++b) index[t.joints[b].index()] = b;
  t.children.resize(t.joints.size());
  for (std::uint32_t b = 0; b < t.joints.size(); ++b) {
    t.position.push_back(bind[t.joints[b].index()].translation());
    JointId above = c.skeleton[t.joints[b]].parent;
    while (above.valid() && index[above.index()] == kNone) above = c.skeleton[above].parent;
    t.parent.push_back(above.valid() ? index[above.index()] : kNone);
    if (t.parent[b] != kNone) t.children[t.parent[b]].push_back(b);
  }
  t.reach.assign(t.joints.size(), 0.0);
  std::vector<double> own_reach(t.joints.size(), 0.0);  // of the skin that follows the bone itself
  for (std::size_t v = 0; v < c.skin.vertexCount(); ++v) {
    if (!props.empty() && props[v]) continue;
    const Vec3d p = c.mesh.positions[v].cast<double>();
    std::uint32_t b = index[c.skin.slots[c.skin[v].front().slot].joint.index()];
    if (b != kNone) own_reach[b] = std::max(own_reach[b], (p - t.position[b]).norm());
    for (; b != kNone; b = t.parent[b]) {
      const Vec3d& from = t.position[t.parent[b] != kNone ? t.parent[b] : b];
      t.reach[b] = std::max(t.reach[b], (p - from).norm());
    }
  }
  t.branches.resize(t.joints.size());
  for (std::uint32_t b = 0; b < t.joints.size(); ++b)
    for (const std::uint32_t child : t.children[b])
      if (t.reach[child] > std::max(kBranchReach * t.size, kBeyondOwn * own_reach[b]))
        t.branches[b].push_back(child);
  return t;
}

std::string withoutNumber(std::string text) {
  while (!text.empty() && text.back() >= '0' && text.back() <= '9') text.pop_back();
  return text;
}

class ElementProposer {
 public:
  ElementProposer(const Character& character)
      : c_(character),
        bind_(bindModelMatrices(character)),
        surface_(character.mesh, character.skin),
        props_(propVertices(character, character.mesh, character.skin)),
        tree_(boneTree(character, bind_, props_)) {}

  std::vector<FleshProposal> propose() {
    for (std::uint32_t b = 0; b < tree_.joints.size(); ++b) {
      if (tree_.parent[b] == kNone && !tree_.fork(b)) walkRoot(b);
      if (!tree_.fork(b)) continue;
      for (const std::uint32_t branch : tree_.branches[b]) walkBranch(b, branch);
    }
    std::stable_sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) {
      return a.desc.dominant < b.desc.dominant;
    });
    dropThinLimbs();
    keepOneHead();
    nameAll();
    return std::move(found_);
  }

 private:
  bool isProp(std::size_t v) const { return !props_.empty() && props_[v] != 0; }

  detail::JointMeaning meaning(std::uint32_t b) const {
    return detail::meaningOf(c_.skeleton[tree_.joints[b]]);
  }

  /// What part of the body a bone is by its name, numbered or not.
  detail::BodyPart partOf(std::uint32_t b) const {
    const detail::BodyPart part = meaning(b).part;
    if (part != detail::BodyPart::Unknown) return part;
    std::string name = c_.skeleton[tree_.joints[b]].name;
    std::erase_if(name, [](char c) { return c >= '0' && c <= '9'; });
    return detail::meaningOf(std::string_view(name)).part;
  }

  /// The branch that a chain goes on with: the one that reaches furthest.
  std::uint32_t next(std::uint32_t b) const {
    const std::vector<std::uint32_t>& on =
        tree_.branches[b].empty() ? tree_.children[b] : tree_.branches[b];
    if (on.empty()) return kNone;
    return *std::max_element(on.begin(), on.end(), [&](std::uint32_t x, std::uint32_t y) {
      return tree_.reach[x] < tree_.reach[y];
    });
  }

  /// A limb of its own, or two that hang together: a pair of legs.
  void walkRoot(std::uint32_t root) {
    std::uint32_t at = root;
    while (tree_.branches[at].size() == 1) at = tree_.branches[at].front();
    if (tree_.branches[at].size() != 2) return walkLimb(root);
    for (const std::uint32_t branch : tree_.branches[at]) walkLimb(branch);
  }

  void walkBranch(std::uint32_t from, std::uint32_t branch) {
    // A trunk leads to another fork.
    std::uint32_t at = branch;
    while (at != kNone && !tree_.fork(at)) at = tree_.branches[at].empty() ? kNone : next(at);
    if (at != kNone) {
      if (!belowFork(from)) {  // further up it is the chest
        addBelly(from, branch, at);
        addBulges(from, at);
      }
      return;
    }
    if (!endsTrunk(from) || hasTwin(from, branch))
      walkLimb(branch);
    else
      addCheeks(branch);  // neck and head, or a tail
  }

  /// A fork with another one above or below it: chest or pelvis, not the hips of a pair of
  /// trousers.
  bool endsTrunk(std::uint32_t fork) const {
    for (std::uint32_t b = 0; b < tree_.joints.size(); ++b) {
      if (b == fork || !tree_.fork(b)) continue;
      for (const std::uint32_t low : {b, fork})
        for (std::uint32_t at = tree_.parent[low]; at != kNone; at = tree_.parent[at])
          if (at == (low == b ? fork : b)) return true;
    }
    return false;
  }

  bool belowFork(std::uint32_t b) const {
    for (b = tree_.parent[b]; b != kNone; b = tree_.parent[b])
      if (tree_.fork(b)) return true;
    return false;
  }

  /// Two branches that are more like each other than like any third, and nearly alike: left and
  /// right. A neck that happens to be as long as the arms beside it is nobody's twin.
  bool hasTwin(std::uint32_t from, std::uint32_t branch) const {
    const auto differ = [](double a, double b) { return std::abs(a - b) / std::max(a, b); };
    const auto length = [&](std::uint32_t b) {
      return (tree_.position[b] - tree_.position[from]).norm();
    };
    const auto unlike = [&](std::uint32_t a, std::uint32_t b) {
      return std::max(differ(tree_.reach[a], tree_.reach[b]), differ(length(a), length(b)));
    };
    const auto nearestTo = [&](std::uint32_t b) {
      std::uint32_t best = kNone;
      for (const std::uint32_t other : tree_.branches[from])
        if (other != b && (best == kNone || unlike(other, b) < unlike(best, b))) best = other;
      return best;
    };
    const std::uint32_t twin = nearestTo(branch);
    return twin != kNone && unlike(twin, branch) <= kTwin && nearestTo(twin) == branch;
  }

  /// Thickness of an element and, where it has any, its frequency. False where it is no flesh.
  bool measure(FleshProposal& p, const Tissue& tissue) const {
    if (!validate(p.desc, c_.skeleton)) return false;
    const Result<detail::FleshWeights> weights =
        detail::fleshWeights(p.desc, c_.skeleton, bind_, surface_, props_);
    if (!weights || weights->vertices.size() < kMinVertices) return false;
    const detail::VirtualBone bone = detail::virtualBone(p.desc, bind_);
    double sum = 0, total = 0;
    for (std::size_t i = 0; i < weights->vertices.size(); ++i) {
      const Vec3d at = c_.mesh.positions[weights->vertices[i]].cast<double>();
      const double depth = bone.distance(at) - p.desc.bone_radius_m;
      if (!(depth > 0)) continue;
      // alpha / depth: how much the vertex belongs to the element, however deep it lies.
      sum += weights->alpha[i];
      total += weights->alpha[i] / depth;
    }
    if (!(total > 0)) return false;
    p.length_m = bone.length();
    p.thickness_m = sum / total;
    constexpr double kGravity = 9.81;
    const double frequency =
        std::sqrt(kGravity / (tissue.sag * p.thickness_m)) / (2 * std::numbers::pi);
    // Two digits: what an artist would write.
    const double digits = frequency >= 10 ? 1 : frequency >= 1 ? 10 : 100;
    p.desc.frequency_hz = std::clamp(std::round(frequency * digits) / digits, 0.01, 100.0);
    p.desc.damping_ratio = tissue.damping_ratio;
    p.desc.max_elongation = tissue.max_elongation;
    return true;
  }

  /// The bone of a trunk that lies is laid along its back: what hangs below swings, whether the
  /// spine's joints run under the back or, to bend well, through the middle. An upright trunk has
  /// its joints near its back already.
  bool hangFromTheBack(FleshDesc& desc) const {
    if (!validate(desc, c_.skeleton)) return false;
    const Result<detail::FleshWeights> weights =
        detail::fleshWeights(desc, c_.skeleton, bind_, surface_, props_);
    if (!weights) return false;
    const detail::VirtualBone bone = detail::virtualBone(desc, bind_);
    const Vec3d along = (bone.to - bone.from) / bone.length();
    if (std::abs(along.y()) > kLyingTrunk) return false;
    const Vec3d up = (Vec3d::UnitY() - along.y() * along).normalized();
    double back = 0;
    for (const std::uint32_t v : weights->vertices) {
      const Vec3d at = c_.mesh.positions[v].cast<double>() - bone.from;
      back = std::max(back, at.dot(up));
    }
    desc.from = rounded(bone.from + kUnderTheBack * back * up);
    desc.to = rounded(bone.to + kUnderTheBack * back * up);
    return true;
  }

  void addBelly(std::uint32_t from, std::uint32_t branch, std::uint32_t chest) {
    FleshProposal p{.region = FleshRegion::Belly};
    // From the first joint after the pelvis, where there is one before the chest.
    p.desc.dominant = tree_.joints[branch == chest ? from : branch];
    p.desc.ends = {tree_.joints[chest]};
    p.desc.name = "belly";
    const bool hangs = hangFromTheBack(p.desc);
    if (measure(p, hangs ? kHangingBellyTissue : kBellyTissue)) found_.push_back(std::move(p));
  }

  /// Breasts and buttocks, where the trunk stands.
  void addBulges(std::uint32_t pelvis, std::uint32_t chest) {
    const Vec3d along = tree_.position[chest] - tree_.position[pelvis];
    if (!(along.y() > kLyingTrunk * along.norm())) return;
    detail::Trunk trunk{.pelvis = tree_.joints[pelvis], .chest = tree_.joints[chest]};
    trunk.trunk_joint.assign(c_.skeleton.size(), false);
    trunk.leg_joint = trunk.trunk_joint;
    const auto mark = [&](std::vector<bool>& joints, JointId root, bool value) {
      for (std::size_t j = 0; j < c_.skeleton.size(); ++j)
        if (JointId(j) == root || isBelow(c_.skeleton, JointId(j), root)) joints[j] = value;
    };
    mark(trunk.trunk_joint, trunk.pelvis, true);
    int legs = 0, arms = 0;
    for (const std::uint32_t fork : {pelvis, chest})
      for (const std::uint32_t branch : tree_.branches[fork]) {
        const JointId root = tree_.joints[branch];
        if (root == trunk.chest || isBelow(c_.skeleton, trunk.chest, root)) continue;
        mark(trunk.trunk_joint, root, false);
        if (!hasTwin(fork, branch)) continue;
        (fork == pelvis ? legs : arms) += 1;
        (fork == pelvis ? trunk.hips_m : trunk.shoulders_m) += tree_.position[branch].y();
        if (fork == pelvis) mark(trunk.leg_joint, root, true);
      }
    if (legs != 2 || arms != 2) return;
    trunk.hips_m /= legs;
    trunk.shoulders_m /= arms;
    for (FleshProposal& p : detail::findBulges(c_, bind_, trunk, props_)) {
      p.desc.from = rounded(*p.desc.from);
      p.desc.to = rounded(*p.desc.to);
      p.desc.reach_m = rounded(Vec3d(*p.desc.reach_m, 0, 0)).x();
      const bool breast = p.region == FleshRegion::Breast;
      if (measure(p, breast ? kBreastTissue : kButtockTissue)) found_.push_back(std::move(p));
    }
  }

  /// Bones of a branch in a row; those that differ by a number alone are joined.
  struct Stretch {
    std::uint32_t begin;
    std::uint32_t end;
    double way;  ///< [m] along the joints
  };
  std::vector<Stretch> stretches(std::uint32_t branch) const {
    std::vector<Stretch> out;
    for (std::uint32_t b = branch; b != kNone && !tree_.fork(b); b = next(b)) {
      const std::uint32_t end = next(b);
      if (end == kNone) break;
      const double length = (tree_.position[end] - tree_.position[b]).norm();
      const std::string stem = withoutNumber(meaning(b).plain);
      const bool same =
          !out.empty() && !stem.empty() && withoutNumber(meaning(out.back().begin).plain) == stem &&
          out.back().way + length <
              kStraight * (tree_.position[end] - tree_.position[out.back().begin]).norm();
      if (!same) out.push_back({b, end, 0});
      out.back().end = end;
      out.back().way += length;
    }
    return out;
  }

  void walkLimb(std::uint32_t branch) {
    std::vector<FleshProposal> candidates;
    double thickest = 0;
    for (const Stretch& s : stretches(branch)) {
      // A name is only a hint: what begins a branch is no hand, whatever it is called.
      const detail::BodyPart part = partOf(s.begin);
      if ((part == detail::BodyPart::Tip && s.begin != branch) || part == detail::BodyPart::Trunk)
        continue;
      FleshProposal p{.region = FleshRegion::Limb};
      p.desc.dominant = tree_.joints[s.begin];
      p.desc.ends = {tree_.joints[s.end]};
      p.desc.name = c_.skeleton[p.desc.dominant].name;
      p.desc.softness = FleshSoftness::Fat;
      if (!measure(p, kLimbTissue)) continue;
      thickest = std::max(thickest, p.thickness_m);
      const double stoutness = p.thickness_m / p.length_m;
      if (stoutness < kThinnest || stoutness > kStoutest || p.length_m < kShortestBone * tree_.size)
        continue;
      candidates.push_back(std::move(p));
    }
    for (FleshProposal& p : candidates)
      if (p.thickness_m >= kNearThickest * thickest) found_.push_back(std::move(p));
  }

  /// A stout tail or a cape ends like a head: what is called head is it, else the one with more
  /// flesh.
  void keepOneHead() {
    const auto is_called_head = [&](const FleshProposal& p) {
      return detail::meaningOf(c_.skeleton[p.desc.dominant]).base == "head";
    };
    bool named = false;
    for (const FleshProposal& p : found_)
      named = named || (p.region == FleshRegion::Cheeks && is_called_head(p));
    double thickest = 0;
    for (const FleshProposal& p : found_)
      if (p.region == FleshRegion::Cheeks && (!named || is_called_head(p)))
        thickest = std::max(thickest, p.thickness_m);
    std::erase_if(found_, [&](const FleshProposal& p) {
      return p.region == FleshRegion::Cheeks &&
             (p.thickness_m < thickest || (named && !is_called_head(p)) ||
              hasFace(p.desc.dominant) || wearsSomethingRigid(p.desc.dominant));
    });
  }

  /// A helmet does not give way to cheeks.
  bool wearsSomethingRigid(JointId head) const {
    return std::any_of(c_.instances.begin(), c_.instances.end(), [&](const MeshInstance& m) {
      return m.rigid && m.joint.valid() && isBelow(c_.skeleton, m.joint, head);
    });
  }

  bool hasFace(JointId head) const {
    const auto at = std::find(tree_.joints.begin(), tree_.joints.end(), head);
    return tree_.children[static_cast<std::size_t>(at - tree_.joints.begin())].size() >= kFaceBones;
  }

  void dropThinLimbs() {
    double thickest = 0;
    for (const FleshProposal& p : found_)
      if (p.region == FleshRegion::Limb) thickest = std::max(thickest, p.thickness_m);
    std::erase_if(found_, [&](const FleshProposal& p) {
      return p.region == FleshRegion::Limb && p.thickness_m < kThickEnough * thickest;
    });
  }

  /// The bone of a branch called head, or that most of the branch's vertices follow.
  std::uint32_t headOf(std::uint32_t branch) const {
    std::vector<std::size_t> followers(c_.skeleton.size(), 0);
    for (std::size_t v = 0; v < c_.skin.vertexCount(); ++v)
      if (!isProp(v)) ++followers[c_.skin.slots[c_.skin[v].front().slot].joint.index()];
    std::vector<std::uint32_t> open = {branch};
    std::uint32_t best = branch;
    while (!open.empty()) {
      const std::uint32_t b = open.back();
      open.pop_back();
      if (meaning(b).canonical == "head") return b;
      if (followers[tree_.joints[b].index()] > followers[tree_.joints[best].index()]) best = b;
      open.insert(open.end(), tree_.children[b].begin(), tree_.children[b].end());
    }
    return best;
  }

  /// The end of a branch, where it is stout: bone from below through three quarters of it.
  void addCheeks(std::uint32_t branch) {
    const std::uint32_t head = headOf(branch);
    if (tree_.parent[head] == kNone) return;
    const Vec3d origin = tree_.position[head];
    Vec3d direction = origin - tree_.position[tree_.parent[head]];
    if (!(direction.norm() > 0)) return;
    direction.normalize();
    double low = std::numeric_limits<double>::infinity(), high = -low, aside = 0, total = 0;
    for (std::size_t v = 0; v < c_.skin.vertexCount(); ++v) {
      const Influence main = c_.skin[v].front();
      if (isProp(v)) continue;
      if (c_.skin.slots[main.slot].joint != tree_.joints[head] || main.weight < 0.5f) continue;
      const Vec3d q = c_.mesh.positions[v].cast<double>() - origin;
      const double along = q.dot(direction);
      low = std::min(low, along);
      high = std::max(high, along);
      aside += (q - along * direction).norm();
      ++total;
    }
    if (!(total >= kMinVertices) || !(high > low)) return;
    const double thickness = aside / total;
    if (thickness < kHeadStoutness * (high - low) || thickness > 2 * (high - low)) return;
    FleshProposal p{.region = FleshRegion::Cheeks};
    p.desc.dominant = tree_.joints[head];
    p.desc.from = rounded(origin + low * direction);
    p.desc.to = rounded(origin + (low + 0.75 * (high - low)) * direction);
    p.desc.bone_radius_m = rounded(Vec3d(0.7 * thickness, 0, 0)).x();  // the skull
    p.desc.name = "cheeks";
    p.desc.softness = FleshSoftness::Fat;
    if (measure(p, kCheekTissue)) found_.push_back(std::move(p));
  }

  /// To a thousandth of the character or so: what an artist would write.
  Vec3d rounded(const Vec3d& position) const {
    const double digits = std::pow(10.0, 3 - std::floor(std::log10(tree_.size)));
    return (position * digits).array().round() / digits;
  }

  void nameAll() {
    std::set<std::string> taken = {"morphs", "skinning"};
    for (FleshProposal& p : found_) {
      const std::string base = p.desc.name.empty() ? "flesh" : p.desc.name;
      std::string name = base;
      for (int n = 2; !taken.insert(name).second; ++n) name = base + " " + std::to_string(n);
      p.desc.name = name;
    }
  }

  const Character& c_;
  std::vector<Affine3d> bind_;
  BoundSurface surface_;
  std::vector<std::uint8_t> props_;  ///< they show nothing of the body: a sword is no long arm
  BoneTree tree_;
  std::vector<FleshProposal> found_;
};

}  // namespace

std::string_view nameOf(FleshRegion region) {
  switch (region) {
    case FleshRegion::Limb:
      return "limb";
    case FleshRegion::Belly:
      return "belly";
    case FleshRegion::Cheeks:
      return "cheeks";
    case FleshRegion::Breast:
      return "breast";
    case FleshRegion::Buttock:
      return "buttock";
  }
  return "";
}

Result<std::vector<FleshProposal>> proposeFlesh(const Character& character, Diagnostics& notes) {
  DERM_CHECK(validate(character));
  if (!character.hasSkin())
    return Error{ErrorCode::BadArgument,
                 "has no skin weights to find flesh by; `derm weights` makes some",
                 {.file = character.name, .element = "skin"}};
  const auto& instances = character.instances;
  const bool all_rigid =
      !instances.empty() && std::all_of(instances.begin(), instances.end(),
                                        [](const MeshInstance& m) { return m.rigid; });
  std::vector<FleshProposal> out;
  if (!all_rigid) out = ElementProposer(character).propose();
  if (out.empty())
    notes.warn("no-flesh", character.name, "no bone has enough flesh around it for an element");
  return out;
}

}  // namespace derm
