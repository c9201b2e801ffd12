#include "derm/math/rbf.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>

#include "derm/base/disjoint_sets.h"
#include "derm/base/parallel.h"
#include "derm/math/decompositions.h"

#include "math/rbf_kernels.h"

namespace derm {
namespace {

using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;

/// Of the extent: sources that are closer are one point. Positions come from files of floats.
constexpr double kSamePoint = 1e-6;
/// Of the longest direction: sources that are thinner are flat, for the same reason.
constexpr double kFlat = 1e-6;
/// Squares and cubes of what is smaller are numbers still.
constexpr double kLargest = 1e100;
/// Points per task; a multiple of every register's length.
constexpr std::size_t kTaskPoints = 2048;

double shapeOf(RbfKernel kernel, double sigma) {
  switch (kernel) {
    case RbfKernel::Multiquadric:
      return sigma * sigma;
    case RbfKernel::Gaussian:
      return -0.5 / (sigma * sigma);
    default:
      return 0;
  }
}

double kernelValue(RbfKernel kernel, double square, double shape) {
  switch (kernel) {
    case RbfKernel::Biharmonic:
      return std::sqrt(square);
    case RbfKernel::Triharmonic:
      return square * std::sqrt(square);
    case RbfKernel::ThinPlate:
      return square > 0 ? 0.5 * square * std::log(square) : 0;
    case RbfKernel::Multiquadric:
      return std::sqrt(square + shape);
    case RbfKernel::Gaussian:
      return std::exp(square * shape);
  }
  return 0;
}

/// The sign that makes a kernel's matrix positive definite on Q2.
double signOf(RbfKernel kernel) {
  return kernel == RbfKernel::Biharmonic || kernel == RbfKernel::Multiquadric ? -1 : 1;
}

bool hasWidth(RbfKernel kernel) {
  return kernel == RbfKernel::Multiquadric || kernel == RbfKernel::Gaussian;
}

Error badPoints(std::string message, std::optional<std::uint64_t> index = {}) {
  return {ErrorCode::BadData, std::move(message), {.element = "rbf points", .index = index}};
}

Result<void> validate(const RbfDesc& desc) {
  const auto bad = [](const char* name) {
    return Error{ErrorCode::BadArgument,
                 "must be finite and not negative",
                 {.element = std::string("rbf.") + name}};
  };
  if (!(desc.sigma >= 0 && desc.sigma < kLargest)) return bad("sigma");
  if (!(desc.lambda >= 0 && desc.lambda < kLargest)) return bad("lambda");
  return {};
}

/// Rows are points.
struct PointPairs {
  MatrixXd sources, targets;
};

double squaredDistance(const MatrixXd& points, Eigen::Index i, Eigen::Index j) {
  double sum = 0;
  for (Eigen::Index k = 0; k < points.cols(); ++k) {
    const double away = points(i, k) - points(j, k);
    sum += away * away;
  }
  return sum;
}

/// Pairs with the same source are averaged.
PointPairs withoutDuplicates(PointPairs pairs, Diagnostics& notes) {
  const auto n = static_cast<std::uint32_t>(pairs.sources.rows());
  const RowVectorXd extent =
      pairs.sources.colwise().maxCoeff() - pairs.sources.colwise().minCoeff();
  const double nearest = kSamePoint * kSamePoint * extent.squaredNorm();
  DisjointSets sets(n);
  for (std::uint32_t i = 0; i < n; ++i)
    for (std::uint32_t j = 0; j < i; ++j)
      if (squaredDistance(pairs.sources, i, j) <= nearest) sets.unite(i, j);

  std::vector<double> counts(n, 0);
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t root = sets.rootOf(i);
    ++counts[root];
    if (root == i) continue;
    pairs.sources.row(root) += pairs.sources.row(i);
    pairs.targets.row(root) += pairs.targets.row(i);
    notes.warn("rbf-duplicates", "rbf points",
               "points at the same place became one, their targets averaged", i);
  }
  Eigen::Index kept = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    if (counts[i] == 0) continue;
    pairs.sources.row(kept) = pairs.sources.row(i) / counts[i];
    pairs.targets.row(kept) = pairs.targets.row(i) / counts[i];
    ++kept;
  }
  pairs.sources.conservativeResize(kept, Eigen::NoChange);
  pairs.targets.conservativeResize(kept, Eigen::NoChange);
  return pairs;
}

