#include "derm/anim/point_tracks.h"

#include "sampled_checks.h"

namespace derm {

using detail::badTracks;
using detail::checkCount;

Result<void> validate(const PointTracks& tracks, std::string_view name) {
  const std::size_t points = tracks.labels.size();
  const std::size_t frames = tracks.frames();
  if (points == 0) return badTracks("no points", name, "labels");
  DERM_CHECK(detail::checkNamesDiffer(tracks.labels, name, "labels"));
  DERM_CHECK(detail::checkTimes(tracks.times_s, name));
  DERM_CHECK(checkCount(tracks.neutral.size(), points, name, "neutral"));
  DERM_CHECK(checkCount(tracks.positions.size(), points * frames, name, "positions"));
  if (!tracks.confidence.empty())
    DERM_CHECK(checkCount(tracks.confidence.size(), points * frames, name, "confidence"));
  if (!tracks.head.empty()) DERM_CHECK(checkCount(tracks.head.size(), frames, name, "head"));

  const auto checkPoint = [&](const Vec3d& point, std::string_view element,
                              std::size_t index) -> Result<void> {
    const std::string& label = tracks.labels[index % points];
    if (!point.allFinite())
      return badTracks("\"" + label + "\" is not at a finite place", name, std::string(element),
                       index / points);
    if (tracks.space == TrackSpace::Picture && point.z() != 0)
      return badTracks("\"" + label + "\" has a depth, but pictures have none", name,
                       std::string(element), index / points);
    return {};
  };
  for (std::size_t i = 0; i < points; ++i) DERM_CHECK(checkPoint(tracks.neutral[i], "neutral", i));
  for (std::size_t i = 0; i < tracks.positions.size(); ++i)
    DERM_CHECK(checkPoint(tracks.positions[i], "frames", i));
  for (std::size_t i = 0; i < tracks.confidence.size(); ++i)
    if (!(tracks.confidence[i] >= 0 && tracks.confidence[i] <= 1))
      return badTracks("confidence of \"" + tracks.labels[i % points] + "\" is not in [0, 1]", name,
                       "frames", i / points);
  for (std::size_t i = 0; i < tracks.head.size(); ++i)
    if (!tracks.head[i].matrix().matrix().allFinite() ||
        std::abs(tracks.head[i].rotation.norm() - 1) > 1e-2f)
      return badTracks("the head's motion is not a finite one", name, "frames", i);
  return {};
}

}  // namespace derm
