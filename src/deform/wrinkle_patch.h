#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "derm/mesh/adjacency.h"
#include "derm/mesh/local_refinement.h"

#include "deform/wrinkle_tool.h"

namespace derm::detail {

/// Work space of a patch; one size fits all patches of a layer.
struct PatchScratch {
  std::vector<Vec3f> before;        ///< positions of slots, refined, not folded
  std::vector<Vec3f> after;         ///< the same, folded
  std::vector<Vec4f> normals;       ///< per vertex, before folding
  std::vector<float> shown;         ///< [0,1] per vertex how much of a fold its normal can carry
  std::vector<Vec2f> climbs;        ///< [m] per raised slot, over both spans of its Ring
  std::vector<Vec4f> faces_before;  ///< twice the area vector of triangles
  std::vector<Vec4f> faces_after;
};

/// A tool's rectangle in the frame at hand, where folds are projected anew.
struct ToolRectangle {
  bool on = false;
  Vec3f from = Vec3f::Zero();
  Vec3f along = Vec3f::Zero(), up = Vec3f::Zero(), across = Vec3f::Zero();  ///< unit
  float length_m = 0, half_width_m = 0;
  FoldFalloff falloff = FoldFalloff::Wyvill;
};

/// What a patch is evaluated with.
struct PatchInput {
  float smoothing = 0;  ///< [0,1] see ButterflyStencils
  /// Heights [m] per tool of the layer; empty = idle.
  std::span<const std::span<const float>> curves;
  std::span<const std::uint8_t> round;           ///< per tool: FoldProfile::Round
  std::span<const std::vector<float>> falloffs;  ///< per tool, one per influence
  std::span<const ToolRectangle> rectangles;     ///< per tool
};

/// A piece of the surface that tools fold together: the triangles under tools that touch, cut fine.
/// Vertices have local numbers: some of the surface's first, then those the refinement adds.
class WrinklePatch {
 public:
  /// Tools by their number in the layer.
  struct Tool {
    std::uint32_t index = 0;
    const PlacedTool* placed = nullptr;
    const ToolSurface* surface = nullptr;
  };
  /// `triangles`: those of the patch, sorted; levels of others are not looked at. `first_new`: the
  /// number that the first added vertex has in the refined surface.
  WrinklePatch(const RefinableSurface& surface, const BoundSurface& bound,
               std::span<const std::uint32_t> weld, std::span<const std::uint8_t> levels,
               std::span<const std::uint32_t> triangles, std::span<const Tool> tools,
               std::uint32_t first_new);

  const LocalRefinement& refinement() const { return refinement_; }
  std::span<const std::uint32_t> tools() const { return tools_; }
  std::uint32_t firstNew() const { return first_new_; }
  /// The same piece in a refined surface where its added vertices have other numbers.
  void renumber(std::uint32_t first_new) { first_new_ = first_new; }
  std::uint32_t endNew() const {
    return first_new_ + static_cast<std::uint32_t>(refinement_.vertices.size());
  }
  /// A vertex of the surface inside the patch.
  std::uint32_t anchor() const { return own_.empty() ? 0 : own_.front(); }
  /// Number in the refined surface of a corner of refinement().triangles.
  std::uint32_t globalVertex(std::uint32_t corner, std::size_t base_count) const {
    return corner < base_count ? corner
                               : first_new_ + (corner - static_cast<std::uint32_t>(base_count));
  }

  /// Where each influence of a tool is; falloffs follow the same order.
  struct Influence {
    std::uint32_t tool = 0;     ///< of the layer
    std::uint32_t ordinal = 0;  ///< of this tool's influences over all patches
    float along = 0;            ///< [0,1]
    float across = 0;           ///< [-1,1]
    float facing = 0;           ///< (0,1]
  };
  std::span<Influence> influences() { return influences_; }
  std::span<const Influence> influences() const { return influences_; }

