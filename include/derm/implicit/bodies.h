#pragma once

#include <cstdint>

#include "derm/math/vec.h"

namespace derm {

/// One connected piece of matter: an outer surface and the cavities inside it.
struct Body {
  std::uint32_t id = 0;  ///< kept as long as the body lives; of two that merge the larger's
  double volume = 0;     ///< [m^3] of the polygons, cavities taken off
  /// [m^3] of the smooth surface, by columns along all three axes: chords make polygons a per cent
  /// too small on drops of six voxels, this not.
  double true_volume = 0;
  double area = 0;           ///< [m^2] cavities included
  int euler_number = 0;      ///< of the outer surface: 2 minus twice the handles
  int cavities = 0;          ///< of four cubic voxels or more
  double wanted_volume = 0;  ///< [m^3] what is held; shared in splits, added up in merges
  double wanted_area = 0;    ///< [m^2]
};

enum class SkinEventKind {
  Split,
  Merge,
  Birth,
  Death,
  HoleOpened,
  HoleClosed,
  CavityOpened,
  CavityClosed
};

/// "split", "merge", …; the names reports use.
const char* name(SkinEventKind kind);

/// Something that changed the topology of a skin and lasted: what is undone within six steps is
/// left out.
struct SkinEvent {
  double time_s = 0;
  SkinEventKind kind = SkinEventKind::Split;
  std::uint32_t body = 0;   ///< id of the body it happened to
  std::uint32_t other = 0;  ///< split: the new one; merge: the one that went
};

}  // namespace derm
