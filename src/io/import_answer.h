#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/character/character.h"

namespace derm::detail {

/// What `derm-import` hands back, as bytes: a character or an error, and the notes. Both ends are
/// of one build, so numbers are as memory has them. A character goes without what no file that
/// assimp reads has: labelled points, controls, vertex groups, a source document.
std::vector<std::uint8_t> encodeAnswer(const Result<Character>& character,
                                       const Diagnostics& notes);

/// The way back. The bytes are not believed: assimp may have gone wrong in any way before they were
/// written. An error, with `name` in it, where they are no answer or the character is not valid.
/// Memory: about twice the bytes. No note is repeated more than `max_notes` times.
Result<Character> decodeAnswer(std::span<const std::uint8_t> bytes, std::string_view name,
                               std::uint64_t max_notes, Diagnostics& notes);

}  // namespace derm::detail
