#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/mesh/measured_surface.h"
#include "derm/volume/region_volumes.h"
#include "derm/volume/volume_regions.h"

namespace derm {

/// What moves a surface to get its volume back: sections are scaled, or vertices go in a direction,
/// vertex i in proportion to g_i in [0,1] (volume_mask.h); v_i = dV/dx_i.
enum class VolumeMethod {
  Section,     ///< scales cross-sections about their centres (section_correction.h): recommended
  AxesLinear,  ///< along x, y and z, a share of the volume each, all from one gradient
  AxesExact,   ///< the same axis after axis; exact, since volume is linear in each axis
  Gradient,    ///< along v_i: the smallest sum of |u_i|^2 / g_i
  Normal,      ///< along area-weighted normals; keeps its direction where Gradient turns with v
  Laplacian,   ///< along normals, and neighbours alike: the smallest bending of the field too
};

/// "Skinning a volume constant", section 4.8, states one energy and develops another; both are
/// here.
enum class LaplacianEnergy {
  Stated,     ///< |p_i - mean of neighbours' p|^2: needs neighbours of neighbours
  Developed,  ///< mean of |p_i - p_j|^2 over neighbours: stiffer, sparser, diagonally dominant
};

enum class VolumeSolve {
  Linearised,  ///< one step; the error left is of second order in the volume lost
  Exact,       ///< one direction, followed until the volume is right
  Minimiser,   ///< the true minimum of the method's energy (sequential quadratic programming)
};

struct VolumeMethodDesc {
  VolumeMethod method = VolumeMethod::Normal;  ///< VolumeMethodBinding: not Section
  VolumeSolve solve = VolumeSolve::Exact;      ///< the axes are Linear or Exact by their names
  std::array<double, 3> split = {1, 1, 1};     ///< axes: shares of x, y, z; >= 0, any sum > 0
  std::array<std::uint8_t, 3> axis_order = {0, 1, 2};  ///< axes, exact: a permutation of x, y, z
  double kappa = 5;                                    ///< Laplacian: weight of the bending; >= 0
  LaplacianEnergy energy = LaplacianEnergy::Developed;
  /// (0,1) Share of a region's rest volume by which a frame may change it; beyond that the target
  /// is drawn nearer, and the region's outcome says so.
  double max_change = 0.5;

  bool operator==(const VolumeMethodDesc&) const = default;
};

/// What became of a region in a frame.
struct RegionOutcome {
  double before_m3 = 0;  ///< as skinned
  double target_m3 = 0;  ///< after clamping
  bool clamped = false;  ///< the wish was more than max_change away, or not of the rest's sign
  bool idle = false;     ///< nothing in it may move, or it has no volume; left as it was
  bool short_of_target = false;  ///< no way to the target without turning back; the nearest is kept
};

/// Words for the methods, as recipes have them.
inline constexpr std::array<std::pair<VolumeMethod, std::string_view>, 6> kVolumeMethodNames = {{
    {VolumeMethod::Section, "section"},
    {VolumeMethod::AxesLinear, "axes-linear"},
    {VolumeMethod::AxesExact, "axes-exact"},
    {VolumeMethod::Gradient, "gradient"},
    {VolumeMethod::Normal, "normal"},
    {VolumeMethod::Laplacian, "laplacian"},
}};

namespace detail {
struct VolumeMethodParts;
struct VolumeMethodBuffers;
}  // namespace detail

/// The corrections of the report "Skinning a volume constant" (chapters 3 and 4; docs/index.md has
/// it in full), checked and extended (docs/volume.md): one multiplier per region, so that every
/// region gets its own volume back, in double. After Rohmer, Hahmann, Cani, "Local volume
/// preservation for skinned characters", 2008.
///
/// **Method.** With J_l = dV_l/dx the gradients of the regions' volumes and D_l the direction
/// fields that the method makes of them, u = sum_l lambda_l D_l.
/// - Linearised: <J_k, D_l> lambda = target - V at the skinned surface.
/// - Exact, Normal, and Gradient where regions do not touch (whole, components): V along fixed D is
///   a cubic in lambda (see docs/volume.md); the root taken is the one reached from 0 without
///   crossing dV/dlambda = 0, else the turning point, reported. Where regions touch, Newton in all
///   lambda with the same rule.
/// - Exact, Gradient, touching regions: u += G J^T (J G J^T)^-1 (target - V), J anew each time.
/// - Minimiser: u = D(J) <J, D(J)>^-1 (target - V + J u), J anew each time.
/// - Laplacian: D_l = A^-1 K_l along the normals, A the Hessian of the energy, sparse and positive
///   definite; its pattern is analysed once, its numbers follow the normals each frame. Vertices
///   with g < 1e-8 are fixed. Memory 8 bytes per vertex and region.
/// - AxesLinear, AxesExact: u^a = mu_a dV g v^a / <g v^a, v^a> per axis a. An axis along which a
///   region has no gradient gives its share to the others.
///
/// With area-weighted normals of a closed surface v_i is parallel to n_i (P: the sum of x_j x x_k
/// around a closed ring is twice its area vector), so Normal and Gradient start alike; they differ
/// at borders, where regions meet, and in what follows the first step.
///
/// **Invariance.** Rigid motion of surface and anchors, uniform scale, mirror and vertex order
/// commute with all but the axes, which depend on the frame (a cylinder bent by 90 degrees: up to
/// 0.05 radii when turned by 0.7 rad).
///
/// **Limits.** A region with nothing to move, or no volume at rest, is left alone. Non-finite input
/// gives no displacement. Cost: see bench/volume/volume_bench.cpp.
///
/// Immutable; share between threads and characters.
class VolumeMethodBinding {
 public:
  /// Work space; one per thread that calls solve().
  class Scratch {
   public:
    Scratch(Scratch&&) noexcept;
    Scratch& operator=(Scratch&&) noexcept;
    ~Scratch();

