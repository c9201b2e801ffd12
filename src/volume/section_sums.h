#pragma once

#include "volume/section_solver.h"

/// Private to room volume: volumes of regions and how they change with the multipliers.
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
  /// Sums of one chunk: volumes, and how they change with the multipliers.
  void sumGeneral(const SectionTriangles& list, const SectionChunk& chunk);
  template <std::size_t kSize>
  void sumShared(std::span<const SectionShared> triangles, const SectionChunk& chunk);
  void sumMixed(std::span<const SectionMixed> triangles, const SectionChunk& chunk);
  template <std::size_t kSize>
  class Spread;

  const SectionPlan& plan_;
  const SectionBinding::Frame& frame_;
  SectionBuffers& b_;
};

}  // namespace derm::detail
