// Per-target include: compiled once for each instruction set. What is done to vertices at rest,
// before joints carry them: stretches and twists.

#if defined(DERM_SKINNING_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DERM_SKINNING_LANES_INL_H_
#undef DERM_SKINNING_LANES_INL_H_
#else
#define DERM_SKINNING_LANES_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>

#include "derm/deform/twist_spread.h"

#include "deform/skinning_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace derm::detail {
namespace HWY_NAMESPACE {

/// Which directions a call computes besides positions, known at compile time.
template <bool kHasNormals, bool kHasTangents>
struct Directions {
  static constexpr bool kNormals = kHasNormals;
  static constexpr bool kTangents = kHasTangents;
};

/// A register's worth of a block's vertices; directions that are not computed stay unset.
struct Lanes {
  V3 position;
  V3 normal;
  V3 tangent;
  V tangent_w;
};

/// Blended stretch minus the identity, symmetric.
struct Stretch {
  V xx, yy, zz, xy, xz, yz;
};

HWY_INLINE V3 stretchPart(const Stretch& e, const V3& v) {
  return {hn::MulAdd(e.xx, v.x, hn::MulAdd(e.xy, v.y, hn::Mul(e.xz, v.z))),
          hn::MulAdd(e.xy, v.x, hn::MulAdd(e.yy, v.y, hn::Mul(e.yz, v.z))),
          hn::MulAdd(e.xz, v.x, hn::MulAdd(e.yz, v.y, hn::Mul(e.zz, v.z)))};
}

/// Sends the lanes through identity + e: positions about the centre, normals by the cofactors (the
/// inverse transpose but for the determinant's sign).
template <class Wanted>
HWY_INLINE void stretchLanes(const Stretch& e, const V3& centre, Lanes& lanes) {
  lanes.position = plus(lanes.position, stretchPart(e, minus(lanes.position, centre)));
  if constexpr (!Wanted::kNormals && !Wanted::kTangents) return;
  const V one = spread(1.0f);
  const V sx = hn::Add(one, e.xx), sy = hn::Add(one, e.yy), sz = hn::Add(one, e.zz);
  const Stretch cofactor = {
      hn::NegMulAdd(e.yz, e.yz, hn::Mul(sy, sz)),   hn::NegMulAdd(e.xz, e.xz, hn::Mul(sx, sz)),
      hn::NegMulAdd(e.xy, e.xy, hn::Mul(sx, sy)),   hn::NegMulAdd(e.xy, sz, hn::Mul(e.xz, e.yz)),
      hn::NegMulAdd(e.xz, sy, hn::Mul(e.xy, e.yz)), hn::NegMulAdd(e.yz, sx, hn::Mul(e.xy, e.xz))};
  const V determinant =
      hn::MulAdd(sx, cofactor.xx, hn::MulAdd(e.xy, cofactor.xy, hn::Mul(e.xz, cofactor.xz)));
  const V sign = hn::IfThenElse(hn::Lt(determinant, hn::Zero(D())), spread(-1.0f), one);
  if constexpr (Wanted::kNormals) lanes.normal = times(sign, stretchPart(cofactor, lanes.normal));
  if constexpr (Wanted::kTangents) {
    lanes.tangent = plus(lanes.tangent, stretchPart(e, lanes.tangent));
    lanes.tangent_w = hn::Mul(sign, lanes.tangent_w);
  }
}

/// A turn about a line, by another angle in each lane.
struct Twist {
  V3 origin;
  V3 half_axis;  ///< axis * sin(angle / 2)
  V half_cos;
};

HWY_INLINE Twist makeTwist(const TwistBone& bone, float angle, V share) {
  const D d;
  const V half = hn::Mul(spread(0.5f * angle), share);
  const Vec3f o = bone.origin.cast<float>(), a = bone.axis.cast<float>();
  const V sine = hn::Sin(d, half);
  return {{spread(o.x()), spread(o.y()), spread(o.z())},
          times(sine, {spread(a.x()), spread(a.y()), spread(a.z())}),
          hn::Cos(d, half)};
}

/// What the turn adds to a direction: exactly nothing where the angle is 0.
HWY_INLINE V3 twistPart(const Twist& t, const V3& v) {
  return times(spread(2.0f), cross(t.half_axis, crossPlus(t.half_axis, v, times(t.half_cos, v))));
}

template <class Wanted>
HWY_INLINE void twistLanes(const Twist& t, V3& centre, Lanes& lanes) {
  centre = plus(centre, twistPart(t, minus(centre, t.origin)));
  lanes.position = plus(lanes.position, twistPart(t, minus(lanes.position, t.origin)));
  if constexpr (Wanted::kNormals) lanes.normal = plus(lanes.normal, twistPart(t, lanes.normal));
  if constexpr (Wanted::kTangents) lanes.tangent = plus(lanes.tangent, twistPart(t, lanes.tangent));
}

}  // namespace HWY_NAMESPACE
}  // namespace derm::detail
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
