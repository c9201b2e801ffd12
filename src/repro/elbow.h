#pragma once

#include <array>
#include <string>
#include <string_view>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/image/rgba8_image.h"

#include "repro/measuring.h"
#include "repro/tube.h"

/// The volume report's bent cylinder as recipes and pictures.
namespace derm::detail::repro {

inline constexpr std::array<double, 5> kAngles = {10, 30, 50, 70, 90};
std::string degrees(double angle);

inline constexpr std::string_view kCylinderSetup =
    "derm render cast:cylinder --clip bend --time 3 --look-at j1 --yaw 45 --pitch 82 --wireframe "
    "-o bent.png";

/// (1 − w) of joint 0 by the αth power of distances to both ends, as the cylinder's tables have it.
TubeWeights powerWeights(double alpha);

/// A tube of the report's, posed by its own clip.
Result<Rgba8Image> tubePicture(const TubeWeights& weights, const Shot& shot, Diagnostics& notes);
/// Its elbow, bent by 90°, as a wireframe.
Shot elbowShot();

std::string bareCylinder(std::string_view method);
/// The bent cylinder with a volume layer of the report's.
std::string heldCylinder(std::string_view method, std::string_view keys);

}  // namespace derm::detail::repro
