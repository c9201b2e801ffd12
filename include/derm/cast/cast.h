#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/image/rgba8_image.h"

namespace derm {

/// The characters derm ships with, made by code: closed, weighted, with clips; and closed shapes
/// without joints, for morphing. They mirror the test objects of the papers behind derm
/// (docs/index.md). Building one takes well under a second or two and always gives the same bytes.
struct CastMember {
  std::string_view name;
  std::string_view description;  ///< one line for `derm cast --list`
};

std::span<const CastMember> castMembers();

/// Turns a picture into the bytes of a PNG file, as io's encodePng does: cast paints, but knows no
/// file formats. No bytes = this build cannot.
using PictureEncoder = std::function<std::vector<std::uint8_t>(const Rgba8Image&)>;

/// The member of that name; otherwise an error that lists the nearest names. Textures need
/// `encode`; without it members that are painted have vertex colours instead, and are made faster.
Result<Character> makeCastMember(std::string_view name, const PictureEncoder& encode = {});

}  // namespace derm
