#include "math/rbf_kernels.h"

#include <algorithm>
#include <limits>

// Vectors are kept in arrays below, which types without a size known at compile time do not allow.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "math/rbf_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, as Highway wants it.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace derm::detail {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr std::size_t kLanes = hn::MaxLanes(D());
/// Registers of points that share the loading of a centre.
constexpr int kRows = 2;

template <RbfKernel kKernel>
HWY_INLINE V kernelValue(V square, [[maybe_unused]] float shape) {
  constexpr D d;
  if constexpr (kKernel == RbfKernel::Biharmonic) return hn::Sqrt(square);
  if constexpr (kKernel == RbfKernel::Triharmonic) return hn::Mul(square, hn::Sqrt(square));
  if constexpr (kKernel == RbfKernel::ThinPlate) {
    // r^2 ln r = r^2 ln(r^2) / 2; the smallest normal number keeps ln 0 out, times 0 it is 0.
    const V positive = hn::Max(square, hn::Set(d, std::numeric_limits<float>::min()));
    return hn::Mul(hn::Mul(hn::Set(d, 0.5f), square), hn::Log(d, positive));
  }
  if constexpr (kKernel == RbfKernel::Multiquadric)
    return hn::Sqrt(hn::Add(square, hn::Set(d, shape)));
  if constexpr (kKernel == RbfKernel::Gaussian) {
    // Beyond, it is no normal number any more.
    const V exponent = hn::Mul(square, hn::Set(d, shape));
    return hn::Exp(d, hn::Max(exponent, hn::Set(d, -87.0f)));
  }
}

template <int kIn>
HWY_INLINE void load(const float* from, V (&to)[kIn]) {
  constexpr D d;
  if constexpr (kIn == 2) hn::LoadInterleaved2(d, from, to[0], to[1]);
  if constexpr (kIn == 3) hn::LoadInterleaved3(d, from, to[0], to[1], to[2]);
}

template <int kOut>
HWY_INLINE void store(const V (&from)[kOut], float* to) {
  constexpr D d;
  if constexpr (kOut == 2) hn::StoreInterleaved2(from[0], from[1], d, to);
  if constexpr (kOut == 3) hn::StoreInterleaved3(from[0], from[1], from[2], d, to);
}

/// kRows * kLanes points.
template <RbfKernel kKernel, int kIn, int kOut>
HWY_INLINE void mapBlock(const RbfBatch& batch, const float* points, float* mapped) {
  constexpr D d;
  V at[kRows][kIn], sum[kRows][kOut];
  for (int r = 0; r < kRows; ++r) {
    load<kIn>(points + std::size_t(r) * kLanes * kIn, at[r]);
    for (int i = 0; i < kIn; ++i) {
      const V moved = hn::Sub(at[r][i], hn::Set(d, batch.centroid[i]));
      at[r][i] =
          hn::Mul(hn::Sub(moved, hn::Set(d, batch.centroid_rest[i])), hn::Set(d, batch.per_radius));
    }
    for (int o = 0; o < kOut; ++o) sum[r][o] = hn::Zero(d);
  }
  const float* centre = batch.centres.data();
  const float* const end = centre + batch.centres.size();
  for (; centre != end; centre += kIn + 1 + kOut) {
    for (int r = 0; r < kRows; ++r) {
      V square = hn::Zero(d);
      for (int i = 0; i < kIn; ++i) {
        const V away = hn::Sub(at[r][i], hn::Set(d, centre[i]));
        square = hn::MulAdd(away, away, square);
      }
      const V value = kernelValue<kKernel>(square, centre[kIn]);
      for (int o = 0; o < kOut; ++o)
        sum[r][o] = hn::MulAdd(value, hn::Set(d, centre[kIn + 1 + o]), sum[r][o]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int o = 0; o < kOut; ++o) {
      for (int i = 0; i < kIn; ++i)
        sum[r][o] = hn::MulAdd(hn::Set(d, batch.linear[o * kIn + i]), at[r][i], sum[r][o]);
      sum[r][o] = hn::Add(sum[r][o], hn::Set(d, batch.constant[o]));
    }
    store<kOut>(sum[r], mapped + std::size_t(r) * kLanes * kOut);
  }
}

template <RbfKernel kKernel, int kIn, int kOut>
void mapAll(const RbfBatch& batch, const float* points, float* mapped, std::size_t count) {
  constexpr std::size_t kBlock = kRows * kLanes;
  std::size_t i = 0;
  for (; i + kBlock <= count; i += kBlock)
    mapBlock<kKernel, kIn, kOut>(batch, points + i * kIn, mapped + i * kOut);
  if (i == count) return;
  float last_points[kBlock * kIn] = {}, last_mapped[kBlock * kOut];
  std::copy(points + i * kIn, points + count * kIn, last_points);
  mapBlock<kKernel, kIn, kOut>(batch, last_points, last_mapped);
  std::copy(last_mapped, last_mapped + (count - i) * kOut, mapped + i * kOut);
}

template <RbfKernel kKernel>
void mapByDimensions(const RbfBatch& batch, const float* points, float* mapped, std::size_t count) {
  if (batch.in == 2 && batch.out == 2) return mapAll<kKernel, 2, 2>(batch, points, mapped, count);
  if (batch.in == 2) return mapAll<kKernel, 2, 3>(batch, points, mapped, count);
  if (batch.out == 2) return mapAll<kKernel, 3, 2>(batch, points, mapped, count);
  return mapAll<kKernel, 3, 3>(batch, points, mapped, count);
}

void evaluateRbfOnTarget(const RbfBatch& batch, const float* points, float* mapped,
                         std::size_t count) {
  switch (batch.kernel) {
    case RbfKernel::Biharmonic:
      return mapByDimensions<RbfKernel::Biharmonic>(batch, points, mapped, count);
    case RbfKernel::Triharmonic:
      return mapByDimensions<RbfKernel::Triharmonic>(batch, points, mapped, count);
    case RbfKernel::ThinPlate:
      return mapByDimensions<RbfKernel::ThinPlate>(batch, points, mapped, count);
    case RbfKernel::Multiquadric:
      return mapByDimensions<RbfKernel::Multiquadric>(batch, points, mapped, count);
    case RbfKernel::Gaussian:
      return mapByDimensions<RbfKernel::Gaussian>(batch, points, mapped, count);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace derm::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace derm::detail {

HWY_EXPORT(evaluateRbfOnTarget);

void evaluateRbf(const RbfBatch& batch, const float* points, float* mapped, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(evaluateRbfOnTarget)(batch, points, mapped, count);
}

}  // namespace derm::detail
#endif
