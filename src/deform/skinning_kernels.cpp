#include "deform/skinning_kernels.h"

// Vectors are kept in structs below, which types without a size known at compile time do not allow.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "deform/skinning_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, as Highway wants it.
#include <hwy/highway.h>

#include "deform/skinning_kernels-inl.h"

#if HWY_ONCE
namespace derm::detail {

HWY_EXPORT(skinTilesOnTarget);

void skinTiles(const SkinningFrame& frame, std::size_t begin, std::size_t end) {
  HWY_DYNAMIC_DISPATCH(skinTilesOnTarget)(frame, begin, end);
}

}  // namespace derm::detail
#endif
