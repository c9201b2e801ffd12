#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/anim/skeleton.h"
#include "derm/anim/skin.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

/// The point that each vertex turns about when its joints bend: the middle of the skin that follows
/// its joints in the same proportions, which for a limb lies on its axis.
///
/// Method: Le and Hodgins, "Real-time skeletal skinning with optimized centers of rotation" (2016),
/// in a form of our own: c_i is the mean of all triangles' centroids, weighted by area and by
///     sum over pairs of joints j < k of w_ij w_ik w_Tj w_Tk exp(-(w_ij w_Tk - w_ik w_Tj)^2 /
///     0.1^2)
/// where w_T is the mean of a triangle's corners. Where nothing is alike (a vertex that follows one
/// joint alone) it is the vertex itself. Slots of one joint count as one.
/// Where we differ: the pairs are the outer loop, and a pair's triangles are gathered into cells of
/// equal weights (1/128 wide, each at its mean), so that the cost does not grow with the square of
/// the mesh. Moving, turning, uniformly scaling, mirroring or reordering the mesh does the same to
/// the result.
///
/// [m] One per vertex. Requires a valid mesh and a skin with a row per vertex. Cost: 0.3 s for 13k
/// vertices and 163 joints on one core; uses several threads.
std::vector<Vec3d> rotationCentres(std::span<const Vec3f> positions,
                                   std::span<const Triangle> triangles, const Skin& skin);
std::vector<Vec3d> rotationCentres(std::span<const Vec3d> positions,
                                   std::span<const Triangle> triangles, const Skin& skin);

/// A slot and the slot above it in the skeleton: of the nearest joint above that has one (of
/// several the nearest in number, since a skin's slots stand together). Parents come first; those
/// without one above refer to the first of the list, which refers to itself.
struct SlotLink {
  std::uint32_t slot = 0;
  std::uint32_t parent = 0;
};
std::vector<SlotLink> slotLinks(const Skeleton& skeleton, const Skin& skin);

}  // namespace derm
