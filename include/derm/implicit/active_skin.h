#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "derm/base/result.h"
#include "derm/implicit/bodies.h"
#include "derm/implicit/evolution_law.h"
#include "derm/implicit/polygonise.h"
#include "derm/implicit/potential.h"
#include "derm/implicit/target.h"

namespace derm {

/// What one step did.
struct SkinStep {
  double dt_s = 0;
  double max_speed = 0;      ///< [m/s] before volume control, at edge points
  double residual_mean = 0;  ///< [m] mean |Ghat| h at edge points: how far from the target
  double residual_max = 0;   ///< [m]
  std::uint32_t edge_points = 0;
  bool asleep = false;  ///< nothing was moved: the skin is at rest
};

/// A skin that is alive (Desbrun, Cani 1997): the zero surface of a discrete potential that chases
/// a target, resists with surface tension, keeps volume or area, and splits or merges by itself.
///
/// Method: df/dt = s |grad f| with s from EvolutionLaw, evaluated where lattice edges meet the
/// surface and averaged to the nodes beside it; nodes further off are rebuilt as distances (second
/// order) each step; nodes beside the surface are kept at slope 1. Where we differ from the paper:
/// the sign of its tension, its time step, and its far field (see docs/implicit.md).
///
/// The time step is chosen by the skin: 0.9/(2 alpha Gm + 4 beta) and below 0.9 voxel of motion.
/// Cost per step O(surface). The same bits for any number of threads. Not thread-safe.
class ActiveSkin {
 public:
  /// Errors: what validate(EvolutionLaw) finds.
  static Result<ActiveSkin> make(Potential start, const EvolutionLaw& law);
  ~ActiveSkin();
  ActiveSkin(ActiveSkin&&) noexcept;
  ActiveSkin& operator=(ActiveSkin&&) noexcept;

  /// One step towards the target, not longer than `max_s` >= 0. With super-time-stepping that is
  /// all of its sub-steps.
  SkinStep step(const Target& target, double max_s);

  /// Steps until `seconds` have passed. Seeds are looked at first: where the target has matter and
  /// no skin is near, one is born. Errors: memory beyond max_memory; a target that the skin does
  /// not overlap and that has no seeds, so that the skin could only vanish; more than
  /// max_steps steps, with what is too fast.
  Result<SkinStep> advance(const Target& target, double seconds);

  double time_s() const;
  const Potential& potential() const;
  const EvolutionLaw& law() const;
  /// Replaces the evolution law; bodies and what they hold stay.
  Result<void> setLaw(const EvolutionLaw& law);

  /// Bodies as of the last step's start; empty before the first, and where nothing tracks them.
  std::vector<Body> bodies() const;
  /// Wanted volumes and areas are multiplied by these from now on: targets over time.
  void setWantedScale(double volume_scale, double area_scale);
  /// The same for the volume of all bodies together [m^3], shared in proportion to what each holds:
  /// where matter is born or dies, the sum stays what is said here, in every step from now on.
  /// Requires total > 0.
  void setWantedVolume(double total);
  /// Brings every body to the volume it is wanted to have, by moving its surface along the normals
  /// without time passing: after births and merges within a short time the steps alone may lag.
  /// Does nothing unless volume is held exactly. Returns what the sum is still off by, relative.
  double settleVolume();
  const std::vector<SkinEvent>& events() const;
  void clearEvents();

  /// The surface as it is now.
  void polygonise(TriMesh& out, bool normals = true);
  /// The same with the velocity [m/s] of each vertex towards the target, for motion blur: its speed
  /// along the normal, before volume control.
  void polygonise(const Target& target, TriMesh& out, std::vector<Vec3f>& velocities);

  /// Hash of everything a further step depends on.
  std::uint64_t stateHash() const;
  /// [bytes] of band and work space, and what of it is kept by blocks (the band, bits, labels);
  /// the rest is kept by points of the surface.
  std::size_t memoryBytes() const;
  std::size_t blockBytes() const;

 private:
  struct Impl;
  explicit ActiveSkin(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace derm
