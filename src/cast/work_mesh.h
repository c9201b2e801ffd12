#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "cast/surface.h"

namespace derm::detail::cast {

/// A triangle surface that can be edited: vertices know their triangles, the dead stay in place
/// until `compacted`. May have a boundary. All edits keep it an oriented manifold.
class WorkMesh {
 public:
  using Index = std::uint32_t;
  static constexpr Index kNone = 0xFFFFFFFFu;

  explicit WorkMesh(const Surface& surface);
  Surface compacted() const;

  std::size_t vertexCapacity() const { return positions.size(); }
  std::size_t triangleCount() const { return alive_triangles_; }
  bool alive(Index v) const { return !around_[v].empty(); }
  const std::vector<Index>& trianglesAt(Index v) const { return around_[v]; }
  const Triangle& triangle(Index t) const { return triangles_[t]; }
  Vec3d normal(Index t) const;  ///< not unit length

  /// Each edge once, as (a, b); in order of triangles.
  std::vector<std::array<Index, 2>> edges() const;
  /// Vertices joined to v, in the order their triangles were attached.
  void neighbours(Index v, std::vector<Index>& out) const;

  /// The two sides of an edge: triangle and opposite corner; kNone where there is none. `left` is
  /// the triangle that has the edge as a -> b.
  struct Sides {
    Index left = kNone, right = kNone;
    Index left_corner = kNone, right_corner = kNone;
    bool boundary() const { return left == kNone || right == kNone; }
    bool exists() const { return left != kNone || right != kNone; }
  };
  Sides sides(Index a, Index b) const;
  bool isFeature(const Sides& s) const {
    return s.boundary() || materials_[s.left] != materials_[s.right];
  }
  int material(Index t) const { return materials_[t]; }

  /// New vertex in the middle of the edge; returns it.
  Index split(Index a, Index b, const Vec3d& at);
  /// Link condition, and no triangle that survives turns over when `gone` moves to `kept` at `at`.
  bool canCollapse(Index gone, Index kept, const Vec3d& at) const;
  void collapse(Index gone, Index kept, const Vec3d& at);
  /// Replaces the inner edge by the other diagonal; requires it not to exist already.
  void flip(const Sides& s, Index a, Index b);
  bool connected(Index a, Index b) const { return sides(a, b).exists(); }

  std::vector<Vec3d> positions;

 private:
  void detach(Index t, Index v);

  std::vector<Triangle> triangles_;  // dead ones have three equal corners
  std::vector<int> materials_;
  std::vector<std::vector<Index>> around_;
  std::size_t alive_triangles_ = 0;
};

}  // namespace derm::detail::cast
