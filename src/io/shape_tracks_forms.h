#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

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

/// Leaves out frames that do not come later than the one before, puts the first at 0, notes gaps
/// and values outside [0,1], drops a head that never turns, and validates. Requires as many rows of
/// values (and of heads, if any) as there are times.
Result<ShapeTracks> settledTracks(ShapeTracks tracks, std::string_view name, Diagnostics& notes);

}  // namespace derm::detail
