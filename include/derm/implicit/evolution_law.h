#pragma once

#include <cstdint>

#include "derm/base/result.h"

namespace derm {

/// How a skin keeps its volume or area.
enum class Hold {
  No,
  /// As in Desbrun, Cani 1997, section 5: gain x (wanted - now)/wanted is added to the speed; a
  /// steady error remains against attraction and tension.
  Penalty,
  Exact,  ///< the offset that brings every body back within the step, with integral action
};

/// Where speeds are evaluated.
enum class Evaluation {
  EdgePoints,  ///< where lattice edges meet the surface, then averaged to nodes (section 4.3.2)
  Nodes,       ///< at the nodes themselves: freezes into a staircase; kept to show the difference
};

/// Second-order motion: the skin has a velocity of its own, so it overshoots and wobbles. Forces
/// replace the speeds of the evolution law.
struct InertiaDesc {
  bool on = false;
  /// [m^2/s^2] surface tension over mass per area; its root is the speed of waves on the skin. A
  /// drop of liquid of radius R swings in its mode n = 2 as Rayleigh says where this is
  /// 2 (surface tension)/(density R).
  double tension = 0;
  double stiffness = 0;  ///< [1/s^2] of the spring to the target
  double damping = 0;    ///< [1/s]
  /// Where no target holds the body, its centre stays: the mean velocity is removed.
  bool hold_centre = true;
};

/// What moves a skin, the evolution law of its level set: speed along the normal s = alpha Ghat -
/// beta kappa + what holds volume and area. Ghat is the target's signed distance in the target's
/// own sense near its iso level.
struct EvolutionLaw {
  double attraction = 2.0;  ///< [1/s] alpha >= 0: the distance to the target falls as exp(-alpha t)
  double tension = 0.0;     ///< [m^2/s] beta >= 0; a ball of radius r shrinks by 2 beta/r
  /// >= 0: where the skin is folded in more sharply than its lattice can show (a crease that
  /// closes), it is filled at this many times the attraction's rate. 0 = never; without it two
  /// fronts that meet leave a ragged seam. 2 is enough.
  double creases = 0.0;
  Hold volume = Hold::No;
  double volume_gain = 1.0;  ///< [m/s] gamma of the penalty
  Hold area = Hold::No;
  double area_gain = 1.0;  ///< [m/s]
  /// [voxel] Ghat is clamped to this, so a skin moves at most reach x alpha voxels a second.
  double reach = 2.0;
  /// true: Ghat = (G - iso) as it is, in metres, as in Desbrun, Cani 1997, section 3.4.1; false:
  /// divided by the target's slope, so that alpha means the same for all targets.
  bool raw_field = false;
  /// [voxel] (0, 0.9]: steps are shortened until no point moves further. 0.9 is stable; long way at
  /// full speed looks smoother with 0.25. Not with super-time-stepping.
  double max_move = 0.9;
  /// 1, 3, 5 or 8: super-time-stepping; a step then covers 1, 5.9, 10.9 or 17.9 stable ones. Worth
  /// it where tension is stiff.
  int super_steps = 1;
  Evaluation evaluation = Evaluation::EdgePoints;
  InertiaDesc inertia;
  /// Bodies below this volume [voxel^3] die; what the band can hold ends at about 4.
  double min_body_voxels = 4;
  /// What a dying body held: given to the nearest body, or lost.
  bool inherit_volume = true;
  /// A skin is born where the target has seeds and no skin is near, if the target is at least this
  /// deep there [voxel]; thinner drops would die again at once.
  double birth_depth = 1.5;
  bool births = true;
  /// Watch bodies and topology even where nothing needs it (volume or area held exactly do).
  bool track_bodies = true;
  /// Within one advance(): targets or forces so fast that they need more are an error.
  int max_steps = 20000;
  std::uint64_t max_memory = std::uint64_t{4} << 30;  ///< [bytes]
};

/// Errors name the field: numbers that are negative or not finite, super_steps of another value.
Result<void> validate(const EvolutionLaw& desc);

}  // namespace derm