/// 1 where all points are the same.
double rmsRadius(const MatrixXd& centred) {
  const double radius = std::sqrt(centred.squaredNorm() / static_cast<double>(centred.rows()));
  return radius > 0 ? radius : 1;
}

/// Orthonormal columns: the directions in which centred points differ.
MatrixXd spannedDirections(const MatrixXd& centred) {
  const SymmetricEigen axes = symmetricEigen(MatrixXd(centred.transpose() * centred));
  const VectorXd& squares = axes.values;
  Eigen::Index flat = 0;
  while (flat < squares.size() && !(squares[flat] > kFlat * kFlat * squares[squares.size() - 1]))
    ++flat;
  return axes.vectors.rightCols(squares.size() - flat);
}

/// The rotation that takes unit vector a to unit vector b and turns least.
Mat3d leastRotation(const Vec3d& a, const Vec3d& b) {
  const double cosine = a.dot(b);
  if (cosine < -1 + 1e-12) {
    // Half a turn about anything across: about z where that is possible, so that a line in the
    // plane stays in it.
    const Vec3d up = std::abs(a.z()) < 0.9 ? Vec3d::UnitZ() : Vec3d::UnitX();
    const Vec3d axis = (up - up.dot(a) * a).normalized();
    return 2 * axis * axis.transpose() - Mat3d::Identity();
  }
  const Vec3d axis = a.cross(b);
  Mat3d cross;
  cross << 0, -axis.z(), axis.y(), axis.z(), 0, -axis.x(), -axis.y(), axis.x(), 0;
  return Mat3d::Identity() + cross + cross * cross / (1 + cosine);
}

/// s R of the similarity that takes centred sources nearest to centred targets.
MatrixXd similarityBetween(const MatrixXd& x, const MatrixXd& y) {
  Mat3d covariance = Mat3d::Zero();
  covariance.topLeftCorner(y.cols(), x.cols()) = y.transpose() * x;
  const Eigen::JacobiSVD<Eigen::Matrix3d> svd(covariance,
                                              Eigen::ComputeFullU | Eigen::ComputeFullV);
  const Eigen::Vector3d& values = svd.singularValues();
  Mat3d rotation;
  double sum = values[0] + values[1];
  if (values[1] > kFlat * values[0]) {
    rotation = svd.matrixU() * svd.matrixV().transpose();
    if (rotation.determinant() < 0) {
      Eigen::Vector3d flip(1, 1, -1);
      rotation = svd.matrixU() * flip.asDiagonal() * svd.matrixV().transpose();
      sum -= values[2];
    } else {
      sum += values[2];
    }
  } else {
    rotation = leastRotation(svd.matrixV().col(0), svd.matrixU().col(0));
  }
  const double square = x.squaredNorm();
  return (square > 0 ? sum / square : 0) * rotation.topLeftCorner(y.cols(), x.cols());
}

struct Solution {
  VectorXd shapes;   ///< per centre
  MatrixXd weights;  ///< a row per centre
  MatrixXd linear;   ///< a row per target coordinate
  VectorXd constant;
  int rank = 0;
};

Error notInvertible(const RbfDesc& desc) {
  const char* advice = "points are too close; make lambda larger";
  if (hasWidth(desc.kernel) && desc.sigma == 0)
    advice = "give all centres one sigma, or use another kernel";
  else if (hasWidth(desc.kernel))
    advice = "sigma is too wide for points this close; make it smaller, or lambda larger";
  else if (!desc.affine)
    advice = "this kernel needs the affine part";
  return badPoints(std::string("the kernel matrix has no inverse: ") + advice);
}

