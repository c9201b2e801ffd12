#pragma once

#include <array>
#include <string_view>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/cast/cast.h"
#include "derm/cast/heads.h"
#include "derm/character/character.h"
#include "derm/face/face_points.h"
#include "derm/face/face_rig.h"
#include "derm/image/rgba8_image.h"

#include "repro/measuring.h"

/// The heads that exhibits of faces are about.
namespace derm::detail::repro {

inline constexpr std::array<std::string_view, 6> kSixExpressions = {
    "joy", "sadness", "disgust", "surprise", "fear", "anger"};

/// A, B and C, whose every point is known.
inline std::array<SyntheticHeadDesc, 3> formulaHeads() {
  return {syntheticHeadA(), syntheticHeadB(), syntheticHeadC()};
}

/// A head of the cast with its rig, and what moves it.
struct RiggedHead {
  Character character;
  FaceRig rig;
  FacePoints points;
};

Result<RiggedHead> riggedHead(std::string_view name, const PictureEncoder& encode,
                              Diagnostics& notes);

/// A head as it is.
Result<Rgba8Image> headPicture(const Character& head, const Shot& shot, Diagnostics& notes);

}  // namespace derm::detail::repro
