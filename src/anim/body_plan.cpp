#include "anim/body_plan.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "derm/anim/body_joints.h"

namespace derm::detail {
namespace {

using Slot = BodyPlan::Slot;
using Chain = std::vector<std::uint32_t>;

/// More joints than any body has; the search costs their number squared at worst.
constexpr std::size_t kMaxJoints = 4096;

bool within(const Skeleton& skeleton, std::uint32_t joint, std::uint32_t ancestor) {
  return isBelow(skeleton, JointId(joint), JointId(ancestor));
}

/// From below `above` down to `joint`, both ends as told by their names.
Chain pathBetween(const Skeleton& skeleton, std::uint32_t above, std::uint32_t joint) {
  Chain out;
  for (JointId j(joint); j.valid() && j.value != above; j = skeleton[j].parent)
    out.push_back(j.value);
  std::reverse(out.begin(), out.end());
  return out;
}

/// The joints of one limb, from the body outwards, with what each is called.
class Limb {
 public:
  /// Of the joints of that side that carry one of these words, those on the way to `tip`, the word
  /// for the limb's end; where nothing is called that, on the way to the last of them.
  Limb(const Skeleton& skeleton, const std::vector<JointMeaning>& meanings, char side,
       std::initializer_list<std::string_view> words, std::string_view tip) {
    Chain all;
    Slot end;
    for (std::uint32_t i = 0; i < skeleton.size(); ++i) {
      const JointMeaning& m = meanings[i];
      if (m.side != side || std::find(words.begin(), words.end(), m.base) == words.end()) continue;
      all.push_back(i);
      if (!end && m.base == tip) end = i;
    }
    if (all.empty()) return;
    if (!end)
      end = *std::max_element(all.begin(), all.end(), [&](std::uint32_t a, std::uint32_t b) {
        return depth(skeleton, a) < depth(skeleton, b);
      });
    for (const std::uint32_t i : all)
      if (within(skeleton, *end, i) || within(skeleton, i, *end)) {
        joints_.push_back(i);
        bases_.push_back(meanings[i].base);
      }
  }
  Slot first(std::string_view base) const {
    const auto found = std::find(bases_.begin(), bases_.end(), base);
    if (found == bases_.end()) return std::nullopt;
    return joints_[static_cast<std::size_t>(found - bases_.begin())];
  }
  Slot second(std::string_view base) const {
    const auto found = std::find(bases_.begin(), bases_.end(), base);
    if (found == bases_.end()) return std::nullopt;
    const auto next = std::find(found + 1, bases_.end(), base);
    if (next == bases_.end()) return std::nullopt;
    return joints_[static_cast<std::size_t>(next - bases_.begin())];
  }
  /// "arm1 arm2 arm3" all have the same word: their order tells which is which.
  bool onlyNumbered(std::string_view base) const {
    return joints_.size() >= 2 &&
           std::all_of(bases_.begin(), bases_.end(), [&](const auto& b) { return b == base; });
  }
  Slot at(std::size_t i) const { return i < joints_.size() ? Slot(joints_[i]) : std::nullopt; }
  std::size_t size() const { return joints_.size(); }