  /// Raises each vertex's value to what it takes part in the folds of a tool: the largest falloff
  /// of its influences. Vertices beyond the values' end are left out.
  void writeMask(std::uint32_t tool, std::span<const float> falloffs,
                 std::span<float> values) const noexcept;

  void growScratch(PatchScratch& scratch) const;
  /// Writes the added vertices, and the surface's own where they move or turn. The streams have
  /// room for the refined surface and hold the surface before folding.
  void evaluate(const PatchInput& in, PatchScratch& scratch,
                const SurfaceOutput& streams) const noexcept;

 private:
  void collectVertices(const BoundSurface& bound, std::span<const std::uint32_t> weld,
                       std::span<const std::uint32_t> triangles);
  void collectUncutFans(const BoundSurface& bound, std::span<const std::uint8_t> inside,
                        std::span<const std::uint32_t> near);
  void collectInfluences(std::span<const Tool> tools);
  void sortMovingFacesFirst();
  void collectFans(const BoundSurface& bound);
  void collectRings();
  std::uint32_t localOf(std::uint32_t corner, std::size_t base_count) const;
  std::uint32_t globalOf(std::uint32_t local) const {
    const auto own = static_cast<std::uint32_t>(own_.size());
    return local < own ? own_[local] : first_new_ + (local - own);
  }
  void interpolateNormals(std::span<const Vec3f> normals, PatchScratch& scratch) const noexcept;
  double spread(std::size_t own, std::span<const Vec3f> positions) const noexcept;
  bool raise(const PatchInput& in, PatchScratch& scratch) const noexcept;
  bool hasSmoothFolds(std::size_t raised, const PatchInput& in) const noexcept;
  void turnNormals(const PatchInput& in, PatchScratch& scratch) const noexcept;
  void write(bool raised, const PatchScratch& scratch, const SurfaceOutput& streams) const noexcept;

  LocalRefinement refinement_;
  std::vector<std::uint32_t> tools_;
  std::uint32_t first_new_ = 0;
  std::vector<std::uint32_t> own_;            ///< the surface's vertices that are read, sorted
  std::vector<std::uint32_t> slots_;          ///< per local vertex: welded vertices share one
  std::vector<std::uint32_t> extra_sources_;  ///< vertices in slots after the stencils' own
  std::vector<std::array<std::uint32_t, 2>> parents_;  ///< per added vertex, local
  std::vector<Triangle> uncut_faces_;    ///< the surface's own triangles at the patch, by slots
  IndexLists uncut_fans_;                ///< those round each of own_ inside; none on the rim
  std::vector<float> rest_spread_;       ///< per own_: spread() at rest
  std::vector<Triangle> faces_;          ///< by slots; the first moving_faces_ have a raised corner
  std::vector<Triangle> face_vertices_;  ///< the same by local vertices
  std::vector<std::uint32_t> face_source_;  ///< triangle of the surface; used while binding
  std::size_t moving_faces_ = 0;
  std::vector<std::uint32_t> raised_;  ///< slots that tools move, sorted
  IndexLists raised_members_;          ///< local vertices at each of them
  std::vector<std::uint32_t> influence_offsets_;
  std::vector<Influence> influences_;  ///< per raised slot
  IndexLists fans_;                    ///< faces round each group of vertices that turn together
  IndexLists fan_members_;             ///< local vertices of each group
  std::vector<std::uint32_t> fan_raised_;  ///< per group: number in raised_, or kNone
  /// Two spans between neighbours of a raised slot, one with the stroke and one across it: what the
  /// slope of a fold is taken over. Ends are slots.
  struct Ring {
    std::array<std::array<std::uint32_t, 2>, 2> spans = {};
    bool whole = false;  ///< all neighbours are under the same tools
  };
  /// The same spans for an influence: ends are influences of the same tool.
  struct InfluenceRing {
    std::array<std::array<std::uint32_t, 2>, 2> spans = {};
  };
  std::vector<Ring> rings_;                     ///< per raised slot
  std::vector<InfluenceRing> influence_rings_;  ///< per influence; only where the ring is whole
};

}  // namespace derm::detail
