// Per-target include: compiled once for each instruction set. The skinning of blocks.

#if defined(DERM_SKINNING_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DERM_SKINNING_KERNELS_INL_H_
#undef DERM_SKINNING_KERNELS_INL_H_
#else
#define DERM_SKINNING_KERNELS_INL_H_
#endif

#include "deform/skinning_kernels.h"
#include "deform/skinning_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace derm::detail {
namespace HWY_NAMESPACE {

/// What a run's blocks have in common.
struct RunView {
  const SkinningFrame* frame;
  const std::uint32_t* slots;
  std::size_t slot_count;
  bool own_normals;  ///< some slot needs its own normal matrix
  bool stretched;    ///< some slot is not rigid
  std::uint32_t twist_bone = TwistShares::kNone;
};

// --------------------------------------------------------------------------------------- linear

struct Matrix3 {
  V3 x, y, z;  ///< columns
};

HWY_INLINE V3 apply(const Matrix3& m, const V3& v) {
  return timesPlus(v.x, m.x, timesPlus(v.y, m.y, times(v.z, m.z)));
}

HWY_INLINE V3 addWeighted(V weight, const float* column, const V3& sum) {
  return {hn::MulAdd(weight, spread(column[0]), sum.x),
          hn::MulAdd(weight, spread(column[1]), sum.y),
          hn::MulAdd(weight, spread(column[2]), sum.z)};
}

HWY_INLINE V3 zero3() {
  const V zero = hn::Zero(D());
  return {zero, zero, zero};
}

HWY_INLINE Matrix3 blendNormalMatrix(const RunView& run, const float* weights) {
  Matrix3 sum = {zero3(), zero3(), zero3()};
  const float* const table = run.frame->palette->normal_matrices.data();
  for (std::size_t k = 0; k < run.slot_count; ++k) {
    const float* const m = table + kNormalStride * run.slots[k];
    const V weight = loadLanes(weights + k * kBlockLanes);
    sum.x = addWeighted(weight, m, sum.x);
    sum.y = addWeighted(weight, m + 3, sum.y);
    sum.z = addWeighted(weight, m + 6, sum.z);
  }
  return sum;
}

struct Matrix34 {
  Matrix3 linear;
  V3 translation;
};

HWY_INLINE V3 apply(const Matrix34& m, const V3& p) {
  return timesPlus(p.x, m.linear.x,
                   timesPlus(p.y, m.linear.y, timesPlus(p.z, m.linear.z, m.translation)));
}

HWY_INLINE V3 spread3(const float* column) {
  return {spread(column[0]), spread(column[1]), spread(column[2])};
}

HWY_INLINE Matrix34 blendMatrix(const RunView& run, const float* weights) {
  const float* const table = run.frame->palette->matrices.data();
  if (run.slot_count == 1) {  // all weights are 1
    const float* const m = table + kMatrixStride * run.slots[0];
    return {{spread3(m), spread3(m + 3), spread3(m + 6)}, spread3(m + 9)};
  }
  Matrix34 sum = {{zero3(), zero3(), zero3()}, zero3()};
  for (std::size_t k = 0; k < run.slot_count; ++k) {
    const float* const m = table + kMatrixStride * run.slots[k];
    const V weight = loadLanes(weights + k * kBlockLanes);
    sum.linear.x = addWeighted(weight, m, sum.linear.x);
    sum.linear.y = addWeighted(weight, m + 3, sum.linear.y);
    sum.linear.z = addWeighted(weight, m + 6, sum.linear.z);
    sum.translation = addWeighted(weight, m + 9, sum.translation);
  }
  return sum;
}

template <class Wanted>
HWY_INLINE Lanes skinLinear(const RunView& run, const float* weights, const Lanes& rest) {
  const Matrix34 blended = blendMatrix(run, weights);
  const Matrix3& linear = blended.linear;
  Lanes out;
  out.position = apply(blended, rest.position);
  if constexpr (Wanted::kTangents) {
    out.tangent = unitTangent(apply(linear, rest.tangent), rest.tangent);
    const V determinant = dot(linear.x, cross(linear.y, linear.z));
    const auto mirrored = hn::Lt(determinant, hn::Zero(D()));
    out.tangent_w = hn::IfThenElse(mirrored, hn::Neg(rest.tangent_w), rest.tangent_w);
  }
  if constexpr (Wanted::kNormals) {
    const Matrix3 for_normals =
        HWY_UNLIKELY(run.own_normals) ? blendNormalMatrix(run, weights) : linear;
    out.normal = unitNormal(apply(for_normals, rest.normal), rest.normal);
  }
  return out;
}

// ------------------------------------------------------------------------------- dual quaternion

/// Sum of dual quaternions; not normalised.
struct DualSum {
  V3 real;
  V real_w;
  V3 dual;
  V dual_w;
};

// q and -q are the same motion but would cancel in a sum: each slot is added with the sign that
// brings it into the hemisphere of the lane's largest influence, its pivot.

using DI = hn::RebindToUnsigned<D>;
using VI = hn::Vec<DI>;

HWY_INLINE VI signBit(V v) { return hn::And(hn::BitCast(DI(), v), hn::Set(DI(), 0x80000000u)); }

HWY_INLINE V quatDot(const V4& a, const float* b) {
  return hn::MulAdd(a.w, spread(b[3]),
                    hn::MulAdd(a.xyz.z, spread(b[2]),
                               hn::MulAdd(a.xyz.y, spread(b[1]), hn::Mul(a.xyz.x, spread(b[0])))));
}

/// The rotations of some of a run's slots, one per lane.
HWY_INLINE V4 gatherQuats(const RunView& run, const std::uint32_t* which) {
  std::uint32_t slots[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i) slots[i] = run.slots[which[i]];
  return gather4(run.frame->palette->dual_quats.data(), kDualQuatStride, slots);
}

HWY_INLINE const float* quatOf(const RunView& run, std::size_t k) {
  return run.frame->palette->dual_quats.data() + kDualQuatStride * run.slots[k];
}

/// The signs of a run's slots towards each other: bit 31 - k of row i is set where slot k has to be
/// turned for pivot i. Spares the blocks of longer runs the products.
struct SignTable {
  VI rows;
  bool usable;
};

HWY_INLINE SignTable makeSignTable(const RunView& run, std::size_t block_count) {
  SignTable out;
  out.rows = hn::Zero(DI());
  out.usable = block_count > 1 && run.slot_count <= kLanes;
  if (!out.usable) return out;
  std::uint32_t which[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i)
    which[i] = static_cast<std::uint32_t>(i < run.slot_count ? i : 0);
  const V4 pivots = gatherQuats(run, which);
  // From the last slot to the first, so that each shift moves the later ones down.
  for (std::size_t k = run.slot_count; k-- > 0;)
    out.rows = hn::Or(hn::ShiftRight<1>(out.rows), signBit(quatDot(pivots, quatOf(run, k))));
  return out;
}

/// Gives each slot's weights their signs, slot after slot.
class PivotSigns {
 public:
  HWY_INLINE PivotSigns(const RunView& run, const SignTable& table, const std::uint32_t* pivots)
      : from_table_(table.usable), bits_(hn::Zero(DI())) {
    const DI d;
    if (from_table_)
      bits_ = hn::TableLookupLanes(table.rows, hn::IndicesFromVec(d, hn::Load(d, pivots)));
    else
      pivot_ = gatherQuats(run, pivots);
  }

