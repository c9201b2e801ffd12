#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>

/// Eigen is derm's vocabulary for small vectors. All aliases are unaligned (DontAlign): their size
/// and layout then do not depend on the compiler flags of the program that uses the library, and
/// arrays of them can be handed to files and GPUs as they are.
namespace derm {

using Vec2f = Eigen::Matrix<float, 2, 1, Eigen::DontAlign>;
using Vec3f = Eigen::Matrix<float, 3, 1, Eigen::DontAlign>;
using Vec4f = Eigen::Matrix<float, 4, 1, Eigen::DontAlign>;
using Vec3d = Eigen::Matrix<double, 3, 1, Eigen::DontAlign>;
using Mat3f = Eigen::Matrix<float, 3, 3, Eigen::DontAlign>;
using Mat3d = Eigen::Matrix<double, 3, 3, Eigen::DontAlign>;
using Mat4f = Eigen::Matrix<float, 4, 4, Eigen::DontAlign>;
using Mat4d = Eigen::Matrix<double, 4, 4, Eigen::DontAlign>;
/// Stored x, y, z, w (glTF's order); the constructor from four numbers takes w first (Eigen's).
using Quatf = Eigen::Quaternion<float, Eigen::DontAlign>;
using Quatd = Eigen::Quaternion<double, Eigen::DontAlign>;
/// 3x4, column-major, 12 floats: columns are the images of x, y, z and the translation.
using Affine3f = Eigen::Transform<float, 3, Eigen::AffineCompact, Eigen::DontAlign>;
using Affine3d = Eigen::Transform<double, 3, Eigen::AffineCompact, Eigen::DontAlign>;

static_assert(sizeof(Vec3f) == 12 && sizeof(Vec4f) == 16 && sizeof(Quatf) == 16);
static_assert(sizeof(Affine3f) == 48);

}  // namespace derm
