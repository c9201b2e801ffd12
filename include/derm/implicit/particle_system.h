#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "derm/base/result.h"
#include "derm/implicit/potential.h"
#include "derm/mesh/particles.h"

namespace derm {

/// Where new matter comes from: a round jet that begins and ends in a dome.
struct EmitterDesc {
  Vec3d position = Vec3d(0, 1, 0);   ///< [m]
  Vec3d velocity = Vec3d(0, -1, 0);  ///< [m/s]
  double radius_m = 0.08;            ///< [m] of the jet
  double from_s = 0;                 ///< [s]
  double to_s = 1;                   ///< [s]
};

/// How viscous matter behaves; made for pouring, dripping and melting rather than for splashes.
struct ParticleSystemDesc {
  double radius_m = 0.02;  ///< [m] > 0, half the distance particles keep
  double stiffness = 60;   ///< [m/s^2] of pressure, per unit of density above its rest
  double cohesion = 12;    ///< [m/s^2] greatest pull of a neighbour: surface tension
  double viscosity = 8;    ///< [1/s] how fast neighbours take each other's velocity
  Vec3d gravity = Vec3d(0, -9.81, 0);
  std::optional<double> ground_y_m = 0.0;  ///< [m] none = free fall
  double friction = 0.6;                   ///< [0,1] of the ground, per step of contact
  double step_s = 1.0 / 480;               ///< [s] > 0, fixed
  std::vector<EmitterDesc> emitters = {};
  /// Particles with few neighbours are cut into eight of half the size, so often at most: finer
  /// matter only where it is thin. 0 = off.
  int max_splits = 0;
};

/// A small particle simulation: pressure above a rest density, a second density of near neighbours
/// against clumps (Clavet, Beaudoin, Poulin 2005), cohesion of pairs as surface tension (after
/// Becker, Teschner 2007), neighbours' velocities averaged by viscosity; explicit, on a fixed step.
/// Deterministic over threads. It exists to drive skins; it is no fluid solver.
class ParticleSystem {
 public:
  /// Errors: numbers out of range, particles that validate(Particles) refuses.
  static Result<ParticleSystem> make(Particles start, const ParticleSystemDesc& desc);

  void advance(double seconds);
  double time_s() const { return time_s_; }
  /// With radii, velocities, masses and ids.
  const Particles& particles() const { return particles_; }
  const ParticleSystemDesc& desc() const { return desc_; }

  /// The skin pushes back: particles that are outside it, or less than 1.5 voxels below it, are
  /// moved inwards by `share` of what is missing, and lose their outward velocity.
  void feelSkin(const Potential& skin, double share = 0.3);

 private:
  void step();
  void emit();
  void sortIntoCells();
  void findDensities();
  void findForces();
  void splitThin();

  ParticleSystemDesc desc_;
  Particles particles_;
  double time_s_ = 0;
  double left_s_ = 0;
  std::uint64_t next_id_ = 0;
  std::vector<Vec3f> accelerations_;
  std::vector<Vec3f> averages_;  ///< mean velocity of neighbours
  std::vector<float> shares_;    ///< how much of it is taken on
  std::vector<float> densities_;
  std::vector<float> near_densities_;
  // Cells of the largest reach.
  Vec3f cell_low_ = Vec3f::Zero();
  float cell_m_ = 1;
  int cells_[3] = {1, 1, 1};
  std::vector<std::uint32_t> cell_start_;
  std::vector<std::uint32_t> in_cells_;
  template <class Visit>
  void forNeighbours(std::size_t i, const Visit& visit) const;
};

/// A ball filled with particles at their rest distance, all moving alike.
Particles particleBall(const Vec3d& centre, double ball_radius_m, double radius_m,
                       const Vec3d& velocity = Vec3d::Zero());

}  // namespace derm
