#pragma once

#include <filesystem>
#include <string_view>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/character/character.h"

namespace derm {

/// Adds the first motion of another file (BVH, or a character with a clip; "cast:NAME" too) as the
/// character's last clip, carried over by joint names (anim/retarget.h). `map` is a file of joint
/// names (io/name_table.h); empty = found by themselves. Relative paths start at `folder`.
/// An opening T-pose of a recording is taken as its reference and not played; notes say so.
Result<void> addMotion(std::string_view source, std::string_view map,
                       const std::filesystem::path& folder, Character& character,
                       Diagnostics& notes);

}  // namespace derm
