#pragma once

#include <span>
#include <vector>

#include "derm/implicit/active_skin.h"

#include "implicit/body_tracker.h"
#include "implicit/edge_speeds.h"
#include "implicit/lattice_surface.h"

namespace derm {

/// A skin's state and work space. Inside, lengths are voxels.
struct ActiveSkin::Impl {
  Potential potential;
  EvolutionLaw law;
  double time_s = 0;

  detail::BandStepper stepper;
  detail::EdgeFields edges;
  /// [voxel/s] per edge point, before volume control; applyMoves() makes them moves [voxel].
  std::vector<float> speeds;
  std::vector<Vec3f> carried;     ///< [m/s] of the target's matter, per edge point
  std::vector<float> forces;      ///< per edge point, where there is inertia
  std::vector<float> node_moves;  ///< [voxel] per node, where motion is node-wise
  detail::LatticeSurface surface;
  detail::BodyTracker tracker;
  Polygoniser polygoniser;

  double volume_scale = 1;
  double wanted_total = 0;  ///< [voxel^3] of all bodies together; 0: not said
  double area_scale = 1;
  double slope = 0;  ///< [1/m] of the target, filtered, where it has to be measured
  int steps_to_measure = 0;
  int quiet_steps = 0;
  int steps_to_tidy = 0;
  double mean_speed = 0;       ///< [voxel/s] mean |speed| of this step
  double last_mean_speed = 0;  ///< and of the one before

  std::vector<float> velocities;              ///< [voxel/s] per node, where there is inertia
  std::vector<BandGrid::Words> moving_words;  ///< nodes whose velocity is known
  std::vector<float> node_scratch;
  std::vector<std::uint32_t> node_bodies;

  double tensionPerVoxel() const { return law.tension / (potential.voxel_m * potential.voxel_m); }
  bool tracksBodies() const {
    return law.track_bodies || law.volume != Hold::No || law.area != Hold::No;
  }

  /// How values of the target become voxels; measures the slope where it is due.
  detail::FieldScale fieldScale(const Target& target);
  /// [s] the longest stable step.
  double stableStep() const;

  /// Now and then: puts the band's blocks in order again, where its way has scattered them.
  void tidyBlocks();
  SkinStep superStep(const Target& target, double max_s);
  /// One explicit step of exactly `dt_s`, or less where speeds are too high and `shorten` is set.
  SkinStep eulerStep(const Target& target, double dt_s, double reference_dt_s, bool shorten);
  SkinStep inertialStep(const Target& target, double max_s);

  void prepareEdges(const Target& target, bool curvature);
  void findSpeeds(SkinStep& report);
  /// Adds the normal part of the target's own velocity. Requires the surface with normals.
  void addCarriedSpeeds(const Target& target, SkinStep& report);
  void watchBodies(bool normals);
  /// volume_scale such that all bodies together want what was said.
  void fitWantedTotal();
  /// An error that names what is too fast, where more than max_steps steps would be needed.
  Result<void> checkStepCount(const SkinStep& last, int taken, double left_s) const;
  /// Bodies too small for the band are taken away. True where there were any.
  bool removeSpecks();
  /// [voxel/s] to add to the speeds of each body.
  struct Offset {
    float constant = 0;
    float per_curvature = 0;
  };
  std::vector<Offset> holdOffsets(double dt_s, double reference_dt_s);
  void applyMoves(double dt_s, double reference_dt_s);
  void nodeWiseMoves(const Target& target, double dt_s);

  // Inertia.
  double inertialStableStep() const;
  void extendVelocities();
  void accelerate(double dt_s);
  void filterVelocities(double amount);
  void holdCentre();
  void pressVolume(double dt_s);

  // Births.
  std::size_t plantSeeds(const Target& target);
  void plantBall(const Vec3d& centre, double radius_voxels);
};

}  // namespace derm
