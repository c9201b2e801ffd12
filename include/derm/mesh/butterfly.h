#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "derm/math/vec.h"

namespace derm {

/// A weight on one value of a stencil.
struct StencilEntry {
  std::uint32_t slot = 0;
  float weight = 0;
};

/// Weights of the modified butterfly at an interior vertex of valence k: s[0] belongs to the edge's
/// far end, s[j] to the j-th neighbour round the vertex from there; the vertex itself has 3/4. They
/// sum to 1/4. Zorin, Schröder, Sweldens 1996. Requires k >= 3.
std::vector<double> butterflyRing(int k);

/// Tables that make the new points of a refinement from old ones, level after level. Slots hold one
/// value each: first the `sources` (points of the unrefined surface), then every new point; a new
/// point is the middle of an edge,
///
///     new = (a + b) / 2 + smoothing * sum_i weight_i * slot_i,      sum_i weight_i = 0.
///
///          g---c---f        Regular points (both ends of valence 6, no border near):
///           \ / \ /           weights 2w at c, d and -w at e, f, g, h with w = 1/16
///            a---b            (Dyn, Levin, Gregory 1990).
///           / \ / \         Others have the weights of butterfly's extraordinary vertices, of the
///          h---d---e        four-point rule along borders and creases, or ghosts (see
///                           RefinableSurface); all go through one list.
///
/// smoothing 1 is the subdivision surface; 0 leaves every point on the triangles as they are, so a
/// surface can grow smooth without a jump. Immutable; share freely between threads.
class ButterflyStencils {
 public:
  struct Regular {
    std::uint32_t a, b, c, d, e, f, g, h;
  };
  struct General {
    std::uint32_t a, b;
    std::uint32_t first, count;  ///< of entries()
  };
  /// The points of one level: slots first_slot... hold the regular ones, then the general ones.
  struct Level {
    std::uint32_t first_slot = 0;
    std::uint32_t first_regular = 0, regular_count = 0;
    std::uint32_t first_general = 0, general_count = 0;
  };

  ButterflyStencils() = default;
  /// Levels come coarsest first and only use slots of the levels before.
  ButterflyStencils(std::vector<std::uint32_t> sources, std::vector<Level> levels,
                    std::vector<Regular> regular, std::vector<General> general,
                    std::vector<StencilEntry> entries);

  /// Vertices of the unrefined surface whose values go into slots 0...
  std::span<const std::uint32_t> sources() const { return sources_; }
  std::size_t slotCount() const { return slot_count_; }
  std::span<const Level> levels() const { return levels_; }
  std::span<const Regular> regular() const { return regular_; }
  std::span<const General> general() const { return general_; }
  std::span<const StencilEntry> entries() const { return entries_; }

  /// Copies the sources' values into their slots. Requires slots.size() == slotCount() + 1: the
  /// kernels read and write four floats at a time, the last entry has no meaning.
  void gather(std::span<const Vec3f> values, std::span<Vec3f> slots) const noexcept;
  /// Computes all other slots. Allocation-free; one thread; the same bits always.
  void evaluate(float smoothing, std::span<Vec3f> slots) const noexcept;

 private:
  std::vector<std::uint32_t> sources_;
  std::vector<Level> levels_;
  std::vector<Regular> regular_;
  std::vector<General> general_;
  std::vector<StencilEntry> entries_;
  std::size_t slot_count_ = 0;
};

}  // namespace derm
