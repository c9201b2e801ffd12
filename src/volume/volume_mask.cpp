#include "derm/volume/volume_mask.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "derm/base/nearest_name.h"
#include "derm/weights/bone_segments.h"

namespace derm {
namespace {

constexpr std::array<std::pair<MaskRule, std::string_view>, 5> kWords = {{
    {MaskRule::Everywhere, "everywhere"},
    {MaskRule::Weights, "weights"},
    {MaskRule::SmoothWeights, "smooth-weights"},
    {MaskRule::Distance, "distance"},
    {MaskRule::Between, "between"},
}};
constexpr std::string_view kGroupWord = "group:";

Error badMask(std::string message, std::string_view element) {
  Where where;
  where.element = element;
  return Error{ErrorCode::BadArgument, std::move(message), std::move(where)};
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

Result<const VertexGroup*> groupNamed(const TriMesh& mesh, const std::string& name,
                                      std::string_view element) {
  if (const VertexGroup* group = mesh.findGroup(name)) return group;
  std::vector<std::string> names;
  for (const VertexGroup& g : mesh.groups) names.push_back(g.name);
  return badMask("there is no vertex group \"" + name + "\"" + didYouMean(name, names), element);
}

/// The bones that the skin hangs on, in the bind pose; slots are those of the skin.
std::vector<BoneSegment> bonesOf(const TriMesh& mesh, const Skeleton& skeleton, const Skin& skin,
                                 Diagnostics& notes) {
  std::vector<JointId> joints;
  std::vector<std::uint32_t> slots;  // joints may have several; the first counts
  for (std::uint32_t s = 0; s < skin.slots.size(); ++s)
    if (std::find(joints.begin(), joints.end(), skin.slots[s].joint) == joints.end()) {
      joints.push_back(skin.slots[s].joint);
      slots.push_back(s);
    }
  std::vector<Affine3d> model(skeleton.size());
  localToModel(skeleton, bindTransforms(skeleton, skin), model);
  std::vector<BoneSegment> bones = boneSegments(skeleton, joints, model, mesh.positions, notes);
  for (BoneSegment& bone : bones) bone.slot = slots[bone.slot];
  return bones;
}

struct OnBone {
  double distance = std::numeric_limits<double>::infinity();
  double along = 0.5;  ///< [0,1] from its joint to its end, not clamped
};

OnBone nearest(const Vec3d& p, std::span<const BoneSegment> bones) {
  OnBone out;
  for (const BoneSegment& bone : bones) {
    const Vec3d way = bone.to - bone.from;
    const double length2 = way.squaredNorm();
    const double along = length2 > 0 ? (p - bone.from).dot(way) / length2 : 0.5;
    const double distance = (p - bone.from - std::clamp(along, 0.0, 1.0) * way).norm();
    if (distance < out.distance) out = {distance, along};
  }
  return out;
}

/// Largest weight per joint and the sum of squares: slots of one joint count together.
struct WeightShape {
  double largest = 0, squares = 0;
};

WeightShape shapeOf(const Skin& skin, std::size_t vertex) {
  const std::span<const Influence> row = skin[vertex];
  WeightShape out;
  for (std::size_t n = 0; n < row.size(); ++n) {
    const JointId joint = skin.slots[row[n].slot].joint;
    double weight = 0;
    bool first = true;
    for (std::size_t m = 0; m < row.size(); ++m) {
      if (skin.slots[row[m].slot].joint != joint) continue;
      if (m < n) first = false;
      weight += row[m].weight;
    }
    if (!first) continue;
    out.largest = std::max(out.largest, weight);
    out.squares += weight * weight;
  }
  return {std::min(out.largest, 1.0), std::min(out.squares, 1.0)};
}

class Gamma {
 public:
  Gamma(const MeasuredSurface& surface, const TriMesh& mesh, const Skeleton& skeleton,
        const Skin& skin, const VolumeMaskDesc& desc)
      : surface_(surface),
        mesh_(mesh),
        skeleton_(skeleton),
        skin_(skin),
        desc_(desc),
        values_(mesh.vertexCount(), 1.0) {}

  Result<void> multiply(const MaskTerm& term, Diagnostics& notes) {
    if (term.rule == MaskRule::Everywhere) return {};
    if (term.rule == MaskRule::Group) return multiplyGroup(term.group);
    if (skin_.empty()) {
      notes.info("volume-mask-no-skin", "mask",
                 "a mesh without a skin may move everywhere to keep its volume");
      return {};
    }
    if (term.rule == MaskRule::Weights || term.rule == MaskRule::SmoothWeights)
      return multiplyWeights(term.rule);
    multiplyBones(term.rule, notes);
    return {};
  }

  Result<std::vector<double>> perWelded() {
    std::vector<std::uint8_t> fixed(mesh_.vertexCount(), 0);
    if (!desc_.fixed_group.empty()) {
      DERM_TRY(const VertexGroup* group, groupNamed(mesh_, desc_.fixed_group, "fixed"));
      for (std::size_t n = 0; n < group->vertices.size(); ++n)
        if (group->strengths[n] > 0) fixed[group->vertices[n]] = 1;
    }
    std::vector<double> out(surface_.weldedCount(), 0.0);
    bool any = false;
    for (std::size_t welded = 0; welded < out.size(); ++welded) {
      const std::span<const std::uint32_t> vertices = surface_.vertices_of_welded[welded];
      double sum = 0;
      bool held = false;
      for (const std::uint32_t v : vertices) {
        sum += values_[v];
        held |= fixed[v] != 0;
      }
      out[welded] = held ? 0.0 : std::clamp(sum / static_cast<double>(vertices.size()), 0.0, 1.0);
      any |= out[welded] > 0;
    }
    if (!any && !out.empty())
      return badMask(
          "no vertex may move: \"" + maskText(desc_.terms) + "\" is zero everywhere on this mesh",
          "mask");
    return out;
  }

 private:
  Result<void> multiplyGroup(const std::string& name) {
    DERM_TRY(const VertexGroup* group, groupNamed(mesh_, name, "mask"));
    std::vector<double> strengths(values_.size(), 0.0);
    for (std::size_t n = 0; n < group->vertices.size(); ++n)
      strengths[group->vertices[n]] = group->strengths[n];
    for (std::size_t v = 0; v < values_.size(); ++v) values_[v] *= strengths[v];
    return {};
  }

  Result<void> multiplyWeights(MaskRule rule) {
    for (std::size_t v = 0; v < values_.size(); ++v) {
      for (const Influence& influence : skin_[v])
        if (!std::isfinite(influence.weight)) {
          Error error = badMask("a skin weight is not finite", "weights");
          error.where.index = v;
          return error;
        }
      const WeightShape shape = shapeOf(skin_, v);
      values_[v] *= rule == MaskRule::Weights
                        ? std::pow(1 - std::pow(shape.largest, desc_.a), desc_.b)
                        : 1 - shape.squares;
    }
    return {};
  }

  void multiplyBones(MaskRule rule, Diagnostics& notes) {
    const std::vector<BoneSegment> bones = bonesOf(mesh_, skeleton_, skin_, notes);
    if (bones.empty()) return;
    std::vector<OnBone> near;
    for (const Vec3f& p : mesh_.positions) near.push_back(nearest(p.cast<double>(), bones));
    std::vector<double> farthest(surface_.piece_count, 0.0);
    const auto piece = [&](std::size_t v) {
      return surface_.piece_of_point[surface_.welded_of_vertex[v]];
    };
    for (std::size_t v = 0; v < near.size(); ++v)
      farthest[piece(v)] = std::max(farthest[piece(v)], near[v].distance);
    for (std::size_t v = 0; v < near.size(); ++v) {
      const double t = std::clamp(near[v].along, 0.0, 1.0);
      const double max = farthest[piece(v)];
      values_[v] *=
          rule == MaskRule::Between ? 4 * t * (1 - t) : (max > 0 ? near[v].distance / max : 1.0);
    }
  }

  const MeasuredSurface& surface_;
  const TriMesh& mesh_;
  const Skeleton& skeleton_;
  const Skin& skin_;
  const VolumeMaskDesc& desc_;
  std::vector<double> values_;  ///< per vertex
};

}  // namespace

std::string parseGroupName(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with(kGroupWord)) text.remove_prefix(kGroupWord.size());
  return std::string(trimmed(text));
}

Result<std::vector<MaskTerm>> parseMask(std::string_view text) {
  std::vector<MaskTerm> out;
  for (std::string_view rest = text;;) {
    const std::size_t star = rest.find('*');
    const std::string_view word = trimmed(rest.substr(0, star));
    const auto known = std::find_if(kWords.begin(), kWords.end(),
                                    [&](const auto& entry) { return entry.second == word; });
    if (word.starts_with(kGroupWord)) {
      out.push_back({MaskRule::Group, parseGroupName(word)});
      if (out.back().group.empty()) return badMask("\"group:\" needs a name", "mask");
    } else if (known != kWords.end()) {
      out.push_back({known->first, {}});
    } else {
      std::vector<std::string> words = {"group:NAME"};
      for (const auto& entry : kWords) words.emplace_back(entry.second);
      return badMask("\"" + std::string(word) + "\" is no mask" + didYouMean(word, words), "mask");
    }
    if (star == std::string_view::npos) return out;
    rest.remove_prefix(star + 1);
  }
}

std::string maskText(std::span<const MaskTerm> terms) {
  std::string out;
  for (const MaskTerm& term : terms) {
    if (!out.empty()) out += " * ";
    if (term.rule == MaskRule::Group) out += std::string(kGroupWord) + term.group;
    for (const auto& [rule, word] : kWords)
      if (rule == term.rule) out += word;
  }
  return out;
}

Result<std::vector<double>> volumeGamma(const MeasuredSurface& surface, const TriMesh& mesh,
                                        const Skeleton& skeleton, const Skin& skin,
                                        const VolumeMaskDesc& desc, Diagnostics& notes) {
  for (const auto& [value, key] : {std::pair<double, std::string_view>{desc.a, "a"}, {desc.b, "b"}})
    if (!(value > 0) || !std::isfinite(value))
      return badMask("the exponent must be a finite number above 0", key);
  Gamma gamma(surface, mesh, skeleton, skin, desc);
  for (const MaskTerm& term : desc.terms) DERM_CHECK(gamma.multiply(term, notes));
  return gamma.perWelded();
}

}  // namespace derm
