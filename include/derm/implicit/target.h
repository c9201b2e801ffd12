#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "derm/math/vec.h"

namespace derm {

/// Points to evaluate a field at: offsets from a common origin, so that single precision is enough
/// however far from the world's origin that is.
struct SampleBatch {
  Vec3d origin = Vec3d::Zero();  ///< [m]
  std::span<const float> x;      ///< [m] from origin; x, y, z of one length
  std::span<const float> y;
  std::span<const float> z;

  std::size_t size() const { return x.size(); }
};

/// Axis-aligned box in double. Empty where low > high.
struct Box3d {
  Vec3d low = Vec3d::Constant(std::numeric_limits<double>::infinity());
  Vec3d high = Vec3d::Constant(-std::numeric_limits<double>::infinity());

  bool empty() const { return !(low.array() <= high.array()).all(); }
  bool finite() const { return low.allFinite() && high.allFinite(); }
  Vec3d centre() const { return low + 0.5 * (high - low); }
  void include(const Vec3d& p) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  void include(const Box3d& other) {
    low = low.cwiseMin(other.low);
    high = high.cwiseMax(other.high);
  }
  Box3d grown(double by) const { return {low - Vec3d::Constant(by), high + Vec3d::Constant(by)}; }
};

/// Bounds of a field's values.
struct FieldRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

/// A point inside a target, and which of its separate parts that is. A skin that has reached one
/// seed of a part gets to the others by itself.
struct TargetSeed {
  Vec3d position = Vec3d::Zero();  ///< [m]
  std::uint32_t part = 0;
};

/// What a skin is drawn to: a scalar field G whose inside is G > iso. The skin reads G only near
/// itself. Implementations are immutable while they are read, and thread-safe then.
class Target {
 public:
  virtual ~Target() = default;

  /// G at every point. Values that are not finite count as far outside. Never allocates.
  virtual void sample(const SampleBatch& at, std::span<float> g) const noexcept = 0;

  virtual double iso() const { return 0; }

  /// [1/m] usual |grad G| where G = iso: 1 for a signed distance, which alpha is understood for. 0:
  /// not known; the skin then measures it (90 % quantile at its own points).
  virtual double slope() const { return 1; }

  /// Holds all of the inside. Empty where there is no inside at all.
  virtual Box3d bounds() const = 0;

  /// Bounds of G in a box, as tight as is cheap; used to leave out space without surface. The
  /// default knows nothing.
  virtual FieldRange rangeIn(const Box3d& box) const {
    static_cast<void>(box);
    return {};
  }

  /// True where the target's matter moves: the skin is then carried along, and attraction has only
  /// to correct. Without it a skin lags by speed/alpha and follows at most reach x alpha voxels a
  /// second.
  virtual bool moves() const { return false; }
  /// [m/s] velocity of the matter near every point; zero where there is none. Never allocates.
  virtual void sampleVelocity(const SampleBatch& at, std::span<Vec3f> velocities) const noexcept {
    static_cast<void>(at);
    for (Vec3f& v : velocities) v.setZero();
  }

  /// Adds points inside, at least one for every separate part, the best of each first: where a
  /// skin has to be born if it is near none of the part's seeds. The default adds none, and the
  /// skin then comes only where it already overlaps.
  virtual void appendSeeds(std::vector<TargetSeed>& seeds) const { static_cast<void>(seeds); }
};

/// G at one point, and its gradient [1/m] by central differences `step_m` apart.
double sampledAt(const Target& target, const Vec3d& point);
Vec3d sampledGradient(const Target& target, const Vec3d& point, double step_m);

}  // namespace derm
