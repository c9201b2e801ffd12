// Per-target include: compiled once for each instruction set. A point in double as one register: x,
// y, z and a fourth number that belongs to somebody else. Sums over triangles read points here and
// there; turning them into columns would cost more than it saves.

#if defined(DERM_ROW_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DERM_ROW_VECTORS_INL_H_
#undef DERM_ROW_VECTORS_INL_H_
#else
#define DERM_ROW_VECTORS_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace derm::detail {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_MAX_BYTES >= 32 && !HWY_HAVE_SCALABLE

using RowD = hn::CappedTag<double, 4>;
using Row = hn::Vec<RowD>;

HWY_INLINE Row loadRow(const double* p) { return hn::LoadU(RowD(), p); }
HWY_INLINE void storeRow(Row r, double* p) { hn::StoreU(r, RowD(), p); }
/// Three doubles; nothing is read behind them.
HWY_INLINE Row loadThree(const double* p) {
  return hn::MaskedLoad(hn::FirstN(RowD(), 3), RowD(), p);
}
HWY_INLINE void storeThree(Row r, double* p) {
  const hn::Half<RowD> half;
  hn::StoreU(hn::LowerHalf(half, r), half, p);
  p[2] = hn::GetLane(hn::UpperHalf(half, r));
}
/// Four floats.
HWY_INLINE Row loadFloats(const float* p) {
  return hn::PromoteTo(RowD(), hn::LoadU(hn::CappedTag<float, 4>(), p));
}
HWY_INLINE Row spreadRow(double v) { return hn::Set(RowD(), v); }
HWY_INLINE Row zeroRow() { return hn::Zero(RowD()); }
HWY_INLINE Row plus(Row a, Row b) { return hn::Add(a, b); }
HWY_INLINE Row minus(Row a, Row b) { return hn::Sub(a, b); }
HWY_INLINE Row times(Row a, Row b) { return hn::Mul(a, b); }
/// a b + c and c - a b
HWY_INLINE Row timesPlus(Row a, Row b, Row c) { return hn::MulAdd(a, b, c); }
HWY_INLINE Row minusTimes(Row a, Row b, Row c) { return hn::NegMulAdd(a, b, c); }
/// (x, y, z, w) to (y, z, x, w)
HWY_INLINE Row turned(Row a) {
  alignas(32) static constexpr std::int64_t kLanes[4] = {1, 2, 0, 3};
  return hn::TableLookupLanes(a, hn::SetTableIndices(RowD(), kLanes));
}
/// The fourth number made zero, whatever it is.
HWY_INLINE Row justThree(Row a) { return hn::IfThenElseZero(hn::FirstN(RowD(), 3), a); }
HWY_INLINE Row withFourth(Row a, double w) {
  return hn::IfThenElse(hn::FirstN(RowD(), 3), a, hn::Set(RowD(), w));
}
/// The sums of all four numbers of each.
HWY_INLINE Row sumsOf(Row a, Row b, Row c, Row d) {
  const RowD t;
  const Row ab = hn::Add(hn::InterleaveLower(t, a, b), hn::InterleaveUpper(t, a, b));
  const Row cd = hn::Add(hn::InterleaveLower(t, c, d), hn::InterleaveUpper(t, c, d));
  return hn::Add(hn::ConcatLowerLower(t, cd, ab), hn::ConcatUpperUpper(t, cd, ab));
}

#elif defined(__wasm_simd128__)

// Two registers of two doubles, which Highway 1.0.3 does not know here; the compiler does. The same
// operations in the same order as below, so the same bits.
using Row = double __attribute__((vector_size(32)));

