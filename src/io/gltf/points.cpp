#include "io/gltf/points.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace derm::detail::gltf {
namespace {

/// Other programs round: weights whose sum is this near to 1 are divided by it.
constexpr double kSumTolerance = 0.01;

std::optional<LabelledPoint> parsePoint(const Json& json, std::size_t triangle_count) {
  const std::optional<std::string> label = stringMember(json, "label");
  const Json* triangle = findMember(json, "triangle");
  const Json* weights = findMember(json, "weights");
  if (!label || label->empty() || triangle == nullptr || weights == nullptr ||
      !weights->is_array() || weights->size() != 3)
    return std::nullopt;
  const std::uint64_t number = asUint(*triangle).value_or(triangle_count);
  if (number >= triangle_count) return std::nullopt;
  Vec3d shares;
  for (int i = 0; i < 3; ++i) {
    const Json& weight = (*weights)[static_cast<std::size_t>(i)];
    if (!weight.is_number()) return std::nullopt;
    shares[i] = weight.get<double>();
  }
  LabelledPoint out{*label, {static_cast<std::uint32_t>(number), shares.cast<float>()}};
  if (validate(out.point, triangle_count, {})) return out;  // bit for bit
  const double sum = shares.sum();
  if (!(std::abs(sum - 1) <= kSumTolerance) || !(shares.minCoeff() >= 0)) return std::nullopt;
  out.point.barycentric = (shares / sum).cast<float>();
  return out;
}

/// A mirrored triangle has its second and third corner swapped.
void turnOver(SurfacePoint& point) { std::swap(point.barycentric[1], point.barycentric[2]); }

std::vector<LabelledPoint> sortedByLabel(std::vector<LabelledPoint> points) {
  std::sort(points.begin(), points.end(),
            [](const LabelledPoint& a, const LabelledPoint& b) { return a.label < b.label; });
  return points;
}

}  // namespace

PrimitivePoints pointsOfPrimitive(const Json& primitive, std::size_t triangle_count) {
  PrimitivePoints out;
  const Json* extras = findMember(primitive, "extras");
  const Json* list = extras != nullptr ? findMember(*extras, kPointsKey) : nullptr;
  if (list == nullptr) return out;
  if (!list->is_array()) {
    out.malformed.push_back(*list);
    return out;
  }
  std::set<std::string> labels;
  for (const Json& entry : *list) {
    std::optional<LabelledPoint> point = parsePoint(entry, triangle_count);
    if (point && labels.insert(point->label).second)
      out.points.push_back(*std::move(point));
    else
      out.malformed.push_back(entry);
  }
  return out;
}

void readPoints(const ReadContext& context, Import& import) {
  std::vector<LabelledPoint>& points = import.character.points;
  std::set<std::string> labels;
  std::set<std::size_t> meshes;
  for (std::size_t i = 0; i < import.instances.size(); ++i) {
    const ImportedInstance& imported = import.instances[i];
    const bool shown_before = !meshes.insert(imported.mesh).second;
    if (shown_before) continue;
    const MeshPlan& plan = *import.plans[imported.mesh];
    const Json& primitives = context.root()["meshes"][imported.mesh]["primitives"];
    const JsonPath root;
    const JsonPath mesh(root, "meshes", imported.mesh);
    for (std::size_t p = 0; p < plan.primitives.size(); ++p) {
      const PrimitivePlan& primitive = plan.primitives[p];
      const JsonPath at(mesh, "primitives", primitive.index);
      const Json& json = primitives[primitive.index];
      const Json* extras = findMember(json, "extras");
      const std::size_t entries = extras != nullptr ? arraySize(*extras, kPointsKey) : 0;
      if (!context.budget.take(entries * 4 * sizeof(LabelledPoint))) {
        context.warn("points-not-read", at, "too many points for a file of this size");
        continue;
      }
      PrimitivePoints read = pointsOfPrimitive(json, primitive.triangle_count);
      for (std::size_t k = 0; k < read.malformed.size(); ++k)
        context.warn("bad-point", at, "a labelled point is malformed; left out");
      const MeshPart& part = import.character.parts[import.character.instances[i].first_part + p];
      for (LabelledPoint& point : read.points) {
        if (!labels.insert(point.label).second) {
          context.warn("bad-point", at, "a label is used twice; the first point counts");
          continue;
        }
        point.point.triangle += part.first_triangle;
        if (imported.to_model.mirrors()) turnOver(point.point);
        points.push_back(std::move(point));
      }
    }
  }
}

bool writePoints(const Character& character, std::size_t part, std::size_t source_triangles,
                 bool mirrored, Json& primitive) {
  PrimitivePoints then = pointsOfPrimitive(primitive, source_triangles);
  if (character.points.empty() && then.points.empty()) return false;
  const MeshPart& run = character.parts[part];
  std::vector<LabelledPoint> now;
  std::set<std::string_view> earlier;
  for (const LabelledPoint& point : character.points) {
    const std::uint32_t triangle = point.point.triangle;
    if (triangle < run.first_triangle) {
      earlier.insert(point.label);
    } else if (triangle - run.first_triangle < run.triangle_count) {
      now.push_back(point);
      now.back().point.triangle -= run.first_triangle;
      if (mirrored) turnOver(now.back().point);
    }
  }
  // A reader passes over labels it has met: they need not be written again, nor taken out.
  std::erase_if(then.points,
                [&](const LabelledPoint& point) { return earlier.contains(point.label); });
  if (sortedByLabel(now) == sortedByLabel(then.points)) return false;
  Json list = Json::array();
  for (const LabelledPoint& point : now) {
    const Vec3f& share = point.point.barycentric;
    list.push_back({{"label", point.label},
                    {"triangle", point.point.triangle},
                    {"weights", {share[0], share[1], share[2]}}});
  }
  list.insert(list.end(), then.malformed.begin(), then.malformed.end());
  Json& extras = objectMember(primitive, "extras");
  if (list.empty())
    extras.erase(kPointsKey);
  else
    extras[kPointsKey] = std::move(list);
  if (extras.empty()) primitive.erase("extras");
  return true;
}

}  // namespace derm::detail::gltf
