#pragma once

#include <span>
#include <string_view>

#include "derm/base/result.h"
#include "derm/character/character.h"

namespace derm {

/// The characters derm ships with, made by code: closed, weighted, with clips; and closed shapes
/// without joints, for morphing. They mirror the test objects of the papers behind derm
/// (docs/index.md). Building one takes well under a second or two and always gives the same bytes.
struct CastMember {
  std::string_view name;
  std::string_view description;  ///< one line for `derm cast --list`
};

std::span<const CastMember> castMembers();

/// The member of that name; otherwise an error that lists the nearest names.
Result<Character> makeCastMember(std::string_view name);

}  // namespace derm
