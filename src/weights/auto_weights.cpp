#include "derm/weights/auto_weights.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "derm/base/nearest_name.h"
#include "derm/weights/weight_smoothing.h"

#include "weights/weight_methods.h"

namespace derm {
namespace {

constexpr std::array<std::pair<WeightMethod, std::string_view>, 5> kMethods = {
    {{WeightMethod::Nearest, "nearest"},
     {WeightMethod::Linear, "linear"},
     {WeightMethod::InverseDistance, "inverse-distance"},
     {WeightMethod::Heat, "heat"},
     {WeightMethod::Geodesic, "geodesic"}}};

Error badField(const char* field, const char* message) {
  return Error{ErrorCode::BadArgument, message, {.element = field}};
}

Error badBone(std::size_t index, std::string message) {
  return Error{ErrorCode::BadArgument, std::move(message), {.element = "bones", .index = index}};
}

Result<void> validateBones(const Skeleton& skeleton, std::span<const JointId> bones,
                           std::span<const Affine3d> bind_model) {
  if (bones.empty()) return badBone(0, "no bones to follow");
  if (bind_model.size() != skeleton.size())
    return Error{ErrorCode::BadArgument,
                 std::to_string(bind_model.size()) + " bind matrices for " +
                     std::to_string(skeleton.size()) + " joints",
                 {.element = "bind_model"}};
  std::vector<bool> listed(skeleton.size(), false);
  for (std::size_t b = 0; b < bones.size(); ++b) {
    if (!bones[b].valid() || bones[b].index() >= skeleton.size())
      return badBone(b, "no such joint");
    const std::size_t joint = bones[b].index();
    if (listed[joint]) return badBone(b, "joint \"" + skeleton.joints[joint].name + "\" twice");
    listed[joint] = true;
  }
  // All of them: positions of joints that are no bones end bones, too.
  for (std::size_t j = 0; j < bind_model.size(); ++j)
    if (!bind_model[j].matrix().allFinite())
      return Error{ErrorCode::BadData,
                   "bind matrix of joint \"" + skeleton.joints[j].name + "\" is not finite",
                   {.element = "bind_model", .index = j}};
  return {};
}

/// Methods that look at the surface; says what no bone sees.
Result<detail::WeightRows> surfaceRows(const detail::WeldedSurface& surface,
                                       const AutoWeightsDesc& desc, double min_weight,
                                       Diagnostics& notes, const Progress& progress) {
  DERM_TRY(const detail::BoneSources sources, detail::findBoneSources(surface, progress));
  DERM_TRY(detail::WeightRows rows,
           desc.method == WeightMethod::Heat
               ? detail::heatRows(surface, sources, desc.heat_transfer, min_weight, progress)
               : detail::geodesicRows(surface, sources, desc.exponent, min_weight, progress));
  for (std::size_t v = 0; v < surface.size(); ++v)
    if (sources.unseen[v] != 0)
      notes.warn("vertex-unseen", "weights",
                 "no near bone is in sight of the vertex: it follows the nearest one",
                 surface.first_vertex[v]);
  return rows;
}

void noteLooseVertices(const detail::WeldedSurface& surface, Diagnostics& notes) {
  std::vector<bool> used(surface.size(), false);
  for (const Triangle& t : surface.triangles)
    for (const std::uint32_t v : t) used[v] = true;
  for (std::size_t v = 0; v < used.size(); ++v)
    if (!used[v])
      notes.info("vertex-loose", "weights", "vertex without triangles follows the nearest bone",
                 surface.first_vertex[v]);
}

void noteUnusedBones(const Skin& skin, Diagnostics& notes) {
  if (skin.vertexCount() == 0) return;
  std::vector<bool> used(skin.slots.size(), false);
  for (const Influence& i : skin.influences) used[i.slot] = true;
  for (std::size_t s = 0; s < used.size(); ++s)
    if (!used[s])
      notes.info("bone-unused", "weights", "no vertex follows the bone",
                 skin.slots[s].joint.index());
}

/// The skin with at most `max_influences` per vertex, such that a weight falls to zero before it is
/// dropped: all are made smaller by the largest one left out. Cutting rows off instead makes steps
/// where two bones change places in the row's order.
Skin faded(const Skin& skin, std::size_t max_influences) {
  SkinBuilder builder(skin.slots, skin.vertexCount());
  Diagnostics unasked;
  std::vector<Influence> row;
  for (std::size_t v = 0; v < skin.vertexCount(); ++v) {
    const std::span<const Influence> all = skin[v];  // sorted, largest first
    row.assign(all.begin(), all.end());
    if (all.size() > max_influences) {
      row.resize(max_influences);
      for (Influence& i : row) i.weight -= all[max_influences].weight;
      std::erase_if(row, [](const Influence& i) { return !(i.weight > 0); });
      if (row.empty()) row = {all.front()};
    }
    builder.addVertex(row, all.front().slot, "weights", unasked);
  }
  return std::move(builder).finish();
}

Result<Skin> finished(const detail::WeldedSurface& surface, detail::WeightRows& rows,
                      const TriMesh& mesh, std::span<const SkinSlot> slots,
                      const AutoWeightsDesc& desc) {
  SkinBuilder builder({slots.begin(), slots.end()}, mesh.vertexCount());
  // Rows are normalised here on purpose, so that is nothing to tell.
  Diagnostics unasked;
  std::vector<Influence> row;
  for (const std::uint32_t welded : surface.welded_of_vertex) {
    row = rows[welded];
    const std::uint32_t fallback =
        row.empty() ? detail::nearestBone(surface, surface.positions[welded]).slot : 0;
    builder.addVertex(row, fallback, "weights", unasked);
  }
  Skin skin = std::move(builder).finish();
  if (desc.smoothing_passes > 0) {
    DERM_TRY(skin, smoothedWeights(skin, mesh,
                                   {.passes = desc.smoothing_passes,
                                    .amount = desc.smoothing_amount,
                                    .weld = desc.weld}));
  }
  return pruned(faded(skin, desc.max_influences), desc.max_influences, desc.smallest);
}

}  // namespace

std::string_view nameOf(WeightMethod method) {
  for (const auto& [value, name] : kMethods)
    if (value == method) return name;
  return "";
}

Result<WeightMethod> weightMethodNamed(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& [value, known] : kMethods) {
    if (known == name) return value;
    names.emplace_back(known);
  }
  return Error{ErrorCode::BadArgument,
               "no weight method \"" + std::string(name) + "\"" + didYouMean(name, names),
               {.element = "method"}};
}

