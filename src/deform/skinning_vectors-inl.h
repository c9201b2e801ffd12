// Per-target include: compiled once for each instruction set. Vectors of three, lane by lane, and
// how they get into and out of the caller's arrays.

#if defined(DERM_SKINNING_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DERM_SKINNING_VECTORS_INL_H_
#undef DERM_SKINNING_VECTORS_INL_H_
#else
#define DERM_SKINNING_VECTORS_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

#include "deform/skinning_blocks.h"

HWY_BEFORE_NAMESPACE();
namespace derm::detail {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// A block, or the part of one that a register of this target holds.
using D = hn::CappedTag<float, kBlockLanes>;
using V = hn::Vec<D>;
inline constexpr std::size_t kLanes = hn::MaxLanes(D());

struct V3 {
  V x, y, z;
};

HWY_INLINE V spread(float value) { return hn::Set(D(), value); }
HWY_INLINE V loadLanes(const float* lanes) { return hn::Load(D(), lanes); }

HWY_INLINE V dot(const V3& a, const V3& b) {
  return hn::MulAdd(a.z, b.z, hn::MulAdd(a.y, b.y, hn::Mul(a.x, b.x)));
}
HWY_INLINE V3 plus(const V3& a, const V3& b) {
  return {hn::Add(a.x, b.x), hn::Add(a.y, b.y), hn::Add(a.z, b.z)};
}
HWY_INLINE V3 minus(const V3& a, const V3& b) {
  return {hn::Sub(a.x, b.x), hn::Sub(a.y, b.y), hn::Sub(a.z, b.z)};
}
HWY_INLINE V3 times(V s, const V3& a) {
  return {hn::Mul(s, a.x), hn::Mul(s, a.y), hn::Mul(s, a.z)};
}
/// s * a + b
HWY_INLINE V3 timesPlus(V s, const V3& a, const V3& b) {
  return {hn::MulAdd(s, a.x, b.x), hn::MulAdd(s, a.y, b.y), hn::MulAdd(s, a.z, b.z)};
}
/// a x b
HWY_INLINE V3 cross(const V3& a, const V3& b) {
  return {hn::NegMulAdd(a.z, b.y, hn::Mul(a.y, b.z)), hn::NegMulAdd(a.x, b.z, hn::Mul(a.z, b.x)),
          hn::NegMulAdd(a.y, b.x, hn::Mul(a.x, b.y))};
}
/// a x b + c
HWY_INLINE V3 crossPlus(const V3& a, const V3& b, const V3& c) {
  return {hn::NegMulAdd(a.z, b.y, hn::MulAdd(a.y, b.z, c.x)),
          hn::NegMulAdd(a.x, b.z, hn::MulAdd(a.z, b.x, c.y)),
          hn::NegMulAdd(a.y, b.x, hn::MulAdd(a.x, b.y, c.z))};
}

/// 1 / sqrt(v), to about 2 units in the last place; v in [1e-30, 1e30]. On x86 an estimate and a
/// Newton step: root and division would take half of a linear block's time.
HWY_INLINE V inverseRoot(V v) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
  const V estimate = hn::ApproximateReciprocalSqrt(v);
  const V half = hn::Mul(hn::Mul(spread(0.5f), v), estimate);
  return hn::Mul(estimate, hn::NegMulAdd(half, estimate, spread(1.5f)));
#else
  return hn::Div(spread(1.0f), hn::Sqrt(v));
#endif
}

/// Unit length; lanes without a usable length get the rest direction, and `last_resort` where that
/// has none either.
HWY_INLINE V3 unitOr(const V3& v, const V3& rest, float resort_x, float resort_y) {
  const D d;
  const V shortest = spread(1e-30f);
  const V longest = spread(1e30f);
  const V square = dot(v, v);
  const auto usable = hn::And(hn::Gt(square, shortest), hn::Lt(square, longest));
  const V3 unit = times(inverseRoot(square), v);
  if (HWY_LIKELY(hn::AllTrue(d, usable))) return unit;
  const V rest_square = dot(rest, rest);
  const auto rest_usable = hn::And(hn::Gt(rest_square, shortest), hn::Lt(rest_square, longest));
  const V3 rest_unit = times(inverseRoot(rest_square), rest);
  const V3 other = {hn::IfThenElse(rest_usable, rest_unit.x, spread(resort_x)),
                    hn::IfThenElse(rest_usable, rest_unit.y, spread(resort_y)),
                    hn::IfThenElse(rest_usable, rest_unit.z, hn::Zero(d))};
  return {hn::IfThenElse(usable, unit.x, other.x), hn::IfThenElse(usable, unit.y, other.y),
          hn::IfThenElse(usable, unit.z, other.z)};
}
HWY_INLINE V3 unitNormal(const V3& v, const V3& rest) { return unitOr(v, rest, 0.0f, 1.0f); }
HWY_INLINE V3 unitTangent(const V3& v, const V3& rest) { return unitOr(v, rest, 1.0f, 0.0f); }