/// x and y are normalised, points in rows.
Result<Solution> solve(const MatrixXd& x, const MatrixXd& y, const RbfDesc& desc) {
  const Eigen::Index n = x.rows();
  Solution out;
  MatrixXd squares(n, n);
  for (Eigen::Index j = 0; j < n; ++j)
    for (Eigen::Index i = 0; i <= j; ++i) squares(i, j) = squares(j, i) = squaredDistance(x, i, j);
  out.shapes.resize(n);
  for (Eigen::Index j = 0; j < n; ++j) {
    double sigma = desc.sigma;
    if (sigma == 0) {
      double nearest = std::numeric_limits<double>::infinity();
      for (Eigen::Index i = 0; i < n; ++i)
        if (i != j) nearest = std::min(nearest, squares(i, j));
      sigma = n > 1 ? std::sqrt(nearest) : 1;
    }
    out.shapes[j] = shapeOf(desc.kernel, sigma);
  }
  const double sign = signOf(desc.kernel);
  MatrixXd h(n, n);  // e H
  for (Eigen::Index j = 0; j < n; ++j)
    for (Eigen::Index i = 0; i < n; ++i)
      h(i, j) = sign * kernelValue(desc.kernel, squares(i, j), out.shapes[j]);

  constexpr double kMinCondition = 1e-14;
  out.linear = MatrixXd::Zero(y.cols(), x.cols());
  out.constant = VectorXd::Zero(y.cols());
  const MatrixXd directions = spannedDirections(x);
  const Eigen::Index rank = directions.cols();
  out.rank = static_cast<int>(rank);
  if (!desc.affine) {
    h.diagonal().array() += desc.lambda;
    const Eigen::PartialPivLU<MatrixXd> lu(h);
    if (!(lu.rcond() > kMinCondition)) return notInvertible(desc);
    out.weights = sign * lu.solve(y);
    return out;
  }

  MatrixXd p(n, rank + 1);
  p << x * directions, VectorXd::Ones(n);
  const Eigen::HouseholderQR<MatrixXd> qr(p);
  // All in the basis [Q1 Q2]; the reflections are few, so this is cheaper than making Q.
  h.applyOnTheLeft(qr.householderQ().adjoint());
  h.applyOnTheRight(qr.householderQ());
  const MatrixXd turned = qr.householderQ().adjoint() * y;
  const Eigen::Index rest = n - rank - 1;
  MatrixXd g = MatrixXd::Zero(n, y.cols());
  if (rest > 0) {
    MatrixXd reduced = h.bottomRightCorner(rest, rest);
    reduced.diagonal().array() += desc.lambda;
    if (hasWidth(desc.kernel) && desc.sigma == 0) {
      const Eigen::PartialPivLU<MatrixXd> lu(reduced);
      if (!(lu.rcond() > kMinCondition)) return notInvertible(desc);
      g.bottomRows(rest) = lu.solve(turned.bottomRows(rest));
    } else {
      const Eigen::LLT<MatrixXd> cholesky(reduced);
      if (cholesky.info() != Eigen::Success || !(cholesky.rcond() > kMinCondition))
        return notInvertible(desc);
      g.bottomRows(rest) = cholesky.solve(turned.bottomRows(rest));
    }
  }
  // lambda W has no part in Q1, so it does not appear here.
  const MatrixXd left =
      turned.topRows(rank + 1) - h.topRightCorner(rank + 1, rest) * g.bottomRows(rest);
  const MatrixXd a =
      qr.matrixQR().topLeftCorner(rank + 1, rank + 1).triangularView<Eigen::Upper>().solve(left);
  out.weights = qr.householderQ() * (sign * g);
  out.linear = a.topRows(rank).transpose() * directions.transpose();
  out.constant = a.row(rank).transpose();
  if (rank < x.cols())
    out.linear += similarityBetween(x, y) *
                  (MatrixXd::Identity(x.cols(), x.cols()) - directions * directions.transpose());
  return out;
}

template <int N>
Result<MatrixXd> rowsOf(std::span<const RbfPoint<N>> points, const char* name) {
  MatrixXd rows(static_cast<Eigen::Index>(points.size()), N);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!(points[i].cwiseAbs().maxCoeff() < kLargest) || points[i].hasNaN())
      return badPoints(std::string(name) + " is not finite", i);
    rows.row(static_cast<Eigen::Index>(i)) = points[i].transpose();
  }
  return rows;
}

}  // namespace

