#pragma once

#include "deform/section_solver.h"

/// Private to room deform: volumes of regions and how they change with the multipliers.
namespace derm::detail {

class SectionSums {
 public:
  SectionSums(const SectionPlan& plan, const SectionBinding::Frame& frame, SectionBuffers& buffers)
      : plan_(plan), frame_(frame), b_(buffers) {}

  /// What does not change during a frame, to still_volumes.
  void sumStill();
  /// Volumes of the block's regions, and the matrix dV_l / dlambda_k.
  void sumBlock(const SectionBlock& block);

 private:
  void sumPure(const SectionChunk& chunk, double& volume, double& slope) const;
  void sumGeneral(const SectionBlock& block, const SectionChunk& chunk);
  Vec3d at(std::uint32_t point) const {
    const SectionCorner& c = b_.corners[point];
    return Vec3d(c.x[0] + c.s * double{c.d[0]}, c.x[1] + c.s * double{c.d[1]},
                 c.x[2] + c.s * double{c.d[2]});
  }
  /// Calls body(region, dx/dlambda) for each multiplier that moves a point.
  template <class Body>
  void eachMove(std::uint32_t point, const Body& body) const;

  const SectionPlan& plan_;
  const SectionBinding::Frame& frame_;
  SectionBuffers& b_;
};

}  // namespace derm::detail
