#include "capi/face_tools.h"

#include <array>
#include <cmath>

#include "derm/cast/cast.h"
#include "derm/face/control_point_search.h"
#include "derm/face/face_features.h"
#include "derm/face/face_regions.h"

namespace derm::detail::capi {
namespace {

Json pointJson(const LabelledPoint& point, double confidence) {
  const Vec3f& shares = point.point.barycentric;
  return {{"label", point.label},
          {"triangle", point.point.triangle},
          {"barycentric", {shares.x(), shares.y(), shares.z()}},
          {"confidence", confidence}};
}

/// Heads that stand as they should are surer and faster to find; others are turned any way.
template <class Search>
auto uprightFirst(const Search& search) {
  auto found = search(HeadPose::Upright);
  return found.ok() ? found : search(HeadPose::Unknown);
}

Result<Json> controlPointsOf(const TriMesh& head) {
  const std::array<ReferenceHead, 2> references = {
      ReferenceHead{"man", [] { return makeCastMember("man"); }},
      ReferenceHead{"woman", [] { return makeCastMember("woman"); }}};
  Diagnostics notes;
  DERM_TRY(const FoundControlPoints found, uprightFirst([&](HeadPose pose) {
             return findControlPoints(head, references, pose, notes);
           }));
  Json points = Json::array();
  for (const LabelledPoint& point : found.points)
    points.push_back(pointJson(point, found.confidence));
  return Json{
      {"source", found.reference}, {"residual", found.residual}, {"points", std::move(points)}};
}

}  // namespace

Json faceNamesJson() {
  Json points = Json::array(), regions = Json::array();
  for (const std::string_view number : controlPointNumbers()) {
    const FaceFeature* feature = findFaceFeature(number);
    points.push_back({{"label", number}, {"name", feature->name}, {"meaning", feature->meaning}});
  }
  for (const std::string_view region : faceRegionNames()) regions.push_back(region);
  return {{"points", std::move(points)}, {"regions", std::move(regions)}};
}

Result<std::vector<PlacedPoint>> parsePlacedPoints(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  const Error wrong{ErrorCode::BadArgument,
                    "points are a list of {\"label\", \"triangle\", \"barycentric\"}",
                    {}};
  if (!json.is_array()) return wrong;
  std::vector<PlacedPoint> out;
  for (const Json& each : json) {
    if (!each.is_object() || !each.contains("label") || !each["label"].is_string() ||
        !each.contains("triangle") || !each["triangle"].is_number())
      return wrong;
    PlacedPoint point{.label = each["label"].get<std::string>()};
    const double triangle = each["triangle"].get<double>();
    if (!(std::abs(triangle) < 2147483647.0) || triangle != std::floor(triangle)) return wrong;
    point.triangle = static_cast<int>(triangle);
    if (each.contains("barycentric")) {
      const Json& shares = each["barycentric"];
      if (!shares.is_array() || shares.size() != 3) return wrong;
      for (std::size_t i = 0; i < 3; ++i) {
        if (!shares[i].is_number()) return wrong;
        point.barycentric[static_cast<Eigen::Index>(i)] = shares[i].get<float>();
      }
    }
    out.push_back(std::move(point));
  }
  return out;
}

Result<Json> findPoints(const Session& session, std::string_view source) {
  const TriMesh& head = session.ownCharacter().mesh;
  if (source.empty()) return controlPointsOf(head);
  Diagnostics notes;
  DERM_TRY(const Character known, openCharacter(std::string(source), {}, {}, notes));
  if (known.points.empty())
    return Error{
        ErrorCode::BadData, "has no labelled points to find", {.file = std::string(source)}};
  DERM_TRY(const HeadRegistration found, uprightFirst([&](HeadPose pose) {
             RegistrationDesc desc;
             desc.pose = pose;
             desc.source_jaw = [&] { return jawOpening(known); };
             return registerHeads(known.mesh, known.points, head, desc, notes);
           }));
  Json points = Json::array();
  for (const LandmarkMatch& match : found.landmarks)
    points.push_back(pointJson({match.label, match.point}, static_cast<double>(match.confidence)));
  return Json{{"source", source}, {"residual", found.residual}, {"points", std::move(points)}};
}

}  // namespace derm::detail::capi
