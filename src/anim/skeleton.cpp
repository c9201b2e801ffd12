#include "derm/anim/skeleton.h"

#include <charconv>
#include <cmath>
#include <map>

#include "derm/base/nearest_name.h"

namespace derm {

JointId Skeleton::find(std::string_view name) const {
  for (std::size_t i = 0; i < joints.size(); ++i)
    if (joints[i].name == name) return JointId(i);
  const std::size_t mark = name.rfind('#');
  if (mark == std::string_view::npos) return {};
  std::size_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, failure] = std::from_chars(name.data() + mark + 1, end, number);
  if (failure != std::errc{} || stop != end || number < 2) return {};
  for (std::size_t i = 0; i < joints.size(); ++i)
    if (joints[i].name == name.substr(0, mark) && --number == 0) return JointId(i);
  return {};
}

std::vector<std::string> Skeleton::names() const {
  std::vector<std::string> out;
  out.reserve(joints.size());
  std::map<std::string_view, std::size_t> met;
  for (const Joint& j : joints) {
    const std::size_t number = ++met[j.name];
    out.push_back(number == 1 ? j.name : j.name + "#" + std::to_string(number));
  }
  return out;
}

Result<JointId> Skeleton::named(std::string_view name) const {
  const JointId found = find(name);
  if (found.valid()) return found;
  return Error{ErrorCode::BadArgument,
               "no joint named \"" + std::string(name) + "\"" + didYouMean(name, names()),
               {}};
}

Result<void> validate(const Skeleton& skeleton, std::string_view name) {
  for (std::size_t i = 0; i < skeleton.size(); ++i) {
    const Joint& j = skeleton.joints[i];
    const auto bad = [&](std::string message) {
      return Error{ErrorCode::BadData,
                   "joint \"" + j.name + "\": " + std::move(message),
                   {.file = std::string(name), .element = "joints", .index = i}};
    };
    if (j.parent.valid() && j.parent.index() >= i) return bad("its parent does not come before it");
    if (!j.rest.translation.allFinite() || !j.rest.scale.allFinite() ||
        !j.rest.rotation.coeffs().allFinite())
      return bad("rest transform not finite");
    if (std::abs(j.rest.rotation.norm() - 1.0f) > 1e-2f)
      return bad("rest rotation is not a unit quaternion");
  }
  return {};
}

void localToModel(const Skeleton& skeleton, std::span<const Transform> local,
                  std::span<Affine3d> model) noexcept {
  DERM_REQUIRE(local.size() == skeleton.size() && model.size() == skeleton.size());
  for (std::size_t i = 0; i < skeleton.size(); ++i) {
    const JointId parent = skeleton.joints[i].parent;
    const Affine3d here = local[i].matrixd();
    if (parent.valid())
      model[i] = model[parent.index()] * here;
    else
      model[i] = here;
  }
}

std::vector<Transform> restTransforms(const Skeleton& skeleton) {
  std::vector<Transform> out;
  out.reserve(skeleton.size());
  for (const Joint& j : skeleton.joints) out.push_back(j.rest);
  return out;
}

std::vector<Affine3d> restModelMatrices(const Skeleton& skeleton) {
  std::vector<Affine3d> out(skeleton.size());
  localToModel(skeleton, restTransforms(skeleton), out);
  return out;
}

bool isBelow(const Skeleton& skeleton, JointId joint, JointId ancestor) {
  while (joint.valid() && joint != ancestor) joint = skeleton[joint].parent;
  return joint == ancestor && ancestor.valid();
}

}  // namespace derm
