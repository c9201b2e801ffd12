#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "derm/anim/skeleton.h"
#include "derm/anim/skin.h"
#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/deform/surface_streams.h"
#include "derm/deform/twist_spread.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

enum class SkinningMethod {
  Rigid,           ///< each vertex follows its largest influence alone
  Linear,          ///< p' = sum w_j S_j p: what engines play
  DualQuaternion,  ///< blends rigid motions: no collapse when joints twist
  Centre,          ///< turns each vertex about its own centre: bends and twists keep their radius
};

inline constexpr std::array<std::pair<SkinningMethod, std::string_view>, 4> kSkinningMethodNames = {
    {
        {SkinningMethod::Rigid, "rigid"},
        {SkinningMethod::Linear, "linear"},
        {SkinningMethod::DualQuaternion, "dual-quaternion"},
        {SkinningMethod::Centre, "centre"},
    }};
std::string_view name(SkinningMethod method);
/// The method of that name, or an error that lists the nearest names.
Result<SkinningMethod> parseSkinningMethod(std::string_view name);

/// What to do; plain and editable.
struct SkinningDesc {
  SkinningMethod method = SkinningMethod::Linear;
  /// [0,1] per vertex: 0 linear, 1 dual quaternion, between them a mix of both results. Empty = all
  /// by `method`; otherwise one entry per vertex, and `method` must not be Rigid.
  std::vector<float> dual_quaternion_share = {};
  /// [0,1] Centre: where a vertex's centre goes. 0: its linear blend, which crowds the inside of a
  /// bend; 1: its dual quaternion blend, which bulges outside (the method is then the dual
  /// quaternion one); between them a mix. 0.25 suits soft, wide weights.
  double alpha = 0.5;
  /// Centre: which bones spread the twist of the joint at their end (twist_spread.h).
  TwistRule twist_spread = TwistRule::Forearms;
  /// Where the mesh has smooth normals, those of the posed triangles instead of rest normals turned
  /// by the joints: of lids that unfold, whose weights change within millimetres, turned normals
  /// are those of the fold. Hard edges and other normals of the artist's own are turned always.
  bool surface_normals = false;

  bool operator==(const SkinningDesc&) const = default;
};

namespace detail {
struct SkinningBlocks;
struct SkinningPalette;
}  // namespace detail

/// Work space for evaluate(): the frame's matrices in the form the kernels read. One per thread
/// that calls evaluate(); reuse it from frame to frame.
class SkinningScratch {
 public:
  SkinningScratch(SkinningScratch&&) noexcept;
  SkinningScratch& operator=(SkinningScratch&&) noexcept;
  ~SkinningScratch();

 private:
  friend class SkinningBinding;
  explicit SkinningScratch(std::unique_ptr<detail::SkinningPalette> palette);
  std::unique_ptr<detail::SkinningPalette> palette_;
};

