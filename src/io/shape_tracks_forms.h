#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "derm/anim/shape_tracks.h"
#include "derm/base/diagnostics.h"
#include "derm/base/result.h"

namespace derm::detail {

/// More columns or shapes than any face has are a mistake, and would cost memory by the frame.
inline constexpr std::size_t kMaxShapes = 4096;

Result<ShapeTracks> parseShapeCsv(std::string_view text, std::string_view name, Diagnostics& notes);
Result<ShapeTracks> parseShapeJson(std::span<const std::uint8_t> bytes, std::string_view name,
                                   Diagnostics& notes);

/// A head turned by angles as Live Link Face writes them [rad]; see io/shape_tracks_file.h.
Quatd headTurn(double yaw, double pitch, double roll);
struct HeadAngles {
  double yaw = 0, pitch = 0, roll = 0;  ///< [rad]
};
HeadAngles headAngles(const Quatd& turn);

/// Where in a table the times of its frames stand; nothing for JSON.
struct TimeColumn {
  std::string name;
  std::vector<std::uint64_t> starts;  ///< 1-based, of every frame's cell in its line
};

/// Leaves out frames at the same time as the one before, puts the first at 0, notes gaps and values
/// outside [0,1], drops a head that never turns, and validates. Errors: times that go back, or more
/// than a day after the first. Requires as many rows of values (and of heads, lines and starts of
/// times, if any) as there are times.
Result<ShapeTracks> settledTracks(ShapeTracks tracks, const TimeColumn& column,
                                  std::string_view name, Diagnostics& notes);

}  // namespace derm::detail
