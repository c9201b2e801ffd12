#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/mesh/named_position.h"

namespace derm {

/// Reads control points from memory:
///
///     {"points": {"8.1": {"position": [0, 4.2, 9.1]}, "nose_tip": {"vertex": 1024}}}
///
/// The outer key may be left out. Labels are any words (what they mean is not asked here), in the
/// order of their bytes. Other keys of a point are for other programs. Errors name the label and
/// what is wrong: no position and no vertex, or both; not three finite numbers; no whole number.
/// Of a label given twice the last counts, with a note. At most 65,536 points.
Result<std::vector<NamedPosition>> parsePointFile(std::span<const std::uint8_t> bytes,
                                                  std::string_view name, Diagnostics& notes);
Result<std::vector<NamedPosition>> loadPointFile(const std::filesystem::path& file,
                                                 Diagnostics& notes);

/// Points of a picture [px] instead, z = 0: positions are two numbers, and may stand for the point
/// itself ({"8.1": [312.5, 240]}); there are no vertices.
Result<std::vector<NamedPosition>> parsePicturePointFile(std::span<const std::uint8_t> bytes,
                                                         std::string_view name, Diagnostics& notes);
Result<std::vector<NamedPosition>> loadPicturePointFile(const std::filesystem::path& file,
                                                        Diagnostics& notes);
/// As text, a point per line.
std::string picturePointFileText(std::span<const NamedPosition> points);

/// Points of a head as text, a point per line; numbers read back as the same bits. Requires finite
/// positions, and labels that are unique and UTF-8.
std::string pointFileText(std::span<const NamedPosition> points);
Result<void> savePointFile(const std::filesystem::path& file,
                           std::span<const NamedPosition> points);

}  // namespace derm