/// One stream of a block in the bound order: x of all lanes, then y, then z.
HWY_INLINE V3 loadBound(const float* stream) {
  return {loadLanes(stream), loadLanes(stream + kBlockLanes), loadLanes(stream + 2 * kBlockLanes)};
}

/// Vertices at `vertices`, ascending, follow each other in the caller's arrays.
HWY_INLINE bool consecutive(const std::uint32_t* vertices) {
  // Spare lanes repeat the last vertex: seven of eight in a row and a spare one have the same span.
  const bool spare = kLanes > 1 && vertices[kLanes - 1] == vertices[kLanes - (kLanes > 1 ? 2 : 1)];
  return !spare && vertices[kLanes - 1] - vertices[0] == kLanes - 1;
}

// The caller's arrays hold one vertex after the other ("rows"), registers one component of several
// vertices ("columns"). Hardware gathers and scatters are slower than whole rows and a transpose.
#if HWY_TARGET != HWY_SCALAR
using Quad = hn::CappedTag<float, 4>;

/// Four floats of row i and, with eight lanes, of row i + 4 beside it.
template <std::size_t kWidth>
HWY_INLINE auto loadRows(const float* array, std::size_t stride, const std::uint32_t* indices,
                         std::size_t i) {
  const auto low = hn::LoadU(Quad(), array + stride * indices[i]);
  if constexpr (kWidth == 8) {
    const hn::CappedTag<float, kWidth> d;
    return hn::Combine(d, hn::LoadU(Quad(), array + stride * indices[i + 4]), low);
  } else {
    return low;
  }
}

/// Writes the first kCount floats of a row of four, and nothing beyond them.
template <std::size_t kCount, class Row>
HWY_INLINE void storeRow(Row row, float* to) {
  if constexpr (kCount == 4) {
    hn::StoreU(row, Quad(), to);
  } else {
#if HWY_TARGET <= HWY_AVX3
    hn::BlendedStore(row, hn::FirstN(Quad(), kCount), Quad(), to);
#else
    const hn::CappedTag<float, 2> pair;
    hn::StoreU(hn::LowerHalf(pair, row), pair, to);
    const float third = hn::ExtractLane(row, 2);
    std::memcpy(to + 2, &third, sizeof third);
#endif
  }
}

/// The reverse of loadRows(), for rows of kCount floats without gaps.
template <std::size_t kWidth, std::size_t kCount, class Rows>
HWY_INLINE void storeRows(Rows rows, float* array, const std::uint32_t* indices, std::size_t i) {
  if constexpr (kWidth == 8) {
    storeRow<kCount>(hn::LowerHalf(Quad(), rows), array + kCount * indices[i]);
    storeRow<kCount>(hn::UpperHalf(Quad(), rows), array + kCount * indices[i + 4]);
  } else {
    storeRow<kCount>(rows, array + kCount * indices[i]);
  }
}