   private:
    friend class VolumeMethodBinding;
    explicit Scratch(std::unique_ptr<detail::VolumeMethodBuffers> buffers);
    std::unique_ptr<detail::VolumeMethodBuffers> buffers_;
  };

  /// `gamma` per welded vertex of the surface, in [0,1]. `rest_volumes` [m^3] per region. Fails on
  /// sizes that do not agree, non-finite numbers, numbers out of range, more than 4096 regions, and
  /// where nothing at all may move. Notes regions without volume ("volume-region-empty") and
  /// without moving vertices
  /// ("volume-region-fixed").
  static Result<VolumeMethodBinding> bind(std::shared_ptr<const MeasuredSurface> surface,
                                          std::shared_ptr<const VolumeRegions> regions,
                                          std::shared_ptr<const RegionVolumes> volumes,
                                          std::span<const double> gamma,
                                          std::span<const double> rest_volumes,
                                          const VolumeMethodDesc& desc, Diagnostics& notes);

  std::size_t regionCount() const;
  std::size_t pointCount() const;
  /// Per welded vertex, as bound.
  std::span<const double> gamma() const;
  Scratch makeScratch() const;

  /// Displacements [m] that give every region its target [m^3]. `points` are the skinned surface's
  /// points and `anchors` the posed joints of its regions, both minus an origin near them. Writes
  /// one displacement per point (apexes: their border's mean) and one outcome per region.
  /// `rest_volumes` [m^3] per region are what max_change and errors are shares of, where the shape
  /// has other ones than as bound (scaled joints, morphs); empty = as bound. Allocation-free; same
  /// bits for any thread count.
  void solve(std::span<const Vec3d> points, std::span<const Vec3d> anchors,
             std::span<const double> targets, Scratch& scratch, std::span<Vec3d> displacement,
             std::span<RegionOutcome> outcomes,
             std::span<const double> rest_volumes = {}) const noexcept;

  /// [m^3] per region, of any points of the surface; for reports. As RegionVolumes gives them.
  std::vector<double> volumes(std::span<const Vec3d> points, std::span<const Vec3d> anchors) const;
  /// Per point the joint of the regions that its prism stands on.
  std::span<const std::uint32_t> anchorsOfPoints() const;

  /// Newton steps that the last solve() with this scratch took, for reports.
  static int iterations(const Scratch& scratch);

 private:
  explicit VolumeMethodBinding(std::shared_ptr<const detail::VolumeMethodParts> parts);
  std::shared_ptr<const detail::VolumeMethodParts> parts_;
};

/// The root of c1 s + c2 s^2 + c3 s^3 = wanted that is reached from s = 0, in the direction of
/// wanted / c1, without crossing a turning point. Where there is none, 0.999 of the way to the
/// turning point, and `reached` is false. Requires c1 != 0 and finite numbers.
struct CubicRoot {
  double s = 0;
  bool reached = true;
  int iterations = 0;
};
CubicRoot firstCubicRoot(double c1, double c2, double c3, double wanted) noexcept;

}  // namespace derm
