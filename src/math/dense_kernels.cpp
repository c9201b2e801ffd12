#include "math/dense_kernels.h"

// Vectors are kept in arrays below, which types without a size known at compile time do not allow.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "math/dense_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, as Highway wants it.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace derm::detail {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
constexpr std::size_t kLanes = hn::MaxLanes(D());

void multiplyColumnsOnTarget(const double* a, std::size_t a_stride, std::size_t rows,
                             std::size_t depth, const double* b, double* c, std::size_t c_stride) {
  constexpr D d;
  static_assert(2 * kLanes <= kProductPadding);
  for (std::size_t i = 0; i < rows; i += 2 * kLanes) {
    V low0 = hn::Zero(d), low1 = low0, low2 = low0, low3 = low0;
    V high0 = low0, high1 = low0, high2 = low0, high3 = low0;
    const double* column = a + i;
    const double* factors = b;
    for (std::size_t t = 0; t < depth; ++t, column += a_stride, factors += kProductColumns) {
      const V low = hn::LoadU(d, column), high = hn::LoadU(d, column + kLanes);
      const V f0 = hn::Set(d, factors[0]), f1 = hn::Set(d, factors[1]);
      const V f2 = hn::Set(d, factors[2]), f3 = hn::Set(d, factors[3]);
      low0 = hn::MulAdd(low, f0, low0);
      high0 = hn::MulAdd(high, f0, high0);
      low1 = hn::MulAdd(low, f1, low1);
      high1 = hn::MulAdd(high, f1, high1);
      low2 = hn::MulAdd(low, f2, low2);
      high2 = hn::MulAdd(high, f2, high2);
      low3 = hn::MulAdd(low, f3, low3);
      high3 = hn::MulAdd(high, f3, high3);
    }
    const auto store = [&](std::size_t k, V low, V high) {
      hn::StoreU(low, d, c + k * c_stride + i);
      hn::StoreU(high, d, c + k * c_stride + i + kLanes);
    };
    store(0, low0, high0);
    store(1, low1, high1);
    store(2, low2, high2);
    store(3, low3, high3);
  }
}

double dotProductOnTarget(const double* a, const double* b, std::size_t n) {
  constexpr D d;
  V even = hn::Zero(d), odd = even;
  std::size_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    even = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), even);
    odd = hn::MulAdd(hn::LoadU(d, a + i + kLanes), hn::LoadU(d, b + i + kLanes), odd);
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
  for (; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

void addScaledOnTarget(double factor, const double* x, double* y, std::size_t n) {
  constexpr D d;
  const V f = hn::Set(d, factor);
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    hn::StoreU(hn::MulAdd(f, hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, y + i);
  for (; i < n; ++i) y[i] += factor * x[i];
}

}  // namespace HWY_NAMESPACE
}  // namespace derm::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace derm::detail {

HWY_EXPORT(multiplyColumnsOnTarget);
HWY_EXPORT(dotProductOnTarget);
HWY_EXPORT(addScaledOnTarget);

void multiplyColumns(const double* a, std::size_t a_stride, std::size_t rows, std::size_t depth,
                     const double* b, double* c, std::size_t c_stride) {
  HWY_DYNAMIC_DISPATCH(multiplyColumnsOnTarget)(a, a_stride, rows, depth, b, c, c_stride);
}

double dotProduct(const double* a, const double* b, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(dotProductOnTarget)(a, b, n);
}

void addScaled(double factor, const double* x, double* y, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(addScaledOnTarget)(factor, x, y, n);
}

}  // namespace derm::detail
#endif
