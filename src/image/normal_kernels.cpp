#include "image/normal_kernels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

// Vectors are kept in structs below, which types without a size known at compile time do not allow.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/normal_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, as Highway wants it.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace derm::detail {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;
using DU = hn::RebindToUnsigned<D>;
using DI = hn::RebindToSigned<D>;
using V = hn::Vec<D>;
using VU = hn::Vec<DU>;
constexpr D d;
constexpr DU du;
constexpr DI di;
constexpr std::size_t kLanes = hn::MaxLanes(D());

static_assert(sizeof(Rgba8) == 4 && std::endian::native == std::endian::little);

struct Normals {
  V x, y, z;
};

HWY_INLINE V set(float v) { return hn::Set(d, v); }

HWY_INLINE Normals normalised(const Normals& n) {
  const V squared = hn::Add(hn::Add(hn::Mul(n.x, n.x), hn::Mul(n.y, n.y)), hn::Mul(n.z, n.z));
  const V inverse = hn::Div(set(1), hn::Sqrt(hn::Max(squared, set(1e-20f))));
  return {hn::Mul(n.x, inverse), hn::Mul(n.y, inverse), hn::Mul(n.z, inverse)};
}

HWY_INLINE VU byteOf(VU pixels, int shift) {
  return hn::And(hn::ShiftRightSame(pixels, shift), hn::Set(du, 255u));
}

/// x or y of bytes; with the two middle values both 0.
HWY_INLINE V side(VU bytes) {
  const V value =
      hn::Sub(hn::Mul(hn::ConvertTo(d, hn::BitCast(di, bytes)), set(2.0f / 255.0f)), set(1));
  return hn::IfThenZeroElse(hn::Le(hn::Abs(value), set(1.5f / 255.0f)), value);
}

HWY_INLINE Normals decoded(VU pixels, V green) {
  const V up = hn::ConvertTo(d, hn::BitCast(di, byteOf(pixels, 16)));
  return normalised({side(byteOf(pixels, 0)), hn::Mul(green, side(byteOf(pixels, 8))),
                     hn::Max(hn::Sub(hn::Mul(up, set(2.0f / 255.0f)), set(1)), set(0))});
}

template <NormalBlend kBlend>
HWY_INLINE Normals blendedWith(Normals base, Normals layer, V gamma) {
  if constexpr (kBlend == NormalBlend::PartialDerivative) {
    // Steeper than 1:1000 is no slope any more.
    const V a = hn::Div(gamma, hn::Max(layer.z, set(1e-3f)));
    const V b = hn::Max(base.z, set(1e-3f));
    return normalised({hn::Add(base.x, hn::Mul(hn::Mul(a, layer.x), b)),
                       hn::Add(base.y, hn::Mul(hn::Mul(a, layer.y), b)), base.z});
  }
  layer = normalised({hn::Mul(layer.x, gamma), hn::Mul(layer.y, gamma),
                      hn::Add(set(1), hn::Mul(gamma, hn::Sub(layer.z, set(1))))});
  if constexpr (kBlend == NormalBlend::Reoriented) {
    // r = t (t.u) / t_z - u with t = base + z and u = (-x, -y, z) of the layer.
    const V a = hn::Add(base.z, set(1));
    const V b = hn::Div(
        hn::Sub(hn::Sub(hn::Mul(a, layer.z), hn::Mul(base.x, layer.x)), hn::Mul(base.y, layer.y)),
        a);
    return normalised({hn::Add(hn::Mul(base.x, b), layer.x), hn::Add(hn::Mul(base.y, b), layer.y),
                       hn::Sub(hn::Mul(a, b), layer.z)});
  }
  return normalised({hn::Add(base.x, layer.x), hn::Add(base.y, layer.y),
                     kBlend == NormalBlend::Whiteout ? hn::Mul(base.z, layer.z) : base.z});
}

/// 0 .. 255 with half a step for rounding; unit vectors never leave the range by more than one.
HWY_INLINE VU encodedByte(V v, V scale) {
  const V stored = hn::Min(hn::Add(hn::Mul(scale, v), set(128)), set(255));
  return hn::BitCast(du, hn::ConvertTo(di, stored));
}

