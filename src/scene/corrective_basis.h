#pragma once

#include <Eigen/Core>

/// Private to room scene.
namespace derm::detail {

/// The frames' singular vectors, largest first, each scaled and signed so that its largest entry is
/// 1: the weights of the shapes. `scales` undo that: shape = A v * scale.
struct FrameBasis {
  Eigen::MatrixXd vectors;  ///< orthonormal columns, frames x rank
  Eigen::VectorXd scales;

  /// Of a matrix with one column per frame.
  explicit FrameBasis(const Eigen::MatrixXf& a);
  Eigen::Index rank() const { return vectors.cols(); }
  Eigen::MatrixXf weights(Eigen::Index shapes) const;  ///< shapes x frames
};

/// Columns [first, first + count) of A V, scaled; parts below `min_length` are zero.
void addShapes(const Eigen::MatrixXf& a, const FrameBasis& basis, Eigen::Index first,
               Eigen::Index count, double min_length, Eigen::MatrixXf& shapes);

/// Shapes and weights that add up to the same, but with every weight in [0,1]: many programs
/// (Blender, Unity) cut others off. Each weight is lifted by its smallest value; what that adds is
/// taken back by one more shape, the last, whose weight is always 1.
struct UnitWeights {
  Eigen::VectorXf min_weights;  ///< of each weight over the frames, at most 0
  Eigen::VectorXf span;         ///< from `min_weights` to the largest

  explicit UnitWeights(const Eigen::MatrixXf& weights);
  bool needBase() const { return (min_weights.array() < 0).any(); }
  Eigen::MatrixXf shapes(const Eigen::MatrixXf& from) const;
  Eigen::MatrixXf weights(const Eigen::MatrixXf& from) const;
};

}  // namespace derm::detail
