#include "anim/joint_map.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace derm::detail {
namespace {

constexpr std::size_t kMinJoints = 3;

JointMap mapOf(const Skeleton& target, std::vector<std::uint32_t> source_of) {
  JointMap map;
  const std::size_t n = target.size();
  map.above.assign(n, kNoJoint);
  map.below.resize(n);
  map.weight.assign(n, 0);
  for (std::uint32_t i = 0; i < n; ++i) {
    const JointId parent = target.joints[i].parent;
    if (parent.valid())
      map.above[i] =
          source_of[parent.index()] != kNoJoint ? parent.value : map.above[parent.index()];
    if (source_of[i] == kNoJoint) continue;
    ++map.count;
    if (map.above[i] != kNoJoint) map.below[map.above[i]].push_back(i);
  }
  for (std::uint32_t i = static_cast<std::uint32_t>(n); i-- > 0;) {
    map.weight[i] += source_of[i] != kNoJoint;
    if (target.joints[i].parent.valid())
      map.weight[target.joints[i].parent.index()] += map.weight[i];
  }
  map.source_of = std::move(source_of);
  return map;
}

/// The first joint of each name, which is the one Skeleton::find gives.
std::map<std::string_view, JointId> firstOfName(const Skeleton& skeleton) {
  std::map<std::string_view, JointId> out;
  for (std::size_t i = 0; i < skeleton.size(); ++i)
    out.emplace(skeleton.joints[i].name, JointId(i));
  return out;
}

/// What a mapped joint is: told by the bodies' plans, or else by either name.
void findParts(const Skeleton& source, const Skeleton& target, JointMap& map) {
  const auto partsOf = [](const std::optional<BodyPlan>& body, std::size_t count) {
    return body ? body->parts(count) : std::vector<BodyPart>(count, BodyPart::Unknown);
  };
  map.parts = partsOf(map.target_body, target.size());
  const std::vector<BodyPart> source_parts = partsOf(map.source_body, source.size());
  for (std::uint32_t i = 0; i < target.size(); ++i) {
    const std::uint32_t from = map.source_of[i];
    if (from == kNoJoint) continue;
    BodyPart& part = map.parts[i];
    if (part == BodyPart::Unknown) part = source_parts[from];
    if (part == BodyPart::Unknown) part = meaningOf(source.joints[from]).part;
    if (part == BodyPart::Unknown) part = meaningOf(target.joints[i]).part;
  }
}

/// What all of these joints hang on: the hips, where these joints are only a part of a body.
std::optional<std::uint32_t> carrierOf(const Skeleton& skeleton,
                                       const std::optional<BodyPlan>& body,
                                       const std::vector<std::uint32_t>& joints) {
  const std::optional<std::uint32_t> common = commonAncestor(skeleton, joints);
  if (common && body && isBelow(skeleton, JointId(*common), JointId(body->hips))) return body->hips;
  return common;
}

void findCarrier(const Skeleton& source, const Skeleton& target, JointMap& map) {
  std::vector<std::uint32_t> tops, source_tops;
  for (std::uint32_t i = 0; i < target.size(); ++i) {
    if (map.source_of[i] == kNoJoint || map.above[i] != kNoJoint) continue;
    tops.push_back(i);
    source_tops.push_back(map.source_of[i]);
  }
  map.carrier = carrierOf(target, map.target_body, tops);
  if (!map.carrier) return;
  map.source_carrier = map.source_of[*map.carrier];
  if (map.source_carrier != kNoJoint) return;
  const std::optional<std::uint32_t> from = carrierOf(source, map.source_body, source_tops);
  if (from)
    map.source_carrier = *from;
  else
    map.carrier.reset();
}

/// The target's hips where they follow the source's and hang on a carrier that is not them.
std::optional<std::uint32_t> hipsBelowCarrier(const Skeleton& source, const Skeleton& target,
                                              const JointMap& map) {
  if (!map.carrier || !map.source_body || !map.target_body) return std::nullopt;
  const std::uint32_t hips = map.target_body->hips, source_hips = map.source_body->hips;
  if (map.source_of[hips] != source_hips || map.above[hips] == kNoJoint) return std::nullopt;
  const bool below = isBelow(target, JointId(hips), JointId(*map.carrier)) &&
                     isBelow(source, JointId(source_hips), JointId(map.source_carrier));
  return below && hips != *map.carrier ? std::optional(hips) : std::nullopt;
}

/// The skeleton in its reference pose, with the names of joints taken away that cannot be meant.
Skeleton nameable(const Skeleton& skeleton, const std::vector<bool>& bones,
                  std::span<const Transform> reference) {
  Skeleton out = inReference(skeleton, reference);
  const std::vector<bool> hidden = hiddenJoints(skeleton, bones);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (hidden[i]) {
      out.joints[i].name.clear();
      out.joints[i].role.clear();
    }
  return out;
}

/// Whether a body's legs stand square to its spine, as those of animals on four legs do.
bool standsOnFour(const Skeleton& skeleton, const BodyPlan& body) {
  constexpr double kSquare = -0.5;  // cosine between spine and legs: -1 of a person, 0 of a cat
  const std::vector<Affine3d> rest = restModelMatrices(skeleton);
  const auto at = [&](std::uint32_t joint) { return Vec3d(rest[joint].translation()); };
  Vec3d legs = Vec3d::Zero(), arms = Vec3d::Zero(), hips = Vec3d::Zero();
  for (const BodyPlan::Side& side : body.sides) {
    legs += at(side.foot ? *side.foot : *side.shin) - at(*side.thigh);
    arms += at(*side.upper_arm);
    hips += at(*side.thigh);
  }
  const Vec3d spine = arms - hips;
  const double lengths = spine.norm() * legs.norm();
  return lengths > 1e-12 && spine.dot(legs) > kSquare * lengths;
}

Result<void> checkStance(const Skeleton& source, const Skeleton& target, const JointMap& map) {
  if (!map.source_body || !map.target_body) return {};
  const bool from = standsOnFour(source, *map.source_body);
  const bool to = standsOnFour(target, *map.target_body);
  if (from == to) return {};
  const auto stance = [](bool four) { return four ? "four legs" : "two legs"; };
  return Error{ErrorCode::BadData,
               std::string("the motion is of a body on ") + stance(from) +
                   ", and the character stands on " + stance(to) +
                   ": their joints have the same names, but no pose of one fits the other; a table "
                   "of names takes over what is wanted all the same",
               {}};
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> matchJoints(const Skeleton& source,
                                                                 const Skeleton& target) {
  std::vector<JointMeaning> source_meaning, target_meaning;
  for (const Joint& j : source.joints) source_meaning.push_back(meaningOf(j));
  for (const Joint& j : target.joints) target_meaning.push_back(meaningOf(j));
  const std::map<std::string_view, JointId> source_names = firstOfName(source);
  const std::map<std::string_view, JointId> target_names = firstOfName(target);
  std::vector<std::uint32_t> match(source.size(), kNoJoint);
  std::vector<bool> taken(target.size(), false);
  const std::optional<BodyPlan> source_body = findBody(source), target_body = findBody(target);
  if (source_body && target_body)
    for (const auto& [s, t] : pairBodies(*source_body, *target_body)) {
      match[s] = t;
      taken[t] = true;
    }
  const auto pass = [&](const auto& source_key, const auto& target_key) {
    std::map<std::string, std::uint32_t> free_targets;
    for (std::uint32_t t = 0; t < target.size(); ++t)
      if (!taken[t] && !target_key(t).empty() &&
          target_names.at(target.joints[t].name) == JointId(t))
        free_targets.emplace(target_key(t), t);
    for (std::uint32_t s = 0; s < source.size(); ++s) {
      const auto found = free_targets.find(source_key(s));
      if (match[s] != kNoJoint || found == free_targets.end() ||
          source_names.at(source.joints[s].name) != JointId(s))
        continue;
      match[s] = found->second;
      taken[found->second] = true;
      free_targets.erase(found);
    }
  };
  pass([&](std::uint32_t s) { return source.joints[s].name; },
       [&](std::uint32_t t) { return target.joints[t].name; });
  pass([&](std::uint32_t s) { return source_meaning[s].plain; },
       [&](std::uint32_t t) { return target_meaning[t].plain; });
  pass([&](std::uint32_t s) { return source_meaning[s].canonical; },
       [&](std::uint32_t t) { return target_meaning[t].canonical; });
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t s = 0; s < source.size(); ++s)
    if (match[s] != kNoJoint) pairs.emplace_back(s, match[s]);
  return pairs;
}

/// Pairs of names as pairs of joints.
Result<std::vector<std::pair<std::uint32_t, std::uint32_t>>> namedJoints(
    const Skeleton& source, const Skeleton& target,
    const std::vector<std::pair<std::string, std::string>>& names) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
  std::vector<bool> used(source.size(), false), taken(target.size(), false);
  const std::map<std::string_view, JointId> source_names = firstOfName(source);
  const std::map<std::string_view, JointId> target_names = firstOfName(target);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto find = [](const auto& known, const Skeleton& skeleton, const std::string& name) {
      const auto found = known.find(name);
      return found == known.end() ? skeleton.named(name) : Result<JointId>(found->second);
    };
    Result<JointId> from = find(source_names, source, names[i].first);
    Result<JointId> to = find(target_names, target, names[i].second);
    const auto where = [&](Error error, const char* element) {
      error.where.element = element;
      error.where.index = i;
      return error;
    };
    if (!from.ok()) return where(std::move(from).error(), "names, source");
    if (!to.ok()) return where(std::move(to).error(), "names, target");
    if (used[from->index()] || taken[to->index()])
      return where(Error{ErrorCode::BadArgument,
                         "\"" + names[i].first + "\" or \"" + names[i].second + "\" is used twice",
                         {}},
                   "names");
    used[from->index()] = taken[to->index()] = true;
    out.emplace_back(from->value, to->value);
  }
  return out;
}

}  // namespace

