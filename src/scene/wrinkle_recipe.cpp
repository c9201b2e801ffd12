#include "derm/scene/wrinkle_recipe.h"

#include <cmath>

#include "derm/base/assert.h"

namespace derm {
namespace {

double rounded(double metres) { return std::round(metres * 1e5) / 1e5; }

RecipeValue coordinates(const Vec3d& p) {
  RecipeValue::List list;
  for (const double v : {p.x(), p.y(), p.z()}) list.push_back({.content = rounded(v)});
  return {.content = list};
}

template <class Choice, class Names>
RecipeValue nameOf(Choice choice, const Names& names) {
  for (const auto& [value, name] : names)
    if (value == choice) return {.content = std::string(name)};
  return {.content = std::string()};
}

}  // namespace

RecipeLayer wrinkleRecipeLayer(const WrinkleToolDesc& tool) {
  DERM_REQUIRE(tool.path.size() >= 2);
  RecipeLayer layer{.type = "wrinkles", .name = tool.name, .keys = {}, .location = {}};
  layer.keys = {{"from", coordinates(tool.path[0].position), {}},
                {"to", coordinates(tool.path[1].position), {}},
                {"width_m", {.content = rounded(tool.width_m)}, {}},
                {"points", {.content = std::int64_t{tool.curve.points}}, {}},
                {"h_max_m", {.content = rounded(tool.curve.h_max)}, {}}};
  const FoldCurveDesc usual;
  if (tool.curve.spacing != usual.spacing)
    layer.keys.push_back({"spacing", {.content = std::int64_t{tool.curve.spacing}}, {}});
  if (tool.curve.propagation != usual.propagation)
    layer.keys.push_back({"strategy", nameOf(tool.curve.propagation, kFoldPropagations), {}});
  if (tool.curve.profile != usual.profile)
    layer.keys.push_back({"profile", nameOf(tool.curve.profile, kFoldProfiles), {}});
  if (tool.subdivide != WrinkleToolDesc{}.subdivide)
    layer.keys.push_back({"subdivide", {.content = std::int64_t{tool.subdivide}}, {}});
  return layer;
}

}  // namespace derm
