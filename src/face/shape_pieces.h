#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "derm/face/face_slits.h"
#include "derm/mesh/triangle_tree.h"

#include "face/shape_openings.h"

namespace derm::detail {

/// What pieces beside the skin do when a face moves.
class FacePieces {
 public:
  FacePieces(const WeldedMesh& mesh, std::uint32_t skin, const FaceSlits& slits,
             const std::optional<Vec3d>& chin, double eye_distance_m);

  const std::optional<Eyeball>& leftEyeball() const { return left_; }
  const std::optional<Eyeball>& rightEyeball() const { return right_; }
  /// Fills the displacements of the points beside the skin from those of the skin.
  void follow(std::span<Vec3d> shape) const;
  /// Whether a point beside the skin lies on it.
  bool followsSkin(std::uint32_t point) const { return follows_[point]; }
  /// Turns one eye's ball, with all its shells, about its centre.
  void turnEyeball(bool left, const Mat3d& turn, std::span<Vec3d> shape) const;

 private:
  struct Follower {
    std::uint32_t point = 0;
    Triangle skin{};  ///< points
    Vec3d shares = Vec3d::Zero();
  };

  const WeldedMesh& mesh_;
  std::vector<Follower> followers_;      ///< on the skin
  std::vector<bool> follows_;            ///< per point: one of the followers
  std::vector<std::uint32_t> with_jaw_;  ///< points
  std::vector<std::uint32_t> jaw_skin_;  ///< points of the chin, that tell the jaw's motion
  std::optional<Eyeball> left_, right_;
  std::vector<std::uint32_t> left_points_, right_points_;
};

}  // namespace derm::detail