 private:
  static std::size_t depth(const Skeleton& skeleton, std::uint32_t joint) {
    return pathBetween(skeleton, JointId::kInvalid, joint).size();
  }
  Chain joints_;
  std::vector<std::string> bases_;
};

void findArm(const Limb& limb, BodyPlan::Side& side) {
  if (limb.onlyNumbered("upperarm")) {
    const std::size_t skipped = limb.size() >= 4 ? 1 : 0;
    if (skipped == 1) side.collar = limb.at(0);
    side.upper_arm = limb.at(skipped);
    side.forearm = limb.at(skipped + 1);
    side.hand = limb.at(skipped + 2);
    return;
  }
  side.collar = limb.first("shoulder");
  side.upper_arm = limb.first("upperarm");
  side.forearm = limb.first("forearm");
  side.hand = limb.first("hand");
  if (side.upper_arm || !side.forearm) return;
  // "collar, shoulder, elbow, wrist": the joints are meant, not the bones.
  side.upper_arm = limb.second("shoulder") ? limb.second("shoulder") : side.collar;
  if (side.upper_arm == side.collar) side.collar.reset();
}

void findLeg(const Limb& limb, BodyPlan::Side& side) {
  if (limb.onlyNumbered("shin")) {
    side.thigh = limb.at(0);
    side.shin = limb.at(1);
    side.foot = limb.at(2);
    side.toe = limb.at(3);
    return;
  }
  side.thigh = limb.first("thigh");
  side.shin = limb.first("shin");
  if (!side.thigh && limb.second("shin")) {  // "leg, knee, ankle": the joints are meant
    side.thigh = side.shin;
    side.shin = limb.second("shin");
  }
  side.foot = limb.first("foot");
  side.toe = limb.first("toe") ? limb.first("toe") : limb.second("foot");
}

/// The named hips over legs and arms, else what these hang on together. A pelvis beside the spine
/// (Character Creator, Daz) is the legs' alone.
Slot findHips(const Skeleton& skeleton, const std::vector<JointMeaning>& meanings,
              const BodyPlan& plan) {
  const std::vector<std::uint32_t> limbs = {*plan.sides[0].thigh, *plan.sides[1].thigh,
                                            *plan.sides[0].upper_arm, *plan.sides[1].upper_arm};
  Slot named;
  for (std::uint32_t i = 0; i < skeleton.size(); ++i)
    if (meanings[i].side == 0 && meanings[i].base == "hips" &&
        std::all_of(limbs.begin(), limbs.end(),
                    [&](std::uint32_t limb) { return within(skeleton, limb, i); }))
      named = i;
  return named ? named : commonAncestor(skeleton, limbs);
}

void findHead(const Skeleton& skeleton, const std::vector<JointMeaning>& meanings,
              std::uint32_t chest, BodyPlan& plan) {
  Slot last_neck;
  std::size_t necks = 0;
  for (std::uint32_t i = 0; i < skeleton.size() && !plan.head; ++i) {
    if (meanings[i].side != 0 || !within(skeleton, i, chest)) continue;
    if (meanings[i].base == "head") plan.head = i;
    if (meanings[i].base != "neck") continue;
    last_neck = i;
    ++necks;
  }
  if (!plan.head && necks >= 2) plan.head = last_neck;
  if (!plan.head) return;
  plan.neck = pathBetween(skeleton, chest, *plan.head);
  plan.neck.pop_back();
}

void pairChains(const Chain& source, const Chain& target,
                std::vector<std::pair<std::uint32_t, std::uint32_t>>& out) {
  const std::size_t count = std::min(source.size(), target.size());
  for (std::size_t k = 0; k < count; ++k) {
    // A single joint stands for the whole chain: what hangs on its upper end counts.
    const auto spread = [&](const Chain& chain) {
      return count == 1 ? chain.size() - 1
                        : (k * (chain.size() - 1) + (count - 1) / 2) / (count - 1);
    };
    out.emplace_back(source[spread(source)], target[spread(target)]);
  }
}

}  // namespace

std::vector<BodyPart> BodyPlan::parts(std::size_t joint_count) const {
  std::vector<BodyPart> out(joint_count, BodyPart::Unknown);
  const auto set = [&](const Slot& slot, BodyPart part) {
    if (slot) out[*slot] = part;
  };
  set(hips, BodyPart::Trunk);
  for (const std::uint32_t j : spine) out[j] = BodyPart::Trunk;
  for (const std::uint32_t j : neck) out[j] = BodyPart::Trunk;
  set(head, BodyPart::Trunk);
  for (const Side& side : sides) {
    set(side.collar, BodyPart::Trunk);
    for (const Slot& s : {side.upper_arm, side.forearm, side.thigh, side.shin})
      set(s, BodyPart::Limb);
    for (const Slot& s : {side.hand, side.foot, side.toe}) set(s, BodyPart::Tip);
  }
  return out;
}

std::optional<std::uint32_t> commonAncestor(const Skeleton& skeleton,
                                            const std::vector<std::uint32_t>& joints) {
  if (joints.empty()) return std::nullopt;
  JointId common(joints.front());
  for (const std::uint32_t j : joints)
    while (common.valid() && !isBelow(skeleton, JointId(j), common))
      common = skeleton[common].parent;
  return common.valid() ? std::optional(common.value) : std::nullopt;
}

namespace {

std::optional<BodyPlan> bodyOf(const Skeleton& skeleton,
                               const std::vector<JointMeaning>& meanings) {
  BodyPlan plan;
  for (const std::size_t s : {0u, 1u}) {
    const char side = s == 0 ? 'l' : 'r';
    findArm(Limb(skeleton, meanings, side, {"shoulder", "upperarm", "forearm", "hand"}, "hand"),
            plan.sides[s]);
    findLeg(Limb(skeleton, meanings, side, {"thigh", "shin", "foot", "toe"}, "foot"),
            plan.sides[s]);
    const BodyPlan::Side& found = plan.sides[s];
    if (!found.thigh || !found.shin || !found.upper_arm) return std::nullopt;
  }
  const Slot hips = findHips(skeleton, meanings, plan);
  Slot chest = commonAncestor(skeleton, {*plan.sides[0].upper_arm, *plan.sides[1].upper_arm});
  // 3ds Max hangs the collar bones on the neck.
  while (hips && chest && chest != hips && meanings[*chest].base == "neck" &&
         within(skeleton, *chest, *hips))
    chest = skeleton.joints[*chest].parent.value;
  if (!hips || !chest || !within(skeleton, *chest, *hips)) return std::nullopt;
  plan.hips = *hips;
  plan.spine = pathBetween(skeleton, *hips, *chest);
  findHead(skeleton, meanings, *chest, plan);
  return plan;
}

}  // namespace

std::optional<BodyPlan> findBody(const Skeleton& skeleton) {
  if (skeleton.size() > kMaxJoints) return std::nullopt;
  // A file that says which joints are the body's means no others.
  std::vector<JointMeaning> by_role, by_name;
  bool any_role = false;
  for (const Joint& joint : skeleton.joints) {
    any_role = any_role || !joint.role.empty();
    by_role.push_back(meaningOf(std::string_view(joint.role)));
    by_name.push_back(meaningOf(std::string_view(joint.name)));
  }
  if (any_role)
    if (std::optional<BodyPlan> plan = bodyOf(skeleton, by_role)) return plan;
  return bodyOf(skeleton, by_name);
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> pairBodies(const BodyPlan& source,
                                                                const BodyPlan& target) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> out = {{source.hips, target.hips}};
  pairChains(source.spine, target.spine, out);
  pairChains(source.neck, target.neck, out);
  const auto pair = [&](const Slot& a, const Slot& b) {
    if (a && b) out.emplace_back(*a, *b);
  };
  pair(source.head, target.head);
  for (const std::size_t s : {0u, 1u}) {
    const BodyPlan::Side &a = source.sides[s], &b = target.sides[s];
    pair(a.collar, b.collar);
    pair(a.upper_arm, b.upper_arm);
    pair(a.forearm, b.forearm);
    pair(a.hand, b.hand);
    pair(a.thigh, b.thigh);
    pair(a.shin, b.shin);
    pair(a.foot, b.foot);
    pair(a.toe, b.toe);
  }
  return out;
}

}  // namespace derm::detail

namespace derm {

std::vector<JointId> upperArms(const Skeleton& skeleton) {
  std::vector<JointId> out;
  if (const auto body = detail::findBody(skeleton))
    for (const detail::BodyPlan::Side& side : body->sides)
      if (side.upper_arm) out.push_back(JointId(*side.upper_arm));
  return out;
}

}  // namespace derm
