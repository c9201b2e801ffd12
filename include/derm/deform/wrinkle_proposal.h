#pragma once

#include <string>
#include <vector>

#include "derm/anim/clip.h"
#include "derm/base/diagnostics.h"
#include "derm/base/progress.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/deform/wrinkles.h"

namespace derm {

/// How tools are looked for.
struct WrinkleProposalDesc {
  /// (0,1) skin that keeps more than 1 - this of its length is left alone, and so is a tool whose
  /// ends come nearer by less, unless it is the mirror image of one whose ends do.
  double min_squeeze = 0.2;
  /// (min_squeeze,1] a tool whose ends come nearer by more than this share lies in a crease that
  /// closes, where skin meets skin and folds have no room: dropped.
  double max_squeeze = 0.6;
  std::size_t max_tools = 8;  ///< [1,64] tools at most, best first
  double samples_per_s = 30;  ///< [Hz] instants of the clip that are looked at
};

/// A tool where skin is squeezed.
struct WrinkleProposal {
  WrinkleToolDesc tool;
  std::string joint;        ///< whose bend it is: the nearest joint of the skin
  double squeeze = 0;       ///< [0,1] 1 - |AB| / rest length at the instant of greatest compression
  double time_s = 0;        ///< [s] that instant
  double lost_area_m2 = 0;  ///< [m^2] lost length x width: what they are ranked by
};

/// Looks over a clip for skin that is squeezed, as inside an elbow, behind a knee or at a wrist,
/// and proposes a tool for each such region, ranked by the area of skin that linear skinning loses
/// there.
///
/// Method: the deformation of every triangle from rest to each instant has a smallest stretch and
/// its direction (smallest singular value), times the greatest where that is a pull, since skin
/// pulled the other way lies flat; its minimum over time is averaged over neighbours. From the
/// most squeezed triangle on, the connected region that is squeezed in about the same direction
/// gives a tool: along that direction, as wide as the region. Tools whose ends do not come nearer
/// by `min_squeeze` are dropped, and those that share more than a quarter of their skin with a
/// better one: both would give the same length back. Bumps are few and round, and rise
/// where the skin is lost. Then the clip is played with the tools: a stroke whose crests meet and
/// cannot hold what is lost is made longer, up to 3.8 times, and the length that holds most is
/// kept. The artist keeps or edits them. Fails on parameters out of range and characters without a
/// skin. Cost: O(samples x triangles).
Result<std::vector<WrinkleProposal>> proposeWrinkles(const Character& character, const Clip& clip,
                                                     const WrinkleProposalDesc& desc,
                                                     const Progress& progress = {});

}  // namespace derm
