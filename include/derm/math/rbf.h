#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/math/vec.h"

namespace derm {

/// What a centre adds at distance r; sigma is its width.
enum class RbfKernel {
  Biharmonic,    ///< r: the best of the five for carrying expressions from face to face
  Triharmonic,   ///< r^3: smooth, for image warps; swings far between the points
  ThinPlate,     ///< r^2 ln r (0 at r = 0): smooth, for image warps
  Multiquadric,  ///< sqrt(r^2 + sigma^2)
  Gaussian,      ///< exp(-r^2 / (2 sigma^2))
};

struct RbfDesc {
  RbfKernel kernel = RbfKernel::Biharmonic;
  /// >= 0, a share of the sources' rms radius: the width of every Multiquadric or Gaussian centre.
  /// 0: each centre has the distance to its nearest neighbour (Dutreve 2011, eq. 4.2).
  double sigma = 0;
  /// >= 0: 0 goes through the targets, more smooths. In normalised coordinates, so it means the
  /// same at any scale; an affine map is reproduced whatever it is.
  double lambda = 0;
  /// Adds an affine map, which the kernels then need not imitate: translation, rotation, scale and
  /// shear are exact everywhere. Without, there are the kernels and the targets' centroid.
  bool affine = true;
};

template <int N>
using RbfPoint = Eigen::Matrix<double, N, 1, Eigen::DontAlign>;
template <int N>
using RbfPointf = Eigen::Matrix<float, N, 1, Eigen::DontAlign>;

/// A smooth map of space that takes given points to given points: radial basis functions.
///
/// Method: Dutreve 2011, eq. 3.1 - 3.17, with x' = (x - source centroid) / source rms radius:
///   f(x) = sum_j w_j phi(|x' - x'_j|) + A x' + b
/// The thesis solves the bordered system by (M^T M + lambda I)^-1 M^T, which squares its condition
/// number, lets lambda spoil the affine part, and depends on the unit of length. Here instead, with
/// P = [X 1] = Q1 R, Q2 the complement of Q1, and e = -1 for r and the multiquadric, else +1:
///   (Q2^T (e H) Q2 + lambda I) g = Q2^T Y,   W = e Q2 g,   R a = Q1^T (Y - H W)
/// by Cholesky; by LU where every centre has its own sigma, as H is not symmetric then.
///
/// Points that lie in a plane or on a line (thinner than 1e-6 of their longest side) say nothing of
/// moves away from it. There the map moves as the similarity s R (Umeyama 1991) that fits the
/// points best, R a proper rotation, and of those the one that turns least. U spans the plane or
/// line:
///   A = A_in_plane U^T + s R (I - U U^T)
/// In the plane nothing changes: the kernels and A_in_plane interpolate what the similarity leaves.
/// A step of length h off the plane becomes one of about s h off the image of the plane.
///
/// Sources closer than 1e-6 of the extent become one, at their means (note "rbf-duplicates").
/// Cost: O(n^3) to bind, O(n) per point. Dimensions: 2 or 3 to 2 or 3.
template <int In, int Out>
class RbfMap {  ///< Immutable; share freely between threads.
 public:
  using Source = RbfPoint<In>;
  using Target = RbfPoint<Out>;

  /// Fails on no points (with the affine part: fewer than two distinct ones), lists of different
  /// lengths, numbers that are not finite or beyond 1e100, parameters out of range, and where the
  /// kernel matrix has no inverse: too wide a sigma, or no affine part where the kernel needs it.
  static Result<RbfMap> bind(std::span<const Source> sources, std::span<const Target> targets,
                             const RbfDesc& desc, Diagnostics& notes);

  /// In double precision.
  Target evaluate(const Source& p) const noexcept;
  /// Many points, in single precision: within 1e-5 of the targets' extent for points within a few
  /// extents of the sources. Requires equal lengths; the spans may be the same memory if In = Out.
  /// Allocation-free, on several threads, with the same bits for any number of them.
  void evaluate(std::span<const RbfPointf<In>> points,
                std::span<RbfPointf<Out>> mapped) const noexcept;

  /// After merging duplicates.
  std::size_t centreCount() const { return centres_.size(); }
  /// How many independent directions the sources span: less than In if they are flat.
  int rank() const { return rank_; }

 private:
  struct Centre {
    Source position;  ///< normalised
    double shape;     ///< sigma^2 (Multiquadric), -1 / (2 sigma^2) (Gaussian), else unused
    Target weight;    ///< of kernel values, in the targets' unit
  };

  RbfKernel kernel_ = RbfKernel::Biharmonic;
  int rank_ = 0;
  Source centroid_ = Source::Zero();
  double per_radius_ = 1;  ///< 1 / source rms radius
  Eigen::Matrix<double, Out, In, Eigen::DontAlign> linear_;
  Target constant_ = Target::Zero();
  std::vector<Centre> centres_;
  std::vector<float> rounded_centres_;  ///< position, shape, weight of each
};

using RbfMap22 = RbfMap<2, 2>;
using RbfMap23 = RbfMap<2, 3>;
using RbfMap32 = RbfMap<3, 2>;
using RbfMap33 = RbfMap<3, 3>;

extern template class RbfMap<2, 2>;
extern template class RbfMap<2, 3>;
extern template class RbfMap<3, 2>;
extern template class RbfMap<3, 3>;

}  // namespace derm
