#include "volume/section_kernels.h"

// Vectors are kept in structs below, which types without a size known at compile time do not allow.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "volume/section_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, as Highway wants it.
#include <hwy/highway.h>

#include "volume/section_kernels-inl.h"

#if HWY_ONCE
namespace derm::detail {

HWY_EXPORT(sumTetrahedraOnTarget);
HWY_EXPORT(sumVolumesOnTarget);
HWY_EXPORT(measureTetrahedraOnTarget);
HWY_EXPORT(measureAreasOnTarget);
HWY_EXPORT(spreadNeedsOnTarget);
HWY_EXPORT(moveRowsOnTarget);

SectionSum sumTetrahedra(std::span<const Triangle> triangles, const SectionPoints& points,
                         const Vec3d& anchor) {
  return HWY_DYNAMIC_DISPATCH(sumTetrahedraOnTarget)(triangles, points, anchor);
}

double sumVolumes(std::span<const Triangle> triangles, const SectionPoints& points,
                  const Vec3d& anchor) {
  return HWY_DYNAMIC_DISPATCH(sumVolumesOnTarget)(triangles, points, anchor);
}

void measureTetrahedra(std::span<const SectionShared> triangles, const SectionPoints& points,
                       std::span<const Vec3d> anchors, std::span<SectionTetrahedron> out) {
  HWY_DYNAMIC_DISPATCH(measureTetrahedraOnTarget)(triangles, points, anchors, out);
}

void measureAreas(std::span<const Triangle> triangles, const SectionRow* rows,
                  std::span<float> areas) {
  HWY_DYNAMIC_DISPATCH(measureAreasOnTarget)(triangles, rows, areas);
}

void spreadNeeds(double sigma, std::span<const double> eta, std::span<double> s,
                 std::span<double> slopes) {
  HWY_DYNAMIC_DISPATCH(spreadNeedsOnTarget)(sigma, eta, s, slopes);
}

void moveRows(const SectionPoints& points, std::size_t first, std::span<const double> s,
              std::span<const double> h, double* now) {
  HWY_DYNAMIC_DISPATCH(moveRowsOnTarget)(points, first, s, h, now);
}

}  // namespace derm::detail
#endif
