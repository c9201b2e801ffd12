// Per-target include: compiled once for each instruction set. Rows of a block, eight nodes at once
// (or twice four). Only operations that round once each, so every instruction set gives the same
// bits.

#if defined(DERM_BAND_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DERM_BAND_KERNELS_INL_H_
#undef DERM_BAND_KERNELS_INL_H_
#else
#define DERM_BAND_KERNELS_INL_H_
#endif

#include <bit>

#include "implicit/band_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace derm::detail {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 8>;
using V = hn::Vec<D>;
using M = hn::Mask<D>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));

HWY_INLINE V set(float x) { return hn::Set(D(), x); }
HWY_INLINE V load(const float* p) { return hn::LoadU(D(), p); }
HWY_INLINE V clamp(V x, float low, float high) { return hn::Min(hn::Max(x, set(low)), set(high)); }

// ------------------------------------------------------------------------------------ curvature

HWY_INLINE V curvatureAt(const float* p) {
  constexpr int y = BlockTile::kRowStep, z = BlockTile::kSliceStep;
  const V half = set(0.5f), quarter = set(0.25f), two = set(2.0f);
  const V c2 = hn::Mul(two, load(p));
  const V xm = load(p - 1), xp = load(p + 1), ym = load(p - y), yp = load(p + y);
  const V zm = load(p - z), zp = load(p + z);
  const V fx = hn::Mul(half, hn::Sub(xp, xm));
  const V fy = hn::Mul(half, hn::Sub(yp, ym));
  const V fz = hn::Mul(half, hn::Sub(zp, zm));
  const V fxx = hn::Sub(hn::Add(xp, xm), c2);
  const V fyy = hn::Sub(hn::Add(yp, ym), c2);
  const V fzz = hn::Sub(hn::Add(zp, zm), c2);
  const auto mixed = [&](int a, int b) HWY_ATTR {
    const V even = hn::Add(load(p + a + b), load(p - a - b));
    const V odd = hn::Add(load(p + a - b), load(p - a + b));
    return hn::Mul(quarter, hn::Sub(even, odd));
  };
  const V fxy = mixed(1, y), fyz = mixed(y, z), fxz = mixed(1, z);
  const V xx = hn::Mul(fx, fx), yy = hn::Mul(fy, fy), zz = hn::Mul(fz, fz);
  V sum = hn::Mul(xx, hn::Add(fyy, fzz));
  sum = hn::Add(sum, hn::Mul(yy, hn::Add(fxx, fzz)));
  sum = hn::Add(sum, hn::Mul(zz, hn::Add(fxx, fyy)));
  V cross = hn::Mul(hn::Mul(fx, fy), fxy);
  cross = hn::Add(cross, hn::Mul(hn::Mul(fy, fz), fyz));
  cross = hn::Add(cross, hn::Mul(hn::Mul(fx, fz), fxz));
  sum = hn::Sub(sum, hn::Mul(two, cross));
  const V g2 = hn::Max(hn::Add(hn::Add(xx, yy), zz), set(1e-4f));
  const V kappa = hn::Neg(hn::Div(sum, hn::Mul(g2, hn::Sqrt(g2))));
  return clamp(kappa, -2.0f, 2.0f);
}

HWY_NOINLINE void curvatureOnTarget(const BlockTile& tile, const BlockTile::RowMask& rows,
                                    const BlockTile::RowMask& last, BlockTile& curvature) {
  constexpr int kLast = 9 - kLanes;  // the vector that ends with node 8
  const std::array<std::uint64_t, 3> words = packed(rows), last_words = packed(last);
  for (int w = 0; w < 3; ++w) {
    const std::size_t i = static_cast<std::size_t>(w);
    for (std::uint64_t left = words[i]; left != 0; left &= left - 1) {
      const int row = w * kRowsPerWord + std::countr_zero(left);
      const float* p = tile.row(row);
      float* out = curvature.row(row);
      for (int x = 0; x < 8; x += kLanes) hn::StoreU(curvatureAt(p + x), D(), out + x);
    }
    for (std::uint64_t left = last_words[i]; left != 0; left &= left - 1) {
      const int row = w * kRowsPerWord + std::countr_zero(left);
      hn::StoreU(curvatureAt(tile.row(row) + kLast), D(), curvature.row(row) + kLast);
    }
  }
}

// -------------------------------------------------------------------------------------- advance

/// The six neighbours of some nodes, and the six beyond them.
struct Star {
  V centre, xm, xp, ym, yp, zm, zp, xm2, xp2, ym2, yp2, zm2, zp2;
};