std::vector<bool> hiddenJoints(const Skeleton& skeleton, const std::vector<bool>& bones) {
  std::vector<bool> hidden(skeleton.size(), false);
  if (bones.size() != skeleton.size() || std::find(bones.begin(), bones.end(), true) == bones.end())
    return hidden;
  hidden.assign(skeleton.size(), true);
  for (std::size_t i = skeleton.size(); i-- > 0;) {  // children come after their parents
    if (bones[i]) hidden[i] = false;
    if (!hidden[i] && skeleton.joints[i].parent.valid())
      hidden[skeleton.joints[i].parent.index()] = false;
  }
  return hidden;
}

Skeleton inReference(Skeleton skeleton, std::span<const Transform> reference) {
  if (reference.size() == skeleton.size())
    for (std::size_t i = 0; i < skeleton.size(); ++i) skeleton.joints[i].rest = reference[i];
  return skeleton;
}

Result<JointMap> mapJoints(const Skeleton& source, const Skeleton& target,
                           const RetargetDesc& desc) {
  const Skeleton source_seen = nameable(source, desc.source_bones, desc.source_reference);
  const Skeleton target_seen = nameable(target, desc.target_bones, desc.target_reference);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  if (desc.names.empty()) {
    pairs = matchJoints(source_seen, target_seen);
  } else {
    DERM_TRY(pairs, namedJoints(source, target, desc.names));
  }
  if (pairs.size() < kMinJoints)
    return Error{desc.names.empty() ? ErrorCode::BadData : ErrorCode::BadArgument,
                 "only " + std::to_string(pairs.size()) + " of the motion's " +
                     std::to_string(source.size()) + " joints match the character's " +
                     std::to_string(target.size()) + " by name; give a table of names",
                 {}};
  std::vector<std::uint32_t> source_of(target.size(), kNoJoint);
  for (const auto& [from, to] : pairs) source_of[to] = from;
  JointMap map = mapOf(target, std::move(source_of));
  map.source_body = findBody(source_seen);
  map.target_body = findBody(target_seen);
  if (desc.names.empty()) DERM_CHECK(checkStance(source_seen, target_seen, map));
  findParts(source, target, map);
  findCarrier(source, target, map);
  map.hips = hipsBelowCarrier(source, target, map);
  return map;
}

}  // namespace derm::detail

