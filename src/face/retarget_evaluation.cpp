#include "derm/face/retarget_evaluation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "derm/face/expressions.h"
#include "derm/math/decompositions.h"

#include "face/control_point_index.h"

namespace derm {
namespace {

using detail::controlPointIndex;
using detail::kControlPointCount;

constexpr std::array<std::string_view, kEvaluatedExpressions> kExpressions = {
    "neutral", "joy", "sadness", "disgust", "surprise", "fear", "anger"};

using Points = std::vector<RbfPoint<3>>;
using PointMap = std::function<Vec3d(const Vec3d&)>;

Points controlPoints(const FacePoints& points) {
  Points out;
  for (const std::string_view number : controlPointNumbers()) out.push_back(points.at(number));
  return out;
}

/// What an expression does to the control points, in their order.
Result<Points> displacements(std::string_view expression, const FacePoints& points) {
  Points out(kControlPointCount, Vec3d::Zero());
  if (expression == kExpressions[0]) return out;
  DERM_TRY(const std::vector<PointDisplacement> moves, expressionDisplacements(expression, points));
  for (const PointDisplacement& move : moves)
    out[controlPointIndex(move.point)] += move.displacement_m;
  return out;
}

/// The thesis's own way to a map (Dutreve 2011, eq. 3.9 to 3.16): Tikhonov's inverse of the whole
/// bordered matrix, in coordinates whose unit decides what lambda does.
class TikhonovMap {
 public:
  TikhonovMap(Points sources, const Points& targets, RbfKernel kernel, double lambda)
      : sources_(std::move(sources)), kernel_(kernel) {
    const std::size_t n = sources_.size();
    for (std::size_t j = 0; j < n; ++j) {
      double nearest = INFINITY;
      for (std::size_t i = 0; i < n; ++i)
        if (i != j) nearest = std::min(nearest, (sources_[i] - sources_[j]).norm());
      sigma_.push_back(nearest);
    }
    const auto rows = static_cast<Eigen::Index>(n + 4);
    Eigen::MatrixXd m = Eigen::MatrixXd::Zero(rows, rows);
    Eigen::MatrixXd t = Eigen::MatrixXd::Zero(rows, 3);
    for (std::size_t i = 0; i < n; ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      m.row(row) = basis(sources_[i]).transpose();
      m.block(static_cast<Eigen::Index>(n), row, 4, 1) = m.row(row).tail(4).transpose();
      t.row(row) = targets[i].transpose();
    }
    const Eigen::MatrixXd normal =
        m.transpose() * m + lambda * Eigen::MatrixXd::Identity(rows, rows);
    weights_ = solveSymmetric(normal, m.transpose() * t);
  }

  Vec3d operator()(const Vec3d& p) const { return weights_.transpose() * basis(p); }

 private:
  Eigen::VectorXd basis(const Vec3d& p) const {
    const std::size_t n = sources_.size();
    Eigen::VectorXd out(static_cast<Eigen::Index>(n + 4));
    for (std::size_t j = 0; j < n; ++j)
      out[static_cast<Eigen::Index>(j)] = value((p - sources_[j]).norm(), sigma_[j]);
    out.tail(4) << p.x(), p.y(), p.z(), 1;
    return out;
  }

  double value(double r, double sigma) const {
    switch (kernel_) {
      case RbfKernel::Biharmonic:
        return r;
      case RbfKernel::Triharmonic:
        return r * r * r;
      case RbfKernel::ThinPlate:
        return r > 0 ? r * r * std::log(r) : 0;
      case RbfKernel::Multiquadric:
        return std::sqrt(r * r + sigma * sigma);
      case RbfKernel::Gaussian:
        break;
    }
    return std::exp(-r * r / (2 * sigma * sigma));
  }

