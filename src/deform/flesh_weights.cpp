#include "deform/flesh_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "derm/base/nearest_name.h"
#include "derm/mesh/measures.h"
#include "derm/mesh/triangle_tree.h"

namespace derm::detail {
namespace {

/// Less of the motion than this is not worth a vertex.
constexpr double kMinAlpha = 1e-5;
/// Share of the mesh's size below which a virtual bone has no length.
constexpr double kNoLength = 1e-6;
/// Diagonals of the character.
constexpr double kFarthestBone = 10;
/// A side branch stays within the element where all its joints are nearer to the bone than this
/// share of its length.
constexpr double kSideReach = 0.5;

Error badElement(const char* key, std::string message, ErrorCode code = ErrorCode::BadArgument) {
  return Error{code, std::move(message), {.element = key}};
}

/// A point far outside the character is a slip (of units, mostly), and a bone there a long lever.
Result<void> checkNear(const std::optional<Vec3d>& position, const char* key, const Bounds& box) {
  if (!position || box.empty()) return {};
  const Vec3d outside = (box.low.cast<double>() - *position)
                            .cwiseMax(*position - box.high.cast<double>())
                            .cwiseMax(0.0);
  if (outside.norm() <= kFarthestBone * box.diagonal()) return {};
  return badElement(
      key, "lies " + std::to_string(outside.norm()) + " m outside the character in its bind pose");
}

/// Strength per vertex by which a group or the skin bounds the element.
Result<std::vector<double>> strengths(const FleshDesc& desc, const Skeleton& skeleton,
                                      std::span<const Affine3d> bind_model,
                                      const BoundSurface& surface) {
  std::vector<double> out(surface.rest.vertexCount(), 0.0);
  if (!desc.vertex_group.empty()) {
    const VertexGroup* group = surface.rest.findGroup(desc.vertex_group);
    if (group == nullptr) {
      std::vector<std::string> names;
      for (const VertexGroup& g : surface.rest.groups) names.push_back(g.name);
      return badElement("vertices", "no vertex group \"" + desc.vertex_group + "\"" +
                                        didYouMean(desc.vertex_group, names));
    }
    for (std::size_t i = 0; i < group->vertices.size(); ++i)
      out[group->vertices[i]] = std::clamp(group->strengths[i], 0.0f, 1.0f);
    return out;
  }
  if (surface.skin.empty())
    return badElement("vertices", "\"auto\" needs skin weights; name a vertex group instead");
  const std::vector<bool> mine = jointsOfElement(desc, skeleton, bind_model);
  for (std::size_t v = 0; v < out.size(); ++v)
    for (const Influence& i : surface.skin[v])
      if (mine[surface.skin.slots[i.slot].joint.index()]) out[v] += i.weight;
  return out;
}

/// 1 up to half of the reach, 0 beyond it, smooth between.
double fadeInReach(double share) {
  const double t = std::clamp(2 * (1 - share), 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

}  // namespace

double attenuation(FleshAttenuation kind, double y) {
  if (kind == FleshAttenuation::None) return 1;
  if (!(std::abs(y) < 1)) return 0;
  const double y2 = y * y;
  if (kind == FleshAttenuation::Parabola) return 1 - y2;
  return std::max(0.0, 1 + y2 * (-22 + y2 * (17 - 4 * y2)) / 9);
}

double VirtualBone::along(const Vec3d& p) const {
  const Vec3d half = 0.5 * (from - to);
  return (p - middle()).dot(half) / half.squaredNorm();
}

double VirtualBone::distance(const Vec3d& p) const {
  return (from + closestOnSegment(p, from, to) * (to - from) - p).norm();
}

VirtualBone virtualBone(const FleshDesc& desc, std::span<const Affine3d> bind_model) {
  VirtualBone bone;
  bone.from = desc.from.value_or(bind_model[desc.dominant.index()].translation());
  if (desc.to) {
    bone.to = *desc.to;
    return bone;
  }
  for (const JointId end : desc.ends) bone.to += bind_model[end.index()].translation();
  bone.to /= static_cast<double>(std::max<std::size_t>(desc.ends.size(), 1));
  return bone;
}

std::vector<bool> jointsOfElement(const FleshDesc& desc, const Skeleton& skeleton,
                                  std::span<const Affine3d> bind_model) {
  const std::size_t count = skeleton.size();
  const VirtualBone bone = virtualBone(desc, bind_model);
  std::vector<bool> mine(count, false);
  mine[desc.dominant.index()] = true;
  for (const JointId end : desc.ends) {
    if (desc.to) mine[end.index()] = true;
    for (JointId j = end; j != desc.dominant; j = skeleton[j].parent)
      if (j != end) mine[j.index()] = true;
  }
  // Where every joint below is near the bone, children first.
  std::vector<bool> inside(count, true);
  for (std::size_t j = count; j-- > 0;) {
    const Vec3d position = bind_model[j].translation();
    if (std::abs(bone.along(position)) > 1 || bone.distance(position) > kSideReach * bone.length())
      inside[j] = false;
    const JointId parent = skeleton.joints[j].parent;
    if (!inside[j] && parent.valid()) inside[parent.index()] = false;
  }
  std::vector<bool> is_end(count, false);
  for (const JointId end : desc.ends) is_end[end.index()] = !desc.to;
  for (std::size_t j = 0; j < count; ++j) {
    const JointId parent = skeleton.joints[j].parent;
    if (parent.valid() && mine[parent.index()] && inside[j] && !is_end[j]) mine[j] = true;
  }
  return mine;
}

Result<FleshWeights> fleshWeights(const FleshDesc& desc, const Skeleton& skeleton,
                                  std::span<const Affine3d> bind_model, const BoundSurface& surface,
                                  std::span<const std::uint8_t> is_prop) {
  const VirtualBone bone = virtualBone(desc, bind_model);
  const Bounds box = bounds(surface.rest.positions);
  DERM_CHECK(checkNear(desc.from, "from_m", box));
  DERM_CHECK(checkNear(desc.to, "to_m", box));
  if (!(bone.length() > kNoLength * box.diagonal()))
    return badElement("ends", "the virtual bone has no length: its ends are at one place");
  DERM_TRY(std::vector<double> strength, strengths(desc, skeleton, bind_model, surface));
  std::vector<double> amount(strength.size(), 0.0);
  double max_amount = 0;
  if (desc.vertex_group.empty() && is_prop.size() == strength.size()) {
    std::vector<double> without = strength;
    double of_skin = 0;
    for (std::size_t v = 0; v < without.size(); ++v) {
      if (is_prop[v]) without[v] = 0;
      of_skin = std::max(of_skin, without[v]);
    }
    if (of_skin > 0) strength = std::move(without);
  }
  for (std::size_t v = 0; v < amount.size(); ++v) {
    if (!(strength[v] > 0)) continue;
    const Vec3d p = surface.rest.positions[v].cast<double>();
    const double depth = std::max(0.0, bone.distance(p) - desc.bone_radius_m);
    if (desc.reach_m) strength[v] *= fadeInReach(bone.distance(p) / *desc.reach_m);
    amount[v] = std::pow(depth / bone.length(), desc.shape_power) * strength[v] *
                attenuation(desc.attenuation, bone.along(p));
    max_amount = std::max(max_amount, amount[v]);
  }
  if (!(max_amount > 0))
    return badElement("vertices",
                      "no vertex can move: none lies between the ends, outside the bone's radius "
                      "and within the chosen vertices");
  FleshWeights out;
  out.safe_elongation_m = std::numeric_limits<double>::infinity();
  for (std::size_t v = 0; v < amount.size(); ++v) {
    const double alpha = amount[v] / max_amount;
    if (alpha < kMinAlpha) continue;
    out.vertices.push_back(static_cast<std::uint32_t>(v));
    out.alpha.push_back(static_cast<float>(alpha));
    const double depth =
        bone.distance(surface.rest.positions[v].cast<double>()) - desc.bone_radius_m;
    out.safe_elongation_m = std::min(out.safe_elongation_m, depth / alpha);
  }
  return out;
}

}  // namespace derm::detail
