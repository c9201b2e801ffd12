// Per-target include: compiled once for each instruction set. Flesh, some vertices at a time.

#if defined(DERM_FLESH_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DERM_FLESH_KERNELS_INL_H_
#undef DERM_FLESH_KERNELS_INL_H_
#else
#define DERM_FLESH_KERNELS_INL_H_
#endif

#include <algorithm>
#include <cstring>
#include <limits>

#include "deform/flesh_kernels.h"
#include "deform/skinning_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace derm::detail {
namespace HWY_NAMESPACE {

HWY_INLINE V3 spread3(const Vec3f& v) { return {spread(v.x()), spread(v.y()), spread(v.z())}; }

/// What stays the same for all vertices of a frame.
struct FleshLanes {
  V3 from, along, along_over_square;
  V radius, reach, soft, rest_of_limit;  ///< rest: 1 - soft
  V3 offset, origin, twist, swing;
  V offset_length, twist_square, swing_square, swing_length;

  explicit HWY_INLINE FleshLanes(const FleshFrame& f) {
    const float square = f.bone_along.squaredNorm();
    from = spread3(f.bone_from);
    along = spread3(f.bone_along);
    along_over_square = spread3(square > 0 ? Vec3f(f.bone_along / square) : Vec3f(Vec3f::Zero()));
    radius = spread(f.bone_radius);
    reach = spread(f.reach);
    soft = spread(f.soft_limit);
    rest_of_limit = spread(1 - f.soft_limit);
    offset = spread3(f.offset);
    origin = spread3(f.origin);
    twist = spread3(f.twist);
    swing = spread3(f.swing);
    offset_length = spread(f.offset.norm());
    twist_square = spread(f.twist.squaredNorm());
    swing_square = spread(f.swing.squaredNorm());
    swing_length = spread(f.swing.norm());
  }

  /// [m] of flesh between vertex and bone.
  HWY_INLINE V depth(const V3& p) const {
    const V3 q = minus(p, from);
    const V share = hn::Min(hn::Max(dot(q, along_over_square), hn::Zero(D())), spread(1.0f));
    return depthBeside(timesPlus(hn::Neg(share), along, q));
  }
  /// The same for a vertex that lies at `away` from the nearest point of the bone's axis.
  HWY_INLINE V depthBeside(const V3& away) const {
    return hn::Max(hn::Sub(hn::Sqrt(dot(away, away)), radius), hn::Zero(D()));
  }
};

/// q turned by share * r, |share * r| at most about 1: series of sine and cosine, to float's last
/// digits.
HWY_INLINE V3 turned(const V3& q, const V3& r, V r_square, V share) {
  const V x = hn::Mul(hn::Mul(share, share), r_square);
  V sine = spread(-1.0f / 39916800);
  for (const float c : {1.0f / 362880, -1.0f / 5040, 1.0f / 120, -1.0f / 6, 1.0f})
    sine = hn::MulAdd(sine, x, spread(c));
  V cosine = spread(-1.0f / 3628800);
  for (const float c : {1.0f / 40320, -1.0f / 720, 1.0f / 24, -1.0f / 2})
    cosine = hn::MulAdd(cosine, x, spread(c));
  // q + sin/|r| r x q + (1 - cos)/|r|^2 r x (r x q)
  const V3 across = cross(r, q);
  const V first = hn::Mul(share, sine);
  const V second = hn::Neg(hn::Mul(hn::Mul(share, share), cosine));
  return timesPlus(second, cross(r, across), timesPlus(first, across, q));
}

/// 1 / v, to about 2 units in the last place; v in [1e-37, 1e37], otherwise anything.
HWY_INLINE V inverse(V v) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
  const V estimate = hn::ApproximateReciprocal(v);
  return hn::Mul(estimate, hn::NegMulAdd(v, estimate, spread(2.0f)));
#else
  return hn::Div(spread(1.0f), v);
#endif
}

/// The share of a displacement of length `wanted` that stays within `limit` (see withinLimit).
HWY_INLINE V shareWithin(const FleshLanes& f, V wanted, V limit) {
  const V knee = hn::Mul(f.soft, limit);
  const V beyond = hn::Sub(wanted, knee);
  const auto free = hn::Le(beyond, hn::Zero(D()));
  const V room = hn::Mul(f.rest_of_limit, limit);
  // (knee + room beyond / (beyond + room)) / wanted
  const V whole = hn::Add(beyond, room);
  const V bent = hn::MulAdd(room, beyond, hn::Mul(knee, whole));
  const V share = hn::Mul(bent, inverse(hn::Mul(whole, wanted)));
  // Without room the product above may be smaller than inverse() takes, as a swing dies away.
  const V kept = hn::IfThenElseZero(hn::Gt(limit, hn::Zero(D())), share);
  return hn::IfThenElse(free, spread(1.0f), kept);
}

