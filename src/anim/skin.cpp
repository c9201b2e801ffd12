#include "derm/anim/skin.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace derm {
namespace {

/// A normalised row of k floats sums to 1 within k times half of this.
constexpr double kRoundingPerWeight = 0x1p-24;

bool before(const Influence& a, const Influence& b) {
  return a.weight != b.weight ? a.weight > b.weight : a.slot < b.slot;
}

/// Divides by the sum so that the row sums to 1 as nearly as floats can.
void normaliseRow(std::span<Influence> row) {
  double sum = 0;
  for (const Influence& i : row) sum += i.weight;
  for (Influence& i : row) i.weight = static_cast<float>(i.weight / sum);
}

}  // namespace

std::size_t Skin::maxInfluences() const {
  std::size_t max = 0;
  for (std::size_t v = 0; v < vertexCount(); ++v)
    max = std::max<std::size_t>(max, offsets[v + 1] - offsets[v]);
  return max;
}

SkinBuilder::SkinBuilder(std::vector<SkinSlot> slots, std::size_t expected_vertices) {
  skin_.slots = std::move(slots);
  skin_.offsets.reserve(expected_vertices + 1);
  skin_.offsets.push_back(0);
}

std::uint32_t SkinBuilder::addSlot(const SkinSlot& slot) {
  skin_.slots.push_back(slot);
  return static_cast<std::uint32_t>(skin_.slots.size() - 1);
}

void SkinBuilder::addVertex(std::vector<Influence>& row, std::uint32_t fallback_slot,
                            std::string_view element, Diagnostics& notes) {
  const std::size_t vertex = skin_.offsets.size() - 1;
  double sum = 0;
  std::erase_if(row, [&](const Influence& i) {
    if (i.weight > 0 && std::isfinite(i.weight)) return false;
    if (i.weight != 0)
      notes.warn("weight-not-usable", element, "negative or non-finite skin weight ignored",
                 vertex);
    return true;
  });
  std::sort(row.begin(), row.end(),
            [](const Influence& a, const Influence& b) { return a.slot < b.slot; });
  std::size_t kept = 0;
  for (const Influence& i : row) {
    DERM_REQUIRE(i.slot < skin_.slots.size());
    sum += i.weight;
    if (kept > 0 && row[kept - 1].slot == i.slot)
      row[kept - 1].weight += i.weight;
    else
      row[kept++] = i;
  }
  row.resize(kept);
  if (row.empty() || !(sum > 1e-20) || !(sum < 1e30)) {
    DERM_REQUIRE(fallback_slot < skin_.slots.size());
    notes.warn("vertex-without-weights", element,
               "vertex without usable skin weights follows one joint", vertex);
    row.assign(1, {fallback_slot, 1.0f});
  } else {
    if (std::abs(sum - 1.0) > 1e-3)
      notes.warn("weights-not-normalised", element,
                 "skin weights did not sum to 1 and were normalised", vertex);
    if (std::abs(sum - 1.0) > kRoundingPerWeight * static_cast<double>(row.size()))
      normaliseRow(row);
    // Normalising can turn a denormal into zero; such an influence moves nothing.
    std::erase_if(row, [](const Influence& i) { return !(i.weight > 0); });
    std::sort(row.begin(), row.end(), before);
  }
  skin_.influences.insert(skin_.influences.end(), row.begin(), row.end());
  skin_.offsets.push_back(static_cast<std::uint32_t>(skin_.influences.size()));
}

void SkinBuilder::addRigidVertices(std::size_t count, std::uint32_t slot) {
  DERM_REQUIRE(slot < skin_.slots.size());
  skin_.influences.insert(skin_.influences.end(), count, Influence{slot, 1.0f});
  for (std::size_t i = 0; i < count; ++i) skin_.offsets.push_back(skin_.offsets.back() + 1);
}

Skin SkinBuilder::finish() && { return std::move(skin_); }

