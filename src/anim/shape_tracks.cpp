#include "derm/anim/shape_tracks.h"

#include "sampled_checks.h"

namespace derm {

using detail::badTracks;
using detail::checkCount;

Result<void> validate(const ShapeTracks& tracks, std::string_view name) {
  const std::size_t shapes = tracks.names.size();
  if (shapes == 0) return badTracks("no shapes", name, "names");
  DERM_CHECK(detail::checkNamesDiffer(tracks.names, name, "names"));
  DERM_CHECK(detail::checkTimes(tracks.times_s, name));
  DERM_CHECK(checkCount(tracks.values.size(), shapes * tracks.frames(), name, "values"));
  if (!tracks.head.empty())
    DERM_CHECK(checkCount(tracks.head.size(), tracks.frames(), name, "head"));
  for (std::size_t i = 0; i < tracks.values.size(); ++i)
    if (!std::isfinite(tracks.values[i]))
      return badTracks("\"" + tracks.names[i % shapes] + "\" is not a finite number", name,
                       "frames", i / shapes);
  for (std::size_t i = 0; i < tracks.head.size(); ++i)
    if (!(std::abs(tracks.head[i].norm() - 1) <= 1e-2))
      return badTracks("the head's turn is not a rotation", name, "frames", i);
  return {};
}

}  // namespace derm
