#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "derm/math/vec.h"
#include "derm/mesh/tri_mesh.h"

/// Private to room volume: the section correction's inner loops, for the CPU's instruction set.
namespace derm::detail {

/// A point as the sums read it: where it is, and how far along its way it moves with its
/// multiplier.
struct alignas(32) SectionRow {
  double x[3];
  double h;
};
static_assert(sizeof(SectionRow) == 32);

/// Points with their ways, the direction in which each moves. A way is three floats, in the order
/// z, x, y, in which cross products come out; behind the last there is one float to spare.
struct SectionPoints {
  SectionRow* rows = nullptr;
  float* ways = nullptr;
};

struct SectionShared {
  Triangle corners{};
  std::uint32_t anchor = 0;  ///< a joint of the regions
};

/// Of tetrahedra between triangles and an anchor: volumes, and how they change with the multiplier.
struct SectionSum {
  double volume = 0, slope = 0;
};
SectionSum sumTetrahedra(std::span<const Triangle> triangles, const SectionPoints& points,
                         const Vec3d& anchor);
double sumVolumes(std::span<const Triangle> triangles, const SectionPoints& points,
                  const Vec3d& anchor);
/// One after the other: volume, and its change with each corner's h.
struct SectionTetrahedron {
  double volume, slopes[3];
};
void measureTetrahedra(std::span<const SectionShared> triangles, const SectionPoints& points,
                       std::span<const Vec3d> anchors, std::span<SectionTetrahedron> out);
/// [m^2] Areas of triangles.
void measureAreas(std::span<const Triangle> triangles, const SectionRow* rows,
                  std::span<float> areas);

/// s = sigma asinh(eta / sigma), and its slope against eta. Sizes are multiples of 8.
void spreadNeeds(double sigma, std::span<const double> eta, std::span<double> s,
                 std::span<double> slopes);
/// Takes rows [first, first + s.size()) from `now` along their ways to s; their h is set too.
void moveRows(const SectionPoints& points, std::size_t first, std::span<const double> s,
              std::span<const double> h, double* now);

}  // namespace derm::detail
