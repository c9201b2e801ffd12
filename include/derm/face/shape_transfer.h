#pragma once

#include <span>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/progress.h"
#include "derm/base/result.h"
#include "derm/face/face_slits.h"
#include "derm/face/head_correspondence.h"
#include "derm/mesh/morph_target.h"
#include "derm/mesh/surface_point.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

enum class ShapeTransferMethod {
  /// How the donor's surface turns and stretches at each triangle (Sumner, Popovic 2004): folds and
  /// curves keep their form where the target's features have another size.
  DeformationTransfer,
  /// The donor's displacements, turned and scaled with the head as a whole.
  ScaledDisplacement,
};

struct ShapeTransferDesc {
  ShapeTransferMethod method = ShapeTransferMethod::DeformationTransfer;
  /// (0,10] in eye distances: over shorter lengths the donor's turning and stretching is kept, over
  /// longer ones its displacement. Large values let whole regions drift.
  double gradient_length = 0.3;
  /// (0,10] in eye distances: how far motion reaches into what has no counterpart on the donor.
  double fade_length = 1.5;
  /// Lids and lips keep the donor's opening, as a share of their own, and close where it closes.
  bool match_openings = true;
  /// [0,0.5] an opening that the donor shuts to this share of its height at rest counts as shut: no
  /// donor is exact, and lashes hide a gap that another head would show.
  double shut_below = 0.12;
};

/// In range; the error names the field.
Result<void> validate(const ShapeTransferDesc& desc);

/// A head as shapes are carried from or to it.
struct ShapeHead {
  const TriMesh& mesh;
  /// Control points under MPEG-4's numbers. Those of eyes and mouth find the openings, 2.1 what
  /// goes with the jaw; without them nothing of that is done, and a note says so.
  std::span<const LabelledPoint> points = {};
};

/// The donor's shapes on the target head, with the donor's names and default weights. Sparse: what
/// moves less than 1e-6 of the head's diagonal is left out.
///
/// Method: the target's u minimises
///     sum_t area_t |grad u - (S_t - 1)|^2 + sum_v area_v / l^2 |u_v - d_v|^2
/// with S_t the map that takes the donor's counterpart of the target's triangle t (its three source
/// points) and its normal to their shape, d_v the donor's displacement at v's counterpart, and l
/// the gradient length (or fade length, and d = 0, S = 1, where there is no counterpart). One
/// matrix for all shapes (Botsch et al. 2006), factorised once. The donor is first turned and
/// scaled to the target by its counterparts, so poses, scales and units do not matter.
/// Openings: margins are matched corner to corner (face_slits.h) before; after, the lids' distance
/// is corrected to the donor's share of its own at rest, with a falloff over the lid, and lids stay
/// outside the eyeball. Lips that touch at rest keep touching where the donor's do; "mouthClose"
/// is measured on top of "jawOpen", as the two are used.
/// Pieces other than the skin: what is matched to such a piece of the donor moves as that does;
/// else eyeballs stay; what lies in the mouth below its slit (lower teeth,
/// tongue) follows the jaw's rigid motion; what lies on the skin (lashes, brows) follows it; the
/// rest stays.
///
/// With donor = target shapes come out as they are, but for openings below `shut_below`, which are
/// shut, and for lips that do not meet in mouthClose.
/// Errors: bad desc, a correspondence that does not fit, no vertex with a counterpart.
/// Notes: shapes-no-openings (points missing), face-no-slit. Cost: one sparse factorisation, then
/// three solves per shape; same bits for any thread count.
Result<std::vector<MorphTarget>> transferShapes(const ShapeHead& donor,
                                                std::span<const MorphTarget> shapes,
                                                const ShapeHead& target,
                                                const HeadCorrespondence& correspondence,
                                                const ShapeTransferDesc& desc, Diagnostics& notes,
                                                const Progress& progress = {});

}  // namespace derm
