#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/face/face_weights.h"
#include "derm/math/vec.h"

namespace derm {

/// How strongly a wrinkle shows, over how far a point is on its way to the reference pose.
/// Without keys sin^4(pi x / 2) (Dutreve 2011, eq. 5.12): late and soft. With keys, straight lines
/// between them.
struct ModulationCurve {
  std::vector<Vec2f> keys;  ///< (way, strength), both [0,1], ways strictly increasing, 2 or more

  float operator()(float way) const;
  bool operator==(const ModulationCurve&) const = default;
};

/// A pose of the face with a wrinkle map of its own: where its control points are when all of the
/// map shows. "stretch" and "compress" suffice for a face.
struct ReferencePose {
  std::string name;
  std::vector<Vec3d> points;  ///< [m] in head space, one per control point
  ModulationCurve curve;
};

/// Points that wrinkle together (both ends of a brow): each counts with the mean of those that the
/// pose moves.
struct WrinkleGroup {
  std::string name;
  std::vector<std::uint32_t> points;  ///< a point is in one group at most
};

/// How strongly a map shows on a vertex.
enum class WrinkleInfluence {
  Weighted,  ///< sum of w theta(alpha) over its control points: smooth, always in [0,1]
  Printed,   ///< sum of theta(alpha) over the points with any weight (eq. 5.11), clamped to 1
  /// As Weighted, with weights w scaled up by min(1 / W, 6) where W = sum of w, softly: lines reach
  /// as far up a forehead as a brow pulls at all, and not only where it carries the skin along.
  Spread,
};

/// The weights that Spread counts with.
FaceWeights spreadWeights(const FaceWeights& weights);

struct WrinklePosesDesc {
  std::vector<Vec3d> neutral;  ///< [m] control points at rest, in head space
  std::vector<ReferencePose> poses;
  std::vector<WrinkleGroup> groups;
  WrinkleInfluence influence = WrinkleInfluence::Weighted;
};

/// Which wrinkle maps show where, from the control points of a frame alone.
///
/// alpha_jk = clamp((P_j - P_j0) . (P_jk - P_j0) / |P_jk - P_j0|^2), how far point j is on its way
/// to pose k (Dutreve 2011, eq. 5.9, with the squared norm: as printed it depends on the unit), 0
/// where the pose leaves the point at rest; means over groups; beta_ik by WrinkleInfluence.
///
/// Immutable after bind(); evaluate() is allocation-free. O(points * poses + influences * poses):
/// 28 points, 2 poses and 5000 vertices in about 18 us.
class WrinklePoses {
 public:
  /// `weights` says how much every vertex follows each point (the head's share counts for nothing).
  /// Errors name the pose or group: other numbers of points than at rest, numbers not finite, a
  /// pose equal to rest, keys out of order, a point in two groups or not there, no poses or more
  /// than 64.
  static Result<WrinklePoses> bind(const WrinklePosesDesc& desc, const FaceWeights& weights);

  std::size_t pointCount() const { return neutral_.size(); }
  std::size_t poseCount() const { return poses_; }
  std::size_t vertexCount() const { return vertices_; }

  /// `alpha` has pointCount() * poseCount() numbers, pose after pose: after groups, before theta.
  /// Points that are not finite count as at rest.
  void alphas(std::span<const Vec3f> points, std::span<float> alpha) const noexcept;
  /// `beta` has vertexCount() * poseCount() numbers [0,1], pose after pose. Requires such sizes.
  void evaluate(std::span<const Vec3f> points, std::span<float> beta) const noexcept;
  /// The same from alphas, as they come from elsewhere.
  void betas(std::span<const float> alpha, std::span<float> beta) const noexcept;

 private:
  static constexpr std::size_t kMaxPoses = 64, kMaxPoints = 256;
  /// Up to four control points of a vertex.
  struct Block {
    std::uint32_t vertex = 0;
    std::array<std::uint8_t, 4> point = {};
    std::array<float, 4> weight = {};
  };

  /// Of one pose: a number per point.
  void alphasOf(std::size_t pose, std::span<const Vec3f> points,
                std::span<float> alpha) const noexcept;
  /// Adds what `count` poses from `first` on show, by their alphas.
  void addBetas(std::size_t first, std::size_t count, std::span<const float> alpha,
                std::span<float> beta) const noexcept;

  std::size_t poses_ = 0, vertices_ = 0;
  bool clamped_ = false;
  std::vector<Vec3f> neutral_;
  std::vector<Vec3f> direction_;  ///< (P_k - P_0) / |P_k - P_0|^2 per pose and point; 0 = at rest
  std::vector<std::vector<std::uint32_t>> groups_;
  std::vector<ModulationCurve> curves_;
  std::vector<Block> blocks_;  ///< those of a vertex follow each other
};

}  // namespace derm