template <std::size_t kCount>
HWY_INLINE void storeColumns(V x, V y, V z, V w, float* array, const std::uint32_t* indices) {
  const D d;
  const hn::Repartition<double, D> pairs;
  const auto xy_low = hn::BitCast(pairs, hn::InterleaveLower(d, x, y));
  const auto xy_high = hn::BitCast(pairs, hn::InterleaveUpper(d, x, y));
  const auto zw_low = hn::BitCast(pairs, hn::InterleaveLower(d, z, w));
  const auto zw_high = hn::BitCast(pairs, hn::InterleaveUpper(d, z, w));
  const V row0 = hn::BitCast(d, hn::InterleaveLower(pairs, xy_low, zw_low));
  const V row1 = hn::BitCast(d, hn::InterleaveUpper(pairs, xy_low, zw_low));
  const V row2 = hn::BitCast(d, hn::InterleaveLower(pairs, xy_high, zw_high));
  const V row3 = hn::BitCast(d, hn::InterleaveUpper(pairs, xy_high, zw_high));
  storeRows<kLanes, kCount>(row0, array, indices, 0);
  storeRows<kLanes, kCount>(row1, array, indices, 1);
  storeRows<kLanes, kCount>(row2, array, indices, 2);
  storeRows<kLanes, kCount>(row3, array, indices, 3);
}
#endif

struct V4 {
  V3 xyz;
  V w;
};

/// Four floats per lane from rows that start `stride` floats apart.
HWY_INLINE V4 gather4(const float* array, std::size_t stride, const std::uint32_t* indices) {
  const D d;
#if HWY_TARGET == HWY_SCALAR
  const float* const row = array + stride * indices[0];
  return {{hn::Set(d, row[0]), hn::Set(d, row[1]), hn::Set(d, row[2])}, hn::Set(d, row[3])};
#else
  const V row0 = loadRows<kLanes>(array, stride, indices, 0);
  const V row1 = loadRows<kLanes>(array, stride, indices, 1);
  const V row2 = loadRows<kLanes>(array, stride, indices, 2);
  const V row3 = loadRows<kLanes>(array, stride, indices, 3);
  const hn::Repartition<double, D> pairs;
  const auto xy01 = hn::BitCast(pairs, hn::InterleaveLower(d, row0, row1));
  const auto xy23 = hn::BitCast(pairs, hn::InterleaveLower(d, row2, row3));
  const auto zw01 = hn::BitCast(pairs, hn::InterleaveUpper(d, row0, row1));
  const auto zw23 = hn::BitCast(pairs, hn::InterleaveUpper(d, row2, row3));
  return {{hn::BitCast(d, hn::InterleaveLower(pairs, xy01, xy23)),
           hn::BitCast(d, hn::InterleaveUpper(pairs, xy01, xy23)),
           hn::BitCast(d, hn::InterleaveLower(pairs, zw01, zw23))},
          hn::BitCast(d, hn::InterleaveUpper(pairs, zw01, zw23))};
#endif
}

HWY_INLINE void scatter4(const V4& v, float* array, const std::uint32_t* vertices) {
#if HWY_TARGET == HWY_SCALAR
  hn::StoreInterleaved4(v.xyz.x, v.xyz.y, v.xyz.z, v.w, D(), array + std::size_t{4} * vertices[0]);
#else
  storeColumns<4>(v.xyz.x, v.xyz.y, v.xyz.z, v.w, array, vertices);
#endif
}

/// Three floats per vertex. Where vertices are not consecutive a fourth float behind each is read,
/// too, but not behind the array's last vertex.
HWY_INLINE V3 gather3(const float* array, const std::uint32_t* vertices, std::size_t vertex_count) {
  const D d;
  V3 out;
  if (consecutive(vertices)) {
    hn::LoadInterleaved3(d, array + std::size_t{3} * vertices[0], out.x, out.y, out.z);
    return out;
  }
  if (HWY_UNLIKELY(vertices[kLanes - 1] + 1 == vertex_count)) {
    HWY_ALIGN float staged[3 * kLanes];
    for (std::size_t i = 0; i < kLanes; ++i)
      std::memcpy(staged + 3 * i, array + std::size_t{3} * vertices[i], 3 * sizeof(float));
    hn::LoadInterleaved3(d, staged, out.x, out.y, out.z);
    return out;
  }
  return gather4(array, 3, vertices).xyz;
}

HWY_INLINE void scatter3(const V3& v, float* array, const std::uint32_t* vertices) {
  if (consecutive(vertices)) {
    hn::StoreInterleaved3(v.x, v.y, v.z, D(), array + std::size_t{3} * vertices[0]);
    return;
  }
#if HWY_TARGET != HWY_SCALAR  // one lane is always consecutive
  storeColumns<3>(v.x, v.y, v.z, v.z, array, vertices);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace derm::detail
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