/// Along one axis: the distance from which the second-order difference starts, see E2 of the
/// scheme.
HWY_INLINE V axisStart(V sign, V m, V p, V m2, V p2) {
  const V am = hn::Mul(sign, m), ap = hn::Mul(sign, p);
  const V a = hn::Min(am, ap);
  const V a2 = hn::Mul(sign, hn::IfThenElse(hn::Lt(am, ap), m2, p2));
  const V rise = clamp(hn::Sub(a, a2), 0.0f, 1.2f);
  return hn::Add(a, hn::Mul(rise, set(1.0f / 3)));
}

/// Solves sum (u - a)^2 = (2/3)^2 over the one, two or three smallest a, u above each one used.
HWY_INLINE V eikonal(V a, V b, V c) {
  const V r2 = set(4.0f / 9);
  const V zero = set(0.0f);
  const V low_ab = hn::Min(a, b), high_ab = hn::Max(a, b);
  const V a1 = hn::Min(low_ab, c);
  const V rest = hn::Max(low_ab, c);
  const V a2 = hn::Min(rest, high_ab), a3 = hn::Max(rest, high_ab);
  V u = hn::Add(a1, set(2.0f / 3));
  const V gap = hn::Sub(a2, a1);
  const V root2 = hn::Sqrt(hn::Max(zero, hn::Sub(hn::Add(r2, r2), hn::Mul(gap, gap))));
  const V sum2 = hn::Add(a1, a2);
  u = hn::IfThenElse(hn::Gt(u, a2), hn::Mul(set(0.5f), hn::Add(sum2, root2)), u);
  const V gap3 = hn::Sub(a3, a1);  // relative to a1, so that squares stay small
  const V s = hn::Add(gap, gap3);
  const V q = hn::Sub(hn::Add(hn::Mul(gap, gap), hn::Mul(gap3, gap3)), r2);
  const V root3 = hn::Sqrt(hn::Max(zero, hn::Sub(hn::Mul(s, s), hn::Mul(set(3.0f), q))));
  const V u3 = hn::Add(a1, hn::Mul(set(1.0f / 3), hn::Add(s, root3)));
  return hn::IfThenElse(hn::Gt(u, a3), u3, u);
}

/// Steepest rise from the surface to a node along one axis, or 0.
HWY_INLINE V riseAlong(V sign, V f, V m, V p) {
  const V lower = hn::Min(hn::Mul(sign, m), hn::Mul(sign, p));
  return hn::Max(hn::Sub(hn::Mul(sign, f), lower), set(0.0f));
}

HWY_INLINE V length3(V x, V y, V z) {
  return hn::Sqrt(hn::Add(hn::Add(hn::Mul(x, x), hn::Mul(y, y)), hn::Mul(z, z)));
}

HWY_INLINE V movedNear(const AdvanceJob& job, const Star& s, V sign, V move) {
  const V half = set(0.5f);
  const V g = hn::Mul(half, length3(hn::Sub(s.xp, s.xm), hn::Sub(s.yp, s.ym), hn::Sub(s.zp, s.zm)));
  // One-node specks have no central slope, and would never die without the one-sided one.
  const V one_sided =
      length3(riseAlong(sign, s.centre, s.xm, s.xp), riseAlong(sign, s.centre, s.ym, s.yp),
              riseAlong(sign, s.centre, s.zm, s.zp));
  const V slope = hn::IfThenElse(hn::Gt(g, set(0.6f)), g, one_sided);
  const V wanted =
      hn::Add(set(job.renormalisation.rest), hn::Mul(set(job.renormalisation.gain), hn::Abs(move)));
  const V share = hn::Min(set(job.renormalisation.cap), wanted);
  const V pull = hn::Mul(hn::Mul(share, clamp(hn::Sub(set(1.0f), slope), -1.0f, 0.5f)), s.centre);
  const V f = hn::Add(hn::Add(s.centre, hn::Mul(move, hn::Max(g, set(0.6f)))), pull);
  // Below the limit of the band: what separates signs is always active.
  return clamp(f, -0.95f * job.width, 0.95f * job.width);
}

HWY_INLINE V rebuiltFar(const AdvanceJob& job, const Star& s, V sign) {
  const V u =
      eikonal(axisStart(sign, s.xm, s.xp, s.xm2, s.xp2), axisStart(sign, s.ym, s.yp, s.ym2, s.yp2),
              axisStart(sign, s.zm, s.zp, s.zm2, s.zp2));
  const V kept = hn::Max(u, set(1e-3f));
  const V snapped = hn::IfThenElse(hn::Lt(kept, set(job.active_limit)), kept, set(job.width));
  return hn::Mul(sign, snapped);
}