Result<void> validate(const Skin& skin, std::size_t vertex_count, std::size_t joint_count,
                      std::string_view name) {
  const auto bad = [&](const char* element, std::size_t index, std::string message) {
    return Error{ErrorCode::BadData,
                 std::move(message),
                 {.file = std::string(name), .element = element, .index = index}};
  };
  if (skin.vertexCount() != vertex_count)
    return bad("skin", 0,
               "rows for " + std::to_string(skin.vertexCount()) + " of " +
                   std::to_string(vertex_count) + " vertices");
  for (std::size_t s = 0; s < skin.slots.size(); ++s) {
    if (!skin.slots[s].joint.valid() || skin.slots[s].joint.index() >= joint_count)
      return bad("skin.slots", s,
                 "joint " + std::to_string(skin.slots[s].joint.value) + " of " +
                     std::to_string(joint_count));
    if (!skin.slots[s].inverse_bind.matrix().allFinite())
      return bad("skin.slots", s, "inverse bind matrix not finite");
  }
  if (!skin.offsets.empty() &&
      (skin.offsets.front() != 0 || skin.offsets.back() != skin.influences.size()))
    return bad("skin.offsets", 0, "rows do not cover the influences");
  for (std::size_t v = 0; v < skin.vertexCount(); ++v) {
    if (skin.offsets[v] >= skin.offsets[v + 1]) return bad("skin", v, "vertex without influences");
    // The last offset alone does not bound those before it.
    if (skin.offsets[v + 1] > skin.influences.size())
      return bad("skin.offsets", v + 1, "row reaches beyond the influences");
    double sum = 0;
    const std::span<const Influence> row = skin[v];
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (row[k].slot >= skin.slots.size())
        return bad(
            "skin", v,
            "slot " + std::to_string(row[k].slot) + " of " + std::to_string(skin.slots.size()));
      if (!(row[k].weight > 0) || !std::isfinite(row[k].weight))
        return bad("skin", v, "weight not in (0,1]");
      if (k > 0 && !before(row[k - 1], row[k]))
        return bad("skin", v, "influences not sorted by weight");
      sum += row[k].weight;
    }
    if (std::abs(sum - 1.0) > 1e-5) return bad("skin", v, "weights do not sum to 1");
  }
  return {};
}

Skin pruned(const Skin& skin, std::size_t max_influences, float min_weight) {
  DERM_REQUIRE(max_influences >= 1);
  Skin out;
  out.slots = skin.slots;
  out.offsets.reserve(skin.offsets.size());
  out.offsets.push_back(0);
  for (std::size_t v = 0; v < skin.vertexCount(); ++v) {
    const std::size_t start = out.influences.size();
    for (const Influence& i : skin[v]) {
      const std::size_t kept = out.influences.size() - start;
      if (kept > 0 && (kept == max_influences || i.weight < min_weight))
        break;  // sorted: the rest is smaller
      out.influences.push_back(i);
    }
    if (out.influences.size() - start < skin[v].size())
      normaliseRow(std::span(out.influences).subspan(start));
    out.offsets.push_back(static_cast<std::uint32_t>(out.influences.size()));
  }
  return out;
}

void skinningMatrices(const Skin& skin, std::span<const Affine3d> model,
                      std::span<Affine3f> palette) noexcept {
  DERM_REQUIRE(palette.size() == skin.slots.size());
  for (std::size_t s = 0; s < skin.slots.size(); ++s) {
    DERM_ASSERT(skin.slots[s].joint.index() < model.size());
    const Affine3d product =
        model[skin.slots[s].joint.index()] * skin.slots[s].inverse_bind.cast<double>();
    palette[s] = product.cast<float>();
  }
}

std::vector<Transform> bindTransforms(const Skeleton& skeleton, const Skin& skin) {
  std::vector<std::optional<Affine3d>> bind(skeleton.size());
  for (const SkinSlot& slot : skin.slots) {
    std::optional<Affine3d>& at = bind[slot.joint.index()];
    if (at) continue;
    bool invertible = false;
    const Affine3d matrix = inverseOrIdentity(slot.inverse_bind.cast<double>(), invertible);
    if (invertible) at = matrix;
  }
  std::vector<Transform> local(skeleton.size());
  std::vector<Affine3d> model(skeleton.size());
  for (std::size_t i = 0; i < skeleton.size(); ++i) {
    const JointId parent = skeleton.joints[i].parent;
    const Affine3d above = parent.valid() ? model[parent.index()] : Affine3d::Identity();
    local[i] = skeleton.joints[i].rest;
    if (bind[i]) {
      bool invertible = false;
      const Affine3d to_parent = inverseOrIdentity(above, invertible);
      if (invertible) local[i] = decompose(to_parent * *bind[i]).transform;
    }
    model[i] = above * local[i].matrixd();
  }
  return local;
}

}  // namespace derm
