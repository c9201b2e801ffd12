#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "derm/deform/wrinkles.h"
#include "derm/mesh/adjacency.h"
#include "derm/mesh/local_refinement.h"
#include "derm/mesh/triangle_tree.h"

namespace derm::detail {

/// A surface prepared for folding: all that depends neither on tools nor on poses. Immutable.
struct FoldableSurface {
  explicit FoldableSurface(std::shared_ptr<const BoundSurface> surface);

  std::shared_ptr<const BoundSurface> bound;
  std::vector<std::uint32_t> weld;  ///< see weldMap()
  std::vector<Triangle> welded;
  IndexLists around;  ///< triangles at each welded vertex
  Pieces pieces;      ///< of welded vertices
  RefinableSurface refinable;
};

/// The surface in one pose. Immutable.
struct PosedSurface {
  std::vector<Vec3d> positions, normals;
  std::vector<Vec3f> frame_positions;  ///< the same as frames have them
  std::optional<TriangleTree> tree;    ///< where a tool's path follows the surface
};

/// The surface in the pose a tool is defined in.
struct ToolSurface {
  ToolSurface(const FoldableSurface& surface, const PosedSurface& pose)
      : bound(*surface.bound),
        weld(surface.weld),
        welded(surface.welded),
        around(surface.around),
        pieces(surface.pieces),
        positions(pose.positions),
        normals(pose.normals),
        tree(pose.tree ? &*pose.tree : nullptr) {}

  const BoundSurface& bound;
  std::span<const std::uint32_t> weld;
  std::span<const Triangle> welded;
  const IndexLists& around;
  const Pieces& pieces;
  std::span<const Vec3d> positions;  ///< in the defining pose
  std::span<const Vec3d> normals;
  const TriangleTree* tree;
};

/// Where a point is in a tool's rectangle.
struct ToolCoordinates {
  double along = 0;   ///< [0,1] from A to B
  double across = 0;  ///< [-1,1]
  double facing = 0;  ///< (0,1] fades to 0 where the surface turns away
};

/// A point that rides on a triangle of the surface.
struct RidingPoint {
  Triangle corners = {0, 0, 0};
  Vec3f share = Vec3f::Zero();  ///< barycentric

  Vec3f at(std::span<const Vec3f> values) const {
    return share[0] * values[corners[0]] + share[1] * values[corners[1]] +
           share[2] * values[corners[2]];
  }
};

/// The rest length is a length, and its keys ascend.
Result<void> checkRestLength(const WrinkleToolDesc& desc);
/// All of a tool's numbers but those of its curve.
Result<void> checkNumbers(const WrinkleToolDesc& desc);
/// [m] at an instant; `defined` is the length when the tool was defined.
double restLengthAt(const WrinkleToolDesc& desc, double defined, double time_s);

/// A tool laid on a surface.
class PlacedTool {
 public:
  /// Requires checkNumbers(), and a tree where the path has more than two points.
  static Result<PlacedTool> place(const WrinkleToolDesc& desc, const ToolSurface& surface,
                                  Diagnostics& notes);

  /// None outside the rectangle or turned away.
  std::optional<ToolCoordinates> project(const Vec3d& position, const Vec3d& normal) const;
  /// Triangles of the surface that the rectangle covers some of, sorted.
  const std::vector<std::uint32_t>& triangles() const { return triangles_; }
  /// [m] of the path when it was defined, from picked point to picked point.
  double definedLength() const { return defined_length_; }
  /// The ends of the curve.
  const RidingPoint& a() const { return a_; }
  const RidingPoint& b() const { return b_; }
  double halfWidth() const { return half_width_; }  ///< [m]
  /// [m] extent of a triangle along the curve.
  double extentAlong(const Triangle& t, std::span<const Vec3d> positions) const;
  /// Where `count` points spread evenly along the curve lie on the surface, A and B at the ends;
  /// corners are all 0 and shares 0 where there is no surface.
  std::vector<RidingPoint> pointsOnCurve(std::size_t count, const ToolSurface& surface) const;

 private:
  struct Segment {
    Vec3d from, along, up, across;  ///< unit vectors
    double start = 0, length = 0;   ///< [m]
  };
  struct Projection {
    double along_m = 0, across_m = 0;
    std::size_t segment = 0;
    bool inside = false;  ///< between the ends of the curve
  };
  Projection nearest(const Vec3d& position) const;
  void makeSegments(std::span<const Vec3d> points, std::span<const Vec3d> normals);
  void collectTriangles(std::uint32_t start, const ToolSurface& surface);
  bool covers(const Triangle& t, const ToolSurface& surface) const;

  RidingPoint a_, b_;
  std::vector<Segment> segments_;
  std::vector<std::uint32_t> triangles_;
  double defined_length_ = 0;
  double half_width_ = 0;
};

/// Whether a tool's path is laid over the surface point by point.
inline bool followsSurface(const WrinkleToolDesc& desc) { return desc.path.size() > 2; }

/// The surface in the tool's defining pose; fails on a clip that is not there.
Result<PosedSurface> posedSurface(const WrinkleToolDesc& desc, const Character& character,
                                  const BoundSurface& bound);

}  // namespace derm::detail
