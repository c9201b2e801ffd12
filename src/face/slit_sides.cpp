#include "face/slit_sides.h"

#include <cmath>

namespace derm::detail {
namespace {

constexpr std::array<std::string_view, 3> kUpperLip = {"8.5", "8.1", "8.6"};
constexpr std::array<std::string_view, 3> kLowerLip = {"8.7", "8.2", "8.8"};
constexpr std::array<std::string_view, 1> kUpperLeft = {"3.1"}, kLowerLeft = {"3.3"};
constexpr std::array<std::string_view, 1> kUpperRight = {"3.2"}, kLowerRight = {"3.4"};

std::vector<std::uint32_t> chain(const HeadSurface& head, const FacePoints& points,
                                 const SlitPoints& slit, std::span<const std::string_view> between,
                                 const std::vector<bool>& face) {
  std::vector<std::uint32_t> stops = {head.nearestVertex(points.at(slit.corners[0]), face)};
  for (const std::string_view number : between)
    stops.push_back(head.nearestVertex(points.at(number), face));
  stops.push_back(head.nearestVertex(points.at(slit.corners[1]), face));
  std::vector<std::uint32_t> out = {stops.front()};
  for (std::size_t i = 0; i + 1 < stops.size(); ++i) {
    const std::vector<std::uint32_t> part = head.path(stops[i], stops[i + 1]);
    if (part.empty()) return {};
    out.insert(out.end(), part.begin() + 1, part.end());
  }
  return out;
}

/// Without the corners, which belong to both sides.
std::vector<GeodesicSeed> seedsOf(std::span<const std::uint32_t> contour) {
  std::vector<GeodesicSeed> out;
  for (std::size_t i = 1; i + 1 < contour.size(); ++i) out.push_back({contour[i], 0});
  return out;
}

}  // namespace

SlitPoints mouthPoints() { return {{"8.3", "8.4"}, kUpperLip, kLowerLip}; }

SlitPoints eyePoints(FaceSide side) {
  return side == FaceSide::Right ? SlitPoints{{"3.12", "3.8"}, kUpperRight, kLowerRight}
                                 : SlitPoints{{"3.7", "3.11"}, kUpperLeft, kLowerLeft};
}

SlitContours contoursThrough(const HeadSurface& head, const FacePoints& points,
                             const SlitPoints& slit, const std::vector<bool>& face) {
  return {chain(head, points, slit, slit.upper, face), chain(head, points, slit, slit.lower, face)};
}

std::vector<double> slitSides(const GeodesicSurface& ways, const SlitContours& contours) {
  std::vector<double> out(ways.vertexCount(), 0.0);
  const std::vector<GeodesicSeed> upper = seedsOf(contours.upper), lower = seedsOf(contours.lower);
  if (upper.empty() || lower.empty()) return out;
  const std::vector<double> to_upper = ways.distances(upper), to_lower = ways.distances(lower);
  for (std::size_t v = 0; v < out.size(); ++v) {
    const double sum = to_upper[v] + to_lower[v];
    if (std::isfinite(sum) && sum > 0) out[v] = (to_lower[v] - to_upper[v]) / sum;
  }
  return out;
}

}  // namespace derm::detail
