#include "implicit/band_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "implicit/band_kernels.cpp"
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#include <hwy/foreach_target.h>
// After foreach_target.h, as Highway wants it.
#include <hwy/highway.h>

#include "implicit/band_kernels-inl.h"

#if HWY_ONCE
namespace derm::detail {

HWY_EXPORT(curvatureOnTarget);
HWY_EXPORT(advanceOnTarget);

void curvatureOfRows(const BlockTile& tile, const BlockTile::RowMask& rows,
                     const BlockTile::RowMask& last, BlockTile& curvature) {
  HWY_DYNAMIC_DISPATCH(curvatureOnTarget)(tile, rows, last, curvature);
}

void advanceRows(const AdvanceJob& job) { HWY_DYNAMIC_DISPATCH(advanceOnTarget)(job); }

}  // namespace derm::detail
#endif