namespace derm {

std::vector<std::pair<std::string, std::string>> matchJointNames(const Skeleton& source,
                                                                 const Skeleton& target) {
  const std::vector<std::string> source_names = source.names(), target_names = target.names();
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& [s, t] : detail::matchJoints(source, target))
    pairs.emplace_back(source_names[s], target_names[t]);
  return pairs;
}

Result<MotionMatch> matchMotion(const Skeleton& source, const Skeleton& target,
                                const RetargetDesc& desc) {
  DERM_TRY(const detail::JointMap map, detail::mapJoints(source, target, desc));
  const std::vector<std::string> source_names = source.names(), target_names = target.names();
  MotionMatch out;
  out.bodies = desc.names.empty() && map.source_body && map.target_body;
  std::vector<std::uint32_t> target_of(source.size(), detail::kNoJoint);
  for (std::uint32_t t = 0; t < target.size(); ++t)
    if (map.source_of[t] != detail::kNoJoint) target_of[map.source_of[t]] = t;
  const std::vector<bool> source_hidden = detail::hiddenJoints(source, desc.source_bones);
  const std::vector<bool> target_hidden = detail::hiddenJoints(target, desc.target_bones);
  for (std::uint32_t s = 0; s < source.size(); ++s) {
    if (target_of[s] != detail::kNoJoint)
      out.pairs.emplace_back(source_names[s], target_names[target_of[s]]);
    else if (!source_hidden[s])
      out.source_left.push_back(source_names[s]);
  }
  for (std::uint32_t t = 0; t < target.size(); ++t)
    if (map.source_of[t] == detail::kNoJoint && !target_hidden[t])
      out.target_left.push_back(target_names[t]);
  return out;
}

std::string MotionMatch::text() const {
  constexpr std::size_t kNamed = 8;
  const auto listed = [&](const std::vector<std::string>& names) {
    std::string out;
    for (std::size_t i = 0; i < std::min(names.size(), kNamed); ++i)
      out += (i > 0 ? ", " : "") + names[i];
    if (names.size() > kNamed) out += " and " + std::to_string(names.size() - kNamed) + " more";
    return out;
  };
  const std::size_t of_motion = pairs.size() + source_left.size();
  const std::size_t of_character = pairs.size() + target_left.size();
  std::string out = std::to_string(pairs.size()) + " of the motion's " + std::to_string(of_motion) +
                    " joints move " + std::to_string(pairs.size()) + " of the character's " +
                    std::to_string(of_character);
  if (!source_left.empty()) out += "; move nothing: " + listed(source_left);
  if (!target_left.empty()) out += "; stay at rest: " + listed(target_left);
  return out;
}

}  // namespace derm
