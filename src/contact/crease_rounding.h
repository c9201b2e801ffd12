#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "derm/math/vec.h"

#include "contact/contact_body.h"
#include "contact/contact_search.h"
#include "contact/point_set.h"

/// Private to room contact: skin that is folded over itself sharply.
namespace derm::detail {

/// The bottom of a crease. There skin meets the skin beside it, which no search for other parts
/// finds: two triangles with an edge in common lie on one another. Such edges are opened to a
/// limit, by the least moves of their four points, a fixed number of times at most. How much an
/// edge counts grows from nothing with how far it is beyond the limit, and what a point does is the
/// mean of what its edges ask for: continuous, and the same in any order. Edges that are as sharp
/// at rest, and those that one bone carries, are left alone.
class CreaseRounding {
 public:
  explicit CreaseRounding(const ContactBody& body);

  /// Opens what is too sharp among the search's points.
  void open(ContactSearch& search);
  /// Points that open() has moved.
  std::span<const std::uint32_t> moved() const { return moved_.list(); }

 private:
  /// Two triangles: (a, b, c) and (b, a, d).
  struct Edge {
    std::uint32_t a, b, c, d;
  };
  void findFolded(const std::vector<Vec3f>& x);
  bool openOne(const Edge& edge, ContactSearch& search);
  void ask(std::uint32_t point, const Vec3f& way, float urge);

  const ContactBody& body_;
  std::vector<Triangle> triangles_;  ///< of those edges
  std::vector<float> points_;        ///< in about the body's units, four numbers each
  std::vector<float> normals_;       ///< of triangles_, twice their areas long, four numbers each
  std::vector<Edge> edges_;
  std::vector<std::array<std::uint32_t, 2>> beside_;  ///< of edges_: left and right in triangles_
  IndexLists edges_of_point_;
  PointSet active_;         ///< edges
  PointSet asked_, moved_;  ///< points
  std::vector<Vec3f> ways_;
  std::vector<float> urges_;
};

}  // namespace derm::detail
