#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "derm/anim/skeleton.h"
#include "derm/anim/skin.h"
#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/mesh/measured_surface.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

/// One way to say how far a vertex may move to give volume back.
enum class MaskRule {
  Everywhere,     ///< 1
  Weights,        ///< (1 - w_max^a)^b: around joints; a widens, b localises
  SmoothWeights,  ///< 1 - sum of w^2: the same without a kink where the largest weight changes
  Distance,       ///< distance to the skeleton over the piece's largest: flesh far from bone moves
  Between,        ///< 4 t (1 - t) along its bone: the parts between joints, as of fingers
  Group,          ///< a painted vertex group's strengths: muscle, fat
};

struct MaskTerm {
  MaskRule rule = MaskRule::Weights;
  std::string group;  ///< of MaskRule::Group

  bool operator==(const MaskTerm&) const = default;
};

/// Where a surface may move to get its volume back: gamma in [0,1] per vertex, a product of terms.
/// (The report "Skinning a volume constant", section 4.5, prints (1 - w_max^q)^p but describes the
/// exponents the other way round; ours are named by what they do.)
struct VolumeMaskDesc {
  std::vector<MaskTerm> terms = {{}};
  double a = 15;                 ///< > 0: width of the zone around a joint
  double b = 8;                  ///< > 0: how steeply it falls off
  std::string fixed_group = {};  ///< vertices with any strength here do not move; empty = none

  bool operator==(const VolumeMaskDesc&) const = default;
};

/// Reads "weights", "smooth-weights", "distance", "between", "everywhere", "group:NAME", or a
/// product of such, "distance * group:belly". The error names the word and the nearest known one.
Result<std::vector<MaskTerm>> parseMask(std::string_view text);
std::string maskText(std::span<const MaskTerm> terms);
/// Reads "group:NAME" or plain "NAME"; empty stays empty.
std::string parseGroupName(std::string_view text);

/// gamma per welded vertex of the measured surface (the mean of its vertices; fixed if one of them
/// is). A mesh without a skin moves everywhere where a rule would ask for weights or bones (noted,
/// "volume-mask-no-skin"). Fails on a group that does not exist (naming the nearest), exponents
/// out of range, and where nothing may move. O(vertices * bones) for Distance and Between.
Result<std::vector<double>> volumeGamma(const MeasuredSurface& surface, const TriMesh& mesh,
                                        const Skeleton& skeleton, const Skin& skin,
                                        const VolumeMaskDesc& desc, Diagnostics& notes);

}  // namespace derm
