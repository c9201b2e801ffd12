// Per-target include: compiled once for each instruction set. See ring_kernels.h.

#if defined(DERM_RING_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DERM_RING_KERNELS_INL_H_
#undef DERM_RING_KERNELS_INL_H_
#else
#define DERM_RING_KERNELS_INL_H_
#endif

#include <algorithm>

#include "volume/ring_kernels.h"
#include "volume/row_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace derm::detail {
namespace HWY_NAMESPACE {

template <bool kGradients, bool kField>
HWY_INLINE RingSums ringSums(const RingRun& run, const Vec3d* x, const Vec3d& anchor,
                             const RingOutput& out) {
  const Row from = loadThree(anchor.data());
  const Row sixth = spreadRow(1.0 / 6);
  const std::uint32_t* ring = run.rings;
  Row volume = zeroRow(), squares = zeroRow();
  for (std::size_t i = 0; i < run.points.size(); ++i) {
    Row last = minus(loadThree(x[*ring].data()), from), turned_last = turned(last);
    Row left = zeroRow(), right = zeroRow();
    for (const std::uint32_t* const end = ring++ + run.ring_sizes[i]; ring != end; ++ring) {
      const Row next = minus(loadThree(x[*ring].data()), from), turned_next = turned(next);
      left = timesPlus(last, turned_next, left);
      right = timesPlus(turned_last, next, right);
      last = next;
      turned_last = turned_next;
    }
    const std::uint32_t p = run.points[i];
    const Row v = times(sixth, turned(minus(left, right)));
    volume = timesPlus(minus(loadThree(x[p].data()), from), v, volume);
    if (kGradients) storeThree(v, out.gradients[i].data());
    if (kField) {
      const Row moved = times(spreadRow(out.gamma[p]), v);
      squares = timesPlus(moved, v, squares);
      storeThree(moved, out.field[i].data());
    }
  }
  HWY_ALIGN double by_axis[4];
  storeRow(squares, by_axis);
  return {sumOfThree(volume) / 3, {by_axis[0], by_axis[1], by_axis[2]}};
}

RingSums measureRingsOnTarget(const RingRun& run, const Vec3d* x, const Vec3d& anchor,
                              const RingOutput& out) {
  if (out.gradients != nullptr)
    return out.field != nullptr ? ringSums<true, true>(run, x, anchor, out)
                                : ringSums<true, false>(run, x, anchor, out);
  return out.field != nullptr ? ringSums<false, true>(run, x, anchor, out)
                              : ringSums<false, false>(run, x, anchor, out);
}

/// kEntries sums in registers, of `stride` per corner.
template <std::size_t kEntries>
HWY_INLINE void cornerSums(const CornerList& corners, std::size_t stride, const Vec3d* x,
                           const Vec3d& anchor, Vec3d* out) {
  const Row from = loadThree(anchor.data());
  const float* weights = corners.weights;
  Row sums[kEntries];
  for (Row& sum : sums) sum = zeroRow();
  for (const std::array<std::uint32_t, 2>& edge : corners.edges) {
    const Row a = minus(loadThree(x[edge[0]].data()), from);
    const Row b = minus(loadThree(x[edge[1]].data()), from);
    const Row across = crossZxy(a, turned(a), b, turned(b));
    for (std::size_t k = 0; k < kEntries; ++k)
      sums[k] = timesPlus(spreadRow(double{weights[k]}), across, sums[k]);
    weights += stride;
  }
  const Row part = spreadRow(1.0 / 18);
  for (std::size_t k = 0; k < kEntries; ++k)
    storeThree(times(part, turned(sums[k])), out[k].data());
}

void sumCornersOnTarget(const CornerList& corners, const Vec3d* x, const Vec3d& anchor,
                        std::span<Vec3d> out) {
  const std::size_t n = out.size();
  CornerList rest = corners;
  std::size_t k = 0;
  for (; n - k > 3; k += 2, rest.weights += 2) cornerSums<2>(rest, n, x, anchor, &out[k]);
  if (n - k == 3) cornerSums<3>(rest, n, x, anchor, &out[k]);
  if (n - k == 2) cornerSums<2>(rest, n, x, anchor, &out[k]);
  if (n - k == 1) cornerSums<1>(rest, n, x, anchor, &out[k]);
}

/// Three corners and the same turned.
struct Three {
  Row a, b, c, turned_a, turned_b, turned_c;

  HWY_INLINE Three(Row a_, Row b_, Row c_)
      : a(a_), b(b_), c(c_), turned_a(turned(a_)), turned_b(turned(b_)), turned_c(turned(c_)) {}
  HWY_INLINE Row acrossA() const { return crossZxy(b, turned_b, c, turned_c); }
  HWY_INLINE Row acrossB() const { return crossZxy(c, turned_c, a, turned_a); }
  HWY_INLINE Row acrossC() const { return crossZxy(a, turned_a, b, turned_b); }
};

HWY_INLINE Three cornersFrom(const Triangle& t, const Vec3d* x, Row anchor) {
  return Three(minus(loadThree(x[t[0]].data()), anchor), minus(loadThree(x[t[1]].data()), anchor),
               minus(loadThree(x[t[2]].data()), anchor));
}

LineCubic sumCubicOnTarget(std::span<const Triangle> triangles, const Vec3d* x, const Vec3d& anchor,
                           const Vec3d* field, const std::uint32_t* entries) {
  const Row from = loadThree(anchor.data());
  Row c1 = zeroRow(), c2 = zeroRow(), c3 = zeroRow();
  for (const Triangle& t : triangles) {
    const Three p = cornersFrom(t, x, from);
    const Three d(loadThree(field[entries[t[0]]].data()), loadThree(field[entries[t[1]]].data()),
                  loadThree(field[entries[t[2]]].data()));
    const Row zxy_a = turned(d.turned_a), zxy_b = turned(d.turned_b), zxy_c = turned(d.turned_c);
    c1 = timesPlus(zxy_a, p.acrossA(), c1);
    c1 = timesPlus(zxy_b, p.acrossB(), c1);
    c1 = timesPlus(zxy_c, p.acrossC(), c1);
    const Row across_a = d.acrossA();
    c2 = timesPlus(turned(p.turned_a), across_a, c2);
    c2 = timesPlus(turned(p.turned_b), d.acrossB(), c2);
    c2 = timesPlus(turned(p.turned_c), d.acrossC(), c2);
    c3 = timesPlus(zxy_a, across_a, c3);
  }
  return {sumOfThree(c1) / 6, sumOfThree(c2) / 6, sumOfThree(c3) / 6};
}

void tetrahedronVolumesOnTarget(std::span<const Triangle> triangles, const Vec3d* x,
                                const Vec3d& anchor, std::span<double> out) {
  const Row from = loadThree(anchor.data());
  const Row sixth = spreadRow(1.0 / 6);
  const std::size_t n = triangles.size();
  const auto six_fold = [&](std::size_t i) {
    const Three p = cornersFrom(triangles[std::min(i, n - 1)], x, from);
    return times(turned(p.turned_a), p.acrossA());
  };
  for (std::size_t i = 0; i < n; i += 4) {
    HWY_ALIGN double four[4];
    storeRow(times(sixth, sumsOf(six_fold(i), six_fold(i + 1), six_fold(i + 2), six_fold(i + 3))),
             four);
    std::copy_n(four, std::min<std::size_t>(4, n - i), out.data() + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace derm::detail
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
