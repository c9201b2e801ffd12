#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "derm/mesh/adjacency.h"
#include "derm/mesh/tri_mesh.h"

/// Private to room contact: the rest shape as a field.
namespace derm::detail {

inline constexpr std::uint32_t kNoPoint = 0xFFFFFFFFu;

/// Signed distance to the rest skin (negative inside) and the nearest vertex, at the nodes of a
/// grid; only the inside and a band around it are stored, in bricks of 8^3 nodes. It serves to find
/// where to begin to look, so that it need not be exact. Where its nodes would not fit into memory
/// it is coarser than asked for.
class ContactGrid {
 public:
  struct Input {
    std::span<const Vec3f> positions;      ///< of points
    std::span<const Triangle> triangles;   ///< closed
    const IndexLists& triangles_of_point;  ///< of `triangles`
    std::span<const std::uint8_t> counts;  ///< per point: whether it may be named
    float spacing = 0;                     ///< [m]
    float band = 0;                        ///< [m] outside up to which nodes are kept
    float margin = 0;                      ///< [m] around the rest box
  };
  ContactGrid() = default;
  explicit ContactGrid(const Input& input);

  struct Node {
    float distance = 0;
    std::uint32_t nearest = kNoPoint;
  };
  /// The eight nodes around a position, and the position's weights of them.
  struct Sample {
    std::array<Node, 8> nodes;
    std::array<float, 8> weights;
    float distance() const {
      float sum = 0;
      for (std::size_t k = 0; k < 8; ++k) sum += weights[k] * nodes[k].distance;
      return sum;
    }
  };
  /// False where a node is not stored: outside, and far from the skin.
  bool sample(const Vec3f& p, Sample& out) const;
  /// The stored node nearest to a position; without a nearest point where there is none.
  Node nearestNode(const Vec3f& p) const;

 private:
  static constexpr int kBrick = 8;
  Node at(int x, int y, int z) const;

  Vec3f origin_ = Vec3f::Zero();
  float inverse_spacing_ = 0;
  std::array<int, 3> size_ = {0, 0, 0};  ///< nodes
  std::array<int, 3> bricks_ = {0, 0, 0};
  std::vector<std::uint32_t> brick_of_;  ///< kNoPoint where none is stored
  std::vector<Node> nodes_;
};

}  // namespace derm::detail
