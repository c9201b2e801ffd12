#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "derm/anim/point_tracks.h"
#include "derm/base/diagnostics.h"
#include "derm/base/result.h"

namespace derm {

/// Reads points over time from a table:
///
///     time,8.1.x,8.1.y,8.1.z,8.1.confidence,head.x,head.y,head.z,head.qx,head.qy,head.qz,head.qw
///     neutral,0,0.042,0.091,,,,,,,,
///     0,0,0.042,0.091,1,0,0,0,0,0,0,1
///
/// Columns may come in any order after `time`. A table without any .z is of a picture (pixels), one
/// with is in metres, +y up. The row `neutral`, if there is one, is the first and says where points
/// are at rest; without, that is the first frame. A point without confidence has 1. One whose
/// coordinates are left empty was not seen: it has confidence 0 and stays where it was. `head` is
/// the head's motion, all seven columns or none.
///
/// Errors name line, column and what the column is called: a separator that is no comma, columns
/// that are missing or twice there, rows of another length, what is no finite number (or beyond
/// 1e30), times that do not increase.
Result<PointTracks> parsePointTracksCsv(std::string_view text, std::string_view name);

/// The same as JSON; "neutral", "confidence" and "head" (x, y, z, qx, qy, qz, qw) may be left out:
///
///     {"space": "model", "labels": ["8.1"], "neutral": [[0, 0.042, 0.091]], "frames": [
///       {"time": 0, "positions": [[0, 0.042, 0.091]], "confidence": [1], "head":
///       [0,0,0,0,0,0,1]}]}
///
/// "space" is "model" or "picture"; points of a picture are [x, y]. Errors name the frame.
Result<PointTracks> parsePointTracksJson(std::span<const std::uint8_t> bytes, std::string_view name,
                                         Diagnostics& notes);

/// By the file's ending: .csv or .json.
Result<PointTracks> loadPointTracks(const std::filesystem::path& file, Diagnostics& notes);

/// What parsePointTracksCsv() reads back as the same bits. Requires valid tracks. Fails on labels
/// that a table cannot hold: "head", empty ones, commas, quotes, blanks around, control characters.
Result<std::string> pointTracksCsv(const PointTracks& tracks);
/// What parsePointTracksJson() reads back as the same bits. Requires valid tracks, labels in UTF-8.
std::string pointTracksJson(const PointTracks& tracks);

/// By the file's ending: .csv or .json; whole or not at all. Requires valid tracks.
Result<void> savePointTracks(const std::filesystem::path& file, const PointTracks& tracks);

}  // namespace derm
