#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/mesh/adjacency.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

/// Brings the normals of a surface up to date after its positions were moved, every frame:
/// area-weighted, and true to how the mesh was authored. Vertices at one position that had the same
/// normal at rest (a texture seam) keep sharing one; those with different normals (a hard edge)
/// stay apart. Immutable; share freely between threads.
class NormalUpdate {
 public:
  /// Requires a valid mesh. A mesh without normals is smooth everywhere. O(n log n) time, O(n)
  /// memory.
  explicit NormalUpdate(const TriMesh& rest);

  /// `normals` belong to the positions `before` and come out for `after`, with unit length. Where
  /// the mesh was authored with area-weighted normals they are simply computed anew; elsewhere each
  /// normal is turned as the area-weighted one turns, which keeps what the artist gave it. A vertex
  /// without area around it keeps its normal. `areas` is room for triangleCount() vectors, whatever
  /// they hold. Allocation-free; the same bits for any thread count. Cost O(triangles).
  void evaluate(std::span<const Vec3f> before, std::span<const Vec3f> after, std::span<Vec3f> areas,
                std::span<Vec3f> normals) const noexcept;

  /// Only the area-weighted ones, computed anew for `positions`; those that the artist gave stay.
  void evaluateSmooth(std::span<const Vec3f> positions, std::span<Vec3f> areas,
                      std::span<Vec3f> normals) const noexcept;

  std::size_t vertexCount() const { return authored_.size(); }
  std::size_t triangleCount() const { return triangles_.size(); }
  /// False where the mesh was authored with area-weighted normals all over: then `before` is not
  /// read, and may be anything of the right size.
  bool readsBefore() const { return reads_before_; }

 private:
  /// Calls use(group, its area-weighted normal at `positions`) where there is one.
  template <class Use>
  void forGroups(std::span<const Vec3f> positions, std::span<Vec3f> areas,
                 const Use& use) const noexcept;
  void turnGroup(std::size_t group, const Vec3f& now, std::span<const Vec3f> before,
                 std::span<Vec3f> normals) const noexcept;

  IndexLists members_;  ///< the vertices of each group: same position, same rest normal
  IndexLists around_;   ///< the triangles of each group
  std::vector<Triangle> triangles_;
  std::vector<std::uint8_t> authored_;  ///< per vertex: its rest normal is not area-weighted
  std::vector<std::uint8_t> turns_;     ///< per group: some of its vertices are authored
  bool reads_before_ = false;
};

}  // namespace derm
