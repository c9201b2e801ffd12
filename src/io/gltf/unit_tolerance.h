#pragma once

namespace derm::detail::gltf {

/// How far the squared length of a normal or tangent may be from 1, read or written.
inline constexpr float kUnitVectorTolerance = 1e-3f;
/// The same of a rotation's length: just inside what validate(Skeleton) allows.
inline constexpr double kUnitRotationTolerance = 9e-4;

}  // namespace derm::detail::gltf