HWY_INLINE Row loadRow(const double* p) { return Row{p[0], p[1], p[2], p[3]}; }
HWY_INLINE void storeRow(Row r, double* p) { __builtin_memcpy(p, &r, sizeof r); }
HWY_INLINE Row loadThree(const double* p) { return Row{p[0], p[1], p[2], 0}; }
HWY_INLINE void storeThree(Row r, double* p) { __builtin_memcpy(p, &r, 3 * sizeof(double)); }
HWY_INLINE Row loadFloats(const float* p) { return Row{p[0], p[1], p[2], p[3]}; }
HWY_INLINE Row spreadRow(double v) { return Row{v, v, v, v}; }
HWY_INLINE Row zeroRow() { return spreadRow(0); }
HWY_INLINE Row plus(Row a, Row b) { return a + b; }
HWY_INLINE Row minus(Row a, Row b) { return a - b; }
HWY_INLINE Row times(Row a, Row b) { return a * b; }
HWY_INLINE Row timesPlus(Row a, Row b, Row c) { return a * b + c; }
HWY_INLINE Row minusTimes(Row a, Row b, Row c) { return c - a * b; }
HWY_INLINE Row turned(Row a) { return __builtin_shufflevector(a, a, 1, 2, 0, 3); }
HWY_INLINE Row justThree(Row a) { return __builtin_shufflevector(a, zeroRow(), 0, 1, 2, 4); }
HWY_INLINE Row withFourth(Row a, double w) {
  return __builtin_shufflevector(a, spreadRow(w), 0, 1, 2, 4);
}
HWY_INLINE double sumOf(Row a) { return (a[0] + a[1]) + (a[2] + a[3]); }
HWY_INLINE Row sumsOf(Row a, Row b, Row c, Row d) {
  return Row{sumOf(a), sumOf(b), sumOf(c), sumOf(d)};
}

#else

struct Row {
  double v[4];
};

template <class Op>
HWY_INLINE Row eachOf(const Op& op) {
  return {{op(0), op(1), op(2), op(3)}};
}
HWY_INLINE Row loadRow(const double* p) { return {{p[0], p[1], p[2], p[3]}}; }
HWY_INLINE void storeRow(const Row& r, double* p) {
  for (std::size_t k = 0; k < 4; ++k) p[k] = r.v[k];
}
HWY_INLINE Row loadThree(const double* p) { return {{p[0], p[1], p[2], 0}}; }
HWY_INLINE void storeThree(const Row& r, double* p) {
  for (std::size_t k = 0; k < 3; ++k) p[k] = r.v[k];
}
HWY_INLINE Row loadFloats(const float* p) {
  return {{double{p[0]}, double{p[1]}, double{p[2]}, double{p[3]}}};
}
HWY_INLINE Row spreadRow(double v) { return {{v, v, v, v}}; }
HWY_INLINE Row zeroRow() { return spreadRow(0); }
HWY_INLINE Row plus(const Row& a, const Row& b) {
  return eachOf([&](std::size_t k) { return a.v[k] + b.v[k]; });
}
HWY_INLINE Row minus(const Row& a, const Row& b) {
  return eachOf([&](std::size_t k) { return a.v[k] - b.v[k]; });
}
HWY_INLINE Row times(const Row& a, const Row& b) {
  return eachOf([&](std::size_t k) { return a.v[k] * b.v[k]; });
}
HWY_INLINE Row timesPlus(const Row& a, const Row& b, const Row& c) {
  return eachOf([&](std::size_t k) { return a.v[k] * b.v[k] + c.v[k]; });
}
HWY_INLINE Row minusTimes(const Row& a, const Row& b, const Row& c) {
  return eachOf([&](std::size_t k) { return c.v[k] - a.v[k] * b.v[k]; });
}
HWY_INLINE Row turned(const Row& a) { return {{a.v[1], a.v[2], a.v[0], a.v[3]}}; }
HWY_INLINE Row justThree(const Row& a) { return {{a.v[0], a.v[1], a.v[2], 0}}; }
HWY_INLINE Row withFourth(const Row& a, double w) { return {{a.v[0], a.v[1], a.v[2], w}}; }
HWY_INLINE double sumOf(const Row& a) { return (a.v[0] + a.v[1]) + (a.v[2] + a.v[3]); }
HWY_INLINE Row sumsOf(const Row& a, const Row& b, const Row& c, const Row& d) {
  return {{sumOf(a), sumOf(b), sumOf(c), sumOf(d)}};
}

#endif

HWY_INLINE Row spreadRow(double x, double y, double z) {
  HWY_ALIGN const double v[4] = {x, y, z, 0};
  return loadRow(v);
}
/// a x b in the order z, x, y; `turned_` are a and b turned.
HWY_INLINE Row crossZxy(Row a, Row turned_a, Row b, Row turned_b) {
  return minusTimes(turned_a, b, times(a, turned_b));
}
HWY_INLINE double sumOfThree(Row a) {
  HWY_ALIGN double v[4];
  storeRow(a, v);
  return v[0] + v[1] + v[2];
}

}  // namespace HWY_NAMESPACE
}  // namespace derm::detail
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