  Points sources_;
  std::vector<double> sigma_;
  RbfKernel kernel_;
  Eigen::MatrixXd weights_;
};

Points scaled(Points points, double factor) {
  for (RbfPoint<3>& p : points) p *= factor;
  return points;
}

Result<PointMap> mapBetween(const EvaluatedFace& from, const EvaluatedFace& to, RbfKernel kernel,
                            double unit_m, const RetargetEvaluationDesc& desc, Diagnostics& notes) {
  const Points sources = controlPoints(from.points), targets = controlPoints(to.points);
  if (!desc.thesis_lambda) {
    DERM_TRY(RbfMap33 map, RbfMap33::bind(sources, targets, {.kernel = kernel}, notes));
    return PointMap(
        [bound = std::move(map)](const Vec3d& p) -> Vec3d { return bound.evaluate(p); });
  }
  // Lengths are in the evaluation's unit on both heads.
  return PointMap([map = TikhonovMap(scaled(sources, 1 / unit_m), scaled(targets, 1 / unit_m),
                                     kernel, *desc.thesis_lambda),
                   unit_m](const Vec3d& p) -> Vec3d { return unit_m * map(p / unit_m); });
}

/// How the motions of one expression compare with those that are made for the target.
struct Fidelity {
  double amplitude = 0;  ///< 1 = as long
  double distance_m = 0;
};

Fidelity compare(const Points& moved, const Points& wanted) {
  Fidelity out;
  double length = 0, wanted_length = 0;
  for (std::size_t i = 0; i < kControlPointCount; ++i) {
    length += moved[i].norm();
    wanted_length += wanted[i].norm();
    out.distance_m += (moved[i] - wanted[i]).norm() / double(kControlPointCount);
  }
  out.amplitude = length / wanted_length;
  return out;
}

/// What is left of the target's lid openings when the source's eyes are shut.
double blinkOpening(const EvaluatedFace& source, const EvaluatedFace& target,
                    const PointMap& there) {
  const Vec3d up = faceAxes(target.points).up;
  double worst = 0;
  for (const auto& [upper, lower] : {std::pair{"3.1", "3.3"}, {"3.2", "3.4"}}) {
    const double rest = up.dot(target.points.at(upper) - target.points.at(lower));
    // The upper lid's point comes down onto the lower one's, which stays: the map has both at one
    // place, and what counts is whether that place is the target's lower lid.
    const Vec3d shut = there(source.points.at(lower));
    const double opening = up.dot(shut - target.points.at(lower)) / rest;
    if (std::abs(opening) > std::abs(worst)) worst = opening;
  }
  return worst;
}

}  // namespace

std::span<const std::string_view> evaluatedExpressions() { return kExpressions; }

std::string_view nameOf(RbfKernel kernel) {
  switch (kernel) {
    case RbfKernel::Biharmonic:
      return "r";
    case RbfKernel::Triharmonic:
      return "r3";
    case RbfKernel::ThinPlate:
      return "r2 ln r";
    case RbfKernel::Multiquadric:
      return "multiquadric";
    case RbfKernel::Gaussian:
      break;
  }
  return "gaussian";
}

Result<RetargetEvaluation> evaluateRetargeting(const EvaluatedFace& source,
                                               const EvaluatedFace& target,
                                               const RetargetEvaluationDesc& desc,
                                               Diagnostics& notes) {
  for (const EvaluatedFace* face : {&source, &target}) {
    DERM_CHECK(validateControlPoints(face->points));
    if (!(face->diagonal_m > 0))
      return Error{ErrorCode::BadArgument, "the head has no size", {.element = "diagonal"}};
  }
  if (desc.thesis_lambda && !(*desc.thesis_lambda >= 0 && std::isfinite(*desc.thesis_lambda)))
    return Error{ErrorCode::BadArgument, "lambda must be 0 or more", {.element = "lambda"}};
  std::array<Points, kEvaluatedExpressions> moves, wanted;
  for (std::size_t e = 0; e < kEvaluatedExpressions; ++e) {
    DERM_TRY(moves[e], displacements(kExpressions[e], source.points));
    DERM_TRY(wanted[e], displacements(kExpressions[e], target.points));
  }
  const Points rest = controlPoints(source.points);
  const double unit_m = source.diagonal_m;
  constexpr double kSix = kEvaluatedExpressions - 1;

  RetargetEvaluation out;
  for (std::size_t k = 0; k < kEvaluatedKernels.size(); ++k) {
    KernelEvaluation& kernel = out.kernels[k];
    kernel.kernel = kEvaluatedKernels[k];
    DERM_TRY(const PointMap there, mapBetween(source, target, kernel.kernel, unit_m, desc, notes));
    DERM_TRY(const PointMap back, mapBetween(target, source, kernel.kernel, unit_m, desc, notes));
    for (std::size_t e = 0; e < kEvaluatedExpressions; ++e) {
      Points moved;
      double sum = 0;
      for (std::size_t i = 0; i < kControlPointCount; ++i) {
        const Vec3d at = rest[i] + moves[e][i];
        const Vec3d carried = there(at);
        sum += (back(carried) - at).norm();
        moved.push_back(carried - there(rest[i]));
      }
      kernel.round_trip[e] = sum / source.diagonal_m;
      kernel.mean += kernel.round_trip[e] / double(kEvaluatedExpressions);
      if (e == 0) continue;
      const Fidelity fidelity = compare(moved, wanted[e]);
      kernel.mean_of_six += kernel.round_trip[e] / kSix;
      kernel.amplitude += fidelity.amplitude / kSix;
      kernel.distance_percent += 100 * fidelity.distance_m / target.diagonal_m / kSix;
    }
    kernel.blink_opening = blinkOpening(source, target, there);
  }

  const double factor = target.diagonal_m / source.diagonal_m;
  for (std::size_t e = 1; e < kEvaluatedExpressions; ++e) {
    const Fidelity fidelity = compare(scaled(moves[e], factor), wanted[e]);
    out.direct.amplitude += fidelity.amplitude / kSix;
    out.direct.distance_percent += 100 * fidelity.distance_m / target.diagonal_m / kSix;
  }
  const Vec3d up = faceAxes(target.points).up, source_up = faceAxes(source.points).up;
  for (const auto& [upper, lower] : {std::pair{"3.1", "3.3"}, {"3.2", "3.4"}}) {
    const double target_height = up.dot(target.points.at(upper) - target.points.at(lower));
    const double height = source_up.dot(source.points.at(upper) - source.points.at(lower));
    const double opening = 1 - factor * height / target_height;
    if (std::abs(opening) > std::abs(out.direct.blink_opening)) out.direct.blink_opening = opening;
  }
  return out;
}

}  // namespace derm
