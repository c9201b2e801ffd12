#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "derm/base/result.h"

namespace derm {

/// Pairs of names, source first: what RetargetDesc::names takes.
using NamePairs = std::vector<std::pair<std::string, std::string>>;

/// Reads a table of joint names, one pair per line:
///
///     # BVH              = character
///     LeftHandIndex1     = LeftHandFinger1
///     Hips pelvis
///
/// "source = target" (names may hold blanks) or "source target" (they may not). Empty lines and
/// what follows a '#' at the start of a line or after a blank are skipped. A line without two
/// names, and a source or a target that was given before, is an error that names the line.
Result<NamePairs> parseNameTable(std::string_view text, std::string_view name);
Result<NamePairs> loadNameTable(const std::filesystem::path& file);

}  // namespace derm