/// `count` values, of which there may be fewer than a vector holds.
template <class Tag, class T>
HWY_INLINE hn::Vec<Tag> loaded(Tag tag, const T* from, std::size_t count) {
  if (count >= kLanes) return hn::LoadU(tag, reinterpret_cast<const hn::TFromD<Tag>*>(from));
  std::array<T, kLanes> padded{};
  std::copy_n(from, count, padded.begin());
  return hn::LoadU(tag, reinterpret_cast<const hn::TFromD<Tag>*>(padded.data()));
}

/// `count` pixels of a run, from `at` on.
template <NormalBlend kBlend>
HWY_INLINE void blendPixels(const Rgba8* base, std::span<const LayerRun8> layers, float green,
                            std::size_t at, std::size_t count, Rgba8* blended) {
  const VU own = loaded(du, base + at, count);
  const V sign = set(green);
  Normals n = decoded(own, sign);
  V strongest = set(0);
  for (const LayerRun8& layer : layers) {
    V gamma = set(layer.strength);
    if (layer.strengths != nullptr) gamma = hn::Mul(gamma, loaded(d, layer.strengths + at, count));
    gamma = hn::Min(hn::Max(gamma, set(0)), set(1));
    if (hn::AllFalse(d, hn::Gt(gamma, set(0)))) continue;
    strongest = hn::Max(strongest, gamma);
    n = blendedWith<kBlend>(n, decoded(loaded(du, layer.normals + at, count), sign), gamma);
  }
  const V half = set(127.5f);
  const VU alpha = hn::And(own, hn::Set(du, 0xff000000u));
  const VU green_byte = encodedByte(n.y, hn::Mul(half, sign));
  const VU made = hn::Or(hn::Or(encodedByte(n.x, half), hn::ShiftLeft<8>(green_byte)),
                         hn::Or(hn::ShiftLeft<16>(encodedByte(n.z, half)), alpha));
  const VU out = hn::IfThenElse(hn::RebindMask(du, hn::Gt(strongest, set(0))), made, own);
  if (count >= kLanes) {
    hn::StoreU(out, du, reinterpret_cast<std::uint32_t*>(blended + at));
    return;
  }
  std::array<Rgba8, kLanes> padded;
  hn::StoreU(out, du, reinterpret_cast<std::uint32_t*>(padded.data()));
  std::copy_n(padded.begin(), count, blended + at);
}

template <NormalBlend kBlend>
void blendRun(const Rgba8* base, std::span<const LayerRun8> layers, float green, std::size_t n,
              Rgba8* blended) {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) blendPixels<kBlend>(base, layers, green, i, kLanes, blended);
  if (i < n) blendPixels<kBlend>(base, layers, green, i, n - i, blended);
}

void blendRun8OnTarget(const Rgba8* base, std::span<const LayerRun8> layers, NormalBlend blend,
                       float green, std::size_t n, Rgba8* blended) {
  switch (blend) {
    case NormalBlend::Whiteout:
      return blendRun<NormalBlend::Whiteout>(base, layers, green, n, blended);
    case NormalBlend::Reoriented:
      return blendRun<NormalBlend::Reoriented>(base, layers, green, n, blended);
    case NormalBlend::PartialDerivative:
      return blendRun<NormalBlend::PartialDerivative>(base, layers, green, n, blended);
    case NormalBlend::Udn:
      return blendRun<NormalBlend::Udn>(base, layers, green, n, blended);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace derm::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace derm::detail {

HWY_EXPORT(blendRun8OnTarget);

void blendRun8(const Rgba8* base, std::span<const LayerRun8> layers, NormalBlend blend, float green,
               std::size_t n, Rgba8* blended) noexcept {
  HWY_DYNAMIC_DISPATCH(blendRun8OnTarget)(base, layers, blend, green, n, blended);
}

}  // namespace derm::detail
#endif