/// Twist about the bone, then swing and offset, which may only go a share of their way.
template <bool kPerVertex>
HWY_INLINE V3 turnedLanes(const FleshLanes& f, const V3& p, V alpha) {
  const V3 arm = minus(p, f.origin);
  V share = alpha;
  if (kPerVertex) {
    const V reach = hn::MulAdd(f.swing_length, hn::Sqrt(dot(arm, arm)), f.offset_length);
    const V limit = hn::Mul(f.reach, f.depth(p));
    share = hn::Mul(share, shareWithin(f, hn::Mul(alpha, reach), limit));
  }
  const V3 twisted = turned(arm, f.twist, f.twist_square, alpha);
  const V3 swung = turned(twisted, f.swing, f.swing_square, share);
  // As a difference: vertices that do not turn keep their bits.
  return timesPlus(share, f.offset, plus(p, minus(swung, arm)));
}

HWY_INLINE V3 loadPositions(const float* positions) {
  V3 p;
  hn::LoadInterleaved3(D(), positions, p.x, p.y, p.z);
  return p;
}

/// Calls body(positions, alpha, lanes) for whole registers and for what is left of a run, in a
/// buffer of its own whose spare lanes have weight 0.
template <class Body>
HWY_INLINE void forRuns(const FleshFrame& frame, std::size_t task, const Body& body) {
  const FleshRuns& runs = *frame.runs;
  for (std::uint32_t r = runs.first_run[task]; r < runs.first_run[task + 1]; ++r) {
    const FleshRun& run = runs.runs[r];
    float* const positions = frame.positions + 3 * std::size_t{run.first_vertex};
    const float* const alpha = runs.alpha.data() + run.first_entry;
    std::size_t i = 0;
    for (; i + kLanes <= run.count; i += kLanes) body(positions + 3 * i, hn::LoadU(D(), alpha + i));
    if (i == run.count) continue;
    HWY_ALIGN float rest[3 * kBlockLanes] = {};
    const std::size_t left = 3 * (run.count - i) * sizeof(float);
    std::memcpy(rest, positions + 3 * i, left);
    body(rest, hn::LoadU(D(), alpha + i));
    std::memcpy(positions + 3 * i, rest, left);
  }
}

template <bool kPerVertex>
void turnFlesh(const FleshFrame& frame, std::size_t task) {
  const FleshLanes f(frame);
  forRuns(frame, task, [&](float* positions, V alpha) {
    const V3 p = turnedLanes<kPerVertex>(f, loadPositions(positions), alpha);
    hn::StoreInterleaved3(p.x, p.y, p.z, D(), positions);
  });
}

/// alpha * offset added to vertices as they lie in memory, x y z x y z ...: cheaper than taking
/// them apart and putting them together again.
struct AddOffset {
  using Lanes = decltype(hn::SetTableIndices(D(), static_cast<const std::int32_t*>(nullptr)));
  struct Part {
    V offset;
    Lanes lane;  ///< whose alpha belongs to each entry
  };
  Part parts[3];

  explicit HWY_INLINE AddOffset(const Vec3f& offset) {
    const D d;
    for (std::size_t k = 0; k < 3; ++k) {
      HWY_ALIGN float values[kBlockLanes];
      HWY_ALIGN std::int32_t lanes[kBlockLanes];
      for (std::size_t j = 0; j < kLanes; ++j) {
        values[j] = offset[static_cast<int>((k * kLanes + j) % 3)];
        lanes[j] = static_cast<std::int32_t>((k * kLanes + j) / 3);
      }
      parts[k] = {hn::Load(d, values), hn::SetTableIndices(d, lanes)};
    }
  }
  HWY_INLINE void operator()(float* positions, V alpha) const {
    const D d;
    for (std::size_t k = 0; k < 3; ++k) {
      float* const at = positions + k * kLanes;
      const V own = hn::TableLookupLanes(alpha, parts[k].lane);
      hn::StoreU(hn::MulAdd(own, parts[k].offset, hn::LoadU(d, at)), d, at);
    }
  }
};

void moveTogether(const FleshFrame& frame, std::size_t task) {
  const AddOffset add(frame.offset);
  forRuns(frame, task, [&](float* positions, V alpha) { add(positions, alpha); });
}