template <int In, int Out>
Result<RbfMap<In, Out>> RbfMap<In, Out>::bind(std::span<const Source> sources,
                                              std::span<const Target> targets, const RbfDesc& desc,
                                              Diagnostics& notes) {
  DERM_CHECK(validate(desc));
  if (sources.size() != targets.size())
    return badPoints(std::to_string(sources.size()) + " sources, but " +
                     std::to_string(targets.size()) + " targets");
  if (sources.empty()) return badPoints("there are none");
  PointPairs pairs;
  DERM_TRY(pairs.sources, rowsOf<In>(sources, "source"));
  DERM_TRY(pairs.targets, rowsOf<Out>(targets, "target"));
  pairs = withoutDuplicates(std::move(pairs), notes);
  if (desc.affine && pairs.sources.rows() < 2)
    return badPoints("at least two distinct sources are needed for the affine part");

  RbfMap map;
  map.kernel_ = desc.kernel;
  const RowVectorXd source_centroid = pairs.sources.colwise().mean();
  const RowVectorXd target_centroid = pairs.targets.colwise().mean();
  MatrixXd x = pairs.sources.rowwise() - source_centroid;
  MatrixXd y = pairs.targets.rowwise() - target_centroid;
  const double source_radius = rmsRadius(x), target_radius = rmsRadius(y);
  x /= source_radius;
  y /= target_radius;

  DERM_TRY(const Solution solution, solve(x, y, desc));
  map.rank_ = solution.rank;
  if (desc.affine && map.rank_ < In)
    notes.info("rbf-flat", "rbf points",
               map.rank_ == 1 ? "points lie on a line; across it the map moves as a similarity"
                              : "points lie in a plane; off it the map moves as a similarity");
  map.centroid_ = source_centroid.transpose();
  map.per_radius_ = 1 / source_radius;
  map.linear_ = target_radius * solution.linear;
  map.constant_ = target_radius * solution.constant + target_centroid.transpose();
  const auto n = static_cast<std::size_t>(x.rows());
  map.centres_.resize(n);
  for (std::size_t j = 0; j < n; ++j) {
    const auto row = static_cast<Eigen::Index>(j);
    Centre& centre = map.centres_[j];
    centre.position = x.row(row).transpose();
    centre.shape = solution.shapes[row];
    centre.weight = target_radius * solution.weights.row(row).transpose();
    for (int i = 0; i < In; ++i)
      map.rounded_centres_.push_back(static_cast<float>(centre.position[i]));
    map.rounded_centres_.push_back(static_cast<float>(centre.shape));
    for (int o = 0; o < Out; ++o)
      map.rounded_centres_.push_back(static_cast<float>(centre.weight[o]));
  }
  return map;
}

template <int In, int Out>
RbfPoint<Out> RbfMap<In, Out>::evaluate(const Source& p) const noexcept {
  const Source at = per_radius_ * (p - centroid_);
  Target sum = Target::Zero();
  for (const Centre& centre : centres_)
    sum += kernelValue(kernel_, (at - centre.position).squaredNorm(), centre.shape) * centre.weight;
  return sum + linear_ * at + constant_;
}

template <int In, int Out>
void RbfMap<In, Out>::evaluate(std::span<const RbfPointf<In>> points,
                               std::span<RbfPointf<Out>> mapped) const noexcept {
  DERM_REQUIRE(points.size() == mapped.size());
  detail::RbfBatch batch{.kernel = kernel_, .in = In, .out = Out, .centres = rounded_centres_};
  for (int i = 0; i < In; ++i) {
    batch.centroid[i] = static_cast<float>(centroid_[i]);
    batch.centroid_rest[i] = static_cast<float>(centroid_[i] - double(batch.centroid[i]));
    for (int o = 0; o < Out; ++o) batch.linear[o * In + i] = static_cast<float>(linear_(o, i));
  }
  batch.per_radius = static_cast<float>(per_radius_);
  for (int o = 0; o < Out; ++o) batch.constant[o] = static_cast<float>(constant_[o]);
  parallelFor(points.size(), kTaskPoints, [&](std::size_t begin, std::size_t end) {
    detail::evaluateRbf(batch, points[begin].data(), mapped[begin].data(), end - begin);
  });
}

template class RbfMap<2, 2>;
template class RbfMap<2, 3>;
template class RbfMap<3, 2>;
template class RbfMap<3, 3>;

}  // namespace derm
