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
    if (part == BodyPart::Unknown) part = meaningOf(source.joints[from].name).part;
    if (part == BodyPart::Unknown) part = meaningOf(target.joints[i].name).part;
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

}  // namespace

Result<JointMap> mapJoints(const Skeleton& source, const Skeleton& target,
                           const RetargetDesc& desc) {
  const auto pairs = desc.names.empty() ? matchJointNames(source, target) : desc.names;
  std::vector<std::uint32_t> source_of(target.size(), kNoJoint);
  std::vector<bool> used(source.size(), false);
  const std::map<std::string_view, JointId> source_names = firstOfName(source);
  const std::map<std::string_view, JointId> target_names = firstOfName(target);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto find = [](const auto& names, const Skeleton& skeleton, const std::string& name) {
      const auto found = names.find(name);
      return found == names.end() ? skeleton.named(name) : Result<JointId>(found->second);
    };
    Result<JointId> from = find(source_names, source, pairs[i].first);
    Result<JointId> to = find(target_names, target, pairs[i].second);
    const auto where = [&](Error error, const char* element) {
      error.where.element = element;
      error.where.index = i;
      return error;
    };
    if (!from.ok()) return where(std::move(from).error(), "names, source");
    if (!to.ok()) return where(std::move(to).error(), "names, target");
    if (used[from->index()] || source_of[to->index()] != kNoJoint)
      return where(Error{ErrorCode::BadArgument,
                         "\"" + pairs[i].first + "\" or \"" + pairs[i].second + "\" is used twice",
                         {}},
                   "names");
    used[from->index()] = true;
    source_of[to->index()] = from->value;
  }
  if (pairs.size() < kMinJoints)
    return Error{ErrorCode::BadArgument,
                 "only " + std::to_string(pairs.size()) + " of the motion's " +
                     std::to_string(source.size()) + " joints match the character's " +
                     std::to_string(target.size()) + " by name; give a table of names",
                 {}};
  JointMap map = mapOf(target, std::move(source_of));
  map.source_body = findBody(source);
  map.target_body = findBody(target);
  findParts(source, target, map);
  findCarrier(source, target, map);
  return map;
}

}  // namespace derm::detail

namespace derm {

std::vector<std::pair<std::string, std::string>> matchJointNames(const Skeleton& source,
                                                                 const Skeleton& target) {
  std::vector<detail::JointMeaning> source_meaning, target_meaning;
  for (const Joint& j : source.joints) source_meaning.push_back(detail::meaningOf(j.name));
  for (const Joint& j : target.joints) target_meaning.push_back(detail::meaningOf(j.name));
  const std::map<std::string_view, JointId> source_names = detail::firstOfName(source);
  const std::map<std::string_view, JointId> target_names = detail::firstOfName(target);
  std::vector<std::uint32_t> match(source.size(), detail::kNoJoint);
  std::vector<bool> taken(target.size(), false);
  const auto mayPair = [&](std::uint32_t s, std::uint32_t t) {
    return source_names.at(source.joints[s].name) == JointId(s) &&
           target_names.at(target.joints[t].name) == JointId(t);
  };
  const std::optional<detail::BodyPlan> source_body = detail::findBody(source),
                                        target_body = detail::findBody(target);
  if (source_body && target_body)
    for (const auto& [s, t] : detail::pairBodies(*source_body, *target_body))
      if (mayPair(s, t)) {
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
      if (match[s] != detail::kNoJoint || found == free_targets.end() ||
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
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::uint32_t s = 0; s < source.size(); ++s)
    if (match[s] != detail::kNoJoint)
      pairs.emplace_back(source.joints[s].name, target.joints[match[s]].name);
  return pairs;
}

}  // namespace derm
