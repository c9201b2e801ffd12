// Per-target include: compiled once for each instruction set. See section_kernels.h.

#if defined(DERM_SECTION_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DERM_SECTION_KERNELS_INL_H_
#undef DERM_SECTION_KERNELS_INL_H_
#else
#define DERM_SECTION_KERNELS_INL_H_
#endif

#include <algorithm>

#include <hwy/contrib/math/math-inl.h>

#include "volume/row_vectors-inl.h"
#include "volume/section_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace derm::detail {
namespace HWY_NAMESPACE {

HWY_INLINE Row negative(const Vec3d& v) { return spreadRow(-v.x(), -v.y(), -v.z()); }

/// A triangle's corners minus its anchor, and what is across from each of them.
struct Corners {
  Row a, b, c, turned_a, turned_b, turned_c;

  HWY_INLINE Corners(const Triangle& t, const SectionRow* rows, Row minus_anchor)
      : a(plus(minus_anchor, loadRow(rows[t[0]].x))),
        b(plus(minus_anchor, loadRow(rows[t[1]].x))),
        c(plus(minus_anchor, loadRow(rows[t[2]].x))),
        turned_a(turned(a)),
        turned_b(turned(b)),
        turned_c(turned(c)) {}
  HWY_INLINE Row acrossA() const { return crossZxy(b, turned_b, c, turned_c); }
  HWY_INLINE Row acrossB() const { return crossZxy(c, turned_c, a, turned_a); }
  HWY_INLINE Row acrossC() const { return crossZxy(a, turned_a, b, turned_b); }
  HWY_INLINE Row zxyOfA() const { return turned(turned_a); }
};

HWY_INLINE Row motion(const SectionPoints& points, std::uint32_t row) {
  return times(loadFloats(points.ways + 3 * std::size_t{row}), spreadRow(points.rows[row].h));
}

SectionSum sumTetrahedraOnTarget(std::span<const Triangle> triangles, const SectionPoints& points,
                                 const Vec3d& anchor) {
  const Row minus_anchor = negative(anchor);
  Row volume = zeroRow(), slope_a = zeroRow(), slope_b = zeroRow(), slope_c = zeroRow();
  for (const Triangle& t : triangles) {
    const Corners k(t, points.rows, minus_anchor);
    const Row across_a = k.acrossA();
    volume = timesPlus(k.zxyOfA(), across_a, volume);
    slope_a = timesPlus(motion(points, t[0]), across_a, slope_a);
    slope_b = timesPlus(motion(points, t[1]), k.acrossB(), slope_b);
    slope_c = timesPlus(motion(points, t[2]), k.acrossC(), slope_c);
  }
  return {sumOfThree(volume) / 6, sumOfThree(plus(slope_a, plus(slope_b, slope_c))) / 6};
}

double sumVolumesOnTarget(std::span<const Triangle> triangles, const SectionPoints& points,
                          const Vec3d& anchor) {
  const Row minus_anchor = negative(anchor);
  Row volume = zeroRow();
  for (const Triangle& t : triangles) {
    const Corners k(t, points.rows, minus_anchor);
    volume = timesPlus(k.zxyOfA(), k.acrossA(), volume);
  }
  return sumOfThree(volume) / 6;
}

void measureTetrahedraOnTarget(std::span<const SectionShared> triangles,
                               const SectionPoints& points, std::span<const Vec3d> anchors,
                               std::span<SectionTetrahedron> out) {
  const Row sixth = spreadRow(1.0 / 6);
  std::uint32_t anchor = triangles.empty() ? 0 : triangles[0].anchor;
  Row minus_anchor = triangles.empty() ? zeroRow() : negative(anchors[anchor]);
  for (std::size_t i = 0; i < triangles.size(); ++i) {
    const Triangle& t = triangles[i].corners;
    if (triangles[i].anchor != anchor) {
      anchor = triangles[i].anchor;
      minus_anchor = negative(anchors[anchor]);
    }
    const Corners k(t, points.rows, minus_anchor);
    const Row across_a = k.acrossA();
    const Row all = sumsOf(justThree(times(k.zxyOfA(), across_a)),
                           justThree(times(motion(points, t[0]), across_a)),
                           justThree(times(motion(points, t[1]), k.acrossB())),
                           justThree(times(motion(points, t[2]), k.acrossC())));
    storeRow(times(sixth, all), &out[i].volume);
  }
}

/// The square of twice the area.
HWY_INLINE Row areaSquare(const Triangle& t, const SectionRow* rows) {
  const Row a = loadRow(rows[t[0]].x);
  const Row u = minus(loadRow(rows[t[1]].x), a), v = minus(loadRow(rows[t[2]].x), a);
  const Row across = crossZxy(u, turned(u), v, turned(v));
  return justThree(times(across, across));
}

void measureAreasOnTarget(std::span<const Triangle> triangles, const SectionRow* rows,
                          std::span<float> areas) {
  using D = hn::CappedTag<double, 4>;
  constexpr D d;
  const std::size_t n = triangles.size();
  for (std::size_t i = 0; i < n; i += 4) {
    HWY_ALIGN double squares[4];
    const auto square = [&](std::size_t k) {
      return areaSquare(triangles[std::min(k, n - 1)], rows);
    };
    storeRow(sumsOf(square(i), square(i + 1), square(i + 2), square(i + 3)), squares);
    for (std::size_t k = 0; k < 4; k += hn::MaxLanes(D()))
      hn::Store(hn::Mul(hn::Set(d, 0.5), hn::Sqrt(hn::Load(d, squares + k))), d, squares + k);
    for (std::size_t k = 0; k < std::min<std::size_t>(4, n - i); ++k)
      areas[i + k] = static_cast<float>(squares[k]);
  }
}

void spreadNeedsOnTarget(double sigma, std::span<const double> eta, std::span<double> s,
                         std::span<double> slopes) {
  using D = hn::CappedTag<double, 8>;
  constexpr D d;
  const auto one = hn::Set(d, 1.0), to_t = hn::Set(d, 1 / sigma), back = hn::Set(d, sigma);
  for (std::size_t i = 0; i < eta.size(); i += hn::MaxLanes(D())) {
    const auto t = hn::Mul(hn::LoadU(d, eta.data() + i), to_t);
    const auto root = hn::Sqrt(hn::MulAdd(t, t, one));
    // asinh; the plain logarithm is right to 1e-16 of a radius, and quicker than log1p.
    const auto log = hn::Log(d, hn::Add(hn::Abs(t), root));
    hn::StoreU(hn::CopySign(hn::Mul(back, log), t), d, s.data() + i);
    hn::StoreU(hn::Div(one, root), d, slopes.data() + i);
  }
}

void moveRowsOnTarget(const SectionPoints& points, std::size_t first, std::span<const double> s,
                      std::span<const double> h, double* now) {
  for (std::size_t i = 0; i < s.size(); ++i) {
    double* const row = points.rows[first + i].x;
    const Row way = turned(loadFloats(points.ways + 3 * (first + i)));
    const Row moved = timesPlus(spreadRow(s[i] - now[i]), way, loadRow(row));
    storeRow(withFourth(moved, h[i]), row);
    now[i] = s[i];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace derm::detail
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