/// alpha, minus what the limits take of it: shareWithin() for a displacement that is alpha times
/// one vector, so that all but the vertex's depth and alpha is known beforehand.
struct LimitedAlpha {
  V wanted, knee, room, bend, back;  ///< of the way at alpha 1, or of 1 m depth

  explicit HWY_INLINE LimitedAlpha(const FleshFrame& f) {
    const float length = f.offset.norm();
    wanted = spread(length);
    knee = spread(f.soft_limit * f.reach);
    room = spread((1 - f.soft_limit) * f.reach);
    bend = spread(f.soft_limit * (1 - f.soft_limit) * f.reach);
    back = spread(f.reach / length);
  }
  /// `bends`: whether any of them comes near its limit.
  HWY_INLINE V operator()(V alpha, V depth, bool& bends) const {
    const V beyond = hn::NegMulAdd(knee, depth, hn::Mul(alpha, wanted));
    const V whole = hn::MulAdd(room, depth, beyond);
    const V bent = hn::Mul(hn::MulAdd(bend, depth, beyond), hn::Mul(back, depth));
    const auto free = hn::Le(beyond, hn::Zero(D()));
    bends = !hn::AllTrue(D(), free);
    return hn::IfThenElse(free, alpha, hn::Div(bent, whole));
  }
};

/// Most vertices are far from their limit, which needs neither a root nor a division to see: they
/// want less than the knee, measured to the bone's whole line. The last digits are left to spare.
/// Behind one that bends more are likely to come, and are not asked.
void moveWithinLimits(const FleshFrame& frame, std::size_t task) {
  const D d;
  const FleshLanes f(frame);
  const AddOffset add(frame.offset);
  const LimitedAlpha limited(frame);
  const float bone_length = frame.bone_along.norm();
  const V length = spread(bone_length);
  const V3 axis =
      spread3(bone_length > 0 ? Vec3f(frame.bone_along / bone_length) : Vec3f(Vec3f::Zero()));
  const float knee = frame.soft_limit * frame.reach;
  const V wanted =
      spread(knee > 0 ? frame.offset.norm() / knee : std::numeric_limits<float>::infinity());
  const V spare = spread(1 - 4e-6f);
  bool bends = false;
  forRuns(frame, task, [&](float* positions, V alpha) {
    const V3 q = minus(loadPositions(positions), f.from);
    const V along = dot(q, axis);
    const auto isFree = [&] {
      const V aside = hn::NegMulAdd(along, along, hn::Mul(dot(q, q), spare));
      const V needed = hn::MulAdd(alpha, wanted, f.radius);
      return hn::AllTrue(d, hn::Le(hn::Mul(needed, needed), aside));
    };
    if (!bends && isFree()) {
      add(positions, alpha);
      return;
    }
    const V at = hn::Min(hn::Max(along, hn::Zero(d)), length);
    const V depth = f.depthBeside(timesPlus(hn::Neg(at), axis, q));
    add(positions, limited(alpha, depth, bends));
  });
}

void moveFleshOnTarget(const FleshFrame& frame, std::size_t task) {
  if (frame.rotates)
    frame.per_vertex ? turnFlesh<true>(frame, task) : turnFlesh<false>(frame, task);
  else
    frame.per_vertex ? moveWithinLimits(frame, task) : moveTogether(frame, task);
}

FleshTightest tightestOnTarget(const FleshFrame& frame, std::size_t task) {
  const D d;
  const FleshLanes f(frame);
  const V infinity = spread(std::numeric_limits<float>::infinity());
  V offset = infinity, swing = infinity;
  forRuns(frame, task, [&](float* positions, V alpha) {
    const V3 p = loadPositions(positions);
    const V max_offset = hn::Div(f.depth(p), alpha);
    const auto moves = hn::Gt(alpha, hn::Zero(d));
    offset = hn::Min(offset, hn::IfThenElse(moves, max_offset, infinity));
    if (!frame.rotates) return;
    const V3 arm = minus(p, f.origin);
    const V turn = hn::Div(max_offset, hn::Sqrt(dot(arm, arm)));
    swing = hn::Min(swing, hn::IfThenElse(moves, turn, infinity));
  });
  return {hn::GetLane(hn::MinOfLanes(d, offset)), hn::GetLane(hn::MinOfLanes(d, swing))};
}

}  // namespace HWY_NAMESPACE
}  // namespace derm::detail
HWY_AFTER_NAMESPACE();

#endif
