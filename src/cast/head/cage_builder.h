#pragma once

#include "cast/head/head_cage.h"

namespace derm::detail::cast {

/// A ring of points inside a block, outermost first.
struct RingPlan {
  double number = 0;               ///< label of the ring
  std::vector<Vec3d> points;       ///< of the left side, in the order of the block's outline
  double clay = 0;                 ///< weight of the clay
  SkinPart part = SkinPart::Face;  ///< of the quads outside it
};

/// Everything inside one block: where its outline goes, rings, and how deep the middle sinks.
struct BlockPlan {
  GridBlock block;
  std::vector<Vec3d> outline;  ///< empty = as the grid has it
  double outline_pin = 1;      ///< [0,1] how firmly it is held while the grid relaxes
  std::vector<RingPlan> rings;
  std::vector<std::array<double, 2>> places;  ///< (s, u); empty for the ear
  double sink = 0;                            ///< [cm] of the last fill, along -z
};

BlockPlan eyePlan(const HeadDesign& design, const HeadClay& clay);
BlockPlan mouthPlan(const HeadDesign& design, const HeadClay& clay);
/// `outline` are the grid's points around the ear, left side.
BlockPlan earPlan(const HeadDesign& design, const HeadClay& clay,
                  const std::vector<Vec3d>& outline);

}  // namespace derm::detail::cast
