#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/base/result.h"
#include "derm/implicit/target.h"
#include "derm/mesh/particles.h"

namespace derm {

struct ParticleTargetDesc {
  double radius_m = 0;  ///< [m] for particles without one; half the usual distance of neighbours
  /// Reach of a particle over its radius, 2 to 8. Smoother when larger, at the cost of detail.
  double reach = 4;
  double iso = 0.5;  ///< (0, 1): 1 is the density deep inside
  /// Kernels stretched along sheets and threads by the neighbours' spread (after Yu, Turk 2013):
  /// flat surfaces get flatter, edges sharper.
  bool anisotropic = false;
  /// The skin is carried by the particles' velocities, where they have any.
  bool carry = true;
  /// [0,1] 1: a lonely particle is a ball of its own volume; 0: it may vanish below the iso level.
  double drops = 1;
};

/// The field of a particle set: G = sum of v (1 - r^2/H^2)^3 315/(64 pi H^3), which is about 1 deep
/// inside matter and 0 outside. Particles with few neighbours weigh more, so that sprays keep their
/// volume. Particles are sorted into cells of the largest reach; a point looks at 27 of them.
/// O(particles) to build, about 200 particles per point. Immutable; share it freely.
class ParticleTarget final : public Target {
 public:
  /// Errors name the particle: positions that are not finite, radii or masses that are not
  /// positive; no particle at all; numbers of `desc` out of range.
  static Result<ParticleTarget> make(const Particles& particles, const ParticleTargetDesc& desc);

  void sample(const SampleBatch& at, std::span<float> g) const noexcept override;
  double iso() const override { return iso_; }
  double slope() const override { return 1.2 / usual_reach_m_; }
  Box3d bounds() const override { return box_; }
  FieldRange rangeIn(const Box3d& box) const override;
  void appendSeeds(std::vector<TargetSeed>& seeds) const override;

  /// Where particles have velocities: the mean of those near, by their kernels.
  bool moves() const override { return !velocities_.empty(); }
  void sampleVelocity(const SampleBatch& at, std::span<Vec3f> velocities) const noexcept override;

  std::size_t size() const { return x_.size(); }
  /// The plain sum over all particles, for tests and benchmarks.
  double bruteForceAt(const Vec3d& point) const;

 private:
  void sortIntoCells(const Particles& particles, const ParticleTargetDesc& desc);
  void raiseLonelyOnes(double drops);
  void stretchKernels();
  double flatnessAt(std::size_t i) const;
  std::size_t cellOf(int x, int y, int z) const {
    return (static_cast<std::size_t>(z) * cells_[1] + static_cast<std::size_t>(y)) * cells_[0] +
           static_cast<std::size_t>(x);
  }
  /// Calls visit(first, last) for the runs of particles in the 27 cells around a point.
  template <class Visit>
  void forRunsAround(const Vec3f& p, const Visit& visit) const;
  float valueAt(const Vec3f& p) const;

  Vec3d origin_ = Vec3d::Zero();  ///< [m] positions count from here
  double iso_ = 0.5;
  double usual_reach_m_ = 1;
  float cell_m_ = 1;
  std::size_t cells_[3] = {1, 1, 1};
  Box3d box_;
  std::vector<std::uint32_t> cell_start_;
  std::vector<float> x_, y_, z_;  ///< [m] by cell
  std::vector<float> inverse2_;   ///< [1/m^2] 1/H^2
  std::vector<float> weight_;
  std::vector<Vec3f> velocities_;  ///< [m/s] or none
  std::vector<float> stretch_;     ///< six per particle, xx yy zz xy yz zx; or none
};

}  // namespace derm
