#pragma once

#include <span>
#include <string>
#include <utility>

#include "derm/base/result.h"
#include "derm/face/head_registration.h"
#include "derm/math/vec.h"

namespace derm {

/// As faceFrame() of a head with labelled points (head_registration.h), by labels and positions
/// [m].
Result<FaceFrame> faceFrame(std::span<const std::pair<std::string, Vec3d>> points);

}  // namespace derm