  /// Of the next slot, whose rotation is q.
  HWY_INLINE V apply(V weight, const float* q) {
    VI sign;
    if (from_table_) {
      sign = hn::And(bits_, hn::Set(DI(), 0x80000000u));
      bits_ = hn::ShiftLeft<1>(bits_);
    } else {
      sign = signBit(quatDot(pivot_, q));
    }
    return hn::Xor(weight, hn::BitCast(D(), sign));
  }

 private:
  bool from_table_;
  VI bits_;
  V4 pivot_;
};

HWY_INLINE void addWeightedQuat(V weight, const float* q, DualSum& sum) {
  sum.real = addWeighted(weight, q, sum.real);
  sum.real_w = hn::MulAdd(weight, spread(q[3]), sum.real_w);
  sum.dual = addWeighted(weight, q + 4, sum.dual);
  sum.dual_w = hn::MulAdd(weight, spread(q[7]), sum.dual_w);
}

HWY_INLINE DualSum zeroSum() {
  const V zero = hn::Zero(D());
  return {zero3(), zero, zero3(), zero};
}

/// Where the palette's signs are right already.
struct KeptSigns {
  HWY_INLINE V apply(V weight, const float*) { return weight; }
};

template <class Signs>
HWY_INLINE DualSum blendQuats(const RunView& run, const float* weights, Signs& signs) {
  DualSum sum = zeroSum();
  for (std::size_t k = 0; k < run.slot_count; ++k) {
    const float* const q = quatOf(run, k);
    addWeightedQuat(signs.apply(loadLanes(weights + k * kBlockLanes), q), q, sum);
  }
  return sum;
}

/// Blends motions that stretch: applies the stretch about `centre` to the lanes and gives the rigid
/// motion that has to follow.
template <class Wanted, class Signs>
HWY_INLINE DualSum blendStretched(const RunView& run, const float* weights, Signs& signs,
                                  const V3& centre, Lanes& lanes) {
  const V zero = hn::Zero(D());
  Stretch e = {zero, zero, zero, zero, zero, zero};
  DualSum sum = zeroSum();
  const SkinningPalette& palette = *run.frame->palette;
  for (std::size_t k = 0; k < run.slot_count; ++k) {
    const float* const q = quatOf(run, k);
    const V weight = loadLanes(weights + k * kBlockLanes);
    const V turned = signs.apply(weight, q);
    addWeightedQuat(turned, q, sum);
    // Without stretch all that follows adds exact zeros.
    if (!(palette.flags[run.slots[k]] & SkinningPalette::kStretched)) continue;
    const float* const s = palette.stretches.data() + kStretchStride * run.slots[k];
    e.xx = hn::MulAdd(weight, spread(s[0]), e.xx);
    e.yy = hn::MulAdd(weight, spread(s[1]), e.yy);
    e.zz = hn::MulAdd(weight, spread(s[2]), e.zz);
    e.xy = hn::MulAdd(weight, spread(s[3]), e.xy);
    e.xz = hn::MulAdd(weight, spread(s[4]), e.xz);
    e.yz = hn::MulAdd(weight, spread(s[5]), e.yz);
    const V3 arm = times(turned, centre);
    sum.dual =
        addWeighted(arm.x, s + 6, addWeighted(arm.y, s + 10, addWeighted(arm.z, s + 14, sum.dual)));
    sum.dual_w =
        hn::MulAdd(arm.x, spread(s[9]),
                   hn::MulAdd(arm.y, spread(s[13]), hn::MulAdd(arm.z, spread(s[17]), sum.dual_w)));
  }
  stretchLanes<Wanted>(e, centre, lanes);
  return sum;
}

HWY_INLINE V3 rotated(const DualSum& q, V twice_inverse, const V3& v) {
  const V3 half = crossPlus(q.real, v, times(q.real_w, v));
  return timesPlus(twice_inverse, cross(q.real, half), v);
}

/// p + 2/|r|^2 (r x (r x p + w p) + translation part); the last as Kavan et al., algorithm 1.
HWY_INLINE V3 moved(const DualSum& sum, V twice_inverse, const V3& p) {
  const V3 half = crossPlus(sum.real, p, timesPlus(sum.real_w, p, sum.dual));
  const V3 turned = crossPlus(sum.real, half, times(sum.real_w, sum.dual));
  return timesPlus(twice_inverse, timesPlus(hn::Neg(sum.dual_w), sum.real, turned), p);
}

template <class Wanted>
HWY_INLINE Lanes skinDualQuat(const RunView& run, const SignTable& table, const float* weights,
                              const std::uint32_t* pivots, const float* centres,
                              const Lanes& rest) {
  Lanes from = rest;
  PivotSigns signs(run, table, pivots);
  const DualSum sum = HWY_UNLIKELY(run.stretched)
                          ? blendStretched<Wanted>(run, weights, signs, loadBound(centres), from)
                          : blendQuats(run, weights, signs);
  // The sum's length cannot vanish: its product with the pivot is at least the pivot's weight.
  const V square = hn::MulAdd(sum.real_w, sum.real_w, dot(sum.real, sum.real));
  const V twice_inverse = hn::Div(spread(2.0f), square);
  Lanes out = from;
  out.position = moved(sum, twice_inverse, from.position);
  if constexpr (Wanted::kNormals)
    out.normal = unitNormal(rotated(sum, twice_inverse, from.normal), rest.normal);
  if constexpr (Wanted::kTangents)
    out.tangent = unitTangent(rotated(sum, twice_inverse, from.tangent), rest.tangent);
  return out;
}

// ---------------------------------------------------------------------------------------- centre

HWY_INLINE V3 mixed(V share, const V3& linear, const V3& dual) {
  return timesPlus(share, minus(dual, linear), linear);
}

template <class Wanted>
HWY_INLINE Lanes skinCentre(const RunView& run, const float* weights, std::size_t block,
                            std::size_t lane, const Lanes& rest) {
  const SkinningBlocks& b = *run.frame->blocks;
  V3 centre = loadBound(b.centres.data() + 3 * block * kBlockLanes + lane);
  Lanes from = rest;
  if (run.twist_bone != TwistShares::kNone) {
    const V share = loadLanes(b.twist_shares.data() + block * kBlockLanes + lane);
    const float angle = run.frame->palette->twists[run.twist_bone];
    twistLanes<Wanted>(makeTwist(b.twist_bones[run.twist_bone], angle, share), centre, from);
  }
  KeptSigns signs;
  const DualSum sum = HWY_UNLIKELY(run.stretched)
                          ? blendStretched<Wanted>(run, weights, signs, centre, from)
                          : blendQuats(run, weights, signs);
  const V square = hn::MulAdd(sum.real_w, sum.real_w, dot(sum.real, sum.real));
  // Joints turned a full circle against each other cancel: such a vertex is only shifted.
  const auto turns = hn::Gt(square, spread(1e-6f));
  const V twice_inverse =
      hn::IfThenElseZero(turns, hn::Div(spread(2.0f), hn::Max(square, spread(1e-6f))));
  const V3 straight = apply(blendMatrix(run, weights), centre);
  const V alpha = hn::IfThenElseZero(turns, spread(run.frame->alpha));
  const V3 about = mixed(alpha, straight, moved(sum, twice_inverse, centre));
  Lanes out = from;
  out.position = plus(about, rotated(sum, twice_inverse, minus(from.position, centre)));
  if constexpr (Wanted::kNormals)
    out.normal = unitNormal(rotated(sum, twice_inverse, from.normal), rest.normal);
  if constexpr (Wanted::kTangents)
    out.tangent = unitTangent(rotated(sum, twice_inverse, from.tangent), rest.tangent);
  return out;
}

// ------------------------------------------------------------------------------------ all of it

template <class Wanted>
HWY_INLINE Lanes mixLanes(V share, const Lanes& linear, const Lanes& dual, const Lanes& rest) {
  Lanes out = linear;
  out.position = mixed(share, linear.position, dual.position);
  if constexpr (Wanted::kNormals)
    out.normal = unitNormal(mixed(share, linear.normal, dual.normal), rest.normal);
  if constexpr (Wanted::kTangents)
    out.tangent = unitTangent(mixed(share, linear.tangent, dual.tangent), rest.tangent);
  return out;
}

template <class Wanted>
HWY_INLINE Lanes loadRest(const SkinningFrame& frame, std::size_t block, std::size_t lane) {
  const SkinningBlocks& b = *frame.blocks;
  const std::uint32_t* const vertices = b.vertices.data() + block * kBlockLanes + lane;
  Lanes out;
  if (frame.in_positions) {
    out.position = gather3(frame.in_positions, vertices, b.vertex_count);
    if constexpr (Wanted::kNormals)
      out.normal = gather3(frame.in_normals, vertices, b.vertex_count);
    if constexpr (Wanted::kTangents) {
      const V4 tangent = gather4(frame.in_tangents, 4, vertices);
      out.tangent = tangent.xyz;
      out.tangent_w = tangent.w;
    }
    return out;
  }
  out.position = loadBound(b.positions.data() + 3 * block * kBlockLanes + lane);
  if constexpr (Wanted::kNormals)
    out.normal = loadBound(b.normals.data() + 3 * block * kBlockLanes + lane);
  if constexpr (Wanted::kTangents) {
    const float* const tangents = b.tangents.data() + 4 * block * kBlockLanes + lane;
    out.tangent = loadBound(tangents);
    out.tangent_w = loadLanes(tangents + 3 * kBlockLanes);
  }
  return out;
}

template <class Wanted>
HWY_INLINE void storeLanes(const SkinningFrame& frame, std::size_t block, std::size_t lane,
                           const Lanes& lanes) {
  const std::uint32_t* const vertices = frame.blocks->vertices.data() + block * kBlockLanes + lane;
  scatter3(lanes.position, frame.out_positions, vertices);
  if constexpr (Wanted::kNormals) scatter3(lanes.normal, frame.out_normals, vertices);
  if constexpr (Wanted::kTangents)
    scatter4({lanes.tangent, lanes.tangent_w}, frame.out_tangents, vertices);
}

template <BlockKind kKind, class Wanted>
HWY_NOINLINE void skinRun(const SkinningFrame& frame, const BlockRun& blocks, const RunView& run) {
  const SkinningBlocks& b = *frame.blocks;
  SignTable signs;
  if constexpr (kKind == BlockKind::DualQuaternion || kKind == BlockKind::Mixed)
    signs = makeSignTable(run, blocks.block_count);
  for (std::size_t i = 0; i < blocks.block_count; ++i) {
    const std::size_t block = blocks.first_block + i;
    const float* const weights =
        b.weights.data() + blocks.first_weight + i * blocks.slot_count * kBlockLanes;
    for (std::size_t lane = 0; lane < kBlockLanes; lane += kLanes) {
      const Lanes rest = loadRest<Wanted>(frame, block, lane);
      const std::size_t at = block * kBlockLanes + lane;
      if constexpr (kKind == BlockKind::Linear) {
        storeLanes<Wanted>(frame, block, lane, skinLinear<Wanted>(run, weights + lane, rest));
      } else if constexpr (kKind == BlockKind::Centre) {
        storeLanes<Wanted>(frame, block, lane,
                           skinCentre<Wanted>(run, weights + lane, block, lane, rest));
      } else {
        const float* const centres = b.centres.data() + 3 * block * kBlockLanes + lane;
        const Lanes dual =
            skinDualQuat<Wanted>(run, signs, weights + lane, b.pivots.data() + at, centres, rest);
        if constexpr (kKind == BlockKind::DualQuaternion) {
          storeLanes<Wanted>(frame, block, lane, dual);
        } else {
          const Lanes linear = skinLinear<Wanted>(run, weights + lane, rest);
          storeLanes<Wanted>(frame, block, lane,
                             mixLanes<Wanted>(loadLanes(b.shares.data() + at), linear, dual, rest));
        }
      }
    }
  }
}

template <class Wanted>
HWY_INLINE void skinTilesWith(const SkinningFrame& frame, std::size_t begin, std::size_t end) {
  const SkinningBlocks& b = *frame.blocks;
  for (std::size_t r = b.tile_runs[begin]; r < b.tile_runs[end]; ++r) {
    const BlockRun& blocks = b.runs[r];
    RunView run{
        &frame,           b.slots.data() + blocks.first_slot, blocks.slot_count, false, false,
        blocks.twist_bone};
    unsigned flags = 0;
    for (std::size_t k = 0; k < run.slot_count; ++k) flags |= frame.palette->flags[run.slots[k]];
    run.own_normals = (flags & SkinningPalette::kOwnNormals) != 0;
    run.stretched = (flags & SkinningPalette::kStretched) != 0;
    switch (blocks.kind) {
      case BlockKind::Linear:
        skinRun<BlockKind::Linear, Wanted>(frame, blocks, run);
        break;
      case BlockKind::DualQuaternion:
        skinRun<BlockKind::DualQuaternion, Wanted>(frame, blocks, run);
        break;
      case BlockKind::Mixed:
        skinRun<BlockKind::Mixed, Wanted>(frame, blocks, run);
        break;
      case BlockKind::Centre:
        skinRun<BlockKind::Centre, Wanted>(frame, blocks, run);
        break;
    }
  }
}

void skinTilesOnTarget(const SkinningFrame& frame, std::size_t begin, std::size_t end) {
  if (frame.out_normals && frame.out_tangents)
    skinTilesWith<Directions<true, true>>(frame, begin, end);
  else if (frame.out_normals)
    skinTilesWith<Directions<true, false>>(frame, begin, end);
  else if (frame.out_tangents)
    skinTilesWith<Directions<false, true>>(frame, begin, end);
  else
    skinTilesWith<Directions<false, false>>(frame, begin, end);
}

}  // namespace HWY_NAMESPACE
}  // namespace derm::detail
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
