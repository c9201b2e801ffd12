#include "volume/ring_kernels.h"

// Vectors are kept in structs below, which types without a size known at compile time do not allow.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "volume/ring_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, as Highway wants it.
#include <hwy/highway.h>

#include "volume/ring_kernels-inl.h"

#if HWY_ONCE
namespace derm::detail {

HWY_EXPORT(measureRingsOnTarget);
HWY_EXPORT(sumCornersOnTarget);
HWY_EXPORT(sumCubicOnTarget);
HWY_EXPORT(tetrahedronVolumesOnTarget);

RingSums measureRings(const RingRun& run, const Vec3d* x, const Vec3d& anchor,
                      const RingOutput& out) {
  return HWY_DYNAMIC_DISPATCH(measureRingsOnTarget)(run, x, anchor, out);
}

void sumCorners(const CornerList& corners, const Vec3d* x, const Vec3d& anchor,
                std::span<Vec3d> out) {
  HWY_DYNAMIC_DISPATCH(sumCornersOnTarget)(corners, x, anchor, out);
}

LineCubic sumCubic(std::span<const Triangle> triangles, const Vec3d* x, const Vec3d& anchor,
                   const Vec3d* field, const std::uint32_t* entries) {
  return HWY_DYNAMIC_DISPATCH(sumCubicOnTarget)(triangles, x, anchor, field, entries);
}

void tetrahedronVolumes(std::span<const Triangle> triangles, const Vec3d* x, const Vec3d& anchor,
                        std::span<double> out) {
  HWY_DYNAMIC_DISPATCH(tetrahedronVolumesOnTarget)(triangles, x, anchor, out);
}

}  // namespace derm::detail
#endif
