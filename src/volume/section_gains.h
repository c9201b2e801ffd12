#pragma once

#include "volume/section_solver.h"

/// Private to room volume: how much of a region's multiplier each welded vertex follows.
namespace derm::detail {

/// G_il = b_i phi_il (g_i / max(phi_l g) + epsilon h_i^2) of a frame whose corners are there.
class SectionGains {
 public:
  SectionGains(const SectionPlan& plan, const SectionBinding::Frame& frame, SectionBuffers& buffers)
      : plan_(plan), frame_(frame), b_(buffers) {}

  /// Fills the buffers' gains, and with them how rows begin to move.
  void make();
  /// Size of SectionBuffers::gain_parts.
  static std::size_t partCount(const SectionPlan& plan);

 private:
  void sumAreas();
  void takeHeld();
  void makeField();
  template <class Difference>
  void averageField(const Difference* neighbours, const float* from, float* to);
  void sumActivities();
  void findLargest();

  const SectionPlan& plan_;
  const SectionBinding::Frame& frame_;
  SectionBuffers& b_;
};

}  // namespace derm::detail
