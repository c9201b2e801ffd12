#pragma once

#include <span>
#include <vector>

#include "derm/math/vec.h"

#include "head_samples.h"

namespace derm::detail {

/// An elongated opening of the face: the rim where lips turn inwards, or the border of a hole.
struct Slit {
  Vec3d centre = Vec3d::Zero();
  Vec3d left = Vec3d::Zero();   ///< end towards +x
  Vec3d right = Vec3d::Zero();  ///< end towards -x
  double length = 0;            ///< between the ends
  /// (0,1]: how finely the mesh resolves it. Coarse triangles put the ends anywhere.
  double resolution = 1;
  /// The rim from the right end to the left one, along both sides, at equal shares of its length:
  /// kSides points each, ends left out. Empty where the rim is not one closed curve.
  static constexpr std::size_t kSides = 3;
  std::vector<Vec3d> upper;
  std::vector<Vec3d> lower;
  /// Vertices of the mesh next to either side.
  std::vector<std::uint32_t> upper_vertices;
  std::vector<std::uint32_t> lower_vertices;
};

/// Openings of a head in its face frame that lie across the face (within 45 degrees of level), as
/// long as `min_length` at least, in the skin alone: curves on the mesh where openness, here
/// measured by rays, falls below a threshold, and border loops.
std::vector<Slit> findSlits(std::span<const Vec3d> positions, std::span<const Vec3d> normals,
                            std::span<const Triangle> triangles, const Samples& samples,
                            double min_length = 0.3);

/// The same of an opening whose two sides are known: vertices from the right end to the left one.
Slit slitBetween(std::span<const Vec3d> positions, std::span<const std::uint32_t> upper,
                 std::span<const std::uint32_t> lower);

/// Per vertex +1 near the upper side of a slit, -1 near the lower one, 0 elsewhere or undecided:
/// by the way along the mesh, so that lips that touch are told apart.
std::vector<signed char> rimSides(std::span<const Vec3d> positions,
                                  std::span<const Triangle> triangles, std::span<const Slit> slits,
                                  double reach);

}  // namespace derm::detail