Result<void> validate(const AutoWeightsDesc& desc) {
  if (nameOf(desc.method).empty()) return badField("method", "no such method");
  if (desc.to != DistanceTo::Segments && desc.to != DistanceTo::JointPoints)
    return badField("to", "no such kind of distance");
  if (!(desc.exponent > 0 && desc.exponent <= 32))
    return badField("exponent", "must be above 0 and at most 32");
  if (!(desc.heat_transfer >= 1e-3f && desc.heat_transfer <= 1e3f))
    return badField("heat_transfer", "must be within 0.001 and 1000");
  if (!(desc.blend_length >= 0 && desc.blend_length <= 1))
    return badField("blend_length", "must be within 0 and 1");
  if (desc.max_influences < 1) return badField("max_influences", "must be at least 1");
  if (!(desc.smallest >= 0 && desc.smallest <= 0.5f))
    return badField("smallest", "must be within 0 and 0.5");
  if (desc.smoothing_passes < 0 || desc.smoothing_passes > 1000)
    return badField("smoothing_passes", "must be within 0 and 1000");
  if (!(desc.smoothing_amount >= 0 && desc.smoothing_amount <= 1))
    return badField("smoothing_amount", "must be within 0 and 1");
  return {};
}

Result<Skin> autoWeights(const TriMesh& mesh, std::span<const SkinSlot> slots,
                         std::span<const BoneSegment> bones, const AutoWeightsDesc& desc,
                         Diagnostics& notes, const Progress& progress) {
  DERM_CHECK(validate(desc));
  DERM_CHECK(validate(mesh, "mesh"));
  if (bones.empty()) return badBone(0, "no bones to follow");
  for (std::size_t b = 0; b < bones.size(); ++b) {
    const auto exists = [&](std::uint32_t slot, bool or_none) {
      return slot < slots.size() || (or_none && slot == BoneSegment::kNone);
    };
    if (!exists(bones[b].slot, false) || !exists(bones[b].before, true) ||
        !exists(bones[b].after, true))
      return badBone(b, "no such slot");
    if (!bones[b].from.allFinite() || !bones[b].to.allFinite())
      return badBone(b, "position not finite");
  }
  if (!keepGoing(progress, 0.0, "welding"))
    return Error{ErrorCode::Cancelled, "cancelled", {.element = "weights"}};
  const detail::WeldedSurface surface = detail::weldedSurface(mesh, bones, slots.size(), desc.weld);
  // What is a good deal smaller than the smallest weight kept cannot come to matter.
  const double min_weight = desc.smallest / 16.0;
  detail::WeightRows rows;
  switch (desc.method) {
    case WeightMethod::Nearest:
      rows = detail::nearestRows(surface);
      break;
    case WeightMethod::Linear:
      rows = detail::linearRows(surface, desc.blend_length);
      break;
    case WeightMethod::InverseDistance:
      rows = detail::inverseDistanceRows(surface, desc.exponent, min_weight);
      break;
    case WeightMethod::Heat:
    case WeightMethod::Geodesic: {
      DERM_TRY(rows, surfaceRows(surface, desc, min_weight, notes, progress));
      noteLooseVertices(surface, notes);
      break;
    }
  }
  DERM_TRY(Skin skin, finished(surface, rows, mesh, slots, desc));
  noteUnusedBones(skin, notes);
  keepGoing(progress, 1.0, "done");
  return skin;
}

Result<Skin> autoWeights(const TriMesh& mesh, const Skeleton& skeleton,
                         std::span<const JointId> bones, std::span<const Affine3d> bind_model,
                         const AutoWeightsDesc& desc, Diagnostics& notes,
                         const Progress& progress) {
  DERM_CHECK(validate(desc));
  DERM_CHECK(validate(mesh, "mesh"));
  DERM_CHECK(validate(skeleton, "skeleton"));
  DERM_CHECK(validateBones(skeleton, bones, bind_model));
  std::vector<JointId> usable;
  std::vector<SkinSlot> slots;
  for (const JointId bone : bones) {
    bool invertible = false;
    const Affine3d inverse = inverseOrIdentity(bind_model[bone.index()], invertible);
    if (!invertible) {
      notes.warn("bone-not-invertible", "bones",
                 "bind matrix cannot be inverted (a scale of 0?): bone left out", bone.index());
      continue;
    }
    usable.push_back(bone);
    slots.push_back({bone, inverse.cast<float>()});
  }
  if (usable.empty()) return badBone(0, "no bone with a usable bind matrix");
  const bool points = desc.to == DistanceTo::JointPoints && desc.method != WeightMethod::Linear;
  const std::vector<BoneSegment> segments =
      points ? bonePoints(skeleton, usable, bind_model)
             : boneSegments(skeleton, usable, bind_model, mesh.positions, notes);
  return autoWeights(mesh, slots, segments, desc, notes, progress);
}

}  // namespace derm
