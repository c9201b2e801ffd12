#include "derm/face/profile_landmarks.h"

#include <string>

#include "face/depth_map.h"
#include "face/depth_matches.h"
#include "face/profile_alignment.h"

namespace derm {
namespace {

/// What the alignment's lengths are made for.
constexpr int kMapSize = 512;

struct Picture {
  detail::DepthMap depth;
  detail::BendChannels bends;
};

Result<Picture> pictureOf(const TriMesh& head) {
  DERM_TRY(detail::DepthMap depth, detail::drawDepth(head, kMapSize));
  detail::BendChannels bends(depth);
  return Picture{std::move(depth), std::move(bends)};
}

detail::PixelMap align(const Picture& from, const Picture& to) {
  return detail::alignProfiles(from.depth, from.bends, to.depth, to.bends);
}

}  // namespace

Result<ProfileMatches> matchByProfiles(const TriMesh& source,
                                       std::span<const LabelledPoint> source_points,
                                       const TriMesh& target,
                                       std::span<const TriMesh* const> between) {
  DERM_CHECK(detail::checkHeads(source, source_points, target));
  DERM_TRY(const Picture from, pictureOf(source));
  DERM_TRY(const Picture to, pictureOf(target));
  const auto residualOf = [&](const detail::PixelMap& map) {
    return detail::bendResidual(from.depth, from.bends, to.depth, to.bends, map);
  };
  ProfileMatches out;
  detail::PixelMap best = align(from, to);
  out.residual = residualOf(best);
  for (std::size_t i = 0; i < between.size(); ++i) {
    DERM_REQUIRE(between[i] != nullptr);
    DERM_CHECK(validate(*between[i], "between[" + std::to_string(i) + "]"));
    DERM_TRY(const Picture third, pictureOf(*between[i]));
    const detail::PixelMap map = chained(align(from, third), align(third, to));
    const double residual = residualOf(map);
    if (residual >= out.residual) continue;
    out.residual = residual;
    out.via = i;
    best = map;
  }
  out.landmarks = detail::matchesUnder(source, source_points, from.depth, target, to.depth,
                                       [&](const detail::Pixel& p) { return best(p); });
  return out;
}

}  // namespace derm
