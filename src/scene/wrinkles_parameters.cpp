#include "scene/wrinkles_parameters.h"

#include <cmath>
#include <numeric>
#include <utility>

namespace derm::detail {
namespace {

constexpr double kMaxVertices = 4294967294.0;
constexpr std::size_t kMaxLengthKeys = 10000;

PickedPoint picked(std::int64_t vertex, const std::vector<double>& position) {
  if (vertex >= 0) return {.vertex = static_cast<std::uint32_t>(vertex)};
  return {.vertex = std::nullopt, .position = Vec3d(position[0], position[1], position[2])};
}

}  // namespace

WrinklesParameters::WrinklesParameters() { desc_.curve.h_max = 0.005; }

void WrinklesParameters::fields(RecipeFields& f) {
  const NumberRange coordinate{-1e6, 1e6, "m"};
  f.numbers("from", from_, {0, 3, coordinate},
            "x, y, z of A, where the fold's curve starts; the nearest vertex is taken");
  f.numbers("to", to_, {0, 3, coordinate}, "x, y, z of B, where it ends");
  f.integer("from_vertex", from_vertex_, {-1, kMaxVertices}, "A as a vertex, instead of `from`");
  f.integer("to_vertex", to_vertex_, {-1, kMaxVertices}, "B as a vertex, instead of `to`");
  f.numbers("path", path_, {0, 3 * WrinkleToolDesc::kMaxPicked, coordinate},
            "x, y, z of three or more points, instead of both: the curve follows the surface");
  f.number("width_m", desc_.width_m, {0, 1000, "m"}, "length of the folds, across the curve");
  f.integer("points", points_, {3, FoldCurveDesc::kMaxPoints}, "control points of the curve");
  f.choice("strategy", desc_.curve.propagation, kFoldPropagations, "in which order bumps rise");
  f.number("h_max_m", desc_.curve.h_max, {0, 1000, "m"}, "height at which a bump is full");
  f.integer("spacing", spacing_, {0, FoldCurveDesc::kMaxPoints}, "flat segments between bumps");
  f.integer("crest", crest_, {1, FoldCurveDesc::kMaxPoints}, "raised points of a bump");
  f.numbers("levels", desc_.curve.shares, {1, FoldCurveDesc::kMaxLevels, {0, 1}},
            "share of the lost length per level of detail, coarsest first; sum 1");
  f.numbers("fine_h_max_m", desc_.curve.fine_h_max,
            {0, FoldCurveDesc::kMaxLevels - 1, {0, 1000, "m"}},
            "height at which points of each level after the first are full; empty = half the level "
            "before");
  f.choice("saturation", desc_.curve.saturation, kFoldSaturations,
           "what full bumps do under more compression");
  f.number("soft_start", desc_.curve.soft_start, {0, 0.5},
           "share of the length over which a bump starts gently; 0 keeps the length exact");
  f.choice("profile", desc_.curve.profile, kFoldProfiles, "straight flanks, or round folds");
  f.choice("falloff", desc_.falloff, kFoldFalloffs, "how folds end at the sides");
  f.integer("subdivide", subdivide_, {0, 4}, "at most this often is a triangle cut in four");
  f.number("rest_length_m", desc_.rest_length_m, {0, 1000, "m"},
           "length of the curve, instead of the one it was drawn with");
  f.numbers("rest_length_keys", length_keys_, {0, 2 * kMaxLengthKeys, {-1e6, 1e6}},
            "time [s] and length [m], time and length …: that length over time, instead");
  f.choice("length", desc_.length, kFoldLengths,
           "measured along the skin, or chord: the line from A to B, as in the literature");
  f.choice("projection", desc_.projection, kFoldProjections,
           "folds stay where they were drawn, or moved: projected in each frame, and swim");
  f.text("define_clip", define_clip_, "clip with the pose the tool is drawn in; empty = rest pose");
  f.number("define_at_s", define_at_s_, {-1e6, 1e6, "s"}, "instant of that pose");
  rules(f);
}

void WrinklesParameters::rules(RecipeFields& f) const {
  const auto full = [](const std::vector<double>& v) { return v.empty() || v.size() == 3; };
  f.require(full(from_), "from", "needs three numbers: x, y, z");
  f.require(full(to_), "to", "needs three numbers: x, y, z");
  f.require(path_.size() % 3 == 0, "path", "needs three numbers per point");
  f.require(path_.empty() || path_.size() >= 6, "path", "needs two points at least");
  const bool has_a = !from_.empty() || from_vertex_ >= 0;
  const bool has_b = !to_.empty() || to_vertex_ >= 0;
  const bool unset = !has_a && !has_b && path_.empty();  // as when keys are listed for a manual
  f.require(path_.empty() || !(has_a || has_b), "path", "is given beside from or to");
  f.require(unset || !path_.empty() || has_a, "from", "missing: where the curve starts");
  f.require(unset || !path_.empty() || has_b, "to", "missing: where the curve ends");
  f.require(desc_.projection == FoldProjection::Fixed || path_.size() <= 6, "projection",
            "is for curves of two points");
  f.require(desc_.width_m > 0, "width_m", "must be above 0");
  f.require(desc_.curve.h_max > 0, "h_max_m", "must be above 0");
  f.require(!desc_.rest_length_m || *desc_.rest_length_m > 0, "rest_length_m", "must be above 0");
  f.require(length_keys_.size() % 2 == 0, "rest_length_keys", "needs a length per time");
  f.require(length_keys_.empty() || !desc_.rest_length_m, "rest_length_keys",
            "is given beside rest_length_m");
  for (std::size_t i = 0; i + 1 < length_keys_.size(); i += 2) {
    f.require(i == 0 || length_keys_[i] > length_keys_[i - 2], "rest_length_keys",
              "the times must ascend");
    f.require(length_keys_[i + 1] > 0, "rest_length_keys", "lengths must be above 0");
  }
  const double sum = std::accumulate(desc_.curve.shares.begin(), desc_.curve.shares.end(), 0.0);
  f.require(std::abs(sum - 1) <= 1e-6, "levels", "the shares must sum to 1");
  f.require(desc_.curve.fine_h_max.empty() ||
                desc_.curve.fine_h_max.size() + 1 == desc_.curve.shares.size(),
            "fine_h_max_m", "needs one height per level after the first");
}

WrinkleToolDesc WrinklesParameters::tool(std::string name) const {
  WrinkleToolDesc out = desc_;
  out.name = std::move(name);
  for (std::size_t i = 0; i + 2 < path_.size(); i += 3)
    out.path.push_back(
        {.vertex = std::nullopt, .position = Vec3d(path_[i], path_[i + 1], path_[i + 2])});
  if (path_.empty() && (from_vertex_ >= 0 || !from_.empty()))
    out.path.push_back(picked(from_vertex_, from_));
  if (path_.empty() && (to_vertex_ >= 0 || !to_.empty()))
    out.path.push_back(picked(to_vertex_, to_));
  for (std::size_t i = 0; i + 1 < length_keys_.size(); i += 2)
    out.rest_length_keys.push_back({length_keys_[i], length_keys_[i + 1]});
  out.curve.points = static_cast<int>(points_);
  out.curve.spacing = static_cast<int>(spacing_);
  out.curve.crest = static_cast<int>(crest_);
  out.subdivide = static_cast<int>(subdivide_);
  if (!define_clip_.empty()) out.defined_at = WrinklePose{define_clip_, define_at_s_};
  return out;
}

bool WrinklesParameters::join(const LayerParameters& next, std::string name) {
  const auto* tool_after = dynamic_cast<const WrinklesParameters*>(&next);
  if (tool_after == nullptr) return false;
  joined_.push_back(tool_after->tool(std::move(name)));
  return true;
}

LayerFactory WrinklesParameters::factory(std::string name) const {
  WrinklesDesc out{.name = name, .tools = {tool(name)}};
  for (const WrinkleToolDesc& next : joined_) {
    out.name += " + " + next.name;
    out.tools.push_back(next);
  }
  return wrinklesLayer(std::move(out));
}

}  // namespace derm::detail
