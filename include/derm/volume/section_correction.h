#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/mesh/measured_surface.h"
#include "derm/volume/volume_methods.h"
#include "derm/volume/volume_regions.h"

namespace derm {

struct SectionDesc {
  /// (0,1] What a trunk's skin far from the joints that bend may help, against 1 next to them. Less
  /// is more local and gives higher peaks. Limbs that stand still help by a thousandth of it.
  double epsilon = 0.13;
  /// > 0. Changes of radius beyond this share are spread over more skin instead of growing.
  double sigma = 0.03;
  /// 0: none. Otherwise no radius changes by more than this share, whatever volume is then missing.
  double bound = 0;
  /// (0,1) Share of a region's target by which a frame may change its volume; beyond that it is
  /// clamped, and the outcome says so.
  double max_change = 0.5;
  /// False: one step, and the error left is of second order in the volume lost.
  bool exact = true;
  /// Relative error of a region's volume at which the solver stops; it goes on for free to what
  /// its last step reaches. 1e-13 is what double can hold.
  double tolerance = 1e-9;
  /// Relative error that is none: a frame that has no more is left untouched, and the solver stops
  /// where it falls below.
  double negligible = 1e-14;

  bool operator==(const SectionDesc&) const = default;
};

/// What a frame did to the surface, beyond RegionOutcome.
struct SectionReport {
  int iterations = 0;             ///< Newton steps, the most of any piece
  double largest_change = 0;      ///< largest change of a radius, as a share of it
  double largest_move_m = 0;      ///< [m]
  std::uint32_t moved_point = 0;  ///< the point that moved most
};

/// Gives every region of a skinned surface its volume back by scaling cross-sections:
///     x_i' = C_i + (1 + s_i) (x_i - C_i)
/// C_i is where the vertex's centre of rotation is in the pose (rotation_centres.h), so s_i is the
/// change of the limb's radius, and folded skin cannot mislead the direction.
///
/// Method (own; docs/volume.md): one multiplier lambda_l per region,
///     s_i = sigma asinh(eta_i / sigma),  eta_i = sum_l lambda_l G_il,
///     G_il = b_i phi_il (g_i / max(phi_l g) + epsilon h_i^2)
/// with b_i = (1 - sum of squared weights) * min(1, area / rest area)^2, averaged over six rings
/// (so that squeezed skin on the inside of a bend is not pushed deeper), phi the regions'
/// membership, g_i how much the joints near i are turned, and h_i in (0,1] how near the joints near
/// i are to turned ones: 1 along the trunk, 0.03 from joint to joint down an idle limb. Newton
/// in lambda; the step is halved until the residual falls. A piece whose regions cannot be met
/// keeps the best surface found, which is never a worse one than it began with; no radius changes
/// by more than half.
///
/// On any surface: after flesh, after linear skinning. On the centre method's result it is exact
/// with small changes. Double throughout; the same bits for any number of threads; moving, turning,
/// uniformly scaling, mirroring or reordering the input does the same to the result.
/// Cost: O(vertices that can move) per step, four to nine steps. Immutable; share freely.
class SectionBinding {
 public:
  /// Work space; one per thread that calls solve().
  class Scratch {
   public:
    Scratch(Scratch&&) noexcept;
    Scratch& operator=(Scratch&&) noexcept;
    ~Scratch();

   private:
    friend class SectionBinding;
    struct Buffers;
    explicit Scratch(std::unique_ptr<Buffers> buffers);
    std::unique_ptr<Buffers> buffers_;
  };

  /// `rest_points` [m] per point of the surface. `mask` in [0,1] per point says how much it may
  /// move; empty = 1 everywhere. Fails on numbers out of range and sizes that do not agree. Copies
  /// what it needs. Notes regions in which nothing can move ("volume-region-fixed") and pieces
  /// without volume ("volume-region-empty").
  static Result<SectionBinding> bind(const MeasuredSurface& surface, const VolumeRegions& regions,
                                     std::span<const Vec3d> rest_points,
                                     std::span<const float> mask, const SectionDesc& desc,
                                     Diagnostics& notes);

  /// The same surface with other numbers; it shares all tables. Fails on numbers out of range.
  Result<SectionBinding> with(const SectionDesc& desc) const;

  std::size_t regionCount() const;
  std::size_t pointCount() const;
  /// [m^3] per region, at rest with the joints at their bind.
  std::span<const double> restVolumes() const;
  /// [0,1] how much a point may move: 1 - sum of squared weights, times the mask; 0 where it never
  /// does. Requires point < pointCount().
  float maskOf(std::size_t point) const;
  Scratch makeScratch() const;

  /// One frame. All positions are minus one origin near them [m].
  struct Frame {
    std::span<const Vec3d> points;       ///< per point
    std::span<const Vec3d> centres;      ///< per point; apexes are not read
    std::span<const Vec3d> anchors;      ///< per joint of the regions: where it is
    std::span<const double> activities;  ///< per joint of the regions: see jointActivities()
    std::span<const double> targets;     ///< [m^3] per region; errors are relative to these
    double scale = 1;                    ///< > 0: how much longer everything is than at rest
    /// [0,1] per welded vertex how much it must stay where it is; empty = all are free.
    std::span<const float> held = {};
  };
  /// Writes a displacement [m] per point (apexes: their border's mean), and per region an outcome
  /// and the volume reached [m^3].
  /// Allocation-free. Non-finite input gives no displacement. `displacement` may share its memory
  /// with the frame's points or centres.
  SectionReport solve(const Frame& frame, Scratch& scratch, std::span<Vec3d> displacement,
                      std::span<RegionOutcome> outcomes, std::span<double> after_m3) const noexcept;

  /// The same surface as a stack has it: floats per vertex.
  struct Vertices {
    const MeasuredSurface* surface = nullptr;  ///< the bound one; its triangles are not read
    std::span<const Vec3f> positions;          ///< [m]
    std::span<const Vec3f> centres;            ///< [m]
    Vec3d origin = Vec3d::Zero();              ///< [m] what was subtracted from the frame's anchors
  };
  /// One frame without points in double: the frame's `points` and `centres` are not read, and what
  /// it found stays in `scratch` for apply(). Allocation-free.
  SectionReport solve(const Frame& frame, const Vertices& vertices, Scratch& scratch,
                      std::span<RegionOutcome> outcomes, std::span<double> after_m3) const noexcept;
  /// Moves vertices by what the last solve() with this scratch found, rounding once.
  void apply(const MeasuredSurface& surface, const Scratch& scratch,
             std::span<Vec3f> positions) const noexcept;

 private:
  struct Parts;
  SectionBinding(std::shared_ptr<const Parts> parts, const SectionDesc& desc);
  std::shared_ptr<const Parts> parts_;
  SectionDesc desc_;
};

/// How far each joint of the regions is turned against the one above it, away from the bind pose:
/// 1 - |w| of that rotation, 0 below 1e-10. Topmost joints are compared with the first of them.
/// Made once per character; evaluate() is allocation-free but for its own scratch.
class JointActivities {
 public:
  JointActivities(const Skeleton& skeleton, const Skin& skin, const VolumeRegions& regions);
  /// `model` are joint-to-model matrices; `rotations` is work space. One entry per joint of the
  /// regions each.
  void evaluate(std::span<const Affine3d> model, std::span<Quatd> rotations,
                std::span<double> out) const noexcept;
  std::size_t size() const { return joints_.size(); }

 private:
  struct Entry {
    JointId joint;
    std::uint32_t parent = 0;
    Quatd bind_inverse = Quatd::Identity();
  };
  std::vector<Entry> joints_;
};

}  // namespace derm
