#pragma once

#include <numbers>
#include <string_view>

#include "derm/face/face_points.h"

namespace derm::detail {

/// Turns of an eyeball about its centre [rad]: sideways to the subject's left, and up.
struct Gaze {
  double left = 0, up = 0;

  Quatd turn(const FaceAxes& axes) const {
    return Quatd(Eigen::AngleAxisd(left, Eigen::Vector3d(axes.up)) *
                 Eigen::AngleAxisd(-up, Eigen::Vector3d(axes.left)));
  }
};

/// A turn that is in the directions of a face (left, up, forward as x, y, z) in those of the model.
inline Quatd turnInModel(const Quatd& turn, const FaceAxes& axes) {
  Eigen::Matrix3d directions;
  directions << axes.left, axes.up, axes.forward;
  const Quatd to_model(directions);
  return to_model * turn.normalized() * to_model.inverse();
}

/// What one of ARKit's shapes does to the eye of its side.
inline Gaze gazeOf(std::string_view shape) {
  constexpr double kUp = 25 * std::numbers::pi / 180, kDown = 30 * std::numbers::pi / 180,
                   kSide = 30 * std::numbers::pi / 180;
  if (shape.starts_with("eyeLookUp")) return {0, kUp};
  if (shape.starts_with("eyeLookDown")) return {0, -kDown};
  if (shape == "eyeLookInLeft" || shape == "eyeLookOutRight") return {-kSide, 0};
  if (shape == "eyeLookOutLeft" || shape == "eyeLookInRight") return {kSide, 0};
  return {};
}

}  // namespace derm::detail