/// A surface made ready to be skinned: carries vertices from the bind pose to a pose given by one
/// matrix per skin slot (see skinningMatrices() in anim/skin.h). Immutable; share it freely between
/// threads and characters. Copies share one table.
///
/// **Positions.** Rigid: the largest influence (of equal ones the lowest slot). Linear: the
/// weighted sum of the matrices. Dual quaternion (Kavan et al. 2008): each matrix S_j is split into
/// a rotation, a stretch and a translation (polar decomposition; a mirror counts as stretch). The
/// stretches are blended linearly and applied to the vertex about its centre c (the weighted mean
/// of its joints' bind positions), then the rigid motions are blended as dual quaternions, each in
/// the hemisphere of the vertex's largest influence. Unlike Kavan's two phases, which stretch about
/// the model's origin, this does not depend on where the origin is, and moving, turning, uniformly
/// scaling or mirroring the whole pose moves, turns, scales or mirrors the result. Stretches below
/// 5e-6 count as none: animation files carry that much noise.
/// Centre: every vertex has a centre of rotation c (rotation_centres.h); with R the normalised sum
/// of the weighted rotations, U that of the stretches,
///     p' = C + R U (p - c),  C = (1 - alpha) * linear blend of c + alpha * dual quaternion blend
///     of c
/// so that cross-sections are turned as a whole and keep their size. Rotations are summed with the
/// signs that come down the skeleton (each joint turned by less than 180 degrees against the one
/// above it, measured from the bind pose), which cannot jump while no joint turns further. The
/// twist of hands is spread along the forearms (twist_spread.h) where the skeleton has such.
///
/// **Normals** go through the blended linear part; a matrix that is not a rotation times a
/// (positive or negative) uniform scale contributes its inverse transpose instead, scaled to the
/// matrix' size, which is right under non-uniform scale. **Tangents** go through the linear part; w
/// changes sign where the blended linear part mirrors. Both come out with unit length. A direction
/// with no length left (blended to zero, scale 0, or scale outside 1e-15..1e15) keeps its rest
/// direction; a rest direction of no length gives +Y for normals, +X for tangents.
///
/// **Bad frames.** A matrix with a non-finite number counts as the identity. With finite input and
/// no overflow nothing that comes out is NaN or infinite.
///
/// **Same bits** for any number of threads, and a vertex's result depends on its own data only, so
/// reordering vertices reorders the result exactly. Kernels are chosen at run time by CPU; between
/// CPU generations last bits may differ (fused multiply-add).
///
/// **Cost.** At bind vertices are grouped into blocks that share a list of slots; evaluate() is
/// then O(slots + influences), a few nanoseconds per vertex. Memory: about 60 bytes per vertex and
/// 4 per influence.
class SkinningBinding {
 public:
  /// O(n) for surfaces whose neighbours share joints. Fails, naming the array and index, on sizes
  /// that do not agree, non-finite numbers, a skin that breaks its own rules, shares outside [0,1].
  /// Directions of no length are noted. Normals and tangents may be absent.
  static Result<SkinningBinding> bind(const SurfaceStreams& rest, const Skin& skin,
                                      const SkinningDesc& desc, Diagnostics& notes);
  /// All methods; Centre needs triangles and the skeleton, so it is bound by this one only.
  static Result<SkinningBinding> bind(const TriMesh& rest, const Skeleton& skeleton,
                                      const Skin& skin, const SkinningDesc& desc,
                                      Diagnostics& notes);

  /// The same with another SkinningDesc::alpha, in [0,1]; it shares all tables.
  SkinningBinding withAlpha(double alpha) const;

  std::size_t vertexCount() const;
  std::size_t slotCount() const;  ///< matrices evaluate() needs
  SkinningScratch makeScratch() const;

  /// Skins the bound rest surface. Allocation-free. Requires palette.size() == slotCount() and
  /// out.positions.size() == vertexCount(); out's other streams are full or empty, and may be full
  /// only where the bound surface had them.
  void evaluate(std::span<const Affine3f> palette, SkinningScratch& scratch,
                const SurfaceOutput& out) const noexcept;

  /// Skins another surface with the same vertices, for instance one that morphs have changed. Its
  /// numbers must be finite. Input and output must not overlap.
  void evaluate(std::span<const Affine3f> palette, const SurfaceStreams& in,
                SkinningScratch& scratch, const SurfaceOutput& out) const noexcept;

  /// Centre: the vertices' centres of rotation, at rest [m]. Skinning them as a surface gives where
  /// they are in a pose. Empty for other methods.
  std::span<const Vec3f> centres() const;
  /// Centre: the bones that spread a twist.
  std::span<const TwistBone> twistBones() const;

 private:
  SkinningBinding(std::shared_ptr<const detail::SkinningBlocks> blocks, double alpha);
  /// Without positions in `in`: the bound surface.
  void run(std::span<const Affine3f> palette, const SurfaceStreams& in, SkinningScratch& scratch,
           const SurfaceOutput& out) const noexcept;
  std::shared_ptr<const detail::SkinningBlocks> blocks_;
  float alpha_ = 0;  ///< of the centre method
};

}  // namespace derm
