#include "deform/skinning_palette.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "derm/math/polar.h"

namespace derm::detail {
namespace {

/// Largest |stretch - 1| that counts as none, and the same for "stretches alike in all directions".
constexpr float kNoStretch = 5e-6f;
constexpr float kUniform = 1e-5f;

/// Cofactor matrix: the inverse transpose times the determinant, defined for singular maps too.
Mat3d cofactor(const Mat3d& m) {
  const Vec3d x = m.col(0), y = m.col(1), z = m.col(2);
  Mat3d out;
  out.col(0) = y.cross(z);
  out.col(1) = z.cross(x);
  out.col(2) = x.cross(y);
  return out;
}

/// Direction of the inverse transpose, scaled to the map's own size so that it blends with others.
Mat3d normalMatrix(const Mat3d& linear) {
  const Mat3d cof = cofactor(linear);
  const double size = linear.norm();
  const double cof_size = cof.norm();
  // A map onto a line has no normals; it then leaves them to the other influences.
  if (!(cof_size > 1e-12 * size * size)) return Mat3d::Zero();
  const double determinant = linear.col(0).dot(cof.col(0));
  return cof * ((determinant < 0 ? -size : size) / cof_size);
}

/// Rotation of a (nearly) orthonormal matrix: x, y, z, w, of unit length.
struct Rotation {
  double x = 0, y = 0, z = 0, w = 1;
};

/// Shepperd's method: starts from the largest component, so that nothing cancels. Written out, as
/// this is done for every joint in every frame.
Rotation rotationOf(const Mat3d& m) {
  const double trace = m(0, 0) + m(1, 1) + m(2, 2);
  Rotation q;
  if (trace > 0) {
    q = {m(2, 1) - m(1, 2), m(0, 2) - m(2, 0), m(1, 0) - m(0, 1), 1 + trace};
  } else if (m(0, 0) >= m(1, 1) && m(0, 0) >= m(2, 2)) {
    q = {1 + m(0, 0) - m(1, 1) - m(2, 2), m(1, 0) + m(0, 1), m(0, 2) + m(2, 0), m(2, 1) - m(1, 2)};
  } else if (m(1, 1) >= m(2, 2)) {
    q = {m(1, 0) + m(0, 1), 1 + m(1, 1) - m(0, 0) - m(2, 2), m(2, 1) + m(1, 2), m(0, 2) - m(2, 0)};
  } else {
    q = {m(0, 2) + m(2, 0), m(2, 1) + m(1, 2), 1 + m(2, 2) - m(0, 0) - m(1, 1), m(1, 0) - m(0, 1)};
  }
  const double inverse = 1 / std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
  return {q.x * inverse, q.y * inverse, q.z * inverse, q.w * inverse};
}

Vec3d rotated(const Rotation& q, const Vec3d& v) {
  const Vec3d axis(q.x, q.y, q.z);
  const Vec3d half = axis.cross(v) + q.w * v;
  return v + 2 * axis.cross(half);
}

void store(const Mat3d& m, float* to) {
  for (int i = 0; i < 9; ++i) to[i] = static_cast<float>(m.data()[i]);
}

/// Real part q, dual part 1/2 t q.
void storeDualQuat(const Rotation& q, const Vec3d& t, float* to) {
  const double values[8] = {q.x,
                            q.y,
                            q.z,
                            q.w,
                            0.5 * (t.x() * q.w + t.y() * q.z - t.z() * q.y),
                            0.5 * (t.y() * q.w + t.z() * q.x - t.x() * q.z),
                            0.5 * (t.z() * q.w + t.x() * q.y - t.y() * q.x),
                            -0.5 * (t.x() * q.x + t.y() * q.y + t.z() * q.z)};
  for (int i = 0; i < 8; ++i) to[i] = static_cast<float>(values[i]);
}

/// E and D of SkinningPalette::stretches. A rotation q after a stretch about c instead of about the
/// origin moves by q (E c) q*, hence adds 1/2 q (E c) to the dual part.
void storeStretch(const Rotation& q, const Mat3d& e, float* to) {
  const double symmetric[6] = {e(0, 0), e(1, 1), e(2, 2), e(0, 1), e(0, 2), e(1, 2)};
  for (int i = 0; i < 6; ++i) to[i] = static_cast<float>(symmetric[i]);
  const Quatd rotation(q.w, q.x, q.y, q.z);
  for (int c = 0; c < 3; ++c) {
    const Quatd moved = rotation * Quatd(0, e(0, c), e(1, c), e(2, c));
    for (int r = 0; r < 4; ++r) to[6 + 4 * c + r] = static_cast<float>(0.5 * moved.coeffs()[r]);
  }
}

/// Like Eigen's allFinite(), but on the bits, which compilers turn into a few vector instructions.
bool allFinite(const float* values) {
  constexpr std::uint32_t kExponent = 0x7F800000u;
  std::uint32_t bits[kMatrixStride];
  std::memcpy(bits, values, sizeof bits);
  bool finite = true;
  for (const std::uint32_t b : bits) finite &= (b & kExponent) != kExponent;
  return finite;
}

/// How far a map is from a rotation times a uniform scale, and that scale. In float: it only has to
/// tell 1e-5 from 1e-6.
struct Shape {
  float scale = 1;
  float unevenness = 0;
};

Shape shapeOf(const float* m) {
  const auto dot = [m](int a, int b) {
    return m[a] * m[b] + m[a + 1] * m[b + 1] + m[a + 2] * m[b + 2];
  };
  const float xx = dot(0, 0), yy = dot(3, 3), zz = dot(6, 6);
  const float mean = (xx + yy + zz) * (1.0f / 3.0f);
  const float off = std::max(std::max(std::abs(dot(0, 3)), std::abs(dot(0, 6))),
                             std::max(std::abs(dot(3, 6)), std::abs(xx - mean)));
  const float max_error = std::max(off, std::max(std::abs(yy - mean), std::abs(zz - mean)));
  return {std::sqrt(mean), mean > 0 ? max_error / mean : 0.0f};
}

}  // namespace

SkinningPalette::SkinningPalette(std::size_t slots, bool dual_quaternions, std::size_t twist_bones)
    : matrices(slots * kMatrixStride),
      normal_matrices(slots * kNormalStride),
      flags(slots),
      twists(twist_bones),
      untwisted_(twist_bones > 0 ? slots : 0),
      removed_(untwisted_.size()) {
  if (dual_quaternions) {
    dual_quats.resize(slots * kDualQuatStride);
    stretches.resize(slots * kStretchStride);
  }
}

std::span<const Affine3f> SkinningPalette::takeTwists(std::span<const Affine3f> frame,
                                                      std::span<const TwistBone> bones) noexcept {
  if (bones.empty()) return frame;
  std::copy(frame.begin(), frame.end(), untwisted_.begin());
  for (std::size_t b = 0; b < bones.size(); ++b)
    twists[b] = static_cast<float>(takeTwist(bones[b], std::span(untwisted_), removed_));
  return untwisted_;
}

void SkinningPalette::prepare(std::span<const Affine3f> frame, std::span<const Vec3d> centres,
                              std::span<const SlotLink> links) noexcept {
  static const Affine3f identity = Affine3f::Identity();
  for (std::size_t s = 0; s < frame.size(); ++s) {
    const Affine3f& matrix = allFinite(frame[s].data()) ? frame[s] : identity;
    // + 0 makes -0 into 0: kernels that skip the blend of one matrix then give the same bits.
    float* const own = matrices.data() + s * kMatrixStride;
    for (std::size_t i = 0; i < kMatrixStride; ++i) own[i] = matrix.data()[i] + 0.0f;
    const Shape shape = shapeOf(matrix.data());
    flags[s] = 0;
    float* const normals = normal_matrices.data() + s * kNormalStride;
    if (shape.unevenness > kUniform) {
      flags[s] |= kOwnNormals;
      store(normalMatrix(matrix.linear().cast<double>()), normals);
    } else {
      std::copy_n(matrix.data(), kNormalStride, normals);
    }
    if (!dual_quats.empty())
      prepareDualQuat(s, matrix, std::abs(shape.scale - 1) + shape.unevenness > kNoStretch,
                      centres[s]);
  }
  for (const SlotLink& link : links) {
    const float* const q = dual_quats.data() + link.slot * kDualQuatStride;
    const float* const above = dual_quats.data() + link.parent * kDualQuatStride;
    // The real part of the rotation against the joint above, since both begin at the bind pose.
    if (q[0] * above[0] + q[1] * above[1] + q[2] * above[2] + q[3] * above[3] < 0) turn(link.slot);
  }
}

void SkinningPalette::turn(std::size_t slot) noexcept {
  float* const q = dual_quats.data() + slot * kDualQuatStride;
  for (std::size_t i = 0; i < kDualQuatStride; ++i) q[i] = -q[i];
  if (!(flags[slot] & kStretched)) return;
  float* const moved = stretches.data() + slot * kStretchStride + 6;
  for (int i = 0; i < 12; ++i) moved[i] = -moved[i];
}

void SkinningPalette::prepareDualQuat(std::size_t slot, const Affine3f& matrix, bool stretched,
                                      const Vec3d& centre) noexcept {
  const Mat3d linear = matrix.linear().cast<double>();
  Vec3d translation = matrix.translation().cast<double>();
  stretched |= Vec3d(linear.col(0)).dot(Vec3d(linear.col(1)).cross(Vec3d(linear.col(2)))) < 0;
  Polar polar;
  if (stretched)
    polar = polarDecomposition(linear);
  else
    polar.rotation = linear;
  const Rotation q = rotationOf(polar.rotation);
  if (stretched) {
    flags[slot] |= kStretched;
    storeStretch(q, polar.stretch - Mat3d::Identity(), stretches.data() + slot * kStretchStride);
  } else {
    // The joint itself is carried exactly; what noise there is grows from there.
    translation += linear * centre - rotated(q, centre);
  }
  storeDualQuat(q, translation, dual_quats.data() + slot * kDualQuatStride);
}

}  // namespace derm::detail