/// Where a block's rows and those two beside it start, along y and along z: rows -2 to 9. Tables,
/// since which block a row's neighbours are in cannot be foreseen.
struct RowStarts {
  const float *y[12], *z[12];

  explicit RowStarts(const AdvanceJob& job) {
    for (int i = 0; i < 12; ++i) {
      y[i] = (i < 2 ? job.sides[2] : i > 9 ? job.sides[3] : job.own) + ((i - 2) & 7) * 8;
      z[i] = (i < 2 ? job.sides[4] : i > 9 ? job.sides[5] : job.own) + ((i - 2) & 7) * 64;
    }
  }
};

HWY_INLINE std::uint32_t bitsOf(M mask) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(D(), mask, bytes);
  return bytes[0];
}

HWY_INLINE void replaceRow(BandGrid::Words& words, int row, std::uint64_t bits) {
  const int shift = 8 * (row & 7);
  std::uint64_t& word = words[static_cast<std::size_t>(row >> 3)];
  word = (word & ~(std::uint64_t{0xFF} << shift)) | bits << shift;
}

/// `wide`: the row itself with two nodes of its x neighbours on each side, centre at [4].
template <bool kHasNear>
HWY_INLINE void advanceRow(const AdvanceJob& job, const RowStarts& starts, int row,
                           const float* wide) {
  const int y = row & 7, z = row >> 3;
  const float* const* ys = starts.y + y;  // [0] is row y - 2
  const float* const* zs = starts.z + z;
  std::uint64_t signs = 0, active = 0;
  for (int x = 0; x < 8; x += kLanes) {
    const float* c = wide + 4 + x;
    const int at_y = 64 * z + x, at_z = 8 * y + x;
    const Star star = {load(c),
                       load(c - 1),
                       load(c + 1),
                       load(ys[1] + at_y),
                       load(ys[3] + at_y),
                       load(zs[1] + at_z),
                       load(zs[3] + at_z),
                       load(c - 2),
                       load(c + 2),
                       load(ys[0] + at_y),
                       load(ys[4] + at_y),
                       load(zs[0] + at_z),
                       load(zs[4] + at_z)};
    const V sign = hn::IfThenElse(hn::Gt(star.centre, set(0.0f)), set(1.0f), set(-1.0f));
    V f = rebuiltFar(job, star, sign);
    if constexpr (kHasNear) {
      const std::uint64_t near_bits = (*job.near)[static_cast<std::size_t>(z)] >> (8 * y + x);
      const std::uint8_t lane_bits[8] = {static_cast<std::uint8_t>(near_bits)};
      const V count = hn::Max(load(job.counts + row * 8 + x), set(1.0f));
      const V mean = hn::Div(load(job.moves + row * 8 + x), count);
      const V moved = movedNear(job, star, sign, clamp(mean, -0.5f, 0.5f));
      f = hn::IfThenElse(hn::LoadMaskBits(D(), lane_bits), moved, f);
    }
    hn::StoreU(f, D(), job.out + row * 8 + x);
    signs |= std::uint64_t{bitsOf(hn::Gt(f, set(0.0f)))} << x;
    active |= std::uint64_t{bitsOf(hn::Lt(hn::Abs(f), set(job.active_limit)))} << x;
  }
  replaceRow(*job.signs, row, signs);
  replaceRow(*job.active, row, active);
}

HWY_NOINLINE void advanceOnTarget(const AdvanceJob& job) {
  // All rows are widened before any is used: a wide load right after its narrow stores would wait.
  HWY_ALIGN float wide[64 * 16];
  for (std::uint64_t rows = job.rows; rows != 0; rows &= rows - 1) {
    const int row = std::countr_zero(rows);
    float* out = wide + row * 16 + 4;
    for (int x = 0; x < 8; x += kLanes) hn::StoreU(load(job.own + row * 8 + x), D(), out + x);
    out[-2] = job.sides[0][row * 8 + 6];
    out[-1] = job.sides[0][row * 8 + 7];
    out[8] = job.sides[1][row * 8];
    out[9] = job.sides[1][row * 8 + 1];
  }
  const RowStarts starts(job);
  const std::uint64_t near_rows = job.rows & rowsOf(*job.near);
  for (std::uint64_t rows = near_rows; rows != 0; rows &= rows - 1) {
    const int row = std::countr_zero(rows);
    advanceRow<true>(job, starts, row, wide + row * 16);
  }
  for (std::uint64_t rows = job.rows & ~near_rows; rows != 0; rows &= rows - 1) {
    const int row = std::countr_zero(rows);
    advanceRow<false>(job, starts, row, wide + row * 16);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace derm::detail
HWY_AFTER_NAMESPACE();

#endif  // include guard
