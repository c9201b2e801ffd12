#pragma once

#include <memory>
#include <utility>

#include "derm/base/result.h"
#include "derm/implicit/active_skin.h"
#include "derm/implicit/build_potential.h"
#include "derm/implicit/particle_target.h"

namespace derm {

struct ParticleSurfacingDesc {
  ParticleTargetDesc kernel;
  EvolutionLaw law;
  PotentialDesc lattice;
  /// How often the target is renewed between two sets of particles, >= 1.
  int targets_per_frame = 4;
};

/// Surfaces a sequence of particle sets. Particles are followed from set to set by their ids (by
/// their index in the list, where there are none and the counts agree), move straight in between,
/// and carry the skin with them; the attraction corrects, tension smooths, volume is held per body.
/// Particles that appear or go do so in the middle of the frame; a skin is born where it is needed.
class ParticleSurfacer {
 public:
  /// The first skin is the target's own surface, settled with the evolution law for a while.
  /// Errors: what ParticleTarget, buildPotential and ActiveSkin refuse.
  static Result<ParticleSurfacer> make(const Particles& first, const ParticleSurfacingDesc& desc);

  /// On to the next set, `seconds` later. Volume held exactly follows the particles' own: matter
  /// that is added or taken away changes what is held by its share. A particle counts as a cube of
  /// side 2 r, times what the first skin had of that (where it had at least 200 particles).
  Result<SkinStep> advanceTo(const Particles& next, double seconds);

  /// What is held from the next set on, as shares of what the particles and the first skin say.
  /// Requires both > 0.
  void scaleWanted(double volume, double area);

  ActiveSkin& skin() { return *skin_; }
  const ActiveSkin& skin() const { return *skin_; }

 private:
  ParticleSurfacer(ParticleSurfacingDesc desc, Particles first)
      : desc_(std::move(desc)), now_(std::move(first)) {}

  ParticleSurfacingDesc desc_;
  Particles now_;
  double volume_per_matter_ = 1;
  double wanted_volume_ = 1;  ///< share of what the particles say
  std::unique_ptr<ActiveSkin> skin_;
};

/// A set between two others, `share` [0,1] of the way, with velocities for `seconds` in between.
Particles particlesBetween(const Particles& a, const Particles& b, double share, double seconds);

}  // namespace derm
